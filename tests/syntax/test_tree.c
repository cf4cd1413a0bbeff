/* What a tree says of each construct. A source is read without a toolkit, with own declarations. */
#include "cmocka_all.h"
#include "dump.h"
#include "ranges.h"
#include "syntax/tree.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FACT_LIMIT = 12 };

#define POINT "struct P { float x, y, z; int id; };\n"
#define CL RS_SYNTAX_OPENCL
#define CU RS_SYNTAX_CUDA

/* A fact is a part of a line of the dump; after "!" it must be in none. "A ... B" asks for both in
 * one line. */
typedef struct {
    const char *name;
    rs_syntax_language language;
    const char *source;
    const char *facts[FACT_LIMIT];
} construct;

static const construct constructs[] = {
    {"a kernel of OpenCL and its arguments",
     CL,
     "typedef struct { int id; float4 v; } T;\n"
     "#define KERNEL __kernel\n"
     "KERNEL void k(__global T *restrict t, __local int *l, __constant float *c) {\n"
     "  t[get_global_id(0)].v.xz = t->v.s01 * c[1]; }\n"
     "kernel void m(__global int *p) { atomic_inc(p); barrier(CLK_LOCAL_MEM_FENCE); }\n"
     "void helper(int i) {}\n",
     {"function 'k' ... kernel", "function 'm' ... kernel", "function 'helper' ... device",
      "!function 'helper' ... kernel", "parameter 't' <__global T *",
      "parameter 'l' <__local int *", "swizzle \"xz\" place", "swizzle \"s01\" place",
      "member 'v' place <float __global", "call 'get_global_id'", "call 'atomic_inc'"}},
    {"vectors",
     CL,
     "void f(float4 v, __global float *p) {\n"
     "  float4 w = (float4)(v.x, 2.0f, 0, 1); w.yx = w.zw; w = 3.0f; vstore4(w.wzyx, 0, p); }\n"
     "void g(__global float4 *q) { q->zx = q->s3 + q[1].lo.x; }\n",
     {"swizzle \"x\" place", "swizzle \"yx\" place", "swizzle \"wzyx\" place",
      "implicit splat value <float __attribute__((ext_vector_type(4)))>", "call 'vstore4",
      "swizzle arrow \"zx\" place", "swizzle \"lo\" place", "!implicit address"}},
    {"references to elements",
     CU,
     POINT "__global__ void k(P *__restrict__ p, int n) {\n"
           "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
           "  P &q = p[i]; auto &r = p[n]; const P &c = q; q.x = r.y + c.z; }\n",
     {"function 'k' ... kernel", "variable 'q' <P &>", "variable 'r' <P &>",
      "variable 'c' <const P &>", "member 'x' place <float>", "reference 'q' place <P>",
      "member 'x' ... <const unsigned int>", "reference 'threadIdx'", "implicit load"}},
    {"copies of elements",
     CU,
     POINT "__global__ void k(P *p) { P c = p[1]; p[2] = c; P d; d = p[3]; }\n",
     {"construct 'P::P' value <P>", "call 'P::operator='", "implicit qualify place <const P>"}},
    {"instances of templates",
     CU,
     "template <typename T> struct V { T x, y; __device__ T sum() const { return x + y; } };\n"
     "template <typename T, int N> __device__ T scale(const V<T> &v, T by = T(2)) {\n"
     "  return v.sum() * by + N; }\n"
     "template <typename T> __global__ void k(V<T> *v, T *out) {\n"
     "  if constexpr (sizeof(T) == 4) out[0] = scale<T, 3>(v[1]); else out[1] = v->x; }\n"
     "void run(V<float> *f, V<double> *d, float *a, double *b) {\n"
     "  k<<<1, 32>>>(f, a); k<double><<<2, 64, 0, 0>>>(d, b); }\n",
     {"template 'k' kernel", "function 'k<float>' <void (V<float> *, float *)> kernel instance",
      "function 'k<double>' <void (V<double> *, double *)> kernel instance", "launch 'k<float>'",
      "launch 'k<double>'", "function 'scale<float, 3>'", "call 'V<float>::sum'",
      "default-argument 'by'", "function 'V<float>::sum' ... method", "sizeof =4",
      "!function 'scale<double"}},
    {"methods, operators and private members",
     CU,
     "class A { float v[3]; public: __device__ A(float x) : v{x, x, x} {}\n"
     "  __device__ float &operator[](int i) { return v[i]; }\n"
     "  __device__ A operator+(const A &o) const { A r(o); r.v[0] += v[0]; return r; }\n"
     "  __device__ operator float() const { return v[1]; } };\n"
     "__global__ void k(A *a) { float f = a[1]; a[0][1] = f; (a[2] + a[3])[0] = 1; }\n",
     {"call 'A::operator[]' place", "call 'A::operator float' value", "call 'A::operator+'",
      "function 'A::operator[]' ... device method", "member arrow 'v' place", "this value",
      "construct 'A::A'", "designated 'v'", "function 'A::operator float' ... conversion"}},
    {"inheritance",
     CU,
     "struct B { int id; }; struct D : B { float x; };\n"
     "struct E : D { virtual void f(); double y; };\n"
     "__device__ int get(B &b) { return b.id; }\n"
     "__global__ void k(D *d, E *e) { d[1].id = get(d[2]); e->x = 1; }\n",
     {"implicit base place <B>", "implicit base value <D *>", "call 'get' value <int>",
      "member arrow 'x' place"}},
    {"lambdas",
     CU,
     POINT "template <class F> __device__ float apply(F f) { return f(1); }\n"
           "__global__ void k(P *p) { auto f = [&](int j) { return p[j].x; };\n"
           "  p[0].y = f(3) + apply([=](int j) { return p[j].z; }); }\n",
     {"lambda '", "call '(lambda at ... operator()", "function 'apply<(lambda at",
      "function '(lambda at ... operator()", "member 'z' place"}},
    {"namespaces and enumerations",
     CU,
     "namespace a { namespace b { enum class M { LOW = 3, HIGH }; const int N = 4;\n"
     "__device__ int f(M m) { return m == M::HIGH ? N * 2 : (int)M::LOW; } } }\n",
     {"function 'a::b::f'", "reference 'a::b::M::HIGH' =4 value <a::b::M>",
      "binary * =8 value <int>", "cast arithmetic =3 value <int>"}},
    {"unions, bit-fields, anonymous members",
     CU,
     "struct U { union { float f; int i; }; unsigned a : 3, b : 5; struct { short s; } in; };\n"
     "__global__ void k(U *u) { u->i = 1; u[1].b = 2; u[2].in.s = 3; U v = {{1.0f}, 1, 2}; }\n",
     {"member 'i' place <int>", "member arrow '' place <U::", "member 'b' place <unsigned int>",
      "member 's' place <short>", "list value <U>"}},
    {"atomics, shared memory, inner arrays",
     CU,
     "struct C { int n; float v[2][4]; };\n"
     "__constant__ C table[8];\n"
     "__global__ void k(C *c, int i) { __shared__ C s[4]; extern __shared__ float w[];\n"
     "  atomicAdd(&c[i].n, 1); s[0] = c[i]; c->v[i][1] += table[2].v[0][i]; w[i] = 0;\n"
     "  __syncthreads(); }\n",
     {"variable 's' <C[4]>", "call 'atomicAdd", "subscript place <float[4]>",
      "assign += place <float>", "call '__syncthreads'", "variable 'table' <C[8]> in constant",
      "variable 'w' <float[]>", "implicit decay value <C *>"}},
    {"loops with absent parts",
     CU,
     "__device__ int f(int n) { int i = 0; for (;;) { if (n--) break; }\n"
     "  for (; i < n;) i++; for (i = 1;; ++i) { if (i > 3) continue; else break; }\n"
     "  for (int j = 0; j < 4; j += 2) { } while (n > 0) --n; do n++; while (n < 5);\n"
     "#pragma unroll\n  for (;; n++) { return n; }\n"
     "  switch (n) { case 1: i = 2; break; case 2: default: i = 3; } return i; }\n",
     {"binary < value <bool>", "assign += place <int>", "unary -- postfix value <int>", "switch @",
      "case @", "default @", "do @", "while @", "!unknown", "unary ++ place <int>"}},
    {"casts and pointers",
     CU,
     POINT "__global__ void k(P *p, long n) { float *f = (float *)(p + n); f[1] = 2;\n"
           "  *reinterpret_cast<float4 *>(p) = make_float4(1, 2, 3, 4); (int &)f[2] = 3;\n"
           "  float d = (float)n; P *q = &p[1]; (*q).x = d; if (!q) q = nullptr; }\n",
     {"cast pointer value <float *>", "cast pointer value <float4 *>",
      "cast as-reference place <int>", "implicit arithmetic value <float>", "unary * place <P>",
      "unary & value <P *>", "implicit truth value <bool>", "unary * place <float4>"}},
    {"templates of variables, extents in casts",
     CU,
     "template <class T> __constant__ T mask[10]; template <class T> constexpr T two = 2;\n"
     "template <class T, int N> __global__ void k(T *p) {\n"
     "  auto q = (T(*)[N])p; q[1][2] = mask<T>[threadIdx.x] * two<T>; }\n"
     "void run(short *p) { k<short, 16><<<1, 2>>>(p); }\n",
     {"cast pointer value <short (*)[16]>", "reference 'mask' place <short[10]>",
      "=2 value <short>", "!unknown"}},
    {"a declaration in a condition",
     CU,
     "__device__ int f(int n) { if (int z = n; z > 2) return z; if (int y = n) return y;\n"
     "  int v[2] = {1, 2}; for (int i : v) n += i; return n; }\n",
     {"variable 'z' <int>", "variable 'y' <int>", "if @"}},
};

