#!/usr/bin/env python3
"""threads.py RESTRIDE: what neighbouring threads touch at one time, and what is said where that is not known.

Each case is a source and what the analysis has to say of its references (by their text) and its arrays (by their name).
Entries of "array" may be "advice", the layout that is advised, or None, and "then", the transactions with it."""
import json
import os
import subprocess
import sys
import tempfile

SAME = {"transactions": 1, "exact": True, "approximated": False}
BESIDE = {"transactions": 4, "exact": True, "approximated": False}  # 32 threads, 4 bytes each, bursts of 32 bytes
APART = {"transactions": 32, "exact": True, "approximated": False}
UNKNOWN = {"transactions": 32, "exact": False, "approximated": True}

# Nothing here depends on the toolkit's headers, which take longer to read than all the rest.
WITHOUT_TOOLKIT = {"c": [], "cl": [], "cu": ["--", "--cuda-path="]}

# Sources, each with its cases: kernels behind the same declarations are read together, as many as have fewer errors than the
# 20 after which clang reads no further.
SOURCES = []
MOST_TOGETHER = 16


class Source:
    def __init__(self, language, text):
        self.language, self.text, self.cases = language, text, []


def case(name, language, text, references, arrays=None):
    SOURCES.append(Source(language, text))
    SOURCES[-1].cases.append((name, None, references, arrays or {}))


def add_function(name, language, before, head, references, arrays):
    """One more function, `head` with its name, behind `before`; an attribute there would be the first function's alone."""
    last = [s for s in SOURCES if s.language == language and s.cases[0][1] == before]
    if not last or len(last[-1].cases) == MOST_TOGETHER or "__attribute__" in before:
        SOURCES.append(Source(language, before + "\n"))
        last = SOURCES
    last[-1].text += head % ("k%d" % len(last[-1].cases)) + "\n"
    last[-1].cases.append((name, before, references, arrays or {}))


def kernel(name, body, references, arrays=None, before="", parameters="global float *x, global float *o, int n"):
    add_function(name, "cl", before, "kernel void %%s(%s) { %s }" % (parameters, body.replace("%", "%%")), references, arrays)


def cuda(name, body, references, arrays=None, before="", parameters="float *x, float *o, int n"):
    add_function(name, "cu", before, "__global__ void %%s(%s) { %s }" % (parameters, body.replace("%", "%%")), references, arrays)


# ---- loops that start elsewhere in each thread ----

ID = "int i = get_global_id(0); float s = 0; "
ROWS = {"memory": "shared", "same_address": False, "advice": "i/32 f i%32"}
case("rows in C", "c", "void f(float x[8192], float y[128]) { for (int i = 0; i < 128; i++) { float s = 0; "
     "for (int j = 64 * i; j < 64 * i + 64; j++) s += x[j]; y[i] = s; } }", {"x[j]": {**APART, "matrix": [["0", "1"]]}}, {"x": ROWS})
case("an array that begins with what is not understood", "c", "float f(thing *t) { float parts[] = {t->a, t->b}, s = 0; "
     "for (int i = 0; i < 2; i++) s += parts[i]; return s; }", {"parts[i]": {"classes": "linear", "matrix": [["1"]]}})
kernel("rows", ID + "for (int j = 64 * i; j < 64 * i + 64; j++) s += x[j]; o[i] = s;", {"x[j]": APART, "o[i]": BESIDE}, {"x": ROWS})
kernel("rows, an index more", ID + "for (int j = 64 * i; j < 64 * i + 64; j++) for (int k = j; k < j + 4; k++) s += x[k]; o[i] = s;",
       {"x[k]": APART})
kernel("rows of any length", ID + "for (int j = i * n; j < (i + 1) * n; j++) s += x[j]; o[i] = s;",
       {"x[j]": {"transactions": 32, "exact": False}}, {"x": {"same_address": False}})
kernel("triangle", ID + "for (int j = i; j < n; j++) s += x[j]; o[i] = s;", {"x[j]": BESIDE}, {"x": {"same_address": False}})
kernel("half of the index", ID + "for (int j = 64 * i; j < n; j++) s += x[j / 2]; o[i] = s;", {"x[j / 2]": UNKNOWN},
       {"x": {"same_address": False, "chunkable": False}})
kernel("back at the start", ID + "for (int j = 64 * i; j < 64 * i + 64; j++) s += x[j - 64 * i]; o[i] = s;",
       {"x[j - 64 * i]": SAME}, {"x": {"same_address": True}})
kernel("compressed rows", ID + "for (int j = row[i]; j < row[i + 1]; j++) s += x[j] * z[cols[j]]; o[i] = s;",
       {"x[j]": UNKNOWN, "cols[j]": UNKNOWN, "z[cols[j]]": UNKNOWN, "row[i]": BESIDE},
       {"x": {"same_address": False, "chunkable": False, "memory": "texture"}},
       parameters="global float *x, global float *o, global int *row, global int *cols, global float *z")
FOUR = "int l = get_local_id(0); for (int i = l * 4; i < l * 4 + 4; i++) "
kernel("rows without the index", FOUR + "x[i] = o[i];",
       {"x[i]": {"transactions": 16, "exact": True, "matrix": [["1"]]}, "o[i]": {"transactions": 16, "exact": True}}, {"x": {"coalesced": False}})
kernel("rows of a group", FOUR + "x[i + get_group_id(0)] = n;", {"x[i + get_group_id(0)]": {"transactions": 16, "exact": True, "matrix": [["1", "1"]]}})
kernel("rows of all", "int g = get_global_id(0); for (int i = g * 32; i < g * 32 + 32; i++) x[i] = o[n];", {"x[i]": APART, "o[n]": SAME})
kernel("an index as the start", "for (int j = get_local_id(0); j < n; j++) x[j] = n;", {"x[j]": BESIDE}, {"x": {"same_address": False}})
kernel("a start in a nest", "int l = get_local_id(0); for (int i = 0; i < 4; i++) for (int j = l; j < n; j++) x[j] = o[i];",
       {"x[j]": BESIDE, "o[i]": SAME}, {"x": {"same_address": False}, "o": {"same_address": True}})
kernel("a start that nobody uses", "for (int j = get_local_id(0); j < n; j++) x[n] += o[3];",
       {"x[n]": {**SAME, "matrix": [["0"]]}, "o[3]": {**SAME, "matrix": [["0"]]}})
kernel("matrix by rows", ID + "for (int j = i; j < 64; j++) s += m[i][j]; o[i] = s;", {"m[i][j]": {**APART}}, {"m": {"advice": None}},
       before="constant float m[64][64] = {{1}};")

# ---- where one element lies behind the other ----

kernel("an array in a structure", ID + "o[i] = p[i].id[1]; o[i] = p[n].id[i & 1];", {"p[i].id[1]": {"transactions": 24, "exact": True}},
       before="typedef struct { float x, y, z, m; int id[2]; } part;", parameters="global part *p, global float *o, int n")
