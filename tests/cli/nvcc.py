#!/usr/bin/env python3
"""nvcc.py RESTRIDE [all]: what `restride nvcc` compiles, with the real nvcc; "all": in every way in which builds call it."""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

FILES = {
    "sub/body.h": """
#pragma once
struct Body { float a[8]; int k; };
__global__ void shared(Body *b, int n);
inline const char *header() { return __FILE__; }
""",
    "sub/step.cu": """#include "body.h"
#include <cstdio>
static __global__ void step(Body *b, int n)
{
    int unused;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) for (int k = 0; k < 8; k++) b[i].a[k] *= 2;
}
namespace {
template <class T> __global__ void hidden(Body *b, T f, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) b[i].a[1] += f; }
}
void go(Body *b, int n)
{
    step<<<n / 32, 32>>>(b, n); hidden<<<n / 32, 32>>>(b, 2.f, n); hidden<<<n / 32, 32>>>(b, 2., n);
    std::printf("%s %s %d\\n", header(), __FILE__, __LINE__);
}
""",
    "plain.cu": "__global__ void add(float *x) { x[threadIdx.x] += 1; }\nvoid add_one(float *x) { add<<<1, 32>>>(x); }\n",
    "main.cpp": "struct Body;\nvoid go(Body *b, int n);\nint main() { go(nullptr, 0); return 0; }\n",
    "wrong.cu": "struct P { float a[8]; };\n__global__ void k(P *p) { p[threadIdx.x].a[0] = missing; }\nvoid f() { k<<<1, 1>>>(0); }\n",
    "odd.cu": "#define NAME \"sub/body.h\"\n#include NAME\n__global__ void k(Body *p) { p[threadIdx.x].a[0] = 1; }\nvoid f() { k<<<1, 1>>>(0); }\n",
}
ARCH = "-arch=sm_90"
PLAIN = ["_Z4stepP4Bodyi", "6hiddenIfEEvP4BodyT_i", "6hiddenIdEEvP4BodyT_i"]
wrong = []


def check(what, is_right, more=""):
    if not is_right:
        wrong.append("%s %s" % (what, more))


def run(*command, may_fail=False, **more):
    answer = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **more})
    if answer.returncode != 0 and not may_fail:
        raise SystemExit("%s\n%s%s" % (" ".join(command), answer.stdout, answer.stderr))
    return answer


def read(path):
    with open(path, "rb") as file:
        return file.read()


def descriptions(path):
    """The JSON of the notes in a file."""
    found, bytes_of = [], read(path)
    for note in re.finditer(b"Restride\0\0\0\0", bytes_of):
        name_size, size, kind = struct.unpack("<III", bytes_of[note.start() - 12:note.start()])
        if (name_size, kind) == (9, 1):
            found.append(json.loads(bytes_of[note.end():note.end() + size]))
    return found


def names(path):
    return sorted(k["name"] for one in descriptions(path) for k in one["kernels"])


ALL_NAMES = ["hidden<double>", "hidden<float>", "step"]


def sections(path):
    """The bytes of each section of a cubin, by name."""
    data = read(path)
    at, = struct.unpack_from("<Q", data, 40)
    size, count, strings = struct.unpack_from("<HHH", data, 58)
    heads = [struct.unpack_from("<IIQQQQ", data, at + i * size) for i in range(count)]
    base = heads[strings][4]
    return {data[base + h[0]:data.index(b"\0", base + h[0])].decode(): data[h[4]:h[4] + h[5]] for h in heads}


