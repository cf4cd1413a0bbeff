/*
 * Transposition through the public interface. `test_transpose all` adds the shapes that take
 * seconds, among them those at which other libraries are silently wrong.
 * Scratch memory is counted by test_scratch.c, and tests/faults lets allocations fail.
 */
#include "cmocka_all.h"
#include "host_engine.h"
#include "reference.h"
#include "restride/restride.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- correctness ---- */

typedef struct {
    size_t rows;
    size_t cols;
    size_t unit;
    size_t batch;
    int threads;
} problem;

static restride_plan *make_plan(const problem *p, restride_engine **engine)
{
    restride_plan *plan;
    assert_int_equal(test_host_engine(engine, p->threads), RESTRIDE_OK);
    if (restride_plan_transpose(&plan, *engine, p->rows, p->cols, p->unit, p->batch) != RESTRIDE_OK)
        fail_msg("%s", restride_last_error());
    return plan;
}

/* Transposes, compares with the definition, and transposes back. */
static void check(const problem *p, size_t misalignment, uint64_t seed)
{
    size_t size = p->batch * p->rows * p->cols * p->unit;
    guarded_buffer buffer = guarded_create(size, misalignment, seed);
    unsigned char *expected = malloc(size);
    unsigned char *before = malloc(size);
    assert_true(expected != NULL && before != NULL);
    memcpy(before, buffer.bytes, size);
    reference_transpose(expected, before, p->batch, p->rows, p->cols, p->unit);
    const problem back = {p->cols, p->rows, p->unit, p->batch, p->threads};
    restride_engine *engine;
    restride_plan *plan = make_plan(p, &engine);
    assert_int_equal(restride_execute(plan, buffer.bytes), RESTRIDE_OK);
    bool right = memcmp(buffer.bytes, expected, size) == 0 && guarded_intact(&buffer);
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
    plan = make_plan(&back, &engine);
    assert_int_equal(restride_execute(plan, buffer.bytes), RESTRIDE_OK);
    right = right && memcmp(buffer.bytes, before, size) == 0 && guarded_intact(&buffer);
    if (!right)
        fail_msg("%zu times %zu x %zu elements of %zu bytes, %d threads, seed %llu: %s", p->batch,
                 p->rows, p->cols, p->unit, p->threads, (unsigned long long)seed,
                 restride_plan_describe(plan));
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
    free(expected);
    free(before);
    guarded_free(&buffer);
}

static void test_every_small_shape(void **state)
{
    (void)state;
    static const size_t units[] = {1, 2, 3, 4, 8, 12, 16, 40};
    for (size_t rows = 1; rows <= 36; rows++)
        for (size_t cols = 1; cols <= 36; cols++) {
            const problem p = {rows, cols, units[(rows * 37 + cols) % 8], 1 + rows * cols % 3, 1};
            check(&p, (rows + cols) % 17, rows * 1000 + cols);
        }
}

static void test_generated(void **state)
{
    (void)state;
    static const size_t units[] = {1, 2, 4, 8, 16, 4, 8, 12, 3, 64, 100, 7, 5000};
    uint64_t seed = 2013;
    for (int i = 0; i < 250; i++) {
        size_t unit = units[test_random(&seed, 13)];
        size_t elements = 1 + test_random(&seed, (6 << 20) / unit + 1);
        if (i % 4 != 0)
            elements = elements / 4 + 1;
        size_t rows = 1 + test_random(&seed, i % 3 == 0 ? 40 : 1500);
        size_t cols = elements / rows + 1;
        if (test_random(&seed, 2) == 0) {
            size_t swap = rows;
            rows = cols;
            cols = swap;
        }
        const problem p = {rows, cols, unit, 1 + (i % 7 == 0 ? test_random(&seed, 3) : 0),
                           (int)test_random(&seed, 5)};
        check(&p, test_random(&seed, 65), seed);
    }
}

