/*
 * Every stage of the host engine, and every plan that the planner makes for a chip of a few hundred
 * bytes: with it small matrices are cut, joined and split like large ones.
 */
#include "cmocka_all.h"
#include "engine/host/host.h"
#include "host_engine.h"
#include "reference.h"
#include "restride/restride.h"
#include "transpose/choose.h"

#include <stdlib.h>
#include <string.h>

static size_t bytes_of(const rs_transpose_task *task)
{
    size_t unit = task->unit;
    if (task->method == RS_TRANSPOSE_FUSED)
        unit *= task->inner_rows * task->inner_cols;
    if (task->method == RS_TRANSPOSE_REVERSE)
        unit *= task->tile;
    return (task->repeats > 1 ? task->repeats : 1) * task->outer * task->count * task->rows *
           task->cols * unit;
}

/* Each stage moves every byte once and says so as it goes, but for JOIN, SPLIT and what of CHAINS
 * lies on whole cycles or stays. */
static void run_stages(restride_engine *engine, const rs_transpose_task *tasks, size_t count,
                       size_t limit, unsigned char *data)
{
    for (size_t i = 0; i < count; i++) {
        rs_stage *stage;
        assert_int_equal(engine->operations->create_transpose(engine, &tasks[i], limit, &stage),
                         RESTRIDE_OK);
        size_t kept;
        size_t bytes = engine->operations->scratch_bytes(stage, &kept);
        /* Exactly what was stated, so that a sanitizer sees every byte beyond. */
        void *scratch = malloc(bytes);
        assert_true(scratch != NULL || bytes == 0);
        rs_progress progress = {0};
        assert_int_equal(engine->operations->run(stage, data, scratch, &progress, NULL),
                         RESTRIDE_OK);
        bool is_told =
            tasks[i].method != RS_TRANSPOSE_JOIN && tasks[i].method != RS_TRANSPOSE_SPLIT &&
            tasks[i].method != RS_TRANSPOSE_CHAINS && tasks[i].method != RS_TRANSPOSE_REVERSE;
        if (progress.done_bytes > bytes_of(&tasks[i]) ||
            (is_told && progress.done_bytes < bytes_of(&tasks[i])))
            fail_msg("method %d moved %zu of %zu bytes", (int)tasks[i].method, progress.done_bytes,
                     bytes_of(&tasks[i]));
        free(scratch);
        engine->operations->destroy_stage(stage);
    }
}

/* `method` is the name of one, or NULL: the planner's choice. */
static void check_choice(const rs_matrices *m, size_t chip, int threads, uint64_t seed,
                         const char *method, size_t *methods)
{
    const rs_engine_traits traits = {
        .chip_bytes = chip, .line_bytes = 64, .workers = (size_t)threads};
    const restride_plan_options options = {.method = method};
    rs_stage_choice choice;
    assert_int_equal(rs_choose_transpose(&choice, m, &traits, &options), RESTRIDE_OK);
    restride_engine *engine;
    assert_int_equal(test_host_engine(&engine, threads), RESTRIDE_OK);
    size_t size = m->batch * m->rows * m->cols * m->unit;
    guarded_buffer buffer = guarded_create(size, seed % 64, seed);
    unsigned char *expected = malloc(size);
    assert_non_null(expected);
    reference_transpose(expected, buffer.bytes, m->batch, m->rows, m->cols, m->unit);
    run_stages(engine, choice.tasks, choice.count, choice.scratch_limit, buffer.bytes);
    if (memcmp(buffer.bytes, expected, size) != 0 || !guarded_intact(&buffer))
        fail_msg("%zu times %zu x %zu elements of %zu bytes, chip %zu, %d threads, seed %llu: %s",
                 m->batch, m->rows, m->cols, m->unit, chip, threads, (unsigned long long)seed,
                 choice.why);
    for (size_t i = 0; i < choice.count; i++)
        methods[choice.tasks[i].method]++;
    free(expected);
    guarded_free(&buffer);
    restride_engine_destroy(engine);
}

