/*
 * What stages cost: where a stage ceases to fit, to the byte; what makes it dearer and what never
 * does. Weights are fitted to measurements and may change, so costs are compared with each other.
 */
#include "cmocka_all.h"
#include "engine/boxes.h"
#include "engine/host/host.h"
#include "transpose/cost.h"

#include "../layout/generate.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { LINE = 64, CHIP = 64 << 10, WORKERS = 4, CLEARING = 64 << 10 };

static const rs_engine_traits host = {.chip_bytes = CHIP, .line_bytes = LINE, .workers = WORKERS};
static const rs_engine_traits device = {.chip_bytes = 48 << 10,
                                        .group_bytes = 48 << 10,
                                        .box_bytes = 48 << 10,
                                        .line_bytes = 128,
                                        .workers = 132,
                                        .chip_only = true};

static double cost_of(const rs_engine_traits *traits, rs_transpose_task task, size_t limit)
{
    task.outer = task.outer > 0 ? task.outer : 1;
    task.count = task.count > 0 ? task.count : 1;
    task.pitch = task.count * task.rows * (task.cols + task.tail) * task.unit;
    return rs_cost_of_transpose(&task, traits, limit);
}

static bool is_possible(const rs_engine_traits *traits, rs_transpose_task task, size_t limit)
{
    return cost_of(traits, task, limit) < RS_COST_IMPOSSIBLE;
}

/* A stage that has what it needs with `least` bytes of scratch memory, and with one less not. */
static void check_least(const rs_engine_traits *traits, rs_transpose_task task, size_t least)
{
    if (!is_possible(traits, task, least) || is_possible(traits, task, least - 1))
        fail_msg("method %d: %zu bytes %d, one less %d", (int)task.method, least,
                 is_possible(traits, task, least), is_possible(traits, task, least - 1));
}

static void assert_same(double a, double b)
{
    if (fabs(a - b) > 1e-9)
        fail_msg("%.12f is not %.12f", a, b);
}

static void assert_less(double a, double b)
{
    if (!(a < b - 1e-9))
        fail_msg("%.12f is not less than %.12f", a, b);
}

/* ---- the host ---- */

static void test_host_fits(void **state)
{
    (void)state;
    const rs_transpose_task tails = {.rows = 10, .cols = 90, .tail = 6, .unit = 4};
    rs_transpose_task task = tails;
    task.method = RS_TRANSPOSE_JOIN;
    check_least(&host, task, 2 * (10 * 6 * 4 + LINE));
    task.method = RS_TRANSPOSE_SPLIT;
    check_least(&host, task, 2 * (10 * 6 * 4 + LINE));
    check_least(
        &host, (rs_transpose_task){.method = RS_TRANSPOSE_COPY, .rows = 700, .cols = 30, .unit = 8},
        700 * 30 * 8 + WORKERS * CLEARING);
    check_least(&host,
                (rs_transpose_task){.method = RS_TRANSPOSE_FUSED,
                                    .rows = 50,
                                    .cols = 60,
                                    .inner_rows = 7,
                                    .inner_cols = 11,
                                    .unit = 4},
                2 * (7 * 11 * 4 + LINE));
    check_least(&host,
                (rs_transpose_task){
                    .method = RS_TRANSPOSE_PANELS, .count = 9, .rows = 70, .cols = 30, .unit = 8},
                70 * 30 * 8 + LINE);
    rs_transpose_task square = {.method = RS_TRANSPOSE_SQUARE, .rows = 400, .cols = 400};
    for (square.unit = 255; square.unit <= 258; square.unit++)
        assert_int_equal(is_possible(&host, square, SIZE_MAX), square.unit <= 256);
}

/* Blocks of the same cost up to some parts of the chip, and dearer beyond each; no dearer than the
 * last, and beyond the room of all workers as much dearer as workers are idle. */
