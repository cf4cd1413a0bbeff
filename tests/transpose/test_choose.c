/*
 * What the planner chooses: within the scratch memory it was granted, after a bounded search, the
 * cheapest, and for data in files.
 */
#include "cmocka_all.h"
#include "host_engine.h"
#include "reference.h"
#include "restride/restride.h"
#include "transpose/choose.h"
#include "transpose/cost.h"
#include "transpose/methods.h"
#include "transpose/transpose.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const size_t units[] = {1, 2, 3, 4, 8, 12, 16, 20, 64, 100};
enum { UNIT_COUNT = sizeof units / sizeof units[0] };

/* ---- the scratch memory that is granted ---- */

typedef struct {
    size_t rows;
    size_t cols;
    size_t unit;
    size_t batch;
    int threads;
} problem;

/* What the sentence of a refusal says would do. */
static size_t granted_by_sentence(void)
{
    const char *number = strstr(restride_last_error(), "grant ");
    assert_non_null(number);
    return strtoull(number + strlen("grant "), NULL, 10);
}

/* What a plan takes is counted by test_scratch.c. */
static void check_budget(const problem *p, size_t budget)
{
    restride_engine *engine;
    assert_int_equal(test_host_engine(&engine, p->threads), RESTRIDE_OK);
    size_t size = p->batch * p->rows * p->cols * p->unit;
    guarded_buffer buffer = guarded_create(size, 0, budget);
    unsigned char *expected = malloc(size);
    assert_non_null(expected);
    reference_transpose(expected, buffer.bytes, p->batch, p->rows, p->cols, p->unit);
    restride_plan_options options = {.scratch_bytes = budget};
    restride_plan *plan;
    restride_status status =
        restride_plan_transpose_with(&plan, engine, p->rows, p->cols, p->unit, p->batch, &options);
    if (status != RESTRIDE_OK) {
        assert_int_equal(status, RESTRIDE_UNSUPPORTED);
        options.scratch_bytes = granted_by_sentence();
        assert_true(options.scratch_bytes > budget);
        status = restride_plan_transpose_with(&plan, engine, p->rows, p->cols, p->unit, p->batch,
                                              &options);
        if (status != RESTRIDE_OK)
            fail_msg("%zu bytes were said to do, but: %s", options.scratch_bytes,
                     restride_last_error());
    }
    assert_int_equal(restride_execute(plan, buffer.bytes), RESTRIDE_OK);
    if (restride_plan_scratch_bytes(plan) > options.scratch_bytes)
        fail_msg("%zu bytes stated, %zu granted: %s", restride_plan_scratch_bytes(plan),
                 options.scratch_bytes, restride_plan_describe(plan));
    assert_memory_equal(buffer.bytes, expected, size);
    assert_true(guarded_intact(&buffer));
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
    free(expected);
    guarded_free(&buffer);
}

static void test_budget(void **state)
{
    (void)state;
    static const problem problems[] = {
        {720, 360, 4, 1, 2},  {997, 1009, 4, 1, 3},  {1009, 997, 1, 1, 2},  {3, 70001, 4, 1, 2},
        {70001, 3, 8, 1, 2},  {512, 512, 4, 2, 4},   {100, 100, 300, 1, 2}, {2, 2, 400000, 1, 2},
        {1000, 330, 2, 2, 2}, {330, 1000, 12, 1, 4}, {613, 601, 16, 1, 1},
    };
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++) {
        const problem *p = &problems[i];
        size_t bytes = p->batch * p->rows * p->cols * p->unit;
        for (size_t budget = 1; budget < 4 * bytes; budget = budget * 3 + 50)
            check_budget(p, budget);
    }
}

static rs_stage_choice choose(size_t rows, size_t cols, size_t unit,
                              const restride_plan_options *options)
{
    const rs_matrices matrices = {rows, cols, unit, 1, 0};
    const rs_engine_traits traits = {
        .chip_bytes = (size_t)512 << 10, .line_bytes = 64, .workers = 2};
    rs_stage_choice choice;
    if (rs_choose_transpose(&choice, &matrices, &traits, options) != RESTRIDE_OK)
        fail_msg("%s", restride_last_error());
    return choice;
}

