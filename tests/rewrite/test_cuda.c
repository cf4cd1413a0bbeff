/* CUDA C++: kernels as written and rewritten give the same (cuda_host.h). Also the host's code. */
#include "ask.h"
#include "base/text.h"
#include "cmocka_all.h"
#include "cuda_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The structures of the cases: parameters are `a` and `b` of one of them, then int n. */
#define RECORDS                                                                                    \
    "#include <cuda_runtime.h>\n"                                                                  \
    "struct P { float x, y, z; int id; unsigned int next; };\n"                                    \
    "struct M { char c; short s; double d; int i; unsigned char t; };\n"                           \
    "struct In { short a; unsigned char b; };\n"                                                   \
    "struct N { float w; In in; In many[2]; float v[2][3]; unsigned int next; };\n"                \
    "struct V { float4 q; float2 r; float3 s; int k; long long l; };\n"                            \
    "typedef struct { bool t, u; short s; int k; } L;\n"

#define KERNEL(T)                                                                                  \
    "__global__ void f(" T " *a, const " T                                                         \
    " *__restrict__ b, int n)\n{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) "      \
    "return;\n"

typedef struct {
    const char *title, *before, *kernel;
} cuda_case;

static const cuda_case cases[] = {
    {"members", "", KERNEL("P") "a[i].x = b[i].y + 1; (a + i)->id += 3; i[a].z = (*(b + i)).z; }"},
    {"whole structures", "",
     KERNEL("P") "P s = b[i]; s.x += 1; a[i] = s; s = b[n - 1 - i]; a[i].id = s.id; }"},
    {"constructors", "",
     KERNEL("P") "P s(b[i]); const P t = {b[i]}; P u[2] = {a[i], b[i]}; a[i].x = s.x + t.y + "
                 "u[1].z + u[0].x; }"},
    {"sides of an assignment", "",
     KERNEL("P") "int j = i; if (i + 1 == n) return; a[j++] = b[j]; P s = b[j]; P *p = a + i, *q = "
                 "p; *q++ = *q; a[j] = b[j = i]; p->id += j; }"},
    {"lists of values", "", KERNEL("P") "a[i] = {1, 2, 3, i, 5}; if (b[i].id & 1) a[i] = {}; }"},
    {"vectors from lists", "", KERNEL("V") "a[i].q = {0, 1, 2, 3}; a[i].r = {b[i].r.y, 2}; }"},
    {"conversions of a structure's own",
     "struct W { float x; int y; __device__ operator float() const { return x; } };\n",
     KERNEL("W") "a[i] = b[i]; W s = b[i]; s.y = (int)s + 1; a[n - 1 - i] = s; }"},
    {"conversions to any type",
     "struct W { float x; int y; template <class T> __device__ operator T() const { return T(y); } "
     "};\n",
     KERNEL("W") "W s = b[i]; s.y++; a[i] = s; a[i].x += (a[i] = b[n - 1 - i]).y; }"},
    {"operators of the compiler's own",
     "struct W { float x; int y; W &operator=(const W &) = default; ~W() = default; };\n"
     "template <class T> struct X : W { };\n",
     KERNEL("W") "W s; s = b[i]; s.y++; a[i] = s; X<int> t; t = X<int>(); t.y = i; a[n - 1 - i] = "
                 "t; }"},
    {"operators for other types",
     "template <class T> struct W { T x; int y; W() = default; template <class U> __device__ "
     "W(const W<U> &o) : x(o.x), y(7) {} template <class U> __device__ W &operator=(const W<U> &o) "
     "{ y = 7; return *this; } __device__ W &operator=(float v) { x = v; return *this; } "
     "__device__ W &operator=(const float *v) { y = 7; return *this; } };\n"
     "typedef W<float> F;\n",
     KERNEL(
         "F") "F s = b[i]; s.y++; a[i] = s; F t; t = b[n - 1 - i]; F u(t); u = 4.f; W<int> w(u); "
              "a[i].x = u.x + w.y; a[i].y += t.y; }"},
    {"no operator at all", "struct W { float x; int y; W &operator=(const W &) = delete; };\n",
     KERNEL("W") "W s = b[i]; a[i].x += s.y; a[i].y = s.x; }"},
    {"assignment as a value", "", KERNEL("P") "P s; s = a[i] = b[i]; a[i].next = (a[i] = s).id; }"},
    {"values of places", "",
     KERNEL("P") "a[i].x = a[i].y = b[i].z; int k = a[i].id += 3; if (a[i].id = k) a[i].next = "
                 "++a[i].id + a[i].next--; a[i].z = (a[i].x += 1, b[i].id & 1 ? a[i].y : b[i].x); "
                 "(void)b[i].x; a[i].z += ({ a[i].y = 2; b[i].z; }); for (int j = 0; j < 3; "
                 "a[i].id += j, ++j) ++a[i].next; float "
                 "t{b[i].x}; P w[2] = {{t, a[i].x}, b[i]}; a[i] = P{w[1].x, b[i].y, w[0].y}; }"},
    {"values of pointers", "",
     KERNEL("P") "P *q; (q = a + i)->x = 3; const P *r; r = q = a, r += i, ++q; P *w = q; w += i; "
                 "--w; w->y = r->x + (b[i].id & 1 ? r : b + i == r ? r : w)->z + sizeof q; "
                 "a[i].id = b[i].id; }"},
    {"parts in any order",
     "__device__ int opposite(int k) { const int to[2][3] = {{0}, {2, 1, 0}}; return to[1][k]; "
     "}\n__device__ int taken;\n",
     KERNEL("N") "int p[3] = {2, 1, 0}, j = 0, k = i % 3; taken = i; a[i].v[0][p[j++]] = 3; "
                 "a[atomicAdd(&taken, 0)].v[1][opposite(k)] += b[i].v[0][j++]; N *q = a + i; "
                 "(q++)->v[1][k] = j; a[i].w = b[i].v[1][(j += 1) % 3] + (float)(q - a); }"},
    {"kinds of char",
     "struct W { signed char c; char d; int k; };\n__device__ int kind(char) { return 1; "
     "}\n__device__ int kind(signed char) { return 2; }\n",
     KERNEL("W") "a[i].k = kind(b[i].c) + 10 * kind(b[i].d); a[i].c = b[i].d; W t = b[n - 1 - i]; "
                 "a[i].d = t.c; }"},
    {"mixed", "",
     KERNEL("M") "a[i].d = b[i].i + b[i].s; a[i].t++; a[i] = b[n - 1 - i]; a[i].c ^= 1; }"},
    {"nested", "",
     KERNEL("N") "for (int j = 0; j < 2; j++) for (int k = 0; k < 3; k++) a[i].v[j][k] += b[i].v[1 "
                 "- j][2 - k]; In t = b[i].in; a[i].many[i % 2] = t; a[i].in = a[i].many[1]; "
                 "a[i].in.b++; }"},
    {"vectors", "",
     KERNEL("V") "float4 q = b[i].q; q.x += 1; a[i].q = q; a[i].r = make_float2(b[i].r.y, q.z); "
                 "a[i].s.y = fmaxf(b[i].s.x, 2.f); float3 s; s = b[i].s; a[i].s = s; a[i].l += "
                 "a[i].k; }"},
    {"bools", "",
     KERNEL("L") "a[i].t = !b[i].u; a[i].u = b[i].k > 3; L s = b[i]; s.k = i; a[i] = s; }"},
    {"pointers", "",
     KERNEL("P") "decltype(a) q = a; q += i; q->x = 4; const P *r = i % 2 ? b + i : &b[i]; q->y = "
                 "r->y; for "
                 "(const P *e = b; e != b + n; e++) q->z += e->x; P *z = nullptr; if (z == "
                 "nullptr) z = a; (z + i)->id++; }"},
    {"parameters with brackets",
     "__device__ float last(const P p[], int k) { p += k; return p[0].y + (p)->z; }\n",
     "__global__ void f(P a[], const P b[4], int n)\n{ int i = threadIdx.x + blockIdx.x * "
     "blockDim.x; if (i >= n) return; P *q = a; q[i].x = b[i].y; (a + i)->id++; a += i; a->z = "
     "last(b, i); const P *r; r = b; *a = (r)[i]; }"},
    {"helpers",
     "__device__ void kick(P *p, int k) { p[k].id += 2; p->next++; }\n__device__ __forceinline__ "
     "float second(const P *p) { static const int k[2] = {3, 0}; return p->y + k[1]; }\n__device__ "
     "P whole(const P *p, int k) { return "
     "p[k]; }\n",
     KERNEL("P") "kick(a + i, 0); kick(&a[i], 0); a[i].x = second(b + i); P s = whole(b, i); "
                 "a[i].z = s.z + whole(a, i).x; }"},
    {"values to functions",
     "__device__ float sum(P p) { p.x += 1; return p.x + p.y; }\n__device__ float same(const float "
     "&x) { return x; }\ntemplate <class T> __device__ T twice(T t) { return t + t; }\n",
     KERNEL("P") "a[i].z = sum(b[i]) + sum(a[i]) + twice(b[i].y) + "
                 "static_cast<float>(b[i].id) + float(b[i].id); }"},
    {"atomics", "",
     KERNEL(
         "P") "atomicAdd(&a[i].id, 2); atomicMax(&(a + i)->next, 7u); a[i].x = __ldg(&b[i].y); }"},
    {"members alike", "struct F { float v[4]; float w; };\n",
     KERNEL("F") "float *q = a[i].v; for (int k = 0; k < 5; k++) q[k] += b[i].v[k % 4]; }"},
    {"pointers to nested structures",
     "__device__ void touch(In *q) { q->a += 3; q->b ^= 1; }\n__device__ In whole(const In *q) { "
     "return *q; }\n",
     KERNEL("N") "touch(&a[i].in); touch(a[i].many); In *q = &a[i].many[1]; *q = whole(&b[i].in); "
                 "q->b++; a[i].in = q[-1]; }"},
    {"constant members", "struct C { const int a; float b; bool c; };\n",
     KERNEL("C") "C t = b[i]; C u(a[i]); a[i].b = t.a + t.b + t.c - u.a; }"},
    {"no default constructor", "struct D { float x; double y; D() = delete; };\n",
     KERNEL("D") "D t = b[i]; t.x++; a[i] = t; a[i].y += (a[i] = b[i]).x; }"},
    {"names of parameters", "struct p { float x; double y; };\n",
     KERNEL("p") "p t = b[i]; t.x++; a[i] = t; }"},
    {"names of structures",
     "struct Q { float x; double y; };\ntypedef struct Q T;\nint Q(int k) { return k; }\n",
     KERNEL("T") "auto [x, T] = b[i]; auto *q = a + i; { enum { Q = 3 }; q->x = x + T + Q; } a[n - "
                 "1 - i].y++; a[i] = b[i]; goto Q; q->x = 1; Q: q->y++; }"},
    {"namespaces without a name", "namespace { struct S { float x; double y; }; }\n",
     KERNEL("S") "S t = b[i]; auto *q = a + i; q->x = t.y; a[i].y = t.x; a[i] = b[i]; }"},
    {"structures of templates",
     "template <class T> class W { public: T x; int y; struct In { T a; short b; } in; };\ntypedef "
     "W<float> F;\n",
     KERNEL("F") "auto t = b[i].in; t.b++; int In = i; auto *q = a; q += In; q->in = t; q->x = "
                 "b[i].y; "
                 "a[i].in.a++; }"},
    {"constants as arguments of templates",
     "enum Order { ROWS, COLS };\nenum { DIM = 3 };\n__device__ int whole;\ntemplate <Order o, int "
     "*p, int n> struct W { float x; int y; };\ntypedef W<COLS, &whole, DIM> F;\n",
     KERNEL("F") "F t = b[i]; t.y++; a[i] = t; auto *q = a + i; q->x += b[n - 1 - i].y; }"},
    {"templates that a template is derived from",
     "template <class T> struct None { None &operator=(const None &) = default; };\ntemplate "
     "<class "
     "T> struct Tag : None<T> { __device__ int tag() const { return 3; } };\ntemplate <class T> "
     "struct W : Tag<T> { T x; int y; };\ntypedef W<float> F;\n",
     KERNEL("F") "F t = b[i]; t.y += t.tag(); a[i] = t; a[i].x += 1; }"},
    {"explicit specialisations",
     "template <class T> struct W { T x; int y; W() = default; W(const W &o) : x(o.x), y(5) {} "
     "};\ntemplate <> struct W<float> { float x; int y; };\ntypedef W<float> F;\n",
     KERNEL("F") "F t = b[i]; t.y++; a[i] = t; }"},
    {"operators for variables beside those for constants",
     "struct B { int k; B &operator=(B &) = default; B &operator=(const B &) = default; };\nstruct "
     "W { B b; float x; };\n",
     KERNEL("W") "W t = b[i]; t.b.k++; a[i] = t; B u = b[n - 1 - i].b; a[i].b = u; }"},
    {"names of other functions, and inside of what a namespace has",
     "template <class T> struct W { T x; int y; };\ntypedef W<float> F;\nnamespace Space { struct "
     "Z { "
     "int F, W; Z(int W) : F(W) {} void f(int W); struct F { int k; }; }; __device__ int g(int W) "
     "{ return W; } }\nusing namespace Space;\n__device__ int h(int W, int F) { int i = W; return "
     "i + "
     "F; }\n",
     KERNEL("F") "F t = b[i]; t.y += h(1, g(2)); a[i] = t; auto *q = a + i; q->x += 1; }"},
    {"functions that templates become",
     "template <class T> struct W { T v; __device__ float g(const T &o) { const T *t = &o, *u = t; "
     "return u->x; } };\n",
     KERNEL("P") "W<P> w; P *q = a + i; q->x = w.g(P{1, 2, 3, 4, 5}) + b[i].y; }"},
    {"conditions between structures", "",
     KERNEL(
         "P") "P t = i & 1 ? b[i] : b[n - 1 - i]; a[i] = b[i].id & 1 ? t : b[i]; const P u = i & "
              "2 ? t : a[i]; t = u.id & 1 ? a[i] : P{1, 2, 3, 4, 5}; a[i].x += (i % 3 ? b[i] : "
              "u).y + t.z; }"},
    {"copies that are said to be the compiler's",
     "struct W { float x; int y; W() = default; __host__ __device__ W(const W &) = default; W(W "
     "&&) "
     "= default; W &operator=(const W &) = default; __device__ W &operator=(W &&) = default; ~W() "
     "= "
     "default; };\nstruct X { W w; double d; };\n",
     KERNEL("X") "X t = b[i]; W u = t.w; u.y++; t.w = u; a[i] = t; a[i].w = b[n - 1 - i].w; t = "
                 "X(b[i]); a[i].d += t.w.x; }"},
    {"enumerations",
     "enum Kind { GAS, LIQUID = 7, SOLID };\nenum class State : unsigned char { ON, OFF };\n"
     "namespace Space { enum Sort { LOW, HIGH }; typedef enum { SHORT, LONG } Length; }\n"
     "template <class T> struct Of { enum Mode { FAST, SLOW }; T t; Mode mode; };\n"
     "struct W { Kind kind; State state[2]; Space::Sort sort; Space::Length length; Of<int> of; "
     "};\n"
     "__device__ Kind next(Kind k) { return k == GAS ? LIQUID : SOLID; }\n",
     KERNEL(
         "W") "a[i].kind = next(b[i].kind); if (b[i].kind == SOLID) a[i].state[i & 1] = "
              "State::OFF; switch (a[i].sort) { case Space::LOW: a[i].sort = Space::HIGH; break; "
              "default: a[i].of.t += a[i].kind + 1; } W t = b[n - 1 - i]; t.length = "
              "Space::LONG; if (i % 3) a[i] = t; Of<int> *o = &a[i].of; o->mode = "
              "Of<int>::SLOW; auto k = a[i].state[0]; a[i].state[1] = k; }"},
    {"pointers to enumerations",
     "enum Kind { GAS, LIQUID };\nstruct W { Kind kinds[3]; Kind k; };\n",
     KERNEL(
         "W") "Kind *k = a[i].kinds; for (int j = 0; j < 3; j++) k[j] = b[i].kinds[j] == GAS ? "
              "LIQUID : b[i].k; const Kind *l = &b[i].k; a[i].k = __ldg(l); *k = *l; a[i].kinds[1] "
              "= __ldg(&b[i].kinds[0]); }"},
    {"structures of members alike as arrays of them", "",
     KERNEL(
         "P") "float *q = (float *)(a + i); q[1] = q[0] + 2; q++; *q += ((const float *)b)[5 * i "
              "+ 2]; ((int *)a)[5 * i + 3] = b[i].id; unsigned int *k = (unsigned int *)&a[i].x + "
              "4; *k ^= 1; atomicAdd((int *)(a + i) + 3, 2); }"},
    {"designated values", "struct W { In in; float x; };\n",
     KERNEL(
         "W") "W t = {.in = b[i].in, .x = b[i].x + 1}; a[i] = t; In u = {.a = a[i].in.a, .b = 7}; "
              "a[i].in = u; }"},
    {"types of std", "#include <cstdint>\nstruct T { std::uint32_t x; std::int8_t y; };\n",
     KERNEL("T") "const std::size_t k = i; a[k].x = b[k].y; a[k].y++; }"},
    {"long padding", "struct alignas(128) A { double x; int y; };\n",
     KERNEL("A") "A t = b[i]; t.x++; a[i] = t; }"},
    {"private members",
     "class G { float x; int y; friend __global__ void f(G *, const G *, int);\nfriend __global__ "
     "void f(G *, const G *, int, unsigned long, unsigned long); };\n",
     KERNEL("G") "G t = b[i]; t.x++; a[i] = t; a[i].y += b[i].y; }"},
    {"macros and control flow", "#define AT(p, k) ((p)[(k)])\n",
     KERNEL("P") "switch (b[i].id & 3) { case 0: AT(a, i).x = 1; break; case 1: AT(a, i).y = AT(b, "
                 "i).x; default: a[i].z = 2; } do { a[i].id++; } while (a[i].id % 4); }"},
};

