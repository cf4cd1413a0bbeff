#!/usr/bin/python3
"""variables.py RESTRIDE CC [SEED [COUNT]]: random loops over x[e] where e has variables of all kinds: members of structures, what
pointers lead to, variables of the file, what functions, branches and inner loops change. What running them shows against what
`restride analyze` states: a matrix that is not marked gives each element, a term of its own is the same number wherever it
is said to be, and a loop that is said to carry nothing has no two iterations that meet."""
import re
import sys

sys.dont_write_bytecode = True
from traces import Draw, Tally, outcomes

draw = Draw(200)

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
        lambda m: "".join(f'printf("%d 1 %d %d %d %s\\n", (int)(&{e} - x), {w}, i, {second}, "{e}");'
                          for e, w in ((m[2], 0), (m[1], 1))),
        text,
    )


def numbers(reference):
    """The columns' factors and the offset, where all are numbers but those of parameters that are not followed."""
    row, names = reference["matrix"], [c["name"] for c in reference["columns"]]
    if len(row) != 1 or reference["approximated"] or "unknown" in reference["classes"]:
        return None
    found = row[0] + reference["offset"]
    return None if any(not re.fullmatch(r"-?\d+", n) for n in found) or any(n not in "ij" for n in names) else \
        (dict(zip(names, map(int, row[0]))), int(found[-1]))


programs = [program(n) for n in range(draw.count)]
traces, units = outcomes(
    HEAD + "".join(analyzed(text) for text, _ in programs),
    HEAD + "static float memory[200], *x0 = memory;\n" + "".join(traced(*p) for p in programs),
    "for (int t = 0; t < 5; t++) {\n"
    + "".join(f'puts("function f{n}"); f{n}(x0, t);\n' for n in range(draw.count))
    + "}\n",
    ["-fwrapv"],
)
tally = Tally()
for n, (text, indices) in enumerate(programs):
    unit, calls = units[f"f{n}"], traces[f"f{n}"]
    complaints = []
    for loop in unit["loops"]:
        if loop["name"] in indices:
            complaints += tally.loop(loop, calls)
    for reference in unit["references"]:
        stated = numbers(reference)
        once = text.count(reference["text"]) == 1
        true = [t for trace in calls for t in trace if t[5] == reference["text"]] if stated and once else []
        tally.places += len(true)
        for place, _, _, i, j, _ in true:
            should = stated[1] + stated[0].get("i", 0) * i + stated[0].get("j", 0) * j
            if should != place:
                complaints.append(f"{reference['text']} at ({i}, {j}) is element {place}, not {should}")
                break
    tally.program(analyzed(text), complaints)
tally.end(draw)