def check_objects(restride):
    run(restride, "nvcc", ARCH, "-c", "plain.cu", "-o", "plain.o")
    run("nvcc", ARCH, "-c", "plain.cu", "-o", "plain2.o")
    mine, theirs = (re.sub(rb"tmpxft_[0-9a-f]{8}", b"", read(name)) for name in ("plain.o", "plain2.o"))
    check("an object without structures is not nvcc's", mine == theirs)  # but for nvcc's own number of its process
    said = run(restride, "nvcc", ARCH, "-MD", "-MF", "step.d", "-c", "sub/step.cu", "-o", "step.o", RESTRIDE_EXPLAIN="1").stderr
    check("explained", "step.b: transformed to i/32 f i%32" in said, said)
    check("a warning names the source", "sub/step.cu(5): warning" in said, said)
    check("names of kernels", names("step.o") == ALL_NAMES, names("step.o"))
    data = read("step.o")
    for kernel in descriptions("step.o")[0]["kernels"]:
        for symbol in [kernel["symbol"], *kernel["second"].values()]:
            own = re.sub("^_ZL", "_Z", symbol.split("12_GLOBAL__N_1")[-1])  # nvcc names those after the file
            check("not in the object:", own.encode() in data, symbol)
    run("nvcc", ARCH, "-MD", "-MF", "step2.d", "-c", "sub/step.cu", "-o", "step.o2")
    check("dependencies", read("step.d").split()[1:] == read("step2.d").split()[1:])


def check_code(restride):
    """The program's own kernels have the code that they had."""
    folder = os.path.join(os.environ["XDG_CACHE_HOME"], "restride", "companions")
    companions = [os.path.join(root, name) for root, _, files in os.walk(folder) for name in files]
    check("one companion", len(companions) == 1, companions)
    run("nvcc", ARCH, "-cubin", companions[0], "-o", "both.cubin")
    run("nvcc", ARCH, "-cubin", "sub/step.cu", "-o", "plain.cubin")
    both, plain = sections("both.cubin"), sections("plain.cubin")
    for name in PLAIN:
        code = [{re.sub(r"\d+_GLOBAL__N_\w+?6hidden", "6hidden", k): v for k, v in one.items() if k.startswith(".text.")} for one in (both, plain)]
        mine = [[v for k, v in one.items() if k.endswith(name)] for one in code]
        check("another code of", len(mine[1]) == 1 and mine[0] == mine[1], name)


def check_failures(restride):
    mine, theirs = (run(*start, ARCH, "-c", "wrong.cu", may_fail=True) for start in ([restride, "nvcc"], ["nvcc"]))
    check("errors are nvcc's", (mine.returncode, mine.stderr) == (theirs.returncode, theirs.stderr) and mine.returncode != 0, mine.stderr)
    said = run(restride, "nvcc", ARCH, "-c", "odd.cu", "-o", "odd.o", RESTRIDE_EXPLAIN="1").stderr
    check("a macro names a header", "a macro names a header" in said and not descriptions("odd.o"), said)


def check_programs(restride, launcher):
    """Compile and link in one step, separate compilation, archives, no unused sections, no symbols."""
    program = lambda path: (run(path).stdout, names(path))
    run("nvcc", ARCH, "sub/step.cu", "plain.cu", "main.cpp", "-o", "plainly")
    expected = (run("./plainly").stdout, ALL_NAMES)
    check("nvcc's program", expected[0] == "sub/body.h sub/step.cu 15\n", expected)
    run(restride, "nvcc", ARCH, "sub/step.cu", "plain.cu", "main.cpp", "-o", "once")
    check("in one step", program("./once") == expected, program("./once"))
    for name in ("sub/step.cu", "plain.cu", "main.cpp"):
        run(*launcher, ARCH, "-dc", "-x", "cu", name, "-o", os.path.basename(name) + ".dc.o")
    run("ar", "crs", "libstep.a", "step.cu.dc.o", "plain.cu.dc.o")
    run("nvcc", ARCH, "-Xlinker", "--gc-sections", "-Xlinker", "-s", "main.cpp.dc.o", "-L.", "-lstep", "-o", "separate")
    run("strip", "separate")
    check("separate compilation", program("./separate") == expected, program("./separate"))


