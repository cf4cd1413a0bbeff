/*
 * The search for the fastest plan (lab/tune/search.h) on an engine whose stages can be slow, or
 * wrong: what is told as best is the fastest, and no plan that is tried goes unchecked.
 */
#include "cmocka_all.h"

#include "console/engines.h"
#include "console/progress.h"
#include "host_engine.h"
#include "lab/tune/bench.h"
#include "lab/tune/search.h"
#include "restride/restride.h"
#include "transpose/plan.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 2, CASES = 12, SLOW_MS = 8 };

/* ---- an engine that is told which stages to spoil or to slow down ---- */

static restride_engine *engine;
static const rs_engine_operations *original;
static rs_engine_operations changed;
static bool (*is_slow)(const rs_transpose_task *task);
static bool (*is_wrong)(const rs_transpose_task *task);

static restride_status run(const rs_stage *stage, void *buffer, void *scratch,
                           rs_progress *progress, rs_under_way *under_way)
{
    const rs_transpose_task *task = &((const rs_host_stage *)stage)->task;
    restride_status status = original->run(stage, buffer, scratch, progress, under_way);
    const double end = rs_seconds_now() + 1e-3 * SLOW_MS;
    while (is_slow != NULL && is_slow(task) && rs_seconds_now() < end)
        continue;
    if (is_wrong != NULL && is_wrong(task))
        ((unsigned char *)buffer)[task->offset + task->rows * task->cols * task->unit / 2] ^= 1;
    return status;
}

static int open_engine(void **state)
{
    (void)state;
    assert_int_equal(test_host_engine(&engine, THREADS), RESTRIDE_OK);
    original = engine->operations;
    changed = *original;
    changed.run = run;
    engine->operations = &changed;
    return 0;
}

static int close_engine(void **state)
{
    (void)state;
    restride_engine_destroy(engine);
    return 0;
}

/* ---- what is asked ---- */

static const rs_matrices matrices = {96, 60, 4, 1, 0};
static const rs_tune_how few = {6, 1, 1};
static const rs_tune_how all = {SIZE_MAX, 1, 1};
static rs_tune_plan fast; /* the plan that is_slow() leaves alone: its only stage moves elements */

static bool is_direct(const rs_transpose_task *task)
{
    return task->method == RS_TRANSPOSE_CHAINS && task->unit == matrices.unit &&
           task->rows == matrices.rows && task->cols == matrices.cols;
}

static bool is_not_direct(const rs_transpose_task *task)
{
    return !is_direct(task);
}

static bool is_same(const rs_tune_plan *a, const rs_tune_plan *b)
{
    return strcmp(a->method, b->method) == 0 && a->tiles.rows == b->tiles.rows &&
           a->tiles.cols == b->tiles.cols;
}

static bool has(const rs_tune_found *found, const rs_tune_plan *plan)
{
    for (size_t i = 0; i < found->count; i++)
        if (is_same(&found->plans[i], plan))
            return true;
    return false;
}

static void search(const rs_matrices *m, const rs_tune_how *how, rs_tune_found *found)
{
    restride_status status = rs_tune_search(engine, m, how, found);
    if (status != RESTRIDE_OK)
        fail_msg("%zu x %zu x %zu: %s", m->rows, m->cols, m->unit, restride_last_error());
}

/* ---- tests ---- */

static void best_is_the_fastest(void **state)
{
    (void)state;
    rs_tune_found found;
    is_slow = is_not_direct;
    search(&matrices, &few, &found);
    is_slow = NULL;
    assert_string_equal(found.plans[found.best].method, fast.method);
    assert_true(found.best > 0);
    assert_true(found.plans[found.best].turns < 0.9 * found.plans[0].turns);
    assert_true(found.plans[0].turns >= 1e-3 * SLOW_MS);
    rs_tune_found_free(&found);
}

static void a_slow_plan_is_not_best(void **state)
{
    (void)state;
    rs_tune_found found;
    is_slow = is_direct;
    search(&matrices, &few, &found);
    is_slow = NULL;
    assert_true(has(&found, &fast));
    assert_string_not_equal(found.plans[found.best].method, fast.method);
    rs_tune_found_free(&found);
}

/* The planner's own choice is right here: another plan that is tried is not. */
static void a_wrong_element_is_found(void **state)
{
    (void)state;
    rs_tune_found found;
    is_wrong = is_direct;
    restride_status status = rs_tune_search(engine, &matrices, &few, &found);
    is_wrong = NULL;
    assert_int_equal(status, RESTRIDE_DEVICE_ERROR);
    assert_non_null(strstr(restride_last_error(), "direct, tiles of 0 x 0: After transposing "));
    rs_tune_found_free(&found);
}

static uint64_t random_state = 7;

static size_t random_size(size_t most)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return 1 + (size_t)(random_state >> 33) % most;
}

