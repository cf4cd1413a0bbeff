/*
 * Every place at which the library takes memory or starts a thread fails once, alone and with all
 * that follow. Then a call either fails, with RESTRIDE_OUT_OF_MEMORY, a sentence, and the caller's
 * bytes as they were, or it has done its work all the same (a thread less, for example). Nothing
 * leaks.
 */
#include "cmocka_all.h"
#include "heap.h"
#include "host_engine.h"
#include "restride/distributed.h"
#include "restride/restride.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MATRIX_BYTES = 1200 * 700 * 4, THREADS = 3 };

typedef struct {
    const char *name;
    /* Works on MATRIX_BYTES bytes and gives everything back. */
    restride_status (*run)(const void *parameters, unsigned char *data);
    const void *parameters;
    size_t least_failures; /* so that a scenario that takes no memory is noticed */
} scenario;

static unsigned char *random_bytes(void)
{
    unsigned char *bytes = malloc(MATRIX_BYTES);
    assert_non_null(bytes);
    uint32_t seed = 5;
    for (size_t i = 0; i < MATRIX_BYTES; i++) {
        seed = seed * 1664525u + 1013904223u;
        bytes[i] = (unsigned char)(seed >> 24);
    }
    return bytes;
}

/* A sentence that no failure below may leave behind. */
static void forget_last_error(void)
{
    restride_layout_parse(NULL, NULL, NULL);
}

static const char *mode_name(heap_mode mode)
{
    return mode == HEAP_FAILS_ONCE ? "alone" : "and all after it";
}

/* False when there were no more than `call` calls. */
static bool fail_call(const scenario *s, size_t call, heap_mode mode, const unsigned char *before,
                      const unsigned char *expected, size_t *failures)
{
    unsigned char *data = malloc(MATRIX_BYTES);
    assert_non_null(data);
    memcpy(data, before, MATRIX_BYTES);
    forget_last_error();
    heap_watch(call, mode);
    restride_status status = s->run(s->parameters, data);
    heap_report report = heap_stop();
    if (report.live != 0)
        fail_msg("%s: call %zu (%s, %s) failed, and %lld blocks leaked", s->name, call,
                 report.first, mode_name(mode), report.live);
    if (status != RESTRIDE_OK &&
        (status != RESTRIDE_OUT_OF_MEMORY || strstr(restride_last_error(), "memory") == NULL))
        fail_msg("%s: call %zu (%s, %s) failed, and the status was %d: %s", s->name, call,
                 report.first, mode_name(mode), status, restride_last_error());
    if (memcmp(data, status == RESTRIDE_OK ? expected : before, MATRIX_BYTES) != 0)
        fail_msg("%s: call %zu (%s, %s) failed, the status was %d, and the bytes are wrong",
                 s->name, call, report.first, mode_name(mode), status);
    if (report.refused == 0)
        assert_int_equal(status, RESTRIDE_OK);
    if (report.refused != 0 && report.threads == report.refused)
        assert_int_equal(status, RESTRIDE_OK);
    *failures += status != RESTRIDE_OK;
    free(data);
    return report.refused != 0;
}

static void check(const scenario *s)
{
    unsigned char *before = random_bytes();
    unsigned char *expected = malloc(MATRIX_BYTES);
    assert_non_null(expected);
    memcpy(expected, before, MATRIX_BYTES);
    assert_int_equal(s->run(s->parameters, expected), RESTRIDE_OK);
    assert_true(memcmp(expected, before, MATRIX_BYTES) != 0);
    for (heap_mode mode = HEAP_FAILS_ONCE; mode <= HEAP_FAILS_ON; mode++) {
        size_t failures = 0;
        for (size_t call = 0; fail_call(s, call, mode, before, expected, &failures); call++)
            ;
        if (failures < s->least_failures)
            fail_msg("%s: only %zu calls made it fail", s->name, failures);
    }
    free(before);
    free(expected);
}

/* ---- transposition ---- */

