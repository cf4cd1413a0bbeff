#!/usr/bin/python3
"""companion.py --rewriter PROGRAM COMPILER...: kernels with both forms run on the host, byte by byte; what is kept, and where.

Each kernel of ACCEPTED must be transformed, and its second form must do what the first does. Each of REFUSED would do something
else if it were transformed: it must be kept, with the line of the `// HERE` and the words behind it.
"""
import argparse
import json
import os
import re
import subprocess
import tempfile

import random_bodies

RECORDS = """
struct Vec { float x, y, z, more[2]; __device__ float dot(const Vec &o) const { return x * o.x + y * o.y + z * o.z; } __device__ float which() { return x; } __device__ float which() const { return y; } };
struct Big { float e[5]; };
class Closed { float c[5]; public: __device__ float sum() const { return c[0] + 2 * c[4]; } };
struct Body {
    float x, y;
    int id, hits;
    Vec v;
    float w[4];
    Big big;
    Closed closed;
    unsigned low : 4, high : 12, rest : 16;
    __device__ float energy() const { return x * x + w[1] * w[1]; }
    __device__ void accelerate(float by, int k) { x += by; this->y -= by; w[k & 3] = v.x + by; low = k; closed = Closed(); }
    __device__ float by_kind() const & { return x; }
    __device__ float by_kind() && { return -x; }
    __device__ float by_const() { return y; }
    __device__ float by_const() const { return -y; }
    __device__ float and_more(float k) const { return 2 * x + k; }
    typedef int count_t;
    enum { step = 3 };
    static __device__ int change(int k) { return k + step; }
    __device__ int touched() { hits += step; count_t more = change(id) / 2; id += more; return id; }
};
__device__ inline Body operator+(const Body &l, const Body &r) { Body s = l; s.x += r.x; s.id ^= r.id; s.big.e[2] += r.w[3]; return s; }
"""

# Helpers before the kernels; each kernel gets (Body *a, const Body *b, int n) and i, one thread's element.
HELPERS = """
typedef float count_t;
enum { step = 7 };
__device__ int change(int k) { return k; }
__device__ void move(Body *q, float by) { q->x += by; q->v.y -= by; q->hits++; }
__device__ void reset(Body &r, const Body &from) { r.x = from.y; r.w[2] = from.w[from.id & 3]; }
__device__ void twice(Body *q, float by) { move(q, by); move(&q[0], by); }
__device__ void bump(float &f, int *c) { f += 2; *c += 1; }
__device__ float by_value(Body v) { v.x += 1; return v.x + v.big.e[4]; }
__device__ float by_kind(const Body &v) { return v.x; }
__device__ float by_kind(Body &&v) { return v.y; }
__device__ float and_more(const Body &v, float k) { return 2 * v.x + k; }
__device__ float read_only(const Body &v) { return v.x * v.w[v.id & 3]; }

template <class T> __device__ void exchange(T *l, T &r) { T t = *l; *l = r; r = t; }
template <class P> __device__ float first(P p, int i) { return p[i].x + p->y; }
__device__ float kinds(const Body *q, float k) { return q->x + k; }
__device__ float kinds(const Body *q, double k) { return q->x - k; }
__device__ float kinds(Body *q, int k) { q->y += k; return q->w[k]; }
template <class T> __device__ float through(const T &r) { return r.y; }
namespace deep { namespace er { __device__ int count(Body q[], int i) { return q[i].hits++; } } }
"""

