#!/usr/bin/env python3
"""bench/python.py [--part N] [TASK]...: the package restride beside what people use, as a table: time and extra memory.

Each way runs in a child process of its own, three times with fresh data; the best time counts. Extra memory is the
child's ru_maxrss after its first run less before it, where the input was there already (of a file, less its own mapped
pages). --part N makes the arrays N times smaller. NumPy is always compared; pandas, pyarrow and fastremap where they
are installed. The exit status is 1 unless Restride is at least twice as fast as the best other way and takes at most
1 % of the array and 8 MiB.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

MIB = 1 << 20
FIELDS = ("x", "y", "z", "mass", "kind")
# Dimensions of each task; the first one is divided by --part.
SIZES = {
    "transpose": (12000, 8000),
    "records": (20_000_000,),
    "tensor": (100, 96, 80, 100),
    "order": (12000, 8000),
    "file": (20000, 15000),
}
TITLES = {
    "transpose": "transpose {} f32",
    "records": "{} records of 20 bytes to one array a field",
    "tensor": "permute {} f32, axes 3210",
    "order": "{} f64, C order to Fortran order",
    "file": "transpose a .npy file of {} f32",
}


# ---- the ways; each takes the input and returns what is checked ----


def restride_transpose(a):
    import restride as rs

    return rs.transpose(a)


def numpy_transpose(a):
    import numpy as np

    return np.ascontiguousarray(a.T)


def fastremap_transpose(a):
    import fastremap

    return fastremap.asfortranarray(a).T  # in C order: the transpose


def restride_tensor(a):
    import restride as rs

    return rs.permute(a, (3, 2, 1, 0))


def restride_order(a):
    import restride as rs

    return rs.asfortranarray(a)


def numpy_order(a):
    import numpy as np

    return np.asfortranarray(a)


def fastremap_order(a):
    import fastremap

    return fastremap.asfortranarray(a)


def restride_records(r):
    import restride as rs

    return rs.columns(r)


def numpy_records(r):
    import numpy as np

    return {name: np.ascontiguousarray(r[name]) for name in FIELDS}


def pandas_records(r):
    import pandas

    return pandas.DataFrame.from_records(r)


def pyarrow_records(r):
    import pyarrow

    return pyarrow.table({name: pyarrow.array(r[name]) for name in FIELDS})


def recfunctions_records(r):
    from numpy.lib import recfunctions

    fields = recfunctions.structured_to_unstructured(r)
    return dict(zip(FIELDS, fields.T.copy()))


def restride_file(path):
    import restride as rs

    rs.file.transpose(path)
    return path


def numpy_file(path):
    import numpy as np

    second = path + ".second.npy"
    np.save(second, np.ascontiguousarray(np.load(path, mmap_mode="r").T))
    return second


WAYS = {
    "transpose": {
        "Restride": restride_transpose,
        "NumPy copy": numpy_transpose,
        "fastremap": fastremap_transpose,
    },
    "records": {
        "Restride": restride_records,
        "NumPy copy": numpy_records,
        "pandas": pandas_records,
        "pyarrow": pyarrow_records,
        "recfunctions": recfunctions_records,
    },
    "tensor": {"Restride": restride_tensor, "NumPy copy": numpy_transpose},
    "order": {"Restride": restride_order, "NumPy copy": numpy_order, "fastremap": fastremap_order},
    "file": {"Restride": restride_file, "NumPy, second file": numpy_file},
}


# ---- one way in this process ----


def make(task, size, folder):
    """The input, and its bytes."""
    import numpy as np

    if task == "records":
        records = np.empty(size[0], [(name, "f4") for name in FIELDS[:4]] + [("kind", "i4")])
        for number, name in enumerate(FIELDS):
            records[name] = np.arange(size[0]) % (1021 + number)
        return records, records.nbytes
    count = 1
    for n in size:
        count *= n
    a = np.arange(count, dtype="f8" if task == "order" else "u4").reshape(size)
    a = a if task == "order" else a.view("f4")
    if task == "file":
        path = os.path.join(folder, "a.npy")
        np.save(path, a)
        return path, a.nbytes
    return a, a.nbytes


def check(task, size, made):
    """Looks at some elements."""
    import numpy as np

    if task == "records":
        for number, name in enumerate(FIELDS):
            column = np.asarray(made[name])
            places = np.arange(0, size[0], 9973)
            assert (column[places] == places % (1021 + number)).all(), name
        return
    if task == "file":
        made = np.load(made, mmap_mode="r")
    if task == "order":
        assert made.flags.f_contiguous and made.shape == tuple(size)
        made = made.T
    shape = tuple(size)[::-1]
    assert made.shape == shape
    for seed in range(500):
        index = tuple(int(i) for i in np.random.default_rng(seed).integers(0, shape))
        wanted = int(np.ravel_multi_index(index[::-1], size))
        found = made[index]
        assert int(found if task == "order" else found.view("u4")) == wanted


def peak():
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return max(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, children) * 1024


def forget_peak():
    """From now on the peak is of what comes (Linux): making the input took more."""
    try:
        with open("/proc/self/clear_refs", "w") as clear:
            clear.write("5")
    except OSError:
        pass


def one_way(task, way, size):
    call = WAYS[task][way]
    seconds, extra, nbytes = [], 0, 0
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        small, _ = make(task, tuple(min(n, 9) for n in size), folder)
        call(small)  # loads what it needs
        for attempt in range(3):
            given, nbytes = make(task, size, folder)
            if task == "file":
                os.sync()
            forget_peak()
            before = peak()
            begin = time.perf_counter()
            made = call(given)
            seconds.append(time.perf_counter() - begin)
            # Pages of a mapped file count as memory of the process; they are the array itself.
            mapped = nbytes if task == "file" else 0
            extra = max(peak() - before - mapped, 0) if attempt == 0 else extra
            check(task, size, made)
            del given, made
    print(json.dumps({"seconds": min(seconds), "extra": extra, "bytes": nbytes}))


# ---- the table ----


def measure(task, way, part):
    size = (max(SIZES[task][0] // part, 2), *SIZES[task][1:])
    ran = subprocess.run(
        [sys.executable, __file__, "--way", way, "--size", "x".join(map(str, size)), task],
        capture_output=True,
        text=True,
        check=False,
    )
    if ran.returncode:
        missing = "No module named" in ran.stderr
        return size, None, ran.stderr.strip().splitlines()[-1] if missing else ran.stderr
    return size, json.loads(ran.stdout.splitlines()[-1]), ""


def compare(task, part):
    """Prints one task's rows; whether Restride is as fast and as small as it should be."""
    rows = {}
    for way in WAYS[task]:
        size, row, why = measure(task, way, part)
        if row is None and way != "Restride" and "No module named" in why:
            print(f"| | {way} | not installed | |")
            continue
        if row is None:
            sys.exit(f"{task}, {way}: {why}")
        rows[way] = row
        title = TITLES[task].format(" x ".join(map(str, size))) if way == "Restride" else ""
        print(f"| {title} | {way} | {1e3 * row['seconds']:.0f} | {row['extra'] / MIB:.0f} |", flush=True)
    ours = rows.pop("Restride")
    best = min(row["seconds"] for row in rows.values())
    small = ours["extra"] <= ours["bytes"] / 100 + 8 * MIB
    fast = ours["seconds"] * 2 <= best
    print(f"| | **{best / ours['seconds']:.1f} times as fast as the best other** | {'' if fast else 'too slow'} | "
          f"{'' if small else 'too much'} |", flush=True)  # fmt: skip
    return fast and small


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--part", type=int, default=1)
    parser.add_argument("--way")
    parser.add_argument("--size")
    parser.add_argument("tasks", nargs="*", metavar="TASK")
    given = parser.parse_args()
    tasks = given.tasks or list(SIZES)
    if given.way:
        one_way(tasks[0], given.way, tuple(int(n) for n in given.size.split("x")))
        return
    print("| task | way | ms | extra MiB |\n|---|---|---|---|")
    good = [compare(task, given.part) for task in tasks]
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
