#!/usr/bin/python3
"""warps.py RESTRIDE CC [SEED [COUNT]]: random kernels in work-groups of many shapes. What the first warp of a group touches, by
counting through its work-items here, against the transactions that `restride analyze` states: a number is exact, and one with
"up to" is no less."""
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from traces import Draw

draw = Draw(200)
WARP, BURST = 32, 32
HEAD = """typedef struct { char a; double b; int c; short e[2]; } record;
typedef struct __attribute__((packed)) { char a; double b; int k; } packed;
"""
# Arrays: the type and size of an element, and what is touched of it: the text behind the subscript, its place and size.
ARRAYS = {
    "x": ("float", 4, [("", 0, 4)]), "c": ("uchar", 1, [("", 0, 1)]), "h": ("short", 2, [("", 0, 2)]), "d": ("double", 8, [("", 0, 8)]),
    "v": ("float4", 16, [("", 0, 16), (".x", 0, 4), (".zw", 8, 8), (".hi", 8, 8)]),
    "w": ("float16", 64, [("", 0, 64), (".sA", 40, 4), (".lo", 0, 32), (".s34", 12, 8)]),
    "r": ("record", 24, [(".a", 0, 1), (".b", 8, 8), (".e[1]", 22, 2)]), "p": ("packed", 13, [(".a", 0, 1), (".b", 1, 8), (".k", 9, 4)]),
}
GROUPS = [(64, 1, 1), (8, 8, 1), (16, 16, 1), (32, 4, 1), (4, 4, 4), (12, 3, 1), (16, 1, 1), (256, 1, 1), (1, 64, 1), (2, 3, 8), (48, 2, 1), None]


def index(group):
    """An index of the first group, where the global ones are the local ones: its text and what it is at a place."""
    d = draw.choice([0, 0, 0, 1, 2]) if group else 0
    linear = group or (128, 1, 1)
    return draw.choice([
        (f"get_global_id({d})", lambda at: at[d]),
        (f"get_local_id({d})", lambda at: at[d]),
        (f"get_group_id({d})", lambda at: 0),
        (f"get_group_id({d}) * get_local_size({d}) + get_local_id({d})", lambda at: at[d]),
        ("get_local_linear_id()", lambda at: at[0] + linear[0] * (at[1] + linear[1] * at[2])),
    ])


def combine(one, other):
    """A subscript of two indices: its text and its value."""
    (i, f), (j, g) = one, other
    k, c = draw.choice([1, 2, 3, 5, 8, 16, 33, 64, -1]), draw.choice([0, 0, 1, 4, 7, 255, 1024])
    return draw.choice([
        (f"{i} + {c}", lambda at: f(at) + c),
        (f"{k} * {i} + {c}", lambda at: k * f(at) + c),
        (f"{c} - {i}", lambda at: c - f(at)),
        (f"{i} * {k} + {j}", lambda at: f(at) * k + g(at)),
        (f"{i} - {j}", lambda at: f(at) - g(at)),
        (f"n + {i}", f),
        (f"({i} << 2) + {c}", lambda at: 4 * f(at) + c),
        (f"{i} / 3 + {j}", lambda at: f(at) // 3 + g(at)),
        (f"{i} % 4", lambda at: f(at) % 4),
    ])


def touched(group, value, size, place, width):
    """How many bursts the first warp of a group touches."""
    x, y, z = group or (128, 1, 1)
    found = set()
    for lane in range(min(WARP, x * y * z)):
        first = value((lane % x, lane // x % y, lane // x // y)) * size + place
        found.update(range(first // BURST, (first + width - 1) // BURST + 1))
    return len(found)


def kernel(number):
    """The text of a kernel, and for each text of a reference how many bursts it touches."""
    group, lines, wanted = draw.choice(GROUPS), [], {}
    names = [(name, index(group)) for name in "ij"]
    for name, (text, _) in names:
        lines.append(f"{draw.choice(['int', 'const int', 'size_t', 'long'])} {name} = {text};")
    indices = [(name, value) for name, (_, value) in names]
    for _ in range(draw.choice([2, 3, 4])):
        text, value = combine(draw.choice(indices), draw.choice(indices))
        array = draw.choice(list(ARRAYS))
        _, size, parts = ARRAYS[array]
        part, place, width = draw.choice(parts)
        reference = f"{array}[{text}]{part}"
        lines.append(f"{reference} = 1;")
        wanted[reference] = touched(group, value, size, place, width)
    before = "" if group is None else "__attribute__((reqd_work_group_size(%d, %d, %d))) " % group
    arguments = ", ".join(f"global {ARRAYS[a][0]} *{a}" for a in ARRAYS)
    return f"{before}kernel void f{number}(int n, {arguments})\n{{\n" + "\n".join(lines) + "\n}\n", wanted


kernels = [kernel(n) for n in range(draw.count)]
with tempfile.TemporaryDirectory() as folder:
    source = os.path.join(folder, "a.cl")
    with open(source, "w") as file:
        file.write(HEAD + "".join(text for text, _ in kernels))
    reply = json.loads(subprocess.run([sys.argv[1], "analyze", source, "--json"], check=True, stdout=subprocess.PIPE).stdout)
units = {unit["name"]: unit for unit in reply["units"]}
wrong = exact = 0
for n, (text, wanted) in enumerate(kernels):
    stated = {r["text"]: r for r in units[f"f{n}"]["references"]}
    complaints = [f"there is no reference {name}" for name in wanted if name not in stated]
    for name, count in wanted.items():
        r = stated.get(name, {"transactions": count, "exact": True})
        exact += r["exact"]
        if r["transactions"] != count if r["exact"] else r["transactions"] < count:
            complaints.append(f"{name}: {r['transactions']}{'' if r['exact'] else ' at most'} instead of {count}")
    if complaints:
        wrong += 1
        print(text + "\n".join(complaints))
if exact < draw.count:
    print("too little was stated:")
    wrong += 1
print(f"{draw.count} kernels of seed {draw.number}: {wrong} wrong; {exact} numbers compared")
sys.exit(wrong > 0)