ACCEPTED = {
    "members": "a[i].x = b[i].y; a[i].id += b[i].hits; a[i].w[i & 3] = b[i].v.z; a[i].big.e[2] += 1;",
    "copies": "Body t = b[i]; a[i] = t; a[i].x = t.y;",
    "auto_copies": "auto t = a[i]; a[i].x = 7; a[i].y = t.x;",
    "assigned": "Body t; t = b[i]; t.x += 1; a[i] = t; Body u = t; u = a[i]; a[i].y = u.y;",
    "between": "a[i] = b[i]; a[i] = a[i];",
    "reference": "Body &r = a[i]; r.x = 3; r.id = b[i].id; a[i].y = r.x;",
    "const_reference": "const Body &r = a[i]; a[i].x = 5; a[i].y = r.x;",
    "auto_reference": "auto &r = a[i]; const auto &c = b[i]; r.x = c.y; r.hits = r.id;",
    "member_reference": "Vec &v = a[i].v; v.x = 1; const Big &g = b[i].big; a[i].y = g.e[3]; float &f = a[i].w[2]; f += 4;",
    "pointer": "Body *q = a + i; const Body *c = &b[i]; q->x = c->y; (*q).y = (*c).x; q[0].id = 3; *q = *c;",
    "several": "Body *q = a + i, t = b[i], *r = &a[i]; q->x = t.y; r->y += q->x;",
    "loop": "if (i == 0) for (Body *q = a; q < a + n; ++q) { q->x += 1; q->hits = (int)(q - a); }",
    "backwards": "if (i == 0) { Body *q = a + n; while (q != a) { --q; q->y = (q - 0)->x; } }",
    "null": "Body *q = nullptr; if (i & 1) q = a + i; if (q) q->x = 1; if (q == nullptr) a[i].y = 2;",
    "address": "atomicAdd(&a[i].x, b[i].y); int *h = &a[i].hits; *h = *h + 1; atomicAdd(&(a + i)->id, 2);",
    "choice": "Body *q = i & 1 ? a + i : &a[i]; q->x = (i & 1 ? b[i] : a[i]).y; a[i].y = i & 2 ? b[i].x : 0;",
    "helpers": "move(a + i, 2); twice(&a[i], 1); reset(a[i], b[i]); bump(a[i].y, &a[i].hits); a[i].id = deep::er::count(a, i);",
    "values": "a[i].x = by_value(b[i]) + read_only(b[i]) + a[i].energy() + (a + i)->energy() + b[i].v.dot(a[i].v);",
    "overloads": "a[i].x = by_kind(b[i]) + by_kind(a[i]) + a[i].by_kind() + (b + i)->by_kind(); a[i].y = a[i].by_const() + b[i].by_const();",
    "const_overloads": "const Body &r = a[i]; const auto &c = a[i]; const auto *q = a + i; const Vec &v = a[i].v; auto &w = a[i].v; a[i].x = r.by_const() + 3 * c.by_const() + 5 * q->by_const(); a[i].w[1] = v.which() + 3 * w.which() + 5 * a[i].by_const();",
    "own_order": "int k = 0; a[i].x = and_more(a[i], k += 2) + b[i].and_more(++k); a[i].y = k;",
    "operators": "Body t = a[i] + b[i]; a[i] = t + b[i];",
    "templates": "Body t = b[i]; exchange(a + i, t); a[i].x += first(b, i) + first(a, i) + through(b[i]) + through(t); exchange(a + i, a[i]);",
    "bits": "a[i].low = b[i].high; auto l = a[i].high; a[i].high = 5; a[i].rest += l; a[i].high++;",
    "assignment": "auto t = (a[i] = b[i]); a[i].x += 1; a[i].y = t.x; (a[i] = t).id = 3;",
    "methods": "a[i].accelerate(b[i].x, i); Body *q = a + i; q->accelerate(2, q->touched()); a[i].hits += (*q).touched(); b[i].energy();",
    "private": "a[i].y = b[i].closed.sum(); Closed c = b[i].closed; a[i].closed = c; a[i].x = a[i].closed.sum();",
    "shared": "__shared__ Body s[4]; s[i & 3] = a[i]; s[i & 3].x += 1; a[i] = s[i & 3];",
    "comma": "int k = 0; for (Body *q = a; k < 1; k++, q++) q[i].x += k; a[i].x++, a[i].y--;",
    "conditional_text": "a[i].x = 1;\\n#if 1\\n a[i].y = b[i].x;\\n#endif\\n",
    "unread_text": "a[i].x = 1;\\n#ifdef OTHER\\n a[i].y = b[i].x; /* a */\\n#else\\n b[i].energy();\\n#endif\\n a[i].id++;",
    "overloads_copied": "a[i].x = kinds(a + i, 1) + kinds(b + i, 1.5f) + kinds(b + i, 2.5);",
    "comment": "/* sizeof(a) isn't asked */ a[i].x = sizeof(Body); // decltype(a[i]) 'a",
}