static const size_t units[] = {1, 2, 3, 4, 5, 7, 8, 12, 16, 20, 24, 32, 33, 64, 100};
enum { UNIT_COUNT = sizeof units / sizeof units[0] };

/* Those of the stages that every build chooses are all there, `least` times and more. */
static void check_count(const size_t *methods, size_t least)
{
    for (size_t method = 0; method < RS_TRANSPOSE_TILES; method++) /* behind: devices' stages */
        if ((method <= RS_TRANSPOSE_SPLIT || method >= RS_TRANSPOSE_C2R_ROTATE) &&
            methods[method] < least)
            fail_msg("method %zu was chosen %zu times only", method, methods[method]);
}

/* The planner's choice, and the methods for any shape, which it seldom chooses. */
static const char *choose_method(int i)
{
    static const char *const methods[] = {NULL, "C2R", NULL, "R2C"};
    return methods[i / 16 % 4];
}

static void test_small_chips(void **state)
{
    (void)state;
    uint64_t seed = 20140215;
    size_t methods[RS_TRANSPOSE_METHOD_COUNT] = {0};
    for (int i = 0; i < 6000; i++) {
        rs_matrices m = {1 + test_random(&seed, 120), 1 + test_random(&seed, 120),
                         units[test_random(&seed, UNIT_COUNT)], 1 + test_random(&seed, 3), 0};
        if (i % 16 == 0)
            m.cols = m.rows;
        check_choice(&m, (size_t)32 << test_random(&seed, 7), 1 + (int)test_random(&seed, 4), seed,
                     choose_method(i), methods);
    }
    check_count(methods, 20);
}

/* Large enough that the stages work with several threads, and with many chains. */
static void test_threads(void **state)
{
    (void)state;
    uint64_t seed = 7;
    size_t methods[RS_TRANSPOSE_METHOD_COUNT] = {0};
    for (int i = 0; i < 240; i++) {
        rs_matrices m = {100 + test_random(&seed, 700), 100 + test_random(&seed, 700),
                         units[test_random(&seed, 9)], 1, 0};
        if (i % 16 == 0)
            m.cols = m.rows;
        check_choice(&m, (size_t)512 << test_random(&seed, 6), 1 + (int)test_random(&seed, 8), seed,
                     choose_method(i), methods);
    }
    for (int i = 0; i < 40; i++) {
        size_t slim = 2 + test_random(&seed, 20);
        size_t tall = 20000 + test_random(&seed, 40000);
        bool upright = test_random(&seed, 2) == 0;
        const rs_matrices m = {upright ? tall : slim, upright ? slim : tall,
                               units[test_random(&seed, 7)], 1, 0};
        check_choice(&m, (size_t)2048 << test_random(&seed, 6), 1 + (int)test_random(&seed, 8),
                     seed, NULL, methods);
    }
    check_count(methods, 5);
}

/* JOIN is undone by SPLIT, and each is what its declaration says. */
static void test_join_split(void **state)
{
    (void)state;
    uint64_t seed = 411;
    restride_engine *engine;
    assert_int_equal(test_host_engine(&engine, 4), RESTRIDE_OK);
    for (int i = 0; i < 400; i++) {
        bool large = i % 10 == 0;
        rs_transpose_task task = {.method = RS_TRANSPOSE_JOIN,
                                  .outer = 1 + test_random(&seed, 2),
                                  .count = 1,
                                  .rows = 1 + test_random(&seed, large ? 300 : 30),
                                  .cols = 1 + test_random(&seed, large ? 3000 : 50),
                                  .tail = 1 + test_random(&seed, 40),
                                  .unit = units[test_random(&seed, 8)]};
        size_t width = task.cols + task.tail;
        task.pitch = task.rows * width * task.unit;
        size_t size = task.outer * task.pitch;
        guarded_buffer buffer = guarded_create(size, seed % 64, seed);
        unsigned char *before = malloc(size);
        unsigned char *expected = malloc(size);
        assert_true(before != NULL && expected != NULL);
        memcpy(before, buffer.bytes, size);
        for (size_t o = 0; o < task.outer; o++)
            for (size_t row = 0; row < task.rows; row++)
                for (size_t col = 0; col < width; col++) {
                    size_t from = col < task.cols
                                      ? row * task.cols + col
                                      : task.rows * task.cols + (col - task.cols) * task.rows + row;
                    memcpy(expected + o * task.pitch + (row * width + col) * task.unit,
                           before + o * task.pitch + from * task.unit, task.unit);
                }
        run_stages(engine, &task, 1, (size_t)64 << 20, buffer.bytes);
        assert_memory_equal(buffer.bytes, expected, size);
        task.method = RS_TRANSPOSE_SPLIT;
        run_stages(engine, &task, 1, (size_t)64 << 20, buffer.bytes);
        assert_memory_equal(buffer.bytes, before, size);
        assert_true(guarded_intact(&buffer));
        free(before);
        free(expected);
        guarded_free(&buffer);
    }
    restride_engine_destroy(engine);
}

