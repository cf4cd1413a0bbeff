#!/usr/bin/env python3
"""short_launches.py BUILD [OPTION]... [CASE...]: what `restride run` costs programs whose launches take about 10 us.

Each round runs every case once in every way, in random order: alone, under policy off, under auto with what earlier runs
learned, and under auto with empty caches of Restride's. The table has the median of the ratios to the same round's run alone
(and its quarters), for the loop of launches, the whole process, and its processor time, user and system. Results are
compared. CASE is a word of a name. --on gpu has the sparse matrices of the thesis; bcsstk18 is made up without --matrices.
Where the program finds no device alone, as NVIDIA's toolkit's loader does in a machine without .icd files, all ways get
OCL_ICD_VENDORS. The exit status is 1 when a result differs, or a loop under auto is more than 3 % slower than alone, or a
process more than 3 % and 20 ms."""
import argparse
import ctypes
import json
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

NOTHING = ["bin/examples/nothing", "--launches", "20000"]
WAYS = {"alone": None, "off": "off", "auto, known": "auto", "auto, first": "auto"}
DRIVERS = [folder + "libnvidia-opencl.so.1" for folder in ("", "/usr/local/nvidia/lib64/", "/usr/local/nvidia/lib/")]


def spmv(device, launches, *matrix):
    return ["lib/apps/spmv", "--device", device, "--times", "no", "--iterations", str(launches), *matrix]


def cases_of(options):
    """Each case's name and command, relative to BUILD."""
    if options.on == "cpu":
        small = ["--width", "49", "--count", "64"]
        return {
            "spmv, 64 rows, 100000 launches": spmv("cpu", 100000, *small),
            "spmv, 64 rows, 2000 launches": spmv("cpu", 2000, *small),
            "nothing to transform, 20000": NOTHING,
        }
    found = os.path.join(options.matrices, "bcsstk18.mtx")
    stiffness = ["--input", os.path.abspath(found)] if os.path.exists(found) else ["--count", "11948", "--width", "49"]
    e40r000 = ["--count", "17281", "--width", "62"]
    return {
        "SpMV, bcsstk18, 200 launches": spmv("gpu", 200, *stiffness),
        "SpMV, bcsstk18, 2000 launches": spmv("gpu", 2000, *stiffness),
        "SpMV, like e40r000, 200 launches": spmv("gpu", 200, *e40r000),
        "SpMV, like e40r000, 2000 launches": spmv("gpu", 2000, *e40r000),
        "nothing to transform, 20000": [*NOTHING, "--device", "gpu"],
    }


def can_load(library):
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


class Runner:
    """Runs commands of a build in the four ways, with caches in a folder."""

    def __init__(self, options, folder):
        self.build, self.folder = os.path.abspath(options.build), folder
        self.restride = os.path.abspath(options.restride or os.path.join(self.build, "bin/restride"))
        self.environment = dict(os.environ, POCL_CACHE_DIR=os.path.join(folder, "pocl"))
        self.environment.pop("RESTRIDE_WISDOM", None)

    def run(self, command, way):
        """Seconds of the loop where the program tells them, of the process, and of the processor; and the result."""
        command = [os.path.join(self.build, command[0]), *command[1:]]
        cache = os.path.join(self.folder, "first" if way == "auto, first" else "known")
        if way == "auto, first":
            shutil.rmtree(cache, ignore_errors=True)
        if WAYS[way]:
            command = [self.restride, "run", "--quiet", "--policy", WAYS[way], "--", *command]
        environment = dict(self.environment, XDG_CACHE_HOME=cache, XDG_STATE_HOME=cache)
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
        output = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout.decode()
        took = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        told = json.loads(output) if output.startswith("{") else {}
        return told.get("elapsed_seconds"), took, busy, told.get("result")

    def find_device(self, command):
        """Lets the program alone find the driver that `restride run` finds by itself."""
        for attempt in range(2):
            try:
                self.run(command, "alone")
                return
            except subprocess.CalledProcessError:
                drivers = [library for library in DRIVERS if can_load(library)]
                if attempt or not drivers:
                    raise
                vendors = os.path.join(self.folder, "vendors")
                os.mkdir(vendors)
                with open(os.path.join(vendors, "driver.icd"), "w", encoding="ascii") as file:
                    file.write(drivers[0] + "\n")
                self.environment.update(OCL_ICD_VENDORS=vendors, OPENCL_VENDOR_PATH=vendors)
                print(f"(alone the program finds no device here: all ways have OCL_ICD_VENDORS for {drivers[0]})")


def print_case(name, seen):
    """One case's table; whether it is within the bounds."""
    alone, held = seen[name, "alone"], True
    print(f"\n{name}")
    for way in WAYS:
        row = [f"  {way:12}"]
        for index, title in enumerate(("loop", "process", "processor")):
            if alone[0][index] is None:  # the program does not time its loop
                continue
            ratios = [runs[index] / base[index] for runs, base in zip(seen[name, way], alone)]
            low, middle, high = statistics.quantiles(ratios, n=4)
            milliseconds = statistics.median(runs[index] for runs in seen[name, way]) * 1e3
            row.append(f"{title} {milliseconds:8.2f} ms {middle:6.3f} ({low:.3f}-{high:.3f})")
            extra = milliseconds - statistics.median(runs[index] for runs in alone) * 1e3
            if WAYS[way] == "auto" and middle > 1.03 and title != "processor" and (title == "loop" or extra > 20):
                held = False
        print("  ".join(row))
    if len({runs[3] for way in WAYS for runs in seen[name, way]}) > 1:
        print("  the results DIFFER")
        held = False
    return held


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="holds lib/apps/spmv and bin/examples/nothing")
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--on", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--matrices", default=".", help="the folder of bcsstk18.mtx")
    parser.add_argument("--restride", help="the program (default: BUILD/bin/restride)")
    options = parser.parse_intermixed_args()
    cases = cases_of(options)
    names = [name for name in cases if not options.cases or any(word in name for word in options.cases)]
    seen = {(name, way): [] for name in names for way in WAYS}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        runner = Runner(options, folder)
        runner.find_device(cases[names[0]])
        for name in names:
            for _ in range(3):  # what is known, and the driver's own cache
                runner.run(cases[name], "auto, known")
        for number in range(options.rounds):
            order = list(seen)
            random.Random(number).shuffle(order)
            for name, way in order:
                seen[name, way].append(runner.run(cases[name], way))
    print(f"medians of {options.rounds} rounds in milliseconds, and of the ratios to the run alone, with their quarters")
    held = [print_case(name, seen) for name in names]
    print(f"\n{sum(held)} of {len(held)} cases within 3 % (a process: or 20 ms)")
    return not all(held)


if __name__ == "__main__":
    sys.exit(main())