static void test_more_scratch_is_never_worse(void **state)
{
    (void)state;
    static const size_t shapes[][3] = {{7200, 1800, 4},    {9973, 10007, 4}, {30000, 10000, 4},
                                       {20000000, 3, 4},   {3000, 3900, 16}, {9973, 10007, 1},
                                       {100003, 20011, 1}, {4999, 30011, 3}, {1000003, 701, 1},
                                       {99991, 1009, 2}};
    size_t gains = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        size_t bytes = shapes[i][0] * shapes[i][1] * shapes[i][2];
        double by_default = choose(shapes[i][0], shapes[i][1], shapes[i][2], NULL).cost;
        double cost = by_default;
        for (size_t granted = (bytes / 200) + (9 << 20); granted < 3 * bytes; granted *= 2) {
            const restride_plan_options options = {.scratch_bytes = granted};
            const rs_stage_choice choice =
                choose(shapes[i][0], shapes[i][1], shapes[i][2], &options);
            if (choice.cost > cost + 1e-9)
                fail_msg("%zu x %zu costs %f with %zu bytes and %f with less", shapes[i][0],
                         shapes[i][1], choice.cost, granted, cost);
            cost = choice.cost;
            bool says = strstr(choice.why, "passes saved by the scratch memory granted") != NULL;
            assert_int_equal(says, by_default - cost >= 0.005);
            gains += says;
        }
    }
    assert_true(gains >= 1);
}

/* ---- how much is looked at ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The longest of 400 searches in seconds of the processor, each the best of three, for shapes of up
 * to so many rows and columns. Bounds how many proposals each compares. */
static double longest_search(size_t most_rows, size_t most_cols)
{
    enum { MOST_CONSIDERED = 2000 };
    uint64_t seed = 1000;
    double longest = 0;
    for (int i = 0; i < 400; i++) {
        rs_matrices m = {1 + test_random(&seed, 1 + test_random(&seed, most_rows)),
                         1 + test_random(&seed, 1 + test_random(&seed, most_cols)),
                         units[test_random(&seed, UNIT_COUNT)], 1, 0};
        if (i % 3 == 0)
            m.rows = m.rows / 5040 * 5040 + 5040;
        const rs_engine_traits traits = {
            .chip_bytes = (size_t)1 << 20, .line_bytes = 64, .workers = 1 + test_random(&seed, 64)};
        const restride_plan_options options = {
            .scratch_bytes = i % 4 == 0 ? (size_t)1 << 40 : 0,
            .run_bytes = i % 5 == 0 ? (size_t)65536 : 0,
        };
        double best = HUGE_VAL;
        for (int again = 0; again < 3; again++) {
            rs_stage_choice choice;
            double start = now();
            assert_int_equal(rs_choose_transpose(&choice, &m, &traits, &options), RESTRIDE_OK);
            best = fmin(best, now() - start);
            if (choice.considered == 0 || choice.considered > MOST_CONSIDERED)
                fail_msg("%zu x %zu: %zu proposals", m.rows, m.cols, choice.considered);
        }
        longest = fmax(longest, best);
    }
    return longest;
}

/* Shapes that no memory holds are planned nearly as fast as others: their sides have more factors.
 */
static void test_bounded_search(void **state)
{
    (void)state;
    double ordinary = longest_search(20000, 20000);
    double huge = longest_search((size_t)1 << 40, (size_t)1 << 20);
    print_message("the longest search took %.3f ms, of huge shapes %.3f ms\n", 1e3 * ordinary,
                  1e3 * huge);
    assert_true(huge <= 4 * ordinary);
}

/* Proposals as long as a size can say. */
static void test_longest_side(void **state)
{
    (void)state;
    restride_engine *engine;
    restride_plan *plan;
    const restride_plan_options options = {.scratch_bytes = SIZE_MAX, .run_bytes = 4096};
    assert_int_equal(restride_engine_create_host(&engine, 2), RESTRIDE_OK);
    assert_int_equal(restride_plan_transpose_with(&plan, engine, SIZE_MAX, 1, 1, 1, &options),
                     RESTRIDE_OK);
    restride_plan_destroy(plan);
    assert_int_equal(restride_plan_transpose_with(&plan, engine, 1, SIZE_MAX, 1, 1, &options),
                     RESTRIDE_OK);
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
}

/* Limits, lines and elements of any size: whatever is asked for, the sums of the search do not go
 * round. */
