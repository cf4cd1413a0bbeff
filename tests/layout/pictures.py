#!/usr/bin/env python3
"""pictures.py RESTRIDE: what `restride show --svg` draws and where.

The text of the same layout says which elements there are and where; the picture must have each of them once in the table and
once in memory, nothing on top of something else, all inside, and one colour for each field. The first picture is known by number.
"""
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

CHARACTER, LINE_CHARACTER, RIM, HEIGHT, GROUP, WIDEST, LONGEST = 7, 8, 24, 24, 22, 150, 180
SEVERAL = "i:6 f{ float x; double m; char c; }"
LAYOUTS = [
    ("i/4:pad f i%4", SEVERAL), ("i f", SEVERAL), ("f i", SEVERAL), ("i/4 f i%4", "i:10 f:3"), ("i/4:pad f i%4", "i:10 f:3"),
    ("i", "i:5"), ("i", "i:1"), ("i f", "i:160 f:1"), ("i f", "i:161 f:1"), ("i f", "i:16 f:10"), ("i f", "i:23 f:7"), ("f i", "i:7 f:23"),
    ("i f", "i:24 f:16"), ("i f", "i:25 f:2"), ("i f", "i:2 f:17"), ("f i", "i:40 f:20"), ("i/32 f i%32", "i:100000 f:40"),
    ("i f", "i:3 f{ float16 v; char c; }"), ("f i", "i:3 f{ char[200] v; }"), ("i f", "i:2 f{ short s; }"), ("i f", "i:9 f{ char c; }"),
    ("y x e", "y:4 x:4 e:3"), ("y/2 x/2 y%2 x%2 e", "y:4 x:4 e:3"), ("e y x", "y:2 x:3 e:9"), ("z/2 y z%2 x", "z:4 y:2 x:3"),
    ("i f", "i:4 f{ float a_member_with_a_rather_long_name; float b; }"), ("i f", "i:2 f{ " + "".join(f"int m{k};" for k in range(12)) + " }"),
    ("i f", "i:2 f{ " + "".join(f"int a_member_{k};" for k in range(40)) + " }"), ("i f", "i:0 f:3"), ("f i", "f:3 i:0"),
]
# The first one: left, top and width of the first of the table and of memory's rows; the size of it all; the keys' left sides.
KNOWN = {"table": (55, 116, 40), "memory": (422, 116), "widths": {4: 36, 8: 72, 1: 9, 2: 18}, "size": (734, 558), "keys": [24, 71, 118, 165],
         "rows": [116, 140, 164, 188, 212, 236, 260, 306, 330, 354, 378, 402, 426, 450]}


class Box:
    def __init__(self, element):
        self.x, self.y, self.width, self.height = (int(element.get(n)) for n in ("x", "y", "width", "height"))
        self.fill = element.get("fill")
        title = element.find("title")
        self.label, self.offset = (None, None) if title is None else re.fullmatch(r"(\S+) at (\d+)", title.text).groups()

    def __contains__(self, point):
        return self.x <= point[0] < self.x + self.width and self.y <= point[1] < self.y + self.height


