/*
 * On a device with as much room as an H100 every matrix and tensor has a plan of the CUDA engine,
 * and no plan takes more memory of the device than is said, or granted. Nothing runs.
 */
#include "cmocka_all.h"
#include "device.h"
#include "restride/cuda.h"
#include "restride/restride.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SKIPPED = 77, MOST_AXES = 5 };

static restride_engine *engine;

static unsigned long long seed = 20141112;

static double random_between(double least, double most)
{
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return least + (most - least) * (double)(seed >> 33) / 2147483648.0;
}

static size_t bound_of(size_t bytes)
{
    return bytes / 400 + (1 << 20);
}

static void check_plan(restride_plan *plan, restride_status status, size_t bytes, const char *what)
{
    if (status != RESTRIDE_OK)
        fail_msg("%s: %s", what, restride_last_error());
    if (restride_plan_scratch_bytes(plan) > bound_of(bytes))
        fail_msg("%s takes %zu bytes, and not %zu", what, restride_plan_scratch_bytes(plan),
                 bound_of(bytes));
    restride_plan_destroy(plan);
}

static void check_matrices(size_t count, double bytes, const size_t *units, size_t unit_count)
{
    for (size_t i = 0; i < count; i++) {
        const size_t unit = units[i % unit_count];
        const double elements = bytes * random_between(0.7, 1.3) / (double)unit;
        const size_t rows = (size_t)(sqrt(elements) * random_between(0.4, 1.6)) + 1;
        const size_t cols = (size_t)(elements / (double)rows) + 1;
        char what[96];
        restride_plan *plan;
        snprintf(what, sizeof what, "%zu x %zu elements of %zu bytes", rows, cols, unit);
        restride_status status = restride_plan_transpose(&plan, engine, rows, cols, unit, 1);
        check_plan(plan, status, rows * cols * unit, what);
    }
}

static void test_matrices(void **state)
{
    (void)state;
    static const size_t narrow[] = {2, 3, 2, 1}, wide[] = {4, 8, 12};
    check_matrices(400, 19e6, narrow, 4);
    check_matrices(60, 150e6, narrow, 4);
    check_matrices(150, 200e6, wide, 1);
    check_matrices(60, 50e6, wide, 3);
}

/* Some of those that had no plan, or took too much. */
static void test_known_matrices(void **state)
{
    (void)state;
    static const size_t shapes[][3] = {{3000, 3500, 2}, {2371, 4336, 2}, {13484, 9848, 4}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const size_t *s = shapes[i];
        restride_plan *plan;
        restride_status status = restride_plan_transpose(&plan, engine, s[0], s[1], s[2], 1);
        check_plan(plan, status, s[0] * s[1] * s[2], "a known matrix");
    }
}

/* Sides whose quotient is a whole number, or nearly. */
static void test_groups(void **state)
{
    (void)state;
    static const size_t units[] = {4, 8, 1, 12, 16, 2};
    for (size_t i = 0; i < 120; i++) {
        const size_t unit = units[i % 6];
        const size_t group = 2 + i % 11;
        const double bytes = random_between(20e6, 400e6);
        const size_t shorter = (size_t)sqrt(bytes / (double)(group * unit));
        const size_t longer = group * (shorter - (size_t)random_between(0, 9)) +
                              (size_t)random_between(0, (double)(2 * group));
        const size_t rows = i % 2 == 0 ? longer : shorter;
        char what[96];
        restride_plan *plan;
        snprintf(what, sizeof what, "%zu x %zu elements of %zu bytes", longer, shorter, unit);
        restride_status status =
            restride_plan_transpose(&plan, engine, rows, i % 2 == 0 ? shorter : longer, unit, 1);
        check_plan(plan, status, rows * (i % 2 == 0 ? shorter : longer) * unit, what);
    }
}

/* What was the fastest on an H100 (lab/docs/performance.md). */
static void test_measured(void **state)
{
    (void)state;
    static const struct {
        size_t rows, cols, unit;
        const char *method;
    } cases[] = {
        {20000, 5000, 4, "2-stage 010! 100!"},
        {5000, 20000, 8, "2-stage 100! 010!"},
        {7200, 1800, 4, "on chip"},
        {30011, 10007, 4, "groups and square"},
        {10007, 30011, 8, "groups and square"},
        {20000, 20000, 4, "square"},
        {19997, 20011, 4, "pad-square-unpad"},
        {5100, 2500, 4, "on chip"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        restride_plan *plan;
        assert_int_equal(
            restride_plan_transpose(&plan, engine, cases[i].rows, cases[i].cols, cases[i].unit, 1),
            RESTRIDE_OK);
        char *text = restride_plan_describe(plan);
        char expected[64];
        snprintf(expected, sizeof expected, "\"%s\"", cases[i].method);
        if (text == NULL || strstr(text, expected) == NULL)
            fail_msg("%zu x %zu, not %s: %s", cases[i].rows, cases[i].cols, expected, text);
        free(text);
        restride_plan_destroy(plan);
    }
}

static void test_tensors(void **state)
{
    (void)state;
    static const size_t units[] = {2, 4, 8};
    for (int i = 0; i < 30; i++) {
        const size_t unit = units[i % 3], rank = 3 + (size_t)(i % 3);
        const double side = pow(20e6 / (double)unit, 1.0 / (double)rank);
        size_t dims[MOST_AXES], bytes = unit;
        int axes[MOST_AXES];
        for (size_t a = 0; a < rank; a++) {
            dims[a] = (size_t)(side * random_between(0.5, 1.5)) + 1;
            axes[a] = (int)a;
            bytes *= dims[a];
        }
        for (size_t a = rank; a-- > 1;) {
            const size_t other = (size_t)random_between(0, (double)a + 0.99);
            const int axis = axes[a];
            axes[a] = axes[other];
            axes[other] = axis;
        }
        restride_plan *plan;
        restride_status status = restride_plan_permute(&plan, engine, (int)rank, dims, axes, unit);
        check_plan(plan, status, bytes, "a tensor");
    }
}

/* What is granted is kept to, or refused with a sentence. */
static void test_granted(void **state)
{
    (void)state;
    size_t planned = 0;
    for (int i = 0; i < 200; i++) {
        const size_t rows = (size_t)random_between(2, 200), cols = (size_t)random_between(2, 200);
        const restride_plan_options options = {.scratch_bytes =
                                                   (size_t)pow(2, random_between(4, 16))};
        restride_plan *plan;
        if (restride_plan_transpose_with(&plan, engine, rows, cols, 3, 1, &options) !=
            RESTRIDE_OK) {
            assert_non_null(strstr(restride_last_error(), "grant"));
            continue;
        }
        if (restride_plan_scratch_bytes(plan) > options.scratch_bytes)
            fail_msg("%zu x %zu: %zu bytes of %zu granted", rows, cols,
                     restride_plan_scratch_bytes(plan), options.scratch_bytes);
        restride_plan_destroy(plan);
        planned++;
    }
    assert_true(planned > 50);
}

int main(void)
{
    if (!cuda_device_open() || restride_engine_create_cuda(&engine, NULL) != RESTRIDE_OK) {
        printf("There is no CUDA driver here.\n");
        return SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrices), cmocka_unit_test(test_known_matrices),
        cmocka_unit_test(test_groups),   cmocka_unit_test(test_measured),
        cmocka_unit_test(test_tensors),  cmocka_unit_test(test_granted),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    restride_engine_destroy(engine);
    return failures;
}
