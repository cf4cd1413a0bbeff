/*
 * Random kernels: random records, and random sequences of understood accesses, directly, through
 * pointers (to nested structures too) and through helpers, in all kinds of control flow, run on a
 * device against the kernel as it was generated. RESTRIDE_TEST_SEED sets where it starts,
 * RESTRIDE_TEST_SECONDS how long it goes on; tools/fuzz_kernels.sh sets both. Work-items write only
 * their own element of `a`, and `b` is only read, so that the order in which they run does not
 * matter.
 */
#include "ask.h"
#include "base/text.h"
#include "cmocka_all.h"
#include "device.h"
#include "pick.h"
#include "random_flat.h"
#include "random_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PROGRAMS = 8, KERNELS = 5, FLAT_KERNELS = 4 };

static char *random_program(size_t flat_sizes[FLAT_KERNELS][2])
{
    rs_text out = RS_TEXT_EMPTY;
    rs_text_add_string(&out, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
    for (int k = 0; k < KERNELS; k++) {
        record r = {.constant = false};
        write_record(&out, k, &r);
        rs_text_format(&out, "static R%d same%d(R%d s) { return s; }\n", k, k, k);
        write_touch(&out, &r, k);
        const char *space = pick(3) == 0 ? "constant" : "const global";
        rs_text_format(&out, "#define ata ata%d\n#define atb atb%d\n", k, k);
        rs_text_format(&out, "global R%d *ata(global R%d *q, int k) { return q + k; }\n", k, k);
        rs_text_format(&out, "%s R%d *atb(%s R%d *q, int k) { q += k; return q; }\n", space, k,
                       space, k);
        rs_text_format(&out,
                       "kernel void f%d(global R%d *a, %s R%d *b, int n) {\n  int i = "
                       "get_global_id(0);\n  if (i >= n) return;\n  global R%d *pa = a + 2;\n  %s "
                       "R%d *pb = &b[2];\n  a[i] = b[i];\n",
                       k, k, space, k, k, space, k);
        int statements = 2 + pick(6);
        for (int s = 0; s < statements; s++)
            write_statement(&out, &r, k);
        rs_text_add_string(&out, "}\n#undef ata\n#undef atb\n");
    }
    for (int k = 0; k < FLAT_KERNELS; k++)
        write_flat_kernel(&out, k, flat_sizes[k]);
    char *text = rs_text_take(&out);
    assert_non_null(text);
    return text;
}

/* Padding of a nested structure may lie otherwise in the whole one: a reason to keep the array. So
 * is that it is in SoA already. */
static bool may_be_kept(const json_t *argument)
{
    const char *reason = string_of(argument, "reason");
    return reason != NULL && (strstr(reason, "padding of a nested structure") != NULL ||
                              (strcmp(reason, "layout requested") == 0 &&
                               strcmp(string_of(argument, "layout"), "f i") == 0));
}

typedef struct {
    unsigned long long seed;
    const char *source;
    const json_t *reply;
    cl_program original, rewritten;
} trial;

/* False when the kernel's arrays stay as they are. The sizes are of records; NULL: as described. */
static bool try_kernel(const trial *t, const char *kernel, const size_t *sizes)
{
    const json_t *a = find_argument(t->reply, kernel, "a");
    const json_t *b = find_argument(t->reply, kernel, "b");
    if (may_be_kept(a) || may_be_kept(b))
        return false;
    if (json_object_get(a, "record") == NULL || json_object_get(b, "record") == NULL)
        fail_msg("seed %llu: %s was not transformed: %s %s\n%s", t->seed, kernel,
                 string_of(a, "reason"), string_of(b, "reason"), t->source);
    size_t size = (size_t)number_of(json_object_get(a, "record"), "size");
    char title[48];
    snprintf(title, sizeof title, "seed %llu", t->seed);
    device_case test = {title,
                        kernel,
                        2,
                        {"a", "b"},
                        {sizes != NULL ? sizes[0] : size, sizes != NULL ? sizes[1] : size}};
    size_t tile = (size_t)number_of(a, "tile"), n = 20 + (size_t)pick(80);
    if (tile > 0 && pick(2) == 0)
        n = (n + tile - 1) / tile * tile;
    device_compare(&test, t->original, t->rewritten, t->reply, n, (unsigned)t->seed);
    return true;
}

/* The number of kernels that were compared. */
static int try_program(unsigned long long seed, int tile)
{
    start(seed);
    int compared = 0;
    size_t flat_sizes[FLAT_KERNELS][2];
    char *source = random_program(flat_sizes), kernel[16];
    json_t *reply = ask_for_tiles(source, "", tile);
    if (json_object_get(reply, "reason") != NULL)
        fail_msg("seed %llu: not read (line %lld: %s):\n%s", seed, number_of(reply, "line"),
                 string_of(reply, "reason"), source);
    const char *text = string_of(reply, "source");
    const trial t = {seed, source, reply, device_build(source, ""),
                     device_build(text != NULL ? text : source, "")};
    for (int k = 0; k < KERNELS; k++) {
        snprintf(kernel, sizeof kernel, "f%d", k);
        compared += try_kernel(&t, kernel, NULL);
    }
    for (int k = 0; k < FLAT_KERNELS; k++) {
        snprintf(kernel, sizeof kernel, "g%d", k);
        compared += try_kernel(&t, kernel, flat_sizes[k]);
    }
    clReleaseProgram(t.original);
    clReleaseProgram(t.rewritten);
    json_decref(reply);
    free(source);
    return compared;
}

static void test_random_kernels(void **state)
{
    (void)state;
    static const int tiles[] = {16, 32, 64, 7, 0}; /* 0: "f i" */
    enum { TILES = sizeof tiles / sizeof tiles[0] };
    if (!device_available())
        skip();
    const char *first = getenv("RESTRIDE_TEST_SEED"), *seconds = getenv("RESTRIDE_TEST_SECONDS");
    unsigned long long seed = first != NULL ? strtoull(first, NULL, 10) : 20140519;
    time_t end = time(NULL) + (seconds != NULL ? atoi(seconds) : 0);
    int compared = 0, programs = 0;
    for (; programs < PROGRAMS || time(NULL) < end; programs++)
        compared += try_program(seed + (unsigned long long)programs,
                                tiles[(seed + (unsigned long long)programs) % TILES]);
    print_message("%d kernels of %d programs gave the same bytes.\n", compared, programs);
    assert_true(compared > programs); /* most kernels have to be transformed */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_kernels),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    device_release();
    return failed;
}