MANY = "typedef struct { int x, y; } two; typedef struct { two p[2]; int k; } many; typedef struct { int h; two p[2]; } more;"
kernel("members in arrays of structures", "int i = get_global_id(0); a[i].p[1].x = 1; a[i].p[0].x = 1; a[i].p[1].y = 1; b[i].p[1].y = 1; b[i].h = 2;",
       {"a[i].p[1].x": {"transactions": 20}, "a[i].p[0].x": {"transactions": 20}, "a[i].p[1].y": {"transactions": 20},
        "b[i].p[1].y": {"transactions": 20}, "b[i].h": {"transactions": 20}}, before=MANY, parameters="global many *a, global more *b")
cuda("a template without an instance", "x[threadIdx.x] = 1; o[n] = 2;", {"x[threadIdx.x]": {"exact": False}, "o[n]": {"transactions": 1}},
     before="template <class T>", parameters="T *x, float *o, int n")

TURNED = "int c = %s, r = get_global_id(1); x[r * n + c] = o[c * n + r];"
kernel("rows side by side", TURNED % "get_global_id(0)", {"o[c * n + r]": {"exact": False}}, {"o": {"advice": "c r", "then": 4}})
kernel("every second row", TURNED % "get_global_id(0) * 2", {"o[c * n + r]": {"exact": False}}, {"o": {"advice": "c r", "then": 8}})


# ---- how many bursts a warp touches ----

kernel("backwards", "int i = get_global_id(0); x[1023 - i] = 1; x[n - 1 - i] = 2; x[n + 1 - i] = 3; o[-i] = 4; o[1024 - 2 * i] = 5;",
       {"x[1023 - i]": BESIDE, "x[n - 1 - i]": BESIDE, "x[n + 1 - i]": {"transactions": 5, "exact": True},
        "o[-i]": {"transactions": 5, "exact": True}, "o[1024 - 2 * i]": {"transactions": 9, "exact": True}})
kernel("beside a parameter", "int i = get_global_id(0); x[i + n] = 1; x[i + 3 * n + 1] = 2;",
       {"x[i + n]": BESIDE, "x[i + 3 * n + 1]": {"transactions": 5, "exact": True}})
PLANE = "int i = get_global_id(0), j = get_global_id(1); x[j * 64 + i] = 1; x[i * 64 + j] = 2; x[3 * i] = 3; o[j] = 4; o[n] = 5; x[j * n + i] = 6; o[j / 3] = 7;"
GROUPS = {"8, 8, 1": (4, 8, 3, 1, 1, 4, 4), "(8), ((0x8)), (1u)": (4, 8, 3, 1, 1, 4, 4), "16, 2, 1": (4, 16, 6, 1, 1, 4, 2), "4, 2, 1": (2, 4, 2, 1, 1, 2, 2),
          "64, 2, 1": (4, 32, 12, 1, 1, 4, 1), "4, 1, 16": (1, 4, 2, 1, 1, 1, 1), "2 * 4, 8, 1": (4, 32, 12, 1, 1, 4, 1)}
for group, counts in GROUPS.items():
    texts = ("x[j * 64 + i]", "x[i * 64 + j]", "x[3 * i]", "o[j]", "o[n]", "x[j * n + i]", "o[j / 3]")
    kernel("groups of " + group, PLANE, {text: {"transactions": count} for text, count in zip(texts, counts)},
           before="__attribute__((reqd_work_group_size(%s)))" % group)
for group, exact in {"32, 4, 1": True, "31, 4, 1": False}.items():
    kernel("rows of an unknown length in groups of " + group, "x[get_global_id(1) * n + get_global_id(0)] = 1;",
           {"x[get_global_id(1) * n + get_global_id(0)]": {"exact": exact}}, before="__attribute__((reqd_work_group_size(%s)))" % group)
kernel("a term of the third dimension", "x[get_global_id(2) % 2] = 1;", {"x[get_global_id(2) % 2]": {"transactions": 2, "exact": False}},
       before="__attribute__((reqd_work_group_size(4, 4, 4)))")
kernel("records in groups of 8 x 4", "int i = get_global_id(0) + 256 * get_global_id(1); a[i].x = a[i].y;",
       {"a[i].x": {"transactions": 16, "exact": True}}, {"a": {"advice": "i/32 f i%32", "then": 8}},
       before="typedef struct { float x, y, z, m; } part; __attribute__((reqd_work_group_size(8, 4, 1)))", parameters="global part *a")

# ---- a condition behind the body ----

DOWN = "int i = get_global_id(0), c = n; "
kernel("counted in a do", DOWN + "do { x[c + i] = 2; } while (--c > 0);", {"x[c + i]": {"matrix": [["1", "-1"]], "offset": ["n"]}})
kernel("counted in a while", DOWN + "while (--c > 0) x[c + i] = 2;", {"x[c + i]": {"matrix": [["1", "-1"]], "offset": ["n - 1"]}})

# ---- structures that functions make ----

PAIR = "struct pair { int a, b; %s}; __device__ pair make(int a, int b) { pair p; p.a = a; p.b = b; return p; }"
MADE = "pair p = make(2 * threadIdx.x, n); o[p.a] = 1; o[p.b] = 2; x[make(threadIdx.x, 1).a] = 1;"
cuda("made by a function", MADE, {"o[p.a]": {**SAME, "transactions": 8}, "o[p.b]": SAME, "x[make(threadIdx.x, 1).a]": {"approximated": True}},
     before=PAIR % "")
cuda("made by a constructor", "pair p(n, threadIdx.x); o[p.a] = 1; pair q; o[q.b] = 2; pair r(p); o[r.a] = 3;",
     {"o[p.a]": UNKNOWN, "o[q.b]": UNKNOWN, "o[r.a]": UNKNOWN},
     before=PAIR % "__device__ pair() : a(threadIdx.x), b(3) {} __device__ pair(int x, int y) : a(y), b(x) {} ")
cuda("copied by the compiler's constructor", "pair p; p.a = threadIdx.x; pair q(p); o[q.a] = 1; pair r = q; o[r.a] = 2;",
     {"o[q.a]": BESIDE, "o[r.a]": BESIDE}, before=PAIR % "")
cuda("taken apart", "auto [a, b] = make(threadIdx.x, n); o[a] = 1;", {"o[a]": UNKNOWN}, before=PAIR % "")
cuda("made by a constructor elsewhere", "dim3 d(threadIdx.x, 2, 3); o[d.x] = 1;", {"o[d.x]": UNKNOWN})
cuda("declared in conditions", "if (int a = threadIdx.x * 2) o[a] = 1; switch (int b = threadIdx.x; b) { case 1: x[b] = 2; } "
     "while (int c = n - threadIdx.x) { x[c * 2] = 3; n--; } x[n] = 4;",
     {"o[a]": {**SAME, "transactions": 8}, "x[b]": UNKNOWN, "x[c * 2]": {**UNKNOWN}, "x[n]": {"transactions": 32, "exact": False}})
cuda("over a range", "int t[3] = {1, 2, 3}, s = 0; for (int e : t) { s += threadIdx.x; x[e] = 1; } o[s] = 2;", {"o[s]": UNKNOWN, "x[e]": UNKNOWN})
cuda("made by make_int2", "int2 p = make_int2(threadIdx.x, n); o[p.x] = 1;", {"o[p.x]": UNKNOWN})

# ---- local and global indices beside each other ----

BOTH = "int i = get_global_id(0), l = get_local_id(0); "
kernel("both indices", BOTH + "x[i] = 1; o[l * 32] = 2; o[get_group_id(0) * 256 + l] = 3;",
       {"x[i]": BESIDE, "o[l * 32]": APART, "o[get_group_id(0) * 256 + l]": BESIDE})
