/*
 * Conversions from one buffer to another against their definition: every element is where
 * restride_layout_offset() says, the source is as it was, and so are the canaries around both.
 *
 *     test_copy [SEED COUNT]     COUNT random pairs of layouts, and as many tensors (1500)
 */
#include "cmocka_all.h"
#include "copy_cases.h"
#include "engine/host/host.h"
#include "layout/generate.h"
#include "random_cases.h"
#include "reference.h"
#include "restride/restride.h"

#include <stdlib.h>
#include <string.h>

static uint64_t seed = 1;
static size_t count = 1500;

/* With few serial bytes small arrays have threads and are streamed. */
static restride_engine *engine_of(uint64_t *state)
{
    restride_engine *engine;
    size_t serial = test_random(state, 2) == 0 ? 16 : (size_t)1 << 20;
    assert_int_equal(rs_host_engine_create(&engine, 1 + (int)test_random(state, 3), serial),
                     RESTRIDE_OK);
    return engine;
}

static void check(const copy_case *c, uint64_t *state)
{
    restride_engine *engine = engine_of(state);
    restride_plan *plan = copy_case_plan(c, engine);
    const copy_arrays a = copy_case_sizes(c);
    guarded_buffer from = guarded_create(a.from_bytes, test_random(state, 64), *state);
    guarded_buffer to = guarded_create(a.to_bytes, test_random(state, 64), *state + 1);
    unsigned char *before = malloc(a.from_bytes + 1);
    assert_non_null(before);
    memcpy(before, from.bytes, a.from_bytes);
    if (restride_execute_copy(plan, from.bytes, to.bytes) != RESTRIDE_OK)
        copy_case_fail(c, restride_last_error());
    if (memcmp(before, from.bytes, a.from_bytes) != 0)
        copy_case_fail(c, "the source changed");
    if (!guarded_intact(&from) || !guarded_intact(&to))
        copy_case_fail(c, "a canary changed");
    if (!copy_case_holds(c, before, to.bytes))
        copy_case_fail(c, "wrong elements");
    free(before);
    guarded_free(&from);
    guarded_free(&to);
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
}

static void test_random_layouts(void **state)
{
    (void)state;
    for (size_t i = 0; i < count; i++) {
        copy_case c;
        copy_case_random(&c, &seed);
        check(&c, &seed);
    }
}

static void test_random_tensors(void **state)
{
    (void)state;
    for (size_t i = 0; i < count; i++) {
        copy_case c;
        copy_case_random_tensor(&c, &seed, 60000);
        check(&c, &seed);
    }
}

static void test_chosen(void **state)
{
    (void)state;
    for (size_t i = 0; i < copy_case_count; i++)
        for (int again = 0; again < 4; again++)
            check(&copy_cases[i], &seed);
}

static void test_refusals(void **state)
{
    (void)state;
    const copy_case c = {"y:20 x:30", "y x", "x y", 4, ""};
    uint64_t random = 1;
    restride_engine *engine = engine_of(&random);
    restride_plan *plan = copy_case_plan(&c, engine);
    restride_plan *in_place;
    unsigned char bytes[3 * 2400];
    memset(bytes, 7, sizeof bytes);
    assert_int_equal(restride_plan_transpose(&in_place, engine, 20, 30, 4, 1), RESTRIDE_OK);
    assert_int_equal(restride_execute_copy(plan, bytes, bytes + 2399), RESTRIDE_INVALID_ARGUMENT);
    assert_non_null(strstr(restride_last_error(), "overlap"));
    assert_non_null(strstr(restride_last_error(), "The target is unchanged."));
    assert_int_equal(restride_execute_copy(plan, bytes + 2399, bytes), RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_execute_copy(plan, bytes, bytes + 2400), RESTRIDE_OK);
    assert_int_equal(restride_execute_copy(plan, bytes + 2400, bytes), RESTRIDE_OK);
    assert_int_equal(restride_execute_copy(plan, bytes, NULL), RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_execute_copy(NULL, bytes, bytes + 2400), RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_execute_copy(in_place, bytes, bytes + 2400),
                     RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_execute(plan, bytes), RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_plan_bytes(plan), 2400);
    char *text = restride_plan_describe(plan);
    assert_non_null(strstr(text, "\"copy\""));
    free(text);
    restride_plan_destroy(in_place);
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
}

static void test_arguments(void **state)
{
    (void)state;
    uint64_t random = 1;
    restride_engine *engine = engine_of(&random);
    restride_layout *a;
    restride_layout *b;
    restride_plan *plan = (restride_plan *)&random;
    assert_int_equal(restride_layout_parse(&a, "i:10 f:5", "i f"), RESTRIDE_OK);
    assert_int_equal(restride_layout_parse(&b, "i:10 f:6", "f i"), RESTRIDE_OK);
    assert_int_equal(restride_plan_convert_copy(&plan, engine, a, b, 4), RESTRIDE_INVALID_ARGUMENT);
    assert_null(plan);
    assert_int_equal(restride_plan_convert_copy(&plan, engine, a, a, 0), RESTRIDE_UNSUPPORTED);
    assert_int_equal(restride_plan_convert_copy(&plan, NULL, a, a, 4), RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_plan_convert_copy(NULL, engine, a, a, 4), RESTRIDE_INVALID_ARGUMENT);
    restride_layout_destroy(a);
    restride_layout_destroy(b);
    restride_engine_destroy(engine);
}

int main(int argc, char **argv)
{
    random_cases(argc, argv, &seed, &count);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chosen), cmocka_unit_test(test_random_layouts),
        cmocka_unit_test(test_random_tensors), cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_arguments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
