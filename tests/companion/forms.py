#!/usr/bin/env python3
"""forms.py REWRITER: how replies describe second forms: their names, their arguments, what the judge foretells and chooses."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from companion import SHIM

SOURCE = """
struct P { float a[8]; int k; };
struct Two { char c; double d; };
namespace sim {
template <class T, int N> __global__ void scale(P *p, const P *q, T f, int n)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) for (int k = 0; k < 8; k++) p[i].a[k] = q[i].a[7 - k] * f + N; }
namespace { __global__ void hidden(P *p, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) p[i].k += 1; } }
}
static __global__ void gather(const P *q, const int *at, float *o)
{ int i = blockIdx.x * blockDim.x + threadIdx.x, k = at[i]; float s = 0; for (int c = 0; c < 8; c++) s += q[k].a[c]; o[i] = s; }
struct Q { float a[9]; };
__global__ void mixed(P *p, const Q *q, const int *at)
{ int i = blockIdx.x * blockDim.x + threadIdx.x, k = at[i]; for (int c = 0; c < 8; c++) p[i].a[c] += q[k].a[c]; }
extern "C" __global__ void pairs(Two *t, int *n, Two *where) { t[threadIdx.x].d += t[threadIdx.x].c; n[(size_t)where & 1] = 0; }
__global__ void numbers(float *x) { x[threadIdx.x] += 1; }
__global__ void loads(float **x) { *x[threadIdx.x] += 1; }
static __global__ void internal(float *x) { x[threadIdx.x] += 1; }
void launch(P *p, int *n)
{ sim::scale<float, 3><<<1, 128>>>(p, p, 2, 100); sim::scale<double, -4><<<1, 128>>>(p, p, 2, 100); sim::hidden<<<1, 32>>>(p, 3); }
"""


COMPLEX = """
struct C { float re, im; };
struct M { C e[3][3]; };
__device__ void mul(C *to, const C *a) { to->re = a->re * a->re; to->im = a->im; }
__global__ void square(M *m, C *o) { const int i = threadIdx.x; for (int k = 0; k < 3; k++) mul(&o[i], &m[i].e[k][k]); }
"""


# All threads go through all elements: what that gains depends on how many they are.
BODIES = """
struct Body { float at[3], v[3], force[3], mass; };
__global__ void pull(Body *p, int n)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; Body a = p[i];
  for (int j = 0; j < n; j++) { Body b = p[j]; for (int k = 0; k < 3; k++) a.force[k] += (b.at[k] - a.at[k]) * b.mass; }
  p[i] = a; }