def check_calls(restride, nvcc):
    """Files of options, absolute names, launchers, and what is no object."""
    with open("options", "w", encoding="utf-8") as file:
        file.write('-c "sub/step.cu"\n' + ARCH)
    run(restride, "nvcc", "--options-file", "options", "-o", "optf.o")
    check("a file of options", names("optf.o") == ALL_NAMES)
    left = set(os.listdir(tempfile.gettempdir()))
    run(restride, "nvcc", ARCH, "-c", "sub/step.cu", "-o", "nowhere.o", XDG_CACHE_HOME="", HOME="")
    check("without a cache", names("nowhere.o") == ALL_NAMES)
    more = [name for name in set(os.listdir(tempfile.gettempdir())) - left if name.startswith("restride")]
    check("left", not [name for name in more if os.path.exists(os.path.join(tempfile.gettempdir(), name, "step.cu"))], more)
    run(restride, "nvcc", ARCH, "-rdc=true", "-c", os.path.abspath("sub/step.cu"))
    check("an absolute name without -o", names("step.o") == ALL_NAMES)
    for kind in ("-ptx", "-cubin", "-E", "-M"):
        for start, name in (([restride, "nvcc"], "mine"), (["nvcc"], "theirs")):
            run(*start, ARCH, kind, "plain.cu", "-o", name)
        check(kind, read("mine") == read("theirs"))
    os.makedirs("links", exist_ok=True)
    if not os.path.exists("links/nvcc"):
        os.symlink(restride, "links/nvcc")
    ways = {"a link": ["links/nvcc"], "a launcher": [restride, nvcc]}
    ccache = shutil.which("ccache")
    if ccache:
        ways.update({"before ccache": [restride, ccache, nvcc], "behind ccache": [ccache, restride, nvcc], "a link behind ccache": [ccache, "links/nvcc"]})
    for what, start in ways.items():
        for again in range(2):
            if os.path.exists("way.o"):
                os.remove("way.o")
            run(*start, ARCH, "-c", "sub/step.cu", "-o", "way.o", CCACHE_DIR=os.path.abspath("ccache"))
            check(what, names("way.o") == ALL_NAMES, again)
    if ccache:
        said = run(ccache, "--print-stats", CCACHE_DIR=os.path.abspath("ccache")).stdout
        hits = sum(int(n) for n in re.findall(r"(?:direct|preprocessed)_cache_hit\s+(\d+)", said))
        check("ccache finds what it has", hits >= 2, said)


def check_cmake(restride):
    with open("CMakeLists.txt", "w", encoding="utf-8") as file:
        file.write("cmake_minimum_required(VERSION 3.20)\nproject(p LANGUAGES CXX CUDA)\nadd_library(s STATIC sub/step.cu plain.cu)\n"
                   "add_executable(p main.cpp)\ntarget_link_libraries(p s)\nset_property(TARGET s p PROPERTY CUDA_SEPARABLE_COMPILATION ON)\n")
    run("cmake", "-S", ".", "-B", "build", "-DCMAKE_CUDA_ARCHITECTURES=90", "-DCMAKE_CUDA_COMPILER_LAUNCHER=" + restride)
    run("cmake", "--build", "build")
    check("CMake", names("build/p") == ALL_NAMES and run("build/p").stdout.endswith("step.cu 15\n"))
    check("nothing to do again", "step.cu" not in run("cmake", "--build", "build").stdout.replace("Scanning", ""))


def main(restride, *more):
    nvcc = shutil.which("nvcc")
    if nvcc is None:
        print("nvcc is not here")
        return 77
    restride = os.path.abspath(restride)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = os.path.join(folder, "cache")
        os.environ.pop("CCACHE_BASEDIR", None)
        os.chdir(folder)
        os.mkdir("sub")
        for name, text in FILES.items():
            with open(name, "w", encoding="utf-8") as file:
                file.write(text)
        check_objects(restride)
        check_code(restride)
        if more:
            check_failures(restride)
            check_programs(restride, [restride, nvcc])
            check_calls(restride, nvcc)
            if shutil.which("cmake"):
                check_cmake(restride)
        os.chdir("/")
    print("\n".join(wrong) if wrong else "nvcc's objects, with second forms where kernels have arrays of structures")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
