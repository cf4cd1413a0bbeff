#!/usr/bin/python3
"""behaviours.py --rewriter PROGRAM COMPILER...: forms of C++ that kernels have; both forms run on the host and give the same bytes.

Each case is (title, what stands before, the element, the body): a kernel gets (T *a, const T *b, int n) and i. Those of KEPT_CASES are
not understood, or not wholly: each says the words of its reason.
"""
import argparse
import os
import re
import subprocess
import tempfile

from companion import SHIM, arguments, rewrite

RECORDS = """
struct P { float x, y, z; int id; unsigned int next; };
struct M { char c; short s; double d; int i; unsigned char t; };
struct In { short a; unsigned char b; };
struct N { float w; In in; In many[2]; float v[2][3]; unsigned int next; };
struct V { float4 q; float2 r; float3 s; int k; long long l; };
typedef struct { bool t, u; short s; int k; } L;
"""

CASES = [
    ("members", "",
     "P", "a[i].x = b[i].y + 1; (a + i)->id += 3; (i + a)->z = (*(b + i)).z;"),
    ("whole structures", "",
     "P", "P s = b[i]; s.x += 1; a[i] = s; s = b[n - 1 - i]; a[i].id = s.id;"),
    ("constructors", "",
     "P", "P s(b[i]); const P t = {b[i]}; P u[2] = {a[i], b[i]}; a[i].x = s.x + t.y + u[1].z + u[0].x;"),
    ("sides of an assignment", "",
     "P", "int j = i; if (i + 1 == n) return; a[j++] = b[j]; P s = b[j]; P *p = a + i, *q = p; *q++ = *q; a[j] = b[j = i]; p->id += j;"),
    ("lists of values", "",
     "P", "a[i] = {1, 2, 3, i, 5}; if (b[i].id & 1) a[i] = {};"),
    ("vectors from lists", "",
     "V", "a[i].q = {0, 1, 2, 3}; a[i].r = {b[i].r.y, 2};"),
    ("conversions of a structure's own", """struct W { float x; int y; __device__ operator float() const { return x; } };
""",
     "W", "a[i] = b[i]; W s = b[i]; s.y = (int)s + 1; a[n - 1 - i] = s;"),
    ("conversions to any type", """struct W { float x; int y; template <class T> __device__ operator T() const { return T(y); } };
""",
     "W", "W s = b[i]; s.y++; a[i] = s; a[i].x += (a[i] = b[n - 1 - i]).y;"),
    ("operators of the compiler's own", """struct W { float x; int y; W &operator=(const W &) = default; ~W() = default; };
template <class T> struct X : W { };
""",
     "W", "W s; s = b[i]; s.y++; a[i] = s; X<int> t; t = X<int>(); t.y = i; a[n - 1 - i] = t;"),
    ("operators for other types", """template <class T> struct W { T x; int y; W() = default; template <class U> __device__ W(const W<U> &o) : x(o.x), y(7) {} template <class U> __device__ W &operator=(const W<U> &o) { y = 7; return *this; } __device__ W &operator=(float v) { x = v; return *this; } __device__ W &operator=(const float *v) { y = 7; return *this; } };
typedef W<float> F;
""",
     "F", "F s = b[i]; s.y++; a[i] = s; F t; t = b[n - 1 - i]; F u(t); u = 4.f; W<int> w(u); a[i].x = u.x + w.y; a[i].y += t.y;"),
    ("no operator at all", """struct W { float x; int y; W &operator=(const W &) = delete; };
""",
     "W", "W s = b[i]; a[i].x += s.y; a[i].y = s.x;"),
    ("assignment as a value", "",
     "P", "P s; s = a[i] = b[i]; a[i].next = (a[i] = s).id;"),
    ("values of places", "",
     "P", "a[i].x = a[i].y = b[i].z; int k = a[i].id += 3; if (a[i].id = k) a[i].next = ++a[i].id + a[i].next--; a[i].z = (a[i].x += 1, b[i].id & 1 ? a[i].y : b[i].x); (void)b[i].x; a[i].z += ({ a[i].y = 2; b[i].z; }); for (int j = 0; j < 3; a[i].id += j, ++j) ++a[i].next; float t{b[i].x}; P w[2] = {{t, a[i].x}, b[i]}; a[i] = P{w[1].x, b[i].y, w[0].y};"),
    ("values of pointers", "",
     "P", "P *q; (q = a + i)->x = 3; const P *r; r = q = a, r += i, ++q; P *w = q; w += i; --w; w->y = r->x + (b[i].id & 1 ? r : b + i == r ? r : w)->z + sizeof q; a[i].id = b[i].id;"),
    ("parts in any order", """__device__ int opposite(int k) { const int to[2][3] = {{0}, {2, 1, 0}}; return to[1][k]; }
__device__ int taken;
""",
     "N", "int p[3] = {2, 1, 0}, j = 0, k = i % 3; taken = i; a[i].v[0][p[j++]] = 3; a[atomicAdd(&taken, 0)].v[1][opposite(k)] += b[i].v[0][j++]; N *q = a + i; (q++)->v[1][k] = j; a[i].w = b[i].v[1][(j += 1) % 3] + (float)(q - a);"),
    ("kinds of char", """struct W { signed char c; char d; int k; };
__device__ int kind(char) { return 1; }
__device__ int kind(signed char) { return 2; }
""",
     "W", "a[i].k = kind(b[i].c) + 10 * kind(b[i].d); a[i].c = b[i].d; W t = b[n - 1 - i]; a[i].d = t.c;"),
    ("mixed", "",
     "M", "a[i].d = b[i].i + b[i].s; a[i].t++; a[i] = b[n - 1 - i]; a[i].c ^= 1;"),
    ("nested", "",
     "N", "for (int j = 0; j < 2; j++) for (int k = 0; k < 3; k++) a[i].v[j][k] += b[i].v[1 - j][2 - k]; In t = b[i].in; a[i].many[i % 2] = t; a[i].in = a[i].many[1]; a[i].in.b++;"),
    ("vectors", "",
     "V", "float4 q = b[i].q; q.x += 1; a[i].q = q; a[i].r = make_float2(b[i].r.y, q.z); a[i].s.y = fmaxf(b[i].s.x, 2.f); float3 s; s = b[i].s; a[i].s = s; a[i].l += a[i].k;"),
    ("bools", "",
     "L", "a[i].t = !b[i].u; a[i].u = b[i].k > 3; L s = b[i]; s.k = i; a[i] = s;"),
    ("pointers", "",
     "P", "decltype(a) q = a; q += i; q->x = 4; const P *r = i % 2 ? b + i : &b[i]; q->y = r->y; for (const P *e = b; e != b + n; e++) q->z += e->x; P *z = nullptr; if (z == nullptr) z = a; (z + i)->id++;"),
    ("parameters with brackets", """__device__ float last(const P p[], int k) { p += k; return p[0].y + (p)->z; }
""",
     "P", "P *q = a; q[i].x = b[i].y; (a + i)->id++; a += i; a->z = last(b, i); const P *r; r = b; *a = (r)[i];"),
    ("helpers", """__device__ void kick(P *p, int k) { p[k].id += 2; p->next++; }
__device__ __forceinline__ float second(const P *p) { static const int k[2] = {3, 0}; return p->y + k[1]; }
__device__ P whole(const P *p, int k) { return p[k]; }
""",
     "P", "kick(a + i, 0); kick(&a[i], 0); a[i].x = second(b + i); P s = whole(b, i); a[i].z = s.z + whole(a, i).x;"),
    ("values to functions", """__device__ float sum(P p) { p.x += 1; return p.x + p.y; }
__device__ float same(const float &x) { return x; }
template <class T> __device__ T twice(T t) { return t + t; }
""",
     "P", "a[i].z = sum(b[i]) + sum(a[i]) + twice(b[i].y) + static_cast<float>(b[i].id) + float(b[i].id);"),
    ("atomics", "",
     "P", "atomicAdd(&a[i].id, 2); atomicMax(&(a + i)->next, 7u); a[i].x = __ldg(&b[i].y);"),
    ("members alike", """struct F { float v[4]; float w; };
""",
     "F", "float *q = a[i].v; for (int k = 0; k < 5; k++) q[k] += b[i].v[k % 4];"),
    ("pointers to nested structures", """__device__ void touch(In *q) { q->a += 3; q->b ^= 1; }
__device__ In whole(const In *q) { return *q; }
""",
     "N", "touch(&a[i].in); touch(a[i].many); In *q = &a[i].many[1]; *q = whole(&b[i].in); q->b++; a[i].in = q[-1];"),
    ("constant members", """struct C { const int a; float b; bool c; };
""",
     "C", "C t = b[i]; C u(a[i]); a[i].b = t.a + t.b + t.c - u.a;"),
    ("no default constructor", """struct D { float x; double y; D() = delete; };
""",
     "D", "D t = b[i]; t.x++; a[i] = t; a[i].y += (a[i] = b[i]).x;"),
    ("names of parameters", """struct p { float x; double y; };
""",
     "p", "p t = b[i]; t.x++; a[i] = t;"),
    ("names of structures", """struct Q { float x; double y; };
typedef struct Q T;
int Q(int k) { return k; }
""",
     "T", "auto [x, T] = b[i]; auto *q = a + i; { enum { Q = 3 }; q->x = x + T + Q; } a[n - 1 - i].y++; a[i] = b[i]; goto Q; q->x = 1; Q: q->y++;"),
    ("namespaces without a name", """namespace { struct S { float x; double y; }; }
""",
     "S", "S t = b[i]; auto *q = a + i; q->x = t.y; a[i].y = t.x; a[i] = b[i];"),
    ("structures of templates", """template <class T> class W { public: T x; int y; struct In { T a; short b; } in; };
typedef W<float> F;
""",
     "F", "auto t = b[i].in; t.b++; int In = i; auto *q = a; q += In; q->in = t; q->x = b[i].y; a[i].in.a++;"),
    ("constants as arguments of templates", """enum Order { ROWS, COLS };
enum { DIM = 3 };
__device__ int whole;
template <Order o, int *p, int n> struct W { float x; int y; };
typedef W<COLS, &whole, DIM> F;
""",
     "F", "F t = b[i]; t.y++; a[i] = t; auto *q = a + i; q->x += b[n - 1 - i].y;"),
    ("templates that a template is derived from", """template <class T> struct None { None &operator=(const None &) = default; };
template <class T> struct Tag : None<T> { __device__ int tag() const { return 3; } };
template <class T> struct W : Tag<T> { T x; int y; };
typedef W<float> F;
""",
     "F", "F t = b[i]; t.y += t.tag(); a[i] = t; a[i].x += 1;"),
    ("templates that are defined behind a call", """struct E { float x, y, z; int id; };
struct Other { int k; };
template <class T> __device__ float deep(int k, const T *p);
__device__ float middle(const E *p, int k) { return deep(k, p); }
template <class T> __device__ float deep(int j, const T *q) { return q[j].x + q->id; }
template <class G> __device__ float far(int k, Other o, G g);
template <class G> __device__ float calls(int k, G g) { return far(k, 3, g); }
template <class G> __device__ float far(int k, int o, G g) { return g[k].y * o; }
""",
     "E", "a[i].z = middle(a + i, 0) + middle(b, i) + calls(i, b);"),
    ("explicit specialisations", """template <class T> struct W { T x; int y; W() = default; W(const W &o) : x(o.x), y(5) {} };
template <> struct W<float> { float x; int y; };
typedef W<float> F;
""",
     "F", "F t = b[i]; t.y++; a[i] = t;"),
    ("operators for variables beside those for constants", """struct B { int k; B &operator=(B &) = default; B &operator=(const B &) = default; };
struct W { B b; float x; };
""",
     "W", "W t = b[i]; t.b.k++; a[i] = t; B u = b[n - 1 - i].b; a[i].b = u;"),
    ("names of other functions, and inside of what a namespace has", """template <class T> struct W { T x; int y; };
typedef W<float> F;
namespace Space { struct Z { int F, W; Z(int W) : F(W) {} void f(int W); struct F { int k; }; }; __device__ int g(int W) { return W; } }
using namespace Space;
__device__ int h(int W, int F) { int i = W; return i + F; }
""",
     "F", "F t = b[i]; t.y += h(1, g(2)); a[i] = t; auto *q = a + i; q->x += 1;"),
    ("functions that templates become", """template <class T> struct W { T v; __device__ float g(const T &o) { const T *t = &o, *u = t; return u->x; } };
""",
     "P", "W<P> w; P *q = a + i; q->x = w.g(P{1, 2, 3, 4, 5}) + b[i].y;"),
    ("conditions between structures", "",
     "P", "P t = i & 1 ? b[i] : b[n - 1 - i]; a[i] = b[i].id & 1 ? t : b[i]; const P u = i & 2 ? t : a[i]; t = u.id & 1 ? a[i] : P{1, 2, 3, 4, 5}; a[i].x += (i % 3 ? b[i] : u).y + t.z;"),
    ("copies that are said to be the compiler's", """struct W { float x; int y; W() = default; __host__ __device__ W(const W &) = default; W(W &&) = default; W &operator=(const W &) = default; __device__ W &operator=(W &&) = default; ~W() = default; };
struct X { W w; double d; };
""",
     "X", "X t = b[i]; W u = t.w; u.y++; t.w = u; a[i] = t; a[i].w = b[n - 1 - i].w; t = X(b[i]); a[i].d += t.w.x;"),
    ("enumerations", """enum Kind { GAS, LIQUID = 7, SOLID };
enum class State : unsigned char { ON, OFF };
namespace Space { enum Sort { LOW, HIGH }; typedef enum { SHORT, LONG } Length; }
template <class T> struct Of { enum Mode { FAST, SLOW }; T t; Mode mode; };
struct W { Kind kind; State state[2]; Space::Sort sort; Space::Length length; Of<int> of; };
__device__ Kind next(Kind k) { return k == GAS ? LIQUID : SOLID; }
""",
     "W", "a[i].kind = next(b[i].kind); if (b[i].kind == SOLID) a[i].state[i & 1] = State::OFF; switch (a[i].sort) { case Space::LOW: a[i].sort = Space::HIGH; break; default: a[i].of.t += a[i].kind + 1; } W t = b[n - 1 - i]; t.length = Space::LONG; if (i % 3) a[i] = t; Of<int> *o = &a[i].of; o->mode = Of<int>::SLOW; auto k = a[i].state[0]; a[i].state[1] = k;"),
    ("pointers to enumerations", """enum Kind { GAS, LIQUID };
struct W { Kind kinds[3]; Kind k; };
""",
     "W", "Kind *k = a[i].kinds; for (int j = 0; j < 3; j++) k[j] = b[i].kinds[j] == GAS ? LIQUID : b[i].k; const Kind *l = &b[i].k; a[i].k = __ldg(l); *k = *l; a[i].kinds[1] = __ldg(&b[i].kinds[0]);"),
    ("structures of members alike as arrays of them", "",
     "P", "float *q = (float *)(a + i); q[1] = q[0] + 2; q++; *q += ((const float *)b)[5 * i + 2]; ((int *)a)[5 * i + 3] = b[i].id; unsigned int *k = (unsigned int *)&a[i].x + 4; *k ^= 1; atomicAdd((int *)(a + i) + 3, 2);"),
    ("designated values", """struct W { In in; float x; };
""",
     "W", "W t = {.in = b[i].in, .x = b[i].x + 1}; a[i] = t; In u = {.a = a[i].in.a, .b = 7}; a[i].in = u;"),
    ("indices of another type", """struct T { unsigned int x; signed char y; };
""",
     "T", "const unsigned long k = i; a[k].x = b[k].y; a[k].y++;"),
    ("long padding", """struct alignas(128) A { double x; int y; };
""",
     "A", "A t = b[i]; t.x++; a[i] = t;"),
    ("private members", """class G { float x; int y; friend __global__ void KERNEL(G *, const G *, int); };
""",
     "G", "G t = b[i]; t.x++; a[i] = t; a[i].y += b[i].y;"),
    ("macros and control flow", """#define AT(p, k) ((p)[(k)])
""",
     "P", "switch (b[i].id & 3) { case 0: AT(a, i).x = 1; break; case 1: AT(a, i).y = AT(b, i).x; default: a[i].z = 2; } do { a[i].id++; } while (a[i].id % 4);"),
]

