#!/usr/bin/python3
"""check.py --root FOLDER [--table]: see house.sh."""
import argparse
import collections
import glob
import json
import os
import re
import subprocess
import sys

MOST_LINES, MOST_FUNCTION_LINES = 600, 60
C = (".c", ".h", ".cl", ".cu", ".cpp")
SCRIPTS = (".sh", ".py")
PAGES = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"]
PRODUCT = ("src", "include", "examples", "fuzz")
KINDS = ("double", "ring", "include", "long-file", "long-function", "polling", "lab", "libclang", "no-page", "no-test")


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def find_files(*folders):
    """All sources below these folders, in order."""
    for folder in folders:
        for where, inner, names in os.walk(folder):
            inner.sort()
            for name in sorted(names):
                if name.endswith(C + SCRIPTS):
                    yield os.path.join(where, name)


def read_tags(files):
    """What ctags finds: types, functions and their prototypes."""
    command = ["ctags", "--quiet", "--options=NONE", "--output-format=json", "--fields=+neKtS", "--languages=C,C++", "--c-kinds=sugtfp",
               "--c++-kinds=sugtfp", "--map-C=+.h", "--map-C=+.cl", "--map-C++=+.cu", "-I", "RS_PRINTF+", "-I", "__kernel",
               "-f", "-", "-L", "-"]
    found = subprocess.run(command, input="\n".join(files), stdout=subprocess.PIPE, check=True, text=True).stdout
    return [tag for tag in map(json.loads, found.splitlines()) if tag["_type"] == "tag"]


def find_doubles(tags):
    """A typedef that gives a structure its own name defines nothing. Kernels are texts, each with types of its own."""
    homes, shared = collections.defaultdict(set), set()
    for tag in tags:
        name, path = tag["name"], tag["path"]
        if tag["kind"] not in ("struct", "union", "enum", "typedef") or name.startswith("__anon"):
            continue
        if not path.startswith("src/") or not path.endswith((".c", ".h")):
            continue
        if tag["kind"] == "typedef" and tag.get("typeref", "").split(":")[-1] == name:
            continue
        homes[name].add(path)
        if path.endswith(".h") or name.startswith(("rs_", "restride_")):
            shared.add(name)
    for name in sorted(shared):
        if len(homes[name]) > 1:
            yield "double", name, " and ".join(sorted(homes[name]))


def find_includes(files):
    """(file, header as it is written, the file that it is); None where that is none of ours."""
    ours = set(files)
    for path in files:
        for header in re.findall(r'^[ \t]*#[ \t]*include[ \t]+[<"]([^>"]+)[>"]', read(path), re.MULTILINE):
            places = (os.path.join(top, header) for top in ("src", "include", ".", os.path.dirname(path)))
            yield path, header, next((p for p in map(os.path.normpath, places) if p in ours), None)


def find_rings(includes):
    """Strongly connected units, after Tarjan; a unit is NAME.h with NAME.c."""
    uses = collections.defaultdict(set)
    for path, _, target in includes:
        if target is not None:
            uses[os.path.splitext(path)[0]].add(os.path.splitext(target)[0])
    number, low, stack, rings = {}, {}, [], []

    def visit(unit):
        number[unit] = low[unit] = len(number)
        stack.append(unit)
        for other in sorted(uses[unit]):
            if other not in number:
                visit(other)
                low[unit] = min(low[unit], low[other])
            elif other in stack:
                low[unit] = min(low[unit], number[other])
        if low[unit] == number[unit]:
            first = stack.index(unit)
            rings.append(sorted(stack[first:]))
            del stack[first:]

    for unit in sorted(uses):
        if unit not in number:
            visit(unit)
    for ring in rings:
        for unit in ring if len(ring) > 1 else ():
            yield "ring", unit, "with " + ", ".join(other for other in ring if other != unit)


def read_rooms(path):
    """room: (what it may use, remark), in order."""
    rooms = {}
    for line in read(path).splitlines():
        if line.strip() and not line.startswith("#"):
            row, _, remark = line.partition("#")
            room, _, uses = row.partition(":")
            rooms[room.strip()] = (uses.split(), remark.strip())
    return rooms


def table_rows(rooms):
    for room, (uses, remark) in rooms.items():
        named = ", ".join(f"`{use}`" if use.endswith(".h") else use for use in uses if use != "base")
        if named or remark:
            yield " ".join(f"| {room} | {named} | {remark} |".split())


def room_of(path, rooms):
    """The innermost folder of src/ that is a room; the outermost one where none is."""
    inside = [room for room in rooms if path.startswith(f"src/{room}/")]
    return max(inside, key=len) if inside else path.split("/")[1]