static void test_extreme_numbers(void **state)
{
    (void)state;
    static const size_t sides[] = {1, 2, 3, 65537, (size_t)1 << 31, (size_t)1 << 40, SIZE_MAX / 2};
    static const size_t sizes[] = {0, 1, 4096, SIZE_MAX / 4 + 1, SIZE_MAX - 3, SIZE_MAX};
    enum { SIDES = 7, SIZES = 6 };
    for (size_t i = 0; i < (size_t)SIDES * SIDES * SIDES * SIZES * SIZES; i++) {
        const rs_matrices m = {sides[i % SIDES], sides[i / SIDES % SIDES],
                               sides[i / SIDES / SIDES % SIDES], 1 + i % 2, 0};
        size_t bytes;
        if (rs_matrices_check(&m, &bytes) != RESTRIDE_OK)
            continue;
        const restride_plan_options options = {
            .scratch_bytes = sizes[i / SIDES / SIDES / SIDES % SIZES],
            .run_bytes = sizes[i / SIDES / SIDES / SIDES / SIZES]};
        const rs_engine_traits traits = {
            .chip_bytes = (size_t)512 << 10, .line_bytes = 64, .workers = 1 + i % 64};
        size_t limit = options.scratch_bytes != 0 ? options.scratch_bytes
                                                  : rs_choose_scratch_limit(bytes, &traits);
        rs_stage_choice choice;
        restride_status status = rs_choose_transpose(&choice, &m, &traits, &options);
        if (status != RESTRIDE_OK) {
            assert_int_equal(status, RESTRIDE_UNSUPPORTED);
            continue;
        }
        size_t kept = 0;
        for (size_t k = 0; k < choice.count; k++) {
            kept += rs_cost_kept(&choice.tasks[k], &traits);
            assert_true(choice.tasks[k].method == RS_TRANSPOSE_CHAINS ||
                        rs_cost_least_scratch(&choice.tasks[k], &traits) <= limit);
        }
        assert_true(choice.count == 0 || choice.scratch_limit <= limit - kept);
        assert_true(choice.cost >= 0 && choice.cost < RS_COST_IMPOSSIBLE);
    }
}

/* Products that would come out small if they went round. */
static void test_capped_needs(void **state)
{
    (void)state;
    const rs_engine_traits traits = {
        .chip_bytes = (size_t)512 << 10, .line_bytes = 64, .workers = 4};
    const size_t half = (size_t)1 << 63;
    const rs_transpose_task columns = {.method = RS_TRANSPOSE_C2R_COLUMNS,
                                       .outer = 1,
                                       .count = 1,
                                       .rows = half / 32,
                                       .cols = 2,
                                       .unit = 1};
    assert_int_equal(rs_cost_least_scratch(&columns, &traits), SIZE_MAX);
    const rs_transpose_task tails = {.method = RS_TRANSPOSE_JOIN,
                                     .outer = 1,
                                     .count = 1,
                                     .rows = half / 4096,
                                     .cols = 1,
                                     .tail = 4096,
                                     .unit = 1};
    assert_true(rs_cost_of_transpose(&tails, &traits, SIZE_MAX - 1) >= RS_COST_IMPOSSIBLE);
    const rs_transpose_task panels = {.method = RS_TRANSPOSE_PANELS,
                                      .outer = 1,
                                      .count = 1,
                                      .rows = 3,
                                      .cols = SIZE_MAX / 3,
                                      .unit = 1};
    assert_int_equal(rs_cost_least_scratch(&panels, &traits), SIZE_MAX);
}

/* What any processor's weights have in common, whatever they are fitted to. */
static void test_order_of_costs(void **state)
{
    (void)state;
    const rs_engine_traits traits = {
        .chip_bytes = (size_t)512 << 10, .line_bytes = 64, .workers = 4};
    const size_t room = (size_t)1 << 30;
    rs_transpose_task panels = {.method = RS_TRANSPOSE_PANELS,
                                .outer = 1,
                                .count = 64,
                                .rows = 16,
                                .cols = 1024,
                                .unit = 4};
    double on_chip = rs_cost_of_transpose(&panels, &traits, room);
    size_t block = panels.rows * panels.cols * panels.unit;
    assert_true(rs_cost_of_transpose(&panels, &traits, 2 * block + 128) > on_chip);
    assert_true(rs_cost_of_transpose(&panels, &traits, block - 1) >= RS_COST_IMPOSSIBLE);
    panels.cols *= 64;
    double beyond = rs_cost_of_transpose(&panels, &traits, room);
    assert_true(beyond > on_chip && beyond < RS_COST_IMPOSSIBLE);
    rs_transpose_task chains = {
        .method = RS_TRANSPOSE_CHAINS, .outer = 1, .count = 1, .rows = 4096, .cols = 4095};
    double before = RS_COST_IMPOSSIBLE;
    for (chains.unit = 4; chains.unit <= 256; chains.unit *= 4) {
        double cost = rs_cost_of_transpose(&chains, &traits, room);
        assert_true(cost < before);
        before = cost;
    }
    chains.unit = 64;
    double aligned = rs_cost_of_transpose(&chains, &traits, room);
    assert_true(rs_cost_of_transpose(&chains, &traits, 4 * chains.unit) > aligned);
    chains.unit = 68;
    assert_true(rs_cost_of_transpose(&chains, &traits, room) > aligned);
    rs_transpose_task tails = {.method = RS_TRANSPOSE_JOIN,
                               .outer = 1,
                               .count = 1,
                               .rows = 1000,
                               .cols = 1000,
                               .tail = 10,
                               .unit = 4};
    assert_true(rs_cost_of_transpose(&tails, &traits, 2 * 40000 + 128) < RS_COST_IMPOSSIBLE);
    assert_true(rs_cost_of_transpose(&tails, &traits, 2 * 40000 - 1) >= RS_COST_IMPOSSIBLE);
}

