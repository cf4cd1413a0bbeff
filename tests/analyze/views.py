#!/usr/bin/python3
"""views.py RESTRIDE CC [SEED [COUNT]]: random loops over one memory that is seen through casts, row pointers, members and
pointers that move. The true addresses, from running them, against what `restride analyze` states: a loop that is said to carry
nothing has no two iterations that touch the same byte and one of them writes it, and a matrix that is not marked gives each
element's address."""
import re
import sys

sys.dont_write_bytecode = True
from traces import Draw, Tally, outcomes

draw = Draw(150)

HEAD = """struct pair { int a; short b[2]; };
struct record { int n; float v[4]; struct pair w; };
"""
# What a parameter may be, what else it may be seen as, and how each is subscripted by row and column.
SHAPES = {
    "char *": ["%s[%s]"],
    "short *": ["%s[%s]"],
    "int *": ["%s[%s]"],
    "float *": ["%s[%s]"],
    "double *": ["%s[%s]"],
    "int (*)[6]": ["%s[%s][%s]", "(*(%s + %s))[%s]", "(&%s[%s][0])[%s]"],
    "short (*)[4]": ["%s[%s][%s]"],
    "int (*)[2][3]": ["%s[%s][%s][0]", "%s[%s][1][%s]"],
    "struct record *": ["%s[%s].n", "%s[%s].v[%s]", "%s[%s].w.b[1]", "(&%s[%s].n)[%s]", "(%s + %s)->w.a"],
    "struct pair *": ["%s[%s].a", "%s[%s].b[%s]"],
}


def declare(shape, name):
    return shape.replace("(*)", f"(*{name})") if "(*)" in shape else shape + name


def affine(names):
    text = " + ".join(f"{draw.choice([1, 1, 2, 3, 4, 6, -1])} * {n}" for n in names if draw.random() < 0.8)
    constant = draw.choice([0, 0, 0, 1, 2, 3, 4, 6, 8, 12])
    return (text or "0") + (f" + {constant}" if constant else "")


def element(pointer, names):
    shape, name = pointer
    form = draw.choice(SHAPES[shape])
    parts = [name] + [affine(names), affine(names[-1:])][: form.count("%s") - 1]
    return form % tuple(parts)


def program(number):
    """The text of a function with NOTE(element, written) for each reference."""
    first = draw.choice(list(SHAPES))
    pointers, lines, indices = [(first, "x")], [], ["i", "j"][: draw.choice([1, 1, 2])]
    moving = None

    def view(names):
        shape, name = draw.choice(list(SHAPES)), f"p{len(pointers)}"
        source = draw.choice(pointers)
        value = draw.choice(
            [source[1], source[1], f"({source[1]} + {affine(names)})", f"&{element(source, names or ['0'])}"]
        )
        through = draw.choice(["", "", "(char *)", "(void *)"])
        lines.append(f"{declare(shape, name)} = ({shape}){through}{value};")
        pointers.append((shape, name))

    for _ in range(draw.choice([0, 1, 1, 2])):
        view([])
    for index in indices:
        lines.append(f"for (int {index} = 0; {index} < {draw.choice([3, 4, 6])}; {index}++) {{")
    lines.append("ITERATION;")
    if draw.random() < 0.4:
        view(indices)
    if draw.random() < 0.2 and len(indices) == 1:
        moving = draw.choice(pointers)[1]
    for _ in range(draw.choice([1, 2, 2, 3])):
        left, right = (element(draw.choice(pointers), indices) for _ in range(2))
        lines.append(f"NOTE({left}, 1, {right});")
    if moving and not any(f" {moving} " in line or f"*{moving})" in line for line in lines[lines.index("ITERATION;") :]):
        lines.append(f"{moving} += {draw.choice([1, 2])};")
    lines += ["}"] * len(indices)
    return f"void f{number}({declare(first, 'x')})\n{{\n" + "\n".join(lines) + "\n}\n", indices


def analyzed(text):
    text = text.replace("ITERATION;\n", "")
    return re.sub(r"NOTE\((.*), 1, (.*)\);", r"\1 = \2;", text)


def traced(text, indices):
    second = "j" if "j" in indices else "0"
    text = text.replace("ITERATION;", "")
    return re.sub(
        r"NOTE\((.*), 1, (.*)\);",
        lambda m: "".join(
            f'printf("%ld %d %d %d %d %s\\n", (long)((char *)&({e}) - (char *)x0), (int)sizeof({e}), {w}, '
            f'i, {second}, "{e}");'
            for e, w in ((m[1], 1), (m[2], 0))
        ),
        text,
    )


def number_of(text):
    return int(text) if re.fullmatch(r"-?\d+", text) else None


def stated_address(reference, array, iteration):
    """The byte of an element with known rows, or None."""
    extents, size = array["extents"], array["element"]
    if reference["approximated"] or reference["divided"] or "unknown" in reference["classes"] or reference.get("member"):
        return None
    rows = len(reference["matrix"])
    if array["type"].startswith("struct") or len(extents) != rows:
        return None
    address, stride = 0, size
    for row in reversed(range(rows)):
        numbers = [number_of(e) for e in reference["matrix"][row] + [reference["offset"][row]]]
        names = [c["name"] for c in reference["columns"]] + [None]
        if None in numbers or any(n not in ("i", "j", None) for n in names):
            return None
        address += stride * sum(k * (1 if n is None else iteration[n]) for k, n in zip(numbers, names))
        stride *= extents[row] or 0
    return address


programs = [program(n) for n in range(draw.count)]
traces, units = outcomes(
    HEAD + "".join(analyzed(text) for text, _ in programs),
    HEAD + "static char memory[100000], *x0 = memory + 50000;\n" + "".join(traced(*p) for p in programs),
    "".join(f'puts("function f{n}"); f{n}((void *)x0);\n' for n in range(draw.count)),
)
tally = Tally()
for n, (text, indices) in enumerate(programs):
    unit, calls = units[f"f{n}"], traces[f"f{n}"]
    arrays = {array["name"]: array for array in unit["arrays"]}
    complaints = []
    for loop in unit["loops"]:
        complaints += tally.loop(loop, calls, certain=loop.get("certain", False))
    for reference in unit["references"]:
        true = {(i, j): place for place, _, _, i, j, name in calls[0] if name == reference["text"]}
        for (i, j), place in true.items():
            stated = stated_address(reference, arrays[reference["array"]], {"i": i, "j": j})
            tally.places += stated is not None
            if stated is not None and stated != place:
                complaints.append(f"{reference['text']} at ({i}, {j}) is byte {place}, not {stated}")
                break
    tally.program(analyzed(text), complaints)
tally.end(draw)
