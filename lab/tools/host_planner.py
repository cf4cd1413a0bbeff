#!/usr/bin/python3
"""host_planner.py [--build BUILD] [--count N] [--sampled N] [--seed N] [--seconds S] [--calibrate N] [-- WRAP...]

How well the planner foretells times on this host: --count random matrices and tensors of 4 to 128 MB. The expected time is the
plan's estimate, in copies of the array, times a copy in the same run; a line says how many are within 25 % of what was measured.
Then --sampled of them are tuned: how much slower the planner's choice is than the best of all plans that `restride tune` tries.
WRAP is put in front of each command. Wisdom is not used; with --calibrate, that of `restride tune --calibrate` is, which runs
before the first problem, before every Nth after it, and before the plans that are tuned.
"""
import argparse
import json
import os
import random
import subprocess
import tempfile
import time

UNITS = (1, 2, 4, 4, 4, 8, 8, 12, 16, 24, 32)


def problem(source):
    """Sides, axes and the bytes of an element; half are matrices."""
    rank = 2 if source.random() < 0.5 else source.randint(3, 5)
    unit = source.choice(UNITS)
    while True:
        dims = [int(2 * (2 ** source.uniform(0, 24 / rank + 2))) for _ in range(rank)]
        dims = [d - d % source.choice((1, 1, 1, 4, 10, 64)) or d for d in dims]
        elements = unit
        for d in dims:
            elements *= d
        if 4e6 <= elements <= 128e6:
            break
    axes = list(range(rank))
    while axes == sorted(axes):
        source.shuffle(axes)
    return dims, axes, unit


def command(options, verb, dims, axes, unit):
    program = options.wrap + [f"{options.build}/bin/restride"]
    if len(dims) == 2:
        return program + verb["matrix"] + ["--shape", "x".join(map(str, dims)), "--type", str(unit), "--json"]
    return program + verb["tensor"] + ["--dims", "x".join(map(str, dims)), "--axes", "".join(map(str, axes)), "--type", str(unit), "--json"]


def ask(options, verb, case, wisdom):
    run = subprocess.run(command(options, verb, *case), stdout=subprocess.PIPE, check=True, env=dict(os.environ, RESTRIDE_WISDOM=wisdom))
    time.sleep(0.5)  # other programs have their turn where WRAP takes the processors
    return json.loads(run.stdout)["results"][0]


def calibrate(options, wisdom):
    command = options.wrap + [f"{options.build}/bin/restride", "tune", "--calibrate"]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=dict(os.environ, RESTRIDE_WISDOM=wisdom))
    time.sleep(0.5)


def foretell(options, cases, folder):
    """Expected by measured time of each problem."""
    verb = {"matrix": ["bench", "transpose", "--repeat", "3"], "tensor": ["bench", "permute", "--repeat", "3"]}
    wisdom = os.path.join(folder, "rates.json") if options.calibrate else ""
    for number, case in enumerate(cases):
        if options.calibrate and number % options.calibrate == 0:
            calibrate(options, wisdom)
        result = ask(options, verb, case, wisdom)
        passes = result["plan"].get("estimated_passes")
        if passes:
            yield passes * result["ratio"], case, result["ratio"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--sampled", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--calibrate", type=int, default=0)
    parser.add_argument("wrap", nargs="*")
    options = parser.parse_args()
    source = random.Random(options.seed)
    cases = [problem(source) for _ in range(options.count)]
    with tempfile.TemporaryDirectory() as folder:
        told = list(foretell(options, cases, folder))
    for expected, case, ratio in told:
        print(f"expected {expected:.2f} of measured, {ratio:.2f} of a copy: {case}")
    within = sum(1 for expected, _, _ in told if 0.75 <= expected <= 1.25)
    middle = sorted(expected for expected, _, _ in told)[len(told) // 2]
    near = sum(1 for expected, _, _ in told if 0.75 <= expected / middle <= 1.25)
    print(f"{within} of {len(told)} within 25 %; the median is {middle:.2f}, and {near} are within 25 % of that")
    verb = {kind: ["tune", "--seconds", str(options.seconds)] for kind in ("matrix", "tensor")}
    slower = []
    with tempfile.TemporaryDirectory() as folder:
        wisdom = os.path.join(folder, "wisdom.json")
        if options.calibrate and options.sampled:
            calibrate(options, wisdom)
        for case in cases[: options.sampled]:
            result = ask(options, verb, case, wisdom)
            slower.append(result["gain"])
            print(f"{result['gain']:.2f} times the best of {result['tried']}: {case}, {result['best']['plan']}", flush=True)
    if slower:
        print(f"{sum(1 for s in slower if s <= 1.1)} of {len(slower)} within 10 % of the best tried; the worst {max(slower):.2f}")


if __name__ == "__main__":
    main()