/* The type of the arrays, from the text of the kernel's heading. */
static void read_type(char *type, size_t size, const cuda_case *c)
{
    const char *begin = strstr(c->kernel, "f(") + 2;
    snprintf(type, size, "%.*s", (int)strcspn(begin, " ["), begin);
}

static void add_case(rs_text *out, const cuda_case *c, int number, int tile)
{
    rs_text source = RS_TEXT_EMPTY;
    char type[32];
    rs_text_format(&source, "%s%s%s\n", RECORDS, c->before, c->kernel);
    json_t *reply =
        ask(json_pack("{s:s, s:s, s:s, s:i, s:b, s:s}", "source", source.data, "file", "kernel.cu",
                      "options", "", "tile", tile, "assume_undefined", 1, "language", "cuda"));
    const char *names[] = {"a", "b"};
    for (int k = 0; k < 2; k++) {
        const json_t *argument = find_argument(reply, "f", names[k]);
        if (argument == NULL || strcmp(string_of(argument, "status"), "transformed") != 0)
            fail_msg("%s: %s is kept: %s", c->title, names[k],
                     argument == NULL ? string_of(reply, "reason") : string_of(argument, "reason"));
    }
    read_type(type, sizeof type, c);
    assert_true(cuda_host_add(out, c->title, source.data, type, reply, number));
    json_decref(reply);
    rs_text_free(&source);
}

