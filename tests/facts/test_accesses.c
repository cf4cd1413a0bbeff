/* The accesses of small kernels, derived by hand. */
#include "cmocka_all.h"
#include "facts/judged.h"

#include <stdlib.h>
#include <string.h>

enum { FACT_LIMIT = 8 };

#define POINT                                                                                      \
    "struct P { float x, y, z; int id; float v[4]; };\n"                                           \
    "struct P2 { float x, y, z; int id; float v[4]; };\n"
#define POINT_CL "typedef struct { float x, y, z; int id; float v[4]; } P;\n"
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
     {"p[0 + 1 lane + some round0 + uniform] bytes 0+4 write loop 0",
      "loop 0 in -1 rounds 0 work"}},
    {"rounds, groups and inner arrays",
     CU,
     POINT KERNEL
     "for (int k = 0; k < 4; k++) p[4 * i + k].v[1] = p[n].v[k];\n"
     "  for (int j = 0; j < n; ++j) out[i] += p[j].x; p[i].v[threadIdx.x % 4] = 0; }\n",
     {"p[0 + 4 lane + 1 round0 + uniform] bytes 20+4 write loop 0",
      "p[0 + uniform] bytes 16+16 read loop 0", "loop 0 in -1 rounds 4 work",
      "p[0 + 1 round1] bytes 0+4 read loop 1", "loop 1 in -1 rounds 0 work",
      "bytes 16+16 by lane write loop -1"}},
    {"data and threads within an element",
     CU,
     POINT KERNEL
     "int j = p[i].id; p[j].x = 1; p[i / 36].y = i % 36; if (out[i] > 2) p[i].z = 3; }\n",
     {"p[data] bytes 0+4 write", "p[0 + uniform] bytes 4+4 write", "bytes 8+4 write if"}},
    {"functions, atomics and casts",
     CU,
     POINT "__device__ float sum(const P &a, const P *b) { return a.x + b->y; }\n"
           "__device__ P make(P a) { a.x = a.z; return a; }\n" KERNEL
           "out[i] = sum(p[i], &p[i + 1]); atomicAdd(&p[n].id, 1); p[i] = make(p[5]);\n"
           "  float *f = (float *)p; f[i] = 2; }\n",
     {"p[0 + 1 lane + uniform] bytes 0+4 read", "p[1 + 1 lane + uniform] bytes 4+4 read",
      "bytes 12+4 read write atomic", "p[5] bytes 8+4 read", "bytes 0+32 by lane write"}},
    {"numbers that are too large",
     CU,
     POINT KERNEL "long m = -9223372036854775807L - 1; p[m / -1].x = p[m * m + m].y;\n"
                  "  for (long j = m; j < 9223372036854775807L; j += 4611686018427387904L)\n"
                  "    p[0].v[9223372036854775807L] = p[j - 1].v[m]; }\n",
     {"loop 0 in -1 rounds 0 work", "bytes 4+4 read"}},
    {"indices that wrap around or are clamped",
     CU,
     POINT KERNEL "int r = (i + 1) % n, l = i == 0 ? n - 1 : i - 1, u = i + 1;\n"
                  "  if (u == n) u = 0;\n"
                  "  p[r].x = p[l].y + p[u].z + p[min(i + 7, n)].v[1]; int c = i < n ? i : 0;\n"
                  "  p[c].id = p[(i + 3) & (n - 1)].v[2]; if (i == 0) p[5].v[3] = 1; }\n",
     {"p[1 + 1 lane + uniform] bytes 0+4 write", "p[-1 + 1 lane + uniform] bytes 4+4 read",
      "p[1 + 1 lane + uniform] bytes 8+4 read", "p[7 + 1 lane + uniform] bytes 20+4 read",
      "p[0 + 1 lane + uniform] bytes 12+4 write", "p[3 + 1 lane + uniform] bytes 24+4 read",
      "p[5] bytes 28+4 write if"}},
    {"quotients and remainders, masks",
     CL,
     POINT_CL "kernel void k(global P *p, int n) { int i = get_global_id(0);\n"
              "  p[i / 4 * 4 + i % 4].x = p[i / n * n + i % n].y; p[i >> 3].z = 0;\n"
              "  p[i ^ 1].id = p[i & ~3].id; p[(i & 15) * 2 + (i >> 4)].v[0] = 1; }\n",
     {"p[0 + 1 lane] bytes 0+4 write", "p[0 + 1 lane + uniform] bytes 4+4 read",
      "p[0 + lanes 0,0,0,0,0,0,0,0,1,1,", "p[1 + lanes 0,-1,2,1,4,3,",
      "p[0 + lanes 0,0,0,0,4,4,4,4,8,",
      "p[0 + lanes 0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,1,3,"}},
    {"arrays, structures and references of the thread",
     CU,
     POINT "__device__ void find(int i, int n, int &x, int *y) { x = i % n; *y = i / n; }\n"
           "struct D { int a, b; }; __constant__ int around[4] = {1, -1, 2, 3};\n" KERNEL
           "int xs[3] = {i - 1, i, i + 1}, z[9], x, y; D d; find(i, n, x, &y); d.b = i;\n"
           "  for (int k = 0; k < 9; k++) z[k] = y * n + x + around[k % 4];\n"
           "  p[xs[2]].x = p[xs[n]].y; p[z[4]].z = 1; p[d.b + 2].id = 1; int3 q = {n, i, 0};\n"
           "  p[q.y].v[0] = p[q.x].v[1]; p[xs[i % 3]].v[2] = 0; }\n",
     {"p[1 + 1 lane + uniform] bytes 0+4 write", "p[-1 + 1 lane + uniform] bytes 4+4 read",
      "p[0 + 1 lane + uniform] bytes 8+4 write", "p[2 + 1 lane + uniform] bytes 12+4 write",
      "p[0 + 1 lane + uniform] bytes 16+4 write", "p[0 + uniform] bytes 20+4 read",
      "p[data] bytes 24+4 write"}},
    {"data, and loops that are as long as they say",
     CU,
     POINT KERNEL
     "int s = 1, m = i, j = 0; while (m > 0) { if (m & 1) s *= 3; m >>= 1; }\n"
     "  p[s].x = 1; for (; j < i; j++) out[i] += p[j].y; p[j].z = 2;\n"
     "  int t = out[i] > 0 ? n : 2 * n; p[t].id = 1; p[out[i] > 1 ? i : i + n].v[0] = 2;}\n",
     {"p[data] bytes 0+4 write", "p[0 + 1 round1] bytes 4+4 read", "p[data] bytes 8+4 write",
      "p[data] bytes 12+4 write", "p[0 + 1 lane + uniform] bytes 16+4 write"}},
    {"vectors and copies of groups",
     CL,
     POINT_CL "kernel void k(global float4 *q, global float *f, global P *p, int n) {\n"
              "  int i = get_global_id(0); local float t[64]; q[3 * i].s2 = 1; (q + n)->y += 2;\n"
              "  float4 v = vload4(i, f + 2); vstore2(v.xy, 1, p[i].v);\n"
              "  async_work_group_copy(t, f + 7, 64, 0); p[max(i, 1)].x = 0;\n"
              "  p[mad24(i, 4, n * 8) % 8].id = p[mul24(4, i)].v[0];\n"
              "  async_work_group_strided_copy(f + 9, t, 64, 5, 0); }\n",
     {"q[0 + 3 lane] bytes 8+4 write", "q[0 + uniform] bytes 4+4 read write",
      "f[2 + 4 lane] bytes 0+16 read", "p[0 + 1 lane] bytes 24+8 write",
      "f[7 + 1 lane] bytes 0+4 read", "p[0 + 1 lane + uniform] bytes 0+4 write",
      "f[9 + 5 lane] bytes 0+4 write", "p[0 + lanes 0,4,0,4,"}},
    {"parts of elements, one of two pointers, arguments that call",
     CL,
     POINT_CL "global P *at(global P *q, int k) { return k < 0 ? q : &q[k]; }\n"
              "kernel void k(global P a[], int n) { int i = get_global_id(0);\n"
              "  global float *f = (global float *)a; f[8 * i + 1] = f[i] + f[8 * n + 16];\n"
              "  at(a, i)->z = 0; at(at(a, i), 2)->id = 1; (i % 2 ? a + i : &a[2])->v[0] = 3;\n"
              "  int s = i * n; f[s & 7] = 0; a[i ^ n].v[1] = 1; P t = a[i + 5]; }\n",
     {"a[0 + 1 lane] bytes 4+4 write", "a[0 + lanes 0,0,0,0,0,0,0,0,1,", "bytes 0+32 by lane read",
      "a[2 + uniform] bytes 0+4 read", "a[0 + 1 lane + uniform] bytes 8+4 write",
      "a[0 + 1 lane + uniform] bytes 12+4 write", "a[0 + 1 lane + uniform] bytes 20+4 write",
      "a[5 + 1 lane] bytes 0+32 loop"}},
    {"instructions, threads and memory of a group",
     CU,
     POINT KERNEL "__shared__ float tile[64]; float s = 0;\n"
                  "  for (int k = 0; k < 10; k++) s += p[i].x * p[i].y + sqrtf(s) / p[i].z;\n"
                  "  out[i] = s + tile[0]; }\n"
                  "void run(P *p, float *o) { dim3 b(8, 16); k<<<4, b>>>(p, o, 3);\n"
                  "  k<<<dim3(2), 128>>>(p, o, 3); }\n",
     {"work 2 shared 256 group 128", "loop 0 in -1 rounds 10 work 20"}},
    {"launches that differ",
     CU,
     POINT KERNEL "p[i].x = 1; }\nvoid run(P *p, float *o) { k<<<4, 64>>>(p, o, 3);\n"
                  "  k<<<2, 128>>>(p, o, 3); }\n",
     {"shared 0 group 0"}},
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

