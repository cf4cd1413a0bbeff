"""many.py SECONDS [JOBS [SEED]]: the random properties of test_arrays.py and test_records.py for so long, in so many processes.

Each process has a seed of its own in every round, so no two try the same cases; SEED (1) begins others. The last line has
the cases of all processes. Examples that failed come before it, each with the seed that finds it again, and the exit status
is then 1. The package is the one that Python finds.
"""

import collections
import io
import os
import subprocess
import sys
import time
import unittest

A_ROUND = 100  # cases of each property between two looks at the clock


def properties():
    """The tests that are properties, by name."""
    import test_arrays
    import test_records

    found = {}
    for holder in (test_arrays.Arrays, test_records.Records):
        for name in unittest.defaultTestLoader.getTestCaseNames(holder):
            if hasattr(getattr(holder, name), "hypothesis"):
                found[f"{holder.__name__}.{name}"] = holder(name)
    return found


def count_cases(test, name, counts):
    """Counts the cases of a property that held."""
    handle = getattr(type(test), name.split(".")[1]).hypothesis
    inner = handle.inner_test

    def counted(*arguments, **named):
        inner(*arguments, **named)
        counts[name] += 1

    handle.inner_test = counted


def run_rounds(seed, end):
    """One process: rounds until the end, a line of counts after each, and the first failure."""
    from hypothesis import core

    counts = collections.Counter()
    tests = properties()
    for name, test in tests.items():
        count_cases(test, name, counts)
    turn = 0
    while time.time() < end:
        core.global_force_seed = seed * 1_000_000 + turn
        told = io.StringIO()
        result = unittest.TextTestRunner(told).run(unittest.TestSuite(tests.values()))
        print(*(f"{name}={count}" for name, count in counts.items()), flush=True)
        if not result.wasSuccessful():
            print(f"With the seed {core.global_force_seed}:\n{told.getvalue()}", file=sys.stderr)
            return 1
        turn += 1
    return 0


def main():
    seconds = float(sys.argv[1])
    jobs = int(sys.argv[2]) if len(sys.argv) > 2 else len(os.sched_getaffinity(0))
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    environment = dict(os.environ, RESTRIDE_CASES=str(A_ROUND), RESTRIDE_WISDOM="", PYTHONDONTWRITEBYTECODE="1")
    started, end = time.time(), time.time() + seconds
    running = [
        subprocess.Popen(
            [sys.executable, __file__, "--job", str(first + job), str(end)],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for job in range(jobs)
    ]  # fmt: skip
    total, failed = collections.Counter(), 0
    for job, process in enumerate(running):
        said, errors = process.communicate()
        for word in (said.splitlines() or [""])[-1].split():
            name, count = word.split("=")
            total[name] += int(count)
        if process.returncode:
            failed += 1
            print(f"Process {first + job} ended with status {process.returncode}:\n{errors}")
    for name, count in sorted(total.items()):
        print(f"{name:44} {count:9,d}")
    verdict = f"{failed} processes failed" if failed else "all held" if total else "there was no time for one"
    print(
        f"{sum(total.values()):,d} cases of {len(total)} properties, between guards, in {jobs} processes and "
        f"{time.time() - started:.0f} s: {verdict}"
    )
    return failed > 0 or not total


if __name__ == "__main__":
    if sys.argv[1:2] == ["--job"]:
        sys.exit(run_rounds(int(sys.argv[2]), float(sys.argv[3])))
    sys.exit(main())