static void test_chosen(void **state)
{
    (void)state;
    static const problem problems[] = {
        {3, 100000, 4, 1, 2}, {100000, 3, 4, 1, 2}, {1, 100000, 4, 1, 2},  {100000, 1, 4, 1, 2},
        {997, 1009, 4, 1, 2}, {1009, 997, 8, 1, 3}, {1024, 1024, 4, 1, 2}, {1000, 1000, 1, 1, 2},
        {450, 1800, 4, 1, 2}, {19, 40000, 4, 1, 2}, {40009, 19, 4, 1, 2},  {2, 99991, 16, 2, 2},
        {65537, 2, 2, 1, 2},  {513, 511, 12, 1, 2}, {3, 5, 1000003, 1, 2}, {31, 31, 3001, 1, 2},
        {512, 2048, 4, 1, 4}, {2048, 512, 4, 1, 4}, {100, 100, 300, 1, 2}, {2, 2, 1, 100000, 2},
        {5, 3, 4, 30000, 2},  {1500, 700, 4, 3, 2}, {701, 1499, 8, 2, 2},  {256, 256, 64, 1, 2},
        {7200, 180, 4, 1, 2}, {180, 7200, 8, 1, 2}, {8, 2, 108, 1, 1},     {2, 9, 308, 1, 1},
    };
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++)
        check(&problems[i], i % 9, i);
}

static void test_large(void **state)
{
    (void)state;
    static const problem problems[] = {
        {3, 20000000, 4, 1, 2},  {20000000, 3, 4, 1, 2}, {19, 4000000, 4, 1, 2},
        {4000000, 19, 4, 1, 2},  {9973, 10007, 4, 1, 2}, {10007, 9973, 4, 1, 3},
        {7200, 1800, 4, 1, 2},   {5100, 2500, 8, 1, 2},  {10000, 10000, 4, 1, 2},
        {20000, 5000, 4, 1, 2},  {19999999, 3, 4, 1, 2}, {16384, 8192, 1, 1, 2},
        {46341, 46349, 1, 1, 2}, {3, 4999999, 12, 1, 2}, {3000, 3900, 16, 2, 2},
    };
    for (size_t i = 0; i < sizeof problems / sizeof problems[0]; i++)
        check(&problems[i], i % 9, i);
}

/* AoS and ASTA: every leaf where restride_layout_offset() says, there and back. */
static void check_conversion(size_t count, size_t fields, const char *type, size_t unit,
                             size_t tile, int threads)
{
    char dims[80];
    char expression[60];
    snprintf(dims, sizeof dims, "i:%zu f{ %s x[%zu]; }", count, type, fields);
    snprintf(expression, sizeof expression, "i/%zu f i%%%zu", tile, tile);
    restride_layout *aos;
    restride_layout *asta;
    restride_engine *engine;
    restride_plan *there;
    restride_plan *back;
    assert_int_equal(restride_layout_parse(&aos, dims, "i f"), RESTRIDE_OK);
    assert_int_equal(restride_layout_parse(&asta, dims, expression), RESTRIDE_OK);
    assert_int_equal(test_host_engine(&engine, threads), RESTRIDE_OK);
    assert_int_equal(restride_plan_convert(&there, engine, aos, asta), RESTRIDE_OK);
    assert_int_equal(restride_plan_convert(&back, engine, asta, aos), RESTRIDE_OK);
    size_t size = restride_layout_size(aos);
    guarded_buffer buffer = guarded_create(size, tile % 9, count);
    unsigned char *before = malloc(size);
    assert_non_null(before);
    memcpy(before, buffer.bytes, size);
    assert_int_equal(restride_execute(there, buffer.bytes), RESTRIDE_OK);
    for (size_t i = 0; i < count; i++)
        for (size_t f = 0; f < fields; f++) {
            const size_t index[] = {i, f};
            if (memcmp(buffer.bytes + restride_layout_offset(asta, index),
                       before + restride_layout_offset(aos, index), unit) != 0)
                fail_msg("%s to %s: record %zu, leaf %zu is wrong", dims, expression, i, f);
        }
    assert_int_equal(restride_execute(back, buffer.bytes), RESTRIDE_OK);
    assert_memory_equal(buffer.bytes, before, size);
    assert_true(guarded_intact(&buffer));
    free(before);
    guarded_free(&buffer);
    restride_plan_destroy(there);
    restride_plan_destroy(back);
    restride_engine_destroy(engine);
    restride_layout_destroy(aos);
    restride_layout_destroy(asta);
}

