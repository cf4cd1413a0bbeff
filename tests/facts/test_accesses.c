/* The accesses of small kernels, derived by hand. */
#include "cmocka_all.h"
#include "facts/judged.h"

#include <stdlib.h>
#include <string.h>

enum { FACT_LIMIT = 8 };

#define POINT "struct P { float x, y, z; int id; float v[4]; };\n"
#define KERNEL                                                                                     \
    "__global__ void k(P *p, float *out, int n) { int i = blockIdx.x * blockDim.x + "              \
    "threadIdx.x;\n"
#define CL RS_SYNTAX_OPENCL
#define CU RS_SYNTAX_CUDA

/* After "!" a fact is in no line. */
static const struct {
    const char *name;
    rs_syntax_language language;
    const char *source;
    const char *facts[FACT_LIMIT];
} cases[] = {
    {"one element a thread",
     CL,
     "typedef struct { float x, y; int id; } P;\n"
     "kernel void k(global P *p, int n) { int i = get_global_id(0); if (i >= n) return;\n"
     "  p[i].x += p[i + 1].y; }\n",
     {"p[1 + 1 lane] bytes 4+4 read loop -1", "p[0 + 1 lane] bytes 0+4 read write loop -1"}},
    {"a reference, a copy, a pointer",
     CU,
     POINT KERNEL "P &q = p[i]; P c = p[i + 2]; P *r = p + 3 * i; q.y = c.z + r->id; }\n",
     {"p[0 + 1 lane + uniform] bytes 4+4 write", "p[2 + 1 lane + uniform] bytes 8+4 read",
      "p[0 + 3 lane + uniform] bytes 12+4 read", "!bytes 0+"}},
    {"whole elements",
     CU,
     POINT KERNEL "p[i] = p[i + n]; P c = p[1]; c.x = 2; p[i] = c; }\n",
     {"bytes 0+32 read", "bytes 0+32 write", "p[1] bytes 0+32 read"}},
    {"a loop with steps of the grid",
     CU,
     POINT KERNEL "for (; i < n; i += blockDim.x * gridDim.x) p[i].x = 1; }\n",
     {"p[0 + 1 lane + some round0 + uniform] bytes 0+4 write loop 0", "loop 0 in -1 rounds 0\n"}},
    {"rounds, groups and inner arrays",
     CU,
     POINT KERNEL
     "for (int k = 0; k < 4; k++) p[4 * i + k].v[1] = p[n].v[k];\n"
     "  for (int j = 0; j < n; ++j) out[i] += p[j].x; p[i].v[threadIdx.x % 4] = 0; }\n",
     {"p[0 + 4 lane + 1 round0 + uniform] bytes 20+4 write loop 0",
      "p[0 + uniform] bytes 16+16 read loop 0", "loop 0 in -1 rounds 4\n",
      "p[0 + 1 round1] bytes 0+4 read loop 1", "loop 1 in -1 rounds 0\n",
      "bytes 16+16 by lane write loop -1"}},
    {"data and threads within an element",
     CU,
     POINT KERNEL
     "int j = p[i].id; p[j].x = 1; p[i / 36].y = i % 36; if (out[i] > 2) p[i].z = 3; }\n",
     {"p[data] bytes 0+4 write", "p[quotient of 0 + 1 lane + uniform by 36] bytes 4+4 write",
      "bytes 8+4 write if"}},
    {"functions, atomics and casts",
     CU,
     POINT "__device__ float sum(const P &a, const P *b) { return a.x + b->y; }\n"
           "__device__ P make(P a) { a.x = a.z; return a; }\n" KERNEL
           "out[i] = sum(p[i], &p[i + 1]); atomicAdd(&p[n].id, 1); p[i] = make(p[5]);\n"
           "  float *f = (float *)p; f[i] = 2; }\n",
     {"p[0 + 1 lane + uniform] bytes 0+4 read", "p[1 + 1 lane + uniform] bytes 4+4 read",
      "bytes 12+4 read write atomic", "p[5] bytes 8+4 read", "unknown p: a pointer that is cast"}},
    {"numbers that are too large",
     CU,
     POINT KERNEL "long m = -9223372036854775807L - 1; p[m / -1].x = p[m * m + m].y;\n"
                  "  for (long j = m; j < 9223372036854775807L; j += 4611686018427387904L)\n"
                  "    p[0].v[9223372036854775807L] = p[j - 1].v[m]; }\n",
     {"loop 0 in -1 rounds 0\n", "bytes 4+4 read"}},
    {"templates, methods, lambdas",
     CU,
     "template <class T> struct V { T x, y; __device__ T len() const { return x * y; } };\n"
     "template <class T> __global__ void k(V<T> *p, T *out) { int i = threadIdx.x;\n"
     "  auto f = [&](int j) { return p[j].y; }; out[i] = p[i].len() + f(i + 7); }\n"
     "void run(V<double> *p, double *o) { k<<<1, 2>>>(p, o); }\n",
     {"p[0 + 1 lane] bytes 0+8 read", "p[0 + 1 lane] bytes 8+8 read",
      "p[7 + 1 lane] bytes 8+8 read"}},
};

