/* Races among plans that take longer the more often they transpose a square: the fastest wins, none
 * wins that is not faster than the planner's own, and a wrong result is an error. */
#include "cmocka_all.h"
#include "restride/restride.h"
#include "transpose/plan.h"
#include "transpose/race.h"

#include <string.h>

enum { EDGE = 512, UNIT = 4, BYTES = EDGE * EDGE * UNIT };

typedef struct {
    restride_engine *engine;
    size_t stages[3]; /* of each plan */
} contest;

static restride_status make(const void *context, size_t index, restride_plan **plan)
{
    const contest *c = context;
    const rs_transpose_task square = {.method = RS_TRANSPOSE_SQUARE,
                                      .outer = 1,
                                      .pitch = BYTES,
                                      .count = 1,
                                      .rows = EDGE,
                                      .cols = EDGE,
                                      .unit = UNIT};
    restride_status status = rs_plan_create(plan, c->engine, BYTES, "", "");
    for (size_t i = 0; status == RESTRIDE_OK && i < c->stages[index]; i++)
        status = rs_plan_add_transposes(*plan, &square, 1, 1 << 20);
    return status;
}

static restride_status run(const contest *c, const size_t order[], rs_race_result *result)
{
    static const size_t counts[] = {EDGE, EDGE};
    const rs_permutation does = {2, counts, order, UNIT};
    const rs_race_plans plans = {c->engine, BYTES, sizeof c->stages / sizeof c->stages[0],
                                 make,      c,     order == NULL ? NULL : &does};
    const restride_tune_options options = {.seconds = 0.02};
    return rs_race_run(&plans, &options, result);
}

static const size_t stay[] = {0, 1};
static const size_t change_places[] = {1, 0};

static contest begin(size_t first, size_t second, size_t third)
{
    contest c = {NULL, {first, second, third}};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fastest_wins),
        cmocka_unit_test(test_wrong_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
