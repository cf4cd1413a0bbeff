#!/usr/bin/env python3
"""Accessors of random records against the records themselves.

accessors.py --writer PROGRAM [--seed N] [--programs N] [--run] COMPILER... makes C++ programs. Each has random records
and statements on all their members; the statements run on an array of structures and, as a second form would have them,
through restride_pointer on an array in another layout. Then every byte must agree, that of padding and around the array
too. A compiler called nvcc compiles kernels; with --run they are run on its card.
"""
import argparse, json, os, random, subprocess, sys, tempfile

SCALARS = [("char", "number"), ("unsigned char", "number"), ("short", "number"), ("unsigned short", "number"),
           ("int", "atomic"), ("unsigned", "atomic"), ("long long", "number"), ("unsigned long long", "atomic"),
           ("float", "atomic"), ("double", "number"), ("float", "atomic"), ("float", "atomic"), ("bool", "bool"),
           ("Kind", "enum"), ("int *", "address"), ("float2", "vector"), ("float3", "vector"), ("float4", "vector"),
           ("int4", "vector"), ("double2", "vector"), ("Small", "whole"), ("Either", "whole"),
           ("const int *", "address")]

COMMON = """enum Kind : int { some, other };
struct Small { float a; short b, c; };
union Either { float f[3]; int i; };
struct alignas(8) Base { int base; float weight; };
"""