class Words:
    def __init__(self, element, rim):
        self.x, self.y, self.rim = int(element.get("x")), int(element.get("y")), rim
        self.classes, self.text = element.get("class").split(), element.text or ""
        wide = len(self.text) * CHARACTER
        self.left = self.x - (wide if "end" in self.classes else wide // 2 if {"middle", "in"} & set(self.classes) else 0)
        self.right = self.left + wide


def draw(restride, folder, expression, dims):
    """The picture: its size, boxes, words and the points of its line; and the same array as text."""
    path = f"{folder}/a.svg"
    shown = subprocess.run([restride, "show", expression, "--dims", dims], check=True, capture_output=True, text=True).stdout
    subprocess.run([restride, "show", expression, "--dims", dims, "--svg", path], check=True, capture_output=True)
    with open(path) as file:
        root = xml.etree.ElementTree.fromstring(re.sub(r' xmlns="[^"]*"', "", file.read()))
    size = int(root.get("width")), int(root.get("height"))
    assert root.get("viewBox") == f"0 0 {size[0]} {size[1]}"
    boxes = [Box(e) for e in root.iter("rect") if e.get("class") == "cell"]
    words = [Words(e, None) for e in root.findall("text")] + [Words(e, g.get("stroke")) for g in root.findall("g") for e in g]
    lines = [[tuple(map(int, p.split(","))) for p in e.get("points").split()] for e in root.iter("polyline")]
    return size, boxes, words, lines, shown


def read_text(shown):
    """The table: its columns, and its rows by name; memory: (group or None, offset, labels) a row; whether all of it is shown."""
    table, memory = shown.split("\n\n")[1:3]
    lines = table.splitlines()[1:]
    rows = [re.fullmatch(r"((?: *\S+=\d+)*)((?: +\d+)*)", line).groups() for line in lines[1:]]
    group, kept = None, []
    for line in memory.splitlines()[1:]:
        row = re.fullmatch(r" +(\d+) \|(.*)", line)
        if row is None:
            group = line.strip()
        else:
            kept.append((group, row[1], row[2].split()))
            group = None
    return lines[0].split(), [(name.strip(), cells.split()) for name, cells in rows], kept, "Only the beginning" not in shown


def check_grid(columns, rows, boxes, words):
    """The table is a grid of boxes; each has its offset in its middle, each column and row its name beside it."""
    width = boxes[0].width if boxes else 0
    assert all(b.width == width and b.height == HEIGHT for b in boxes)
    across = len(rows[0][1]) if rows else 0
    left = boxes[0].x if boxes else 0
    top = boxes[0].y if boxes else 0
    for n, box in enumerate(boxes):
        row, column = divmod(n, across)
        assert (box.x, box.y, box.offset) == (left + column * width, top + row * HEIGHT, rows[row][1][column])
        inside = [w for w in words if w.rim and (w.x, w.y) in box]
        assert [(w.text, w.x, w.y - box.y) for w in inside] == [(box.offset, box.x + width // 2, HEIGHT // 2 + 4)]
        assert inside[0].left >= box.x and inside[0].right <= box.x + width
    for row, (name, _) in enumerate(rows):
        beside = [w.text for w in words if w.x == left - 8 and w.y == top + row * HEIGHT + 16 and "end" in w.classes]
        assert boxes == [] or beside == [name] and RIM <= left - 8 - len(name) * CHARACTER + 8, (beside, name)
    above = [w for w in words if {"soft", "middle"} <= set(w.classes)]
    assert [w.text for w in above if w.text] == columns
    assert boxes == [] or [w.x for w in above] == [left + c * width + width // 2 for c in range(len(above))]
    assert all(w.y == top - 8 and w.right - w.left <= width for w in above if boxes)


def check_memory(memory, boxes, words, labels):
    """Memory's rows, one below the other with a gap before each new group, its cells side by side, wide as they are long."""
    left, y, at = (boxes[0].x, boxes[0].y, 0) if boxes else (0, 0, 0)
    by_size = {}
    ends = [int(b.offset) for b in boxes[1:]]
    for number, (group, offset, row) in enumerate(memory):
        if group is not None:
            y += GROUP if number > 0 else 0
            assert [w.text for w in words if (w.x, w.y) == (left, y - 7)] == [group]
        assert [w.text for w in words if w.x == left - 8 and w.y == y + 16 and "end" in w.classes] == [offset]
        assert boxes[at].offset == offset
        x = left
        for label in row:
            box = boxes[at]
            assert (box.x, box.y, box.height, box.label) == (x, y, HEIGHT, label)
            if at < len(ends):
                by_size.setdefault(ends[at] - int(box.offset), set()).add(box.width)
            inside = [w for w in words if w.rim and (w.x, w.y) in box]
            fits = len(label) * CHARACTER <= box.width + 2
            assert [(w.text, w.x, w.y - y) for w in inside] == ([(label, x + box.width // 2, 16)] if fits else [])
            x += box.width
            at += 1
        y += HEIGHT
    assert at == len(boxes)
    ratios = {width / size for size, widths in by_size.items() for width in widths if width < WIDEST}
    assert len(ratios) <= 1 and all(width <= WIDEST for widths in by_size.values() for width in widths), by_size
    if ratios:
        largest = max(by_size)
        asked = max(36, min(90, CHARACTER * max(map(len, labels)))) + 10 if labels else 0
        byte = max(-(-asked // largest), 9 if largest > 4 else 12)
        assert len(by_size) < 2 or ratios == {byte}, (ratios, byte)
    return y


def check_keys(columns, table, keys, words, bottom):
    """A key for each field that has a colour, then one for padding, none on another."""
    names = [(name, box.fill) for name, box in zip(columns, table) if box.fill != "url(#padding)"]
    assert [k.fill for k in keys][: len(names)] == [fill for _, fill in names]
    assert len(keys) - len(names) <= 1 and all(k.fill == "url(#padding)" for k in keys[len(names):])
    texts = [name for name, _ in names] + ["padding"] * (len(keys) - len(names))
    x = RIM
    for key, text in zip(keys, texts):
        assert (key.x, key.width, key.height, key.y) == (x, 14, 14, bottom + 24)
        assert [w.text for w in words if (w.x, w.y) == (x + 20, key.y + 11)] == [text]
        x += len(text) * CHARACTER + 40


def check_colours(boxes):
    """One fill a field, and where there are no more than eight fields another one for each."""
    fills = {}
    for box in boxes:
        field = box.label.rpartition(".")[2] if "." in box.label else box.label.rpartition(",")[2] if "," in box.label else ""
        padding = field == "-" or box.label == "pad"
        assert (box.fill == "url(#padding)") == padding
        if not padding:
            fills.setdefault(field, set()).add(box.fill)
    assert all(len(f) == 1 for f in fills.values()), fills
    assert len(set.union(set(), *fills.values())) == min(8, len(fills))


def check_inside(size, boxes, words):
    for box in boxes:
        assert RIM <= box.x and box.x + box.width + RIM <= size[0] and box.y > 0 and box.y + box.height < size[1]
    for w in words:
        assert w.left >= RIM - 1 and w.right <= size[0] and 12 < w.y < size[1], (w.text, w.left, w.right)
    for n, a in enumerate(boxes):
        for b in boxes[:n]:
            assert a.x + a.width <= b.x or b.x + b.width <= a.x or a.y + a.height <= b.y or b.y + b.height <= a.y
    free = [w for w in words if not w.rim]
    for n, a in enumerate(free):
        assert all((b.x, b.y) == (a.x, a.y) or b.y != a.y or a.right <= b.left or b.right <= a.left for b in free[:n])


def check_line(table, memory, lines, whole, words):
    """The line passes the table's cells in the order of memory; not where some of either is missing, or it has too much to show."""
    drawn = whole and 1 < len(memory) <= 160
    assert len(lines) == drawn
    assert any(w.text.endswith("The line follows memory.") for w in words) == drawn
    if drawn:
        met = [next(b.offset for b in table if point in b) for point in lines[0]]
        assert met == sorted((b.offset for b in table), key=int)
        assert all(p == (b.x + b.width // 2, b.y + HEIGHT // 2) for p in lines[0] for b in table if p in b)


def check(restride, folder, expression, dims, known):
    size, boxes, words, lines, shown = draw(restride, folder, expression, dims)
    columns, rows, memory, whole = read_text(shown)
    cells, keys = [b for b in boxes if b.label], [b for b in boxes if not b.label]
    count = sum(len(row) for _, row in rows)
    table, below = cells[:count], cells[count:]
    check_grid(columns, rows, table, words)
    end = check_memory(memory, below, words, [b.label for b in below])
    bottom = max(end, 92 + HEIGHT * (len(rows) + 1))
    check_keys(columns, table, keys, words, bottom)
    check_colours(cells)
    check_inside(size, boxes, words)
    check_line(table, below, lines, whole, words)
    texts = sorted((w for w in words if w.x == RIM and (w.y < 60 or w.y > bottom + 50)), key=lambda w: w.y)
    assert [w.y for w in texts] == [34, 54, bottom + 60] + ([] if whole else [bottom + 80])
    assert size[1] == bottom + 84 + (0 if whole else 20)
    assert texts[0].text == expression and max(len(w.text) for w in texts) <= LONGEST
    memory_right = max([b.x + b.width for b in below], default=0)
    groups = max([w.right for w in words if below and w.x == below[0].x and "soft" in w.classes], default=0)
    left = next(w.x for w in words if w.text == "memory")
    assert [(w.x, w.y) for w in words if w.text in ("array (place in memory)", "memory", "then down")] == [
        (RIM, 78), (left, 78), (left + 108, 78)]
    assert size[0] == RIM + max(memory_right, groups, left + 40 * CHARACTER, RIM + max(len(w.text) for w in texts) * LINE_CHARACTER)
    table_right = max([b.x + b.width for b in table], default=0)
    address = max([len(o) for _, o, _ in memory], default=1) * CHARACTER
    assert left >= max(table_right, RIM + 26 * CHARACTER) + 56 + address + 10
    if known:
        assert (table[0].x, table[0].y, table[0].width) == known["table"], (table[0].x, table[0].y, table[0].width)
        assert (below[0].x, below[0].y) == known["memory"]
        assert size == known["size"], size
        assert [k.x for k in keys] == known["keys"]
        assert sorted({b.y for b in below}) == known["rows"]
        assert {int(b.offset) - int(a.offset): a.width for a, b in zip(below, below[1:])} == known["widths"]


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, (expression, dims) in enumerate(LAYOUTS):
            try:
                check(os.path.abspath(sys.argv[1]), folder, expression, dims, KNOWN if number == 0 else None)
            except AssertionError as error:
                wrong += 1
                trace = error.__traceback__
                while trace.tb_next:
                    trace = trace.tb_next
                print(f"{expression} of {dims}: line {trace.tb_lineno} of {trace.tb_frame.f_code.co_name}: {error}")
    return 1 if wrong else 0


sys.exit(main())
