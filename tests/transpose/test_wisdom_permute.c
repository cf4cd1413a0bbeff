/*
 * Wisdom of permutations and conversions: their plans follow what is known about each of their
 * transpositions and about the order of these, for exactly that problem; what a file says wrongly
 * is passed over; every result is right; every allocation may fail.
 */
#include "cmocka_all.h"
#include "faults/heap.h"
#include "reference.h"
#include "restride/restride.h"
#include "transpose/cost.h"
#include "transpose/plan.h"
#include "transpose/wisdom.h"
#include "transpose/wisdom_file.h"
#include "wisdom_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static restride_engine *make_engine(int threads)
{
    restride_engine *engine;
    assert_int_equal(restride_engine_create_host(&engine, threads), RESTRIDE_OK);
    return engine;
}

/* ---- a tensor ---- */

enum { RANK = 3, UNIT = 4 };
static const size_t dims[RANK] = {60, 70, 80};
static const int reversed[RANK] = {2, 1, 0};

/* The same as the planner sees it: the first axis in memory comes last. */
static const rs_axis_order tensor = {RANK, {2, 1, 0}, {80, 70, 60}, UNIT};

/* Two neighbours change places three times over, which no estimate would take. */
static const rs_path slow_path = {3, {{0, 1, 2}, {1, 2, 3}, {0, 1, 2}}};

/* The stages of the first of those. */
static const rs_matrices slow_step = {60, 70, 80 * UNIT, 1, 0};
static const char slow_method[] = "3-stage 0100! 0010! 100!";

static void permute(unsigned char *target, const unsigned char *source)
{
    for (size_t k = 0; k < dims[2]; k++)
        for (size_t j = 0; j < dims[1]; j++)
            for (size_t i = 0; i < dims[0]; i++, target += UNIT)
                memcpy(target, source + ((i * dims[1] + j) * dims[2] + k) * UNIT, UNIT);
}

static restride_status learn_path(restride_engine *engine, const rs_axis_order *a,
                                  const rs_path *path)
{
    const rs_engine_traits traits = engine->operations->traits(engine);
    return rs_wisdom_learn_path(engine, a, 1, &traits, path, 0.001, 0.002);
}

static restride_status learn_step(restride_engine *engine, const rs_matrices *m, const char *method,
                                  rs_tiles tiles)
{
    const rs_engine_traits traits = engine->operations->traits(engine);
    const rs_stage_choice choice = {.method = method, .tiles = tiles};
    return rs_wisdom_learn(engine, m, &traits, &choice, 0.001, 0.002);
}

/* ---- what a plan followed ---- */

typedef struct {
    size_t stages; /* of the plan */
    bool order;    /* wisdom says which steps to take */
    bool any;      /* wisdom says something */
} followed;

static followed read_description(const restride_plan *plan)
{
    char *text = restride_plan_describe(plan);
    json_t *object = json_loads(text, 0, NULL);
    const char *why = json_string_value(json_object_get(object, "why"));
    const followed f = {json_array_size(json_object_get(object, "stages")),
                        why != NULL && strstr(why, "which steps to take") != NULL,
                        why != NULL && strstr(why, "Wisdom of measurements") != NULL};
    json_decref(object);
    free(text);
    return f;
}

static restride_plan *plan_tensor(restride_engine *engine, const size_t sizes[], const int order[],
                                  size_t unit)
{
    restride_plan *plan;
    if (restride_plan_permute(&plan, engine, RANK, sizes, order, unit) != RESTRIDE_OK)
        fail_msg("%s", restride_last_error());
    return plan;
}

/* Each stage passes over the whole tensor, so the plan's cost is the sum of all. */
static void check_cost(const restride_plan *plan)
{
    assert_true(plan->passes >= RS_COST_LEAST * (double)plan->stage_count);
}

