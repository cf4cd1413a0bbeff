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


def output(command, status=0, **more):
    done = subprocess.run(command, env=dict(environment, **more), capture_output=True, text=True)
    if done.returncode != status:
        complain(f"{' '.join(command)}: status {done.returncode}\n{done.stdout[-300:]}{done.stderr[-2000:]}")
    return done.stdout


def followed(arguments, policy, times=True, options=(), **more):
    """The output under restride run, and the report. Without "times" in it launches are timed only where a policy wants it."""
    untimed = ["env", "-u", "RESTRIDE_REPORT_TIMES"] if not times else []
    with tempfile.TemporaryDirectory() as work:
        path = f"{work}/report.json"
        said = output([restride, "run", "--quiet", *options, "--policy", policy, "--report", path, "--", *untimed, program, *arguments], **more)
        with open(path) as file:
            return said, json.load(file)


def transformed(report):
    return {kernel["name"] for kernel in report["kernels"] if kernel["transformed_launches"] > 0}


def check(seed, number, flags="", policy="asta", wants=frozenset(), times=True, options=(), status=0, **more):
    arguments = [kernels, str(seed), str(number), flags]
    plain = output([program, *arguments], **more)
    said, report = followed(arguments, policy, times, options, status=status, **more)
    what = f"seed {seed}, {number} programs, flags \"{flags}\", policy {policy}"
    if said != plain:
        complain(f"{what}: other results\n{plain}{said}")
    launched = int(plain.split()[-2])
    counted = sum(kernel["launches"] for kernel in report["kernels"])
    if launched != counted:
        complain(f"{what}: {launched} launches, {counted} in the report")
    if not wants <= transformed(report):
        complain(f"{what}: not transformed: {' '.join(wants - transformed(report))}")
    if len({kernel["name"] for kernel in report["kernels"]}) != len(report["kernels"]):
        complain(f"{what}: a kernel is there twice")
    refused = [kernel["name"] for kernel in report["kernels"] if "refused" in kernel.get("held_reason", "")]
    if refused:
        complain(f"{what}: second forms without what the program asked for: {' '.join(refused)}")
    if policy == "off" and transformed(report):
        complain(f"{what}: transformed: {' '.join(transformed(report))}")
    if policy == "off" and any(kernel["timed_launches"] != kernel["launches"] for kernel in report["kernels"]):
        complain(f"{what}: launches without times")
    stays = [note for note in report["notes"] if "stay in the program's layout" in note]
    if bool(stays) != any(flag in flags for flag in "urc"):
        complain(f"{what}: notes: {report['notes']}")
    print(f"{what}: {launched} launches, {sum(k['transformed_launches'] for k in report['kernels'])} transformed, "
          f"{report['marshal']['count']} conversions, {report['marshal']['from_birth']} arrays from birth")
    if policy == "asta" and not stays and number >= 40 and not report["marshal"]["from_birth"]:
        complain(f"{what}: no array was in its layout from birth")
    return report


# What policy auto can say of a launch (src/layer/core/policy.c, choice.c) while the times of the made-up device are those of
# kernels.c. What is foretold of "inside" is in description.c.
DECISIONS = (
    "by hand",
    "its time in the program's own layout is not known yet",
    "the buffers are in this layout already",
    "the gain would not pay for the conversions: too few launches between other uses of its buffers",
    "measured to be no faster in another layout",
    "the conversions so far have not paid for themselves",
    "the times of its trial are not known yet",
    "measured to be faster",
    "predicted to be faster",
    "a trial would cost too much of the time that it has taken so far",
    "its conversions are being built",
)
# Needs a time that is late while the program goes on, or conversions that are long beside the time so far: on a busy machine the
# few programs of a short run may meet neither.
BY_CHANCE = ("the times of its trial are not known yet", "the conversions so far have not paid for themselves") if count < 10000 else ()