KEPT = {
    "sizeof": ("a[i].x = sizeof(*a); // HERE", "the type or the size"),
    "sizeof_in_macro": ("char buffer[BYTES(a[0])]; buffer[0] = 1; // HERE", "the type or the size"),
    "assignment_value": ("a[i].inner = a[i + 1].inner = b[i].inner; // HERE", "value of an assignment"),
    "static_variable": ("a[i].id = count(a + i); // HERE", "static variable"),
    "later_overload": ("keep = norm(a[i].w[1]); // HERE", "overload"),
    "sizeof_type": ("char buffer[sizeof a[0]]; buffer[0] = 1; // HERE", "the type or the size"),
    "decltype": ("decltype(*a) r = a[i]; r.x = 1; // HERE", "the type or the size"),
    "cast": ("float *f = (float *)a; f[i] = 1; // HERE", "cast"),
    "cast_reference": ("float f = (float &)a[i]; keep = f; // HERE", "cast"),
    "stored": ("where = a + i; // HERE", "stored in memory"),
    "stored_in_array": ("Body *list[2]; list[0] = a; keep = list[0]->x; // HERE", "pointer"),
    "array_pointer": ("float *f = a[i].w; keep = f[1]; // HERE", "array"),
    "next_member": ("float *f = &a[i].x; f[1] = 2; // HERE", "used as an array"),
    "pointer_to_pointer": ("Body **q = &a; keep = (*q)->x; // HERE", "address of a pointer"),
    "two_sources": ("Body t; Body *q = &t; if (i) q = a; keep = q->x; // HERE", "another pointer|different kinds"),
    "lambda": ("auto f = [=] { return a[i].x; }; keep = f(); // HERE", "lambda"),
    "inactive": ("a[i].x = 1;\\n#if __CUDA_ARCH__ < 200\\n keep = a[i].y; // HERE\\n#endif\\n", "conditional text"),
    "inactive_comment": ("\\n#if 1 /*\\n#if 0\\n a */ // HERE\\n#endif\\n a[i].x = 1; /* a */", "conditional text"),
    "macro_value": ("Body t = ELEMENT(i); keep = t.x; // HERE", "macro"),
    "other_argument": ("keep = more(a[i], a[i].x = 3); // HERE", "beside an element"),
    "argument_before": ("keep = more(a[i], change(a + i)); // HERE", "beside an element"),
    "argument_of_method": ("keep = a[i].more(a[i].x = 3); // HERE", "beside an element"),
    "several_copies": ("keep = less(a[i], a[change(a + i)]); // HERE", "beside an element"),
    "unknown_function": ("elsewhere(a); // HERE", "without a body"),
    "changing_method": ("a[i] += a[i]; // HERE", "method"),
    "own_copy": ("Holder h = a[i].holder; keep = h.x; // HERE", "own copy"),
    "own_assignment": ("a[i] = b[i]; // HERE", "own copy"),
    "nested_method": ("a[i].inner.change(); // HERE", "structure inside an element"),
    "outside_method": ("a[i].outside(); // HERE", "outside its class"),
    "returned": ("give(a, i)->x = 1; // HERE", "returns"),
    "from_memory": ("keep = where->x + a[i].x; // HERE", "memory holds pointers"),
    "from_memory_by_callee": ("keep = far(i) + a[i].x; // HERE", "memory holds pointers"),
    "from_memory_by_copy": ("keep = linked(a[i]); // HERE", "memory holds pointers"),
    "neighbour_of_this": ("keep = a[i].neighbour(); // HERE", "own address"),
    "inline_assembly": ("asm(\"\" :: \"l\"(a)); // HERE", "pointer"),
    "volatile_place": ("volatile Body *q = a + i; q->x = 1; // HERE", "this type is written"),
}

# A header of the toolkit, with a generator of random numbers as an element.
TOOLKIT = """
struct State { unsigned d, v[5]; float extra; };
static inline __device__ unsigned curand(State *s) { s->v[s->d % 5] += s->d; return s->d = s->d * 1664525u + 1013904223u; }
static inline __device__ void curand_init(unsigned seed, int offset, State *s) { s->d = seed + offset; s->v[0] = offset; s->extra = 0; }
static inline __device__ float toolkit_other(State *s) { return s[1].extra; }
"""

