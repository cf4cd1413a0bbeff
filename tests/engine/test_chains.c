/*
 * The pieces of planned chains without a device: the kernels that find them run here as C. Against
 * walks over every cycle for small sizes, and by what pieces must have in common for sizes that
 * nobody could walk.
 */
#include "base/arithmetic.h"
#include "base/cycles.h"
#include "cmocka_all.h"
#include "engine/device/chains.h"
#include "planning.h"

#include <stdlib.h>
#include <string.h>

uint64_t planning_item;

/* ---- a device that has nothing but memory and one kernel ---- */

static const struct {
    const char *name;
    const char *position;
    planning_kernel *run;
} kernels_here[] = {
    {"cut_families", "=uint", planning_families_narrow},
    {"cut_families", "=ulong", planning_families_wide},
    {"walk_marks", "=uint", planning_walk_marks},
    {"pick_cuts", "=uint", planning_pick_cuts},
    {"join_marks", "=uint", planning_join_marks},
};

static restride_status create_kernels(rs_device_engine *engine, const char *source,
                                      const char *options, const char *const names[], size_t count,
                                      rs_device_kernel kernels[])
{
    (void)engine;
    (void)source;
    const char *position = strstr(options, "POSITION=") + strlen("POSITION");
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < sizeof kernels_here / sizeof kernels_here[0]; k++)
            if (strcmp(names[i], kernels_here[k].name) == 0 &&
                strncmp(position, kernels_here[k].position, strlen(kernels_here[k].position)) == 0)
                kernels[i] = (rs_device_kernel)&kernels_here[k].run;
    return RESTRIDE_OK;
}

static restride_status allocate(rs_device_engine *engine, size_t bytes, rs_device_memory *memory)
{
    (void)engine;
    *memory = malloc(bytes);
    return *memory != NULL ? RESTRIDE_OK : RESTRIDE_OUT_OF_MEMORY;
}

static void release(rs_device_engine *engine, rs_device_memory memory)
{
    (void)engine;
    free(memory);
}

static restride_status read_memory(rs_device_engine *engine, void *to, rs_device_memory from,
                                   size_t bytes, const char *doing)
{
    (void)engine;
    (void)doing;
    memcpy(to, from, bytes);
    return RESTRIDE_OK;
}

static restride_status write_memory(rs_device_engine *engine, rs_device_memory to, const void *from,
                                    size_t bytes, const char *doing)
{
    (void)engine;
    (void)doing;
    memcpy(to, from, bytes);
    return RESTRIDE_OK;
}

static void launch(rs_device_sequence *sequence, rs_device_kernel kernel,
                   const rs_device_argument *arguments, size_t count, size_t groups,
                   size_t groups_2, size_t items)
{
    (void)sequence;
    (void)count;
    (void)groups_2;
    for (planning_item = 0; planning_item < groups * items; planning_item++)
        (*(planning_kernel *const *)kernel)(arguments);
}

static restride_status finish(rs_device_sequence *sequence, const char *doing)
{
    (void)sequence;
    (void)doing;
    return RESTRIDE_OK;
}

static restride_status finish_reading(rs_device_sequence *sequence, void *to, rs_device_memory from,
                                      size_t bytes, const char *doing)
{
    return read_memory(sequence->engine, to, from, bytes, doing);
}

static const rs_device_operations operations = {
    .create_kernels = create_kernels,
    .allocate = allocate,
    .release = release,
    .read = read_memory,
    .write = write_memory,
    .launch = launch,
    .finish = finish,
    .finish_reading = finish_reading,
};

static rs_device_engine engine = {.device = &operations, .work_items = 256, .simd_items = 32};

static const rs_chains_plan *make(const rs_device_method *method, const rs_transpose_task *task,
                                  size_t limit, rs_device_stage **stage)
{
    if (rs_device_create_stage(&engine, method, task, limit, stage) != RESTRIDE_OK)
        fail_msg("%zu x %zu, limit %zu: %s", task->rows, task->cols, limit, restride_last_error());
    const rs_chains_plan *plan = (*stage)->plan;
    assert_true((*stage)->scratch_bytes + (*stage)->kept_bytes <= limit);
    return plan;
}

static size_t position_at(const rs_chains_plan *plan, size_t index)
{
    return plan->wide ? (size_t)((const uint64_t *)plan->positions)[index]
                      : ((const uint32_t *)plan->positions)[index];
}