def check_decisions():
    """Policy auto, with and without times for a report, and once more with what a run has learned. Each kind of decision
    happens, but for those of BY_CHANCE."""
    decided = dict.fromkeys(DECISIONS, 0)
    expected = set()  # of mix: by the size of its launches
    with tempfile.TemporaryDirectory() as work:
        wisdom = dict(RESTRIDE_WISDOM=f"{work}/wisdom.json")
        runs = [
            (810001, count // 4, "", True, {}),
            (820001, count // 4, "p", False, {}),
            (830001, count // 4, "", False, wisdom),
            (830001, count // 4, "", False, wisdom),
            (840001, count // 40, "t", False, {}),
            (850001, count // 40, "tp", False, {}),
        ]  # each process tries anew
        runs += [(800001 + count * i, count // 16, "p" * (i % 2), False, {}) for i in range(4)]
        # What a trial meets depends on the clock: processes follow until each has happened.
        runs += [(860001 + count * i, count // 8, "p" * (i % 2), False, {}) for i in range(16)]
        for at, (seed, number, flags, times, more) in enumerate(runs):
            if at >= 10 and all(number > 0 or reason in BY_CHANCE for reason, number in decided.items()):
                break
            report = check(seed, number, flags, "auto", times=times, **more)
            for kernel in report["kernels"]:
                if kernel["name"] == "mix" and kernel.get("policy"):
                    expected.add(kernel["policy"]["predicted_ratio"])
                for reason, times_decided in kernel.get("decisions", {}).items():
                    decided[reason] = decided.get(reason, 0) + times_decided
    if expected != {1, 3}:
        complain(f"mix is expected to be {expected} times as fast")
    for reason, number in sorted(decided.items(), key=lambda one: -one[1]):
        print(f"{number:9} {reason}")
        if (number == 0 and reason not in BY_CHANCE) or reason not in DECISIONS:
            complain(f"decided {number} times: {reason}")


def check_birth():
    """A kernel that fills a new array finds it in its layout: no conversion there, two back and one there again. A closed kernel
    on other memory, which has no second form, leaves the array as it is."""
    for policy, birth in (("off", 0), ("asta", 1)):
        said, report = followed([kernels, "1", "0", "b"], policy, MADE_UP_PATTERN="1")
        marshal = report["marshal"]
        counts = (marshal["from_birth"], marshal["from_birth_bytes"], marshal["count"])
        if not said.startswith("right\n") or counts != (birth, birth * 101 * 32, birth * 3):
            complain(f"a new array, policy {policy}: {said} {marshal}")
    if report["kernels"][0]["transformed_launches"] != 3:
        complain(f"a new array: {report['kernels'][0]}")


def check_verification():
    """Each transformed launch is compared; a second form that is wrong is found and named, and the program's results are its own
    all the same."""
    for flags, policy, wrong in (("", "asta", ""), ("tp", "asta", ""), ("", "auto", ""), ("", "asta", "move")):
        report = check(950001, max(count // 40, 10), flags, policy, options=["--verify"], status=int(wrong != ""), MADE_UP_WRONG=wrong)
        verified = report["verified"]
        launched = sum(kernel["transformed_launches"] for kernel in report["kernels"])
        # A launch on the host's memory besides is left out, and one while a blocking call of another thread, or a launch with
        # attributes, holds all memory for a moment.
        if verified["launches"] + verified["left_out"] != launched or verified["left_out"] > launched // 10 or verified["unsteady"]:
            complain(f"{launched} transformed launches, verified: {verified}")
        named = [note for note in report["notes"] if "form of move left other bytes" in note and "member y" in note]
        if bool(verified["different"]) != bool(wrong) or bool(named) != bool(wrong):
            complain(f"wrong \"{wrong}\": {verified} {report['notes']}")
    unsteady = dict(MADE_UP_UNSTEADY="move")
    _, report = followed([kernels, "950001", str(max(count // 40, 10))], "asta", options=["--verify"], **unsteady)
    if not report["verified"]["unsteady"] or report["verified"]["different"]:
        complain(f"a kernel whose results change from run to run: {report['verified']}")


def check_kinds():
    """Of nine arrays, each launched on twice, the device's own and a pool's are in another layout, no others: managed memory, the
    host's, that of pools of either, mapped memory, and the device's own that is shared with a process or read by a texture."""
    said, report = followed([kernels, "1", "0", "m"], "asta")
    counts = [(kernel["launches"], kernel["transformed_launches"]) for kernel in report["kernels"]]
    if said != output([program, kernels, "1", "0", "m"]) or counts != [(18, 4)]:
        complain(f"kinds of memory: {said} {counts}")


every = frozenset({"move", "mix", "fold", "inside", "pairs"})
check(1, count, wants=every)
check(500001, count // 4, "kp", wants=every)  # kernels of a library, per-thread default streams
check(600001, count // 4, wants=every, MADE_UP_SEED="99")
check(700001, max(count // 8, 800), "u")  # rare calls: fewer programs never change bytes
check(710001, count // 40, "t", wants={"move"})  # 16 threads, most of which wait for conversions to be built
check(720001, count // 40, "tp", wants={"move"})
check(730001, count // 40, "c")  # second contexts, from some time on
check(740001, max(count // 200, 2), "cktp")
check(750001, count // 40, "f", wants={"move"})
check(760001, max(count // 200, 2), "ftp")
check_birth()
check_kinds()
check_decisions()
check_verification()
check(900001, count // 8, policy="off")
report = check(1, 40, "r")
if transformed(report):
    complain("an array was in another layout after a call that may end the context")
report = check(1, 40, "j", wants={"move"})
if not any("links kernels at run time (cuLinkComplete)" in note for note in report["notes"]):
    complain(f"the report does not name a program that links: {report['notes']}")
said, report = followed([kernels, "1", "0", "i"], "asta")
counts = [(kernel["launches"], kernel["transformed_launches"]) for kernel in report["kernels"]]
if said != output([program, kernels, "1", "0", "i"]) or counts != [(3, 1)] or "a small piece" not in json.dumps(report["kernels"]):
    complain(f"launches on pieces of an allocation: {said} {report['kernels']}")
_, report = followed([kernels, "1", "0", "i"], "off", MADE_UP_EVENTS="4")
counts = [(kernel["launches"], kernel["timed_launches"]) for kernel in report["kernels"]]
if counts != [(3, 3)]:
    complain(f"a program that waits by copies alone: {counts}")
report = check(1, 80, "u")
if not any("cuMadeUpFunction" in note for note in report["notes"]):
    complain(f"the report does not name the unknown function: {report['notes']}")
held = {kernel["name"]: kernel.get("held_reason", "") for kernel in report["kernels"]}
for name, reason in (("open_ended", "by other ways"), ("scale", "in a run without Restride"),
                     ("weigh", "no argument has a second form"), ("reach", "in a run without Restride")):
    if reason not in json.dumps([k for k in report["kernels"] if k["name"] == name]):
        complain(f"{name}: {held.get(name)}")
sys.exit(failed)
