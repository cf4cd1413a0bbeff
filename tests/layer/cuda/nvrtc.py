#!/usr/bin/env python3
"""nvrtc.py RESTRIDE PROGRAM FOLDER: run-time compiled programs under `restride run`, with the real NVRTC and the made-up driver of
FOLDER. What the driver gets has the program's kernels, unchanged, and their second forms; also in a later process that loads a
cubin of its own; and it is the program's own image where there is nothing to transform."""
import glob
import os
import struct
import subprocess
import sys
import tempfile
import time

restride, program, folder = sys.argv[1:4]
LINKERS = glob.glob("/usr/local/cuda/lib64/libnvJitLink.so.1[23]") + glob.glob("/usr/local/cuda/lib/libnvJitLink.so.1[23]")
LIBRARIES = glob.glob("/usr/local/cuda/lib64/libnvrtc.so.1[23]") + glob.glob("/usr/lib/x86_64-linux-gnu/libnvrtc.so.1[23]")
SOURCE = """
struct Body { float a[8]; int k; };
extern "C" __global__ void step(Body *b, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) for (int k = 0; k < 8; k++) b[i].a[k] *= 2; }
namespace sim { template <class T> __global__ void scale(Body *b, T f, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) b[i].a[1] *= f; } }
__device__ int counter;
__constant__ float table[16];
"""
PLAIN = 'extern "C" __global__ void add(float *x, int n) { int i = threadIdx.x; if (i < n) x[i] += 1; }\n'
NAMES = ["sim::scale<float>", "sim::scale<double>", "&counter"]
wrong = []


def check(what, is_right):
    if not is_right:
        wrong.append(what)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def sections(data):
    at, = struct.unpack_from("<Q", data, 40)
    size, count, strings = struct.unpack_from("<HHH", data, 58)
    heads = [struct.unpack_from("<IIQQQQ", data, at + i * size) for i in range(count)]
    base = heads[strings][4]
    return {data[base + h[0]:data.index(b"\0", base + h[0])].decode(): data[h[4]:h[4] + h[5]] for h in heads}


def run(work, source, image, *names, followed=True, **more):
    """What the program prints; $MADE_UP_IMAGE has what the driver got."""
    start = [restride, "run", "--quiet", "--policy", "asta", "--"] if followed else []
    environment = dict(os.environ, MADE_UP_IMAGE=f"{work}/loaded", XDG_CACHE_HOME=f"{work}/cache", LD_LIBRARY_PATH=folder, **more)
    done = subprocess.run([*start, program, LIBRARIES[0], f"{folder}/libcuda.so.1", source, image, *names], env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"status {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def main():
    if not LIBRARIES:
        print("libnvrtc is not here")
        return 77
    with tempfile.TemporaryDirectory() as work:
        for name, text in (("k.cu", SOURCE), ("plain.cu", PLAIN)):
            with open(f"{work}/{name}", "w", encoding="utf-8") as file:
                file.write(text)
        lowered = run(work, f"{work}/k.cu", f"{work}/plain.cubin", *NAMES, followed=False)
        check("the driver got another image without restride", read(f"{work}/loaded") == read(f"{work}/plain.cubin"))
        for _ in range(10):  # the layer waits 10 s for the rewriter, which takes longer on a busy machine
            check("lowered names", run(work, f"{work}/k.cu", f"{work}/own.cubin", *NAMES) == lowered)
            if b"__asta" in read(f"{work}/loaded"):
                break
        check("the program got another image", read(f"{work}/own.cubin") == read(f"{work}/plain.cubin"))
        loaded, own = sections(read(f"{work}/loaded")), sections(read(f"{work}/own.cubin"))
        kernels = [name for name in own if name.startswith(".text.")]
        check(f"kernels: {kernels}", len(kernels) == 3)
        for name in kernels:
            check(f"another code: {name}", loaded.get(name) == own[name])
        second = [name for name in loaded if "__asta" in name and name.startswith(".text.")]
        check(f"second forms: {second}", len(second) == 12)
        os.remove(f"{work}/loaded")
        run(work, "-", f"{work}/own.cubin")
        check("a later process", len([name for name in sections(read(f"{work}/loaded")) if "__asta" in name and name.startswith(".text.")]) == 12)
        for linker in LINKERS[:1]:
            run(work, f"{work}/k.cu", f"{work}/plain.linked", *NAMES, followed=False, LINKER=linker)
            run(work, f"{work}/k.cu", f"{work}/own.linked", *NAMES, LINKER=linker)
            check("the program got another linked image", read(f"{work}/own.linked") == read(f"{work}/plain.linked"))
            loaded, own = sections(read(f"{work}/loaded")), sections(read(f"{work}/own.linked"))
            linked = [name for name in own if name.startswith(".text.")]
            check(f"linked: {linked}", len(linked) == 3 and all(loaded.get(name) == own[name] for name in linked))
            check("second forms of a linked image", len([name for name in loaded if "__asta" in name and name.startswith(".text.")]) == 12)
        run(work, "-", f"{work}/own.cubin", RESTRIDE_POLICY="off", followed=False)
        check("policy off", read(f"{work}/loaded") == read(f"{work}/own.cubin"))
        begin = time.monotonic()
        run(work, f"{work}/plain.cu", f"{work}/add.cubin")
        check("nothing to transform", read(f"{work}/loaded") == read(f"{work}/add.cubin"))
        print("with restride and nothing to transform: %.2f s" % (time.monotonic() - begin))
        begin = time.monotonic()
        run(work, f"{work}/plain.cu", f"{work}/add.cubin", followed=False)
        print("without: %.2f s" % (time.monotonic() - begin))
    print("\n".join(wrong) if wrong else "companions of run-time compiled programs are loaded in their place")
    return 1 if wrong else 0


sys.exit(main())