static restride_status read_source(rs_syntax **tree, rs_syntax_language language, const char *path,
                                   const char *text, const char *const *options, size_t count)
{
    rs_invocation invocation;
    const rs_invocation_request request = {.path = path,
                                           .text = text,
                                           .size = text == NULL ? 0 : strlen(text),
                                           .language = language,
                                           .options = options,
                                           .option_count = count,
                                           .toolkit = ""};
    restride_status status = rs_invocation_make(&invocation, &request);
    if (status != RESTRIDE_OK)
        return status;
    status = rs_syntax_read(tree, &invocation);
    rs_invocation_free(&invocation);
    return status;
}

static char *dump_all(const rs_syntax *tree)
{
    rs_text text = RS_TEXT_EMPTY;
    for (size_t i = 0; i < tree->problem_count; i++)
        rs_text_format(&text, "problem %zu: %s\n", tree->problems[i].line,
                       tree->problems[i].message);
    for (size_t i = 0; i < tree->declaration_count; i++)
        dump_declaration(&text, tree, tree->declarations[i]);
    return rs_text_take(&text);
}

/* Whether one line has all parts of a fact, in order. */
static bool has_fact(const char *dump, const char *fact)
{
    const char *dots = strstr(fact, " ... ");
    const size_t length = dots == NULL ? strlen(fact) : (size_t)(dots - fact);
    for (const char *line = dump; *line != '\0';) {
        const char *end = strchr(line, '\n');
        for (const char *at = line; at + length <= end; at++) {
            if (strncmp(at, fact, length) != 0)
                continue;
            if (dots == NULL)
                return true;
            const char *rest = strstr(at + length, dots + 5);
            if (rest != NULL && rest < end)
                return true;
        }
        line = end + 1;
    }
    return false;
}

