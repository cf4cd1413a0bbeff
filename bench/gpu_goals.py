#!/usr/bin/env python3
"""bench/gpu_goals.py [--programs FOLDER] [--seconds S] [--small] [--state FOLDER] [--count N] [STEP...]

In-place tensors, matrices and records on a GPU beside their goals. Every element is verified. A STEP is one of
  tables    each row with 0.25 % of scratch memory, the planner's own bound, and with 2 %, beside PyTorch's contiguous copy
  curve     five shapes with 2 % to 100 % of scratch memory: the time falls
  random    60 tensors with even axes and 60 with any, then 380 mixed problems: ratios, and how many take the expected time
  choice    the planner's choice beside the best of all plans tried, 100 random matrices
  opencl    the rows through OpenCL beside CUDA: within 10 %
  campaign  random plans by several processes, compared with the definition: 100,000, or N; the state in FOLDER (.goals-state)
            lets the same command go on
The first three run when none is named. All together take S seconds (340): what is not done then is left out, and said.
--programs are the folders of time_permute, measure_cuda, restride-lab and campaign, like PATH. --small tries the steps out with
small arrays. The exit status is 1 when an element was wrong or a program failed; a goal that is missed is printed and does not change it.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import time

# name, axes, what a program is told, goal; and another bound below which none may be
TENSORS = [
    ("128.1024.16.64 0213 f16", "128x1024x16x64:0x2x1x3:2", 0.85),
    ("32.2048.32.128 0213 f16", "32x2048x32x128:0x2x1x3:2", 0.85),
    ("32.4096.24.64 0213 f16", "32x4096x24x64:0x2x1x3:2", 0.85),
    ("1024.197.12.64 0213 f16", "1024x197x12x64:0x2x1x3:2", 0.85),
    ("512x600x700 102", "512x600x700:1x0x2:4", 0.80),
    ("512x600x700 021", "512x600x700:0x2x1:4", 0.65),
    ("512x600x700 210", "512x600x700:2x1x0:4", 0.42),
    ("512x600x700 120", "512x600x700:1x2x0:4", 0.42),
    ("96.80.70.60 3210", "96x80x70x60:3x2x1x0:4", 0.42),
    ("30.40.20.50.33 41302", "30x40x20x50x33:4x1x3x0x2:4", 0.38),
    ("16.20.24.12.18.22 531420", "16x20x24x12x18x22:5x3x1x4x2x0:4", 0.35),
]
PAPERS = ["7200x1800x4", "5100x2500x4", "4000x3200x4", "3300x3900x4", "2500x5100x4", "1800x7200x4"]
MATRICES = [(shape, shape, 0.85) for shape in PAPERS] + [
    ("16 x 7200x1800", "16x7200x1800x4", 0.60),
    ("4 x 4000x3200", "4x4000x3200x4", 0.60),
    ("31000x9000", "31000x9000x4", 0.42),
    ("12345x23456", "12345x23456x4", 0.42),
    ("17000x29000", "17000x29000x4", 0.42),
    ("19997x20011", "19997x20011x4", 0.40),
    ("24989x18013", "24989x18013x4", 0.40),
    ("7919x65537", "7919x65537x4", 0.40),
    ("12347x17011 f64", "12347x17011x8", 0.42),
    ("20000x30000 u8", "20000x30000x1", 0.40),
    ("20000x30000 u16", "20000x30000x2", 0.42),
    ("10007x9001, 12 bytes", "10007x9001x12", 0.38),
    ("10007x9001, 16 bytes", "10007x9001x16", 0.46),
    ("10^8 x 8", "100000000x8x4", 0.46),
    ("5*10^7 x 19", "50000000x19x4", 0.47),
    ("100000x3001", "100000x3001x4", 0.42),
]
COLD_GOAL, COLD_BYTES = 0.60, 400_000_000
PAPERS_LEAST = 0.75
RANDOM = {"even": (0.38, 0.18), "any": (0.30, 0.18)}  # median, least
CURVE = ["24989x18013x4", "31000x9000x4", "12347x17011x8", "5100x2500x4", "512x600x700:2x1x0:4"]
PERCENTS = [2, 5, 10, 25, 50, 100, 101]  # 101: with room for tables, below 1 % of the arrays here


class Runs:
    """Programs, the time that is left for them, and what went wrong."""

    def __init__(self, options):
        self.options = options
        self.end = time.monotonic() + options.seconds
        self.failures = []

    def left(self):
        return self.end - time.monotonic()

    def path(self, program):
        return shutil.which(program, path=self.options.programs) or program

    def lines(self, program, *arguments):
        """What it prints; a program whose time is over is stopped."""
        process = subprocess.Popen([self.path(program), *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            for line in process.stdout:
                yield line.rstrip("\n")
                if self.left() < 0:
                    print(f"(the time is over in {program} {' '.join(arguments)[:60]} ...)")
                    process.kill()
                    process.wait()
                    return
            if process.wait() != 0:
                self.fail(f"{program} ended with status {process.returncode}")
        finally:
            if process.poll() is None:
                process.kill()

    def fail(self, what):
        self.failures.append(what)
        print(f"FAILED: {what}", flush=True)

    def shrink(self, text):
        """The same shape with at most 20,000 elements."""
        if not self.options.small:
            return text
        head, colon, tail = text.partition(":")
        sides = [int(side) for side in head.split("x")]
        unit = [] if colon else [sides.pop()]
        most = 20000
        while product_of(sides) > most:
            largest = sides.index(max(sides))
            sides[largest] = (sides[largest] + 1) // 2
        return "x".join(map(str, sides + unit)) + colon + tail


def product_of(numbers):
    product = 1
    for number in numbers:
        product *= number
    return product


LINE = re.compile(r"^(\S+): (\d+) GB/s, ([0-9.]+) of the copy.* wrong (\d+)")
PASSES = re.compile(r" of the copy, ([0-9.]+) passes \(([0-9.]+) expected\)")


def measure(runs, program, texts, before=()):
    """(GB/s, ratio) of each text; None where a program said something else."""
    first = ["cuda"] if program == "time_permute" else []
    found = {}
    shrunk = [runs.shrink(text) for text in texts]
    seen = 0
    for line in runs.lines(program, *first, *before, *shrunk):
        match = LINE.match(line)
        if match and int(match[4]) != 0:
            runs.fail(f"wrong elements: {line}")
        elif match:
            found[texts[seen]] = (int(match[2]), float(match[3]))
        elif not line.startswith(" "):
            runs.fail(line)
        seen += not line.startswith(" ")
    return found


def pytorch(text):
    """The ratio of permute().contiguous() to a copy of the same bytes; None without PyTorch."""
    try:
        import torch

        if not torch.cuda.is_available():
            return None
        head, colon, tail = text.partition(":")
        extents = [int(side) for side in head.split("x")]
        if colon:
            *axes, unit = (int(part) for part in tail.replace(":", "x").split("x"))
        else:
            unit = extents.pop()
            axes = [*range(len(extents) - 2), len(extents) - 1, len(extents) - 2]
        kind = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}.get(unit, torch.int32)
        if unit not in (1, 2, 4, 8):
            extents, axes = extents + [unit // 4], axes + [len(extents)]
        array = torch.zeros(extents, dtype=kind, device="cuda")
        other = torch.empty_like(array)
        view = array.permute(*axes)

        def median(work):
            times = []
            for _ in range(12):
                start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                start.record()
                work()
                end.record()
                end.synchronize()
                times.append(start.elapsed_time(end))
            return sorted(times[3:])[4]

        ratio = median(lambda: other.copy_(array)) / median(view.contiguous)
        del array, other, view
        torch.cuda.empty_cache()
        return ratio
    except Exception as error:  # a column that is missing is no failure of the table
        print(f"(PyTorch: {error})")
        return None


def verdict(good):
    return "reached" if good else "missed"


def print_rows(rows, own, more, torch_ratios):
    print(f"\n{'':26} {'goal':>5} {'0.25 %':>6} {'2 %':>6} {'PyTorch':>7} {'GB/s':>5}")
    reached = 0
    for name, text, goal in rows:
        ratios = [table[text][1] for table in (own, more) if text in table]
        if not ratios:
            print(f"{name:26} {goal:5.2f}   not measured")
            continue
        best = max(ratios)
        columns = " ".join(f"{table[text][1]:6.3f}" if text in table else f"{'-':>6}" for table in (own, more))
        beside = torch_ratios.get(text)
        gigabytes = max(table[text][0] for table in (own, more) if text in table)
        reached += best >= goal
        print(f"{name:26} {goal:5.2f} {columns} {f'{beside:7.2f}' if beside else '      -'} {gigabytes:5} {verdict(best >= goal)}")
    print(f"{reached} of {len(rows)} reached", flush=True)


def tables(runs):
    for title, rows, program in (("Tensors", TENSORS, "time_permute"), ("Matrices and records", MATRICES, "measure_cuda")):
        texts = [text for _, text, _ in rows]
        own = measure(runs, program, texts)
        more = measure(runs, program, texts, ["--scratch", "2"])
        torch_ratios = {} if runs.options.small else {text: pytorch(text) for text in texts}
        print(f"\n{title}, ratio to a copy of the same bytes", end="")
        print_rows(rows, own, more, torch_ratios)
        if program == "measure_cuda":
            papers = sorted(max(t[p][1] for t in (own, more) if p in t) for p in PAPERS if p in own or p in more)
            if papers:
                good = papers[0] >= PAPERS_LEAST
                print(f"six shapes of 52 MB: median {papers[len(papers) // 2]:.3f}, least {papers[0]:.3f}, goal {PAPERS_LEAST}: {verdict(good)}")
    cold = measure(runs, "measure_cuda", PAPERS, ["--cold", str(100000 if runs.options.small else COLD_BYTES)])
    print("\nSix shapes, cold: other bytes are read before each run and each copy", end="")
    print_rows([(shape, shape, COLD_GOAL) for shape in PAPERS], cold, {}, {})


def curve(runs):
    print("\nScratch memory that is given, time of a run beside that with 2 % (a copy in brackets)")
    print(f"{'':26} " + " ".join(f"{f'{percent} %':>6}" for percent in PERCENTS))
    for text in CURVE:
        program = "time_permute" if ":" in text else "measure_cuda"
        speeds = []
        for percent in PERCENTS:
            found = measure(runs, program, [text], ["--scratch", str(percent)])
            if text in found:
                speeds.append(found[text][1])
        if len(speeds) == len(PERCENTS) and min(speeds) > 0:
            times = [speeds[0] / speed for speed in speeds]
            falls = all(later <= 1.03 * earlier for earlier, later in zip(times, times[1:])) and times[-1] < 0.97
            columns = " ".join(f"{share:6.2f}" for share in times)
            print(f"{text:26} {columns}  [{speeds[0]:.2f} to {speeds[-1]:.2f}] {'falls' if falls else 'does not fall'}", flush=True)
        else:
            print(f"{text:26} not measured")


def random_step(runs):
    near = []
    for kind, count, seed in (("even", 60, 5), ("any", 60, 6), ("mixed", 380, 7)):
        count = 3 if runs.options.small else count
        least = ["--most", "40000"] if runs.options.small else []
        ratios = []
        for line in runs.lines("time_permute", "cuda", *least, "--random", str(count), str(seed), kind):
            match = LINE.match(line)
            if match is None:
                if line.endswith("failed"):
                    runs.fail(line)
                continue
            if int(match[4]) != 0:
                runs.fail(f"wrong elements: {line}")
            passes = PASSES.search(line)
            ratios.append(float(match[3]))
            near.append((float(passes[2]) / max(float(passes[1]), 1e-9), line))
        if not ratios:
            continue
        ratios.sort()
        text = f"{len(ratios)} of {count} {kind} problems: median {ratios[len(ratios) // 2]:.3f}, least {ratios[0]:.3f}"
        if kind in RANDOM:
            median, least_goal = RANDOM[kind]
            text += f"; goals {median}, {least_goal}: {verdict(ratios[len(ratios) // 2] >= median)}, {verdict(ratios[0] >= least_goal)}"
        print(text, flush=True)
    within = sum(0.75 <= share <= 1.25 for share, _ in near)
    if near:
        good = within >= 0.95 * len(near)
        print(f"expected time within 25 % of the measured one: {within} of {len(near)}, {within / len(near):.1%}; goal 95 %: {verdict(good)}")
    for share, line in sorted(near, key=lambda pair: -abs(pair[0] - 1))[:12]:
        if not 0.75 <= share <= 1.25:
            print(f"  expected {share:.2f} of measured: {line[:110]}")


def choice(runs):
    problems = ["--count", "1", "--bytes", "2K,9K", "--most", "3"] if runs.options.small else ["--count", "100"]
    parts = []
    for line in runs.lines("restride-lab", "tune", "--engine", "cuda", "--seed", str(runs.options.seed), *problems):
        match = re.match(r" *\d+x\d+x\d+ +\d+ +[0-9.]+ +[0-9.]+ +([0-9.]+) ", line)
        if match:
            parts.append(float(match[1]))
            if parts[-1] < 0.9:
                print(f"  {line.strip()}", flush=True)
        elif line.startswith("restride-lab"):
            print(line)
    if parts:
        near = sum(part >= 0.9 for part in parts)
        print(f"the choice within 10 % of the best plan tried: {near} of {len(parts)}, worst {min(parts):.2f}; goal all: {verdict(near == len(parts))}")


def opencl(runs):
    texts = [text for _, text, _ in TENSORS]
    for _, text, _ in MATRICES:
        *sides, unit = text.split("x")
        rank = len(sides)
        axes = [*range(rank - 2), rank - 1, rank - 2]
        texts.append("x".join(sides) + ":" + "x".join(map(str, axes)) + ":" + unit)
    near = total = 0
    print(f"\n{'':40} {'CUDA':>6} {'OpenCL':>6}   each beside its own copy")
    for text in texts:
        ratios = []
        for engine in ("cuda", "opencl"):
            for line in runs.lines("time_permute", engine, runs.shrink(text)):
                match = LINE.match(line)
                if match and int(match[4]) != 0:
                    runs.fail(f"wrong elements: {line}")
                if match:
                    ratios.append(float(match[3]))
        if len(ratios) == 2:
            total += 1
            near += ratios[1] >= 0.9 * ratios[0]
            print(f"{text:40} {ratios[0]:6.3f} {ratios[1]:6.3f}   {'within 10 %' if ratios[1] >= 0.9 * ratios[0] else 'SLOWER'}", flush=True)
    print(f"OpenCL within 10 % of CUDA: {near} of {total}")


def campaign(runs):
    folder, count = runs.options.state, runs.options.count
    os.makedirs(folder, exist_ok=True)
    shares = 2 if runs.options.small else 16
    processes = min(shares, os.cpu_count() or 1)
    begun = []
    waiting = list(range(shares))

    def start():
        share = waiting.pop(0)
        first, last = count * share // shares, count * (share + 1) // shares
        state = os.path.join(folder, f"{count}.{share}")
        seconds = str(max(int(runs.left()), 1))
        return subprocess.Popen([runs.path("campaign"), str(first), str(last), state, "cuda", seconds], stdout=subprocess.PIPE, text=True)

    while waiting or begun:
        while waiting and len(begun) < processes and runs.left() > 0:
            begun.append(start())
        if not begun:
            break
        process = begun.pop(0)
        output = process.communicate()[0]
        for line in output.splitlines():
            if "is wrong" in line:
                print(line)
        if process.returncode != 0:
            runs.fail(f"campaign ended with status {process.returncode}")
    right = refused = wrong = 0
    for share in range(shares):
        try:
            with open(os.path.join(folder, f"{count}.{share}"), encoding="ascii") as file:
                words = file.read().split()
            right, refused, wrong = right + int(words[3]), refused + int(words[5]), wrong + int(words[7])
        except OSError:
            pass
    done = right + refused + wrong
    print(f"campaign: {done} of {count} plans so far, {right} right, {refused} refused as asked for, {wrong} wrong")
    if wrong:
        runs.fail("the campaign found wrong elements")


STEPS = {"tables": tables, "curve": curve, "random": random_step, "choice": choice, "opencl": opencl, "campaign": campaign}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", default="build/tests/engine:build/tests/engine/cuda:build/bin")
    parser.add_argument("--seconds", type=float, default=340)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--state", default=".goals-state")
    parser.add_argument("--count", type=int, default=100000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("step", nargs="*")
    options = parser.parse_args()
    steps = options.step or ["tables", "curve", "random"]
    if not set(steps) <= set(STEPS):
        parser.error(f"a step is one of {', '.join(STEPS)}")
    runs = Runs(options)
    for step in steps:
        began = time.monotonic()
        if runs.left() < 0:
            print(f"({step} was left out: the time is over)")
            continue
        STEPS[step](runs)
        print(f"({step} took {time.monotonic() - began:.0f} s)", flush=True)
    print("all elements right" if not runs.failures else f"{len(runs.failures)} FAILED: {runs.failures[0]}")
    return 1 if runs.failures else 0


if __name__ == "__main__":
    sys.exit(main())