/* Leaving methods out that cannot win changes nothing: no candidate is cheaper. */
static void test_cheapest(void **state)
{
    (void)state;
    uint64_t seed = 31;
    size_t stages[RS_CHOICE_MOST_TASKS + 1] = {0};
    for (int i = 0; i < 150; i++) {
        rs_matrices m = {2 + test_random(&seed, 9000), 2 + test_random(&seed, 9000),
                         units[test_random(&seed, UNIT_COUNT)], 1, 0};
        if (i % 2 == 0) {
            m.rows = 48 * (1 + m.rows / 48);
            m.cols = 60 * (1 + m.cols / 60);
        }
        const rs_engine_traits traits = {.chip_bytes = (size_t)1024 << test_random(&seed, 11),
                                         .line_bytes = 64,
                                         .workers = 1 + test_random(&seed, 8)};
        rs_stage_choice best;
        assert_int_equal(rs_choose_transpose(&best, &m, &traits, NULL), RESTRIDE_OK);
        static rs_stage_choice candidates[32];
        size_t count = rs_choose_candidates(candidates, 32, &m, &traits, NULL);
        assert_true(count > 0 && candidates[0].cost == best.cost);
        for (size_t k = 0; k < count; k++) {
            double sum = 0;
            for (size_t t = 0; t < candidates[k].count; t++)
                sum += rs_cost_of_transpose(&candidates[k].tasks[t], &traits,
                                            candidates[k].scratch_limit);
            assert_true(sum == candidates[k].cost && sum >= best.cost);
            assert_true(sum >= RS_COST_LEAST *
                                   (double)rs_methods_find(candidates[k].method)->least_stages);
            assert_true(candidates[k].count >= rs_methods_find(candidates[k].method)->least_stages);
        }
        stages[best.count]++;
    }
    assert_true(stages[1] > 0 && stages[2] > 20 && stages[3] > 5);
}

/* The least of all offers of all methods. */
typedef struct {
    rs_offers offers;
    const rs_matrices *matrices;
    const rs_engine_traits *traits;
    double least;
} comparison;

static void compare_offer(rs_offers *offers, const rs_method *method, rs_tiles tiles)
{
    comparison *c = (comparison *)offers;
    const restride_plan_options options = {.method = method->name};
    rs_stage_choice choice;
    if (rs_choose_exactly(&choice, c->matrices, c->traits, &options, tiles) != RESTRIDE_OK)
        return;
    assert_true(choice.cost >= rs_cost_least(c->traits, choice.count, c->matrices->unit));
    assert_true(choice.count >= method->least_stages);
    c->least = choice.cost < c->least ? choice.cost : c->least;
}

static double compare_all(const rs_matrices *m, const rs_engine_traits *traits)
{
    comparison c = {{compare_offer, SIZE_MAX}, m, traits, RS_COST_IMPOSSIBLE};
    const rs_problem asked = {.matrices = m,
                              .traits = *traits,
                              .scratch_limit =
                                  rs_choose_scratch_limit(m->rows * m->cols * m->unit, traits)};
    for (size_t k = 0; k < rs_methods_count(); k++)
        if (!rs_methods_at(k)->only_when_named)
            rs_methods_at(k)->offer(rs_methods_at(k), &asked, &c.offers);
    return c.least;
}