KEPT_CASES = {
    "assignment as a value": "value of an assignment",
    "values of places": "a statement's value",
    "values of pointers": "type or the size",
    "pointers": "type or the size",
    "parameters with brackets": "goes where it is not followed",
    "members alike": "an array is used as a pointer",
    "pointers to nested structures": "an array is used as a pointer",
    "names of structures": "not understood",
    "templates that a template is derived from": "base that is not declared",
    "conditions between structures": r"\?: chooses",
    "pointers to enumerations": "an array is used as a pointer",
    "structures of members alike as arrays of them": "is cast",
    "designated values": "goes where it is not followed",
    "private members": "private member",
}

# Clang before 15 calls a class with two defaulted assignments not trivially copyable.
NOT_BY_OLD_CLANG = "operators for variables beside those for constants"

WORDS = """
#include <cmath>
#include <cstdint>
#include <initializer_list>
typedef unsigned char uchar;
struct alignas(8) float2 { float x, y; };
struct float3 { float x, y, z; };
struct alignas(16) float4 { float x, y, z, w; };
static inline float2 make_float2(float x, float y) { return float2{x, y}; }
template <class T> static T atomicMax(T *p, T v) { T old = *p; if (v > old) *p = v; return old; }
template <class T> static T __ldg(const T *p) { return *p; }
#define __forceinline__ inline
"""