static size_t start_of(const rs_chains_plan *plan, size_t piece)
{
    return position_at(plan, piece);
}

static size_t end_of(const rs_chains_plan *plan, size_t piece)
{
    return position_at(plan, plan->piece_room + piece);
}

static size_t leader_of(const rs_chains_plan *plan, size_t cycle)
{
    return position_at(plan, 2 * (size_t)plan->piece_room + cycle);
}

/* ---- small ones: every position moves once ---- */

static void fail_task(const rs_transpose_task *task, size_t limit, const char *what, size_t place)
{
    fail_msg("%zu x %zu, tile %zu, factor %zu, shift %zu, limit %zu: %s at %zu", task->rows,
             task->cols, task->tile, task->factor, task->shift, limit, what, place);
}

/* From `start` up to `end`, or around; the number of moves. */
static size_t walk(const size_t *source, unsigned char *moved, size_t start, size_t end)
{
    size_t length = 0;
    size_t position = start;
    do {
        moved[position]++;
        position = source[position];
        length++;
    } while (position != end && position != start);
    return position == end ? length : 0;
}

/* The run looks for cycles that move whole by their length, so no other may be in pieces. */
static bool cycle_is_short(const rs_chains_plan *plan, const size_t *source, size_t start)
{
    size_t length = 1;
    for (size_t q = source[start]; q != start && length <= plan->short_length; q = source[q])
        length++;
    return length <= plan->short_length;
}

static void check_moves(const rs_device_method *method, const rs_transpose_task *task,
                        const size_t *source, size_t total, size_t limit)
{
    rs_device_stage *stage;
    const rs_chains_plan *plan = make(method, task, limit, &stage);
    unsigned char *moved = calloc(total, 1);
    assert_true(moved != NULL && plan->shape[0] == total);
    for (size_t i = 0; i < plan->pieces; i++) {
        size_t start = start_of(plan, i);
        size_t end = end_of(plan, i);
        size_t length = start < total ? walk(source, moved, start, end) : 0;
        if (length == 0 || length > plan->piece_length)
            fail_task(task, limit, "a wrong piece", start);
        if (cycle_is_short(plan, source, start))
            fail_task(task, limit, "a short cycle in pieces", start);
    }
    for (size_t i = 0; plan->listed && i < plan->leader_count; i++) {
        size_t leader = leader_of(plan, i);
        size_t length = leader < total ? walk(source, moved, leader, leader) : 0;
        if (length < 2 || length > plan->short_length)
            fail_task(task, limit, "a wrong cycle", leader);
    }
    for (size_t q = 0; q < total; q++) {
        if (!plan->listed && moved[q] == 0 && source[q] != q) {
            size_t length = walk(source, moved, q, q); /* the run finds these */
            if (length > plan->short_length)
                fail_task(task, limit, "a forgotten cycle", q);
        }
        if (moved[q] != (source[q] != q))
            fail_task(task, limit, "not one move", q);
    }
    free(moved);
    rs_device_destroy_stage(stage);
}

static size_t limit_for(size_t total, size_t which)
{
    const size_t limits[] = {total * 100, total * 4, total, total / 4, 0};
    return limits[which % (sizeof limits / sizeof limits[0])];
}

static void check_transposition(size_t rows, size_t cols, size_t which)
{
    size_t total = rows * cols;
    size_t *source = malloc(total * sizeof *source);
    assert_non_null(source);
    for (size_t q = 0; q < total; q++)
        source[q] = q % rows * cols + q / rows;
    const rs_transpose_task task = {
        .outer = 1, .count = 1, .rows = rows, .cols = cols, .unit = 4, .pitch = total * 4};
    check_moves(&rs_device_chains, &task, source, total, limit_for(total, which));
    free(source);
}

