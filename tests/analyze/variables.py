#!/usr/bin/python3
"""variables.py RESTRIDE CC [SEED [COUNT]]: random loops over x[e] where e has variables of all kinds: members of structures, what
pointers lead to, variables of the file, what functions, branches and inner loops change. What running them shows against what
`restride analyze` states: a matrix that is not marked gives each element, a term of its own is the same number wherever it
is said to be, and a loop that is said to carry nothing has no two iterations that meet."""
import json
import os
import random
import re
import subprocess
import sys
import tempfile

restride, compiler = sys.argv[1:3]
seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
count = int(sys.argv[4]) if len(sys.argv) > 4 else 200
draw = random.Random(seed)

HEAD = """struct in { int k; };
struct s { int n, m; struct in w; };
static int total, other;
static void add(int *p) { *p += 2; }
static void set(int *p, int v) { *p = v; }
static void raise(void) { total += 3; }
static void put(int v) { total = v; }
static int next(void) { static int kept; kept += 1; return kept; }
static struct s make(int v) { struct s r; r.n = v; r.m = 2 * v; r.w.k = v + 1; return r; }
static void turn(struct s *p) { p->n = p->m + 1; }
"""
VARIABLES = ["a", "b", "c", "v.n", "v.m", "v.w.k", "u.n", "u.w.k", "total", "*p", "q->n", "q->m"]


def amount(indices):
    return draw.choice(["1", "2", "3", "5", "c", "v.m"] + indices)


def statement(indices, depth):
    target = draw.choice(VARIABLES)
    simple = [
        f"{target} += {amount(indices)};", f"{target} = {target} + {draw.choice('123')};", f"{target}++;",
        f"{target} = {amount(indices)};", f"{target} = {draw.choice(VARIABLES)};", f"add(&{target});",
        f"set(&{target}, {amount(indices)});", "raise();", f"put({amount(indices)});", "turn(q);", "turn(&u);",
        "v = u;", "u = v;", f"v = make({amount(indices)});", "*q = u;", "q = &u;", "q = &v;", f"p = &{target};",
        "a = next();", f"t > 2 && ({target} = 4);", f"t & 1 ? (b = 1) : ({target} = 7);",
    ]
    if depth == 0 or draw.random() < 0.7:
        return draw.choice(simple)
    inner = " ".join(statement(indices, depth - 1) for _ in range(draw.choice([1, 2])))
    last = draw.choice(["", f" else {{ {statement(indices, depth - 1)} }}"])
    return draw.choice([
        f"if ({draw.choice(['t > 2', indices[0] + ' > 2', 'a & 1'])}) {{ {inner} }}{last}",
        f"for (int k{depth} = 0; k{depth} < {draw.choice(['0', '2', '3', 't'])}; k{depth}++) {{ {inner} }}",
        f"switch (t) {{ case 1: {inner} case 3: {statement(indices, 0)} break; default: {statement(indices, 0)} }}",
        f"for (e = 0; e < 4; e++) {{ if (e > t) break; {inner} }} b = e;",
    ])


def element(indices):
    parts = [f"{draw.choice([1, 2, 8])} * {n}" for n in indices if draw.random() < 0.8]
    parts += [f"{draw.choice([1, 1, 3])} * {draw.choice(VARIABLES)}" for _ in range(draw.choice([0, 1, 1, 2]))]
    return f"x[{' + '.join(parts + [draw.choice('0123456789')])}]"


def program(number):
    """A function with NOTE(element, element); for each assignment."""
    indices = ["i", "j"][: draw.choice([1, 1, 2])]
    lines = ["int a = 1, b = 2, c = 3, e = 0, *p = &b;", "struct s v = make(4), u, *q = &v;", "u.n = 5; u.m = 6; u.w.k = 7; total = 0;"]
    lines += [statement(["t"], 1) for _ in range(draw.choice([0, 1, 2]))]
    for index in indices:
        lines.append(f"for (int {index} = 0; {index} < {draw.choice([3, 4, 6])}; {index}++) {{")
    body = [f"NOTE({element(indices)}, {element(indices)});" for _ in range(draw.choice([1, 2]))]
    body += [statement(indices, draw.choice([0, 0, 1])) for _ in range(draw.choice([0, 1, 1, 2]))]
    draw.shuffle(body)
    lines += body + ["}"] * len(indices)
    return f"void f{number}(float *x, int t)\n{{\n" + "\n".join(lines) + "\n}\n", indices


