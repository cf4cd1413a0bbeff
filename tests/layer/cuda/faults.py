#!/usr/bin/env python3
"""faults.py RESTRIDE PROGRAM KERNELS LIBRARIES COUNT: COUNT runs of random programs under `restride run` in which one call of
the driver fails, the program's or the layer's. Either the program ends as it does plainly, or it stops with an error of the
driver; nothing else. It gets no error of a function without which the layer can do as well. LIBRARIES as for sequences.py."""
import os
import random
import subprocess
import sys

restride, program, kernels, libraries, count = sys.argv[1:6]
folder = libraries.split(":")[1]
environment = dict(
    os.environ, LD_LIBRARY_PATH=libraries, EMULATED_FOLDER=folder, XDG_CACHE_HOME=f"{folder}/cache", RESTRIDE_WISDOM=""
)
# Functions that the program calls too, or that bring its memory back for a command of its own; and others.
NEEDED = ("cuLaunchKernel", "cuEventRecord", "cuStreamWaitEvent", "cuEventCreate", "cuStreamCreate", "cuMemAlloc_v2",
          "cuMemcpyHtoDAsync_v2", "cuEventDestroy_v2", "cuModuleGetFunction", "cuModuleLoadData", "cuEventQuery",
          "cuEventSynchronize", "cuMemGetAddressRange_v2")
OTHERS = ("cuFuncGetName", "cuFuncGetModule", "cuFuncGetParamInfo", "cuFuncGetAttribute", "cuFuncSetAttribute",
          "cuEventElapsedTime", "cuOccupancyMaxActiveBlocksPerMultiprocessor")
chosen = random.Random(6)
wrong = 0
ended = stopped = 0
for _ in range(int(count)):
    is_needed = chosen.random() < 0.6
    name = chosen.choice(NEEDED if is_needed else OTHERS)
    call = int(2 ** chosen.uniform(0, 9))
    seed = chosen.randrange(100000)
    arguments = [program, kernels, str(seed), "12", chosen.choice(["", "p"])]
    plain = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=True).stdout
    done = subprocess.run(
        [restride, "run", "--quiet", "--policy", "asta", "--", *arguments],
        env=dict(environment, EMULATED_FAIL=f"{name}:{call}"), capture_output=True, text=True, timeout=120)
    says_error = done.returncode == 1 and done.stdout.endswith(("error 999\n", "error 2\n"))
    ended += done.stdout == plain
    stopped += says_error
    if done.stdout == plain and done.returncode == 0:
        continue
    is_own = done.stdout.splitlines()[-1:] and done.stdout.splitlines()[-1].startswith(name)  # the program's call of it
    if says_error and (is_needed or is_own):
        continue
    wrong += 1
    print(f"{name}:{call}, {' '.join(arguments[2:])}: status {done.returncode}\n{done.stdout[-300:]}{done.stderr[-600:]}")
print(f"{count} faults: {ended} programs ended, {stopped} stopped with their own error, {wrong} did neither")
sys.exit(wrong > 0)