static void test_transpositions(void **state)
{
    (void)state;
    for (size_t rows = 1; rows <= 70; rows++)
        for (size_t cols = 1; cols <= 70; cols++)
            check_transposition(rows, cols, rows + 3 * cols);
    static const size_t shapes[][2] = {{450, 1800}, {450, 450},   {3, 33331}, {65521, 2},
                                       {50, 2500},  {625, 1000},  {4096, 64}, {255, 257},
                                       {2187, 6},   {1093, 1094}, {99991, 10}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (size_t which = 0; which < 5; which++)
            check_transposition(shapes[i][0], shapes[i][1], which);
}

/* Column shuffles that have a row which stays in every panel. */
static void check_columns(size_t rows, size_t panels, size_t factor, size_t shift, size_t which)
{
    size_t total = rows * panels;
    size_t *source = malloc(total * sizeof *source);
    assert_non_null(source);
    for (size_t p = 0; p < panels; p++)
        for (size_t row = 0; row < rows; row++)
            source[p * rows + row] = p * rows + (row * factor + p * shift) % rows;
    const rs_transpose_task task = {.outer = 1,
                                    .count = 1,
                                    .rows = rows,
                                    .cols = panels,
                                    .tile = 1,
                                    .unit = 4,
                                    .factor = factor,
                                    .shift = shift,
                                    .pitch = total * 4};
    check_moves(&rs_device_shuffle_columns, &task, source, total, limit_for(total, which));
    free(source);
}

static void test_columns(void **state)
{
    (void)state;
    for (size_t rows = 2; rows <= 61; rows++)
        for (size_t factor = 1; factor < rows; factor++)
            if (rs_size_gcd(factor, rows) == 1 && rs_size_gcd(factor - 1, rows) == 1)
                for (size_t shift = 0; shift < rows; shift += 1 + rows / 5)
                    check_columns(rows, 1 + (rows + factor + shift) % 7, factor, shift,
                                  factor + shift);
    check_columns(10007, 12, 9997, 33, 0);
    check_columns(65537, 3, 3, 64, 1);
    check_columns(99991, 2, 2, 99990, 2);
}

/* 210!, whose cycles are walked. */
static void check_reversal(size_t rows, size_t middle, size_t cols, size_t which)
{
    size_t total = rows * middle * cols;
    size_t *source = malloc(total * sizeof *source);
    assert_non_null(source);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < middle; j++)
            for (size_t k = 0; k < cols; k++)
                source[(k * middle + j) * rows + i] = (i * middle + j) * cols + k;
    const rs_transpose_task task = {.outer = 1,
                                    .count = 1,
                                    .rows = rows,
                                    .cols = cols,
                                    .tile = middle,
                                    .unit = 4,
                                    .pitch = total * 4};
    check_moves(&rs_device_reverse, &task, source, total, limit_for(total, which));
    free(source);
}