static size_t check_ranges_of(const rs_syntax *tree, const char *name)
{
    rs_range_count count = {0};
    rs_check_ranges(tree, &count);
    if (count.wrong > 0)
        print_error("%s: %zu of %zu ranges are wrong: %s\n", name, count.wrong, count.nodes,
                    count.first);
    return count.wrong;
}

static void test_constructs(void **state)
{
    (void)state;
    size_t failures = 0;
    for (size_t i = 0; i < sizeof constructs / sizeof constructs[0]; i++) {
        const construct *one = &constructs[i];
        rs_syntax *tree;
        assert_int_equal(read_source(&tree, one->language, one->language == CL ? "/t.cl" : "/t.cu",
                                     one->source, NULL, 0),
                         RESTRIDE_OK);
        char *dump = dump_all(tree);
        assert_non_null(dump);
        size_t wrong = tree->error_count;
        for (size_t k = 0; k < FACT_LIMIT && one->facts[k] != NULL; k++) {
            const bool denied = one->facts[k][0] == '!';
            if (has_fact(dump, one->facts[k] + denied) != denied)
                continue;
            print_error("%s: %s\n", one->name, one->facts[k]);
            wrong++;
        }
        if (wrong > 0)
            print_error("%s:\n%s\n", one->name, dump);
        failures += wrong + check_ranges_of(tree, one->name);
        free(dump);
        rs_syntax_free(tree);
    }
    assert_int_equal(failures, 0);
}

/* Layouts: of each record that a parameter of k() points to. */
static void test_records(void **state)
{
    (void)state;
    static const char source[] =
        "struct A { char c; double d; }; template <class T> struct B { T v[3]; A a; };\n"
        "struct C : A { float f; }; struct D { virtual void f(); int i; };\n"
        "struct E : D { int j; }; struct F : A { virtual void g(); };\n"
        "struct G { unsigned a : 3, : 4, b : 7; union { float f; long l; } u; };\n"
        "template <class T> struct H : B<T> { T z; };\n"
        "__global__ void k(B<float> *b, C *c, E *e, F *f, G *g, H<int> *h) {\n"
        "  b->v[0] = h->z; }\n";
    static const char *const facts[] = {"record 'B<float>' <B<float>> size 32 align 8",
                                        "field 'v' <float[3]> bit 0",
                                        "field 'a' <A> bit 128",
                                        "record 'C' <C> size 24 align 8",
                                        "base 'A' at 0",
                                        "field 'f' <float> bit 128",
                                        "record 'E' <E> ... polymorphic",
                                        "base 'D' at 0",
                                        "base 'A' at -1",
                                        "field 'b' <unsigned int> bit 7 width 7",
                                        "field 'u' <G::",
                                        "at -1"};
    rs_syntax *tree;
    rs_text text = RS_TEXT_EMPTY;
    assert_int_equal(read_source(&tree, CU, "/r.cu", source, NULL, 0), RESTRIDE_OK);
    assert_int_equal(tree->error_count, 0);
    const rs_syntax_declaration *kernel = tree->declarations[tree->declaration_count - 1];
    for (size_t i = 0; i < tree->declaration_count; i++)
        if (tree->declarations[i]->is_kernel)
            kernel = tree->declarations[i];
    assert_int_equal(kernel->parameter_count, 6);
    for (size_t i = 0; i < kernel->parameter_count; i++)
        dump_declaration(&text, tree, kernel->parameters[i]->type->of->declaration);
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++)
        if (!has_fact(text.data, facts[i]))
            fail_msg("%s is missing in\n%s", facts[i], text.data);
    rs_text_free(&text);
    rs_syntax_free(tree);
}