DRIVER = """
static unsigned long long state = 7;
static unsigned next_word() { state = state * 6364136223846793005ull + 1442695040888963407ull; return (unsigned)(state >> 40); }
template <class T, class F> struct Filled {
    int n;
    unsigned char *bytes;
    Filled(const unsigned char *from, int count) : n(count), bytes((unsigned char *)calloc(n + 64, sizeof(T))) {
        for (int i = 0; i < n; i++) pointer()[i].restride_set(((const T *)from)[i]);
    }
    restride_pointer<T, F> pointer() { return restride_pointer<T, F>((T *)bytes, extent()); }
    restride_extent extent() const { return restride_extent{n, 0}; }
};
template <class T, class F, class Original, class Second> static int compare(const char *title, int n, bool is_bits, Original original, Second second) {
    unsigned char *a = (unsigned char *)calloc(n + 64, sizeof(T)), *b = (unsigned char *)calloc(n + 64, sizeof(T));
    for (unsigned char *to : {a, b})
        for (size_t k = 0; k < n * sizeof(T); k += 4) {
            unsigned word = is_bits ? next_word() & 0x01010101u : 0x3f800000u + (next_word() >> 2);
            memcpy(to + k, &word, n * sizeof(T) - k < 4 ? n * sizeof(T) - k : 4);
        }
    Filled<T, F> x(a, n), y(b, n);
    for (int t = 0; t < n; t++) { threadIdx.x = t % 32; blockIdx.x = t / 32; original((T *)a, (const T *)b, n); }
    for (int t = 0; t < n; t++) { threadIdx.x = t % 32; blockIdx.x = t / 32; second((T *)x.bytes, (const T *)y.bytes, n, x.extent(), y.extent()); }
    Filled<T, F> expected(a, n);
    const bool same = memcmp(expected.bytes, x.bytes, (n + 64) * sizeof(T)) == 0;
    if (!same) printf("%s: another result for %d elements\\n", title, n);
    free(a); free(b); free(x.bytes); free(y.bytes); free(expected.bytes);
    return !same;
}
"""


