#!/usr/bin/python3
"""sim_kernel.py RESTRIDE: restride sim KERNEL.cl, against the built-in kernel and against counts made here."""
import json
import os
import subprocess
import sys
import tempfile

import numpy

RESTRIDE = sys.argv[1]
WARP, LINE = 32, 128
SKIPPED = 77

KERNELS = """
typedef struct { float f[K]; } record;
__kernel void whole(__global const record *in, __global record *out)
{
    size_t i = get_global_id(0);
    float f[K];
    for (int k = 0; k < K; k++) f[k] = in[i].f[k];
    for (int k = 0; k < K; k++) out[i].f[k] = f[k];
}
__kernel void sum(__global const float *in, float most)
{
    size_t i = get_global_id(0);
    float s = 0;
    for (int k = 0; k < USED; k++) s += in[i * K + k];
    if (s > most) ((__global float *)in)[0] = s;
}
__kernel void gather(__global const float *data, __global const int *index, __global float *out, __local float *room)
{
    size_t i = get_global_id(0);
    room[get_local_id(0)] = data[index[i]];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = room[get_local_id(0)];
}
typedef struct { float x, y; double m; char c; float v[3]; } body;
typedef struct { int a; float b[3]; } options;
__kernel void bodies(__global body *p, options o, float4 w, __constant float *scale)
{
    size_t i = get_global_id(0);
    if (i % 2 == 0) p[i].m += w.y * scale[0];
    p[i].v[1] = o.a;
}
__kernel void picture(read_only image2d_t image) {}
"""


def run(arguments, status=0):
    done = subprocess.run([RESTRIDE, "sim"] + arguments, capture_output=True, text=True)
    assert done.returncode == status, f"{arguments}: status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stderr if status else json.loads(done.stdout)["layouts"]


def fails(sentence, arguments, status=1):
    said = run(arguments, status)
    assert sentence in said, f"{arguments}: {sentence!r} is not in {said!r}"


def same_counts(ours, builtin):
    for name, value in builtin.items():
        if name not in ("layout", "gain"):
            assert ours[name] == value, f"{ours['layout']}: {name} is {ours[name]}, not {value}"


def check_structures(file):
    """As the built-in kernel: whole structures, and the first members of flat ones, ragged tiles included."""
    layouts = ["i f", "f i", "i/32 f i%32", "i/48 f i%48"]
    options = [word for layout in layouts for word in ("--layout", layout)]
    for device in ("h100", "t10"):
        for records, fields in ((992, 5), (2016, 8)):
            builtin = run(["--dims", f"i:{records} f:{fields}", "--device", device, "--json"] + options)
            ours = run([file, "--kernel", "whole", "--global", f"{records}", "--local", "16" if device == "t10" else "32",
                        "--arg", f"in: {records}", "--arg", f"out: {records}", "--device", device, "--json"] + options +
                       ["--", f"-DK={fields}", "-DUSED=1"])
            same_counts(ours[0], builtin[0])
            for a, b in zip(ours[1:], builtin):
                same_counts(a, b)
    builtin = run(["--dims", "i:4096 f:8", "--fields", "3", "--read-only", "--json"] + options)
    ours = run([file, "--kernel", "sum", "--global", "4096", "--dims", "in: i:4096 f:8", "--arg", "most: 1e30", "--json"] +
               options + ["--", "-DK=8", "-DUSED=3"])
    for a, b in zip(ours[1:], builtin):
        same_counts(a, b)