kernel("copied to a tile", BOTH + "o[i] = x[get_group_id(0) * 256 + l];", {"x[get_group_id(0) * 256 + l]": BESIDE},
       {"x": {"coalesced": True, "memory": "global"}})
kernel("both in one subscript", BOTH + "o[i] = x[i - l];", {"x[i - l]": SAME}, {"x": {"same_address": False}})
kernel("both added", BOTH + "o[i] = x[i + l];", {"x[i + l]": {"transactions": 8}})
kernel("rows apart", BOTH + "o[i] = x[l * n];", {"x[l * n]": {"transactions": 32, "exact": False}})
cuda("both of CUDA", "int i = blockIdx.x * blockDim.x + threadIdx.x; __shared__ float s[64]; s[threadIdx.x * 2] = x[i]; o[threadIdx.x * 32] = 1;",
     {"s[threadIdx.x * 2]": {"transactions": 8}, "o[threadIdx.x * 32]": APART, "x[i]": BESIDE})


# ---- numbers that only a work-item itself knows ----

KERNEL = "__attribute__((reqd_work_group_size(64, 4, 1)))"
kernel("linear indices", "o[get_global_linear_id()] = x[get_local_linear_id() + n];",
       {"o[get_global_linear_id()]": {**BESIDE, "matrix": [["1", "0"]]}, "x[get_local_linear_id() + n]": {**BESIDE, "matrix": [["0", "1"]]}})
kernel("linear indices of two dimensions", "o[get_local_linear_id()] = get_local_id(1);",
       {"o[get_local_linear_id()]": {**BESIDE, "matrix": [["256", "64", "1"]]}}, before=KERNEL)
kernel("linear indices of two dimensions that nothing else asks for", "o[get_local_linear_id()] = n;",
       {"o[get_local_linear_id()]": {**BESIDE, "matrix": [["256", "64", "1"]]}}, before=KERNEL)
kernel("place in a sub-group", "o[get_sub_group_local_id()] = x[get_sub_group_id()];",
       {"o[get_sub_group_local_id()]": UNKNOWN, "x[get_sub_group_id()]": UNKNOWN})
kernel("unknown function", "o[somewhere()] = x[somewhere() * 2];", {"o[somewhere()]": UNKNOWN, "x[somewhere() * 2]": UNKNOWN},
       {"o": {"same_address": False, "chunkable": False}}, before="int somewhere(void);")
kernel("unknown function of a number", "int k = lookup(n); o[k] = 1;", {"o[k]": UNKNOWN}, before="int lookup(int n);")
kernel("arithmetic of a parameter", "int k = (int)sqrt((float)n) + popcount(n) + get_work_dim(); o[k + get_local_id(0)] = 1;",
       {"o[k + get_local_id(0)]": BESIDE})
kernel("unknown through a pointer", "int k; where(&k); o[k] = 1;", {"o[k]": UNKNOWN}, before="void where(int *k);")
kernel("own table", "int t[2]; t[0] = get_local_id(0); o[t[0]] = 1;", {"o[t[0]]": UNKNOWN})
LANE = """__device__ unsigned lane() { unsigned r; asm("mov.u32 %0, %%laneid;" : "=r"(r)); return r; }
__device__ int lane_id(void);
"""
cuda("assembly", "o[lane()] = x[lane_id() * 2];", {"o[lane()]": UNKNOWN, "x[lane_id() * 2]": UNKNOWN}, before=LANE)
cuda("assembly in the kernel", 'unsigned r; asm volatile("mov.u32 %0, %%laneid;" : "=r"(r)); o[r] = x[n];',
     {"o[r]": UNKNOWN, "x[n]": {"transactions": 1}})
cuda("assembly with inputs", 'int t = threadIdx.x, r; asm("add %0, %1, 1;" : "=r"(r) : "r"(t)); o[r] = x[t];', {"o[r]": UNKNOWN, "x[t]": BESIDE},
     before="// Alone: less is known beside another function with `switch (int b = ...; b)`.")
cuda("assembly in a loop", 'int r = 0; for (int j = 0; j < n; j++) { o[r] = 1; asm("mov %0, 1;" : "=r"(r)); }', {"o[r]": UNKNOWN})
cuda("cooperative groups", "auto b = cooperative_groups::this_thread_block(); int r = b.thread_rank(); o[r] = x[r * 3];",
     {"o[r]": UNKNOWN, "x[r * 3]": UNKNOWN}, before="#include <cooperative_groups.h>")
cuda("copied index", "auto t = threadIdx; auto &u = threadIdx; o[t.x] = x[u.x];", {"o[t.x]": BESIDE, "x[u.x]": BESIDE})

# ---- numbers that are one thing or another by what a work-item does ----

L = "int l = get_local_id(0), k = 1; "
kernel("chosen by the index", L + "if (l < 16) k = 7; o[k] = 1;", {"o[k]": UNKNOWN})
kernel("chosen by a parameter", L + "if (n < 16) k = 7; o[k] = x[l];", {"o[k]": {"transactions": 1, "exact": True}})
kernel("chosen in an expression", L + "o[l < 16 ? n : 3] = 1;", {"o[l < 16 ? n : 3]": UNKNOWN})
kernel("chosen by a switch", L + "switch (l & 3) { case 0: k = 5; break; case 1: k = 9; } o[k] = 1;", {"o[k]": UNKNOWN})
kernel("chosen by a function", "o[pick(get_local_id(0))] = 1;", {"o[pick(get_local_id(0))]": UNKNOWN},
       before="int pick(int l) { if (l < 16) return 7; return 3; }")
kernel("as often as the index says", L + "for (int j = 0; j < l; j++) k *= 2; o[k] = 1;", {"o[k]": UNKNOWN})
kernel("steps as often as the index says", L + "for (int j = 0; j < l; j++) k += 2; o[k] = 1;", {"o[k]": UNKNOWN})
kernel("assigned as often as the index says", L + "for (int j = 0; j < l; j++) k = 5; o[k] = 1;", {"o[k]": UNKNOWN})
kernel("mixed with the index", L + "while (k < n) { k = 2 * k + l; o[k] = 1; }", {"o[k]": UNKNOWN})
kernel("halved", L + "for (int k = n / 2; k > 0; k /= 2) o[l] += o[l + k];", {"o[l + k]": {"transactions": 4}})
kernel("never given a value", "int k; o[k] = 1;", {"o[k]": UNKNOWN})

# ---- loops with attributes ----

SUM = "float s = 0; int t = threadIdx.x;\n%s\nfor (int k = 0; k < 8; k++) s += x[t + k * 32]; o[t] = s;"
for pragma in "unroll", "unroll 4", "nounroll", "clang loop unroll(full)", "GCC ivdep":
    cuda(pragma, SUM % ("#pragma " + pragma), {"x[t + k * 32]": {**BESIDE, "matrix": [["1", "32"]], "offset": ["0"]}})
kernel("unroll hint", "float s = 0; __attribute__((opencl_unroll_hint(4))) for (int k = 0; k < 8; k++) s += x[k]; o[0] = s;",
       {"x[k]": {"matrix": [["1"]], "offset": ["0"]}})
