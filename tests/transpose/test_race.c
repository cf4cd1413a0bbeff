/* Races among plans that take longer the more often they transpose a square: the fastest wins, none
 * wins that is not faster than the planner's own, and a wrong result is an error. Then races by a
 * clock of the test's own, in which a plan takes what the test says (the linker wraps both). */
#include "cmocka_all.h"
#include "restride/restride.h"
#include "transpose/plan.h"
#include "transpose/race.h"

#include <string.h>
#include <time.h>

enum { EDGE = 512, UNIT = 4, BYTES = EDGE * EDGE * UNIT };

typedef struct {
    restride_engine *engine;
    size_t edge, unit;
    size_t stages[8]; /* of each plan */
} contest;

static restride_status make(const void *context, size_t index, restride_plan **plan)
{
    const contest *c = context;
    const rs_transpose_task square = {.method = RS_TRANSPOSE_SQUARE,
                                      .outer = 1,
                                      .pitch = c->edge * c->edge * c->unit,
                                      .count = 1,
                                      .rows = c->edge,
                                      .cols = c->edge,
                                      .unit = c->unit};
    restride_status status = rs_plan_create(plan, c->engine, square.pitch, "", "");
    for (size_t i = 0; status == RESTRIDE_OK && i < c->stages[index]; i++)
        status = rs_plan_add_transposes(*plan, &square, 1, 1 << 20);
    return status;
}

static restride_status run(const contest *c, const size_t order[], rs_race_result *result)
{
    static const size_t counts[] = {EDGE, EDGE};
    const rs_permutation does = {2, counts, order, UNIT};
    const rs_race_plans plans = {c->engine, BYTES, 3, make, c, order == NULL ? NULL : &does};
    const restride_tune_options options = {.seconds = 0.02};
    return rs_race_run(&plans, &options, result);
}

static const size_t stay[] = {0, 1};
static const size_t change_places[] = {1, 0};

static contest begin(size_t first, size_t second, size_t third)
{
    contest c = {NULL, EDGE, UNIT, {first, second, third}};
    assert_int_equal(restride_engine_create_host(&c.engine, 1), RESTRIDE_OK);
    return c;
}

/* So many times faster that no machine is busy enough to hide it. */
static void test_fastest_wins(void **state)
{
    (void)state;
    static const struct {
        size_t stages[3];
        size_t best;
    } cases[] = {{{400, 2, 300}, 1}, {{400, 300, 2}, 2}, {{2, 400, 300}, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        contest c = begin(cases[i].stages[0], cases[i].stages[1], cases[i].stages[2]);
        rs_race_result result;
        if (run(&c, stay, &result) != RESTRIDE_OK)
            fail_msg("%s", restride_last_error());
        assert_int_equal(result.best, cases[i].best);
        assert_int_equal(result.tried, 3);
        assert_true(result.runs > 3);
        for (size_t k = 0; k < 3; k++)
            assert_true(result.seconds[k] >= result.seconds[result.best]);
        restride_engine_destroy(c.engine);
    }
}

static void test_wrong_results(void **state)
{
    (void)state;
    rs_race_result result;
    contest c = begin(3, 1, 5);
    assert_int_equal(run(&c, change_places, &result), RESTRIDE_OK);
    assert_int_equal(run(&c, stay, &result), RESTRIDE_DEVICE_ERROR);
    assert_non_null(strstr(restride_last_error(), "wrong result"));
    assert_int_equal(run(&c, NULL, &result), RESTRIDE_OK);
    restride_engine_destroy(c.engine);
    /* One of them is enough. */
    c = begin(2, 4, 1);
    assert_int_equal(run(&c, stay, &result), RESTRIDE_DEVICE_ERROR);
    restride_engine_destroy(c.engine);
}

/* Elements whose last part is no whole word, and of less than one. */
static void test_units(void **state)
{
    (void)state;
    static const size_t counts[] = {64, 64};
    static const size_t units[] = {1, 3, 7, 8, 9, 12, 20};
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        contest c = begin(2, 4, 6);
        c.edge = 64;
        c.unit = units[i];
        const rs_permutation does = {2, counts, stay, units[i]};
        const rs_permutation wrong = {2, counts, change_places, units[i]};
        rs_race_plans plans = {c.engine, 64 * 64 * units[i], 3, make, &c, &does};
        const restride_tune_options options = {.seconds = 0.001};
        rs_race_result result;
        if (rs_race_run(&plans, &options, &result) != RESTRIDE_OK)
            fail_msg("%s", restride_last_error());
        plans.does = &wrong;
        assert_int_equal(rs_race_run(&plans, &options, &result), RESTRIDE_DEVICE_ERROR);
        restride_engine_destroy(c.engine);
    }
}

/* ---- by a clock of its own ---- */

enum { MOST = 8, RUNS = 32 };

static struct {
    bool used;
    double now;
    size_t plans;
    double seconds[MOST][2]; /* of a plan's runs, in turns; a plan is known by its stages */
    size_t runs[MOST];
    double told[4 * MOST * RUNS]; /* progress */
    size_t tell_count;
} clock_of_test;

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker asks for these names */
int __real_clock_gettime(clockid_t id, struct timespec *time);
int __wrap_clock_gettime(clockid_t id, struct timespec *time);
restride_status __real_restride_execute(const restride_plan *plan, void *buffer);
restride_status __wrap_restride_execute(const restride_plan *plan, void *buffer);