/* Nor do the offers that are left out on devices. */
static void test_cheapest_on_devices(void **state)
{
    (void)state;
    uint64_t seed = 32;
    size_t stages[RS_CHOICE_MOST_TASKS + 1] = {0};
    for (int i = 0; i < 120; i++) {
        rs_matrices m = {2 + test_random(&seed, 9000), 2 + test_random(&seed, 9000),
                         units[test_random(&seed, UNIT_COUNT)], 1, 0};
        if (i % 2 == 0) {
            m.rows = 48 * (1 + m.rows / 48);
            m.cols = 60 * (1 + m.cols / 60);
        }
        if (i % 5 == 0)
            m.cols = 2 + m.cols % 40;
        const size_t local = (size_t)1024 << test_random(&seed, 8);
        const rs_engine_traits traits = {.chip_bytes = local,
                                         .group_bytes = local,
                                         .line_bytes = 128,
                                         .workers = 132,
                                         .chip_only = true,
                                         .scratch_parts = 458,
                                         .scratch_bytes = 7 << 17};
        rs_stage_choice best;
        if (rs_choose_transpose(&best, &m, &traits, NULL) != RESTRIDE_OK)
            best = (rs_stage_choice){.cost = RS_COST_IMPOSSIBLE};
        double least = compare_all(&m, &traits);
        if (best.cost != least)
            fail_msg("%zu x %zu of %zu bytes: %f, and %f without bounds", m.rows, m.cols, m.unit,
                     best.cost, least);
        stages[best.count]++;
    }
    assert_true(stages[2] > 20 && stages[3] > 5);
}

/* ---- data in files ---- */

