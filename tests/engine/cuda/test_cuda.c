/*
 * The stages of the CUDA engine against their definitions, element by element, on random data with
 * canaries: on a GPU, or on the emulated device.
 *
 *     test_cuda              a fixed choice of shapes
 *     test_cuda SEED COUNT   COUNT random shapes of every method
 */
#include "../../transpose/reference.h"
#include "cmocka_all.h"
#include "definitions.h"
#include "device.h"
#include "engine/cuda/cuda.h"
#include "random_cases.h"
#include "restride/cuda.h"
#include "restride/restride.h"
#include "transpose/cost.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static restride_engine *engine;
static uint64_t first_seed = 4711;
static size_t random_shapes = 6;

/* ---- one stage ---- */

static void fail_task(const rs_transpose_task *t, const char *what)
{
    fail_msg("method %d, %zu matrices %zu bytes apart from %zu on, %zu blocks of %zu x %zu (tail "
             "%zu) elements of %zu bytes: %s; %s",
             (int)t->method, t->outer, t->pitch, t->offset, t->count, t->rows, t->cols, t->tail,
             t->unit, what, restride_last_error());
}

static void check_task(const rs_transpose_task *task, uint64_t seed)
{
    size_t bytes = task->offset + task->outer * task->pitch;
    size_t matrix = task->count * task->rows * (task->cols + task->tail) * task->unit;
    if (task->method == RS_TRANSPOSE_REVERSE)
        matrix *= task->tile;
    if (matrix > task->pitch)
        bytes += matrix - task->pitch;
    size_t repeats = task->repeats > 1 ? task->repeats : 1;
    bytes += (repeats - 1) * task->repeat_pitch;
    unsigned char *before = malloc(bytes);
    unsigned char *expected = malloc(bytes);
    unsigned char *after = malloc(bytes);
    assert_true(before != NULL && expected != NULL && after != NULL);
    for (size_t i = 0; i < bytes; i++)
        before[i] = (unsigned char)test_random(&seed, 256);
    memcpy(expected, before, bytes);
    for (size_t i = 0; i < repeats * task->outer; i++) {
        size_t place =
            task->offset + i / task->outer * task->repeat_pitch + i % task->outer * task->pitch;
        reference_stage(expected + place, before + place, task);
    }
    rs_stage *stage = NULL;
    restride_status status = engine->operations->create_transpose(engine, task, SIZE_MAX, &stage);
    const rs_engine_traits traits = engine->operations->traits(engine);
    bool refused = traits.cost(engine, task, SIZE_MAX) > 1e30;
    if (status != RESTRIDE_OK && !(status == RESTRIDE_DEVICE_LIMIT && refused))
        fail_task(task, "not made");
    if (status != RESTRIDE_OK) {
        free(before);
        free(expected);
        free(after);
        return;
    }
    cuda_memory memory = cuda_memory_create(before, bytes);
    if (engine->operations->run(stage, (void *)memory.pointer, NULL, NULL, NULL) != RESTRIDE_OK)
        fail_task(task, "not run");
    if (!cuda_memory_read(&memory, after))
        fail_task(task, "a canary changed or the device failed");
    if (memcmp(after, expected, bytes) != 0)
        fail_task(task, "wrong elements");
    engine->operations->destroy_stage(stage);
    cuda_memory_free(&memory);
    free(before);
    free(expected);
    free(after);
}

static const size_t units[] = {1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 40, 100, 256, 1000};
enum { UNIT_COUNT = sizeof units / sizeof units[0] };