/* The plan of the tensor, which is right whatever the wisdom says. */
static followed check_tensor(restride_engine *engine)
{
    restride_plan *plan = plan_tensor(engine, dims, reversed, UNIT);
    const followed f = read_description(plan);
    check_cost(plan);
    size_t size = dims[0] * dims[1] * dims[2] * UNIT;
    guarded_buffer buffer = guarded_create(size, 0, 5);
    unsigned char *expected = malloc(size);
    assert_non_null(expected);
    permute(expected, buffer.bytes);
    assert_int_equal(restride_execute(plan, buffer.bytes), RESTRIDE_OK);
    assert_memory_equal(buffer.bytes, expected, size);
    assert_true(guarded_intact(&buffer));
    free(expected);
    guarded_free(&buffer);
    restride_plan_destroy(plan);
    return f;
}

static followed check_new_engine(int threads)
{
    restride_engine *engine = make_engine(threads);
    const followed f = check_tensor(engine);
    restride_engine_destroy(engine);
    return f;
}

static bool follows(restride_engine *engine, const size_t sizes[], const int order[], size_t unit)
{
    restride_plan *plan = plan_tensor(engine, sizes, order, unit);
    const followed f = read_description(plan);
    restride_plan_destroy(plan);
    return f.any;
}

/* ---- permutations ---- */

static void test_order_and_stages(void **state)
{
    (void)state;
    use_fresh_wisdom();
    const followed before = check_new_engine(2);
    assert_false(before.any);
    restride_engine *engine = make_engine(2);
    assert_int_equal(learn_path(engine, &tensor, &slow_path), RESTRIDE_OK);
    const followed by_order = check_tensor(engine);
    assert_true(by_order.order && by_order.any);
    assert_int_equal(learn_step(engine, &slow_step, slow_method, (rs_tiles){12, 14}), RESTRIDE_OK);
    const followed by_both = check_tensor(engine);
    assert_true(by_both.order && by_both.any);
    assert_int_equal(by_both.stages, by_order.stages + 2);
    restride_engine_destroy(engine);
    /* The file has all of it. */
    const followed later = check_new_engine(2);
    assert_true(later.order && later.stages == by_both.stages);
    assert_false(check_new_engine(3).any);
    setenv("RESTRIDE_WISDOM", "", 1);
    assert_false(check_new_engine(2).any);
}

static void test_only_the_exact_problem(void **state)
{
    (void)state;
    use_fresh_wisdom();
    restride_engine *engine = make_engine(2);
    assert_int_equal(learn_path(engine, &tensor, &slow_path), RESTRIDE_OK);
    assert_true(follows(engine, dims, reversed, UNIT));
    static const size_t larger[RANK] = {60, 71, 80};
    static const size_t swapped[RANK] = {80, 70, 60};
    assert_false(follows(engine, larger, reversed, UNIT));
    assert_false(follows(engine, swapped, reversed, UNIT));
    assert_false(follows(engine, dims, reversed, 2 * UNIT));
    static const int orders[][RANK] = {{1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {1, 0, 2}};
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++)
        assert_false(follows(engine, dims, orders[i], UNIT));
    /* Axes of one element, and those that stay together, are no other problem. */
    static const size_t split[] = {6, 10, 1, 70, 80};
    static const int order[] = {4, 3, 2, 0, 1};
    restride_plan *plan;
    assert_int_equal(restride_plan_permute(&plan, engine, 5, split, order, UNIT), RESTRIDE_OK);
    assert_true(read_description(plan).order);
    restride_plan_destroy(plan);
    /* What stays last is part of the element. */
    static const size_t halves[] = {60, 70, 80, 2};
    static const int but_last[] = {2, 1, 0, 3};
    assert_int_equal(restride_plan_permute(&plan, engine, 4, halves, but_last, UNIT / 2),
                     RESTRIDE_OK);
    assert_true(read_description(plan).order);
    restride_plan_destroy(plan);
    /* Bounds are stronger than wisdom. */
    const restride_plan_options options = {.scratch_bytes = 1 << 20};
    assert_int_equal(
        restride_plan_permute_with(&plan, engine, RANK, dims, reversed, UNIT, &options),
        RESTRIDE_OK);
    assert_false(read_description(plan).any);
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
}