typedef struct {
    size_t rows;
    size_t cols;
    size_t unit;
    size_t batch;
    restride_plan_options options;
} matrices;

/* How a plan is made, and what is done with it. */
typedef restride_status plan_maker(restride_plan **plan, restride_engine *engine,
                                   const void *parameters);
typedef restride_status plan_user(restride_plan *plan, unsigned char *data);

static restride_status with_plan(plan_maker *make, plan_user *use, const void *parameters,
                                 unsigned char *data)
{
    restride_engine *engine = NULL;
    restride_plan *plan = NULL;
    restride_status status = test_host_engine(&engine, THREADS);
    if (status == RESTRIDE_OK)
        status = make(&plan, engine, parameters);
    if (status == RESTRIDE_OK)
        status = use(plan, data);
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
    return status;
}

static restride_status execute(restride_plan *plan, unsigned char *data)
{
    return restride_execute(plan, data);
}

static void look(void *context, size_t done, size_t total)
{
    size_t *last = context;
    assert_true(done <= total && done >= *last);
    *last = done;
}

/* The same with a thread that watches the run. */
static restride_status execute_watched(restride_plan *plan, unsigned char *data)
{
    size_t last = 0;
    const restride_run_options options = {look, &last};
    return restride_execute_with(plan, data, &options);
}

/* The description goes into the bytes, so that a part of it is noticed. */
static restride_status describe(restride_plan *plan, unsigned char *data)
{
    char *text = restride_plan_describe(plan);
    if (text == NULL)
        return RESTRIDE_OUT_OF_MEMORY;
    memcpy(data, text, strlen(text) + 1);
    free(text);
    return RESTRIDE_OK;
}

static restride_status make_transpose(restride_plan **plan, restride_engine *engine,
                                      const void *parameters)
{
    const matrices *m = parameters;
    return restride_plan_transpose_with(plan, engine, m->rows, m->cols, m->unit, m->batch,
                                        &m->options);
}

static restride_status make_permute(restride_plan **plan, restride_engine *engine,
                                    const void *parameters)
{
    (void)parameters;
    static const size_t dims[] = {12, 35, 8, 25, 10};
    static const int permutation[] = {3, 1, 4, 0, 2};
    return restride_plan_permute(plan, engine, 5, dims, permutation, 4);
}

static restride_status run_transpose(const void *parameters, unsigned char *data)
{
    return with_plan(make_transpose, execute, parameters, data);
}

static restride_status run_watched(const void *parameters, unsigned char *data)
{
    return with_plan(make_transpose, execute_watched, parameters, data);
}

static restride_status run_describe(const void *parameters, unsigned char *data)
{
    return with_plan(make_transpose, describe, parameters, data);
}

static restride_status run_permute(const void *parameters, unsigned char *data)
{
    return with_plan(make_permute, execute, parameters, data);
}

static restride_status run_one_call(const void *parameters, unsigned char *data)
{
    const matrices *m = parameters;
    return restride_transpose(data, m->rows, m->cols, m->unit);
}

static void test_transpose(void **state)
{
    (void)state;
    enum { ROOM = 16 << 20 };
    static const matrices two_stages = {1200, 700, 4, 1, {0}};
    static const matrices primes = {1009, 829, 4, 1, {0}};
    static const matrices square = {900, 900, 4, 1, {0}};
    static const matrices batch = {512, 128, 8, 6, {0}};
    static const matrices room = {1200, 700, 4, 1, {.scratch_bytes = ROOM}};
    static const matrices pipt = {1200, 700, 4, 1, {.method = "P-IPT"}};
    static const matrices pttwac = {1200, 700, 4, 1, {.method = "PTTWAC"}};
    static const matrices by_columns = {1200, 700, 4, 1, {.method = "2-stage 100! 010!"}};
    static const scenario scenarios[] = {
        {"two stages", run_transpose, &two_stages, 5},
        {"primes", run_transpose, &primes, 5},
        {"square", run_transpose, &square, 4},
        {"batch", run_transpose, &batch, 4},
        {"more room", run_transpose, &room, 4},
        {"P-IPT", run_transpose, &pipt, 4},
        {"PTTWAC", run_transpose, &pttwac, 5},
        {"by columns", run_transpose, &by_columns, 5},
        {"one call", run_one_call, &two_stages, 5},
        {"one call, primes", run_one_call, &primes, 5},
        {"watched", run_watched, &two_stages, 5},
        {"permute", run_permute, NULL, 5},
        {"describe", run_describe, &two_stages, 20},
    };
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++)
        check(&scenarios[i]);
}

