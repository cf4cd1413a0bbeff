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
        cmocka_unit_test(test_matrices),
        cmocka_unit_test(test_known_matrices),
        cmocka_unit_test(test_tensors),
        cmocka_unit_test(test_granted),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    restride_engine_destroy(engine);
    return failures;
}
