#!/usr/bin/python3
"""reorder.py RESTRIDE EMULATED: what `restride reorder` writes, against NumPy, on the host and on devices (EMULATED is the
folder of an emulated CUDA driver, or empty); its picture; and what it says about bad input."""
import json
import os
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

try:
    import numpy
except ImportError:
    print("skipped: NumPy is not installed")
    sys.exit(77)

restride, emulated = (sys.argv[1:] + [""])[:2]
failures = 0


def check(condition, sentence):
    global failures
    if not condition:
        failures += 1
        print("FAILED:", sentence)


environment = dict(os.environ)
if emulated:
    environment.update(LD_LIBRARY_PATH=emulated, EMULATED_FOLDER=emulated, XDG_CACHE_HOME=emulated + "/cache")


def run(*arguments):
    return subprocess.run([restride, "reorder", *arguments], capture_output=True, text=True, env=environment)


def segments(index, size, warp, segment):
    """Of each warp."""
    found = []
    for first in range(0, len(index), warp):
        start = index[first:first + warp].astype(numpy.int64) * size
        found.append(len({s for b in start for s in range(b // segment, (b + size - 1) // segment + 1)}))
    return found


def check_picture(path, before, after):
    """The rows of a picture: all warps, or 32 with the first and the last, each with its number of segments."""
    root = xml.etree.ElementTree.parse(path).getroot()
    name = "{http://www.w3.org/2000/svg}"
    for kind, counts in (("before", before), ("after", after)):
        rows = {}
        for group in root.iter(name + "g"):
            words = group.find(name + "title").text.split()
            if words[2] == kind + ":":
                rows[int(words[1])] = int(words[3])
                marks = [r for r in group.iter(name + "rect") if r.get("class") == kind]
                check(1 <= len(marks) <= int(words[3]), f"{len(marks)} marks of {words}")
                place = [float(r.get("x")) for r in marks]
                check(place == sorted(place), "marks are in no order")
        check(len(rows) == min(32, len(counts)), f"{len(rows)} rows of {len(counts)} warps")
        check({0, len(counts) - 1} <= set(rows), "the first or the last warp is missing")
        check(all(counts[w] == n for w, n in rows.items()), f"{kind}: {rows}")
        total = [t.text for t in root.iter(name + "text") if t.text.startswith(f"{kind}: {sum(counts)} transactions, ")]
        check(len(total) == 1, f"{kind}: the total is not said")


def plan_on(engine, method, *more):
    """The report and the files of a plan."""
    done = run("index.npy", "--data", "data.npy", "--method", method, "--engine", engine, "--json", "--write-index", "new.npy",
               "--write-order", "order.npy", "--write-slots", "slots.npy", *more)
    if done.returncode != 0:
        return done.stderr, None
    report = json.loads(done.stdout)
    check(report.pop("engine") == engine and report.pop("plan_seconds") >= 0, "the engine and its time are not told")
    check(("device" in report) == (engine != "host"), "the device is not told")
    report.pop("device", None)
    return report, [open(f, "rb").read() for f in ("new.npy", "order.npy", "slots.npy")]


def check_devices():
    found = []
    for engine in ("opencl", "cuda"):
        numpy.save("data.npy", numpy.zeros(9, "<f4"))
        numpy.save("index.npy", numpy.zeros(9, "<u4"))
        done = run("index.npy", "--data", "data.npy", "--engine", engine)
        if done.returncode != 0:
            check(engine == "opencl" or not emulated, done.stderr)
            check("no" in done.stderr.lower(), done.stderr)
            print("skipped:", engine, done.stderr)
            continue
        found.append(engine)
        for kind in ("<u4", "<i8"):
            for shape in ((700,), (300, 5)):
                data = random.random(shape).astype("<f4")
                numpy.save("data.npy", data)
                numpy.save("index.npy", (random.random(999) ** 3 * shape[0]).astype(kind))
                for method in ("duplication", "approximation"):
                    on_host, on_device = plan_on("host", method), plan_on(engine, method)
                    check(on_host == on_device, f"{engine}, {method}: {on_host[0]} and {on_device[0]}")
                check(plan_on(engine, "auto") == plan_on("host", "approximation"), f"{engine}: auto")
                check(plan_on(engine, "auto", "--keep-threads") == plan_on("host", "duplication"), f"{engine}: --keep-threads")
        for method in ("partial", "padding"):
            check("on the host alone" in plan_on(engine, method)[0], f"{engine}, {method} is not refused")
        check("reads behind the array" in run("index.npy", "--objects", "5", "--type", "f32", "--engine", engine).stderr,
              f"{engine}: an index out of range")
        methods = json.loads(run("index.npy", "--data", "data.npy", "--engine", engine, "--explain", "--json").stdout)["methods"]
        check([m["method"] for m in methods] == ["duplication", "approximation"], f"{engine}: {methods}")
    return found


def check_explanations():
    numpy.save("index.npy", random.integers(0, 700, 999).astype("<u4"))
    common = ("index.npy", "--objects", "700", "--type", "f32", "--explain")
    report = json.loads(run(*common, "--json").stdout)
    by_name = {m["method"]: m for m in report["methods"]}
    check(list(by_name) == ["duplication", "partial", "padding", "approximation"], f"methods: {list(by_name)}")
    for name, told in by_name.items():
        alone = json.loads(run(*common[:-1], "--method", name, "--json").stdout)
        for key in ("transactions", "slots", "extra_bytes", "break_even_launches", "moves_threads"):
            check(alone[key] == told[key], f"{name}: {key} is {told[key]}, alone {alone[key]}")
    check(min(m["transactions"]["after"] for m in by_name.values()) == report["transactions"]["after"], "auto is not the best")
    short = json.loads(run(*common, "--json", "--budget", "400").stdout)
    told = {m["method"]: m for m in short["methods"]}
    check("needs 999 slots" in told["duplication"].get("refused", ""), "duplication is not refused")
    check(told["partial"]["extra_bytes"] <= 400, "partial duplication exceeds its budget")
    check([m["method"] for m in json.loads(run(*common, "--json", "--keep-threads").stdout)["methods"]] ==
          ["duplication", "partial"], "--keep-threads")
    table = run(*common, "--budget", "400").stdout
    lines = table[table.index("\nmethod  "):].strip().split("\n")
    check(len(lines) == 6 and sum(line.endswith("  taken") for line in lines) == 1, table)
    check(lines[2].startswith("duplication    not possible: "), table)
    check(f" {told['partial']['transactions']['after']} " in lines[3], table)


random = numpy.random.default_rng(11)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for kind in ("<u4", "<i4", "<u8", "<i8"):
        for shape in ((700,), (300, 5)):
            data = random.random(shape).astype("<f4")
            index = random.integers(0, min(random.integers(2, 700), shape[0]), 999).astype(kind)
            numpy.save("data.npy", data)
            numpy.save("index.npy", index)
            for method in ("auto", "duplication", "partial", "padding", "approximation"):
                done = run("index.npy", "--data", "data.npy", "--method", method, "--segment", "128", "--json",
                           "--write-index", "new.npy", "--write-order", "order.npy", "--write-slots", "slots.npy",
                           "--svg", "plan.svg", "--warp", "23" if method == "padding" else "32")
                check(done.returncode == 0, f"{method}: {done.stderr}")
                report = json.loads(done.stdout)
                new, order, slots = (numpy.load(f) for f in ("new.npy", "order.npy", "slots.npy"))
                check(new.dtype == index.dtype, "the index has another type")
                check(sorted(order) == list(range(len(index))), "the order is no permutation")
                check((slots[new] == data[index[order]]).all(), f"{method}: a thread reads a wrong object")
                size = data.itemsize * (1 if data.ndim == 1 else data.shape[1])
                warp = 23 if method == "padding" else 32
                before, after = (segments(i, size, warp, 128) for i in (index, new))
                check(report["transactions"]["before"] == sum(before), "before")
                check(report["transactions"]["after"] == sum(after), f"{method}: after")
                check_picture("plan.svg", before, after)
    engines = check_devices()
    check_explanations()

    numpy.save("index.npy", numpy.array([0, 3, 7], "<u4"))
    numpy.save("float.npy", numpy.array([0.5]))
    numpy.save("empty.npy", numpy.array([], "<u4"))
    numpy.save("negative.npy", numpy.array([0, -1], "<i4"))
    for status, part, arguments in (
        (1, "reads object 7, but there are only 5", ("index.npy", "--objects", "5", "--type", "f32")),
        (1, "cannot be an index", ("float.npy", "--objects", "5", "--type", "f32")),
        (1, "no-such-file", ("no-such-file", "--objects", "5", "--type", "f32")),
        (1, "budget allows", ("index.npy", "--objects", "8", "--type", "f32", "--method", "duplication", "--budget", "4")),
        (1, "is empty", ("empty.npy", "--objects", "5", "--type", "f32")),
        (1, "reads object 4294967295", ("negative.npy", "--objects", "5", "--type", "f32")),
        (1, "is not possible; give 1 to 1024", ("index.npy", "--objects", "8", "--type", "f32", "--warp", "1025")),
        (1, "nowhere/x.npy", ("index.npy", "--objects", "8", "--type", "f32", "--write-index", "nowhere/x.npy")),
        (1, "nowhere/x.svg", ("index.npy", "--objects", "8", "--type", "f32", "--svg", "nowhere/x.svg")),
        (2, "--engine cannot be \"gpu\"", ("index.npy", "--objects", "8", "--type", "f32", "--engine", "gpu")),
        (2, "give --engine opencl or cuda", ("index.npy", "--objects", "8", "--type", "f32", "--device", "0")),
        (2, "--budget cannot be \"0\"", ("index.npy", "--objects", "8", "--type", "f32", "--budget", "0")),
        (2, "--objects cannot be \"0\"", ("index.npy", "--objects", "0", "--type", "f32")),
        (2, "Say what the array is", ("index.npy",)),
        (2, "Say what the array is", ("index.npy", "--objects", "8")),
        (2, "--write-slots needs", ("index.npy", "--objects", "8", "--type", "f32", "--write-slots", "x.npy")),
        (2, "one index file", ("--objects", "8", "--type", "f32")),
    ):
        done = run(*arguments)
        check(done.returncode == status and part in done.stderr, f"{arguments}: {done.returncode} {done.stderr}")
        check(done.stdout == "", f"{arguments} prints something")
    check(not os.path.exists("x.npy"), "a file was written after an error")
print(failures, "failures; devices:", *engines)
sys.exit(failures > 0)