static void test_same_results(void **state)
{
    (void)state;
    enum { COUNT = sizeof cases / sizeof cases[0] };
    rs_text out = RS_TEXT_EMPTY;
    cuda_host_begin(&out);
    for (int i = 0; i < COUNT; i++)
        add_case(&out, &cases[i], i, i % 3 == 0 ? 7 : 32);
    for (int c = cuda_host_next(-1); c >= 0; c = cuda_host_next(c))
        assert_true(cuda_host_run(&out, NULL, COUNT, c));
    rs_text_free(&out);
}

/* Of a source for CUDA whose other headers are not there. */
static json_t *ask_cuda(const char *source)
{
    return ask(json_pack("{s:s, s:s, s:i, s:s, s:b}", "source", source, "file", "kernel.cu", "tile",
                         32, "language", "cuda", "assume_undefined", 1));
}

/* Functions of the host's call and launch what is not known; those of the device must be
 * understood, and so must what lies between functions. */
#define CHECK                                                                                      \
    "#define CHECK(call) do { if (call) printf(\"%s %s %d\", #call, __FILE__, __LINE__); } while " \
    "(0)\n"

static void test_host_code(void **state)
{
    (void)state;
    static const struct {
        const char *before, *after;
        bool is_transformed;
    } hosts[] = {
        {"", "int main() { P *a; cudaMalloc(&a, 400); f<<<4, 32>>>(a, a, 9); return unknown; }",
         true},
        {"static void show(P *a) { Viewer v(a); v.show(a[3].x); }\n", "", true},
        {"__host__ void show(P *a) { shown(a); }\n", "", true},
        {"__device__ float known(P *a) { return unknown(a); }\n", "", false},
        {"__host__ __device__ float known(P *a) { return unknown(a); }\n", "", false},
        {"Unknown *table;\n", "", false},
        {CHECK "static void copy(P *a) { CHECK(cudaMemcpy(a, a, M_PI, 1)); __syncthreads (); }\n",
         "", true},
        {"#if CUDART_VERSION >= 12000\n#define K 1\n#else\n#define K 2\n#endif\n", "", false},
        {"#ifndef M_PI\n#define M_PI 3.0f\n#endif\n", "", false},
        {"#ifdef __GNUC__\n#define K 1\n#endif\n", "", false},
        {"#ifdef _WIN32\n#error\n#endif\n#ifndef GUARD\n#define GUARD\n#endif\n", "", true},
        {CHECK "static int limit() { return CHAR_BIT; }\n", "", true},
        {"#define PASTE(a, b) a##b\nstatic int limit() { return PASTE(limit_, CHAR_BIT); }\n", "",
         false},
        {"#define PASTE(a, b) a##b\nstatic int PASTE(limit, _of) = 3;\n", "", true},
        {CHECK "__device__ int compiled = __CUDA_ARCH__;\n", "", false},
        {"", "int main() { if (unknown) { return 1; }", false},
        {"",
         "int main() { u1(); u2(); u3(); u4(); u5(); u6(); u7(); u8(); u9(); u10(); u11(); "
         "u12(); u13(); u14(); u15(); u16(); u17(); u18(); u19(); u20(); u21(); u22(); }",
         true},
    };
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        rs_text source = RS_TEXT_EMPTY;
        rs_text_format(&source, "%s%s%s a[i].x = b[i].y; }\n%s\n", RECORDS, hosts[i].before,
                       KERNEL("P"), hosts[i].after);
        json_t *reply = ask_cuda(source.data);
        const char *text = json_string_value(json_object_get(reply, "source"));
        if ((text != NULL && strstr(text, "restride_count_a") != NULL) != hosts[i].is_transformed)
            fail_msg("%s%s", hosts[i].before, hosts[i].after);
        if (hosts[i].is_transformed)
            assert_non_null(strstr(text, hosts[i].after));
        json_decref(reply);
        rs_text_free(&source);
    }
}

