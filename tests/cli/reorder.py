#!/usr/bin/python3
"""reorder.py RESTRIDE: what `restride reorder` writes, against NumPy; and what it says about bad input."""
import json
import os
import subprocess
import sys
import tempfile

try:
    import numpy
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(77)

restride = sys.argv[1]
failures = 0


def check(condition, sentence):
    global failures
    if not condition:
        failures += 1
        print("FAILED:", sentence)


def run(*arguments):
    return subprocess.run([restride, "reorder", *arguments], capture_output=True, text=True)


def transactions(index, size, warp, segment):
    total = 0
    for first in range(0, len(index), warp):
        start = index[first:first + warp].astype(numpy.int64) * size
        total += len({s for b in start for s in range(b // segment, (b + size - 1) // segment + 1)})
    return total


random = numpy.random.default_rng(11)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for kind in ("<u4", "<i4", "<u8", "<i8"):
        for shape in ((700,), (300, 5)):
            data = random.random(shape).astype("<f4")
            index = random.integers(0, min(random.integers(2, 700), shape[0]), 999).astype(kind)
            numpy.save("data.npy", data)
            numpy.save("index.npy", index)
            for method in ("auto", "duplication", "partial", "padding", "approximation"):
                done = run("index.npy", "--data", "data.npy", "--method", method, "--segment", "128", "--json",
                           "--write-index", "new.npy", "--write-order", "order.npy", "--write-slots", "slots.npy")
                check(done.returncode == 0, f"{method}: {done.stderr}")
                report = json.loads(done.stdout)
                new, order, slots = (numpy.load(f) for f in ("new.npy", "order.npy", "slots.npy"))
                check(new.dtype == index.dtype, "the index has another type")
                check(sorted(order) == list(range(len(index))), "the order is no permutation")
                check((slots[new] == data[index[order]]).all(), f"{method}: a thread reads a wrong object")
                size = data.itemsize * (1 if data.ndim == 1 else data.shape[1])
                check(report["transactions"]["before"] == transactions(index, size, 32, 128), "before")
                check(report["transactions"]["after"] == transactions(new, size, 32, 128), f"{method}: after")

    numpy.save("index.npy", numpy.array([0, 3, 7], "<u4"))
    numpy.save("float.npy", numpy.array([0.5]))
    for status, part, arguments in (
        (1, "reads object 7, but there are only 5", ("index.npy", "--objects", "5", "--type", "f32")),
        (1, "cannot be an index", ("float.npy", "--objects", "5", "--type", "f32")),
        (1, "no-such-file", ("no-such-file", "--objects", "5", "--type", "f32")),
        (1, "budget allows", ("index.npy", "--objects", "8", "--type", "f32", "--method", "duplication", "--budget", "4")),
        (2, "--budget cannot be \"0\"", ("index.npy", "--objects", "8", "--type", "f32", "--budget", "0")),
        (2, "--objects cannot be \"0\"", ("index.npy", "--objects", "0", "--type", "f32")),
        (2, "Say what the array is", ("index.npy",)),
        (2, "Say what the array is", ("index.npy", "--objects", "8")),
        (2, "--write-slots needs", ("index.npy", "--objects", "8", "--type", "f32", "--write-slots", "x.npy")),
        (2, "one index file", ("--objects", "8", "--type", "f32")),
    ):
        done = run(*arguments)
        check(done.returncode == status and part in done.stderr, f"{arguments}: {done.returncode} {done.stderr}")
        check(done.stdout == "", f"{arguments} prints something")
    check(not os.path.exists("x.npy"), "a file was written after an error")
print(failures, "failures")
sys.exit(failures > 0)