static void test_host_blocks(void **state)
{
    (void)state;
    static const double parts[] = {0.35, 0.7, 1, 1.5, 2};
    const rs_engine_traits traits = {.chip_bytes = 1000, .line_bytes = LINE, .workers = WORKERS};
    rs_transpose_task task = {.method = RS_TRANSPOSE_PANELS, .count = 100, .cols = 1, .unit = 1};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const size_t edge = (size_t)(1000 * parts[i] + 0.5);
        double costs[3];
        for (size_t k = 0; k < 3; k++) {
            task.rows = edge - 1 + k;
            costs[k] = cost_of(&traits, task, SIZE_MAX);
        }
        assert_same(costs[0], costs[1]);
        assert_less(costs[1], costs[2]);
    }
    task.rows = 5000;
    const double most = cost_of(&traits, task, SIZE_MAX);
    task.rows = 2001;
    assert_same(cost_of(&traits, task, SIZE_MAX), most);
    assert_same(cost_of(&traits, task, WORKERS * 2001), most);
    assert_same(cost_of(&traits, task, WORKERS * 2001 - 1), most * WORKERS / (WORKERS - 1));
    assert_same(cost_of(&traits, task, 2001 + LINE), most * WORKERS);
    task.count = WORKERS - 1; /* no more blocks than that */
    assert_same(cost_of(&traits, task, SIZE_MAX), most * WORKERS / (WORKERS - 1));
    task.count = 1;
    task.outer = WORKERS;
    assert_same(cost_of(&traits, task, SIZE_MAX), most);
}

static double move(size_t unit)
{
    return cost_of(
        &host,
        (rs_transpose_task){.method = RS_TRANSPOSE_CHAINS, .rows = 1000, .cols = 999, .unit = unit},
        SIZE_MAX);
}

/* Whole lines cost less the more they are, but for a step behind the fourth, and less again behind
 * the sixteenth; parts of lines cost more. */
static void test_host_moves(void **state)
{
    (void)state;
    for (size_t unit = 2; unit <= LINE; unit *= 2)
        assert_less(move(unit), move(unit / 2));
    for (size_t lines = 2; lines < 40; lines++) {
        if (lines == 5)
            assert_less(move(4 * LINE) + 0.3, move(5 * LINE));
        else
            assert_less(move(lines * LINE), move((lines - 1) * LINE));
        assert_less(move(lines * LINE), move(lines * LINE - 4));
    }
    assert_less(move(17 * LINE) + 0.1, move(16 * LINE));
    assert_less(move(4 * LINE) + 0.3, move(4 * LINE + 4));
    /* Within a line there is no other line to share. */
    assert_less(move(LINE - 4), move(LINE + 4));
}

/* Chains for all lanes of the workers, or as many as the cycles make, cost nothing more. */
static void test_host_chains(void **state)
{
    (void)state;
    enum { LANES = 16, LENGTH = 509, UNIT = 128 };
    rs_transpose_task task = {
        .method = RS_TRANSPOSE_CHAINS, .rows = 4 * LENGTH, .cols = 1000, .unit = UNIT};
    const double least = cost_of(&host, task, SIZE_MAX);
    const size_t all = (size_t)WORKERS * LANES * UNIT;
    assert_same(cost_of(&host, task, all), least);
    assert_less(least, cost_of(&host, task, all - 1));
    assert_same(cost_of(&host, task, all / 2), least + 1);
    assert_same(cost_of(&host, task, UNIT), least + 2 - 2.0 / (WORKERS * LANES));
    check_least(&host, task, LINE); /* then each cycle moves whole */
    task.cols = 5;                  /* twenty chains */
    assert_same(cost_of(&host, task, 20 * UNIT), least);
    assert_less(least, cost_of(&host, task, 20 * UNIT - 1));
    assert_same(cost_of(&host, task, 10 * UNIT), least + 1);
}