/* A task whose matrices have about `most` bytes at most. */
static rs_transpose_task random_task(rs_transpose_method method, uint64_t *seed, size_t most)
{
    rs_transpose_task task = {.method = method,
                              .outer = 1 + test_random(seed, 3) / 2 * test_random(seed, 3),
                              .count = 1,
                              .unit = units[test_random(seed, UNIT_COUNT)]};
    size_t elements = most / task.unit / (task.outer + 1) + 4;
    size_t side = 2;
    while (side * side < elements)
        side++;
    static const size_t shares[] = {1, 2, 7, 40};
    size_t share = shares[test_random(seed, 4)];
    size_t a = 1 + test_random(seed, side / share + 1);
    size_t b = 1 + test_random(seed, side * share / 2 + 1);
    bool upright = test_random(seed, 2) == 0;
    task.rows = upright ? a : b;
    task.cols = upright ? b : a;
    if (test_random(seed, 3) == 0) { /* sides with a common divisor */
        task.rows = task.rows / 6 * 6 + 6;
        task.cols = task.cols / 6 * 6 + 6;
    }
    if (method == RS_TRANSPOSE_SQUARE)
        task.cols = task.rows = a;
    if (method == RS_TRANSPOSE_PANELS && test_random(seed, 2) == 0) {
        task.count = 1 + test_random(seed, 12);
        task.rows = task.rows / task.count + 1;
    }
    if (method == RS_TRANSPOSE_JOIN || method == RS_TRANSPOSE_SPLIT)
        task.tail = 1 + test_random(seed, 5);
    if (method == RS_TRANSPOSE_TILES || method == RS_TRANSPOSE_REVERSE)
        task.tile = 1 + test_random(seed, 20);
    if (method == RS_TRANSPOSE_TILES) {
        task.rows = (task.rows / task.tile + 1) * task.tile;
        task.cols = (task.cols / task.tile + 1) * task.tile;
    }
    size_t matrix = task.count * task.rows * (task.cols + task.tail) * task.unit;
    if (method == RS_TRANSPOSE_REVERSE)
        matrix *= task.tile;
    task.pitch = matrix + task.unit * test_random(seed, 3);
    task.offset = task.unit * test_random(seed, 3);
    return task;
}

static void check_method(rs_transpose_method method)
{
    uint64_t seed = first_seed + (uint64_t)method;
    size_t most = cuda_device_emulated() ? 90000 : 3000000;
    for (size_t i = 0; i < random_shapes; i++) {
        const rs_transpose_task task = random_task(method, &seed, most);
        check_task(&task, seed);
    }
}

static void test_panels(void **state)
{
    (void)state;
    check_method(RS_TRANSPOSE_PANELS);
    /* So large that several blocks must hold a panel together. */
    const rs_transpose_task gang = {.method = RS_TRANSPOSE_PANELS,
                                    .outer = 2,
                                    .pitch = (size_t)2 * 120 * 150 * 4,
                                    .count = 2,
                                    .rows = 120,
                                    .cols = 150,
                                    .unit = 4};
    check_task(&gang, 1);
}

/* Elements of one and two bytes, which move four bytes at once: rows and columns that begin
 * anywhere, tiles that are whole, ragged, or as long as a panel, and the first and last bytes of
 * all. */
static void test_packed(void **state)
{
    (void)state;
    /* Rows, columns, bytes, panels, matrices, offset and what lies between them, in elements. */
    static const size_t shapes[][7] = {
        {253, 257, 1, 1, 1, 0, 0}, {131, 407, 1, 2, 2, 3, 1}, {512, 112, 1, 1, 2, 1, 4},
        {5, 11001, 1, 3, 1, 2, 0}, {17001, 3, 1, 1, 2, 1, 3}, {130, 379, 1, 2, 1, 5, 0},
        {1, 50001, 1, 1, 1, 1, 0}, {50003, 1, 1, 1, 1, 0, 0}, {129, 505, 1, 1, 3, 0, 2},
        {259, 131, 2, 1, 2, 1, 1}, {127, 301, 2, 2, 1, 3, 0}, {128, 252, 2, 1, 1, 0, 0},
        {3, 9001, 2, 2, 2, 1, 5},  {9001, 3, 2, 1, 1, 0, 0},  {1, 30001, 2, 1, 2, 1, 1},
        {385, 126, 2, 1, 1, 1, 0}, {63, 511, 2, 1, 2, 0, 3},  {641, 77, 1, 1, 1, 7, 0},
        {127, 131, 4, 1, 2, 1, 3}, {65, 203, 4, 2, 1, 2, 0},  {64, 192, 4, 1, 2, 0, 0},
        {3, 5001, 4, 1, 2, 3, 2},  {5001, 3, 4, 2, 1, 1, 0},  {1, 15001, 4, 1, 1, 2, 0},
        {257, 62, 4, 1, 1, 3, 0},  {33, 241, 8, 1, 2, 1, 1},  {97, 65, 8, 2, 1, 1, 0},
        {3, 3001, 8, 1, 2, 1, 1},  {2777, 3, 8, 1, 1, 0, 0},  {45, 301, 4, 1, 2, 1, 2}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const size_t *s = shapes[i];
        const rs_transpose_task task = {.method = RS_TRANSPOSE_PANELS,
                                        .offset = s[5] * s[2],
                                        .outer = s[4],
                                        .pitch = (s[3] * s[0] * s[1] + s[6]) * s[2],
                                        .count = s[3],
                                        .rows = s[0],
                                        .cols = s[1],
                                        .unit = s[2]};
        check_task(&task, i);
    }
}

