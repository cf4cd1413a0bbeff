#!/usr/bin/env python3
"""costs.py RESTRIDE PROGRAM LAUNCH_COST KERNELS LIBRARIES: what `restride run` costs in time of the processor: at most 30 ms for a
process, and 1000 ns for a launch (launch_cost.c). LIBRARIES as for sequences.py."""
import os
import resource
import subprocess
import sys

restride, program, launch_cost, kernels, libraries = sys.argv[1:6]
folder = libraries.split(":")[1]
environment = os.environ | {
    "LD_LIBRARY_PATH": libraries,
    "EMULATED_FOLDER": folder,
    "XDG_CACHE_HOME": f"{folder}/cache",
    "RESTRIDE_WISDOM": "",
    "MADE_UP_LATE": "",
}
MOST_START, MOST_LAUNCH, RUNS, BATCHES = 30, 1000, 5, "1400"
failed = False


def run(policy, *command):
    around = [restride, "run", "--quiet", "--policy", policy, "--"] if policy else []
    return subprocess.run([*around, *command], env=environment, capture_output=True, text=True, check=True).stdout


def spent():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1e3


def start(policy):
    """Milliseconds of a process that only loads its kernels, the least of some runs."""
    least = float("inf")
    for _ in range(RUNS):
        before = spent()
        run(policy, program, kernels, "1", "0")
        least = min(least, spent() - before)
    return least


def launches(policy):
    words = run(policy, launch_cost, kernels, BATCHES).split()
    return dict(zip(words[::2], map(float, words[1::2])))


plain_start, plain = start(None), launches(None)
print(f"plain: start {plain_start:.1f} ms, launches {plain}")
for policy in ("off", "auto"):
    at_start, took = start(policy) - plain_start, launches(policy)
    more = {name: round(took[name] - plain[name]) for name in plain}
    print(f"{policy}: start {at_start:.1f} ms more, launches {more} ns more")
    failed = failed or at_start > MOST_START or max(more.values()) > MOST_LAUNCH
sys.exit(failed)