/* An engine that has no stage for long elements, so that the path of the wisdom has none either. */
static double refuse_long_elements(const restride_engine *engine, const rs_transpose_task *task,
                                   size_t scratch_limit)
{
    (void)engine;
    (void)scratch_limit;
    return task->unit % slow_step.unit == 0 ? RS_COST_IMPOSSIBLE : 1;
}

static rs_engine_traits (*usual_traits)(const restride_engine *engine);

static rs_engine_traits short_traits(const restride_engine *engine)
{
    rs_engine_traits traits = usual_traits(engine);
    traits.cost = refuse_long_elements;
    return traits;
}

/* Where wisdom leads to no plan, estimates decide. */
static void test_way_back(void **state)
{
    (void)state;
    use_fresh_wisdom();
    restride_engine *engine = make_engine(2);
    assert_int_equal(learn_path(engine, &tensor, &slow_path), RESTRIDE_OK);
    const rs_engine_operations *usual = engine->operations;
    rs_engine_operations operations = *usual;
    usual_traits = usual->traits;
    operations.traits = short_traits;
    engine->operations = &operations;
    assert_false(check_tensor(engine).any);
    engine->operations = usual;
    assert_true(check_tensor(engine).order);
    restride_engine_destroy(engine);
}

/* What is known of a matrix holds for the step of a tensor that transposes the same. */
static void test_steps_of_matrices(void **state)
{
    (void)state;
    use_fresh_wisdom();
    restride_engine *engine = make_engine(2);
    static const int order[RANK] = {0, 2, 1};
    static const rs_matrices m = {70, 80, UNIT, 60, 0};
    assert_int_equal(learn_step(engine, &m, slow_method, (rs_tiles){14, 16}), RESTRIDE_OK);
    restride_plan *plan = plan_tensor(engine, dims, order, UNIT);
    const followed f = read_description(plan);
    assert_true(f.any && !f.order);
    assert_int_equal(f.stages, 3);
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
}

/* A record of the tensor with other exchanges. */
static void learn_exchanges(restride_engine *engine, const char *exchanges)
{
    const char *path = getenv("RESTRIDE_WISDOM");
    assert_int_equal(learn_path(engine, &tensor, &slow_path), RESTRIDE_OK);
    json_t *root = json_load_file(path, 0, NULL);
    json_t *record = json_array_get(json_object_get(root, "records"), 0);
    json_t *value = json_loads(exchanges, JSON_DECODE_ANY, NULL);
    assert_non_null(value);
    assert_int_equal(json_object_set_new(record, "exchanges", value), 0);
    assert_int_equal(json_dump_file(root, path, 0), 0);
    json_decref(root);
}

static void test_impossible_paths(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "[]",
        "[0,1,2]",
        "[0,1,2,1,2,3]",
        "[0,1,2,1,2,3,0,1]",
        "[0,1,2,1,2,3,0,1,2,0]",
        "[0,1,2,1,2,3,0,1,4]",
        "[0,1,2,1,2,3,0,1,2,2,3,4,2,3,4]",
        "[1,1,2,1,2,3,0,1,2]",
        "[0,2,2,1,2,3,0,1,2]",
        "[-1,1,2,1,2,3,0,1,2]",
        "[0,1,2,1,2,3,0,9223372036854775807,9223372036854775807]",
        "[0,1,2,1,2,3,0,1,9223372036854775807]",
        "[1,1,2,0,1,2,1,2,3,0,1,2]",
        "[2,1,3,0,1,2,1,2,3,0,1,2]",
        "[0,1,2,1,2,3,\"0\",1,2,0,1,4]",
        "\"0 1 2\"",
        "{}",
        "null",
        "7",
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        use_fresh_wisdom();
        restride_engine *engine = make_engine(2);
        learn_exchanges(engine, cases[i]);
        restride_engine_destroy(engine);
        engine = make_engine(2);
        assert_int_equal(restride_wisdom_check(engine), RESTRIDE_OK);
        if (check_tensor(engine).any)
            fail_msg("%s was followed", cases[i]);
        restride_engine_destroy(engine);
    }
    /* As many as a path holds, and one more. */
    for (size_t count = RS_FACTOR_MOST_EXCHANGES - 1; count <= RS_FACTOR_MOST_EXCHANGES + 1;
         count += 2) {
        char numbers[400] = "[0,1,2,1,2,3,0,1,2";
        for (size_t i = 3; i < count; i++)
            strcat(numbers, ",1,2,3");
        strcat(numbers, "]");
        use_fresh_wisdom();
        restride_engine *engine = make_engine(2);
        learn_exchanges(engine, numbers);
        restride_engine_destroy(engine);
        assert_int_equal(check_new_engine(2).order, count < RS_FACTOR_MOST_EXCHANGES);
    }
}