/* Beyond all caches long super-elements cost less than those of four lines, within them more. */
static void test_host_long_chains(void **state)
{
    (void)state;
    enum { LONG = 17 * LINE };
    const size_t most = (size_t)64 * CHIP; /* of bytes that caches may hold */
    double costs[2][4];
    static const size_t units[] = {2 * LINE, 4 * LINE, 16 * LINE, LONG};
    for (size_t large = 0; large < 2; large++)
        for (size_t i = 0; i < 4; i++) {
            size_t rows = most / 100 / units[i] + large;
            costs[large][i] = cost_of(&host,
                                      (rs_transpose_task){.method = RS_TRANSPOSE_CHAINS,
                                                          .outer = 1,
                                                          .count = 1,
                                                          .rows = rows,
                                                          .cols = 100,
                                                          .unit = units[i]},
                                      SIZE_MAX);
        }
    assert_less(costs[0][1], costs[0][3]);
    assert_less(costs[1][3], costs[1][1]);
    assert_same(costs[1][0], costs[0][0]);
    assert_same(costs[1][2], costs[0][2]);
    assert_true(rs_cost_least_of_all(&host, LONG) <= costs[1][3]);
}

static double square_of(size_t side, size_t unit)
{
    return cost_of(&host,
                   (rs_transpose_task){
                       .method = RS_TRANSPOSE_SQUARE, .rows = side, .cols = side, .unit = unit},
                   SIZE_MAX);
}

static void test_host_squares(void **state)
{
    (void)state;
    const double whole = square_of(4096, 4);
    assert_same(square_of(4096, 8), whole);
    assert_less(whole, square_of(4095, 4));
    assert_less(whole + 0.2, square_of(4096, 2));
    assert_less(whole + 0.2, square_of(4096, 16));
    assert_less(whole, square_of(4096, 12));
    assert_same(square_of(4096, 3), square_of(4096, 1));
    assert_less(whole, square_of(64, 4)); /* half of the chip would do */
    assert_same(square_of(112, 4), whole);
    const rs_engine_traits wide = {.chip_bytes = 64 * 64 * 4 * 2, .line_bytes = 512, .workers = 1};
    rs_transpose_task task = {.method = RS_TRANSPOSE_SQUARE, .rows = 64, .cols = 64, .unit = 4};
    assert_same(cost_of(&wide, task, SIZE_MAX), 2 * (whole + 0.2));
    task.rows = task.cols = 80;
    assert_same(cost_of(&wide, task, SIZE_MAX), 2 * whole);
    /* In pages: tiles come and go once where no page belongs to two. */
    const rs_engine_traits paged = {.chip_bytes = CHIP, .line_bytes = 4096, .workers = 1};
    task.tile = rs_cost_stored_edge(4, &paged);
    assert_int_equal(task.tile, 1024);
    assert_int_equal(rs_cost_stored_edge(4, &host), 0);
    assert_int_equal(rs_cost_stored_edge(4096, &paged), 1);
    assert_int_equal(rs_cost_stored_edge(4095, &paged), 1);
    task.rows = task.cols = 2048;
    const double apart = cost_of(&paged, task, SIZE_MAX);
    task.offset = 4096;
    assert_same(cost_of(&paged, task, SIZE_MAX), apart);
    task.offset = 64;
    assert_less(apart, cost_of(&paged, task, SIZE_MAX));
    task.offset = 0;
    task.cols = 2047;
    assert_less(apart, cost_of(&paged, task, SIZE_MAX));
}

/* The tails are kept once together and once more by each worker. */
static void test_host_tails(void **state)
{
    (void)state;
    rs_transpose_task task = {
        .method = RS_TRANSPOSE_JOIN, .rows = 100, .cols = 900, .tail = 100, .unit = 4};
    const double few = cost_of(&host, task, SIZE_MAX);
    rs_engine_traits more = host;
    more.workers = 2 * WORKERS + 1; /* one for all, and each: twice as much kept */
    task.tail = 0;
    const double none = cost_of(&host, task, SIZE_MAX);
    assert_same(cost_of(&more, task, SIZE_MAX), none);
    task.tail = 100;
    assert_same(cost_of(&more, task, SIZE_MAX) - none, 2 * (few - none));
    task.cols = 400; /* a fifth of the row in place of a tenth */
    assert_same(cost_of(&host, task, SIZE_MAX) - none, 2 * (few - none));
}