TOOLKIT_ACCEPTED = {
    "generator": "State *s = a + i; const unsigned one = curand(s); a[i].extra += one % 7 + curand(s) % 5; *s = b[i]; curand(&a[i]);",
    "seeded": "curand_init(7, i, a + i); a[i].v[2] = curand(&a[i]) ^ b[i].d;",
}

REFUSED_HEAD = """
struct Owner { int k, m[5]; Owner() = default; __device__ Owner(const Owner &o) { k = o.k; } };
struct Inner { float x[5]; __device__ void change() { x[0] = 1; } };
struct Holder { float x, y; Owner owner; };
struct Body { float x, y, w[4]; int id; Inner inner; Holder holder; __device__ void outside(); __device__ Body &operator+=(const Body &o) { x += o.x; return *this; } __device__ float more(float k) const { return x + k; } __device__ float neighbour() const { return (this + 1)->x + this[1].y; } }; // THIS
__device__ void Body::outside() { x = 1; } // OUTSIDE
__device__ float more(const Body &v, float k) { return v.x + k; }
__device__ float less(const Body &v, const Body &w) { return v.x - w.x; }
__device__ int change(Body *q) { q->x += 4; return 0; }
__device__ float keep;
__device__ Body *where;
__device__ float far(int k) { return where[k].x; } // FAR
__device__ float linked(const Body &v) { return v.x + where->x; } // LINKED
__device__ void elsewhere(Body *q);
__device__ Body *give(Body *q, int i) { return q + i; } // RETURNS
#define ELEMENT(i) a[i]
__device__ float norm(double d) { return d + 1; }
#define SIZE(place) sizeof(place)
#define BYTES(place) (SIZE(place) + 1)
__device__ int count(Body *q) { __shared__ int calls; return calls += q->id; } // RETURNS
"""

SHIM = """
#include <cstdio>
#include <cstdlib>
#include <cstring>
#define __global__
#define __device__
#define __host__
#define __shared__ static
struct Index { unsigned x, y, z; };
static Index threadIdx, blockIdx, blockDim = {32, 1, 1}, gridDim = {1, 1, 1};
template <class T> static T atomicAdd(T *p, T v) { T old = *p; *p += v; return old; }
"""

DRIVER = """
static unsigned long long state = %(seed)d;
static unsigned next() { state = state * 6364136223846793005ull + 1442695040888963407ull; return (unsigned)(state >> 40); }
static Body draw() {
    Body b;
    memset(&b, 0, sizeof b);
    %(draw)s
    return b;
}
template <class F> struct Array {
    int n;
    unsigned char *bytes;
    Array(const Body *from, int count) : n(count), bytes((unsigned char *)calloc(n + 64, sizeof(Body))) {
        for (int i = 0; i < n; i++) pointer()[i] = from[i];
    }
    ~Array() { free(bytes); }
    restride_pointer<Body, F> pointer() { return restride_pointer<Body, F>((Body *)bytes, extent()); }
    restride_extent extent() const { return restride_extent{n, 0}; }
    bool equals(const Body *other) {
        for (int i = 0; i < n; i++) { Body one = pointer()[i].get(); if (memcmp(&one, other + i, sizeof one)) return false; }
        return true;
    }
};
template <class F, class Original, class Second> static int compare(const char *name, int n, Original original, Second second) {
    Body *a = new Body[n], *b = new Body[n];
    for (int i = 0; i < n; i++) { a[i] = draw(); b[i] = draw(); }
    Array<F> x(a, n), y(b, n);
    for (int t = 0; t < n; t++) { threadIdx.x = t %% 32; blockIdx.x = t / 32; original(a, b, n); }
    for (int t = 0; t < n; t++) { threadIdx.x = t %% 32; blockIdx.x = t / 32; second((Body *)x.bytes, (const Body *)y.bytes, n, x.extent(), y.extent()); }
    const int wrong = !x.equals(a) || !y.equals(b);
    if (wrong) printf("%%s: another result for %%d elements\\n", name, n);
    delete[] a;
    delete[] b;
    return wrong;
}
int main() {
    int wrong = 0;
    %(calls)s
    return wrong;
}
"""


