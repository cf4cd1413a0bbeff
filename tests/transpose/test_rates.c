/*
 * Measured costs of stages: what is kept is read again, what is damaged is ignored, without them
 * nothing changes, and a machine that is another one gets other plans.
 */
#include "cmocka_all.h"
#include "restride/restride.h"
#include "transpose/cost.h"
#include "transpose/plan.h"
#include "transpose/wisdom.h"
#include "wisdom_files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static restride_engine *make_engine(void)
{
    restride_engine *engine;
    assert_int_equal(restride_engine_create_host(&engine, 2), RESTRIDE_OK);
    return engine;
}

static rs_rates rates_of(double factor)
{
    rs_rates rates;
    for (size_t kind = 0; kind < RS_RATE_KINDS; kind++)
        for (size_t i = 0; i < RS_RATE_SIZES; i++)
            rates.factors[kind][i] = factor;
    assert_true(rs_rates_check(&rates));
    return rates;
}

/* Of 64-bit numbers, below `most`. */
static size_t below(uint64_t *seed, size_t most)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (size_t)(*seed >> 33) % most;
}

/* What a plan is, in one text; and how many of its stages are chains. */
static void describe(restride_engine *engine, uint64_t *seed, char text[512], double *passes,
                     size_t *chains)
{
    static const size_t units[] = {1, 2, 4, 8, 12, 16};
    const size_t unit = units[below(seed, 6)];
    const size_t rows = 300 + below(seed, 4000);
    const size_t cols = (4 << 20) / rows + below(seed, 1000);
    restride_plan *plan;
    assert_int_equal(restride_plan_transpose(&plan, engine, rows, cols, unit, 1), RESTRIDE_OK);
    int length = snprintf(text, 512, "%zu x %zu x %zu: %s", rows, cols, unit, plan->method);
    for (size_t i = 0; i < plan->stage_count; i++) {
        const rs_transpose_task *t = &plan->tasks[i];
        length += snprintf(text + length, 512 - (size_t)length, ", %d %zu %zu %zu", (int)t->method,
                           t->count, t->rows, t->unit);
        *chains += t->method == RS_TRANSPOSE_CHAINS;
    }
    *passes = plan->passes;
    restride_plan_destroy(plan);
}

static void test_round_trip(void **state)
{
    (void)state;
    use_fresh_wisdom();
    restride_engine *first = make_engine();
    rs_rates rates = rates_of(1);
    for (size_t kind = 0; kind < RS_RATE_KINDS; kind++)
        for (size_t i = 0; i < RS_RATE_SIZES; i++)
            rates.factors[kind][i] = 0.1 + 0.05 * (double)kind + (double)i;
    assert_null(rs_wisdom_traits(first, 8 << 20).rates);
    assert_int_equal(rs_wisdom_learn_rates(first, &rates), RESTRIDE_OK);
    assert_int_equal(records_in(wisdom_path), 1);
    restride_engine *second = make_engine();
    for (int k = 0; k < 2; k++) {
        const rs_rates *read = rs_wisdom_traits(k == 0 ? first : second, 8 << 20).rates;
        assert_non_null(read);
        for (size_t kind = 0; kind < RS_RATE_KINDS; kind++)
            for (size_t i = 0; i < RS_RATE_SIZES; i++)
                assert_true(fabs(read->factors[kind][i] - rates.factors[kind][i]) < 1e-3);
    }
    /* Small arrays do not wait for a file, and other threads are another machine. */
    assert_null(rs_wisdom_traits(first, 1 << 19).rates);
    restride_engine *other;
    assert_int_equal(restride_engine_create_host(&other, 1), RESTRIDE_OK);
    assert_null(rs_wisdom_traits(other, 8 << 20).rates);
    assert_int_equal(restride_wisdom_forget(first), RESTRIDE_OK);
    assert_null(rs_wisdom_traits(first, 8 << 20).rates);
    restride_engine_destroy(other);
    restride_engine_destroy(second);
    restride_engine_destroy(first);
}

/* One factor that is nothing, or beyond all machines, and too few of them. */
static void test_damage(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to;
    } damages[] = {{"1000,", "0,"}, {"1000,", "99999999,"}, {"1000,", ""}, {"1000,", "\"x\","}};
    for (size_t d = 0; d < sizeof damages / sizeof damages[0]; d++) {
        use_fresh_wisdom();
        restride_engine *engine = make_engine();
        const rs_rates rates = rates_of(1);
        assert_int_equal(rs_wisdom_learn_rates(engine, &rates), RESTRIDE_OK);
        restride_engine_destroy(engine);
        json_t *root = json_load_file(wisdom_path, 0, NULL);
        char *text = json_dumps(root, JSON_COMPACT);
        json_decref(root);
        char *at = strstr(text, damages[d].from);
        assert_non_null(at);
        char *damaged = malloc(strlen(text) + 16);
        sprintf(damaged, "%.*s%s%s", (int)(at - text), text, damages[d].to,
                at + strlen(damages[d].from));
        write_wisdom(damaged, strlen(damaged));
        free(damaged);
        free(text);
        engine = make_engine();
        assert_null(rs_wisdom_traits(engine, 8 << 20).rates);
        restride_engine_destroy(engine);
    }
}