/* Rows and columns that are shuffled pass through buffers. */
static void test_host_buffers(void **state)
{
    (void)state;
    rs_transpose_task rows = {
        .method = RS_TRANSPOSE_C2R_ROWS, .rows = 100, .cols = 2 * CHIP / LINE, .unit = 4};
    const double fits = cost_of(&host, rows, SIZE_MAX);
    assert_same(cost_of(&host, rows, (size_t)WORKERS * 2 * CHIP), fits);
    assert_less(fits, cost_of(&host, rows, (size_t)WORKERS * 2 * CHIP - 1));
    assert_same(cost_of(&host, rows, (size_t)WORKERS * CHIP), 2 * fits);
    assert_same(cost_of(&host, rows, 2 * CHIP), WORKERS * fits);
    rows.cols++;
    assert_less(fits, cost_of(&host, rows, SIZE_MAX));
    rows = (rs_transpose_task){
        .method = RS_TRANSPOSE_C2R_ROWS, .rows = 100, .cols = 2 * CHIP / 128, .unit = 128};
    assert_same(cost_of(&host, rows, SIZE_MAX), fits);
    rows.cols++;
    assert_less(fits, cost_of(&host, rows, SIZE_MAX));
    rs_transpose_task columns = {
        .method = RS_TRANSPOSE_C2R_COLUMNS, .rows = 2 * CHIP / LINE, .cols = 100, .unit = 4};
    const double narrow = cost_of(&host, columns, SIZE_MAX);
    columns.rows++;
    assert_less(narrow, cost_of(&host, columns, SIZE_MAX));
}

static void test_host_limits(void **state)
{
    (void)state;
    rs_transpose_task fused = {.method = RS_TRANSPOSE_FUSED,
                               .rows = 9,
                               .cols = 8,
                               .inner_rows = CHIP / 1024,
                               .inner_cols = 256,
                               .unit = 4};
    const double on_chip = cost_of(&host, fused, SIZE_MAX);
    fused.inner_cols++;
    assert_less(on_chip + 0.5, cost_of(&host, fused, SIZE_MAX));
    /* Pages are longer than the longest line. */
    rs_engine_traits lines = host;
    lines.line_bytes = 1024;
    assert_int_equal(rs_cost_stored_edge(4, &lines), 0);
    lines.line_bytes = 1025;
    assert_int_equal(rs_cost_stored_edge(4, &lines), 256);
    /* Long elements are not moved in squares, and two of them not with the least work. */
    assert_same(rs_cost_least(&host, 2, 100), rs_cost_least(&host, 2, 2 * LINE));
    assert_less(rs_cost_least(&host, 2, 2 * LINE), rs_cost_least(&host, 2, 2 * LINE + 1));
    assert_same(rs_cost_least(&host, 2, 2 * LINE + 1), rs_cost_least(&host, 2, 256));
    assert_less(rs_cost_least(&host, 2, 256), rs_cost_least(&host, 2, 257));
    assert_same(rs_cost_least(&host, 3, 8) - rs_cost_least(&host, 2, 8), RS_COST_LEAST);
    assert_same(rs_cost_least(&host, 1, 8), RS_COST_LEAST);
    /* Tables are planned for on the host alone. */
    const rs_transpose_task chains = {
        .method = RS_TRANSPOSE_CHAINS, .rows = 100, .cols = 90, .unit = 4};
    assert_true(rs_cost_kept(&chains, &host) > 0);
    assert_int_equal(rs_cost_kept(&chains, &device), 0);
    assert_int_equal(rs_cost_least_scratch(&chains, &device), 0);
}

/* ---- what holds of every stage ---- */