kernel("unrolled, with a variable", "float s = 0; int m = 0;\n#pragma unroll\nwhile (m < n) { s += x[m]; m += 2; } o[0] = s;",
       {"x[m]": {"matrix": [["2"]], "offset": ["0"]}})
for pragma in "#pragma unroll", "#pragma omp parallel for", "#pragma clang loop vectorize(enable)", "again:":
    case(pragma, "c", "void f(int n, float x[n], float y[n]) {\n%s\nfor (int i = 0; i < n; i++) x[i] = y[2 * i]; }" % pragma,
         {"y[2 * i]": {"matrix": [["2"]]}, "x[i]": {"matrix": [["1"]]}})


# ---- templates, and arrays of a group ----

TEMPLATE = """template <int N, bool F> __device__ int at(int x) { return N * x; }
template <int N> __global__ void k(float *o, const float *in)
{
    int x = blockIdx.x * N + threadIdx.x;
    __shared__ float s[N];
    s[threadIdx.x] = in[at<N / 4, true>(x)];
    o[x] = s[threadIdx.x];
}
int main() { k<16><<<1, 16>>>(0, 0); }
"""
case("number of a template", "cu", TEMPLATE,
     {"o[x]": {**BESIDE, "matrix": [["16", "1"]]}, "in[at<N / 4, true>(x)]": {"transactions": 16, "matrix": [["64", "4"]]}},
     {"s": {"space": "local", "bytes": 64}})
case("type of a template", "cu", "template <class T> __global__ void k(T *o) { o[2 * threadIdx.x] = 1; } int main() { k<double><<<1, 1>>>(0); }",
     {"o[2 * threadIdx.x]": {"transactions": 16}}, {"o": {"element": 8}})
kernel("local arrays", "local float a[16]; __local int b[16][2]; float q[4]; int l = get_local_id(0); a[l] = b[l][0] = x[l]; q[0] = x[l];",
       {"a[l]": BESIDE}, {"a": {"space": "local"}, "b": {"space": "local"}, "q": {"space": "private"}, "x": {"space": "global"}})


# ---- vectors, views and classes ----

kernel("components", "int2 p = (int2)(get_global_id(0), get_global_id(1)), q = p; o[p.y * n + p.x] = x[p.s0 * n + p.s1 + 1]; p.x += 1; "
       "o[p.x] = x[q.y * n + q.x];",
       {"o[p.y * n + p.x]": {**BESIDE, "matrix": [["1", "0"], ["0", "1"]]}, "o[p.x]": {"offset": ["1"], "approximated": False},
        "x[p.s0 * n + p.s1 + 1]": {"matrix": [["0", "1"], ["1", "0"]], "offset": ["0", "1"]}, "x[q.y * n + q.x]": BESIDE})
kernel("several components", "int i = get_global_id(0); x[i].s01 = 1; x[i].lo = 0; x[i].S9A = 1; x[i].hi = 0; x[i].even = 0; x[i].s70 = 1; d[i].zw = 0; t[i].yz = 1; x[i].lo.x = 1;",
       {"x[i].s01": {"transactions": 32, "width": 8}, "x[i].lo": {"transactions": 32, "width": 32}, "x[i].S9A": {"transactions": 32, "width": 8},
        "x[i].hi": {"transactions": 32, "width": 32}, "x[i].even": {"transactions": 64, "width": 60}, "x[i].s70": {"transactions": 32, "width": 32},
        "d[i].zw": {"transactions": 32, "width": 16}, "t[i].yz": {"transactions": 16, "width": 8}, "x[i].lo.x": {"width": 4, "approximated": False}},
       parameters="global float16 *x, global double4 *d, global float3 *t")
kernel("products of 24 bits", "o[mul24((int)get_global_id(0), 2)] = x[mad24((int)get_global_id(0), 4, 1)];",
       {"o[mul24((int)get_global_id(0), 2)]": {"transactions": 8, "exact": True},
        "x[mad24((int)get_global_id(0), 4, 1)]": {"transactions": 16, "exact": True}})
cuda("products of 24 bits in CUDA", "int i = threadIdx.x + __mul24(blockIdx.x, blockDim.x); o[i] = x[__umul24(threadIdx.x, 4)];",
     {"o[i]": BESIDE, "x[__umul24(threadIdx.x, 4)]": {"transactions": 16, "exact": True}})
cuda("view of a tile", "extern __shared__ unsigned char raw[]; float *s = (float *)raw; s[threadIdx.x] = x[threadIdx.x]; o[threadIdx.x] = s[n];",
     {"s[threadIdx.x]": BESIDE}, {"raw": {"space": "local", "written": True}, "(float *)raw": {"space": "local"}})
kernel("written through a view", "global char *y = (global char *)x; y[get_global_id(0)] = 1; o[0] = x[n];", {},
       {"x": {"written": True}})
MATRIX = """struct matrix {
    float *d; int ld;
    __device__ float &operator()(int r, int c) { return d[r * ld + c]; }
    __device__ float &operator[](int i) { return this->d[i]; }
    __device__ float get(int r, int c) const { return d[r * ld + c]; }
    __device__ void set(int r, int c, float v) { (*this)(r, c) = v; }
};
struct vector { float *v; };
__device__ float &operator+(const vector &a, int i) { return a.v[i]; }
__device__ float &first(float *p, int i) { return p[i]; }
"""
ROW = "int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y; "
cuda("operator of a class", ROW + "A(r, c) = B.get(c, r);",
     {"A(r, c)": {**BESIDE, "write": True, "matrix": [["1", "0"], ["0", "1"]]}, "d[r * ld + c]": {"matrix": [["0", "1"], ["1", "0"]]}},
     {"A.d": {"written": True, "memory": "global"}, "B.d": {"written": False, "advice": "c r"}}, before=MATRIX,
     parameters="matrix A, matrix B")
cuda("other operators", ROW + "A[c * 2] = a + 3 * c; A.set(r, c, 1); first(B.d, c) += 1;",
     {"A[c * 2]": {"transactions": 8}, "a + 3 * c": {"matrix": [["0", "3"]]}, "(*this)(r, c)": BESIDE,
      "first(B.d, c)": {**BESIDE, "read": True, "write": True}},
     {"A.d": {"written": True}, "a.v": {"written": False}, "B.d": {"written": True}}, before=MATRIX,
     parameters="matrix A, matrix B, vector a")


COUNTER = """struct counter { int n; __device__ int next() { n += 2; return n; } __device__ void operator()(int &k) { k += 1; n = k; } };
"""
cuda("object that counts", "counter a; a.n = 0; for (int j = 0; j < n; j++) { a.next(); o[a.n] = 1; }", {"o[a.n]": UNKNOWN}, before=COUNTER)
cuda("operator that counts", "counter a; int k = 0; for (int j = 0; j < n; j++) { a(k); o[k] = 1; }", {"o[k]": {"approximated": True}},
     before=COUNTER)
cuda("object that is asked", "counter a; a.n = 0; o[a.next() + threadIdx.x] = 1;", {"o[a.next() + threadIdx.x]": {"transactions": 5, "approximated": False, "offset": ["2"]}},
     before=COUNTER)