def kernel(name, body):
    return "__global__ void k_%s(Body *a = nullptr, const Body *b = nullptr, int n = 1 + (2, 3))\n{\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i >= n) return;\n    %s\n}\n" % (
        name, body.replace("\\n", "\n"))


def rewrite(program, path, layout="i/32 f i%32", options=()):
    command = [program, path, "--json", "--layout", "a: " + layout, "--layout", "b: " + layout, "--", *options]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise SystemExit("%s: %s" % (path, answer.stderr))
    reply = json.loads(answer.stdout)
    if "kernels" not in reply:
        raise SystemExit("%s: %s" % (path, reply))
    return reply


def arguments(reply):
    return {"%s.%s" % (k["name"], a["name"]): a for k in reply["kernels"] for a in k["arguments"]}


DRAW = """b.x = next() % 100; b.y = next() % 100; b.id = next() % 64; b.hits = next() % 64;
    b.v = Vec{float(next() % 10), float(next() % 10), float(next() % 10), {}};
    for (float &f : b.w) f = next() % 100;
    for (float &f : b.big.e) f = next() % 100;
    for (int i = 0; i < 5; i++) { float f = next() % 100; memcpy((char *)&b.closed + 4 * i, &f, 4); }
    b.low = next(); b.high = next(); b.rest = next();"""