/* Who knows of matrices alone reads a file with permutations, and the other way round. */
static void test_file(void **state)
{
    (void)state;
    use_fresh_wisdom();
    char exported[256];
    snprintf(exported, sizeof exported, "%s/exported.json", wisdom_folder);
    restride_engine *engine = make_engine(2);
    assert_int_equal(learn_path(engine, &tensor, &slow_path), RESTRIDE_OK);
    assert_int_equal(learn_step(engine, &slow_step, slow_method, (rs_tiles){12, 14}), RESTRIDE_OK);
    assert_int_equal(learn_path(engine, &tensor, &slow_path), RESTRIDE_OK);
    assert_int_equal(restride_wisdom_export(engine, exported), RESTRIDE_OK);
    assert_int_equal(restride_wisdom_forget(engine), RESTRIDE_OK);
    assert_false(check_tensor(engine).any);
    assert_int_equal(restride_wisdom_import(engine, exported), RESTRIDE_OK);
    assert_true(check_tensor(engine).order);
    restride_engine_destroy(engine);
    json_t *root = json_load_file(exported, 0, NULL);
    assert_int_equal(json_integer_value(json_object_get(root, "version")), 1);
    const json_t *records = json_object_get(root, "records");
    assert_int_equal(json_array_size(records), 2);
    static const char *const members[] = {"problem",   "method",  "tile_rows",
                                          "tile_cols", "seconds", "planner_seconds"};
    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < sizeof members / sizeof members[0]; k++)
            assert_non_null(json_object_get(json_array_get(records, i), members[k]));
    json_decref(root);
}

/* ---- conversions ---- */

typedef struct {
    const char *dims;
    const char *from;
    const char *to;
    size_t unit;
} conversion;

static void parse(const conversion *c, restride_layout **from, restride_layout **to)
{
    assert_int_equal(restride_layout_parse(from, c->dims, c->from), RESTRIDE_OK);
    assert_int_equal(restride_layout_parse(to, c->dims, c->to), RESTRIDE_OK);
}

/* There by a plan that may follow wisdom, and back by one that must not, as bounds see to. */
static bool check_conversion(restride_engine *engine, const conversion *c)
{
    restride_layout *from;
    restride_layout *to;
    parse(c, &from, &to);
    restride_plan *there;
    restride_plan *back;
    const restride_plan_options options = {.scratch_bytes = 8 << 20};
    assert_int_equal(restride_plan_convert_with(&there, engine, from, to, c->unit, NULL),
                     RESTRIDE_OK);
    assert_int_equal(restride_plan_convert_with(&back, engine, to, from, c->unit, &options),
                     RESTRIDE_OK);
    size_t size = restride_layout_size(from) * (c->unit == 0 ? 1 : c->unit);
    guarded_buffer buffer = guarded_create(size, 0, 9);
    unsigned char *before = malloc(size);
    assert_non_null(before);
    memcpy(before, buffer.bytes, size);
    assert_int_equal(restride_execute(there, buffer.bytes), RESTRIDE_OK);
    assert_memory_not_equal(buffer.bytes, before, size);
    assert_int_equal(restride_execute(back, buffer.bytes), RESTRIDE_OK);
    assert_memory_equal(buffer.bytes, before, size);
    assert_true(guarded_intact(&buffer));
    bool any = read_description(there).any;
    free(before);
    guarded_free(&buffer);
    restride_plan_destroy(there);
    restride_plan_destroy(back);
    restride_layout_destroy(from);
    restride_layout_destroy(to);
    return any;
}

