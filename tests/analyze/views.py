#!/usr/bin/python3
"""views.py RESTRIDE CC [SEED [COUNT]]: random loops over one memory that is seen through casts, row pointers, members and
pointers that move. The true addresses, from running them, against what `restride analyze` states: a loop that is said to carry
nothing has no two iterations that touch the same byte and one of them writes it, and a matrix that is not marked gives each
element's address."""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

restride, compiler = sys.argv[1:3]
seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
count = int(sys.argv[4]) if len(sys.argv) > 4 else 150
draw = random.Random(seed)

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


def run(command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, universal_newlines=True, **more).stdout


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


def carries(trace, index):
    """Whether two iterations of a loop, in the same one of the loop around it, meet in a byte."""
    touched = {}
    for place, size, written, i, j, _ in trace:
        around, own = (None, i) if index == "i" else (i, j)
        for byte in range(place, place + size):
            for other, stored in touched.setdefault((around, byte), set()):
                if other != own and (stored or written):
                    return True
            touched[around, byte].add((own, written))
    return False


work = tempfile.TemporaryDirectory()
programs = [program(n) for n in range(count)]
with open(os.path.join(work.name, "a.c"), "w") as file:
    file.write(HEAD + "".join(analyzed(text) for text, _ in programs))
with open(os.path.join(work.name, "t.c"), "w") as file:
    file.write("#include <stdio.h>\n" + HEAD + "static char memory[100000], *x0 = memory + 50000;\n")
    for text, indices in programs:
        file.write(traced(text, indices))
    file.write("int main(void)\n{\n")
    for n in range(count):
        file.write(f'puts("function {n}"); f{n}((void *)x0);\n')
    file.write("return 0;\n}\n")
binary = os.path.join(work.name, "t")
run([compiler, "-w", "-O0", "-o", binary, os.path.join(work.name, "t.c")])
traces = [[] for _ in range(count)]
for line in run([binary]).splitlines():
    words = line.split(" ", 5)
    if words[0] == "function":
        current = traces[int(words[1])]
    else:
        current.append(tuple(map(int, words[:5])) + (words[5],))
reply = json.loads(run([restride, "analyze", os.path.join(work.name, "a.c"), "--json"]))
units = {unit["name"]: unit for unit in reply["units"]}

wrong = nothing = told = places = 0
for n, (text, indices) in enumerate(programs):
    unit = units[f"f{n}"]
    arrays = {array["name"]: array for array in unit["arrays"]}
    complaints = []
    for loop in unit["loops"]:
        true = carries(traces[n], loop["name"])
        nothing += loop["carried"] == "nothing"
        told += true
        if true and loop["carried"] == "nothing":
            complaints.append(f"loop {loop['name']} carries something")
        if not true and loop["carried"] != "nothing" and loop["certain"]:
            complaints.append(f"loop {loop['name']} carries nothing")
    for reference in unit["references"]:
        true = {}
        for place, _, _, i, j, name in traces[n]:
            if name == reference["text"]:
                true[i, j] = place
        for (i, j), place in true.items():
            stated = stated_address(reference, arrays[reference["array"]], {"i": i, "j": j})
            places += stated is not None
            if stated is not None and stated != place:
                complaints.append(f"{reference['text']} at ({i}, {j}) is byte {place}, not {stated}")
                break
    if complaints:
        wrong += 1
        print(analyzed(text) + "\n".join(complaints))
if nothing < count / 20 or told < count / 20 or places < count * 3:
    print(f"too little was stated: {nothing} loops carry nothing, {told} carry something, {places} places")
    wrong += 1
print(f"{count} programs of seed {seed}: {wrong} wrong; {nothing} loops carry nothing, {told} do, {places} places compared")
sys.exit(wrong > 0)