"""


# Kernels with a second form: how each reaches memory, or "" for one that does by its parameters alone.
REACH = {
    "": ["int n) { p[i].x += n;", "float *o, const int *k) { o[i] = p[k[i]].x; atomicAdd(o, sqrtf(p[i].y));", "Box b) { p[i].x += b.values[i];",
         "int n) { P *q = p + i; step(q, n); P local[2]; local[n & 1] = *q; p[i] = local[0];", "long n) { extern __shared__ float s[]; s[i] = n; p[i].x = s[0] + table[i];",
         "int n) { __shared__ float s[32]; s[i & 31] = n; __syncthreads(); p[i].x = s[0] + __popc(n);"],
    "pointers lie in memory": ["Node *l) { p[i].x += l->next->value;", "float **a) { p[i].x = a[i][0];", "char *c) { p[i].x = **(float **)(c + i);", "Holder h) { p[i].x = h.list[i][0];",
                               "int n) { __shared__ float *s[4]; p[i].x = *s[n];"],
    "outside of it holds pointers": ["int n) { p[i].x = where[n];"],
    "from a number": ["size_t a) { p[i].x = *(float *)a;", "const size_t *a) { p[i].x = *reinterpret_cast<float *>(a[i]);"],
    "by textures": ["cudaTextureObject_t t) { p[i].x = tex1Dfetch<float>(t, i);"],
    "by a pointer": ["float (*f)(int)) { p[i].x = f(i);"],
    "without a body": ["int n) { p[i].x = elsewhere(n);"],
    "not understood": ["int n) { asm volatile(\"\"); p[i].x = n;"],
    "pointers lie in": ["Both b) { p[i].x = *b.p;"],
}
REACH_HEAD = """
struct P { float x, y; int k[6]; };
struct Node { Node *next; float value; };
struct Box { float *values; int n; };
struct Holder { float **list; };
union Both { float *p; size_t n; };
__device__ float *where;
__constant__ float table[64];
__device__ float elsewhere(int n);
__device__ void step(P *q, int n) { if (n > 0) step(q, n - 1); q->x += 1; }
"""


def check_reach(rewriter, wrong):
    expected, text = {}, REACH_HEAD
    for why, bodies in REACH.items():
        for body in bodies:
            expected["k%d" % len(expected)] = why
            text += "__global__ void k%d(P *p, %s }\n" % (len(expected) - 1, body.replace(") {", ") { int i = threadIdx.x;", 1))
    kernels = {k["name"]: k for k in ask(rewriter, text).get("forms", {"kernels": []})["kernels"]}
    for name, why in expected.items():
        kernel = kernels.get(name, {})
        check(wrong, "%s, %s: %s" % (name, why, kernel), kernel.get("closed") is (why == "") and why in kernel.get("open", ""))
    return len(expected)


def ask(rewriter, source, names=(), **more):
    request = {"companion": {"tile": 32, "options": ["-std=c++17"], "names": list(names), **more}, "source": source, "file": "k.cu"}
    answer = subprocess.run([rewriter, "--request"], input=json.dumps(request), capture_output=True, text=True, check=True)
    return json.loads(answer.stdout)


def check(wrong, what, is_right):
    if not is_right:
        wrong.append(what)


# Loops over elements, one after the other, that are unrolled in a second form, and those that stay.
ROUNDS = [
    ("for (int j = 0; j < n; j++) s += p[j].a[0];", True),
    ("for (j = 8; j < n; ++j) { s += p[j].a[1] * sqrtf(s); if (s > 9) break; }", True),
    ("{ s = n; } for (int j = 0; j < n; j++) { R one = p[j]; s += one.a[n & 7]; }", True),
    ("\n#pragma unroll 2\nfor (int j = 0; j < n; j++) s += p[j].a[0];", False),
    ("if (n > 2) for (int j = 0; j < n; j++) s += p[j].a[0];", False),
    ("for (int j = 1; j < n; j++) s += p[j].a[0];", False),
    ("for (int j = n; j < 2 * n; j++) s += p[j].a[0];", False),
    ("for (int j = 0; j < n; j += 2) s += p[j].a[0];", False),
    ("for (int j = 0; j < n; j++) s += p[0].a[j & 7] + o[j];", False),
    ("for (int j = 0; j < n; j++) for (int k = 0; k < 8; k++) s += p[j].a[k];", False),
    ("for (int j = 0; j < n; j++) s += own(p[j].a[0]);", False),
]


def check_rounds(rewriter, wrong):
    for body, expected in ROUNDS:
        source = "struct R { float a[8]; }; __device__ float own(float x) { return x; }\n__global__ void k(R *p, float *o, int n) { float s = 0; int j; %s o[0] = s; }" % body
        text = ask(rewriter, source).get("source", "")
        check(wrong, "rounds: %s" % body, "k__asta" in text and text.count("RESTRIDE_ROUNDS for") == expected)


# A companion in another folder: headers in quotes that are in the source's are named in full, and nothing else changes.
MOVED = """
#include "there.h"
  # /* a comment */ include /* another */ "there.h" // "there.h"