/* "2 + 1 lane + 3 round0 + uniform"; lanes that are no multiples are a list. */
static void print_form(rs_text *text, const rs_fact_form *form)
{
    if (form->is_data) {
        rs_text_add_string(text, "data");
        return;
    }
    const long long step = form->lanes[1];
    bool is_linear = true;
    for (int i = 0; i < RS_FORM_LANES; i++)
        is_linear = is_linear && form->lanes[i] == i * step;
    rs_text_format(text, "%lld", form->constant);
    if (form->some_lane)
        rs_text_add_string(text, " + some lane");
    else if (is_linear && step != 0)
        rs_text_format(text, " + %lld lane", step);
    for (int i = 0; i < RS_FORM_LANES && !is_linear; i++)
        rs_text_format(text, "%s%d", i == 0 ? " + lanes " : ",", form->lanes[i]);
    for (int i = 0; i < RS_FORM_LOOPS; i++) {
        if (form->loops[i] < 0 || form->steps[i] == 0)
            continue;
        if (form->steps[i] == RS_FORM_SOME)
            rs_text_format(text, " + some round%d", form->loops[i]);
        else
            rs_text_format(text, " + %lld round%d", form->steps[i], form->loops[i]);
    }
    if (form->uniform != 0)
        rs_text_add_string(text, " + uniform");
}