/* Whatever the source is, there is a reply, and a reason for what stays. */
static void test_hostile(void **state)
{
    (void)state;
    static const char *const sources[] = {
        "",
        "}",
        "__global__",
        "__global__ void f(struct P *a) { a->x = 1; }",
        "struct P { float x, y; P *next() { return this + 1; } };\n__global__ void f(P *a) { "
        "a->next()->x = 1; }",
        "struct P { float x, y; };\ntemplate <int N> struct T { static const int v = T<N - 1>::v; "
        "};\n__global__ void f(P *a) { a[T<100000>::v].x = 1; }",
        "struct P { float x, y; };\n__global__ void f(P *a) { auto g = [](auto h) { return h(h); "
        "}; "
        "a->x = 1; }",
        "struct P { float x, y; };\n__global__ void f(P *a) { for (auto &p : *a) p = 1; }",
        "int main() { f<<<1, 2>>>(0); }",
        "#include <nothing>\n#error no\n",
        "struct P { float x, y; };\n__global__ void f(P *a) { [[unlikely]] if (a) asm(\"x\"); }"};
    for (size_t i = 0; i < sizeof sources / sizeof sources[0]; i++)
        json_decref(ask_cuda(sources[i]));
    rs_text deep = RS_TEXT_EMPTY;
    rs_text_add_string(&deep, "struct P { float x, y; };\n__global__ void f(P *a) { a->x = ");
    for (int i = 0; i < 20000; i++)
        rs_text_add_string(&deep, "(");
    json_t *reply = ask_cuda(deep.data);
    assert_non_null(strstr(string_of(reply, "reason"), "nested too deeply"));
    json_decref(reply);
    rs_text_free(&deep);
}

