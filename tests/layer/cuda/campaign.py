#!/usr/bin/env python3
"""campaign.py pack BUILD FOLDER     here: into FOLDER, what another machine needs, with this script and run.sh (about 8 MB)
FOLDER/run.sh SECONDS JOBS [COUNT]   there: random programs of calls of the CUDA driver over a made-up one, plainly and under
`restride run`: the same bytes. COUNT programs (default 100,000) with each of the policies auto and asta, JOBS processes at a
time; half of them with per-thread default streams, some with 16 threads, kernels of libraries, second contexts, or children. What
has passed is noted in FOLDER/passed, so that the same command goes on after SECONDS or a failure. There must be a C compiler: kernels
are compiled for the host."""
import concurrent.futures
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PART = 100
# Flags (program.c), and how many programs a process, or each of its 16 threads, has.
KINDS = (("", PART), ("p", PART), ("k", PART), ("kp", PART), ("", PART), ("tp", 6), ("ck", 5), ("ftp", 1))


def pack(build, folder):
    tests = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
    emulated = f"{build}/tests/engine/cuda/emulated"
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(f"{folder}/emulated")
    subprocess.run(["cmake", "--install", build, "--prefix", f"{folder}/all"], check=True, stdout=subprocess.DEVNULL)
    os.makedirs(f"{folder}/bin")
    os.makedirs(f"{folder}/lib/restride")
    files = {
        f"{folder}/all/bin/restride": "bin",
        f"{folder}/all/lib/restride/librestride_layer_cuda.so": "lib/restride",
        f"{folder}/all/lib/restride/librestride_layer.so": "lib/restride",
        f"{folder}/all/lib/restride/librestride_loader.so": "lib/restride",
        f"{build}/tests/layer/cuda/layer_cuda_program": ".",
        f"{build}/tests/layer/cuda/libmade_up_kernels.so": ".",
        f"{build}/tests/layer/cuda/made_up/libcuda.so.1": ".",
        f"{emulated}/libnvrtc.so.13": ".",
    }
    for line in subprocess.run(["ldd", f"{build}/bin/restride"], check=True, capture_output=True, text=True).stdout.splitlines():
        if "libjansson" in line or "libinih" in line:
            files[line.split()[2]] = "lib"
    for name, to in files.items():
        shutil.copy(name, f"{folder}/{to}/")
        subprocess.run(["strip", f"{folder}/{to}/{os.path.basename(name)}"], check=True)
    shutil.rmtree(f"{folder}/all")
    shutil.copy(f"{tests}/tests/engine/cuda/emulated.h", folder)
    shutil.copy(os.path.abspath(__file__), folder)
    with open(f"{folder}/run.sh", "w", encoding="utf-8") as file:
        file.write('#!/bin/sh\n# SECONDS JOBS [COUNT]: see campaign.py.\nexec python3 "$(dirname "$0")/campaign.py" run "$@"\n')
    os.chmod(f"{folder}/run.sh", 0o755)


def environment():
    return dict(
        os.environ, LD_LIBRARY_PATH=f"{HERE}:{HERE}/lib", EMULATED_FOLDER=f"{HERE}/emulated", EMULATED_HEADER=f"{HERE}/emulated.h",
        XDG_CACHE_HOME=f"{HERE}/emulated/cache", RESTRIDE_WISDOM="",
    )


def run_part(number, policy):
    """What a part counted, or what was wrong with it."""
    flags, count = KINDS[number % len(KINDS)]
    command = [f"{HERE}/layer_cuda_program", f"{HERE}/libmade_up_kernels.so", str(1 + number * 1000), str(count), flags]
    plain = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    with tempfile.TemporaryDirectory() as work:
        path = f"{work}/report.json"
        run = [f"{HERE}/bin/restride", "run", "--cache-only", "--quiet", "--policy", policy, "--report", path, "--", "env", "-u", "RESTRIDE_REPORT_TIMES"]
        done = subprocess.run([*run, *command], env=environment(), capture_output=True, text=True, check=False)
        if plain.returncode != 0 or done.returncode != 0 or done.stdout != plain.stdout:
            return f"part {number}, policy {policy}: {command[3:]} DIFFERS: status {plain.returncode}, {done.returncode}\n{done.stderr[-500:]}"
        with open(path, encoding="utf-8") as file:
            report = json.load(file)
    kernels, marshal = report["kernels"], report["marshal"]
    return {"programs": count * (16 if "t" in flags else 1), "launches": sum(k["launches"] for k in kernels),
            "transformed": sum(k["transformed_launches"] for k in kernels), "conversions": marshal["count"], "birth": marshal["from_birth"]}


def read_passed():
    passed = {}
    if os.path.exists(f"{HERE}/passed"):
        with open(f"{HERE}/passed", encoding="utf-8") as file:
            for line in file:
                one = json.loads(line)
                passed[(one["part"], one["policy"])] = one
    return passed


def run(seconds, jobs, count):
    began, failed, passed = time.time(), 0, read_passed()
    sizes = [c * (16 if "t" in f else 1) for f, c in KINDS]
    parts, number = 0, 0
    while number < count:
        number += sizes[parts % len(sizes)]
        parts += 1
    wanted = [(part, policy) for part in range(parts) for policy in ("auto", "asta") if (part, policy) not in passed]

    def try_part(which):
        return (which, run_part(*which)) if time.time() - began < seconds else (which, None)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool, open(f"{HERE}/passed", "a", encoding="utf-8") as file:
        first = [try_part(which) for which in wanted[:1]]  # compiles the kernels of the engine
        for (part, policy), result in itertools.chain(first, pool.map(try_part, wanted[1:])):
            if isinstance(result, str):
                failed += 1
                print(result)
            elif result is not None:
                passed[(part, policy)] = {"part": part, "policy": policy, **result}
                file.write(json.dumps(passed[(part, policy)]) + "\n")
                file.flush()
    least = count
    print("policy  programs  launches  transformed  conversions  from birth")
    for policy in ("auto", "asta"):
        sums = {key: sum(one[key] for one in passed.values() if one["policy"] == policy) for key in ("programs", "launches", "transformed", "conversions", "birth")}
        print(f"{policy:6} {sums['programs']:9} {sums['launches']:9} {sums['transformed']:12} {sums['conversions']:12} {sums['birth']:11}")
        least = min(least, sums["programs"])
    print(f"campaign: {least} of {count} programs with each policy, {failed} parts differ, {time.time() - began:.0f} s")
    return failed > 0


if sys.argv[1] == "pack":
    pack(*sys.argv[2:4])
elif sys.argv[1] == "run":
    sys.exit(run(float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 100000))
else:
    sys.exit(__doc__)