cuda("one of two arrays", "float *p = n > 3 ? x : o; p[threadIdx.x] = 1;", {}, {"x": {"written": True}, "o": {"written": True}})
cuda("place that nobody uses", "first(x, threadIdx.x); o[threadIdx.x] = 1;", {"o[threadIdx.x]": BESIDE}, {"x": {"read": False}},
     before=MATRIX)


# ---- what is changed through something that is not followed ----

LANE = "int v = threadIdx.x, a = 5, b = 7; "
for name, change in {
    "a reference to one of two": "int &r = n > 3 ? a : b; r = v;",
    "one of two assigned": "(n > 3 ? a : b) = v;",
    "one of two stepped": "(n > 3 ? a : b) += v;",
    "a pointer to one of two": "int *p = n > 3 ? &a : &b; *p = v;",
    "a pointer to one of two, in branches": "int *p; if (n > 3) p = &a; else p = &b; *p = v;",
    "an element of pointers": "int *p[2] = {&a, &b}; *p[n & 1] = v;",
    "a member that is a reference": "struct { int &r; } h{a}, g{b}; h.r = v; g.r = v;",
    "a choice that a function gives": "pick(a, b, n) = v;",
    "a number in another type's eyes": "(short &)a = v; reinterpret_cast<short &>(b) = v;",
    "a function object": "auto f = [&](int k) { a = k; b = k; }; hand(f, v);",
}.items():
    cuda("changed through " + name, LANE + change + " o[a] = 1; o[b + 1] = 2;", {"o[a]": UNKNOWN, "o[b + 1]": UNKNOWN},
         before="__device__ int &pick(int &a, int &b, int c) { return c ? a : b; } template <class F> __device__ void hand(F f, int v);")
cuda("changed through a pointer that may be null", LANE + "int *p = n > 3 ? &a : nullptr; if (p) *p = v; o[a] = 1;",
     {"o[a]": {"approximated": True, "matrix": [["1"]]}})
cuda("a constant cast away", "const_cast<int &>(static_cast<const int &>(n)) = threadIdx.x; o[n] = 1;", {"o[n]": BESIDE})
cuda("references to results", "int k = 5, v = threadIdx.x; int &r = k = 7; r = v; o[k] = 1; (k += 3) = n; const int &s = v + 2; v = 0; o[s] = 2;",
     {"o[k]": BESIDE, "o[s]": {"matrix": [["1"]], "offset": ["2"], "approximated": False}})
cuda("one of two elements", "float &r = n > 3 ? x[threadIdx.x] : o[threadIdx.x]; r = 1;", {}, {"x": {"written": True}, "o": {"written": True}})
cuda("a reference to a sum", "int v = 2 * threadIdx.x; const int &r = v + n; v = 0; o[r] = 1;", {"o[r]": {"transactions": 8, "approximated": False}})
cuda("a number that a class makes", "maker h; h.k = 2; o[h] = 1;", {"o[h]": {"transactions": 8, "approximated": False}},
     before="struct maker { int k; __device__ operator int() const { return threadIdx.x * k; } };")
kernel("statements that have a value", "int y = 0, t = ({ int q = 3; y = get_global_id(0); q + 2; }); o[y] = 1; o[t] = 2;",
       {"o[y]": BESIDE, "o[t]": {**SAME, "offset": ["5"]}})
kernel("members that are arrays", "many q; put(&q, get_global_id(0)); o[q.p[1].x] = 1; p.p[0].x = get_global_id(0); o[p.p[0].x] = p.p[1].x;",
       {"o[q.p[1].x]": UNKNOWN, "o[p.p[0].x]": UNKNOWN}, parameters="many p, global float *o, int n",
       before="typedef struct { int x, y; } two; typedef struct { two p[2]; } many; void put(many *q, int v) { q->p[1].x = v; }")
kernel("results of atomic functions", "int k = atomic_inc(&c[n]); o[k] = 1;", {"o[k]": UNKNOWN, "atomic_inc(&c[n])": SAME},
       parameters="global int *c, global float *o, int n")
kernel("pointers in a table", "global float *t[2] = {x, o}; t[n][get_global_id(0)] = 1;", {"t[n][get_global_id(0)]": {"transactions": 4}},
       {"x": {"written": True}, "o": {"written": True}})
kernel("any dimension", "for (int d = 0; d < n; d++) o[get_global_id(d)] = 1;", {"o[get_global_id(d)]": UNKNOWN})


# ---- functions that end early, and what a class does unseen ----

EARLY = "__device__ void early(int &k, int c) { if (c) { k = 5; return; } k += 1; } " \
        "__device__ void found(int &k, int c) { for (int i = 0; i < c; i++) if (c == i * i) { k = i; return; } k = 7; }"
cuda("returned early", "int k = threadIdx.x; early(k, n); o[k] = 1; found(k, n); o[k + 1] = 2;",
     {"o[k]": {"approximated": True}, "o[k + 1]": UNKNOWN}, before=EARLY)
cuda("left early", "int k = 6; switch (n) { case 1: if (n > 7) { k = threadIdx.x; break; } k = 6; } o[k] = 1;", {"o[k]": {"approximated": True}})
cuda("a switch that begins with a statement", "int k = 5; switch (k = 7; n) { case 1: x[1] = 1; } o[k] = 1;", {"o[k]": UNKNOWN})
cuda("a switch that begins with a statement, in a loop", "int k = 5; for (int i = 0; i < n; i++) { o[k] = 1; switch (k += 2; n) { case 1: x[1] = 1; } }",
     {"o[k]": UNKNOWN})
cuda("approximated both ways", "int k = 0; switch (n) { case 0: k = threadIdx.x; case 1: k += 2; break; default: return; } o[k] = 1; "
     "int m = 0; if (n) m = threadIdx.x; int l = m; if (n > 3) l = m; x[l] = 1;", {"o[k]": {"approximated": True}, "x[l]": {"approximated": True}})
CLASSES = """struct keeper { int *p; __device__ keeper(int &q) : p(&q) {} __device__ ~keeper() { *p = 3; } };
struct base { int v; __device__ virtual int get() { return 1; } };
struct derived : base { __device__ int get() override { return threadIdx.x; } };
struct last final : base { __device__ int get() override { return threadIdx.x; } };
struct filler { __device__ filler(int &q, float *o) { q = threadIdx.x; o[threadIdx.x] = 1; } };
struct view { float *p; int m; __device__ view(float *q, int k) : p(q), m(k) {} };"""
cuda("a destructor", "int k = threadIdx.x; { keeper h(k); } o[k] = 1;", {"o[k]": UNKNOWN}, before=CLASSES)
cuda("a destructor of what has no name", "int k = threadIdx.x; keeper{k}; o[k] = 1;", {"o[k]": UNKNOWN}, before=CLASSES)
for name, scope in {
    "a reference": "const keeper &h = keeper(k); k = 5;",
    "a reference, in braces": "keeper &&h{keeper{k}}; k = 5;",
    "a reference to a result": "const keeper &h = kept(k); k = 5;",
    "a capture": "auto f = [h = keeper(k)]() {}; k = 5;",
    "an argument": "lend(keeper(k), k);",
    "an argument, in a condition": "if (lend(keeper(k), k)) n = 2;",
    "an argument, in an initializer": "int v = lend(keeper(k), k);",
}.items():
    cuda("a destructor of what is held by " + name, "int k = threadIdx.x; { %s } o[k] = 1;" % scope, {"o[k]": UNKNOWN},
         before=CLASSES + "__device__ keeper kept(int &k) { return keeper(k); } __device__ int lend(const keeper &h, int &k) { k = 5; return 1; }")