static rs_transpose_task random_task(uint64_t *seed)
{
    static const size_t units[] = {1, 2, 3, 4, 8, 12, 16, 64, 100, 256, 300, 1024};
    rs_transpose_task task = {.method =
                                  (rs_transpose_method)made_random(seed, RS_TRANSPOSE_METHOD_COUNT),
                              .outer = 1 + made_random(seed, 3),
                              .count = 1,
                              .rows = 2 + made_random(seed, 500),
                              .cols = 2 + made_random(seed, 500),
                              .unit = units[made_random(seed, sizeof units / sizeof units[0])]};
    switch (task.method) {
    case RS_TRANSPOSE_PANELS:
        task.count = 1 + made_random(seed, 20);
        break;
    case RS_TRANSPOSE_SQUARE:
        task.cols = task.rows;
        break;
    case RS_TRANSPOSE_JOIN:
    case RS_TRANSPOSE_SPLIT:
        task.tail = 1 + made_random(seed, 30);
        break;
    case RS_TRANSPOSE_FUSED:
        task.inner_rows = 1 + made_random(seed, 20);
        task.inner_cols = 1 + made_random(seed, 20);
        break;
    case RS_TRANSPOSE_TILES:
    case RS_TRANSPOSE_REVERSE:
    case RS_TRANSPOSE_ROTATE:
    case RS_TRANSPOSE_SHUFFLE_COLUMNS:
        task.tile = 32 + 32 * made_random(seed, 3);
        break;
    default:
        break;
    }
    task.pitch = task.count * task.rows * (task.cols + task.tail) * task.unit;
    return task;
}

static void test_more_scratch_never_costs(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int i = 0; i < 20000; i++) {
        const rs_engine_traits *traits = i % 2 == 0 ? &host : &device;
        const rs_transpose_task task = random_task(&seed);
        const double least = traits == &host ? RS_COST_LEAST : rs_cost_least(traits, 1, task.unit);
        double before = INFINITY;
        for (size_t limit = 1; limit < (size_t)1 << 40; limit *= 3) {
            const double cost = rs_cost_of_transpose(&task, traits, limit);
            if (cost > before + 1e-9 || cost < least)
                fail_msg(
                    "method %d, %zu x %zu of %zu bytes within %zu: %.3f after %.3f, least %.3f",
                    (int)task.method, task.rows, task.cols, task.unit, limit, cost, before, least);
            before = cost;
        }
    }
}

/* With the least scratch memory that the planner knows a stage of the host runs on one thread, and
 * its tables are within the planner's bound. */
static void test_least_scratch_will_do(void **state)
{
    (void)state;
    uint64_t seed = 6;
    restride_engine *engine;
    assert_int_equal(rs_host_engine_create(&engine, 3, 0), RESTRIDE_OK);
    for (int i = 0; i < 4000; i++) {
        const rs_transpose_task task = random_task(&seed);
        const size_t least = rs_cost_least_scratch(&task, &host);
        if (least == SIZE_MAX)
            continue;
        rs_stage *stage;
        size_t kept = 0;
        if (engine->operations->create_transpose(engine, &task, least, &stage) != RESTRIDE_OK)
            fail_msg("method %d, %zu x %zu of %zu bytes within %zu: %s", (int)task.method,
                     task.rows, task.cols, task.unit, least, restride_last_error());
        const size_t taken = engine->operations->scratch_bytes(stage, &kept);
        if (taken > least || kept > rs_cost_kept(&task, &host))
            fail_msg("method %d, %zu x %zu of %zu bytes: %zu of %zu, kept %zu of %zu",
                     (int)task.method, task.rows, task.cols, task.unit, taken, least, kept,
                     rs_cost_kept(&task, &host));
        engine->operations->destroy_stage(stage);
    }
    restride_engine_destroy(engine);
}

/* ---- devices ---- */