def lines_of(addresses, groups):
    """Lines that the warps touch, `groups` work-items at a time."""
    return sum(len(set(addresses[first:first + WARP] // LINE)) for first in range(0, groups, WARP))


def check_gather(file, folder):
    """What a warp touches depends on the data: counted here from the indices."""
    items, elements, columns = 4096, 40000, 8
    index = numpy.random.default_rng(3).integers(0, elements, items).astype(numpy.int32)
    numpy.save(os.path.join(folder, "index.npy"), index)
    results = run([file, "--kernel", "gather", "--global", str(items), "--dims", f"data: i:{elements // columns} f:{columns}",
                   "--arg", f"index: @{folder}/index.npy", "--arg", f"out: {items}", "--arg", "room: 128", "--layout", "f i",
                   "--layout", "data: i/32 f i%32", "--json", "--", "-DK=1", "-DUSED=1"])
    side_by_side = 2 * items * 4 // LINE  # index and out
    i, f = index.astype(numpy.int64) // columns, index.astype(numpy.int64) % columns
    records = elements // columns
    tile = numpy.where(i // 32 < records // 32, 32, records % 32)
    for result, place in zip(results, (index.astype(numpy.int64), f * records + i, i // 32 * 32 * columns + f * tile + i % 32)):
        assert result["warps"] == items // WARP and result["accesses"] == 3 * items // WARP, result
        assert result["useful_bytes"] == 3 * 4 * items, result
        assert result["lines"] == side_by_side + lines_of(4 * place, items), result


def check_without_structures(folder):
    """A source in which the rewriter has nothing to do still has kernels."""
    file = os.path.join(folder, "flat.cl")
    with open(file, "w", encoding="utf-8") as made:
        made.write("__kernel void f(__global float *a) { a[get_global_id(0)] = 1; }\n")
    ours = run([file, "--global", "64", "--arg", "a: 64", "--json"])
    assert ours[0]["layout"] == "as written", ours


def check_values(file):
    """Structures with padding, values of all kinds, and work-items that take another way."""
    rows = run([file, "--kernel", "bodies", "--global", "256", "--arg", "p: 256", "--arg", f"o: @{file}.options", "--arg",
                "w: 1,2,3,4", "--arg", "scale: 5 counting", "--layout", "i/32 f i%32", "--json", "--", "-DK=1", "-DUSED=1"])
    written, tiled = rows
    warps = 256 // WARP
    assert written["warps"] == warps and written["accesses"] == 4 * warps, written
    # Of a body, which has 32 bytes: m in every second one, read and written, v[1] in all; the constant in one line.
    lines = 2 * sum(len({(w * WARP + n) * 32 + 8 >> 7 for n in range(0, WARP, 2)}) for w in range(warps))
    lines += sum(len({(w * WARP + n) * 32 + 24 >> 7 for n in range(WARP)}) for w in range(warps)) + warps
    assert written["lines"] == lines, (written, lines)
    assert written["useful_bytes"] == warps * (2 * 16 * 8 + 32 * 4 + 16 * 4), written
    assert tiled["lines"] == warps * (2 * 2 + 1 + 1), tiled


def check_repeats(file, folder):
    arguments = [file, "--kernel", "gather", "--global", "1024", "--arg", "data: 5000", "--arg", "index: 1024 random 5000",
                 "--arg", "out: 1024", "--arg", "room: 128", "--dims", "data: i:625 f:8", "--layout", "f i", "--json",
                 "--html", f"{folder}/page.html", "--svg", f"{folder}/load.svg", "--", "-DK=1", "-DUSED=1"]
    assert run(arguments) == run(arguments)
    for name, end in (("page.html", "</html>"), ("load.svg", "</svg>")):
        with open(os.path.join(folder, name), encoding="utf-8") as made:
            assert end in made.read(), name


def check_mistakes(file, folder):
    options = ["--", "-DK=2", "-DUSED=2"]
    start = [file, "--kernel", "sum", "--global", "64"]
    given = ["--dims", "in: i:64 f:2", "--arg", "most: 1"]
    fails("several kernels", [file, "--global", "64"] + options)
    fails("no kernel other", [file, "--kernel", "other", "--global", "64"] + options)
    fails("--global", [file, "--kernel", "sum"] + options, 2)
    fails("in has no value", start + options)
    fails("most has no value", start + ["--arg", "in: 128"] + options)
    fails('no parameter "much"', start + given + ["--arg", "much: 1"] + options)
    fails("not of the form", start + given + ["--arg", "most"] + options)
    fails("given twice", start + given + ["--arg", "most: 2"] + options)
    fails("no value for parameter most", start + ["--arg", "most: many"] + options)
    fails("does not say what in holds", start + ["--arg", "in: 128 random"] + options)
    fails("does not say what in holds", start + ["--arg", "in: -5"] + options)
    fails("no elements", start + ["--arg", "in: 0"] + options)
    fails("no-such-file", start + ["--arg", "in: @no-such-file"] + options)
    fails("make 512 bytes", start + given + ["--arg", "in: 127"] + options)
    fails("outside its arrays", start + ["--arg", "in: 127", "--arg", "most: 1"] + options)
    fails("none has structures", start + ["--arg", "in: 128", "--arg", "most: 1", "--layout", "f i"] + options)
    fails("most is no array", start + given + ["--layout", "most: i"] + options)
    fails("x", start + given + ["--layout", "f x"] + options)
    fails("do not divide", start + given + ["--local", "48"] + options)
    fails("no-such-device", start + given + ["--device", "no-such-device"] + options)
    fails("neither a number nor a pointer", [file, "--kernel", "picture", "--global", "64"] + options)
    fails("K", start + given)
    fails("no-such-kernel.cl", [os.path.join(folder, "no-such-kernel.cl"), "--global", "64"])
    empty = os.path.join(folder, "empty.cl")
    with open(empty, "w", encoding="utf-8") as made:
        made.write("int x(int a) { return a; }\n")
    fails("no kernel", [empty, "--global", "64"])


def main():
    part = os.path.join(os.path.dirname(os.path.dirname(RESTRIDE)), "lib")
    if not os.path.exists(os.path.join(part, "librestride_recorder.so")) or \
            not os.path.exists(os.path.join(part, "restride-rewrite")):
        print("restride was built without the recorder (liboclgrind-dev) or the rewriter.")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "kernels.cl")
        with open(file, "w", encoding="utf-8") as made:
            made.write(KERNELS)
        with open(file + ".options", "wb") as made:
            made.write(bytes(16))
        check_structures(file)
        check_gather(file, folder)
        check_without_structures(folder)
        check_values(file)
        check_repeats(file, folder)
        check_mistakes(file, folder)
    print("restride sim: kernels of others are recorded and compared as they should be")
    return 0


sys.exit(main())