/* What a stage of tiles, or 210!, makes of one matrix. */
static void reference_stage(const rs_transpose_task *t, unsigned char *to,
                            const unsigned char *from)
{
    const bool tiles = t->method == RS_TRANSPOSE_TILES;
    const size_t m = t->tile;
    const size_t elements = t->rows * t->cols * (tiles ? 1 : m);
    for (size_t e = 0; e < elements; e++) {
        size_t place;
        if (tiles) { /* row and column in its tile change places */
            const size_t row = e / t->cols, col = e % t->cols;
            place = (row / m * m + col % m) * t->cols + col / m * m + row % m;
        } else { /* rows.m.cols becomes cols.m.rows */
            const size_t col = e % t->cols, x = e / t->cols % m, row = e / t->cols / m;
            place = (col * m + x) * t->rows + row;
        }
        memcpy(to + place * t->unit, from + e * t->unit, t->unit);
    }
}

/* Tiles, and 210! with chains, whole cycles and elements of several slices. */
static void test_tiles_and_reverse(void **state)
{
    (void)state;
    static const size_t long_units[] = {300, 64, 12, 1, 5000, 8200};
    uint64_t seed = 210;
    for (int i = 0; i < 600; i++) {
        const bool tiles = i % 2 == 0;
        const size_t tile = 1 + test_random(&seed, i % 20 == 0 ? 300 : 40);
        rs_transpose_task task = {.method = tiles ? RS_TRANSPOSE_TILES : RS_TRANSPOSE_REVERSE,
                                  .outer = 1 + test_random(&seed, i % 3 == 0 ? 20 : 2),
                                  .count = 1,
                                  .rows = 1 + test_random(&seed, 9),
                                  .cols = 1 + test_random(&seed, 9),
                                  .unit = tiles ? units[test_random(&seed, UNIT_COUNT)]
                                                : long_units[test_random(&seed, 6)],
                                  .tile = tile};
        task.rows *= tiles ? tile : 1;
        task.cols *= tiles ? tile : 1;
        const size_t bytes = task.rows * task.cols * (tiles ? 1 : tile) * task.unit;
        task.pitch = bytes + test_random(&seed, 3) * task.unit;
        const size_t size = task.outer * task.pitch;
        guarded_buffer buffer = guarded_create(size, seed % 64, seed);
        unsigned char *expected = malloc(size);
        assert_non_null(expected);
        memcpy(expected, buffer.bytes, size);
        for (size_t o = 0; o < task.outer; o++)
            reference_stage(&task, expected + o * task.pitch, buffer.bytes + o * task.pitch);
        restride_engine *engine;
        assert_int_equal(test_host_engine(&engine, 1 + (int)test_random(&seed, 4)), RESTRIDE_OK);
        run_stages(engine, &task, 1, i % 4 < 2 ? (size_t)64 << 20 : 40 * task.unit + 70000,
                   buffer.bytes);
        restride_engine_destroy(engine);
        if (memcmp(buffer.bytes, expected, size) != 0 || !guarded_intact(&buffer))
            fail_msg("%s, %zu x %zu x %zu of %zu bytes, %zu times", tiles ? "tiles" : "210!",
                     task.rows, tile, task.cols, task.unit, task.outer);
        free(expected);
        guarded_free(&buffer);
    }
}