/* ---- layouts ---- */

typedef struct {
    const char *dims;
    const char *from;
    const char *to;
} conversion;

static restride_status parse_layouts(const conversion *c, restride_layout **from,
                                     restride_layout **to)
{
    *from = *to = NULL;
    restride_status status = restride_layout_parse(from, c->dims, c->from);
    return status == RESTRIDE_OK ? restride_layout_parse(to, c->dims, c->to) : status;
}

static restride_status make_convert(restride_plan **plan, restride_engine *engine,
                                    const void *parameters)
{
    restride_layout *from, *to;
    restride_status status = parse_layouts(parameters, &from, &to);
    if (status == RESTRIDE_OK)
        status = restride_plan_convert(plan, engine, from, to);
    restride_layout_destroy(from);
    restride_layout_destroy(to);
    return status;
}

static restride_status make_copy(restride_plan **plan, restride_engine *engine,
                                 const void *parameters)
{
    restride_layout *from, *to;
    restride_status status = parse_layouts(parameters, &from, &to);
    if (status == RESTRIDE_OK)
        status = restride_plan_convert_copy(plan, engine, from, to, 0);
    restride_layout_destroy(from);
    restride_layout_destroy(to);
    return status;
}

/* From one buffer to another, whose bytes are the result. */
static restride_status execute_copy(restride_plan *plan, unsigned char *data)
{
    static unsigned char target[MATRIX_BYTES];
    memset(target, 0, sizeof target);
    restride_status status = restride_execute_copy(plan, data, target);
    if (status == RESTRIDE_OK)
        memcpy(data, target, sizeof target);
    return status;
}

static restride_status run_convert(const void *parameters, unsigned char *data)
{
    return with_plan(make_convert, execute, parameters, data);
}

static restride_status run_copy(const void *parameters, unsigned char *data)
{
    return with_plan(make_copy, execute_copy, parameters, data);
}

/* The same in one call. */
static restride_status run_convert_once(const void *parameters, unsigned char *data)
{
    const conversion *c = parameters;
    return restride_convert(data, c->dims, c->from, c->to);
}

/* The same with a plan that the engine keeps. */
static restride_status run_convert_kept(const void *parameters, unsigned char *data)
{
    const conversion *c = parameters;
    restride_engine *engine = NULL;
    restride_status status = test_host_engine(&engine, THREADS);
    if (status == RESTRIDE_OK)
        status = restride_convert_with(engine, data, SIZE_MAX, c->dims, c->from, c->to);
    restride_engine_destroy(engine);
    return status;
}

/* The same in a group of one process, where only the local passes are left. */
static restride_status run_redistribute(const void *parameters, unsigned char *data)
{
    const conversion *c = parameters;
    restride_group *group = NULL;
    restride_engine *engine = NULL;
    restride_plan *plan = NULL;
    char *text = NULL;
    restride_status status = restride_group_create(&group, NULL, NULL, 0, 1);
    if (status == RESTRIDE_OK)
        status = test_host_engine(&engine, THREADS);
    if (status == RESTRIDE_OK)
        status = restride_plan_redistribute(&plan, group, engine, c->dims, c->from, c->to, 0, NULL);
    if (status == RESTRIDE_OK) {
        text = restride_plan_describe(plan);
        status = text == NULL ? RESTRIDE_OUT_OF_MEMORY : restride_execute(plan, data);
    }
    free(text);
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
    restride_group_destroy(group);
    return status;
}

