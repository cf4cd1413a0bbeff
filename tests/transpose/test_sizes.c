/*
 * Batches of every kind, and with `test_sizes all` arrays of more than 2^31 elements and more than
 * 2^32 bytes. What belongs at a place is computed from its position, so that no second array of
 * that size is needed.
 */
#include "cmocka_all.h"
#include "host_engine.h"
#include "restride/restride.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    size_t batch;
    size_t rows;
    size_t cols;
    size_t unit;
    int threads;
} problem;

static const uint64_t step = 0x9E3779B97F4A7C15u; /* 2^64 / golden ratio: neighbours differ */

/* Byte b of element e is the top byte of (e * unit + b + 1) * step. */
static void fill(unsigned char *data, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++) {
        value += step;
        data[i] = (unsigned char)(value >> 56);
    }
}

/* Whether column j of a matrix, which begins with byte `first` of the array as it was, is now the
 * row at `row`. */
static bool is_row(const unsigned char *row, const problem *p, size_t first)
{
    uint64_t value = (first + 1) * step;
    for (size_t i = 0; i < p->rows; i++, value += p->cols * p->unit * step)
        for (size_t b = 0; b < p->unit; b++)
            if (row[i * p->unit + b] != (unsigned char)((value + b * step) >> 56))
                return false;
    return true;
}

static bool is_transposed(const unsigned char *data, const problem *p)
{
    size_t bytes = p->rows * p->cols * p->unit;
    for (size_t m = 0; m < p->batch; m++)
        for (size_t j = 0; j < p->cols; j++)
            if (!is_row(data + m * bytes + j * p->rows * p->unit, p, m * bytes + j * p->unit))
                return false;
    return true;
}

/* False when this machine has no memory for it. */
static bool check(const problem *p)
{
    enum { GUARD_BYTES = 64, GUARD = 0x5C };
    size_t bytes = p->batch * p->rows * p->cols * p->unit;
    unsigned char *data = malloc(bytes + GUARD_BYTES);
    if (data == NULL)
        return false;
    fill(data, bytes);
    memset(data + bytes, GUARD, GUARD_BYTES);
    restride_engine *engine;
    restride_plan *plan;
    assert_int_equal(test_host_engine(&engine, p->threads), RESTRIDE_OK);
    if (restride_plan_transpose(&plan, engine, p->rows, p->cols, p->unit, p->batch) !=
            RESTRIDE_OK ||
        restride_execute(plan, data) != RESTRIDE_OK)
        fail_msg("%s", restride_last_error());
    bool right = is_transposed(data, p);
    for (size_t i = 0; i < GUARD_BYTES; i++)
        right = right && data[bytes + i] == GUARD;
    if (!right)
        fail_msg("%zu times %zu x %zu elements of %zu bytes, %d threads: %s", p->batch, p->rows,
                 p->cols, p->unit, p->threads, restride_plan_describe(plan));
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
    free(data);
    return true;
}

static void test_batches(void **state)
{
    (void)state;
    static const size_t batches[] = {1, 2, 3, 7, 64, 1000};
    static const size_t sides[] = {1, 2, 3, 8, 17, 64, 101, 256};
    static const size_t units[] = {1, 2, 3, 4, 8, 12, 16, 33};
    enum { BATCHES = 6, SIDES = 8, UNITS = 8, MOST_BYTES = 3 << 20 };
    size_t checked = 0;
    for (size_t i = 0; i < (size_t)BATCHES * SIDES * SIDES * UNITS; i++) {
        const problem p = {batches[i % BATCHES], sides[i / BATCHES % SIDES],
                           sides[i / BATCHES / SIDES % SIDES], units[i / BATCHES / SIDES / SIDES],
                           1 + (int)(i % 5)};
        if (p.batch * p.rows * p.cols * p.unit > MOST_BYTES)
            continue;
        assert_true(check(&p));
        checked++;
    }
    assert_true(checked > 2000);
}

static void test_beyond_31_bits(void **state)
{
    (void)state;
    static const problem problems[] = {
        {1, 46341, 46349, 1, 2}, {1, 3, 740000000, 1, 2}, {1, 740000000, 3, 1, 2},
        {5, 20743, 20749, 1, 2}, {1, 3, 740000000, 2, 2}, {730000000, 1, 3, 1, 2},
        {540000000, 2, 2, 1, 2}, {1, 46341, 46341, 2, 2},
    };
    size_t memory = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++) {
        const problem *p = &problems[i];
        if (p->batch * p->rows * p->cols * p->unit > memory / 2 || !check(p))
            printf("skipped: %zu times %zu x %zu elements of %zu bytes, for want of memory\n",
                   p->batch, p->rows, p->cols, p->unit);
    }
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "all") == 0) {
        const struct CMUnitTest tests[] = {cmocka_unit_test(test_beyond_31_bits)};
        return cmocka_run_group_tests(tests, NULL, NULL);
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_batches)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