/* Rows of tiles that are long enough for the planner, and shapes that have them. */
static void test_tiles_of_plans(void **state)
{
    (void)state;
    static const struct {
        size_t unit, tile;
    } kinds[] = {{1, 2048}, {12, 200}, {100, 24}, {256, 9}, {33, 64}, {64, 40}};
    uint64_t seed = 99;
    size_t methods[RS_TRANSPOSE_METHOD_COUNT] = {0};
    for (int i = 0; i < 40; i++) {
        const size_t unit = kinds[i == 0 ? 0 : 1 + i % 5].unit;
        const size_t tile = kinds[i == 0 ? 0 : 1 + i % 5].tile;
        const size_t most = unit < 16 ? 3 : 6;
        const rs_matrices m = {tile * (2 + test_random(&seed, most - 1)),
                               tile * (2 + test_random(&seed, most - 1)), unit,
                               1 + test_random(&seed, 2), 0};
        if (m.rows % m.cols != 0 && m.cols % m.rows != 0)
            check_choice(&m, (size_t)512 << 10, 1 + (int)test_random(&seed, 4), seed, "tiles 210!",
                         methods);
    }
    assert_true(methods[RS_TRANSPOSE_TILES] >= 10);
    assert_int_equal(methods[RS_TRANSPOSE_TILES], methods[RS_TRANSPOSE_REVERSE]);
}

static void check_tile(size_t unit, size_t rows, size_t cols, size_t edge, size_t source_gap,
                       size_t target_gap, uint64_t seed)
{
    size_t source_stride = cols * unit + source_gap;
    size_t target_stride = rows * unit + target_gap;
    guarded_buffer source = guarded_create(rows * source_stride, seed % 64, seed);
    guarded_buffer target = guarded_create(cols * target_stride, seed % 61, seed + 1);
    rs_host_tile tile = rs_host_tile_choose(unit, edge);
    rs_host_tile_transpose(&tile, source.bytes, source_stride, target.bytes, target_stride, rows,
                           cols);
    for (size_t row = 0; row < rows; row++)
        for (size_t col = 0; col < cols; col++)
            assert_memory_equal(target.bytes + col * target_stride + row * unit,
                                source.bytes + row * source_stride + col * unit, unit);
    assert_true(guarded_intact(&source) && guarded_intact(&target));
    guarded_free(&source);
    guarded_free(&target);
}

/* Pieces from a few bytes to some hundred thousand, in any order, with room for what waits and
 * without; small ones slide far and long ones slide little. */
static void test_reorder(void **state)
{
    (void)state;
    enum { MOST_PIECES = 9 };
    uint64_t seed = 607;
    for (int i = 0; i < 160; i++) {
        rs_piece pieces[MOST_PIECES];
        size_t count = 2 + test_random(&seed, MOST_PIECES - 1);
        rs_transpose_task task = {.method = RS_TRANSPOSE_REORDER,
                                  .outer = i % 3 == 0 ? 1 + test_random(&seed, 6) : 1,
                                  .count = 1,
                                  .rows = 1,
                                  .unit = 1,
                                  .pieces = pieces,
                                  .piece_count = count};
        for (size_t k = 0; k < count; k++) {
            pieces[k] = (rs_piece){1 + test_random(&seed, k % 2 == 0 ? 900000 : 3000), 1, k};
            task.cols += pieces[k].count;
        }
        for (size_t k = count; k-- > 1;) {
            size_t other = test_random(&seed, k + 1);
            size_t held = pieces[k].place;
            pieces[k].place = pieces[other].place;
            pieces[other].place = held;
        }
        task.pitch = task.cols + test_random(&seed, 3);
        guarded_buffer buffer = guarded_create(task.outer * task.pitch, seed % 64, seed);
        unsigned char *expected = malloc(buffer.size);
        assert_non_null(expected);
        memcpy(expected, buffer.bytes, buffer.size);
        for (size_t o = 0; o < task.outer; o++)
            for (size_t k = 0, from = o * task.pitch; k < count; from += pieces[k++].count) {
                size_t to = o * task.pitch;
                for (size_t other = 0; other < count; other++)
                    to += pieces[other].place < pieces[k].place ? pieces[other].count : 0;
                memcpy(expected + to, buffer.bytes + from, pieces[k].count);
            }
        restride_engine *engine;
        assert_int_equal(test_host_engine(&engine, 1 + (int)test_random(&seed, 4)), RESTRIDE_OK);
        run_stages(engine, &task, 1, i % 4 == 0 ? 8192 : (size_t)64 << 20, buffer.bytes);
        restride_engine_destroy(engine);
        assert_memory_equal(buffer.bytes, expected, buffer.size);
        assert_true(guarded_intact(&buffer));
        free(expected);
        guarded_free(&buffer);
    }
}