def run(reply, names, compiler, folder, record="Body", draw=DRAW):
    calls = []
    for name in names:
        for form, n in (("full", 128), ("ragged", 100), ("ragged_large", 33), ("full_large", 64)):
            calls.append('wrong |= compare<restride_%s>("%s", %d, k_%s, k_%s__asta<restride_%s>);' % (form, name, n, name, name, form))
    program, path = os.path.join(folder, "both"), os.path.join(folder, "both.cpp")
    with open(path, "w", encoding="utf-8") as file:
        driver = DRIVER.replace("Body", record) % {"seed": 7, "draw": draw, "calls": "\n    ".join(calls)}
        file.write(SHIM + reply["source"] + "\n" + driver)
    subprocess.run([compiler, "-I" + folder, "-std=c++14", "-O1", "-w", "-fno-strict-aliasing", "-ffp-contract=off", path, "-o", program], check=True)
    answer = subprocess.run([program], capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        raise SystemExit("%s: %s%s" % (compiler, answer.stdout, answer.stderr))


def check_unread(compiler, folder):
    """Text that was not read holds with other macros: the second form must not be compiled."""
    command = [compiler, "-I" + folder, "-std=c++14", "-w", "-DOTHER", "-fsyntax-only", os.path.join(folder, "both.cpp")]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    if answer.returncode == 0 or answer.stderr.count("error:") != 1 or "make it again" not in answer.stderr:
        raise SystemExit("%s: compiles a second form with other macros: %s" % (compiler, answer.stderr))


def check_accepted(program, compilers, folder):
    path = os.path.join(folder, "accepted.cu")
    source = RECORDS + HELPERS + "".join(kernel(name, body) for name, body in ACCEPTED.items())
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    for k, layout in enumerate(("i/32 f i%32", "f i", "i/8 f i%8")):
        reply = rewrite(program, path, layout)
        found = arguments(reply)
        kept = [one for one in found.items() if one[1]["status"] != "transformed"]
        if kept:
            raise SystemExit("\n".join("%s: kept: line %s: %s" % (name, one["line"], one["reason"]) for name, one in kept))
        at = iter(reply["source"])
        if not all(letter in at for letter in source):
            raise SystemExit("the companion is not the original with insertions")
        # All compilers have the first layout, and take turns with the others.
        for compiler in compilers if k == 0 else [compilers[k % len(compilers)]]:
            run(reply, list(ACCEPTED), compiler, folder)
            check_unread(compiler, folder)
    print("%d kernels agree in 3 layouts, 4 forms each" % len(ACCEPTED))


def check_toolkit(program, compilers, folder):
    path = os.path.join(folder, "toolkit.cu")
    with open(os.path.join(folder, "generator.h"), "w", encoding="utf-8") as file:
        file.write(TOOLKIT)
    bodies = dict(TOOLKIT_ACCEPTED, other="a[i].extra = toolkit_other(a + i);")
    with open(path, "w", encoding="utf-8") as file:
        file.write("#include <generator.h>\n" + "".join(kernel(*one) for one in bodies.items()).replace("Body", "State"))
    reply = rewrite(program, path, options=["-isystem", folder])
    found = arguments(reply)
    if [name for name, one in found.items() if (one["status"] == "transformed") != (name != "k_other.a")]:
        raise SystemExit("toolkit: %s" % found)
    for compiler in compilers:
        run(reply, list(TOOLKIT_ACCEPTED), compiler, folder, "State", "for (unsigned &v : b.v) v = next(); b.d = next(); b.extra = 1;")
    print("%d kernels agree that give elements to the toolkit" % len(TOOLKIT_ACCEPTED))


def check_random(program, compilers, folder, seed, count):
    """What is kept is told; all else must agree."""
    path = os.path.join(folder, "random.cu")
    kernels = {"%d" % (seed + i): random_bodies.Body(seed + i).text() for i in range(count)}
    with open(path, "w", encoding="utf-8") as file:
        file.write(RECORDS + HELPERS + "".join(kernel(*one) for one in kernels.items()))
    reply = rewrite(program, path)
    found = arguments(reply)
    names = [name for name in kernels if all(found["k_%s.%s" % (name, which)]["status"] == "transformed" for which in "ab")]
    for compiler in compilers:
        run(reply, names, compiler, folder)
    reasons = {one["reason"] for one in found.values() if one["status"] == "kept"}
    print("%d of %d random kernels from %d on agree; kept: %s" % (len(names), count, seed, "; ".join(sorted(reasons)) or "none"))
    if 2 * len(names) < count:
        raise SystemExit("too few random kernels are transformed")


# Where the reason lies in REFUSED_HEAD, by the comment of its line; else it is the line of the kernel with HERE.
REASON_IN_HEAD = {"returned": "RETURNS", "static_variable": "RETURNS", "outside_method": "OUTSIDE", "from_memory_by_callee": "// FAR",
                  "from_memory_by_copy": "// LINKED", "neighbour_of_this": "// THIS"}


def check_refused(program, folder):
    """All in one source; what follows a kernel there concerns it alone."""
    path, wrong = os.path.join(folder, "refused.cu"), []
    source, first = REFUSED_HEAD, {}
    for name, (body, _) in sorted(KEPT.items(), key=lambda one: one[0] == "later_overload"):
        first[name] = source.count("\n")
        source += kernel(name, body)
    source += "__device__ float norm(float f) { return f; }\n"
    lines = source.splitlines()
    with open(path, "w", encoding="utf-8") as file:
        file.write(source)
    found = arguments(rewrite(program, path, options=["--cuda-path="]))  # a toolkit takes longer to read than all the rest
    for name, (body, words) in KEPT.items():
        one, size = found["k_" + name + ".a"], kernel(name, body).count("\n")
        mark = REASON_IN_HEAD.get(name)
        allowed = [i for i in range(first[name], first[name] + size) if "// HERE" in lines[i]]
        allowed += [i for i in range(len(REFUSED_HEAD.splitlines())) if mark is not None and mark in lines[i]]
        if one["status"] != "kept" or one["line"] - 1 not in allowed or not re.search(words, one["reason"]):
            wrong.append("%s: %s" % (name, one))
    if wrong:
        raise SystemExit("\n".join(wrong))
    print("%d kernels are kept, each with its line" % len(KEPT))


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--rewriter", required=True)
    options.add_argument("--random", type=int, default=30, help="so many random kernels")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("compilers", nargs="*")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        check_refused(given.rewriter, folder)
        compilers = [c for c in given.compilers if "NOTFOUND" not in c]
        check_toolkit(given.rewriter, compilers, folder)
        check_random(given.rewriter, compilers, folder, given.seed, given.random)
        check_accepted(given.rewriter, compilers, folder)


if __name__ == "__main__":
    main()