int __wrap_clock_gettime(clockid_t id, struct timespec *time)
{
    if (!clock_of_test.used)
        return __real_clock_gettime(id, time);
    time->tv_sec = (time_t)clock_of_test.now;
    time->tv_nsec = (long)(1e9 * (clock_of_test.now - (double)time->tv_sec) + 0.5);
    return 0;
}

restride_status __wrap_restride_execute(const restride_plan *plan, void *buffer)
{
    if (!clock_of_test.used)
        return __real_restride_execute(plan, buffer);
    const size_t index = plan->stage_count - 1;
    clock_of_test.now += clock_of_test.seconds[index][clock_of_test.runs[index]++ % 2];
    return RESTRIDE_OK;
}

/* NOLINTEND(bugprone-reserved-identifier) */

static void note_progress(void *context, double part)
{
    (void)context;
    clock_of_test.told[clock_of_test.tell_count++] = part;
}

static rs_race_result race_by(size_t plans, const double seconds[][2], double limit)
{
    contest c = {.edge = 8, .unit = 4};
    rs_race_result result;
    assert_int_equal(restride_engine_create_host(&c.engine, 1), RESTRIDE_OK);
    memset(&clock_of_test, 0, sizeof clock_of_test);
    clock_of_test.used = true;
    clock_of_test.now = 1000;
    for (size_t i = 0; i < plans; i++) {
        c.stages[i] = i + 1;
        memcpy(clock_of_test.seconds[i], seconds[i], sizeof clock_of_test.seconds[i]);
    }
    const rs_race_plans of = {c.engine, 8 * 8 * 4, plans, make, &c, NULL};
    const restride_tune_options options = {.seconds = limit, .progress = note_progress};
    assert_int_equal(rs_race_run(&of, &options, &result), RESTRIDE_OK);
    clock_of_test.used = false;
    restride_engine_destroy(c.engine);
    return result;
}

/* A plan must be clearly faster than the planner's, by its median, and then the fastest counts. */
static void test_who_wins(void **state)
{
    (void)state;
    static const struct {
        double seconds[3][2];
        size_t best;
    } cases[] = {
        {{{1, 1}, {0.98, 0.98}, {1.1, 1.1}}, 0},
        {{{1, 1}, {0.96, 0.96}, {1.1, 1.1}}, 1},
        {{{1, 1}, {0.96, 0.96}, {0.95, 0.95}}, 2},
        {{{1, 1}, {0.95, 0.95}, {0.96, 0.96}}, 1},
        {{{1, 1}, {0.9, 0.9}, {2, 2}}, 1},
        {{{2, 2}, {9, 1}, {2, 2}}, 0},
        {{{2, 2}, {1, 1.9}, {2, 2}}, 1},
        {{{2, 2}, {1, 1.95}, {2, 2}}, 0},
        {{{9, 9}, {1, 1}, {9, 9}}, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        /* Three rounds: two runs of three are by the second time. */
        const rs_race_result result = race_by(3, cases[i].seconds, 0.001);
        if (result.best != cases[i].best)
            fail_msg("case %zu: plan %zu won", i, result.best);
        assert_int_equal(result.tried, 3);
        assert_int_equal(result.runs,
                         clock_of_test.runs[0] + clock_of_test.runs[1] + clock_of_test.runs[2]);
    }
}

/* Far slower plans run once, slower ones three times more, and the planner's own always. */
static void test_how_often(void **state)
{
    (void)state;
    static const double seconds[5][2] = {{9, 9}, {1, 1}, {1.7, 1.7}, {1.5, 1.5}, {1.1, 1.1}};
    static const size_t few[] = {4, 4, 1, 4, 4};
    static const size_t many[] = {26, 26, 1, 4, 26};
    race_by(5, seconds, 12); /* the first runs take 13.1, which is less than three times that */
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(clock_of_test.runs[i], few[i]);
    race_by(5, seconds, 1000);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(clock_of_test.runs[i], many[i]);
}

/* Four plans at least; more as long as the first runs take no more than three times the time. */
static void test_how_many(void **state)
{
    (void)state;
    static const double same[MOST][2] = {{1, 1}, {1, 1}, {1, 1}, {1, 1},
                                         {1, 1}, {1, 1}, {1, 1}, {1, 1}};
    assert_int_equal(race_by(MOST, same, 0.5).tried, 4);
    assert_int_equal(race_by(MOST, same, 1.3).tried, 4);
    assert_int_equal(race_by(MOST, same, 1.5).tried, 5);
    assert_int_equal(race_by(MOST, same, 2.2).tried, 7);
    assert_int_equal(race_by(MOST, same, 100).tried, MOST);
    assert_int_equal(race_by(2, same, 0.5).tried, 2);
}

/* Half of the progress are the first runs, the other half the time. */
static void test_progress(void **state)
{
    (void)state;
    static const double same[4][2] = {{1, 1}, {1, 1}, {1, 1}, {1, 1}};
    race_by(4, same, 24);
    const double *told = clock_of_test.told;
    for (size_t i = 0; i < 4; i++)
        assert_true(told[i] == 0.125 * (double)(i + 1));
    for (size_t i = 4; i < clock_of_test.tell_count - 1; i++)
        assert_true(told[i] > 0.5 && told[i] >= told[i - 1] && told[i] <= 1);
    assert_true(told[4] < 0.53 && told[4 + 11] > 0.74 && told[4 + 11] < 0.76);
    assert_true(told[clock_of_test.tell_count - 1] == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fastest_wins), cmocka_unit_test(test_wrong_results),
        cmocka_unit_test(test_units),        cmocka_unit_test(test_who_wins),
        cmocka_unit_test(test_how_often),    cmocka_unit_test(test_how_many),
        cmocka_unit_test(test_progress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
