#!/usr/bin/env python3
"""demo.py [BUILD]: what a machine without a GPU gains, and what one with a GPU gains, as text and as BUILD/demo/demo.html.

First arrays in host memory: in-place conversions beside NumPy's and beside a plain copy, time and memory. Then an OpenCL
program with and without Restride, every byte compared: what the model of an H100 expects of its kernel, and where there is
a GPU, what that did. MEGABYTES (200) is the size of the arrays, CELLS (48) a side of the lattice."""
import html
import json
import os
import re
import resource
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, HERE)
from plot_tables import draw  # noqa: E402

STYLE = """body{font:15px/1.5 sans-serif;max-width:800px;margin:2em auto;padding:0 1em;color:#222;background:#fff}
table{border-collapse:collapse;margin:1em 0}td,th{padding:.2em .8em;border-bottom:1px solid #ccc;text-align:right}
td:first-child,th:first-child{text-align:left}svg{max-width:100%;height:auto}pre{overflow-x:auto}.wide{overflow-x:auto}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#16181c}td,th{border-color:#444}a{color:#7db4f0}}"""
TASKS = {"matrix": "transpose a matrix", "records": "records to one array a field", "tensor": "reverse the axes of a tensor"}
WAYS = {"restride": "Restride, in place", "numpy": "NumPy", "copy": "a plain copy"}
RUNS = 3