static void print_accesses(rs_text *text, const rs_fact_accesses *facts, const rs_syntax *tree)
{
    for (size_t i = 0; i < facts->access_count; i++) {
        const rs_fact_access *one = &facts->accesses[i];
        rs_text_format(text, "%s[", facts->kernel->parameters[one->parameter]->name);
        print_form(text, &one->index);
        rs_text_format(text, "] bytes %lld+%lld%s%s%s%s%s loop %d line %zu\n", one->offset,
                       one->size, one->is_inner_lane ? " by lane" : "", one->reads ? " read" : "",
                       one->writes ? " write" : "", one->is_atomic ? " atomic" : "",
                       one->is_conditional ? " if" : "", one->loop,
                       rs_syntax_line(tree, one->range));
    }
    rs_text_format(text, "work %.0f shared %.0f group %.0f\n", facts->work, facts->shared_bytes,
                   facts->group);
    for (size_t i = 0; i < facts->loop_count; i++)
        rs_text_format(text, "loop %zu in %d rounds %lld%s work %.0f\n", i, facts->loops[i].outer,
                       facts->loops[i].count, facts->loops[i].varies ? " varies" : "",
                       facts->loops[i].work);
    for (size_t i = 0; i < facts->unknown_count; i++)
        rs_text_format(text, "unknown %s: %s, line %zu\n",
                       facts->kernel->parameters[facts->unknown[i].parameter]->name,
                       facts->unknown[i].what, rs_syntax_line(tree, facts->unknown[i].range));
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
            print_accesses(&text, &facts, tree);
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
    bool for_each; /* visits: for each thread of the kernel */
} judged[] = {
    {"p[i].x = p[i].y;", RS_LANES_ONE, 1, 8, 1, false},
    {"for (int k = 0; k < 4; k++) p[4 * i + k].v[k] = 1;", RS_LANES_GROUP, 4, 16, 1, false},
    {"P *q = p + 2 * i; q[0].x = q[1].y;", RS_LANES_GROUP, 2, 8, 0.5, false},
    {"p[i / 32].v[i % 32 / 8] = 1;", RS_LANES_WITHIN, 1, 16, 1, false},
    {"for (int j = 0; j < 7; j++) out[i] += p[j].id;", RS_LANES_SAME, 1, 4, 7, false},
    {"int j = p[i].id; p[j].v[0] += p[j].v[1] + p[j].x;", RS_LANES_GATHER, 1, 16, 1, false},
    {"for (int j = i * n; j < i * n + n; j++) p[j].z = 1;", RS_LANES_WALK, 1, 4, 64, false},
    {"p[i] = p[i + n];", RS_LANES_ONE, 1, 32, 1, false},
    {"p[i].x = ((P2 *)p)[i].x;", RS_LANES_UNKNOWN, 1, 4, 1, false},
    {"((float *)p)[8 * i + 2] = ((float *)p)[8 * i + 1];", RS_LANES_ONE, 1, 8, 1, false},
    {"((float *)p)[i] = 1;", RS_LANES_WITHIN, 1, 32, 1, false},
    {"p[i / 4].x = 1;", RS_LANES_WITHIN, 1, 4, 1, false},
    {"p[i / 36].x = 1;", RS_LANES_SAME, 1, 4, 1, false},
    {"p[(i & 15) * 2 + (i >> 4 & 1)].x = 1;", RS_LANES_ONE, 1, 4, 1, false},
    {"p[i * n].x = 1;", RS_LANES_UNKNOWN, 1, 4, 1, false},
    {"if (threadIdx.x == 0) p[i].x = 1; p[i + 1].v[0] = 2;", RS_LANES_ONE, 1, 8, 1, false},
    {"for (int j = 0; j < 9; j++) p[i].x += p[j].v[0];", RS_LANES_SAME, 1, 8, 9, false},
    {"for (int j = 0; j < n; j++) p[i].x += out[j];", RS_LANES_ONE, 1, 4, 1, false},
    {"for (int j = 0; j < n; j++) out[i] += p[j].id;", RS_LANES_SAME, 1, 4, 64, false},
    {"if (i < n) for (int j = 0; j < n; j++) out[i] += p[j].id;", RS_LANES_SAME, 1, 4, 1, true},
    {"if (i >= n) return; for (int j = 0; j < n; j += 2) out[i] += p[j + 1].id;", RS_LANES_SAME, 1,
     4, 0.5, true},
    {"if (i >= n) return; for (int k = 0; k < 3; k++) for (int j = 0; j < n; j++) out[i] += "
     "p[j + k].id;",
     RS_LANES_SAME, 1, 4, 3, true},
    {"if (threadIdx.x >= n) return; for (int j = 0; j < n; j++) out[i] += p[j].id;", RS_LANES_SAME,
     1, 4, 64, false},
    {"int m = n / 2; if (i < m) for (int j = 0; j < n; j++) out[i] += p[j].id;", RS_LANES_SAME, 1,
     4, 64, false},
};

