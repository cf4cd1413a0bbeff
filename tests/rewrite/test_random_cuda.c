/*
 * Random kernels of CUDA C++: the statements of random_record.h, and what C++ adds (references,
 * helpers that take them, templates, methods, lambdas), run on the host (cuda_host.h) as written
 * and rewritten. What an array is kept for does not matter here, only that the bytes agree.
 * RESTRIDE_TEST_SEED and RESTRIDE_TEST_SECONDS as in test_random.c.
 */
#include "ask.h"
#include "base/text.h"
#include "cmocka_all.h"
#include "cuda_host.h"
#include "pick.h"
#include "random_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PROGRAMS = 2, KERNELS = 24, SOURCE_LIMIT = 20000 };

/* What the compilers of OpenCL know by themselves. */
static const char types[] = "typedef unsigned char uchar;\ntypedef unsigned short ushort;\n"
                            "typedef unsigned int uint;\ntypedef unsigned long ulong;\n";

/* A path to a number whose subscripts need no kernel around them. */
static const member *write_number(rs_text *out, record r)
{
    r.constant = true;
    const member *m = write_path(out, &r, 0);
    write_lane(out, m);
    return m;
}

/* ---- between functions ---- */

/* Of the structure whose members were written. */
static void write_methods(rs_text *out, const record *r)
{
    rs_text_add_string(out, "  __device__ int sum() const { return ((int)");
    write_number(out, *r);
    rs_text_add_string(out, " + (int)");
    write_number(out, *r);
    rs_text_add_string(out, ") & 1023; }\n  __device__ void change(int k) { ");
    write_number(out, *r);
    rs_text_add_string(out, " += k; this->");
    write_number(out, *r);
    rs_text_add_string(out, " -= k; }\n  __device__ R0 &operator+=(int k) { ");
    write_number(out, *r);
    rs_text_add_string(out, " += k; return *this; }\n");
}

static void write_helpers(rs_text *out, const record *r)
{
    rs_text_add_string(out, "__device__ R0 same0(R0 s) { return s; }\n");
    write_touch(out, r, 0);
    rs_text_add_string(out, "__device__ void bump(R0 &q, int k) { q.");
    write_number(out, *r);
    rs_text_add_string(out, " += k; }\n__device__ int seen(const R0 &q) { return (int)q.");
    write_number(out, *r);
    rs_text_add_string(
        out, " & 1023; }\n"
             "namespace near { struct pair { int a, b; };\n"
             "__device__ void bump(R0 *q, int k) { q->change(k); } }\n"
             "template <class T> __device__ void grow(T &v, int k) { v += k; }\n"
             "template <class T> __device__ T larger(T v, int k) { return v > k ? v : (T)k; }\n"
             "template <int N, class T> __device__ T *ahead(T *p) { return p + N; }\n"
             "__device__ R0 *ata(R0 *q, int k) { return q + k; }\n"
             "__device__ const R0 *atb(const R0 *q, int k) { q += k; return q; }\n");
}

/* ---- statements ---- */

/* Forms with $: P a path to a number, V a value, E an element of a, F one of b. */
static const char *const forms[] = {
    "R0 &q = $E; q.$P += $V",
    "auto &q = a[i]; q.$P = $V; q.$P -= 2",
    "const R0 &q = $F; a[i].$P = (int)q.$P & 1023",
    "const auto &q = b[n - 1 - i]; int k = $V; a[i].$P = ((int)q.$P & 255) + k",
    "R0 &&q = R0(b[i]); q.$P += 3; a[i] = q",
    "auto q = $F; q.$P += $V; $E = q",
    "auto *q = &$E; q->$P += $V",
    "R0 *q = a + i, *s = q; s->$P = $V",
    "const R0 *q = ahead<2>(b); a[i].$P = (int)q[i - 2].$P & 1023",
    "ahead<3>(a)[i - 3].$P += $V",
    "bump(a[i], $V)",
    "bump($E, 4)",
    "a[i].$P = seen($F)",
    "R0 s = b[i]; bump(s, $V); a[i] = s",
    "grow(a[i].$P, $V)",
    "R0 s = a[i]; grow(s.$P, 7); a[i] = s",
    "a[i].$P = larger((int)b[i].$P & 1023, $V)",
    "a[i].change($V)",
    "a[i].$P = b[n - 1 - i].sum()",
    "R0 s = b[i]; s.change(3); a[i] = s; a[i].$P += s.sum()",
    "auto add = [&](int k) { a[i].$P += k; }; add($V)",
    "auto read = [=](int k) { return (int)b[k].$P & 1023; }; a[i].$P = read(n - 1 - i)",
    "static_cast<R0 *>(a)[i].$P = $V",
    "auto &v = a[i].$P; v += $V",
    "const auto v = b[i].$P; a[i].$P = (int)v & 1023",
    "if (auto k = $V; k > 9) a[i].$P = k",
    "a[i] += $V",
    "R0 s = $F; (s += $V) += 2; a[i] = s",
    "near::bump(a + i, $V)",
    "const auto [first, second] = near::pair{$V, 3}; a[i].$P = first - second",
    "using E = R0; const E *q = &b[i]; E s = *q; a[i] = s",
    "R0 s{b[i]}; const R0 t(s); a[i] = t",
    "R0 s = a[i]; a[i] = b[i]; a[i] = s",
    "R0 s[2] = {b[i], a[i]}; s[0].$P += $V; a[i] = s[i & 1]",
    "const int from[] = {1, 2}; for (int j : from) a[i].$P += j",
    "constexpr int K = 3; a[i].$P = K + ((int)b[i].$P & 7)",
    "(i & 1 ? a[i] : *(a + i)).$P += 1",
};