static void test_chains(void **state)
{
    (void)state;
    check_method(RS_TRANSPOSE_CHAINS);
    static const size_t shapes[][4] = {
        {50, 72, 256, 1}, {51, 50, 12, 1},  {64, 64, 16, 2},   {3, 700, 40, 1},  {2, 2, 4000, 3},
        {97, 101, 8, 1},  {130, 260, 8, 1}, {257, 150, 12, 2}, {9, 14, 2060, 2}, {31, 8, 8240, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        const rs_transpose_task task = {.method = RS_TRANSPOSE_CHAINS,
                                        .outer = shapes[i][3],
                                        .pitch = shapes[i][0] * shapes[i][1] * shapes[i][2],
                                        .count = 1,
                                        .rows = shapes[i][0],
                                        .cols = shapes[i][1],
                                        .unit = shapes[i][2]};
        check_task(&task, i);
    }
}

static void test_square(void **state)
{
    (void)state;
    check_method(RS_TRANSPOSE_SQUARE);
    static const size_t packed[][2] = {{100, 1}, {130, 2}, {12, 1}}; /* several elements a word */
    for (size_t i = 0; i < sizeof packed / sizeof packed[0]; i++) {
        const rs_transpose_task task = {.method = RS_TRANSPOSE_SQUARE,
                                        .offset = 4,
                                        .outer = 2,
                                        .pitch = packed[i][0] * packed[i][0] * packed[i][1] + 8,
                                        .count = 1,
                                        .rows = packed[i][0],
                                        .cols = packed[i][0],
                                        .unit = packed[i][1]};
        check_task(&task, i);
    }
}

static void test_tiles(void **state)
{
    (void)state;
    check_method(RS_TRANSPOSE_TILES);
    check_method(RS_TRANSPOSE_REVERSE);
}

static void test_tails(void **state)
{
    (void)state;
    check_method(RS_TRANSPOSE_JOIN);
    check_method(RS_TRANSPOSE_SPLIT);
    /* Rows, columns, columns of the tails, bytes an element, matrices, and where they begin: more
     * than all blocks hold at once, with rows that are short, long, or begin anywhere. */
    static const size_t shapes[][6] = {
        {70, 5003, 5, 1, 1, 3},  {1000, 101, 3, 4, 2, 8}, {40000, 7, 2, 1, 1, 1},
        {3, 70001, 2, 2, 1, 2},  {2500, 3, 40, 2, 1, 0},  {9, 4000, 1, 12, 1, 4},
        {30000, 1, 3, 8, 1, 16}, {2, 150001, 1, 1, 2, 5}, {1, 90001, 3, 1, 1, 0}};
    for (size_t i = 0; i < 2 * sizeof shapes / sizeof shapes[0]; i++) {
        const size_t *s = shapes[i / 2];
        const rs_transpose_task task = {.method =
                                            i % 2 == 0 ? RS_TRANSPOSE_JOIN : RS_TRANSPOSE_SPLIT,
                                        .offset = s[5],
                                        .outer = s[4],
                                        .pitch = s[0] * (s[1] + s[2]) * s[3] + s[5],
                                        .count = 1,
                                        .rows = s[0],
                                        .cols = s[1],
                                        .tail = s[2],
                                        .unit = s[3]};
        check_task(&task, i);
    }
}

static void test_shuffles(void **state)
{
    (void)state;
    for (int method = RS_TRANSPOSE_C2R_ROTATE; method <= RS_TRANSPOSE_R2C_ROTATE; method++)
        check_method((rs_transpose_method)method);
    /* Rows, columns, bytes an element, matrices: several panels for each gang. */
    static const size_t shapes[][4] = {
        {37, 1501, 4, 2}, {35, 2003, 2, 1}, {301, 643, 4, 1}, {50, 999, 8, 2}, {33, 3517, 1, 1}};
    for (size_t i = 0; i < 2 * sizeof shapes / sizeof shapes[0]; i++) {
        const size_t *s = shapes[i / 2];
        const rs_transpose_task task = {.method = i % 2 == 0 ? RS_TRANSPOSE_C2R_ROTATE
                                                             : RS_TRANSPOSE_C2R_COLUMNS,
                                        .offset = s[2],
                                        .outer = s[3],
                                        .pitch = s[0] * s[1] * s[2] + s[2],
                                        .count = 1,
                                        .rows = s[0],
                                        .cols = s[1],
                                        .unit = s[2]};
        check_task(&task, i);
    }
}

/* Two stages have one kernel and want different shares of a multiprocessor's memory. */
static void test_one_kernel(void **state)
{
    (void)state;
    enum { LONG = 15000, SHORT = 13000 };
    rs_transpose_task task = {.method = RS_TRANSPOSE_R2C_ROWS,
                              .outer = 1,
                              .count = 1,
                              .rows = 2,
                              .cols = LONG,
                              .unit = 4};
    task.pitch = task.rows * task.cols * task.unit;
    unsigned char *zeros = calloc(1, task.pitch);
    assert_non_null(zeros);
    cuda_memory memory = cuda_memory_create(zeros, task.pitch);
    rs_stage *first = NULL;
    rs_stage *second = NULL;
    assert_int_equal(engine->operations->create_transpose(engine, &task, SIZE_MAX, &first),
                     RESTRIDE_OK);
    task.cols = SHORT;
    assert_int_equal(engine->operations->create_transpose(engine, &task, SIZE_MAX, &second),
                     RESTRIDE_OK);
    assert_int_equal(engine->operations->run(first, (void *)memory.pointer, NULL, NULL, NULL),
                     RESTRIDE_OK);
    assert_int_equal(engine->operations->run(second, (void *)memory.pointer, NULL, NULL, NULL),
                     RESTRIDE_OK);
    engine->operations->destroy_stage(first);
    engine->operations->destroy_stage(second);
    cuda_memory_free(&memory);
    free(zeros);
}

/* Whole plans, as the planner makes them. */
static void test_plans(void **state)
{
    (void)state;
    uint64_t seed = first_seed;
    for (size_t i = 0; i < random_shapes; i++) {
        rs_transpose_task t = random_task(RS_TRANSPOSE_CHAINS, &seed, 60000);
        size_t bytes = t.outer * t.rows * t.cols * t.unit;
        guarded_buffer before = guarded_create(bytes, 0, seed);
        unsigned char *expected = malloc(bytes);
        unsigned char *after = malloc(bytes);
        reference_transpose(expected, before.bytes, t.outer, t.rows, t.cols, t.unit);
        restride_plan *plan;
        if (restride_plan_transpose(&plan, engine, t.rows, t.cols, t.unit, t.outer) != RESTRIDE_OK)
            fail_task(&t, "no plan");
        char *text = restride_plan_describe(plan);
        assert_non_null(text);
        cuda_memory memory = cuda_memory_create(before.bytes, bytes);
        if (restride_execute(plan, (void *)memory.pointer) != RESTRIDE_OK)
            fail_task(&t, "not executed");
        if (!cuda_memory_read(&memory, after) || memcmp(after, expected, bytes) != 0)
            fail_task(&t, text);
        cuda_memory_free(&memory);
        restride_plan_destroy(plan);
        free(text);
        free(expected);
        free(after);
        guarded_free(&before);
    }
}

static void test_buffers(void **state)
{
    (void)state;
    restride_plan *plan;
    assert_int_equal(restride_plan_transpose(&plan, engine, 10, 20, 4, 1), RESTRIDE_OK);
    cuda_memory memory = cuda_memory_create(NULL, 800);
    assert_int_equal(restride_execute(plan, (void *)(memory.pointer + 4)),
                     RESTRIDE_INVALID_ARGUMENT);
    assert_non_null(strstr(restride_last_error(), "multiple of 16 bytes"));
    assert_int_equal(restride_execute(plan, (void *)(memory.pointer + 800 + 3584)),
                     RESTRIDE_INVALID_ARGUMENT);
    assert_non_null(strstr(restride_last_error(), "512 bytes"));
    char on_host[1024];
    uintptr_t aligned = ((uintptr_t)on_host + 15) / 16 * 16;
    assert_int_equal(restride_execute(plan, (void *)aligned), RESTRIDE_DEVICE_ERROR);
    cuda_memory_free(&memory);
    restride_plan_destroy(plan);
}

/* Elements that the bulk copy engine moves, in one slice or several, and those that it does not. */
static void test_carried(void **state)
{
    (void)state;
    static const struct {
        size_t rows, cols, unit, outer;
        const char *shape;
    } cases[] = {
        {51, 50, 1296, 2, "slices of 1296 bytes"}, {4, 180, 1280, 2, "slices of 1280 bytes"},
        {2, 9, 20000, 1, "slices of 10112 bytes"}, {3, 7, 40000, 2, "slices of 13440 bytes"},
        {2, 9, 16384, 1, "slices of 16384 bytes"}, {17, 5, 1008, 1, "of 32 threads"},
        {2, 9, 2008, 1, "of 32 threads"}, /* no words of 16 bytes */
    };
    for (size_t i = 0; i < 2 * sizeof cases / sizeof cases[0]; i++) {
        const size_t c = i / 2;
        const rs_transpose_task task = {.method = RS_TRANSPOSE_CHAINS,
                                        .outer = cases[c].outer,
                                        .pitch = cases[c].rows * cases[c].cols * cases[c].unit + 16,
                                        .offset = 32,
                                        .count = 1,
                                        .rows = i % 2 == 0 ? cases[c].rows : cases[c].cols,
                                        .cols = i % 2 == 0 ? cases[c].cols : cases[c].rows,
                                        .unit = cases[c].unit};
        rs_stage *stage;
        assert_int_equal(engine->operations->create_transpose(engine, &task, SIZE_MAX, &stage),
                         RESTRIDE_OK);
        if (cuda_device_emulated() &&
            strstr(((rs_cuda_stage *)stage)->shape, cases[c].shape) == NULL)
            fail_task(&task, ((rs_cuda_stage *)stage)->shape);
        engine->operations->destroy_stage(stage);
        check_task(&task, task.rows);
    }
}

/* Panels of a few rows or columns, which one block transposes alone. */
static void test_slim(void **state)
{
    (void)state;
    static const size_t words[] = {4, 8, 16};
    uint64_t seed = first_seed + 11;
    for (size_t i = 0; i < 60; i++) {
        size_t few = 2 + i / 2 % 7;
        size_t unit = words[test_random(&seed, 3)];
        size_t length = (33000 + test_random(&seed, 26000)) / (few * unit);
        bool suits = i % 5 != 0;
        if (suits)
            length = length / (16 / unit) * (16 / unit);
        else if (unit != 16)
            length |= 1;
        rs_transpose_task task = {.method = RS_TRANSPOSE_PANELS,
                                  .outer = 1 + i % 2,
                                  .offset = 48,
                                  .count = 1 + test_random(&seed, 5),
                                  .rows = i % 2 == 0 ? few : length,
                                  .cols = i % 2 == 0 ? length : few,
                                  .unit = unit};
        task.pitch = task.count * few * length * unit + 32;
        if (!suits && unit != 16)
            task.pitch = task.pitch / unit * unit;
        if (i % 4 == 3) { /* whose matrices need not lie where bulk copies may begin */
            task.repeats = 2;
            task.repeat_pitch = task.outer * task.pitch + i % 8 / 4 * unit;
        }
        rs_stage *stage;
        assert_int_equal(engine->operations->create_transpose(engine, &task, SIZE_MAX, &stage),
                         RESTRIDE_OK);
        bool alone = strstr(((rs_cuda_stage *)stage)->shape, "slices of") != NULL;
        bool expected = (task.pitch | task.repeat_pitch | length * unit) % 16 == 0 &&
                        (task.rows == few || few * unit <= 32);
        if (cuda_device_emulated() && few * length * unit < 60000 && alone != expected)
            fail_task(&task, ((rs_cuda_stage *)stage)->shape);
        engine->operations->destroy_stage(stage);
        check_task(&task, i);
    }
}

/* Lines that stay over, columns that the square does not have, or both, and neither; several runs
 * count the flags on. */
static void test_groups(void **state)
{
    (void)state;
    uint64_t seed = first_seed + 12;
    size_t over = 0;
    size_t short_of = 0;
    for (size_t i = 0; i < 24; i++) {
        bool in_parts = i % 12 > 9;
        size_t unit = in_parts ? 16 : units[test_random(&seed, 12)];
        size_t group = in_parts ? 3 : 2 + test_random(&seed, 6);
        size_t shorter = (in_parts ? 700 : 40) + test_random(&seed, 100);
        size_t longer = group * (shorter - test_random(&seed, 6)) + test_random(&seed, 6);
        const rs_transpose_task task = {.method = RS_TRANSPOSE_GROUPS,
                                        .outer = 1,
                                        .pitch = longer * shorter * unit,
                                        .offset = test_random(&seed, 4) * unit,
                                        .count = 1,
                                        .rows = i % 2 == 0 ? longer : shorter,
                                        .cols = i % 2 == 0 ? shorter : longer,
                                        .tile = group,
                                        .unit = unit,
                                        .repeats = i % 6 == 0 ? 2 : 0,
                                        .repeat_pitch = longer * shorter * unit + i % 5};
        size_t side = longer / group < shorter ? longer / group : shorter;
        assert_true(rs_cuda_groups_bytes((const rs_cuda_engine *)engine, &task) != SIZE_MAX);
        over += longer > group * side;
        short_of += side < shorter;
        check_task(&task, i);
    }
    assert_true(over > 8 && short_of > 8);
}

/* Programs with the same definitions are told apart by their sources, and are made once. */
static void test_two_sources(void **state)
{
    (void)state;
    static const char first[] = "KERNEL same(word *data) { data[0] = 1; }\n";
    static const char second[] = "KERNEL same(word *data) { data[0] = 2; }\n";
    static const char *const sources[] = {first, second, first};
    const rs_cuda_define defines[] = {{"WORD_BYTES", NULL, 4}};
    rs_cuda_kernel kernels[3];
    for (int i = 0; i < 3; i++)
        assert_int_equal(rs_cuda_kernel_create(&kernels[i], (const rs_cuda_engine *)engine, "same",
                                               sources[i], defines, 1, 32, 0),
                         RESTRIDE_OK);
    assert_ptr_not_equal(kernels[0].function, kernels[1].function);
    assert_ptr_equal(kernels[0].function, kernels[2].function);
}

/* The planner leaves methods out by what a stage costs at least. */
static void test_least_cost(void **state)
{
    (void)state;
    uint64_t seed = first_seed + 9;
    size_t possible = 0;
    for (int i = 0; i < 20000; i++) {
        const rs_transpose_task task = {.method = test_random(&seed, RS_TRANSPOSE_METHOD_COUNT),
                                        .outer = 1 + test_random(&seed, 4),
                                        .count = 1 + test_random(&seed, 100),
                                        .rows = 1 + test_random(&seed, 3000),
                                        .cols = 1 + test_random(&seed, 3000),
                                        .tail = 1 + test_random(&seed, 10),
                                        .inner_rows = 1 + test_random(&seed, 100),
                                        .inner_cols = 1 + test_random(&seed, 100),
                                        .tile = 1 + test_random(&seed, 100),
                                        .unit = (size_t)1 << test_random(&seed, 15)};
        double cost = rs_cuda_cost(engine, &task, (size_t)1 << 30);
        assert_true(cost >= RS_CUDA_LEAST_COST);
        possible += cost < RS_COST_IMPOSSIBLE;
    }
    assert_true(possible > 2000);
    assert_true(engine->operations->traits(engine).least_cost == RS_CUDA_LEAST_COST);
}

int main(int count, char **arguments)
{
    if (!cuda_device_open()) {
        puts("no CUDA device here");
        return 77;
    }
    random_cases(count, arguments, &first_seed, &random_shapes);
    if (restride_engine_create_cuda(&engine, NULL) != RESTRIDE_OK) {
        puts(restride_last_error());
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_panels),     cmocka_unit_test(test_packed),
        cmocka_unit_test(test_chains),     cmocka_unit_test(test_square),
        cmocka_unit_test(test_tails),      cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_shuffles),   cmocka_unit_test(test_plans),
        cmocka_unit_test(test_buffers),    cmocka_unit_test(test_one_kernel),
        cmocka_unit_test(test_least_cost), cmocka_unit_test(test_two_sources),
        cmocka_unit_test(test_carried),    cmocka_unit_test(test_slim),
        cmocka_unit_test(test_groups),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    restride_engine_destroy(engine);
    return failed;
}
