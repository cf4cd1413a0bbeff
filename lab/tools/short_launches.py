#!/usr/bin/env python3
"""short_launches.py BUILD [ROUNDS [CASE...]]: what `restride run` costs programs whose launches take about 10 us, on PoCL.

Each round runs every case once in every way, in random order: alone, under policy off, under auto with what earlier runs
learned, and under auto with empty caches. The table has the median of the ratios to the same round's run alone, for the
processor time of the process (user and system, which other programs on the machine disturb least), its duration, and the
loop of launches."""
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

SPMV = ["lib/apps/spmv", "--device", "cpu", "--times", "no", "--width", "49"]
CASES = {
    "spmv, 64 rows, 100000 launches": SPMV + ["--count", "64", "--iterations", "100000"],
    "spmv, 64 rows, 2000 launches": SPMV + ["--count", "64", "--iterations", "2000"],
    "nothing to transform, 20000": ["bin/examples/nothing", "--launches", "20000"],
}
WAYS = {"alone": None, "off": "off", "auto, known": "auto", "auto, first": "auto"}


def run(build, command, way, folder):
    """Seconds of the processor, of the clock, and of the loop where the program tells it."""
    command = [os.path.join(build, command[0]), *command[1:]]
    cache = os.path.join(folder, "first" if way == "auto, first" else "known")
    if way == "auto, first":
        shutil.rmtree(cache, ignore_errors=True)
    if WAYS[way]:
        command = [os.path.join(build, "bin/restride"), "run", "--quiet", "--policy", WAYS[way], "--", *command]
    environment = dict(os.environ, XDG_CACHE_HOME=cache, XDG_STATE_HOME=cache, POCL_CACHE_DIR=os.path.join(folder, "pocl"))
    environment.pop("RESTRIDE_WISDOM", None)
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    output = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True).stdout.decode()
    took = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return busy, took, json.loads(output)["elapsed_seconds"] if output.startswith("{") else took


def main(arguments):
    build, rounds = os.path.abspath(arguments[0]), int(arguments[1]) if len(arguments) > 1 else 25
    names = [name for name in CASES if not arguments[2:] or any(word in name for word in arguments[2:])]
    seen = {(name, way): [] for name in names for way in WAYS}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for name in names:
            for _ in range(3):  # what is known, and PoCL's own cache
                run(build, CASES[name], "auto, known", folder)
        for number in range(rounds):
            order = list(seen)
            random.Random(number).shuffle(order)
            for name, way in order:
                seen[name, way].append(run(build, CASES[name], way, folder))
    print(f"medians of {rounds} rounds: ratios to the run alone (quarters), and milliseconds")
    for name in names:
        alone = seen[name, "alone"]
        print(f"\n{name}")
        for way in WAYS:
            row = [f"{way:12}"]
            for index, title in enumerate(("processor", "process", "loop")):
                ratios = [runs[index] / base[index] for runs, base in zip(seen[name, way], alone)]
                low, middle, high = statistics.quantiles(ratios, n=4)
                times = statistics.median(runs[index] for runs in seen[name, way]) * 1e3
                row.append(f"{title} {middle:6.3f} ({low:.3f}-{high:.3f}) {times:8.1f} ms")
            print("  ".join(row))


if __name__ == "__main__":
    main(sys.argv[1:])