static void test_text(void **state)
{
    (void)state;
    json_t *reply = ask(json_pack(
        "{s:s, s:s, s:i, s:s, s:b}", "source",
        "#include <cuda_runtime.h>\nstruct P { float x; double y; };\nextern \"C\" __global__ void "
        "__launch_bounds__(64) f(P *a)\n{ a[threadIdx.x].x = 1; }\n",
        "file", "kernel.cu", "tile", 32, "language", "cuda", "header", 1));
    const char *source = string_of(reply, "source");
    assert_non_null(strstr(source, "#include <cuda_runtime.h>\n"));
    assert_non_null(strstr(source, "f(P *a, unsigned long restride_count_a)"));
    const json_t *access = json_object_get(find_argument(reply, "f", "a"), "access");
    assert_string_equal(string_of(access, "pattern"), "unit");
    const char *header = string_of(reply, "header");
    assert_non_null(strstr(header, "restride_f_a_marshal(restride_engine *engine, void *buffer"));
    assert_non_null(strstr(header, "f{ uint m0; uint m1; ulong m2; }"));
    json_decref(reply);
}

/* Nothing else says that there are structures. */
static void test_a_class_alone(void **state)
{
    (void)state;
    json_t *reply =
        ask_cuda("class P { public: float x, y; };\n__global__ void f(P *a) { a->x = 1; }\n");
    const json_t *argument = find_argument(reply, "f", "a");
    assert_non_null(argument);
    assert_string_equal(string_of(argument, "status"), "transformed");
    json_decref(reply);
}