static void test_device_fits(void **state)
{
    (void)state;
    rs_transpose_task task = {.method = RS_TRANSPOSE_PANELS, .rows = 48, .cols = 256, .unit = 4};
    assert_true(is_possible(&device, task, 0));
    task.cols++;
    assert_false(is_possible(&device, task, 0));
    task = (rs_transpose_task){
        .method = RS_TRANSPOSE_TILES, .rows = 640, .cols = 640, .unit = 12, .tile = 64};
    assert_true(is_possible(&device, task, 0)); /* 64 x 64 x 12 bytes are the chip */
    task.tile = 65;
    assert_false(is_possible(&device, task, 0));
    rs_transpose_task square = {.method = RS_TRANSPOSE_SQUARE, .rows = 400, .cols = 400};
    for (square.unit = 255; square.unit <= 258; square.unit++)
        assert_int_equal(is_possible(&device, square, 0), square.unit <= 256);
    /* Each of 1024 work-items has 160 bytes of a row, but no more than 64 elements. */
    rs_transpose_task row = {
        .method = RS_TRANSPOSE_SHUFFLE_ROWS, .rows = 10, .cols = 40 << 10, .unit = 4};
    assert_true(is_possible(&device, row, 0));
    row.cols++;
    assert_false(is_possible(&device, row, 0));
    row.unit = 1;
    row.cols = 64 << 10;
    assert_true(is_possible(&device, row, 0));
    row.cols++;
    assert_false(is_possible(&device, row, 0));
    row = (rs_transpose_task){
        .method = RS_TRANSPOSE_SHUFFLE_ROWS, .rows = 10, .cols = 10, .unit = 12};
    assert_false(is_possible(&device, row, 0)); /* no word */
    /* Two tiles, each row with one element more. */
    rs_transpose_task fused = {.method = RS_TRANSPOSE_FUSED,
                               .rows = 90,
                               .cols = 80,
                               .inner_rows = 64,
                               .inner_cols = 95,
                               .unit = 4};
    assert_true(is_possible(&device, fused, 1 << 20));
    fused.inner_cols++;
    assert_false(is_possible(&device, fused, 1 << 20));
    /* A rotation keeps a triangle of each panel, and has a window on chip. */
    rs_transpose_task rotation = {
        .method = RS_TRANSPOSE_ROTATE, .rows = 500, .cols = 640, .unit = 4, .tile = 64, .outer = 3};
    check_least(&device, rotation, 64 * 63 / 2 * 4 * 3);
    rotation.rows = 64;
    assert_true(is_possible(&device, rotation, 1 << 20));
    rotation.rows = 63;
    assert_false(is_possible(&device, rotation, 1 << 20));
    rotation.rows = 500;
    rotation.unit = 8; /* (64 + 32) x 65 x 8 bytes are more than the chip */
    assert_false(is_possible(&device, rotation, 1 << 20));
    rotation.unit = 7;
    assert_true(is_possible(&device, rotation, 1 << 20));
    check_least(&device,
                (rs_transpose_task){
                    .method = RS_TRANSPOSE_JOIN, .rows = 10, .cols = 90, .tail = 6, .unit = 4},
                2 * 10 * 6 * 4);
}

static void test_device_pieces(void **state)
{
    (void)state;
    rs_piece pieces[9] = {{3, 4, 0}, {2, 8, 1}};
    /* Rows of 28 bytes are seven granules of four bytes, with a table entry of eight each. */
    rs_transpose_task zip = {.method = RS_TRANSPOSE_ZIP,
                             .count = 10,
                             .rows = 32,
                             .cols = 28,
                             .unit = 1,
                             .pieces = pieces,
                             .piece_count = 2};
    check_least(&device, zip, 7 * 8);
    zip.rows = (48 << 10) / 28;
    assert_true(is_possible(&device, zip, 1 << 20));
    zip.rows++;
    assert_false(is_possible(&device, zip, 1 << 20));
    const double four = (zip.rows = 32, cost_of(&device, zip, 1 << 20));
    pieces[0].unit = 1;
    assert_less(four, cost_of(&device, zip, 1 << 20));
    rs_engine_traits large = device;
    large.chip_bytes = 1 << 20;
    zip.rows = 65535 / 28; /* places of granules have 16 bits */
    assert_true(is_possible(&large, zip, 1 << 20));
    zip.rows++;
    assert_false(is_possible(&large, zip, 1 << 20));
    /* A list of the parts for each time that they are halved. */
    rs_transpose_task reorder = {
        .method = RS_TRANSPOSE_REORDER, .rows = 1, .cols = 100, .unit = 1, .pieces = pieces};
    static const size_t levels[] = {1, 1, 2, 2, 3, 3, 3, 3, 4};
    for (reorder.piece_count = 1; reorder.piece_count <= 9; reorder.piece_count++)
        check_least(&device, reorder, reorder.piece_count * levels[reorder.piece_count - 1] * 48);
}