/* Ranges through macros: what stands in an argument has its own bytes. */
static void test_macros(void **state)
{
    (void)state;
    static const char source[] = "#define ADD(a, b) ((a) + (b))\n"
                                 "#define TIMES(a, b) a * b\n"
                                 "#define I get_global_id(0)\n"
                                 "kernel void k(global int *p, int n) {\n"
                                 "  p[I] = ADD(p[n], 3) + TIMES(n, 2) + I; }\n";
    rs_syntax *tree;
    assert_int_equal(read_source(&tree, CL, "/m.cl", source, NULL, 0), RESTRIDE_OK);
    char *dump = dump_all(tree);
    static const char *const texts[] = {"ADD(p[n], 3) + TIMES(n, 2) + I", "p[n]", "TIMES(n, 2)",
                                        "p[I]"};
    static const bool in_macros[] = {false, false, true, false};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char fact[64];
        const size_t at = (size_t)(strstr(source, texts[i]) - source);
        snprintf(fact, sizeof fact, "@%zu-%zu%s", at, at + strlen(texts[i]),
                 in_macros[i] ? " macro" : "\n");
        if (strstr(dump, fact) == NULL)
            fail_msg("%s (%s) is missing in\n%s", fact, texts[i], dump);
    }
    assert_int_equal(check_ranges_of(tree, "macros"), 0);
    free(dump);
    rs_syntax_free(tree);
}

/* Errors leave a tree of the rest. */
static void test_errors(void **state)
{
    (void)state;
    rs_syntax *tree;
    assert_int_equal(read_source(&tree, CL, "/e.cl",
                                 "kernel void a(global int *p) { p[0] = missing; }\n"
                                 "kernel void b(global int *p) { p[1] = 2; }\n",
                                 NULL, 0),
                     RESTRIDE_OK);
    assert_int_equal(tree->error_count, 1);
    assert_int_equal(tree->problems[0].line, 1);
    assert_non_null(strstr(tree->problems[0].message, "missing"));
    assert_int_equal(tree->declaration_count, 2);
    rs_syntax_free(tree);
}

static size_t files_read;

/* The kernels of this project that are whole sources; others are put together from several. */
static int read_file(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status, (void)place;
    const size_t length = strlen(path);
    if (kind != FTW_F || length < 3 || strcmp(path + length - 3, ".cl") != 0)
        return 0;
    rs_syntax *tree;
    rs_range_count count = {0};
    static const char *const options[] = {"-cl-std=CL2.0", "-D__OPENCL_VERSION__=200", "-DBINS=4",
                                          "-DGROUP=64", "-DWIDTH=4"};
    assert_int_equal(read_source(&tree, CL, path, NULL, options, 5), RESTRIDE_OK);
    rs_check_ranges(tree, &count);
    if (tree->error_count > 0)
        fail_msg("%s:%zu: %s", path, tree->problems[0].line, tree->problems[0].message);
    if (count.wrong > 0)
        fail_msg("%s: %zu of %zu ranges are wrong: %s", path, count.wrong, count.nodes,
                 count.first);
    assert_int_equal(count.unknown, 0);
    files_read++;
    rs_syntax_free(tree);
    return 0;
}

static void test_sources(void **state)
{
    (void)state;
    assert_int_equal(nftw(RS_TEST_ROOT "/examples", read_file, 8, FTW_PHYS), 0);
    assert_int_equal(nftw(RS_TEST_ROOT "/lab/apps", read_file, 8, FTW_PHYS), 0);
    assert_true(files_read >= 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_constructs),
                                       cmocka_unit_test(test_records),
                                       cmocka_unit_test(test_macros), cmocka_unit_test(test_errors),
                                       cmocka_unit_test(test_sources)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
