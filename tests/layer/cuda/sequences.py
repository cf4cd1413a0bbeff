#!/usr/bin/env python3
"""sequences.py RESTRIDE PROGRAM KERNELS LIBRARIES COUNT: random programs of calls of the CUDA driver, plainly and under
`restride run`, over a made-up driver: the same bytes, and a report that counts what was launched. LIBRARIES are the folders
of that driver and of the emulated compiler, with ":" between them."""
import json
import os
import subprocess
import sys
import tempfile

restride, program, kernels, libraries, count = sys.argv[1:6]
count = int(count)
folder = libraries.split(":")[1]
environment = dict(
    os.environ, LD_LIBRARY_PATH=libraries, EMULATED_FOLDER=folder, XDG_CACHE_HOME=f"{folder}/cache", RESTRIDE_WISDOM=""
)
failed = False


def complain(text):
    global failed
    failed = True
    print(text)


def output(command, **more):
    done = subprocess.run(command, env=dict(environment, **more), capture_output=True, text=True)
    if done.returncode != 0:
        complain(f"{' '.join(command)}: status {done.returncode}\n{done.stdout[-300:]}{done.stderr[-2000:]}")
    return done.stdout


def followed(arguments, policy, **more):
    """The output under restride run, and the report."""
    with tempfile.TemporaryDirectory() as work:
        path = f"{work}/report.json"
        said = output([restride, "run", "--quiet", "--policy", policy, "--report", path, "--", program, *arguments], **more)
        with open(path) as file:
            return said, json.load(file)


def transformed(report):
    return {kernel["name"] for kernel in report["kernels"] if kernel["transformed_launches"] > 0}


def check(seed, number, flags="", policy="asta", wants=frozenset(), **more):
    arguments = [kernels, str(seed), str(number), flags]
    plain = output([program, *arguments], **more)
    said, report = followed(arguments, policy, **more)
    what = f"seed {seed}, {number} programs, flags \"{flags}\", policy {policy}"
    if said != plain:
        complain(f"{what}: other results\n{plain}{said}")
    launched = int(plain.split()[-2])
    counted = sum(kernel["launches"] for kernel in report["kernels"])
    if launched != counted:
        complain(f"{what}: {launched} launches, {counted} in the report")
    if not wants <= transformed(report):
        complain(f"{what}: not transformed: {' '.join(wants - transformed(report))}")
    if policy == "off" and transformed(report):
        complain(f"{what}: transformed: {' '.join(transformed(report))}")
    stays = [note for note in report["notes"] if "stay in the program's layout" in note]
    if bool(stays) != ("u" in flags or "r" in flags):
        complain(f"{what}: notes: {report['notes']}")
    print(f"{what}: {launched} launches, {sum(k['transformed_launches'] for k in report['kernels'])} transformed, "
          f"{report['marshal']['count']} conversions")
    return report


every = frozenset({"move", "mix", "fold", "inside"})
check(1, count, wants=every)
check(500001, count // 4, "p", wants=every)  # per-thread default streams
check(600001, count // 4, wants=every, MADE_UP_SEED="99")
check(700001, max(count // 8, 800), "u")  # rare calls: fewer programs never change bytes
check(710001, count // 40, "t", wants={"move"})  # 16 threads, most of which wait for conversions to be built
check(720001, count // 40, "tp", wants={"move"})
check(800001, count // 8, policy="auto")
check(900001, count // 8, policy="off")
report = check(1, 40, "r")
if transformed(report):
    complain("an array was in another layout after a call that may end the context")
report = check(1, 40, "u")
if not any("cuMadeUpFunction" in note for note in report["notes"]):
    complain(f"the report does not name the unknown function: {report['notes']}")
held = {kernel["name"]: kernel.get("held_reason", "") for kernel in report["kernels"]}
for name, reason in (("open_ended", "by other ways"), ("scale", "in a run without Restride")):
    if reason not in json.dumps([k for k in report["kernels"] if k["name"] == name]):
        complain(f"{name}: {held.get(name)}")
sys.exit(failed)