HOST = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef __CUDACC__
#define __global__
#define __device__
#define __host__
struct alignas(8) float2 { float x, y; };
struct float3 { float x, y, z; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(16) double2 { double x, y; };
template <class T> T atomicAdd(T *p, T v) { T old = *p; *p += v; return old; }
#endif
template <class T> __host__ __device__ inline void bump(T &v) { v = (T)(v + 3); }
template <class T> __host__ __device__ inline T read(const T &v) { return v; }
template <class T> __device__ inline void add(T *p, T v) { atomicAdd(p, v); }
struct Leaf { size_t at, size; int padding; };
static uint64_t state = 1;
static unsigned char next_byte() { state = state * 6364136223846793005ull + 1442695040888963407ull; return (state >> 40) & 1; }
/* Where a leaf lies: the definition of the layouts, not what the accessors compute. */
static size_t place(size_t n, size_t S, size_t T, size_t G, size_t i, const Leaf &l) {
    if (T == 0) T = n;
    const size_t tile = i / (T * G) * (T * G), span = G > 1 ? T : n - tile < T ? n - tile : T;
    return (tile + i % G * T) * S + l.at * span + (i - tile) / G * l.size;
}
enum { EDGE = 64 };
static unsigned char *take(size_t bytes) {
    unsigned char *p;
#ifdef __CUDACC__
    if (cudaMallocManaged(&p, bytes + 2 * EDGE) != cudaSuccess) exit(77);
#else
    p = (unsigned char *)aligned_alloc(64, (bytes + 2 * EDGE + 63) / 64 * 64);
#endif
    memset(p, 0x5a, bytes + 2 * EDGE);
    return p + EDGE;
}
static void give(unsigned char *p) {
#ifdef __CUDACC__
    cudaFree(p - EDGE);
#else
    free(p - EDGE);
#endif
}
static void check(bool right, const char *name, const char *form, size_t n, size_t i, size_t at) {
    if (!right) { printf("%s, %s: element %zu of %zu, byte %zu differs\n", name, form, i, n, at); exit(1); }
}
"""


class Record:
    """Definitions, and paths from an element to members with what they are."""

    def __init__(self, pick, number):
        self.pick, self.names, self.paths = pick, 0, []
        self.inner = f"n{number}"
        base = pick.random() < 0.15
        template = not base and pick.random() < 0.15
        anonymous = pick.random() < 0.2
        self.private = not base and pick.random() < 0.15
        body = self.members("", 0)
        if base:
            self.paths += [("base", "int", "atomic"), ("weight", "float", "atomic")]
        if template:
            body = "  T first;\n" + body
            self.paths.append(("first", "float", "atomic"))
        head = ("template <class T> " if template else "") + "struct Body" + (" : Base" if base else "") + " {\n"
        if self.private:
            body += "private:\n  int hidden;\n"
        self.space = "namespace {" if anonymous else f"namespace s{number} {{"
        self.head, self.body = head, body
        self.name = ("" if anonymous else f"s{number}::") + ("Body<float>" if template else "Body")
        self.anonymous = anonymous
        self.number = number
        self.unique = f"Body{number}" if anonymous else "Body"
        self.head = self.head.replace("struct Body", "struct " + self.unique)
        self.name = self.name.replace("Body", self.unique)

    def definition(self, friends=""):
        return self.head + ("  " + friends + "\n" if friends else "") + self.body + "};\n"

    def new_name(self):
        self.names += 1
        return f"m{self.names}"

    def bounds(self):
        bounds = [self.pick.randint(1, 4) for _ in range(self.pick.choice([0, 0, 0, 1, 1, 2]))]
        subscripts = "".join(f"[{self.pick.randrange(b)}]" if self.pick.random() < 0.5 else f"[i % {b}]" for b in bounds)
        return "".join(f"[{b}]" for b in bounds), subscripts

    def members(self, prefix, depth):
        return "".join(self.member(prefix, depth) for _ in range(self.pick.randint(1, 8 if depth == 0 else 4)))

    def member(self, prefix, depth):
        pick, name = self.pick, self.new_name()
        what = pick.random()
        if what < 0.1:
            kind, text = pick.choice(["unsigned", "int", "unsigned short", "unsigned long long"]), ""
            for _ in range(pick.randint(1, 3)):
                text += f"  {kind} {name} : {pick.randint(2, 13)};\n"
                self.paths.append((prefix + name, kind, "bits"))
                name = self.new_name()
            return text
        if what < 0.18:
            self.paths += [(prefix + name, "float", "atomic"), (prefix + name + "b", "int", "atomic"),
                           (prefix + name + "p[0]", "short", "number")]
            return f"  union {{ float {name}; int {name}b; short {name}p[{pick.randint(1, 6)}]; }};\n"
        if what < 0.24 and depth < 2:
            return "  struct {\n" + self.members(prefix, depth + 1) + "  };\n"
        if what < 0.36 and depth < 2:
            bounds, subscripts = self.bounds()
            inside = self.members(f"{prefix}{name}{subscripts}.", depth + 1)
            self.paths.append((prefix + name + subscripts, None, "apart"))
            return "  struct {\n  float wide[5];\n" + inside + f"  }} {name}{bounds};\n"
        kind, use = pick.choice(SCALARS)
        bounds, subscripts = self.bounds()
        self.paths.append((prefix + name + subscripts, kind, use))
        if use == "vector":
            self.paths.append((prefix + name + subscripts + ".y", kind, "number"))
        aligned = "alignas(16) " if pick.random() < 0.06 else ""
        return f"  {aligned}{kind} {name}{bounds};\n"

    def statements(self, pick, get):
        """Statements on p[i] and q[i]; the same numbers of pick give the same text."""
        lines = []
        for _ in range(10):
            path, kind, use = pick.choice(self.paths)
            element = pick.choice(["p[i]", "(*(p + i))", "p[n - 1 - i]", "(p + n)[-1 - i]", "(&p[i])[0]"])
            source = pick.choice(["q[i]", "q[n - 1 - i]", "(*(q + i))", "q[(i + 5) % n]"])
            to, of = f"{element}.{path}", f"{source}.{path}"
            if element == "(*(p + i))" and pick.random() < 0.5:
                to = f"(p + i)->{path}"
            if use in ("number", "atomic", "bits"):
                forms = [f"{to} += 3;", f"{to} = {of};" if use != "bits" else f"{to} = ({kind})({of} & 3);", f"{to}++;",
                         f"--{to};", f"if ({of} > 1) {to} = 1;", f"{to} -= ({of} > 2 ? 1 : 2);"]
                if use != "bits":
                    forms += [f"bump({to});", f"{to} += read({of});", f"auto &v = {to}; v += 2;"]
                if use == "atomic":
                    forms += [f"add(&{to}, ({kind})2);"] * 2
            elif use == "bool":
                forms = [f"{to} = !{to};", f"{to} = {of};"]
            elif use in ("enum", "vector", "whole"):
                forms = [f"{to} = {of};", f"auto v = {of}; {to} = v;", f"{to} = read({of});"]
            elif use == "address":
                forms = [f"{to} = {of};", f"{to}++;", f"{to} = nullptr;", f"{to} = {of} + 2;"]
            else:
                forms = [f"{to} = {of}{get};", f"{to} = {of};", f"auto v = {of}{get}; {to} = v;"]
            lines.append("{ " + pick.choice(forms) + " }")
        index = pick.choice(["i", "n - 1 - i", "(i + 1) % n"])
        lines += pick.sample([
            f"{{ p[{index}] = q[i]{get}; }}", f"{{ p[{index}] = q[i]; }}", f"{{ p[{index}] = p[i]; }}",
            f"{{ T t = q[{index}]{get}; p[i] = t; }}", "{ *(p + i) = *(q + i); }",
            "{ auto s = p + i; auto e = &p[n - 1]; while (s < e) { s++; *s = q[i]; if (e - s < 3) break; s += 2; } }",
            f"{{ auto s = q; s += {index}; p[i] = *s--; if (s >= q && s != q) p[i] = s[-1]; }}"], 3)
        if self.private:
            return [f"{{ p[{index}] = q[i]{get}; }}"] + lines
        pick.shuffle(lines)
        return lines


LAYOUTS = [(32, 1), (32, 1), (32, 1), (1, 1), (0, 1), (2, 1), (64, 1), (32, 4), (4, 2), (16, 8)]
FORMS = ["restride_full", "restride_ragged", "restride_full_large", "restride_ragged_large"]


def source_of(records, tail=""):
    text = COMMON
    for r in records:
        text += f"{r.space}\n{r.definition()}}}\n__global__ void k{r.number}({r.name} *p) {{ (void)sizeof(*p); }}\n"
    return text


def ask(writer, source, layout):
    with tempfile.NamedTemporaryFile("w", suffix=".cu") as file:
        file.write(source)
        file.flush()
        answer = subprocess.run([writer, file.name, str(layout[0]), str(layout[1])], capture_output=True, text=True)
    if answer.returncode != 0:
        sys.exit(f"accessors.py: {answer.stderr}\n{source}")
    return json.loads(answer.stdout)


def program_of(records, answers, layouts, seed):
    """C++ and CUDA C++ alike."""
    text = HOST + answers[0]["prelude"] + COMMON
    main = ""
    for r, answer, (tile, group) in zip(records, answers, layouts):
        told = answer["kernels"][f"k{r.number}"]
        if "why" in told:
            sys.exit(f"accessors.py: {r.definition()}\n{told['why']}")
        text += f"{r.space}\n{r.definition(told['friends'] if r.private else '')}{told['text']}}}\n"
        for form, get in (("aos", ""), ("own", ".get()")):
            lines = r.statements(random.Random(f"{seed} {r.number}"), get)
            text += (f"template <class T, class A, class B> __device__ void {form}{r.number}(A p, B q, int n) {{\n"
                     "  for (int i = 0; i < n; i++) {\n    " + "\n    ".join(lines) + "\n  }\n}\n")
        leaves = ", ".join(f"{{{l['at']}, {l['size']}, {int(l['padding'])}}}" for l in told["leaves"])
        forms = [f for f in FORMS if group == 1 or "full" in f]
        text += f"typedef {r.name} T{r.number};\nstatic const Leaf leaves{r.number}[] = {{{leaves}}};\n"
        text += (f"__global__ void raw{r.number}(T{r.number} *a, const T{r.number} *b, int n) {{ aos{r.number}<T{r.number}>(a, b, n); }}\n"
                 f"template <class F> __global__ void asta{r.number}(T{r.number} *a, const T{r.number} *b, restride_extent e, int n) {{\n"
                 f"  restride_pointer<T{r.number}, F> p(a, e); const restride_pointer<const T{r.number}, F> q(b, e);\n"
                 f"  own{r.number}<T{r.number}>(p - e.first, q - e.first, n); }}\n")
        text += CHECK.replace("@", str(r.number)).replace("$S", str(told["size"])).replace("$T", str(tile)).replace(
            "$G", str(group))
        for form in forms:
            main += f'  check{r.number}<{form}>("{form}", {max(tile, 1) * group if "full" in form else 0});\n'
    return text + "int main() {\n" + main + "}\n"


CHECK = r"""
template <class F> static void check@(const char *form, size_t whole) {
    static const size_t counts[] = {1, 3, 31, 32, 45, 128};
    for (size_t n : counts) {
        if (whole != 0) n = (n + whole - 1) / whole * whole;
        if (n > 600) break;
        const size_t S = $S, first = whole != 0 ? n / 2 / whole * whole : n / 2;
        static_assert(sizeof(T@) == S, "size");
        unsigned char *m[2], *w[2];
        for (int k = 0; k < 2; k++) {
            m[k] = take(n * S), w[k] = take(n * S);
            for (size_t i = 0; i < n; i++)
                for (const Leaf &l : leaves@)
                    for (size_t c = 0; c < l.size; c++)
                        if (!l.padding)
                            w[k][place(n, S, $T, $G, i, l) + c] = m[k][i * S + l.at + c] = next_byte();
        }
        const restride_extent extent = {(long long)n, (long long)first};
#ifdef __CUDACC__
        raw@<<<1, 1>>>((T@ *)m[0], (const T@ *)m[1], (int)n);
        asta@<F><<<1, 1>>>((T@ *)w[0] + first, (const T@ *)w[1] + first, extent, (int)n);
        if (cudaDeviceSynchronize() != cudaSuccess) { printf("T@: a launch failed\n"); exit(1); }
#else
        raw@((T@ *)m[0], (const T@ *)m[1], (int)n);
        asta@<F>((T@ *)w[0] + first, (const T@ *)w[1] + first, extent, (int)n);
#endif
        for (int k = 0; k < 2; k++) {
            for (size_t i = 0; i < n; i++)
                for (const Leaf &l : leaves@)
                    for (size_t c = 0; c < l.size; c++)
                        check(w[k][place(n, S, $T, $G, i, l) + c] == (l.padding ? 0x5a : m[k][i * S + l.at + c]), "T@", form, n, i, l.at + c);
            for (int c = 1; c <= EDGE; c++)
                check(w[k][-c] == 0x5a && w[k][n * S + c - 1] == 0x5a, "T@", form, n, n, c);
            give(m[k]), give(w[k]);
        }
    }
}
"""


# Records that are not taken apart, each with a part of the reason.
REFUSED = [("struct T { virtual void f(); int a, b; };", "virtual functions"), ("struct T { int n; float v[]; };", "without a constant length"),
           ("struct A { int a; }; struct B { int b; }; struct T : A, B { int c; };", "more than one base"),
           ("struct A { int a; }; struct T : virtual A { int c; };", "virtual base"), ("struct T { int &r; int a; };", "reference"),
           ("struct __attribute__((packed)) T { char c; int i; };", "packed"), ("union T { int a; float f[5]; };", "union"),
           ("struct T { int get, b; };", "as its accessors have"), ("struct T {};", "no members"),
           ("struct T { union { int a : 3; float b; }; };", "union without a name")]


def is_nvcc(compiler):
    return os.path.basename(compiler) == "nvcc"


def check_refusals(writer):
    for definition, reason in REFUSED:
        told = ask(writer, definition + "\n__global__ void k(T *p) { (void)sizeof(*p); }\n", (32, 1))["kernels"]["k"]
        if reason not in told.get("why", ""):
            sys.exit(f"accessors.py: {definition}: {told.get('why')}, not {reason}")


SANITIZED = ["-O0", "-fsanitize=address,undefined", "-fno-sanitize=pointer-overflow,signed-integer-overflow,float-cast-overflow",
             "-fno-sanitize-recover=all"]


def compile_and_run(compiler, standard, program, run, keep, how):
    folder = tempfile.mkdtemp()
    source, executable = f"{folder}/t.cu", f"{folder}/t"
    with open(source, "w") as file:
        file.write(program)
    if is_nvcc(compiler):
        command = [compiler, f"-std=c++{standard}", "-arch=sm_90", "-fmad=false", "-Werror", "all-warnings", source, "-o", executable]
        command += [] if run else ["-c"]
        command += ["-Xcompiler", "-Wall,-Wextra,-Wno-unused-parameter,-Wno-unused-function"]
    else:
        command = [compiler, "-x", "c++", f"-std=c++{standard}", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Wno-unused-function",
                   "-Werror", "-ffp-contract=off", *how, source, "-o", executable]
    commands = [command] + ([[executable]] if run or "nvcc" not in compiler else [])
    for one in commands:
        done = subprocess.run(one, capture_output=True, text=True)
        if done.returncode != 0:
            print(f"accessors.py: {' '.join(one)}:\n{done.stdout[:3000]}{done.stderr[:5000]}")
            if keep:
                print(f"kept: {source}")
            return False
    subprocess.run(["rm", "-rf", folder], check=True)
    return True


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--writer", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--programs", type=int, default=1)
    parser.add_argument("--records", type=int, default=4)
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--write", help="only write the programs, as PREFIX-SEED.cu")
    parser.add_argument("compilers", nargs="*")
    options = parser.parse_args()
    check_refusals(options.writer)
    compilers = [c for c in options.compilers if not c.endswith("NOTFOUND")]
    if not compilers and not options.write:
        sys.exit("accessors.py: no compiler of C++ to compare with")
    for seed in range(options.seed, options.seed + options.programs):
        pick = random.Random(seed)
        records = [Record(pick, k) for k in range(options.records)]
        layouts = [pick.choice(LAYOUTS) for _ in records]
        answers = [ask(options.writer, source_of([r]), layout) for r, layout in zip(records, layouts)]
        program = program_of(records, answers, layouts, seed)
        if options.write:
            with open(f"{options.write}-{seed}.cu", "w") as file:
                file.write(program)
        # Sanitizers take ten times as long to compile, and see the same behind any compiler: the last one has them.
        ways = [(c, ["-O1"]) for c in compilers] + [(c, SANITIZED) for c in compilers[-1:] if not is_nvcc(c)]
        for k, (compiler, how) in enumerate(ways):
            if not compile_and_run(compiler, (14, 17, 20)[(seed + k) % 3], program, options.run, True, how):
                sys.exit(f"accessors.py: that was seed {seed}")
    print(f"accessors.py: {options.programs * options.records} records agree")


main()
