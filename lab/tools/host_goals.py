#!/usr/bin/python3
"""host_goals.py [--build BUILD] [--threads N] [--repeat N] [--large N] [--again N] [--rows TEXT] [--small-pages] [-- WRAP...]

Measures every line of the goals for in-place transposition on the host and prints a table: the ratio to a copy of the same
bytes by the same threads in the same run, beside the goal. The time of making the plan counts as part of each run. With
--small-pages neither side asks for huge pages. --repeat is the number of runs of each number (the median counts),
--large the same for matrices above 400 MB, --rows takes the lines whose name contains TEXT. --again measures a line that
missed its goal up to N times more, and prints every measurement. WRAP is put in front of each command (for example taskset
-c 2,4). Wisdom is not used.

"line, ns" is how long a cache line takes from thread to thread, before the measurement and after it: a virtual machine
may move its processors meanwhile, or other programs may take them (then it is some hundred and more). A line that met its
goal only when measured again is counted apart at the end. Ends with status 1 when a goal was never met.
"""
import argparse
import json
import os
import subprocess
import sys

PAPER = "7200x1800,5100x2500,4000x3200,3300x3900,2500x5100,1800x7200"
TALL = "20000x5000,5000x20000,30000x10000,10000x30000"
SMALL = "7200x1800,3300x3900"
# name, shapes, type, goal
LINES = [
    ("papers' shapes", PAPER, "f32", 0.42),
    ("papers' shapes", PAPER, "f64", 0.48),
    ("tall and wide", TALL, "f32", 0.40),
    ("square", "10000x10000", "f32", 0.80),
    ("primes", "9973x10007", "f32", 0.35),
    ("AoS to SoA", "20000000x3,10000000x8,4000000x19", "f32", 0.48),
    ("element sizes", SMALL, "u8", 0.25),
    ("element sizes", SMALL, "u16", 0.25),
    ("element sizes", SMALL, "c128", 0.45),
    ("element sizes", SMALL, "12", 0.35),
    ("last factor", "24000x4500,6272x2116", "f32", 0.42),
    ("last factor", "4500x24000,6x15000000", "f64", 0.42),
    ("last factor", "4096x8192", "c128", 0.45),
    ("last factor", "20000x30000,30000x20000," + SMALL, "u8", 0.42),
    ("last factor", PAPER, "f32", 0.45),
    ("last factor", PAPER, "u16", 0.42),
]
ASTA_BYTES = 52_000_000
ASTA_WORDS = (3, 5, 8, 16, 19, 20, 32, 64)
ASTA_TILES = (16, 32, 64)
ASTA_GOAL = 0.90
LARGE_BYTES = 400_000_000


def bench(options, shape, kind, repeat, batch=1):
    """One result of `restride bench transpose`."""
    command = options.wrap + [f"{options.build}/bin/restride", "bench", "transpose", "--json", "--shape", shape, "--type", kind,
                              "--repeat", str(repeat), "--batch", str(batch)]
    if options.small_pages:
        command += ["--small-pages"]
    if options.threads:
        command += ["--threads", str(options.threads)]
    environment = dict(os.environ, RESTRIDE_WISDOM="")
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment).stdout
    result = json.loads(output)["results"][0]
    copy_seconds = result["ratio"] * result["seconds"]
    result["ratio"] = copy_seconds / (result["seconds"] + result["plan_seconds"])
    return result


def row_of(result, goal, name):
    """Prints one row of the table; true when its goal is met."""
    met = result["ratio"] >= goal
    ratio = f"{result['ratio']:.2f}" if met else f"**{result['ratio']:.3f}**"
    method = result["plan"].get("method", "")
    handover = ", ".join(f"{ns:.0f}" for ns in result.get("handover_ns", []))
    print(f"| {name} | {result['type']} | {ratio} | {goal:.2f} | {result['gbps']:.1f} | {result['copy_gbps']:.1f} | "
          f"{100 * result['scratch_bytes'] / result['bytes']:.2f} | {handover} | {method} |", flush=True)
    return met


def runs_until_met(options, shape, kind, goal, batch, name):
    """Measures one line until it meets its goal; how many runs that took, 0 when it never did."""
    rows, cols = (int(side) for side in shape.split("x"))
    large = rows * cols * element_bytes(kind) * batch >= LARGE_BYTES
    for run in range(1 + options.again):
        result = bench(options, shape, kind, options.large if large else options.repeat, batch)
        if row_of(result, goal, name):
            return run + 1
    return 0


def element_bytes(kind):
    return {"u8": 1, "u16": 2, "f32": 4, "f64": 8, "c128": 16}.get(kind) or int(kind)


def lines(options):
    """Shape, type, goal, batch and name of each line asked for."""
    for name, shapes, kind, goal in LINES:
        if options.rows in name:
            for shape in shapes.split(","):
                yield shape, kind, goal, 1, shape
    for words in ASTA_WORDS if options.rows in "AoS to ASTA and back" else ():
        for tile in ASTA_TILES:
            tiles = ASTA_BYTES // (4 * words * tile)
            for shape in (f"{tile}x{words}", f"{words}x{tile}"):
                yield shape, "f32", ASTA_GOAL, tiles, f"{tiles} times {shape}"


def measure(options):
    """The runs that each line took."""
    print("| shape | type | ratio | goal | GB/s | copy | scratch, % | line, ns | method |\n|---|---|---|---|---|---|---|---|---|")
    return [runs_until_met(options, *line) for line in lines(options)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("--large", type=int, default=5)
    parser.add_argument("--again", type=int, default=0)
    parser.add_argument("--rows", default="")
    parser.add_argument("--small-pages", action="store_true")
    parser.add_argument("wrap", nargs="*")
    runs = measure(parser.parse_args())
    missed = runs.count(0)
    print(f"\n{len(runs)} goals: {runs.count(1)} met at once, {len(runs) - runs.count(1) - missed} when measured again, "
          f"{missed} missed")
    sys.exit(missed > 0)


if __name__ == "__main__":
    main()
