#!/usr/bin/env bash
# coverage.sh [PATTERN]: builds with gcov, runs the tests whose names match PATTERN (all but the long ones), and prints for each file of
# layer/core, transpose, layout and file the lines that none of them ran. Exit status 1 when a room has fewer than 92 % of its lines run.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${BUILD:-build-coverage}
jobs=${JOBS:-$(nproc)}
cmake -S . -B "$build" -DRESTRIDE_COVERAGE='layout|transpose|file|layer' >/dev/null
cmake --build "$build" --parallel "$jobs" -- --no-print-directory --quiet >/dev/null
find "$build" -name '*.gcda' -delete
ctest --test-dir "$build" -LE long -R "${1:-.}" --parallel "$jobs" --timeout 600 --quiet || echo "Some tests failed: see $build/Testing/Temporary/LastTestsFailed.log."
exec /usr/bin/python3 - "$build" <<'END'
import collections
import gzip
import json
import os
import subprocess
import sys
import tempfile

ROOMS, LEAST = ("src/layer/core", "src/transpose", "src/layout", "src/file"), 92
build, root = os.path.abspath(sys.argv[1]), os.getcwd()
notes = [os.path.join(where, name) for where, _, names in os.walk(build) for name in names if name.endswith(".gcda")]
runs = collections.defaultdict(collections.Counter)
with tempfile.TemporaryDirectory() as folder:
    subprocess.run(["gcov", "--json-format", *notes], cwd=folder, stdout=subprocess.DEVNULL, check=True)
    for name in os.listdir(folder):
        with gzip.open(os.path.join(folder, name)) as file:
            found = json.load(file)
        for part in found["files"]:
            path = os.path.relpath(os.path.join(found["current_working_directory"], part["file"]), root)
            for line in part["lines"]:
                runs[path][line["line_number"]] += line["count"]


def ranges(numbers):
    """1-3 5 7-9"""
    out = []
    for n in numbers:
        if out and n == out[-1][1] + 1:
            out[-1][1] = n
        else:
            out.append([n, n])
    return " ".join(f"{a}-{b}" if b > a else str(a) for a, b in out)


low = False
for room in ROOMS:
    paths = sorted(path for path in runs if os.path.dirname(path) == room)
    lines = sum(len(runs[path]) for path in paths)
    run = sum(count > 0 for path in paths for count in runs[path].values())
    share = 100 * run / max(1, lines)
    low = low or share < LEAST
    for path in paths:
        missing = sorted(line for line, count in runs[path].items() if count == 0)
        if missing:
            print(f"{path}: {ranges(missing)}")
    print(f"{room}: {run} of {lines} lines, {share:.1f} %")
sys.exit(low)
END