cuda("a destructor of a template's instance", "int k = threadIdx.x; { holder<int> h(k); } o[k] = 1;", {"o[k]": UNKNOWN},
     before="template <class T> struct holder { T *p; __device__ holder(T &q) : p(&q) {} __device__ ~holder() { *p = 3; } };")
cuda("captures that count", "int k = 0; auto f = [y = k++]() {}; o[k] = 1;", {"o[k]": UNKNOWN})
cuda("virtual functions", "derived d; base *b = &d, &c = d; o[b->get()] = 1; o[c.get() + 1] = 2; o[d.get()] = 3; o[b->base::get() + 2] = 4; o[l->get()] = 5;",
     {"o[b->get()]": UNKNOWN, "o[c.get() + 1]": UNKNOWN, "o[d.get()]": BESIDE, "o[b->base::get() + 2]": {**SAME, "offset": ["3"]}, "o[l->get()]": BESIDE},
     before=CLASSES, parameters="float *x, float *o, int n, last *l")
cuda("a constructor that changes others", "int k = 5; filler f(k, o); x[k] = 1;", {"x[k]": UNKNOWN}, {"o": {"written": True}}, before=CLASSES)
cuda("a constructor that fills its members", "int k = threadIdx.x, &r = k; view v(x, 3); o[k] = 1;", {"o[k]": BESIDE}, before=CLASSES)


PARTS = """__device__ int made;
struct inner { __device__ inner() { made = threadIdx.x; } };
struct member { inner i; int z; };
struct derived : inner { int z; };
struct deep { member m[2]; };
struct filled { int a; __device__ filled() : a(threadIdx.x) {} };
struct holder { filled f; int z; };
struct counted { int z = ++made; int y; };
struct numbered { int z = 4; int y; };"""
for made in "member w;", "derived w;", "deep w;", "counted w;", "member w{};", "member w = member();", "member w[3];", "member *w = new member;":
    cuda("constructors that nobody wrote: " + made, "made = 5; %s o[made] = 1;" % made, {"o[made]": UNKNOWN}, before=PARTS)
cuda("a member with a constructor", "holder w; o[w.f.a] = 1; int k = 5; numbered m; o[k + m.z] = 2;",
     {"o[w.f.a]": UNKNOWN, "o[k + m.z]": {"transactions": 1, "approximated": False}}, before=PARTS)


# ---- what work-items have in common, and write ----

COMMON = """struct two { int a, b; }; __device__ int g, table[64]; __device__ two pair; __device__ float *where;
__device__ int read_g() { return g; }
"""
for name, body in {
    "a variable of the file": "g = threadIdx.x; o[g] = 1;",
    "a variable before it is written": "o[g] = 1; __syncthreads(); g = 5;",
    "a variable of the file, by a reference": "int &r = g; r = threadIdx.x; o[r] = 1;",
    "a variable of the file, by a pointer": "int *p = &g; *p = threadIdx.x; o[g] = 1;",
    "a variable of the file, in a function": "g = 2 * n; o[read_g()] = 1;",
    "a variable that counts": "for (g = 0; g < n; g++) o[g] = 1;",
    "a static variable": "static int s; s = threadIdx.x; o[s] = 1;",
    "a shared variable": "__shared__ int s; s = threadIdx.x; int t = s; o[t] = 1;",
    "a shared variable that one sets": "__shared__ int s; if (threadIdx.x == 0) s = n; __syncthreads(); o[s] = 1;",
    "a member of a shared structure": "__shared__ two s; s.a = threadIdx.x; s.b = 3; o[s.a] = 1; o[s.b] = 2; two t = s; o[t.b] = 3;",
    "a member of a structure of the file": "pair.a = threadIdx.x; o[pair.a] = 1;",
    "a shared element": "__shared__ int s[4]; s[0] = threadIdx.x; __syncthreads(); o[s[0]] = 1;",
    "another's shared element": "__shared__ int s[64]; s[threadIdx.x] = 1; __syncthreads(); o[s[0]] = 1; o[s[threadIdx.x]] = 2;",
    "an element of the file": "table[3] = threadIdx.x; o[table[3]] = 1;",
    "what an element of the file decides": "table[3] = threadIdx.x; o[table[3] > 2 ? n : 7] = 1;",
    "what a shared number decides": "__shared__ float s[4]; s[0] = threadIdx.x; __syncthreads(); int k = 3; if (s[0] > 1) k = 4; o[k] = 1;",
    "as often as an element says": "table[0] = threadIdx.x; int k = 3; for (int j = 0; j < table[0]; j++) k = 5; o[k] = 1;",
    "a pointer of the file": "where = o + threadIdx.x; where[0] = 1;",
    "an atomic function": "atomicAdd(&g, 1); o[g] = 1;",
}.items():
    texts = [t for t in ("o[g]", "o[r]", "o[read_g()]", "o[s]", "o[t]", "o[s.a]", "o[s.b]", "o[t.b]", "o[pair.a]", "o[s[0]]", "o[table[3]]",
                         "o[table[3] > 2 ? n : 7]", "o[k]", "where[0]") if t + " =" in body]
    cuda("written by others: " + name, body, {t: UNKNOWN for t in texts}, before=COMMON)
cuda("in common, and only read", "o[g + threadIdx.x] = table[3]; o[table[5] + n] = 1; x[pair.b] = 2;",
     {"o[g + threadIdx.x]": BESIDE, "o[table[5] + n]": {"approximated": False}, "x[pair.b]": {**SAME}}, before=COMMON)
for name, body in {
    "a local variable": "local int s; s = get_local_id(0); barrier(1); o[s] = 1;",
    "a local element": "local int s[4]; s[0] = get_local_id(0); barrier(1); o[s[0]] = 1;",
    "a local vector": "local int2 s; s.x = n; o[s.x] = 1;",
    "a global element": "c[0] = get_global_id(0); int s = c[0]; o[s] = 1;",
    "a local variable, by a pointer": "local int s; local int *p = &s; *p = get_local_id(0); o[s] = 1;",
    "a local variable that counts": "local int s; s = 0; for (int j = 0; j < n; j++) s++; o[s] = 1;",
}.items():
    kernel("written by others: " + name, body, {t: UNKNOWN for t in ("o[s]", "o[s[0]]", "o[s.x]") if t + " =" in body},
           parameters="global int *c, global float *o, int n")
kernel("a local pointer into one array", "global float *local p; p = o + n; barrier(1); p[get_local_id(0)] = x[get_global_id(0)];",
       {"p[get_local_id(0)]": UNKNOWN, "x[get_global_id(0)]": BESIDE}, {"x": {"written": False}, "o": {"written": True}})
kernel("a local pointer into two arrays", "global float *local p; p = n > 3 ? x : o; if (n > 5) p = x; barrier(1); p[get_local_id(0)] = 1;",
       {}, {"x": {"written": True}, "o": {"written": True}})
kernel("a local pointer into one of two arrays", "global float *local p; if (get_local_id(0)) p = x; else p = o; barrier(1); p[get_local_id(0)] = 1;",
       {}, {"x": {"written": True}, "o": {"written": True}})