/*
#include "there.h"
*/
// \\
#include "there.h"
#include <there.h>
#if 0
#include "missing.h"
#endif
struct P { float a[8]; };
const char *text = R"x(
#include "there.h"
)x", *more = "\\
#include \\"there.h\\"", mark = '"';
__global__ void k(P *p) { p[threadIdx.x].a[0] += 1; }
#include "there.h"
"""


def check_moved(rewriter, wrong):
    with tempfile.TemporaryDirectory() as folder:
        for name in ("there.h", "missing.h.not"):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write("#pragma once\n")
        folder += "/"
        options = {"options": ["-std=c++17", "-I" + folder], "folder": folder}
        source = ask(rewriter, MOVED, **options).get("source", "")
        full, there = '"%sthere.h"' % folder, '"there.h"'
        check(wrong, "moved: %d, %d\n%s" % (source.count(full), source.count(there), source), source.count(full) == 3 and source.count(there) == 4)
        for line, why in (('#define NAME "there.h"\n#include NAME\n', "a macro names"), ('#include_next "there.h"\n', "looks for a file"),
                          ('#if __has_include("there.h")\n#endif\n', "which files are there")):
            reply = ask(rewriter, line + MOVED, **options)
            check(wrong, "moved: %s: %s" % (line, reply.get("reason")), why in reply.get("reason", "") and "source" not in reply)


# Four neighbours are one site of a lattice, as in a Dirac operator's kernel.
GROUPS = """
struct Spinor { float c[6]; };
__global__ void hop(const Spinor *in, Spinor *out, int sites)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= sites) return;
    for (int k = 0; k < 4; k++)
        for (int m = 0; m < 6; m++)
            out[4 * i + k].c[m] = 2 * in[4 * i + k].c[m] + in[4 * i + (3 - k)].c[(m + 1) % 6];
}
"""
SINGLE = "__global__ void shift(Spinor *p, int n) { const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) for (int m = 0; m < 6; m++) p[i].c[m] += m; }\n"

# By the definition of i/128 i%4 f i/4%32, without the companion's own pointers.
GROUPS_MAIN = """
enum { SITES = 96, COUNT = 4 * SITES };
static size_t place(size_t i, size_t m) { const size_t g = i / 4, k = i % 4; return g / 32 * 32 * 24 + (k * 6 + m) * 32 + g % 32; }
template <class K> static int compare(K second)
{
    static Spinor in[COUNT], out[COUNT];
    static float a[COUNT * 6], b[COUNT * 6];
    int wrong = 0;
    for (size_t i = 0; i < COUNT; i++)
        for (size_t m = 0; m < 6; m++) a[place(i, m)] = in[i].c[m] = float((i * 7 + m * 13) % 101);
    for (int t = 0; t < SITES; t++) {
        threadIdx.x = t % 32, blockIdx.x = t / 32;
        hop(in, out, SITES);
        second((const Spinor *)a, (Spinor *)b, SITES, restride_extent{COUNT, 0}, restride_extent{COUNT, 0});
    }
    for (size_t i = 0; i < COUNT; i++)
        for (size_t m = 0; m < 6; m++) wrong += b[place(i, m)] != out[i].c[m];
    return wrong;
}
int main() { return compare(hop__asta<restride_full>) + compare(hop__asta<restride_full_large>) != 0; }
"""


def check_groups(rewriter, wrong):
    reply = ask(rewriter, GROUPS)
    kernel = reply["forms"]["kernels"][0]
    told = [(a["layout"], a["tile"], a["group"], a["record"]["size"]) for a in kernel["arguments"]]
    check(wrong, "groups: %s" % kernel, told == [("i/128 i%4 f i/4%32", 32, 4, 24)] * 2 and kernel["gain"] > 4)
    second = kernel["second"]
    check(wrong, "forms of groups: %s" % second, second["ragged"] == second["full"] and second["ragged_large"] == second["full_large"])
    # All kernels of a source share a layout: none may lose by it.
    head = GROUPS.split("__global__")[0]
    alone = ask(rewriter, head + SINGLE)["forms"]["kernels"][0]
    both = {k["name"]: k for k in ask(rewriter, GROUPS + SINGLE)["forms"]["kernels"]}
    groups = {a["group"] for k in both.values() for a in k["arguments"]}
    check(wrong, "groups against a kernel of records: %s" % both, len(groups) == 1 and 4 not in groups and
          both["shift"]["gain"] >= 0.99 * alone["gain"] and both["hop"]["gain"] > 2)
    compiler = shutil.which("g++")
    if compiler is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "groups.cpp")
        with open(path, "w", encoding="utf-8") as file:
            file.write(SHIM + reply["source"] + GROUPS_MAIN)
        subprocess.run([compiler, "-std=c++17", "-O1", "-w", "-fno-strict-aliasing", path, "-o", folder + "/groups"], check=True)
        check(wrong, "groups: other results", subprocess.run([folder + "/groups"], check=False).returncode == 0)


def main(rewriter):
    wrong = []
    check_groups(rewriter, wrong)
    check_moved(rewriter, wrong)
    check_rounds(rewriter, wrong)
    reply = ask(rewriter, SOURCE)
    kernels = {k["name"]: k for k in reply["forms"]["kernels"]}
    check(wrong, "names: %s" % sorted(kernels), sorted(kernels) == ["gather", "mixed", "pairs", "sim::hidden", "sim::scale<double, -4>", "sim::scale<float, 3>"])
    others = {k["name"]: k for k in reply["forms"]["others"]}
    check(wrong, "others: %s" % others, sorted(others) == ["loads", "numbers"] and others["numbers"]["closed"] and
          others["numbers"]["symbol"] == "_Z7numbersPf" and "second" not in others["numbers"] and not others["loads"]["closed"])
    check(wrong, "witness: %s" % reply["forms"]["witness"], reply["forms"]["witness"] in [f for k in kernels.values() for f in k["second"].values()])
    scale = kernels["sim::scale<float, 3>"]
    check(wrong, "symbols: %s" % scale, scale["symbol"] == "_ZN3sim5scaleIfLi3EEEvP1PPKS1_T_i" and scale["parameters"] == 4 and
          scale["second"]["ragged_large"] == "_ZN3sim11scale__astaIfLi3E13restride_formIxLb0EEEEvP1PPKS3_T_i15restride_extentS8_")
    check(wrong, "extents: %s" % scale, [(a["index"], a.get("extent"), a.get("tile")) for a in scale["arguments"]] == [(0, 4, 32), (1, 5, 32)])
    check(wrong, "gain: %s" % scale, 2 < scale["gain"] < 5 and "spread over many lines" in scale["why"])
    record = kernels["pairs"]["arguments"][0]["record"]
    check(wrong, "record: %s" % record, record == {"size": 16, "alignment": 8, "leaves": [{"name": "c", "offset": 0, "size": 1}, {"name": "d", "offset": 8, "size": 8}]})
    complex_record = ask(rewriter, COMPLEX)["forms"]["kernels"][0]["arguments"][0]["record"]
    check(wrong, "members of two words: %s" % complex_record, complex_record["alignment"] == 4 and
          [(leaf["offset"], leaf["size"], leaf.get("alignment")) for leaf in complex_record["leaves"]] == [(8 * k, 8, 4) for k in range(9)])
    kept = kernels["pairs"]["arguments"][1]
    check(wrong, "kept: %s" % kept, kept["status"] == "kept" and kept["line"] == 14 and kept["index"] == 2)
    pull = ask(rewriter, BODIES)["forms"]["kernels"][0]
    check(wrong, "few threads: %s" % pull, pull["gain"] < 1 and pull["few"]["gain"] > 1.2 and pull["few"]["threads"] == 32768 and
          "waits less often" in pull["few"]["why"] and "few" not in scale)
    # Where one argument gains, those that would lose stay; where none gains, all are there for --policy asta.
    mixed, gather = kernels["mixed"], kernels["gather"]
    check(wrong, "mixed: %s" % mixed, [a["status"] for a in mixed["arguments"]] == ["transformed", "kept"] and "picked by data" in mixed["arguments"][1]["reason"])
    check(wrong, "mixed gains: %s" % mixed, mixed["gain"] > 1)
    check(wrong, "gather: %s" % gather, gather["arguments"][0]["status"] == "transformed" and gather["gain"] < 1 and "picked by data" in gather["why"])
    check(wrong, "forms: %d" % len(reply["names"]), len(reply["names"]) == 24 and reply["uses"].count("restride_use_") == 24)
    # Instances that only name expressions ask for, and no trace of how they were asked.
    source = SOURCE.split("void launch")[0]
    reply = ask(rewriter, source, ["sim::scale<long, 7>", "&pairs"])
    kernels = {k["name"]: k for k in reply["forms"]["kernels"]}
    check(wrong, "named: %s" % sorted(kernels), "sim::scale<long, 7>" in kernels and "sim::scale<float, 3>" not in kernels)
    check(wrong, "added text", "restride_name_" not in reply["source"] and reply["source"].endswith(source[-60:]))
    print("%d kernels' reach" % check_reach(rewriter, wrong))
    print("\n".join(wrong) if wrong else "6 kernels described, 1 named")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