static const conversion conversions[] = {
    {"i:100003 f:5", "i f", "i/32 f i%32", 4},
    {"i:65536 f:7", "i f", "f i", 4},
    {"y:64 x:96 e:64", "y x e", "e x y", 4},
    {"i:300000 f{ float x; double m; int k[3]; }", "i f", "f i", 0},
};

static void test_conversions_follow(void **state)
{
    (void)state;
    use_fresh_wisdom();
    restride_engine *engine = make_engine(2);
    static const rs_matrices tiles = {32, 5, 4, 3125, 0};
    assert_false(check_conversion(engine, &conversions[0]));
    assert_int_equal(learn_step(engine, &tiles, "C2R", (rs_tiles){0, 0}), RESTRIDE_OK);
    assert_true(check_conversion(engine, &conversions[0]));
    restride_engine_destroy(engine);
}

/* Two tensors are another problem than one. */
static void test_batch(void **state)
{
    (void)state;
    use_fresh_wisdom();
    static const conversion c = {"z:2 y:64 x:96 e:64", "z y x e", "z e x y", 4};
    static const rs_axis_order inside = {3, {2, 1, 0}, {64, 96, 64}, 4};
    restride_engine *engine = make_engine(2);
    const rs_engine_traits traits = engine->operations->traits(engine);
    for (size_t count = 1; count <= 2; count++) {
        assert_int_equal(
            rs_wisdom_learn_path(engine, &inside, count, &traits, &slow_path, 0.001, 0.002),
            RESTRIDE_OK);
        assert_int_equal(check_conversion(engine, &c), count == 2);
    }
    restride_engine_destroy(engine);
}

/* ---- tuning ---- */

static void note_part(void *context, double part)
{
    double *last = context;
    assert_true(part >= *last && part <= 1);
    *last = part;
}

static void check_tuning(const restride_tuning *t, double last)
{
    assert_true(last == 1);
    assert_true(t->kept && t->tried >= 2 && t->runs > t->tried);
    assert_true(t->planner.seconds > 0 && t->best.seconds > 0);
    assert_true(t->planner.name[0] != '\0' && t->best.name[0] != '\0');
}

static void test_tune_permutation(void **state)
{
    (void)state;
    use_fresh_wisdom();
    double last = 0;
    const restride_tune_options options = {0.2, note_part, &last};
    restride_tuning tuning;
    restride_engine *engine = make_engine(2);
    if (restride_tune_permute(engine, RANK, dims, reversed, UNIT, &options, &tuning) != RESTRIDE_OK)
        fail_msg("%s", restride_last_error());
    check_tuning(&tuning, last);
    assert_true(check_tensor(engine).order);
    restride_engine_destroy(engine);
    assert_true(check_new_engine(2).order);
    engine = make_engine(2);
    static const size_t small[RANK] = {6, 7, 8};
    static const int twice[RANK] = {2, 2, 0};
    static const int same[RANK] = {0, 1, 2};
    assert_int_equal(restride_tune_permute(engine, RANK, small, reversed, UNIT, NULL, NULL),
                     RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_tune_permute(engine, RANK, dims, twice, UNIT, NULL, NULL),
                     RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_tune_permute(engine, RANK, dims, NULL, UNIT, NULL, NULL),
                     RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_tune_permute(NULL, RANK, dims, reversed, UNIT, NULL, NULL),
                     RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_tune_permute(engine, RANK, dims, same, UNIT, NULL, NULL),
                     RESTRIDE_UNSUPPORTED);
    restride_engine_destroy(engine);
    setenv("RESTRIDE_WISDOM", "", 1);
    last = 0;
    engine = make_engine(2);
    assert_int_equal(restride_tune_permute(engine, RANK, dims, reversed, UNIT, &options, &tuning),
                     RESTRIDE_OK);
    assert_false(tuning.kept);
    restride_engine_destroy(engine);
}