static rs_syntax *read_source(rs_syntax_language language, const char *source)
{
    rs_syntax *tree;
    rs_invocation invocation;
    const rs_invocation_request request = {.path = language == CL ? "/t.cl" : "/t.cu",
                                           .text = source,
                                           .size = strlen(source),
                                           .toolkit = ""};
    assert_int_equal(rs_invocation_make(&invocation, &request), RESTRIDE_OK);
    assert_int_equal(rs_syntax_read(&tree, &invocation), RESTRIDE_OK);
    rs_invocation_free(&invocation);
    assert_int_equal(tree->error_count, 0);
    return tree;
}

static void test_accesses(void **state)
{
    (void)state;
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rs_syntax *tree = read_source(cases[i].language, cases[i].source);
        rs_text text = RS_TEXT_EMPTY;
        for (size_t k = 0; k < tree->declaration_count; k++) {
            rs_fact_accesses facts;
            const rs_syntax_declaration *of = tree->declarations[k];
            if (!of->is_kernel || of->kind != RS_DECLARATION_FUNCTION)
                continue;
            assert_int_equal(rs_fact_accesses_read(&facts, tree, of), RESTRIDE_OK);
            rs_fact_accesses_print(&text, &facts, tree);
            rs_fact_accesses_free(&facts);
        }
        for (size_t k = 0; k < FACT_LIMIT && cases[i].facts[k] != NULL; k++) {
            const bool denied = cases[i].facts[k][0] == '!';
            if ((strstr(text.data, cases[i].facts[k] + denied) == NULL) == denied)
                continue;
            print_error("%s: %s\n%s\n", cases[i].name, cases[i].facts[k], text.data);
            wrong++;
        }
        rs_text_free(&text);
        rs_syntax_free(tree);
    }
    assert_int_equal(wrong, 0);
}

/* What the lanes do with p, and how many of its bytes are touched. */
static const struct {
    const char *body;
    rs_judge_lanes lanes;
    int group, bytes;
    double visits;
} judged[] = {
    {"p[i].x = p[i].y;", RS_LANES_ONE, 1, 8, 1},
    {"for (int k = 0; k < 4; k++) p[4 * i + k].v[k] = 1;", RS_LANES_GROUP, 4, 16, 1},
    {"P *q = p + 2 * i; q[0].x = q[1].y;", RS_LANES_GROUP, 2, 8, 0.5},
    {"p[i / 32].v[i % 32 / 8] = 1;", RS_LANES_WITHIN, 1, 16, 1},
    {"for (int j = 0; j < 7; j++) out[i] += p[j].id;", RS_LANES_SAME, 1, 4, 7},
    {"int j = p[i].id; p[j].v[0] += p[j].v[1] + p[j].x;", RS_LANES_GATHER, 1, 16, 1},
    {"for (int j = i * n; j < i * n + n; j++) p[j].z = 1;", RS_LANES_WALK, 1, 4, 0},
    {"p[i] = p[i + n];", RS_LANES_ONE, 1, 32, 1},
    {"p[i].x = ((float *)p)[i];", RS_LANES_UNKNOWN, 1, 4, 1},
};

static void test_judged(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof judged / sizeof judged[0]; i++) {
        rs_text source = RS_TEXT_EMPTY;
        rs_text_format(&source, POINT KERNEL "%s }\n", judged[i].body);
        rs_syntax *tree = read_source(CU, source.data);
        rs_fact_accesses facts;
        rs_judge_kernel kernel;
        assert_int_equal(tree->declaration_count, 1);
        assert_int_equal(rs_fact_accesses_read(&facts, tree, tree->declarations[0]), RESTRIDE_OK);
        rs_fact_judged(&kernel, &facts);
        assert_int_equal(kernel.argument_count, 1);
        const rs_judge_argument *found = &kernel.arguments[0];
        int bytes = 0;
        for (int k = 0; k < found->field_count; k++)
            bytes += found->fields[k].bytes;
        if (found->lanes != judged[i].lanes || found->group != judged[i].group ||
            bytes != judged[i].bytes || found->visits < judged[i].visits ||
            found->visits > judged[i].visits || found->element != 32)
            fail_msg("%s: lanes %d, group %d, %d bytes, %f visits", judged[i].body, found->lanes,
                     found->group, bytes, found->visits);
        rs_fact_accesses_free(&facts);
        rs_syntax_free(tree);
        rs_text_free(&source);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_accesses),
                                       cmocka_unit_test(test_judged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