/* Both functions for an argument are named after the kernel and it. */
static void test_names_in_the_header(void **state)
{
    (void)state;
    static const struct {
        const char *source, *function;
    } twins[] = {
        {"__global__ void a(P *b_c) { b_c->x = 1; }\n"
         "__global__ void a_b(P *c, P *d) { c->x = d->y; }",
         "restride_a_b_c_marshal("},
        {"__global__ void k(P *a, P *d) { a->x = d->y; }\n__global__ void k(P *a) { a->x = 1; }",
         "restride_k_a_marshal("},
    };
    for (size_t i = 0; i < sizeof twins / sizeof twins[0]; i++) {
        char source[512];
        snprintf(source, sizeof source, "struct P { float x, y; };\n%s\n", twins[i].source);
        json_t *reply = ask(json_pack("{s:s, s:s, s:i, s:s, s:b}", "source", source, "file",
                                      "kernel.cu", "tile", 32, "language", "cuda", "header", 1));
        const json_t *kernel = json_array_get(json_object_get(reply, "kernels"), 1);
        const json_t *argument = json_array_get(json_object_get(kernel, "arguments"), 0);
        assert_non_null(strstr(string_of(argument, "reason"), "for another argument"));
        assert_int_equal(number_of(argument, "line"), 3);
        const char *header = string_of(reply, "header");
        assert_non_null(strstr(header, "#pragma once\n"));
        const char *function = strstr(header, twins[i].function);
        assert_non_null(function);
        assert_null(strstr(function + 1, twins[i].function));
        json_decref(reply);
    }
}