def measure(task, way, megabytes):
    """Milliseconds (the best of a few runs) and additional peak memory in MiB; run in a process of its own."""
    import numpy as np
    import restride as rs

    size = megabytes * 1000 * 1000 // 4
    side = int((size / 1.5) ** 0.5)
    edge = int(size ** 0.25)
    shape = {"matrix": (side, side * 3 // 2), "records": (size // 5,), "tensor": (edge, edge + 2, edge - 2, edge)}[task]
    record = [("x", "f4"), ("y", "f4"), ("z", "f4"), ("mass", "f4"), ("id", "i4")]
    best, extra = 1e9, 0
    for _ in range(RUNS):
        array = np.empty(shape, dtype=record if task == "records" else "f4")
        words = array.reshape(-1).view("i4")
        words[:] = 1065353216
        words[::7] += 5
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        begin = time.perf_counter()
        if way == "copy":
            result = words.copy()
        elif way == "numpy":
            result = {n: np.ascontiguousarray(array[n]) for n in array.dtype.names} if task == "records" else np.ascontiguousarray(array.T)
        else:
            result = rs.columns(array) if task == "records" else rs.permute(array, tuple(reversed(range(array.ndim))))
        best = min(best, time.perf_counter() - begin)
        if not extra:
            extra = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        del result, array, words
    return {"ms": best * 1e3, "mib": extra / 1024}


def environment(build):
    return dict(os.environ, PYTHONPATH=os.path.join(ROOT, "python"), LD_LIBRARY_PATH=os.path.join(build, "src"), PYTHONDONTWRITEBYTECODE="1")


def host_part(build, megabytes):
    """Rows of the host's table, or None without NumPy."""
    rows = []
    for task, name in TASKS.items():
        cells = {}
        for way in WAYS:
            done = subprocess.run([sys.executable, __file__, "--measure", task, way, str(megabytes)], env=environment(build),
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            if done.returncode:
                print(done.stderr.strip().split("\n")[-1])
                return None
            cells[way] = json.loads(done.stdout)
        rows.append((name, cells))
        ours, theirs = cells["restride"], cells["numpy"]
        print(f"{name:32} {ours['ms']:7.0f} ms  +{ours['mib']:4.0f} MiB   NumPy {theirs['ms']:6.0f} ms  +{theirs['mib']:4.0f} MiB"
              f"   a copy {cells['copy']['ms']:5.0f} ms")
    return rows


def run(*command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))} ended with status {done.returncode}:\n{done.stdout}")
    return done.stdout


def opencl_part(build, folder, cells):
    """The device, whether the bytes are the same, kernel seconds without and with, and whether it is a GPU."""
    program, restride = os.path.join(build, "bin/examples/lbm"), os.path.join(build, "bin/restride")
    if not os.path.exists(program):
        return None
    dumps = [os.path.join(folder, name) for name in ("without.bin", "with.bin")]
    common = [program, "--size", cells, "--steps", 100, "--device", os.environ.get("DEVICE", "any")]
    plain = run(*common, "--dump", dumps[0])
    run(restride, "run", "--quiet", "--policy", "asta", "--", *common[:-2], "--device", common[-1])  # compiles the kernels
    ours = run(restride, "run", "--quiet", "--policy", "asta", "--report", os.path.join(folder, "report.html"), "--", *common, "--dump", dumps[1])
    same = open(dumps[0], "rb").read() == open(dumps[1], "rb").read()
    seconds = [float(re.search(r"of which ([\d.]+) s in kernels", text)[1]) for text in (plain, ours)]
    device = re.search(r"^device +(.*)$", plain, re.MULTILINE)[1]
    gpu = subprocess.run([program, "--size", "8", "--steps", "1", "--device", "gpu"], stdout=subprocess.PIPE, stderr=subprocess.PIPE).returncode == 0
    return {"device": device, "same": same, "seconds": seconds, "gpu": gpu and device in run(program, "--size", 8, "--steps", 1, "--device", "gpu")}


def model_part(build, cells):
    """How many times as fast as AoS the model of an H100 expects the kernel to be, or None without Oclgrind."""
    x, y, z = 64, 64, max(2, min(cells // 3, 16))
    values = {"src": x * y * z, "dst": x * y * z, "nx": x, "ny": y, "nz": z, "omega": 1.2, "lid_velocity": 0.1}
    command = [os.path.join(build, "bin/restride"), "sim", os.path.join(ROOT, "examples/lbm/lbm.cl"), "--global", f"{x},{y},{z}",
               "--local", "32,2", "--layout", "f i", "--layout", "i/32 f i%32", "--json"]
    for name, value in values.items():
        command += ["--arg", f"{name}: {value}"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        print(done.stderr.strip())
        return None
    reply = json.loads(done.stdout)
    return reply["device"], [(row["layout"], row["gain"]) for row in reply["layouts"]]


def table(header, rows):
    lines = ["<tr>" + "".join(f"<th>{html.escape(cell)}</th>" for cell in header) + "</tr>"]
    lines += ["<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows]
    return "<div class=wide><table>" + "\n".join(lines) + "</table></div>"


def write_page(path, megabytes, host, opencl, model):
    parts = ["<!doctype html><meta charset=utf-8><meta name=viewport content='width=device-width'><title>Restride</title>",
             f"<style>{STYLE}</style><h1>Restride on this machine</h1>"]
    if host:
        names = ["task"] + list(WAYS.values())
        times = [[name] + [f"{cells[way]['ms']:.0f}" for way in WAYS] for name, cells in host]
        memory = [[name] + [f"{max(cells[way]['mib'], 0):.0f}" for way in WAYS] for name, cells in host]
        parts.append(f"<h2>Arrays of {megabytes} MB in memory</h2><p>Restride changes an array in its own memory. NumPy makes a second one. A plain "
                     "copy shows how fast this memory is.</p>")
        parts.append("<h3>Milliseconds, less is better</h3>" + table(names, times) + draw(names, times, range(1, 4), "ms", "times"))
        parts.append("<h3>Additional memory in MiB</h3>" + table(names, memory) + draw(names, memory, range(1, 4), "MiB", "memory"))
    if opencl:
        parts.append(f"<h2>An OpenCL program, unchanged</h2><p>A lattice-Boltzmann solver ran on {html.escape(opencl['device'])}, without Restride and "
                     f"with <code>restride run --policy asta</code>. The final lattice was {'the same, byte for byte' if opencl['same'] else 'different'}. "
                     "<a href=report.html>The report</a> has each kernel argument.</p>")
        if not opencl["gpu"]:
            parts.append("<p>On this CPU the layout does not matter, so the default policy keeps the program's own.</p>")
        else:
            rows = [["AoS, without Restride", f"{opencl['seconds'][0] * 1e3:.1f}"], ["ASTA, with Restride", f"{opencl['seconds'][1] * 1e3:.1f}"]]
            names = ["layout", "ms in kernels"]
            parts.append("<h3>This card, 100 steps</h3>" + table(names, rows) + draw(names, rows, range(1, 2), "ms", "kernel times"))
    if model:
        names = ["layout", "times as fast"]
        rows = [[name, f"{gain:.2f}"] for name, gain in model[1]]
        parts.append(f"<h3>What the model of an {html.escape(model[0])} expects of its kernel</h3>" + table(names, rows)
                     + draw(names, rows, range(1, 2), "times as fast as written", "gains"))
    with open(path, "w") as file:
        file.write("\n".join(parts) + "\n")


def main(arguments):
    build = os.path.abspath(arguments[0] if arguments else "build")
    megabytes, cells = int(os.environ.get("MEGABYTES", 200)), int(os.environ.get("CELLS", 48))
    folder = os.path.join(build, "demo")
    os.makedirs(folder, exist_ok=True)
    print(f"Arrays of {megabytes} MB, in place; the best of {RUNS} runs and the memory beyond the array:")
    host = host_part(build, megabytes)
    print("\nAn OpenCL program, unchanged, without and with Restride:" if host else "(NumPy is not there, so arrays are left out)\n")
    opencl = opencl_part(build, folder, cells)
    if opencl:
        print(f"lbm on {opencl['device']}: all bytes of the result are {'the same' if opencl['same'] else 'NOT the same'}")
        if opencl["gpu"]:
            print(f"kernels on this card: {opencl['seconds'][0] / opencl['seconds'][1]:.2f} times as fast")
        else:
            print("On this CPU the layout does not matter, so the default policy keeps the program's own.")
    model = model_part(build, cells)
    if model:
        print(f"The model of an {model[0]} expects its kernel to be {model[1][-1][1]:.1f} times as fast.")
    write_page(os.path.join(folder, "demo.html"), megabytes, host, opencl, model)
    print(f"\nplots     {folder}/demo.html")
    return 0 if opencl is None or opencl["same"] else 1


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(sys.argv[2], sys.argv[3], int(sys.argv[4]))))
    else:
        sys.exit(main(sys.argv[1:]))