static void test_conversions(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t unit;
    } types[] = {{"char", 1}, {"short", 2}, {"float", 4}, {"double", 8}};
    uint64_t seed = 54;
    for (int i = 0; i < 300; i++) {
        size_t type = test_random(&seed, 4);
        size_t count = 1 + test_random(&seed, i % 10 == 0 ? 40000 : 500);
        check_conversion(count, 2 + test_random(&seed, 30), types[type].name, types[type].unit,
                         1 + test_random(&seed, 70), 1 + (int)test_random(&seed, 4));
    }
}

static void test_one_call(void **state)
{
    (void)state;
    guarded_buffer buffer = guarded_create(700 * 900 * 8, 3, 5);
    unsigned char *expected = malloc(buffer.size);
    assert_non_null(expected);
    reference_transpose(expected, buffer.bytes, 1, 700, 900, 8);
    assert_int_equal(restride_transpose(buffer.bytes, 700, 900, 8), RESTRIDE_OK);
    assert_memory_equal(buffer.bytes, expected, buffer.size);
    assert_true(guarded_intact(&buffer));
    free(expected);
    guarded_free(&buffer);
}

/* ---- refusals and descriptions ---- */

static void test_refusals(void **state)
{
    (void)state;
    restride_engine *engine;
    restride_plan *plan;
    unsigned char byte = 0;
    assert_int_equal(restride_engine_create_host(NULL, 0), RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_engine_create_host(&engine, -1), RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_engine_create_host(&engine, 0), RESTRIDE_OK);
    static const struct {
        size_t rows, cols, unit, batch;
        restride_status status;
    } cases[] = {
        {0, 1, 1, 1, RESTRIDE_INVALID_ARGUMENT},    {1, 0, 1, 1, RESTRIDE_INVALID_ARGUMENT},
        {1, 1, 0, 1, RESTRIDE_INVALID_ARGUMENT},    {1, 1, 1, 0, RESTRIDE_INVALID_ARGUMENT},
        {SIZE_MAX, 2, 1, 1, RESTRIDE_OVERFLOW},     {SIZE_MAX / 4, 2, 4, 1, RESTRIDE_OVERFLOW},
        {SIZE_MAX / 8, 2, 1, 5, RESTRIDE_OVERFLOW},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(restride_plan_transpose(&plan, engine, cases[i].rows, cases[i].cols,
                                                 cases[i].unit, cases[i].batch),
                         cases[i].status);
        assert_null(plan);
        assert_true(strlen(restride_last_error()) > 20);
    }
    assert_int_equal(restride_plan_transpose(NULL, engine, 2, 2, 2, 1), RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_plan_transpose(&plan, NULL, 2, 2, 2, 1), RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_transpose(NULL, 2, 2, 2), RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_transpose(&byte, 0, 2, 2), RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_plan_transpose(&plan, engine, 700, 900, 4, 1), RESTRIDE_OK);
    assert_int_equal(restride_execute(plan, NULL), RESTRIDE_INVALID_ARGUMENT);
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
}

static void test_describe(void **state)
{
    (void)state;
    const problem p = {7200, 1800, 4, 1, 2};
    restride_engine *engine;
    restride_plan *plan = make_plan(&p, &engine);
    char *text = restride_plan_describe(plan);
    json_t *description = json_loads(text, 0, NULL);
    assert_non_null(description);
    assert_string_equal(json_string_value(json_object_get(description, "engine")), "host");
    assert_string_equal(json_string_value(json_object_get(description, "from")), "r c");
    assert_true(strlen(json_string_value(json_object_get(description, "why"))) > 20);
    assert_int_equal(json_array_size(json_object_get(description, "stages")), 2);
    assert_true(json_number_value(json_object_get(description, "estimated_passes")) > 1);
    assert_int_equal(json_integer_value(json_object_get(description, "scratch_bytes")),
                     restride_plan_scratch_bytes(plan));
    json_decref(description);
    free(text);
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "all") == 0) {
        const struct CMUnitTest tests[] = {cmocka_unit_test(test_large)};
        return cmocka_run_group_tests(tests, NULL, NULL);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_small_shape),
        cmocka_unit_test(test_generated),
        cmocka_unit_test(test_chosen),
        cmocka_unit_test(test_one_call),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_describe),
        cmocka_unit_test(test_conversions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