/* An example of each kind is of that kind, at each size and between them. */
static void test_kinds(void **state)
{
    (void)state;
    restride_engine *engine = make_engine();
    const rs_engine_traits traits = engine->operations->traits(engine);
    for (size_t kind = 0; kind < RS_RATE_KINDS; kind++)
        for (size_t i = 0; i < RS_RATE_SIZES; i++) {
            rs_rates rates = rates_of(1);
            for (size_t k = 0; k < RS_RATE_SIZES; k++)
                rates.factors[kind][k] = 2 + (double)k;
            assert_true(rs_rates_check(&rates));
            rs_transpose_task task = rs_rates_example(kind, rs_rate_sizes[i], &traits);
            double factor = rs_rates_factor(&rates, &task, &traits);
            if (fabs(factor - (2 + (double)i)) > 0.6)
                fail_msg("kind %zu, size %zu: %.2f", kind, i, factor);
            task.outer = 1000; /* more than all sizes */
            assert_true(rs_rates_factor(&rates, &task, &traits) == 2 + RS_RATE_SIZES - 1);
            size_t limit = rs_choose_scratch_limit(rs_rate_sizes[i], &traits);
            assert_true(rs_cost_of_transpose(&task, &traits, limit) < RS_COST_IMPOSSIBLE);
        }
    restride_engine_destroy(engine);
}

/* A machine like that of the weights gets the same plans, one that is slower throughout too. */
static void test_same_choice(void **state)
{
    (void)state;
    enum { CASES = 60 };
    use_fresh_wisdom();
    restride_engine *without = make_engine();
    assert_null(rs_wisdom_traits(without, 8 << 20).rates); /* its file is read now */
    uint64_t seeds[3] = {1, 1, 1};
    restride_engine *with[2];
    for (int k = 0; k < 2; k++) {
        use_fresh_wisdom();
        with[k] = make_engine();
        const rs_rates rates = rates_of(k == 0 ? 1 : 2);
        assert_int_equal(rs_wisdom_learn_rates(with[k], &rates), RESTRIDE_OK);
    }
    for (int i = 0; i < CASES; i++) {
        char text[512];
        char other[512];
        double passes;
        double expected[2];
        size_t chains = 0;
        describe(without, &seeds[0], text, &passes, &chains);
        for (int k = 0; k < 2; k++) {
            describe(with[k], &seeds[k + 1], other, &expected[k], &chains);
            assert_string_equal(other, text);
        }
        /* A stage of a part of the matrix counts as that part. */
        if (expected[0] > 1.001 * passes || expected[0] < passes / 2)
            fail_msg("%s: %.3f, %.3f", text, expected[0], passes);
        assert_true(fabs(expected[1] / expected[0] - 2) < 1e-6);
    }
    restride_engine_destroy(without);
    restride_engine_destroy(with[0]);
    restride_engine_destroy(with[1]);
}

/* Where chains are dear, fewer plans have some; the choice takes half of the factor. */
static void test_other_machine(void **state)
{
    (void)state;
    enum { CASES = 60 };
    size_t chains[2] = {0, 0};
    for (int k = 0; k < 2; k++) {
        use_fresh_wisdom();
        restride_engine *engine = make_engine();
        rs_rates rates = rates_of(1);
        for (size_t kind = RS_RATE_PANELS; kind < RS_RATE_PANELS + RS_RATE_CHAINS; kind++)
            for (size_t i = 0; i < RS_RATE_SIZES; i++)
                rates.factors[kind][i] = k == 0 ? 1 : 30;
        assert_true(rs_rates_check(&rates));
        assert_int_equal(rs_wisdom_learn_rates(engine, &rates), RESTRIDE_OK);
        uint64_t seed = 7;
        for (int i = 0; i < CASES; i++) {
            char text[512];
            double passes;
            describe(engine, &seed, text, &passes, &chains[k]);
        }
        restride_engine_destroy(engine);
    }
    if (chains[0] < CASES / 2 || chains[1] > chains[0] / 2)
        fail_msg("%zu chains, and %zu where they are dear", chains[0], chains[1]);
}

static void test_measured(void **state)
{
    (void)state;
    use_fresh_wisdom();
    double seconds = 0;
    assert_int_equal(restride_tune_rates(NULL, NULL), RESTRIDE_INVALID_ARGUMENT);
    restride_engine *engine = make_engine();
    assert_int_equal(restride_tune_rates(engine, &seconds), RESTRIDE_OK);
    assert_true(seconds > 0);
    const rs_rates *rates = rs_wisdom_traits(engine, 8 << 20).rates;
    assert_non_null(rates);
    assert_true(rates->least > 0 && rates->least <= 1);
    /* Once more replaces the record. */
    const rs_rates made_up = rates_of(3);
    assert_int_equal(rs_wisdom_learn_rates(engine, &made_up), RESTRIDE_OK);
    assert_int_equal(records_in(wisdom_path), 1);
    assert_true(rs_wisdom_traits(engine, 8 << 20).rates->factors[0][0] == 3);
    restride_engine_destroy(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),    cmocka_unit_test(test_damage),
        cmocka_unit_test(test_kinds),         cmocka_unit_test(test_same_choice),
        cmocka_unit_test(test_other_machine), cmocka_unit_test(test_measured),
    };
    return cmocka_run_group_tests(tests, make_wisdom_folder, remove_wisdom_folder);
}