/* Of all uses of the first array. */
static int touched_bytes(const rs_judge_kernel *kernel)
{
    bool touched[256] = {false};
    int bytes = 0;
    for (int k = 0; k < kernel->argument_count && (k == 0 || kernel->arguments[k].continues); k++)
        for (int f = 0; f < kernel->arguments[k].field_count; f++)
            for (int b = 0; b < kernel->arguments[k].fields[f].bytes; b++)
                touched[kernel->arguments[k].fields[f].offset + b] = true;
    for (size_t b = 0; b < sizeof touched; b++)
        bytes += touched[b];
    return bytes;
}

/* Flat arrays of records: words of one, and bytes of it that are touched. */
static const struct {
    const char *body;
    int words, bytes;
} flat[] = {
    {"f[20 * i + 3] = f[20 * i];", 20, 8},
    {"for (int k = 1; k < 9; k++) f[20 * i + k] = 1;", 20, 32},
    {"for (int k = 0; k < n; k++) f[i * 6 + k] = 1;", 6, 24},
    {"f[i * 4 + n] = f[(i + n) * 4 + 1];", 4, 16},
    {"f[4 * i] = f[8 * i];", 0, 0},
    {"f[4 * i] = f[n];", 0, 0},
    {"f[4 * i] = f[(int)f[i]];", 0, 0},
    {"f[i] = 1;", 0, 0},
};