cuda("a shared pointer that one sets", "__shared__ float *p; if (threadIdx.x == 0) p = o + n; __syncthreads(); p[threadIdx.x] = x[threadIdx.x];",
     {}, {"x": {"written": False}, "o": {"written": True}})
cuda("a function that is declared nowhere", "for (int i = 0; i < n; i++) { o[i * 64 + threadIdx.x + g] = 1; mystery(i); }",
     {"o[i * 64 + threadIdx.x + g]": {"approximated": True, "exact": False}}, before="__device__ int g;")
cuda("functions of the language that are declared nowhere", "__shared__ int s[4]; for (int i = 0; i < n; i++) { o[i * 64 + threadIdx.x + g] = __shfl_sync(-1, x[i], 0); __syncwarp(); }",
     {"o[i * 64 + threadIdx.x + g]": BESIDE}, before="__device__ int g;")
kernel("a vector that is written", "int l = get_global_id(0); for (int i = 0; i < n; i++) { int4 q = vload4(0, v); o[q.x * 32 + l] = 1; vstore4(q + 1, 0, v); }",
       {"o[q.x * 32 + l]": {"approximated": True, "exact": False}}, parameters="global int *v, global float *o, int n")
kernel("a vector that nobody writes", "int l = get_global_id(0); for (int i = 0; i < n; i++) { int4 q = vload4(0, v); o[q.x * 32 + l] = 1; }",
       {"o[q.x * 32 + l]": {"approximated": False}}, parameters="global int *v, global float *o, int n")
for load in "__ldcg", "__ldg", "__ldcs":
    cuda(load + " of what is written", "for (int i = 0; i < n; i++) { int q = %s(v); o[q * 32 + threadIdx.x] = 1; v[0] = i; }" % load,
         {"o[q * 32 + threadIdx.x]": {"approximated": True, "exact": False}}, parameters="int *v, float *o, int n")
cuda("volatile numbers", "volatile int k = threadIdx.x; o[flag[0] + threadIdx.x] = 1; x[f + threadIdx.x] = 1; o[k] = 2;",
     {"o[flag[0] + threadIdx.x]": UNKNOWN, "x[f + threadIdx.x]": UNKNOWN, "o[k]": BESIDE}, before="__device__ volatile int f;",
     parameters="volatile int *flag, float *x, float *o, int n")
case("volatile numbers in C", "c", "volatile int F; void w(float *a, int n) { for (int i = 0; i < n; i++) a[F + i] = 1; }",
     {"a[F + i]": {"approximated": True, "exact": False}})
CURSOR = "struct W { float *p; int n; }; "
LOST = {"classes": "unknown"}
for name, text, source in (
        ("a cursor in a structure", "w->p[0]", "void f(struct W *w, float *x, int n) { for (int i = 0; i < n; i++) { w->p[0] = x[i]; w->p += 4; } }"),
        ("a cursor behind a pointer", "q[0]", "void f(float **pp, int n) { for (int i = 0; i < n; i++) { float *q = *pp; q[0] = 1; *pp = q + 1; } }")):
    case(name, "c", CURSOR + source, {text: LOST})
case("a cursor behind a loop", "c", "void f(int n, int g, int *x) { int *w = x; for (int i = 0; i < n; i++) { int l = i; do { w--; } while (l++ < g); w[0] = 1; } }",
     {"w[0]": {"approximated": True}})
kernel("a cursor that moves as often as the index says", "int l = get_local_id(0); global float *w = x; do { w++; } while (l-- > 0); w[0] = o[n];",
       {"w[0]": UNKNOWN, "o[n]": SAME}, {"x": {"same_address": False}})
case("rows that a loop makes", "c", "void *malloc(unsigned long); void f(float **m, int n) { for (int i = 0; i < n; i++) { m[i] = malloc(4 * n); "
     "for (int j = 0; j < n; j++) m[i][j] = 0; } }", {"m[i][j]": {"matrix": [["1", "0"], ["0", "1"]]}})
case("rows and members that stay", "c", CURSOR + "void f(float **m, struct W *w, int n) { for (int i = 0; i < n; i++) { w->n += 1; m[0][i] = 0; w->p[i] = 1; } }",
     {"m[0][i]": {"approximated": False}, "w->p[i]": {"matrix": [["1"]], "approximated": False}})
cuda("constant memory beside a function that is not there", "x[side * n + threadIdx.x] = other(x[n]); o[threadIdx.x + pair.b] = 2;",
     {"x[side * n + threadIdx.x]": BESIDE, "o[threadIdx.x + pair.b]": {"approximated": False}},
     before="struct two { int a, b; }; __constant__ int side; __constant__ two pair; extern __device__ float other(float x);")
kernel("constant memory beside a function that is not there", "x[get_global_id(0)] = other(x[n]); o[side + get_global_id(0)] = 1;",
       {"o[side + get_global_id(0)]": {"approximated": False}}, before="__constant int side = 5; float other(float x);")
kernel("an element that nobody writes", "int s = c[0]; o[s] = 1; o[s + get_local_id(0)] = 2;", {"o[s]": {"approximated": False}},
       parameters="global int *c, global float *o, int n")

# The place in a group is a column only where a subscript or a term has it; what is said of threads counts it everywhere.
WRITTEN = "if (i == 0) c[0] = n; for (int j = 0; j < n; j++) { o[i + j] = 1; x[c[i] + j] = 2; } "
kernel("an index over all groups beside what is written", "int i = get_global_id(0); " + WRITTEN,
       {"o[i + j]": {**BESIDE, "matrix": [["1", "1"]]}, "x[c[i] + j]": {**UNKNOWN, "matrix": [["0", "1", "1"]]}},
       {"x": {"same_address": False}}, parameters="global int *c, global float *x, global float *o, int n")
cuda("an index of two beside what is written", "int i = blockIdx.x * blockDim.x + threadIdx.x; " + WRITTEN,
     {"o[i + j]": {**BESIDE, "matrix": [["1", "1"]]}, "x[c[i] + j]": {**UNKNOWN, "matrix": [["0", "1", "1"]]}},
     {"x": {"same_address": False}}, parameters="int *c, float *x, float *o, int n")
kernel("a term of the place in a group", "int i = get_global_id(0), l = get_local_id(0); o[i] = x[l / 2];",
       {"x[l / 2]": {**UNKNOWN, "matrix": [["0", "0", "1"]]}, "o[i]": {**BESIDE, "matrix": [["1", "0"]]}})
CHOSEN = {"transactions": 32, "exact": False, "approximated": True}
ODD = "for (int i = 0; i < 4; i++) { int x = i; if (%s) x = i + 1; o[x * n] = 1; }"
kernel("one of two that the place chooses", ODD % "get_local_id(0) & 1", {"o[x * n]": CHOSEN}, {"o": {"same_address": False}})
kernel("one of two that the index chooses", ODD % "get_global_id(0) < n", {"o[x * n]": CHOSEN}, {"o": {"same_address": False}})
kernel("one of two in an expression", "for (int i = 0; i < 4; i++) { int x = get_local_id(0) & 1 ? i + 1 : i; o[x * n] = 1; }",
       {"o[x * n]": CHOSEN}, {"o": {"same_address": False}})