/* A number that a reference of any kind leads to may be another than the one it starts with. */
static void test_numbers_behind_references(void **state)
{
    (void)state;
    static const struct {
        const char *reference;
        bool proved;
    } rows[] = {{"", true},
                {"int &r = k; r = 30;", false},
                {"const int &r = k;", false},
                {"volatile int &r = k; r = 30;", false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char source[512];
        snprintf(
            source, sizeof source,
            "//DL: AoS: a[n][20]\n__global__ void f(float *a) { int i = threadIdx.x; int k = 1; %s "
            "a[20 * i + k] = 1; }\n",
            rows[i].reference);
        json_t *reply = ask_cuda(source);
        const char *kernel = strstr(string_of(reply, "source"), "void f(");
        assert_non_null(kernel);
        if ((strstr(kernel, "restride_layout_0_within(") != NULL) != rows[i].proved)
            fail_msg("%s: %s", rows[i].reference, kernel);
        json_decref(reply);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_results),
        cmocka_unit_test(test_host_code),
        cmocka_unit_test(test_hostile),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_a_class_alone),
        cmocka_unit_test(test_names_in_the_header),
        cmocka_unit_test(test_numbers_behind_references),
    };
    return cmocka_run_group_tests_name("rewrite_cuda", tests, NULL, NULL);
}