static void test_records(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof flat / sizeof flat[0]; i++) {
        rs_text source = RS_TEXT_EMPTY;
        rs_text_format(&source,
                       "__global__ void k(float *f, int n) { int i = blockIdx.x * blockDim.x + "
                       "threadIdx.x; %s }\n",
                       flat[i].body);
        rs_syntax *tree = read_source(CU, source.data);
        rs_fact_accesses facts;
        rs_judge_kernel kernel;
        assert_int_equal(rs_fact_accesses_read(&facts, tree, tree->declarations[0]), RESTRIDE_OK);
        assert_int_equal(rs_fact_judged(&kernel, &facts), RESTRIDE_OK);
        const rs_judge_argument *found = &kernel.arguments[0];
        if (found->words != flat[i].words || found->is_fixed != (flat[i].words == 0) ||
            (flat[i].words > 0 && touched_bytes(&kernel) != flat[i].bytes))
            fail_msg("%s: %d words, %d bytes", flat[i].body, found->words, touched_bytes(&kernel));
        rs_fact_accesses_free(&facts);
        rs_syntax_free(tree);
        rs_text_free(&source);
    }
}

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
        assert_int_equal(rs_fact_judged(&kernel, &facts), RESTRIDE_OK);
        assert_int_not_equal(kernel.argument_count, 0);
        const rs_judge_argument *found = &kernel.arguments[0];
        int bytes = touched_bytes(&kernel);
        if (found->lanes != judged[i].lanes || found->group != judged[i].group ||
            bytes != judged[i].bytes || found->visits < judged[i].visits ||
            found->visits > judged[i].visits || found->for_each != judged[i].for_each ||
            found->element != 32)
            fail_msg("%s: lanes %d, group %d, %d bytes, %f visits", judged[i].body, found->lanes,
                     found->group, bytes, found->visits);
        rs_fact_accesses_free(&facts);
        rs_syntax_free(tree);
        rs_text_free(&source);
    }
}

/* Conditions in conditions and calls of calls are walked through many times over: that ends. */
static void test_large(void **state)
{
    (void)state;
    rs_text source = RS_TEXT_EMPTY;
    rs_text_format(&source, POINT_CL "int g0(global P *p) { return p->id; }\n");
    for (int i = 1; i < 8; i++) {
        rs_text_format(&source, "int g%d(global P *p) { return 0", i);
        for (int k = 0; k < 12; k++)
            rs_text_format(&source, " + g%d(p + %d)", i - 1, k);
        rs_text_format(&source, "; }\n");
    }
    rs_text_format(&source, "kernel void calls(global P *p) { p[7].id = g7(p); p[1].x = 1; }\n"
                            "kernel void conditions(global P *p, int n) { p[");
    for (int i = 0; i < 60; i++)
        rs_text_format(&source, "(");
    rs_text_format(&source, "n");
    for (int i = 0; i < 60; i++)
        rs_text_format(&source, "> %d ? p[%d].id : n)", i, i);
    rs_text_format(&source, "].x = 1; }\n");
    rs_syntax *tree = read_source(CL, source.data);
    for (size_t k = 0; k < tree->declaration_count; k++) {
        rs_fact_accesses facts;
        if (!tree->declarations[k]->is_kernel)
            continue;
        assert_int_equal(rs_fact_accesses_read(&facts, tree, tree->declarations[k]), RESTRIDE_OK);
        assert_true(facts.unknown_count > 0 && facts.unknown[0].parameter == 0);
        rs_fact_accesses_free(&facts);
    }
    rs_syntax_free(tree);
    rs_text_free(&source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accesses), cmocka_unit_test(test_judged),
        cmocka_unit_test(test_records), cmocka_unit_test(test_large)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