/* Every version of a tile that this processor has agrees with the definition, at any stride. */
static void test_tiles(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int i = 0; i < 2000; i++) {
        size_t unit = units[test_random(&seed, UNIT_COUNT)];
        size_t rows = 1 + test_random(&seed, unit == 1 ? 200 : 50);
        size_t cols = 1 + test_random(&seed, unit == 1 ? 200 : 50);
        size_t edge = 1 + test_random(&seed, unit == 1 ? 100 : 20);
        size_t source_gap = test_random(&seed, 9);
        check_tile(unit, rows, cols, edge, source_gap, test_random(&seed, 9), seed);
    }
}

/* Dense structures of a few members, which have loops of their own, and arrays at any stride. */
static void test_slim(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (int i = 0; i < 1000; i++) {
        size_t unit = units[test_random(&seed, UNIT_COUNT)];
        size_t count = 1 + test_random(&seed, 9);
        size_t length = count + test_random(&seed, 100);
        size_t gap = test_random(&seed, 2) * 3;
        check_tile(unit, length, count, count, 0, gap, seed);
        check_tile(unit, count, length, count, gap, 0, seed);
    }
}

/* Where scratch memory is short, what each thread has of it shrinks before threads do. */
static void test_threads_before_room(void **state)
{
    (void)state;
    static const rs_transpose_task blocks = {.method = RS_TRANSPOSE_PANELS,
                                             .outer = 1,
                                             .pitch = 640000,
                                             .count = 10000,
                                             .rows = 4,
                                             .cols = 4,
                                             .unit = 4};
    static const rs_transpose_task elements = {.method = RS_TRANSPOSE_CHAINS,
                                               .outer = 16,
                                               .pitch = 30 * 1000 * 64,
                                               .count = 1,
                                               .rows = 30,
                                               .cols = 1000,
                                               .unit = 64};
    const rs_transpose_task *const tasks[] = {&blocks, &elements};
    restride_engine *engine;
    assert_int_equal(test_host_engine(&engine, 2), RESTRIDE_OK);
    for (size_t i = 0; i < sizeof tasks / sizeof tasks[0]; i++) {
        rs_stage *stage;
        enum { PLENTY = 1 << 20 };
        size_t kept;
        assert_int_equal(engine->operations->create_transpose(engine, tasks[i], PLENTY, &stage),
                         RESTRIDE_OK);
        size_t limit = engine->operations->scratch_bytes(stage, &kept) * 3 / 4;
        engine->operations->destroy_stage(stage);
        assert_int_equal(engine->operations->create_transpose(engine, tasks[i], limit, &stage),
                         RESTRIDE_OK);
        assert_int_equal(((const rs_host_stage *)stage)->threads, 2);
        assert_true(engine->operations->scratch_bytes(stage, &kept) <= limit);
        engine->operations->destroy_stage(stage);
    }
    restride_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiles),          cmocka_unit_test(test_slim),
        cmocka_unit_test(test_join_split),     cmocka_unit_test(test_threads_before_room),
        cmocka_unit_test(test_reorder),        cmocka_unit_test(test_tiles_and_reverse),
        cmocka_unit_test(test_tiles_of_plans), cmocka_unit_test(test_small_chips),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