def analyzed(text):
    return re.sub(r"NOTE\((.*), (x\[.*\])\);", r"\1 = \2;", text)


def traced(text, indices):
    second = "j" if "j" in indices else "0"
    return re.sub(
        r"NOTE\((.*), (x\[.*\])\);",
        lambda m: "".join(f'printf("%d %d %d %d %s\\n", (int)(&{e} - x), {w}, i, {second}, "{e}");'
                          for e, w in ((m[2], 0), (m[1], 1))),
        text,
    )


def run(command, **more):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, universal_newlines=True, **more).stdout


def meets(trace, index):
    touched = {}
    for place, written, i, j, _ in trace:
        around, own = (None, i) if index == "i" else (i, j)
        for former, stored in touched.setdefault((around, place), set()):
            if former != own and (stored or written):
                return True
        touched[around, place].add((own, written))
    return False


def numbers(reference):
    """The columns' factors and the offset, where all are numbers but those of parameters that are not followed."""
    row, names = reference["matrix"], [c["name"] for c in reference["columns"]]
    if len(row) != 1 or reference["approximated"] or "unknown" in reference["classes"]:
        return None
    found = row[0] + reference["offset"]
    return None if any(not re.fullmatch(r"-?\d+", n) for n in found) or any(n not in "ij" for n in names) else \
        (dict(zip(names, map(int, row[0]))), int(found[-1]))


work = tempfile.TemporaryDirectory()
programs = [program(n) for n in range(count)]
with open(os.path.join(work.name, "a.c"), "w") as file:
    file.write(HEAD + "".join(analyzed(text) for text, _ in programs))
with open(os.path.join(work.name, "t.c"), "w") as file:
    file.write("#include <stdio.h>\n" + HEAD + "static float memory[200], *x0 = memory;\n")
    file.write("".join(traced(text, indices) for text, indices in programs))
    file.write("int main(void)\n{\nfor (int t = 0; t < 5; t++) {\n")
    file.write("".join(f'puts("function {n}"); f{n}(x0, t);\n' for n in range(count)))
    file.write("}\nreturn 0;\n}\n")
binary = os.path.join(work.name, "t")
run([compiler, "-w", "-O0", "-fwrapv", "-o", binary, os.path.join(work.name, "t.c")])
traces = [[] for _ in range(count)]
for line in run([binary]).splitlines():
    words = line.split(" ", 4)
    if words[0] == "function":
        calls = traces[int(words[1])]
        calls.append([])
    else:
        calls[-1].append(tuple(map(int, words[:4])) + (words[4],))
reply = json.loads(run([restride, "analyze", os.path.join(work.name, "a.c"), "--json"]))
units = {unit["name"]: unit for unit in reply["units"]}
wrong = nothing = told = places = 0
for n, (text, indices) in enumerate(programs):
    complaints = []
    for loop in units[f"f{n}"]["loops"]:
        if loop["name"] not in indices:
            continue
        true = any(meets(trace, loop["name"]) for trace in traces[n])
        nothing += loop["carried"] == "nothing"
        told += true
        if true and loop["carried"] == "nothing":
            complaints.append(f"loop {loop['name']} carries something")
    for reference in units[f"f{n}"]["references"]:
        stated = numbers(reference)
        once = text.count(reference["text"]) == 1
        true = [t for trace in traces[n] for t in trace if t[4] == reference["text"]] if stated and once else []
        places += len(true)
        for place, _, i, j, _ in true:
            should = stated[1] + stated[0].get("i", 0) * i + stated[0].get("j", 0) * j
            if should != place:
                complaints.append(f"{reference['text']} at ({i}, {j}) is element {place}, not {should}")
                break
    if complaints:
        wrong += 1
        print(analyzed(text) + "\n".join(complaints))
if nothing < count / 20 or told < count / 20 or places < count * 3:
    print(f"too little was stated: {nothing} loops carry nothing, {told} carry something, {places} places")
    wrong += 1
print(f"{count} programs of seed {seed}: {wrong} wrong; {nothing} loops carry nothing, {told} do, {places} places compared")
sys.exit(wrong > 0)