static void test_reversals(void **state)
{
    (void)state;
    for (size_t rows = 1; rows <= 16; rows++)
        for (size_t middle = 1; middle <= 16; middle++)
            for (size_t cols = 1; cols <= 16; cols++)
                check_reversal(rows, middle, cols, rows + middle + cols);
    static const size_t shapes[][3] = {
        {51, 100, 25}, {100, 100, 100}, {80, 100, 64}, {2, 50000, 3}, {25, 96, 1000}, {64, 64, 32},
        {300, 2, 301}, {7, 11, 13},     {33, 100, 39}, {128, 3, 256}, {1, 9000, 5},   {400, 64, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (size_t which = 0; which < 5; which++)
            check_reversal(shapes[i][0], shapes[i][1], shapes[i][2], which);
}

/* ---- large ones: what pieces have in common ---- */

static int in_order(const void *a, const void *b)
{
    size_t x = *(const size_t *)a;
    size_t y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static const rs_cycle_family *family_of(const rs_cycles *cycles, size_t position)
{
    size_t divisor = rs_size_gcd(position, cycles->modulus);
    for (size_t f = 0; f < cycles->family_count; f++)
        if (cycles->families[f].divisor == divisor)
            return &cycles->families[f];
    fail_msg("%zu moves in no family", position);
    return NULL;
}

static bool moves_whole(const rs_chains_plan *plan, const rs_cycle_family *family)
{
    return plan->short_length == UINT32_MAX || family->length <= plan->short_length;
}

/* A piece has its length, or what is left of a cycle, and pieces begin where others end, once. */
static void check_pieces(const rs_chains_plan *plan, const rs_cycles *cycles)
{
    size_t *starts = malloc((plan->pieces + 1) * sizeof *starts);
    size_t *ends = malloc((plan->pieces + 1) * sizeof *ends);
    assert_true(starts != NULL && ends != NULL);
    size_t moves = 0;
    for (size_t i = 0; i < plan->pieces; i++) {
        starts[i] = start_of(plan, i);
        ends[i] = end_of(plan, i);
        const rs_cycle_family *family = family_of(cycles, starts[i]);
        size_t lengths[] = {plan->piece_length, (family->length - 1) % plan->piece_length + 1};
        size_t k = 0;
        while (k < 2 && rs_number_multiply(
                            starts[i], rs_number_power(cycles->factor, lengths[k], cycles->modulus),
                            cycles->modulus) != ends[i])
            k++;
        if (k == 2)
            fail_msg("piece %zu from %zu does not end at %zu", i, starts[i], ends[i]);
        moves += lengths[k];
    }
    size_t expected = 0;
    for (size_t f = 0; f < cycles->family_count; f++)
        if (!moves_whole(plan, &cycles->families[f]))
            expected += cycles->families[f].length * cycles->families[f].count;
    assert_int_equal(moves, expected);
    qsort(starts, plan->pieces, sizeof *starts, in_order);
    qsort(ends, plan->pieces, sizeof *ends, in_order);
    for (size_t i = 0; i < plan->pieces; i++)
        assert_true(starts[i] == ends[i] && (i == 0 || starts[i - 1] < starts[i]));
    free(starts);
    free(ends);
}

/* Each is in a family of short cycles, and in another cycle than the one before. */
static void check_leaders(const rs_chains_plan *plan, const rs_cycles *cycles)
{
    size_t before = 0;
    for (size_t i = 0; i < plan->leader_count; i++) {
        size_t leader = leader_of(plan, i);
        const rs_cycle_family *family = family_of(cycles, leader);
        assert_true(moves_whole(plan, family));
        for (size_t k = 0, position = leader; k < family->length && k < 1000; k++) {
            assert_int_not_equal(position, before);
            position = rs_number_multiply(position, cycles->factor, cycles->modulus);
        }
        before = leader;
    }
}

static void check_large(size_t rows, size_t cols, size_t limit)
{
    rs_device_stage *stage;
    const rs_transpose_task task = {.outer = 1, .count = 1, .rows = rows, .cols = cols, .unit = 4};
    const rs_chains_plan *plan = make(&rs_device_chains, &task, limit, &stage);
    rs_cycles cycles;
    assert_int_equal(rs_cycles_create(&cycles, rows, cols), RESTRIDE_OK);
    size_t leaders = 0;
    for (size_t f = 0; f < cycles.family_count; f++)
        if (moves_whole(plan, &cycles.families[f]))
            leaders += cycles.families[f].count;
    assert_true(!plan->listed || plan->leader_count == leaders);
    check_pieces(plan, &cycles);
    if (plan->listed)
        check_leaders(plan, &cycles);
    rs_cycles_free(&cycles);
    rs_device_destroy_stage(stage);
}

static void test_large(void **state)
{
    (void)state;
    static const size_t shapes[][2] = {
        {20000, 5000},    {7200, 28800},      {65536, 65535},     {65536, 65537},
        {65536, 65536},   {1000003, 1000033}, {100000, 1000000},  {3, 1431655767},
        {4294967295, 97}, {3, 614891469123},  {1 << 20, 1 << 21}, {4294967291, 4294967279}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        for (size_t limit = 1 << 10; limit <= 1 << 20; limit <<= 5)
            check_large(shapes[i][0], shapes[i][1], limit);
}

/* Just above a power of two the estimate of a quotient is often one too small or too large. */
static void test_products(void **state)
{
    (void)state;
    size_t wrong = 0;
    for (int bit = 1; bit < 64; bit++)
        for (size_t more = 1; more < 60; more += 2) {
            size_t modulus = ((size_t)1 << bit) + more * (bit == 63 ? 4096 * 1048576UL + 1 : 1);
            for (size_t a = 1; a < 30 && a < modulus; a++)
                for (size_t b = 1; b < 60 && b < modulus; b += 7)
                    wrong += planning_multiply(modulus - a, modulus - b, modulus) !=
                             rs_number_multiply(modulus - a, modulus - b, modulus);
        }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transpositions), cmocka_unit_test(test_columns),
        cmocka_unit_test(test_reversals),      cmocka_unit_test(test_large),
        cmocka_unit_test(test_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