static void write_form(rs_text *out, const record *r, const char *form)
{
    rs_text_add_string(out, "  { ");
    for (; *form != '\0'; form++) {
        if (*form != '$')
            rs_text_add(out, form, 1);
        else if (*++form == 'P')
            write_number(out, *r);
        else if (*form == 'V')
            write_value(out, r, 2);
        else
            write_element(out, *form == 'E' ? "a" : "b", "i", true);
    }
    rs_text_add_string(out, "; }\n");
}

/* One of those types that atomicAdd() has. */
static void write_atomic(rs_text *out, const record *r)
{
    for (int at = 0; at < r->count; at++) {
        const member *m = &r->members[at];
        if (m->type == NULL || m->lanes > 1 || m->rows > 0 ||
            (strcmp(m->type, "int") != 0 && strcmp(m->type, "uint") != 0 &&
             strcmp(m->type, "float") != 0))
            continue;
        rs_text_format(out, "  atomicAdd(&a[i].m%d, (%s)(", at, m->type);
        write_value(out, r, 1);
        rs_text_format(out, "));\n  a[i].m%d = __ldg(&b[i].m%d);\n", at, at);
        return;
    }
}

static void write_body(rs_text *out, const record *r)
{
    const bool plain = pick(3) == 0; /* nothing that only C++ has */
    const bool walks = pick(4) == 0;
    rs_text_format(out, "__global__ void f(R0 *a, const R0 *%sb, int n)\n{\n",
                   pick(2) ? "__restrict__ " : "");
    rs_text_add_string(out, walks ? "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; "
                                    "i += gridDim.x * blockDim.x) {\n"
                                  : "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                    "  if (i >= n) return;\n");
    rs_text_add_string(out, "  R0 *pa = a + 2;\n  const R0 *pb = &b[2];\n");
    for (int s = 2 + pick(5); s > 0; s--) {
        int kind = pick(plain ? 8 : 14);
        if (kind == 7)
            write_atomic(out, r);
        else if (kind > 7)
            write_form(out, r, forms[pick(sizeof forms / sizeof forms[0])]);
        else
            write_statement(out, r, 0);
    }
    rs_text_add_string(out, walks ? "  }\n}\n" : "}\n");
}

static char *random_source(void)
{
    rs_text out = RS_TEXT_EMPTY;
    record r = {.cuda = true};
    rs_text_add_string(&out, types);
    write_record(&out, 0, &r);
    write_methods(&out, &r);
    rs_text_add_string(&out, "};\n");
    write_helpers(&out, &r);
    write_body(&out, &r);
    char *text = rs_text_take(&out);
    assert_non_null(text);
    return text;
}

/* ---- running ---- */

static int transformed_arguments(const json_t *reply)
{
    return (strcmp(string_of(find_argument(reply, "f", "a"), "status"), "transformed") == 0) +
           (strcmp(string_of(find_argument(reply, "f", "b"), "status"), "transformed") == 0);
}

/* The number of arrays that were transformed. */
static int try_program(unsigned long long seed, int tile, int compiler, bool *ran)
{
    bool added[KERNELS] = {false};
    int count = 0;
    rs_text program = RS_TEXT_EMPTY;
    start(seed);
    cuda_host_begin(&program);
    for (int k = 0; k < KERNELS; k++) {
        char *source = random_source(), title[64];
        json_t *reply =
            ask(json_pack("{s:s, s:s, s:s, s:i, s:b, s:s}", "source", source, "file", "kernel.cu",
                          "options", "", "tile", tile, "assume_undefined", 1, "language", "cuda"));
        if (json_object_get(reply, "reason") != NULL)
            fail_msg("seed %llu, kernel %d: not read (line %lld: %s):\n%s", seed, k,
                     number_of(reply, "line"), string_of(reply, "reason"), source);
        snprintf(title, sizeof title, "seed %llu, kernel %d", seed, k);
        added[k] =
            strlen(source) < SOURCE_LIMIT && cuda_host_add(&program, title, source, "R0", reply, k);
        count += added[k] ? transformed_arguments(reply) : 0;
        json_decref(reply);
        free(source);
    }
    *ran = cuda_host_run(&program, added, KERNELS, compiler) && *ran;
    rs_text_free(&program);
    return count;
}

static void test_random_kernels(void **state)
{
    (void)state;
    static const int tiles[] = {32, 7, 64, 16};
    const char *first = getenv("RESTRIDE_TEST_SEED"), *seconds = getenv("RESTRIDE_TEST_SECONDS");
    unsigned long long seed = first != NULL ? strtoull(first, NULL, 10) : 20140519;
    time_t end = time(NULL) + (seconds != NULL ? atoi(seconds) : 0);
    int compared = 0, programs = 0, compiler = -1;
    bool ran = true;
    for (; programs < PROGRAMS || time(NULL) < end; programs++, seed++) {
        compiler = cuda_host_next(compiler);
        if (compiler < 0)
            compiler = cuda_host_next(-1);
        compared += try_program(seed, tiles[seed % 4], compiler, &ran);
    }
    print_message("%d kernels %s; %d of their %d arrays were transformed.\n", programs * KERNELS,
                  ran ? "gave the same bytes" : "were compiled, for want of a card", compared,
                  2 * programs * KERNELS);
    assert_true(compared > programs * KERNELS / 2); /* many have to be transformed */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_kernels),
    };
    return cmocka_run_group_tests_name("rewrite_random_cuda", tests, NULL, NULL);
}