/* What holds for any problem, whatever the times. */
static void check_found(const rs_matrices *m, const rs_tune_found *found)
{
    restride_plan *own;
    assert_int_equal(restride_plan_transpose(&own, engine, m->rows, m->cols, m->unit, m->batch),
                     RESTRIDE_OK);
    assert_string_equal(found->plans[0].method, own->method);
    assert_int_equal(found->plans[0].tiles.rows, own->tile_rows);
    assert_int_equal(found->plans[0].tiles.cols, own->tile_cols);
    restride_plan_destroy(own);
    assert_true(found->offered >= found->count + found->refused);
    assert_true(found->copy_seconds > 0 && found->plans[0].turns > 0);
    size_t least = 0;
    for (size_t i = 0; i < found->count; i++) {
        const rs_tune_plan *p = &found->plans[i];
        assert_true(p->seconds > 0);
        least = p->seconds < found->plans[least].seconds ? i : least;
        for (size_t k = 0; k < i; k++)
            assert_false(is_same(p, &found->plans[k]));
        if (p->turns > 0)
            assert_true(p->turns >= found->plans[found->best].turns);
    }
    assert_true(found->plans[least].turns > 0);
    assert_true(found->plans[found->best].turns > 0);
}

static void random_problems(void **state)
{
    (void)state;
    static const size_t units[] = {1, 2, 3, 4, 8, 12, 16};
    for (int i = 0; i < CASES; i++) {
        const rs_matrices m = {random_size(90), random_size(90), units[i % 7], random_size(2), 0};
        rs_tune_found found;
        search(&m, &few, &found);
        check_found(&m, &found);
        rs_tune_found_free(&found);
    }
}

static void all_plans_are_more(void **state)
{
    (void)state;
    const rs_matrices m = {24, 30, 4, 1, 0};
    rs_tune_found some;
    rs_tune_found every;
    search(&m, &few, &some);
    search(&m, &all, &every);
    check_found(&m, &every);
    assert_int_equal(every.count + every.refused, every.offered);
    assert_true(every.count > some.count);
    for (size_t i = 0; i < some.count; i++)
        assert_true(has(&every, &some.plans[i]));
    rs_tune_found_free(&some);
    rs_tune_found_free(&every);
}

/* The first element in the place of the last: in a right result they differ. */
static restride_status spoil_last(const rs_tune_bench *b)
{
    const size_t last = b->bytes - b->matrices.unit;
    if (b->transfer == NULL) {
        memcpy((unsigned char *)b->array + last, b->original, b->matrices.unit);
        return RESTRIDE_OK;
    }
    restride_status status = b->transfer->operations->copy(b->transfer, b->array, last, b->original,
                                                           0, b->matrices.unit, NULL);
    return status == RESTRIDE_OK ? b->transfer->operations->finish(b->transfer) : status;
}

static void check_bench(restride_engine *on, const rs_matrices *m)
{
    rs_tune_bench bench;
    restride_plan *plan;
    double seconds;
    assert_int_equal(rs_tune_bench_open(&bench, on, m), RESTRIDE_OK);
    assert_int_equal(restride_plan_transpose(&plan, on, m->rows, m->cols, m->unit, m->batch),
                     RESTRIDE_OK);
    assert_int_equal(rs_tune_bench_copy(&bench, &seconds), RESTRIDE_OK);
    assert_int_equal(rs_tune_bench_check(&bench), RESTRIDE_DEVICE_ERROR);
    assert_int_equal(rs_tune_bench_run(&bench, plan, &seconds), RESTRIDE_OK);
    assert_true(seconds > 0);
    if (rs_tune_bench_check(&bench) != RESTRIDE_OK)
        fail_msg("%zu x %zu x %zu: %s", m->rows, m->cols, m->unit, restride_last_error());
    assert_int_equal(spoil_last(&bench), RESTRIDE_OK);
    assert_int_equal(rs_tune_bench_check(&bench), RESTRIDE_DEVICE_ERROR);
    restride_plan_destroy(plan);
    rs_tune_bench_close(&bench);
}

/* On each engine that is here: a right result, one that was not transposed, and one wrong element.
 */
static void checks_of_engines(void **state)
{
    (void)state;
    static const char *const names[] = {"host", "opencl", "cuda"};
    static const rs_matrices cases[] = {
        {13, 21, 1, 1, 0}, {20, 7, 4, 3, 0}, {9, 16, 6, 2, 0}, {5, 8, 24, 1, 0}};
    for (int i = 0; i < 3; i++) {
        restride_engine *on;
        if (rs_cli_open_engine(&on, names[i], NULL, THREADS) != RESTRIDE_OK) {
            print_message("%s: %s\n", names[i], restride_last_error());
            continue;
        }
        for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
            check_bench(on, &cases[k]);
        restride_engine_destroy(on);
    }
}

int main(void)
{
    fast = (rs_tune_plan){.method = "direct"};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(best_is_the_fastest),      cmocka_unit_test(a_slow_plan_is_not_best),
        cmocka_unit_test(a_wrong_element_is_found), cmocka_unit_test(random_problems),
        cmocka_unit_test(all_plans_are_more),       cmocka_unit_test(checks_of_engines)};
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
