#!/usr/bin/env python3
"""gpu_programs.py FOLDER [--seconds S] [--turns N] [STEP...]: whole programs that use CUDA, plainly and under `restride run`, on
a GPU (tools/gpu_programs.sh packs FOLDER and calls this). Steps:

start        how much later short programs end: one of C++, one of CuPy; goal 30 ms
launch       nanoseconds of a launch that has nothing to gain; goal 1 microsecond more
examples     lbm and particles: times of kernels beside nvcc's; goals 5 and 2 times, 1.05 of tiles by hand
cupy torch compile numba   a loop of S seconds (default 10) in which nothing has another layout; goal 2 % lost
structures   CuPy's RawModule with an array of structures; launches in another layout

All results are the same, with the policies auto and asta, or the exit status is 1. Of several turns, each with all ways in turn,
medians of ratios to the plain run count. What is not installed is left out."""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cuda_programs.py")
rows, wrong = [], []


def add(step, what, text, goal="", is_reached=None):
    rows.append((step, what, text, goal, "" if is_reached is None else "reached" if is_reached else "missed"))


class Place:
    def __init__(self, folder, work):
        self.folder, self.work = folder, work
        self.restride = f"{folder}/bin/restride"
        self.environment = dict(os.environ, XDG_CACHE_HOME=f"{work}/cache", CUPY_CACHE_DIR=f"{work}/cupy", TORCHINDUCTOR_CACHE_DIR=f"{work}/inductor",
                                RESTRIDE_WISDOM="")

    def run(self, command, policy="plain", report="", **more):
        """Output, or None; seconds."""
        before = [] if policy == "plain" else [self.restride, "run", "--quiet", "--policy", policy, *(["--report", report] if report else []), "--"]
        environment = dict(self.environment, **more)
        if policy != "plain":  # programs that were compiled without it have no second forms
            environment["CUPY_CACHE_DIR"] += "-restride"
            environment["LD_LIBRARY_PATH"] = f"{self.folder}/lib:" + environment.get("LD_LIBRARY_PATH", "")
        began = time.perf_counter()
        done = subprocess.run([*before, *command], env=environment, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            wrong.append(f"{' '.join(command[-3:])}, {policy}: status {done.returncode}: {done.stderr[-600:]}")
            return None, 0
        return done.stdout, time.perf_counter() - began

    def python(self, name, seconds, policy="plain", report="", rounds=0):
        said, _ = self.run([sys.executable, PROGRAMS, name, str(seconds)], policy, report, LOOP_ROUNDS=str(rounds))
        return json.loads(said.splitlines()[-1]) if said else None


def has(module):
    return subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


def measure_start(place, options):
    commands = {"C++": [f"{place.folder}/programs/launches", "1000", "1", "/dev/null"]}
    if has("cupy"):
        commands["CuPy"] = [sys.executable, PROGRAMS, "start", "0"]
    for name, command in commands.items():
        for policy in ("plain", "auto"):
            place.run(command, policy)  # fills caches
        later = []
        for _ in range(max(9, options.turns)):
            plain = place.run(command)[1]
            later.append((place.run(command, "auto")[1] - plain) * 1e3)
        median = statistics.median(later)
        add("start", name, f"{median:.1f} ms later, from {min(later):.1f} to {max(later):.1f}", "30 ms", median <= 30)


def measure_launch(place, options):
    command = [f"{place.folder}/programs/launches", "100003", "200", f"{place.work}/bytes"]
    times, plain = {}, None
    for _ in range(max(5, options.turns)):
        for policy in ("plain", "off", "asta", "auto"):
            said, _ = place.run(command, policy)
            with open(f"{place.work}/bytes", "rb") as file:
                content = file.read()
            plain = plain or content
            if content != plain:
                wrong.append(f"launches, {policy}: other bytes")
            if said:
                times.setdefault(policy, []).append(float(said.split()[-1]))
    for policy in ("off", "asta", "auto"):
        more = statistics.median(times[policy]) - statistics.median(times["plain"])
        add("launch", policy, f"{statistics.median(times[policy]):.0f} ns, plainly {statistics.median(times['plain']):.0f}", "1000 ns more", more <= 1000)


def kernel_ms(said):
    return float(said.split("kernels ")[1].split()[0])


def measure_examples(place, options):
    sizes = ((["lbm", "--size", "128", "--steps", "400"], 5), (["particles", "--count", "8000003", "--steps", "400"], 2))
    for (program, *arguments), goal in sizes:
        ratios, by_hand, plain_bytes = {}, {}, None
        for turn in range(options.turns):
            times = {}
            for way, file, policy in (("plain", ".plain", "plain"), ("by hand", ".tiled", "plain"), ("asta", "", "asta"), ("auto", "", "auto")):
                dump = ["--dump", f"{place.work}/dump"] if turn == 0 else []
                said, _ = place.run([f"{place.folder}/programs/{program}{file}", *arguments, *dump], policy)
                if said is None:
                    return
                times[way] = kernel_ms(said)
                if turn == 0:
                    with open(f"{place.work}/dump", "rb") as dumped:
                        content = dumped.read()
                    plain_bytes = plain_bytes or content
                    if content != plain_bytes:
                        wrong.append(f"{program}, {way}: other bytes")
            print(f"  {program} {' '.join(arguments)}: {times} ms", flush=True)
            for way in ("asta", "auto", "by hand"):
                ratios.setdefault(way, []).append(times["plain"] / times[way])
                by_hand.setdefault(way, []).append(times[way] / times["by hand"])
        for way in ("asta", "auto"):
            faster, beside = statistics.median(ratios[way]), statistics.median(by_hand[way])
            add("examples", f"{program}, {way}", f"{faster:.2f} times as fast, {beside:.3f} of the time by hand", f"{goal} times, 1.05", faster >= goal and beside <= 1.05)


def measure_loop(place, options, name):
    plain = place.python(name, options.seconds)
    if plain is None:
        return
    report = f"{place.work}/{name}.json"
    place.python(name, 0, "auto", rounds=1)  # fills caches
    asta = place.python(name, 0, "asta", report, rounds=1)
    ratios, runs = [], []
    for turn in range(options.turns):
        pair = {}
        for policy in ("plain", "auto") if turn % 2 == 0 else ("auto", "plain"):
            pair[policy] = place.python(name, options.seconds, policy, rounds=plain["rounds"])
            if pair[policy] is None:
                return
        runs += pair.values()
        ratios.append(pair["auto"]["seconds"] / pair["plain"]["seconds"])
        print(f"  {name}: {pair['plain']['seconds']:.3f} s, auto {pair['auto']['seconds']:.3f}", flush=True)
    if any(one["digest"] != plain["digest"] for one in [*runs, asta or {"digest": ""}]):
        wrong.append(f"{name}: other results: {[one['digest'] for one in [plain, asta, *runs]]}")
    lost = (statistics.median(ratios) - 1) * 100
    add(name, f"{plain['seconds']:.1f} s", f"{lost:+.2f} % in auto, from {min(ratios) * 100 - 100:+.2f} to {max(ratios) * 100 - 100:+.2f}", "2 %", lost <= 2)


def measure_structures(place, options):
    plain = place.python("structures", 0)
    if plain is None:
        return
    for policy in ("asta", "auto", "auto"):
        report = f"{place.work}/structures.json"
        ran = place.python("structures", 0, policy, report)
        if ran is None:
            return
        if ran["digest"] != plain["digest"]:
            wrong.append(f"structures, {policy}: other results")
        with open(report, encoding="utf-8") as file:
            said = json.load(file)
        kernels = [k for k in said["kernels"] if k["name"] in ("move", "weigh")]
        transformed, launches = sum(k["transformed_launches"] for k in kernels), sum(k["launches"] for k in kernels)
        add("structures", policy, f"{transformed} of {launches} launches, {said['marshal']['count']} conversions; {ran['seconds']:.2f} s, plainly {plain['seconds']:.2f}")
        for kernel in kernels:
            if kernel["transformed_launches"] < kernel["launches"]:
                print(f"  structures, {policy}: {kernel['name']}: {kernel.get('held_reason')} {kernel.get('decisions')}")
        for note in said["notes"]:
            print(f"  structures, {policy}: {note}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("steps", nargs="*")
    options = parser.parse_intermixed_args()
    needs = {"start": "", "launch": "", "examples": "", "structures": "cupy", "cupy": "cupy", "torch": "torch", "compile": "torch", "numba": "numba.cuda"}
    with tempfile.TemporaryDirectory() as work:
        place = Place(os.path.abspath(options.folder), work)
        for step in options.steps or needs:
            began = time.perf_counter()
            if needs[step] and not has(needs[step]):
                add(step, "", f"there is no {needs[step]}")
                continue
            {"start": measure_start, "launch": measure_launch, "examples": measure_examples, "structures": measure_structures}.get(
                step, lambda place, options, name=step: measure_loop(place, options, name))(place, options)
            print(f"({step} took {time.perf_counter() - began:.0f} s)", flush=True)
    print()
    for one in wrong:
        print("WRONG " + one)
    for row in rows:
        print(f"{row[0]:11} {row[1]:16} {row[2]:62} {row[3]:14} {row[4]}".rstrip())
    print(f"gpu_programs: {'FAILED' if wrong else 'all results are the same'}; {sum(r[4] == 'missed' for r in rows)} goals missed")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
