/* The papers' kernels (lab/baselines/baselines.h): every element of every kind, on an OpenCL
 * device. */
#include "engine/open.h"
#include "lab/baselines/baselines.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_BYTES = 1 << 20, SKIPPED = 77 };

static restride_engine *engine;
static rs_baselines *baselines;
static uint32_t before[MOST_BYTES / 4];
static uint32_t after[MOST_BYTES / 4];

/* Each matrix of rows x cols elements is cols x rows afterwards; all words differ. */
static void check(const rs_baseline_case *c)
{
    size_t area = c->rows * c->cols;
    double seconds;
    assert_true(rs_baseline_bytes(c) <= MOST_BYTES);
    for (size_t i = 0; i < rs_baseline_bytes(c) / 4; i++)
        before[i] = (uint32_t)i * 2654435761u;
    memset(after, 0, sizeof after);
    restride_status status = rs_baselines_run(baselines, c, 1, before, after, &seconds);
    if (status == RESTRIDE_DEVICE_LIMIT && c->kind == RS_BASELINE_REGISTER_100)
        return; /* words that do not fill a SIMD unit of this device */
    if (status != RESTRIDE_OK)
        fail_msg("%s", restride_last_error());
    for (size_t m = 0; m < c->count; m++)
        for (size_t i = 0; i < c->rows; i++)
            for (size_t j = 0; j < c->cols; j++)
                if (memcmp(&after[(m * area + j * c->rows + i) * c->words],
                           &before[(m * area + i * c->cols + j) * c->words], 4 * c->words) != 0)
                    fail_msg("kind %d, %zu of %zu x %zu x %zu words: row %zu, column %zu",
                             (int)c->kind, c->count, c->rows, c->cols, c->words, i, j);
}

static void tiles_are_transposed(void **state)
{
    (void)state;
    static const size_t shapes[][2] = {{16, 40}, {32, 32}, {7, 5}, {1, 9},
                                       {9, 1},   {64, 59}, {2, 2}};
    for (int kind = RS_BASELINE_BARRIER_010; kind <= RS_BASELINE_CYCLES_010; kind++)
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
            const rs_baseline_case c = {.kind = (rs_baseline_kind)kind,
                                        .count = 5,
                                        .rows = shapes[s][0],
                                        .cols = shapes[s][1],
                                        .words = 1};
            check(&c);
        }
}

static void flags_may_lie_anywhere(void **state)
{
    (void)state;
    for (size_t spreading = 1; spreading <= 32; spreading *= 2)
        for (int padding = 0; padding < 2; padding++)
            for (int remapping = 0; remapping < 2; remapping++)
                for (size_t items = 1; items <= 64; items *= 8) {
                    const rs_baseline_case c = {.kind = RS_BASELINE_CLAIMS_010,
                                                .count = 3,
                                                .rows = 16,
                                                .cols = 215,
                                                .words = 1,
                                                .items = items,
                                                .spreading = spreading,
                                                .padding = padding != 0,
                                                .remapping = remapping != 0};
                    check(&c);
                }
}

static void super_elements_are_transposed(void **state)
{
    (void)state;
    static const size_t shapes[][3] = {{16, 24, 8}, {5, 7, 64},  {31, 33, 40},
                                       {1, 12, 16}, {20, 20, 3}, {64, 16, 200}};
    for (int kind = RS_BASELINE_GROUP_100; kind <= RS_BASELINE_CYCLES_100; kind++)
        for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
            const rs_baseline_case c = {.kind = (rs_baseline_kind)kind,
                                        .count = 1,
                                        .rows = shapes[s][0],
                                        .cols = shapes[s][1],
                                        .words = shapes[s][2]};
            check(&c);
        }
}

static void out_of_place_transposes(void **state)
{
    (void)state;
    static const size_t shapes[][2] = {{33, 65}, {64, 64}, {1, 5}, {300, 7}};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        const rs_baseline_case c = {.kind = RS_BASELINE_OUT_OF_PLACE,
                                    .count = 1,
                                    .rows = shapes[s][0],
                                    .cols = shapes[s][1],
                                    .words = 1};
        check(&c);
    }
}

static void rows_move_apart(void **state)
{
    (void)state;
    enum { ROWS = 50, COLS = 40, PADDED = 43, MOST_STEPS = 64 };
    rs_padding_step steps[MOST_STEPS];
    size_t count = 0;
    size_t moved = 0;
    for (uint32_t i = 0; i < ROWS * COLS; i++)
        after[i] = i;
    assert_int_equal(
        rs_baselines_pad(baselines, ROWS, COLS, PADDED, after, steps, MOST_STEPS, &count),
        RESTRIDE_OK);
    for (uint32_t row = 0; row < ROWS; row++)
        for (uint32_t col = 0; col < COLS; col++)
            assert_int_equal(after[row * PADDED + col], row * COLS + col);
    for (size_t i = 0; i < count; i++)
        moved += steps[i].rows;
    assert_int_equal(moved, ROWS);
    assert_int_equal(steps[0].rows, 3); /* equation 4.1: 50 * 3 / 43 */
    assert_true(steps[count - 1].rows > 1);
}

static void a_tile_beyond_the_device_is_refused(void **state)
{
    (void)state;
    double seconds;
    const rs_baseline_case c = {
        .kind = RS_BASELINE_BARRIER_010, .count = 1, .rows = 1 << 14, .cols = 1 << 14, .words = 1};
    assert_int_equal(rs_baselines_run(baselines, &c, 1, before, after, &seconds),
                     RESTRIDE_DEVICE_LIMIT);
}

int main(void)
{
    if (rs_opencl_open(&engine, getenv("RESTRIDE_TEST_DEVICE")) != RESTRIDE_OK ||
        rs_baselines_open(&baselines, engine, MOST_BYTES) != RESTRIDE_OK) {
        printf("%s\n", restride_last_error());
        return SKIPPED;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_are_transposed),
        cmocka_unit_test(flags_may_lie_anywhere),
        cmocka_unit_test(super_elements_are_transposed),
        cmocka_unit_test(out_of_place_transposes),
        cmocka_unit_test(rows_move_apart),
        cmocka_unit_test(a_tile_beyond_the_device_is_refused),
    };
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    rs_baselines_close(baselines);
    restride_engine_destroy(engine);
    return failures;
}