def find_upward(includes, rooms, document):
    above = set()
    for room, (uses, _) in rooms.items():
        for use in uses:
            if room_of(f"src/{use}/", rooms) not in above:
                yield "include", f"rooms {room}", f"tools/house/rooms lets {room} use {use}, which is no room above it"
        above.add(room)
    for path, header, target in includes:
        if not path.startswith("src/") or target is None or not target.startswith("src/"):
            continue
        room, use = room_of(path, rooms), room_of(target, rooms)
        if room not in rooms:
            yield "include", f"rooms {room}", f"src/{room} has no row in tools/house/rooms"
        elif use != room and use not in rooms[room][0] and header not in rooms[room][0]:
            yield "include", f"{path} {header}", f"tools/house/rooms does not let {room} use it"
    for row in table_rows(rooms):
        if row not in document:
            yield "include", f"table {row.split()[1]}", f'docs/architecture.md lacks the row "{row}"'


def find_long(files, tags):
    for path in files:
        lines = read(path).count("\n")
        if lines > MOST_LINES:
            yield "long-file", path, f"{lines} lines"
    for tag in tags:
        if tag["kind"] == "function" and tag.get("end", 0) - tag["line"] >= MOST_FUNCTION_LINES:
            yield "long-function", f'{tag["path"]} {tag["name"]}', f'{tag["end"] - tag["line"] + 1} lines'


def find_polling(files):
    for path in files:
        sleeps = re.findall(r"\b((?:clock_)?nanosleep|usleep|sleep)\(", read(path)) if path.startswith("src/") else []
        if sleeps:
            yield "polling", path, f"calls {sleeps[0]}()"


def find_lab(includes):
    for path, header, _ in includes:
        if path.startswith(PRODUCT) and "lab" in header.split("/")[:-1]:
            yield "lab", path, f"includes {header}"
    for top in PRODUCT:
        for where, _, names in os.walk(top):
            for path in (os.path.join(where, name) for name in names if name == "CMakeLists.txt"):
                if re.search(r"\blab/|restride_lab", re.sub(r"#.*", "", read(path))):
                    yield "lab", path, "builds with it"


def find_libclang(files):
    for path in files:
        names = re.findall(r"\bclang-c/|\bCX[A-Z]\w+", read(path)) if path.startswith("src/") else []
        if names and not path.startswith("src/syntax/clang/"):
            yield "libclang", path, f"names {names[0]}"


def has_comment(lines, line):
    """Whether a comment ends right above this line, or above the declarations that it follows without a gap."""
    while line > 0 and lines[line - 1].strip():
        if lines[line - 1].rstrip().endswith("*/"):
            return True
        line -= 1
    return False


def find_public(tags):
    tests = " ".join(read(path) for path in find_files("tests", "python/tests", "lab/tests"))
    named = set(re.findall(r"\brestride_\w+", tests))
    texts = {}
    for tag in tags:
        path, name = tag["path"], tag["name"]
        if tag["kind"] != "prototype" or not path.startswith("include/") or not name.startswith("restride_"):
            continue
        lines = texts.setdefault(path, read(path).splitlines())
        if not has_comment(lines, tag["line"] - 1):
            yield "no-page", name, f'no comment above it in {path}, line {tag["line"]}'
        if name not in named:
            yield "no-test", name, "no test names it"


def find_all(rooms):
    sources = list(find_files("src", "include", "lab", "examples", "fuzz", "tests"))
    code = [path for path in sources if path.endswith(C)]
    tags = read_tags(code)
    includes = list(find_includes(code))
    document = read("docs/architecture.md") if os.path.exists("docs/architecture.md") else ""
    yield from find_doubles(tags)
    yield from find_rings(includes)
    yield from find_upward(includes, rooms, document)
    yield from find_long(sources, tags)
    yield from find_polling(code)
    yield from find_lab(includes)
    yield from find_libclang(code)
    yield from find_public(tags)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", default=".")
    parser.add_argument("--table", action="store_true")
    options = parser.parse_args()
    os.chdir(options.root)
    rooms = read_rooms("tools/house/rooms")
    if options.table:
        print("\n".join(table_rows(rooms)))
        return 0
    known = [line for line in read("tools/house/debts").splitlines() if line and not line.startswith("#")]
    found = {f"{kind} {key}": remark for kind, key, remark in find_all(rooms)}
    new = [entry for entry in sorted(found) if entry not in known]
    stale = [entry for entry in known if entry not in found]
    for entry in new:
        print(f"{entry}: {found[entry]}")
    for entry in stale:
        print(f"{entry}: holds no longer; remove it from tools/house/debts")
    for entry in sorted({entry for entry in known if known.count(entry) > 1}):
        print(f"{entry}: is listed twice in tools/house/debts")
        stale.append(entry)
    counts = collections.Counter(entry.split()[0] for entry in found)
    lines = sum(read(path).count("\n") for path in find_files("src") if path.endswith(C))
    words = sum(len(read(path).split()) for path in PAGES + glob.glob("docs/*.md") if os.path.exists(path))
    print(f"src: {lines} lines, pages: {words} words; " + ", ".join(f"{kind}: {counts[kind]}" for kind in KINDS) +
          f"; {len(new)} new, {len(stale)} stale")
    return 1 if new or stale else 0


sys.exit(main())