kernel("a border that the place has", "for (int i = 0; i < 4; i++) { int x = i; if (get_local_id(0) == 0) x = 0; o[x] = 1; }", {"o[x]": CHOSEN})
kernel("one of two places", "int l = get_local_id(0); for (int i = 0; i < 4; i++) { global float *p = x + i; if (l & 1) p = x + i + 1; p[0] = 1; }",
       {"p[0]": CHOSEN})
kernel("a border of a loop", "for (int i = 0; i < 4; i++) { int r = i - 1; if (r < 0) r = 0; o[64 * r + get_local_id(0)] = 1; }",
       {"o[64 * r + get_local_id(0)]": {"transactions": 4, "exact": True, "approximated": True, "matrix": [["1", "64"]]}})
kernel("no index at all", "o[somewhere()] = 1;", {"o[somewhere()]": {**UNKNOWN, "matrix": [["1"]]}}, {"o": {"same_address": False}},
       before="int somewhere(void);")


# ---- function objects ----

APPLY = "template <class F> __device__ void apply(F f, int n) { for (int i = 0; i < n; i++) f(i); }"
cuda("a function object by copy", "int k = threadIdx.x; auto f = [k, o](int i) { o[k + i] = 1; }; k = 5; f(7); x[k] = 3;",
     {"o[k + i]": {"transactions": 5, "exact": True, "offset": ["7"]}, "x[k]": {**SAME, "offset": ["5"]}})
cuda("a function object with all by copy", "int k = threadIdx.x; auto f = [=](auto i) { o[k + i] = 1; return k; }; k = 5; int m = f(7); x[m] = 3; x[k + 1] = 2;",
     {"o[k + i]": {"matrix": [["1"]], "offset": ["7"]}, "x[m]": BESIDE, "x[k + 1]": {**SAME, "offset": ["6"]}})
cuda("a function object by reference", "int k = 0; auto f = [&k](int i) { k += i; }; f(threadIdx.x); o[k] = 1; [&] { x[threadIdx.x * 2] = 1; }();",
     {"o[k]": BESIDE, "x[threadIdx.x * 2]": {"transactions": 8}})
cuda("a function object that a template calls", "int m = 7; apply([=](int i) { o[i * 32 + threadIdx.x] = m; }, n); apply([&](int i) { m = i; }, n); x[m + threadIdx.x] = 1;",
     {"o[i * 32 + threadIdx.x]": {**BESIDE, "matrix": [["1", "32"]]}, "x[m + threadIdx.x]": {"approximated": True}}, before=APPLY)
cuda("a function object that counts", "int k = 2; auto f = [k]() mutable { return k++; }; for (int i = 0; i < n; i++) o[f()] = 1;", {"o[f()]": UNKNOWN})
cuda("OpenCL's name of somebody else's function", "x[step(3) * 2] = 1; x[abs(3) * 2] = 2;",
     {"x[step(3) * 2]": {"approximated": True}, "x[abs(3) * 2]": {"approximated": False}})
cuda("a function object in a method", "m.run(threadIdx.x);", {"p[i * 2]": {"transactions": 8}},
     before="struct machine { float *p; __device__ void run(int n) { auto f = [this](int i) { p[i * 2] = 1; }; f(n); } };", parameters="machine m")
cuda("a function object that gives a place", "auto f = [](float &r) -> float & { r = 2; return r; }; f(o[threadIdx.x]) = 3;",
     {"r": {**BESIDE, "write": True}, "f(o[threadIdx.x])": {**BESIDE, "write": True}})
cuda("a function object beside which its variable changes", "int k = 0; auto f = [k, x](int &r, int i) { r = i; x[k] = i; }; f(k, threadIdx.x); o[k] = 1;",
     {"o[k]": {"approximated": True}})
cuda("a function object that another one reaches", "int k = 1; auto g = [&] { k = threadIdx.x; }; auto f = [=] { g(); x[k] = 1; }; f(); x[k + 64] = 2;",
     {"x[k + 64]": {"approximated": True}})
cuda("captures behind the end of a line", "int k = threadIdx.x; auto f = [\n=]() { o[k] = 1; }; k = 5; f();", {"o[k]": {"matrix": [["1"]], "offset": ["0"]}})
cuda("a virtual call of an object of a namespace", "o[ns::inst->get()] = 1;", {"o[ns::inst->get()]": {"approximated": True}},
     before="struct base { __device__ virtual int get() { return 1; } }; namespace ns { __device__ base *inst; }")
cuda("a constructor that writes elsewhere", "two p; p.a = 5; filler f(p); o[p.a] = 1;", {"o[p.a]": {"approximated": True}},
     before="struct two { int a, b; }; struct filler { int z; __device__ filler(two &q) { q.a = threadIdx.x; z = 1; } };")
cuda("a function object of a structure", "two p; p.a = threadIdx.x; p.b = 3; auto f = [p, o] { o[p.a + p.b] = 1; }; p.a = 0; f(); x[p.a] = 2;",
     {"o[p.a + p.b]": {"matrix": [["1"]], "offset": ["3"]}, "x[p.a]": SAME}, before="struct two { int a, b; };")


def differences(found, wanted):
    return ["%s is %s instead of %s" % (key, found.get(key), value) for key, value in wanted.items() if found.get(key) != value]


def check(units, references, arrays):
    wrong = []
    for text, wanted in references.items():
        found = [r for unit in units for r in unit["references"] if r["text"] == text]
        if len(found) == 0:
            wrong.append("there is no reference %s" % text)
        for reference in found:
            wrong += ["%s: %s" % (text, what) for what in differences(reference, wanted)]
    for array, wanted in arrays.items():
        found = [a for unit in units for a in unit["arrays"] if a["name"] == array]
        if len(found) == 0:
            wrong.append("there is no array %s" % array)
        for entry in found:
            advice = entry.get("advice")
            seen = {**entry, "then": advice and advice["then"], "advice": advice and advice["layout"]}
            wrong += ["%s: %s" % (array, what) for what in differences(seen, wanted)]
    return wrong


def run(restride, folder, source):
    """What is wrong, as pairs of a case's name and a sentence."""
    path = os.path.join(folder, "case." + source.language)
    with open(path, "w") as file:
        file.write(source.text)
    done = subprocess.run([restride, "analyze", path, "--json", *WITHOUT_TOOLKIT[source.language]], capture_output=True, text=True)
    if done.returncode != 0:
        return [(source.cases[0][0], "status %d: %s" % (done.returncode, done.stderr))]
    units = json.loads(done.stdout)["units"]
    kernels = {"k%d" % i for i, entry in enumerate(source.cases) if entry[1] is not None}
    wrong = []
    for i, (name, _, references, arrays) in enumerate(source.cases):
        own = [u for u in units if u["name"] not in kernels or u["name"] == "k%d" % i]
        wrong += [(name, what) for what in check(own, references, arrays)]
    return wrong


def main():
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for source in SOURCES:
            wrong += run(sys.argv[1], folder, source)
    for name, what in wrong:
        print("FAILED: %s: %s" % (name, what))
    print("%d cases in %d sources, %d failures" % (sum(len(s.cases) for s in SOURCES), len(SOURCES), len({name for name, _ in wrong})))
    return 1 if wrong else 0


sys.exit(main())
