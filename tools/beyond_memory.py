#!/usr/bin/python3
"""beyond_memory.py [--build BUILD] [--limit MIB] [--folder FOLDER] [--journal] [SHAPE:BYTES...]

Transposes files of four times the memory that restride is given, and prints a line of a table for each. As root: the
limit is a control group of its own for memory (version 1 or 2), which holds the file's pages as well. Before each run the
pages of the file are dropped, so it begins with a cold cache. The file is filled from a formula; the result must have
the SHA-256 of what NumPy computes from the formula in the new order. "read" and "written" are what the kernel counted for
the process, and "passes" is both together, divided by twice the file. SHAPE is ROWSxCOLS and BYTES the size of an element;
ends with status 77 without root, control groups or NumPy.
"""
import argparse
import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

try:
    import numpy
except ImportError:
    sys.exit(77)

MIB = 1 << 20
FACTOR = 4
# Square, nearly square, square with unaligned rows, both sides prime, tall, wide, members of 12 bytes, other elements; each
# about 1 GiB.
SHAPES = [
    "16384x16384:4", "16400x16360:4", "11585x11585:8", "16381x16363:4", "8388608x32:4", "32x8388608:4", "89478485x3:4",
    "65536x1024:16", "40960x13107:2",
]


class Group:
    """A control group for memory, without swap."""

    def __init__(self, limit):
        first = os.path.exists("/sys/fs/cgroup/memory/memory.limit_in_bytes")
        root = "/sys/fs/cgroup/memory" if first else "/sys/fs/cgroup"
        self.folder = f"{root}/restride-{os.getpid()}"
        self.peak = "memory.max_usage_in_bytes" if first else "memory.peak"
        os.mkdir(self.folder)
        self.write("memory.limit_in_bytes" if first else "memory.max", limit)

    def write(self, name, value):
        with open(f"{self.folder}/{name}", "w", encoding="ascii") as file:
            file.write(str(value))

    def join(self):
        self.write("cgroup.procs", os.getpid())

    def peak_bytes(self):
        with open(f"{self.folder}/{self.peak}", encoding="ascii") as file:
            return int(file.read())

    def remove(self):
        os.rmdir(self.folder)


def values(numbers, unit):
    """The elements with these numbers; no two are alike, and `unit` bytes long."""
    words = numbers.astype(numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15) + numpy.uint64(12345)
    lanes = [(words >> numpy.uint64(8 * (7 - i % 8))).astype(numpy.uint8) for i in range(unit)]
    return numpy.stack(lanes, axis=-1)


def write_file(path, rows, cols, unit):
    with open(path, "wb") as file:
        for begin in range(0, rows * cols, 1 << 22):
            file.write(values(numpy.arange(begin, min(begin + (1 << 22), rows * cols)), unit).tobytes())
        file.flush()
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def wanted_sum(rows, cols, unit):
    """Of the transposed matrix, from the formula alone."""
    digest = hashlib.sha256()
    total = rows * cols
    for begin in range(0, total, 1 << 22):
        places = numpy.arange(begin, min(begin + (1 << 22), total))
        digest.update(values(places % rows * cols + places // rows, unit).tobytes())
    return digest.hexdigest()


def file_sum(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while part := file.read(1 << 24):
            digest.update(part)
    return digest.hexdigest()


def run(command, limit):
    group = Group(limit)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.monotonic()
    done = subprocess.run(command, preexec_fn=group.join, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    seconds = time.monotonic() - started
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = group.peak_bytes()
    group.remove()
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {done.returncode}: {done.stderr.decode()}")
    read = 512 * (after.ru_inblock - before.ru_inblock)
    written = 512 * (after.ru_oublock - before.ru_oublock)
    return done.stdout, seconds, read, written, peak


def measure(options, shape, folder):
    sides, unit = shape.split(":")
    rows, cols = map(int, sides.split("x"))
    unit = int(unit)
    size = rows * cols * unit
    limit = options.limit * MIB if options.limit else size // FACTOR
    path = f"{folder}/array"
    write_file(path, rows, cols, unit)
    command = [f"{options.build}/bin/restride", "transpose", path, "--shape", sides, "--dtype", str(unit), "--json"]
    if options.journal:
        command += ["--journal", f"{folder}/journal"]
    out, seconds, read, written, peak = run(command, limit)
    right = file_sum(path) == wanted_sum(rows, cols, unit)
    plan = json.loads(out)["plan"]
    print(f"| {rows} x {cols} | {unit} | {size / 1e9:.2f} | {peak / 1e9:.2f} | {', '.join(stage['name'] for stage in plan['stages'])} | {seconds:.1f} | "
          f"{2e-6 * size / seconds:.0f} | {read / size:.2f} | {written / size:.2f} | {'yes' if right else 'NO'} |", flush=True)
    return right


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--limit", type=int, help="MiB; default: a quarter of the file")
    parser.add_argument("--folder")
    parser.add_argument("--journal", action="store_true")
    parser.add_argument("shapes", nargs="*", default=SHAPES)
    options = parser.parse_args()
    if os.geteuid() != 0 or not os.path.exists("/sys/fs/cgroup"):
        sys.exit(77)
    print("| shape | bytes an element | file, GB | memory used, GB | stages | seconds | MB/s | read, files | written, files | right |")
    print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        results = [measure(options, shape, folder) for shape in options.shapes]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