/* Whole lines cost no more than parts of them, long runs no more than short ones, and bytes more
 * than words. */
static void test_device_runs(void **state)
{
    (void)state;
    rs_transpose_task square = {.method = RS_TRANSPOSE_SQUARE, .rows = 640, .cols = 640, .unit = 4};
    const double whole = cost_of(&device, square, 0);
    square.rows = square.cols = 641;
    assert_less(whole, cost_of(&device, square, 0));
    rs_transpose_task tiles = {
        .method = RS_TRANSPOSE_TILES, .rows = 6400, .cols = 6400, .unit = 4, .tile = 64};
    const double aligned = cost_of(&device, tiles, 0);
    tiles.tile = 60;
    assert_less(aligned, cost_of(&device, tiles, 0));
    tiles.tile = 16;
    assert_less(aligned, cost_of(&device, tiles, 0));
    rs_transpose_task panels = {.method = RS_TRANSPOSE_PANELS, .rows = 30, .cols = 40, .unit = 4};
    const double words = cost_of(&device, panels, 0);
    panels.unit = 2;
    assert_less(words, cost_of(&device, panels, 0));
    const double halves = cost_of(&device, panels, 0);
    panels.unit = 1;
    assert_less(halves, cost_of(&device, panels, 0));
    panels.unit = 4;
    panels.cols = 80;
    assert_less(words, cost_of(&device, panels, 0));
    rs_transpose_task rows = {
        .method = RS_TRANSPOSE_SHUFFLE_ROWS, .rows = 10, .cols = 12 << 10, .unit = 4};
    const double on_chip = cost_of(&device, rows, 0);
    rows.cols++;
    assert_less(on_chip, cost_of(&device, rows, 0));
    rows = (rs_transpose_task){
        .method = RS_TRANSPOSE_SHUFFLE_ROWS, .rows = 10, .cols = 32 << 10, .unit = 1};
    const double bytes = cost_of(&device, rows, 0);
    rows.cols++;
    assert_less(bytes + 1, cost_of(&device, rows, 0));
    rs_transpose_task columns = {
        .method = RS_TRANSPOSE_SHUFFLE_COLUMNS, .rows = 500, .cols = 640, .unit = 4, .tile = 64};
    const double wide = cost_of(&device, columns, 0);
    columns.tile = 32;
    assert_less(wide, cost_of(&device, columns, 0));
    rs_transpose_task tails = {
        .method = RS_TRANSPOSE_SPLIT, .rows = 1000, .cols = 9000, .tail = 6, .unit = 4};
    const double much = cost_of(&device, tails, 10 << 20);
    assert_less(much, cost_of(&device, tails, 1 << 20)); /* more launches */
    tails.outer = 10;
    assert_less(cost_of(&device, tails, 10 << 20), much); /* each waits less for the others */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host_fits),
        cmocka_unit_test(test_host_blocks),
        cmocka_unit_test(test_host_moves),
        cmocka_unit_test(test_host_chains),
        cmocka_unit_test(test_host_long_chains),
        cmocka_unit_test(test_host_squares),
        cmocka_unit_test(test_host_tails),
        cmocka_unit_test(test_host_buffers),
        cmocka_unit_test(test_host_limits),
        cmocka_unit_test(test_more_scratch_never_costs),
        cmocka_unit_test(test_least_scratch_will_do),
        cmocka_unit_test(test_device_fits),
        cmocka_unit_test(test_device_pieces),
        cmocka_unit_test(test_device_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