static restride_status write_accessors(const conversion *c, restride_dialect dialect,
                                       unsigned char *data)
{
    restride_layout *layout = NULL;
    char *source = NULL;
    restride_status status = restride_layout_parse(&layout, c->dims, c->to);
    if (status == RESTRIDE_OK)
        status = restride_layout_accessor(layout, dialect, "p", &source);
    if (status == RESTRIDE_OK)
        memcpy(data, source, strlen(source) + 1);
    free(source);
    restride_layout_destroy(layout);
    return status;
}

static restride_status run_accessor(const void *parameters, unsigned char *data)
{
    return write_accessors(parameters, RESTRIDE_DIALECT_OPENCL_C, data);
}

static restride_status run_class(const void *parameters, unsigned char *data)
{
    return write_accessors(parameters, RESTRIDE_DIALECT_CPP, data);
}

static void test_layouts(void **state)
{
    (void)state;
    static const conversion tiles = {"i:9000 f{ float x[5]; }", "i f", "i/32 f i%32"};
    static const conversion other_tiles = {"i:9000 f{ float x[5]; }", "i/32 f i%32", "i/48 f i%48"};
    static const conversion nested = {
        "i:700 f{ float x; struct { short k[3]; double m; } inner[2]; char tail; }", "i f",
        "i/32 f i%32"};
    static const conversion typed = {"y:64 x:256 float", "y x", "x/8 y x%8"};
    static const conversion spread = {"y:64 x:256 float", "@y/64 y%64 x", "@x/256 x%64 y x/64%4"};
    static const conversion grid = {"y:64 x:256 e:20", "y x e", "y/32 x/128 e y%32 x%128"};
    static const conversion records = {"i:30000 f{ float x; double m; short k; }", "i f",
                                       "i/32 f i%32"};
    static const scenario scenarios[] = {
        {"copy of tiles", run_copy, &other_tiles, 8},
        {"copy of records", run_copy, &records, 8},
        {"tiles", run_convert, &tiles, 8},
        {"other tiles", run_convert, &other_tiles, 8},
        {"tiles in one call", run_convert_once, &tiles, 8},
        {"tiles with a kept plan", run_convert_kept, &tiles, 8},
        {"redistribution", run_redistribute, &spread, 30},
        {"accessor of a record", run_accessor, &nested, 8},
        {"accessor of a grid", run_accessor, &grid, 8},
        {"class of a record", run_class, &nested, 8},
        {"class of elements", run_class, &typed, 8},
    };
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++)
        check(&scenarios[i]);
}

/* A plan that could be made runs after a run that failed, and again where there is no memory any
 * more: the engine has kept what it takes. */
static void test_run_again(void **state)
{
    (void)state;
    unsigned char *before = random_bytes();
    unsigned char *data = random_bytes();
    unsigned char *expected = random_bytes();
    restride_engine *engine;
    restride_plan *plan;
    assert_int_equal(test_host_engine(&engine, THREADS), RESTRIDE_OK);
    assert_int_equal(restride_plan_transpose(&plan, engine, 1200, 700, 4, 1), RESTRIDE_OK);
    heap_watch(0, HEAP_FAILS_ON);
    restride_status status = restride_execute(plan, data);
    heap_report report = heap_stop();
    assert_int_equal(status, RESTRIDE_OUT_OF_MEMORY);
    assert_int_equal(report.live, 0);
    assert_memory_equal(data, before, MATRIX_BYTES);
    assert_int_equal(restride_execute(plan, expected), RESTRIDE_OK);
    heap_watch(0, HEAP_FAILS_ON);
    status = restride_execute(plan, data);
    report = heap_stop();
    assert_int_equal(status, RESTRIDE_OK);
    assert_int_equal(report.live, 0);
    assert_memory_equal(data, expected, MATRIX_BYTES);
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
    free(before);
    free(data);
    free(expected);
}

int main(void)
{
    heap_begin();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transpose),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_run_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