def text(number, case):
    title, before, record, body = case
    return "namespace case_%d {\n%s__global__ void k%d(%s *a, const %s *b, int n)\n{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; %s }\n}\n" % (
        number, before.replace("KERNEL", "k%d" % number), number, record, record, body)


def run(source, numbers, compiler, folder):
    calls = []
    for number in numbers:
        if "clang" in compiler and CASES[number][0] == NOT_BY_OLD_CLANG:
            continue
        title, _, record, _ = CASES[number]
        record = record if record in "PMNVL" else "case_%d::%s" % (number, record)
        bits = "true" if re.search("bool|enum", title + CASES[number][1]) else "false"
        for form, n in (("full", 64), ("ragged", 37), ("ragged_large", 33)):
            calls.append('wrong |= compare<%s, restride_%s>("%s", %d, %s, case_%d::k%d, case_%d::k%d__asta<restride_%s>);' % (
                record, form, title, n, bits, number, number, number, number, form))
    path, program = os.path.join(folder, "both.cpp"), os.path.join(folder, "both")
    with open(path, "w", encoding="utf-8") as file:
        file.write(SHIM + WORDS + source + DRIVER + "int main() {\n    int wrong = 0;\n    %s\n    return wrong;\n}\n" % "\n    ".join(calls))
    subprocess.run([compiler, "-std=c++17", "-O1", "-w", "-fno-strict-aliasing", "-ffp-contract=off", path, "-o", program], check=True)
    answer = subprocess.run([program], capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise SystemExit("%s: %s%s" % (compiler, answer.stdout, answer.stderr))


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--rewriter", required=True)
    options.add_argument("compilers", nargs="*")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cases.cu")
        with open(path, "w", encoding="utf-8") as file:
            file.write(RECORDS + "".join(text(*one) for one in enumerate(CASES)))
        reply = rewrite(given.rewriter, path, options=["--cuda-path=", "-std=c++17"])
        found, wrong, numbers = arguments(reply), [], []
        for number, case in enumerate(CASES):
            both = [found["k%d.%s" % (number, name)] for name in "ab"]
            kept = [one["reason"] for one in both if one["status"] != "transformed"]
            if not kept:
                numbers.append(number)
            if case[0] in KEPT_CASES and not re.search(KEPT_CASES[case[0]], " ".join(kept)) or case[0] not in KEPT_CASES and kept:
                wrong.append("%s: %s" % (case[0], kept))
        if wrong:
            raise SystemExit("\n".join(wrong))
        for compiler in given.compilers:
            if "NOTFOUND" not in compiler:
                run(reply["source"], numbers, compiler, folder)
        print("%d kernels agree, %d are kept" % (len(numbers), len(CASES) - len(numbers)))


if __name__ == "__main__":
    main()