static void test_tune_conversions(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof conversions / sizeof conversions[0]; i++) {
        use_fresh_wisdom();
        double last = 0;
        const restride_tune_options options = {0.1, note_part, &last};
        restride_tuning tuning;
        restride_engine *engine = make_engine(2);
        restride_layout *from;
        restride_layout *to;
        parse(&conversions[i], &from, &to);
        if (restride_tune_convert(engine, from, to, conversions[i].unit, &options, &tuning) !=
            RESTRIDE_OK)
            fail_msg("%s", restride_last_error());
        check_tuning(&tuning, last);
        assert_true(check_conversion(engine, &conversions[i]));
        assert_int_equal(restride_tune_convert(engine, from, from, conversions[i].unit, NULL, NULL),
                         RESTRIDE_UNSUPPORTED);
        assert_int_equal(restride_tune_convert(engine, from, NULL, conversions[i].unit, NULL, NULL),
                         RESTRIDE_INVALID_ARGUMENT);
        restride_layout_destroy(from);
        restride_layout_destroy(to);
        restride_engine_destroy(engine);
    }
}

/* ---- allocations that fail ---- */

static restride_status do_plan(restride_engine *engine)
{
    restride_plan *plan;
    restride_status status = restride_plan_permute(&plan, engine, RANK, dims, reversed, UNIT);
    restride_plan_destroy(plan);
    return status;
}

static restride_status do_learn(restride_engine *engine)
{
    return learn_path(engine, &tensor, &slow_path);
}

static void test_no_memory(void **state)
{
    (void)state;
    static restride_status (*const deeds[])(restride_engine *) = {do_plan, do_learn};
    use_fresh_wisdom();
    restride_engine *engine = make_engine(2);
    assert_int_equal(do_learn(engine), RESTRIDE_OK);
    assert_int_equal(learn_step(engine, &slow_step, slow_method, (rs_tiles){12, 14}), RESTRIDE_OK);
    restride_engine_destroy(engine);
    for (size_t i = 0; i < sizeof deeds / sizeof deeds[0]; i++) {
        size_t failures = 0;
        for (;; failures++) {
            engine = make_engine(2);
            heap_watch(failures, HEAP_FAILS_ON);
            restride_status status = deeds[i](engine);
            const heap_report report = heap_stop();
            if (report.refused == 0) {
                assert_int_equal(status, RESTRIDE_OK);
                restride_engine_destroy(engine);
                break;
            }
            if (status != RESTRIDE_OUT_OF_MEMORY && status != RESTRIDE_IO)
                fail_msg("deed %zu, allocation %zu: status %d, %s", i, failures, (int)status,
                         restride_last_error());
            assert_true(check_tensor(engine).order);
            restride_engine_destroy(engine);
        }
        assert_true(failures >= 3);
        assert_true(check_new_engine(2).order);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_and_stages),   cmocka_unit_test(test_only_the_exact_problem),
        cmocka_unit_test(test_way_back),           cmocka_unit_test(test_steps_of_matrices),
        cmocka_unit_test(test_impossible_paths),   cmocka_unit_test(test_file),
        cmocka_unit_test(test_conversions_follow), cmocka_unit_test(test_batch),
        cmocka_unit_test(test_tune_permutation),   cmocka_unit_test(test_tune_conversions),
        cmocka_unit_test(test_no_memory),
    };
    heap_begin();
    return cmocka_run_group_tests(tests, make_wisdom_folder, remove_wisdom_folder);
}