/* Two passes, and no run shorter than a page. */
static void test_files(void **state)
{
    (void)state;
    static const struct {
        size_t rows, cols, unit, scratch, run, passes;
    } cases[] = {
        {32768, 32768, 4, (size_t)256 << 20, 4096, 1},
        {32768, 32768, 4, (size_t)300 << 20, 8192, 1},
        {65536, 16384, 4, (size_t)256 << 20, 4096, 2},
        {16384, 65536, 8, (size_t)512 << 20, 4096, 2},
        {100000, 30000, 4, (size_t)512 << 20, 4096, 3},
        {20000000, 3, 8, (size_t)64 << 20, 4096, 2},
        {1000000, 1000, 4, (size_t)64 << 20, 4096, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const restride_plan_options options = {.scratch_bytes = cases[i].scratch,
                                               .run_bytes = cases[i].run};
        const rs_stage_choice choice =
            choose(cases[i].rows, cases[i].cols, cases[i].unit, &options);
        if (choice.count > cases[i].passes)
            fail_msg("%zu x %zu takes %zu stages: %s, %s", cases[i].rows, cases[i].cols,
                     choice.count, choice.method, choice.why);
        for (size_t k = 0; k < choice.count; k++) {
            const rs_transpose_task *task = &choice.tasks[k];
            if (task->method == RS_TRANSPOSE_SQUARE)
                assert_true(task->tile * task->unit >= cases[i].run);
            if (task->method == RS_TRANSPOSE_CHAINS && task->unit < cases[i].run)
                fail_msg("%zu x %zu moves runs of %zu bytes: %s", cases[i].rows, cases[i].cols,
                         task->unit, choice.why);
        }
    }
}

/* Squares with tiles as wide as a page, the last ones clipped. */
static void test_stored_square(void **state)
{
    (void)state;
    enum { SIDE = 1100, UNIT = 4 };
    const restride_plan_options options = {.scratch_bytes = 1 << 20, .run_bytes = 4096};
    guarded_buffer buffer = guarded_create((size_t)SIDE * SIDE * UNIT, 0, 11);
    unsigned char *wanted = malloc(buffer.size);
    assert_non_null(wanted);
    reference_transpose(wanted, buffer.bytes, 1, SIDE, SIDE, UNIT);
    restride_engine *engine;
    restride_plan *plan;
    assert_int_equal(restride_engine_create_host(&engine, 2), RESTRIDE_OK);
    assert_int_equal(restride_plan_transpose_with(&plan, engine, SIDE, SIDE, UNIT, 1, &options),
                     RESTRIDE_OK);
    char *description = restride_plan_describe(plan);
    assert_non_null(strstr(description, "\"square\""));
    free(description);
    assert_int_equal(restride_execute(plan, buffer.bytes), RESTRIDE_OK);
    assert_memory_equal(buffer.bytes, wanted, buffer.size);
    assert_true(guarded_intact(&buffer));
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
    guarded_free(&buffer);
    free(wanted);
}

/* ---- threads ---- */

/* Small arrays are planned for one thread: 960 KB pass at once through its cache. Smaller ones have
 * no other. */
static void test_small_arrays(void **state)
{
    (void)state;
    static const rs_matrices small = {400, 600, 4, 1, 0};
    static const rs_matrices few = {100, 200, 4, 3, 0};
    static const rs_matrices many = {200, 300, 4, 30, 0};
    rs_engine_traits traits = {.chip_bytes = (size_t)512 << 10,
                               .line_bytes = 64,
                               .workers = 2,
                               .serial_bytes = (size_t)1 << 20};
    rs_stage_choice choice;
    assert_int_equal(rs_choose_transpose(&choice, &small, &traits, NULL), RESTRIDE_OK);
    assert_int_equal(choice.count, 1);
    assert_int_equal(choice.tasks[0].method, RS_TRANSPOSE_PANELS);
    traits.serial_bytes = (size_t)512 << 10;
    assert_int_equal(rs_choose_transpose(&choice, &small, &traits, NULL), RESTRIDE_OK);
    assert_int_equal(choice.count, 2);

    restride_engine *engine;
    restride_plan *plan;
    assert_int_equal(restride_engine_create_host(&engine, 2), RESTRIDE_OK);
    for (size_t i = 0; i < 2; i++) {
        const rs_matrices *m = i == 0 ? &few : &many;
        assert_int_equal(
            restride_plan_transpose(&plan, engine, m->rows, m->cols, m->unit, m->batch),
            RESTRIDE_OK);
        char *description = restride_plan_describe(plan);
        assert_non_null(strstr(description, i == 0 ? "\"threads\": 1" : "\"threads\": 2"));
        free(description);
        restride_plan_destroy(plan);
    }
    restride_engine_destroy(engine);
}

/* Threads that work on one block that fits the chip wait for each other more than they move. */
static void test_blocks_within_the_chip(void **state)
{
    (void)state;
    static const rs_matrices m = {300, 400, 4, 100, 0};
    const rs_engine_traits traits = {
        .chip_bytes = (size_t)512 << 10, .line_bytes = 64, .workers = 2};
    const restride_plan_options named = {.method = "copy"};
    rs_stage_choice choice;
    assert_int_equal(rs_choose_transpose(&choice, &m, &traits, &named), RESTRIDE_OK);
    assert_int_equal(choice.tasks[0].method, RS_TRANSPOSE_PANELS);
}

/* ---- candidates for tuning ---- */

static void test_candidates(void **state)
{
    (void)state;
    const rs_matrices m = {7200, 1800, 4, 1, 0};
    const rs_engine_traits traits = {
        .chip_bytes = (size_t)512 << 10, .line_bytes = 64, .workers = 2};
    rs_stage_choice choices[24];
    size_t count = rs_choose_candidates(choices, 24, &m, &traits, NULL);
    assert_true(count >= 8 && count <= 24);
    const rs_stage_choice best = choose(7200, 1800, 4, NULL);
    assert_string_equal(choices[0].method, best.method);
    assert_int_equal(choices[0].tiles.rows, best.tiles.rows);
    assert_int_equal(choices[0].tiles.cols, best.tiles.cols);
    size_t methods = 1;
    for (size_t i = 1; i < count; i++) {
        assert_true(choices[i].cost >= choices[i - 1].cost);
        bool seen = false;
        for (size_t k = 0; k < i; k++) {
            bool same = strcmp(choices[i].method, choices[k].method) == 0;
            seen = seen || same;
            assert_false(same && choices[i].tiles.rows == choices[k].tiles.rows &&
                         choices[i].tiles.cols == choices[k].tiles.cols);
        }
        methods += !seen;
        const restride_plan_options named = {.method = choices[i].method};
        rs_stage_choice again;
        assert_int_equal(rs_choose_exactly(&again, &m, &traits, &named, choices[i].tiles),
                         RESTRIDE_OK);
        assert_int_equal(again.count, choices[i].count);
        assert_memory_equal(again.tasks, choices[i].tasks, again.count * sizeof again.tasks[0]);
    }
    assert_true(methods >= 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_more_scratch_is_never_worse),
        cmocka_unit_test(test_bounded_search),
        cmocka_unit_test(test_longest_side),
        cmocka_unit_test(test_extreme_numbers),
        cmocka_unit_test(test_cheapest),
        cmocka_unit_test(test_cheapest_on_devices),
        cmocka_unit_test(test_order_of_costs),
        cmocka_unit_test(test_capped_needs),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_stored_square),
        cmocka_unit_test(test_candidates),
        cmocka_unit_test(test_small_arrays),
        cmocka_unit_test(test_blocks_within_the_chip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
