/* Plans through the public interface: every byte where restride_layout_offset() says, and every
 * refusal. */
#include "buffers.h"
#include "cmocka_all.h"
#include "restride/opencl.h"
#include "restride/restride.h"

#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static test_device device;
static restride_engine *engine;

static const char mixed[] = "i:1003 f{ float x; float v[3]; char kind; double m; }";

static restride_layout *parse(const char *dims, const char *expression)
{
    restride_layout *layout = NULL;
    if (restride_layout_parse(&layout, dims, expression) != RESTRIDE_OK)
        fail_msg("%s: %s", expression, restride_last_error());
    return layout;
}

static unsigned char *random_bytes(size_t size, uint32_t seed)
{
    unsigned char *bytes = malloc(size);
    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++) {
        seed = seed * 1664525u + 1013904223u;
        bytes[i] = (unsigned char)(seed >> 24);
    }
    return bytes;
}

/* How many bytes a leaf of the AoS record takes: up to where the next one starts. */
static size_t leaf_bytes(const restride_layout *aos, size_t leaf)
{
    size_t leaves = restride_layout_extent(aos, 1);
    size_t records = restride_layout_extent(aos, 0);
    const size_t here[] = {0, leaf};
    const size_t next[] = {0, leaf + 1};
    size_t end =
        leaf + 1 < leaves ? restride_layout_offset(aos, next) : restride_layout_size(aos) / records;
    return end - restride_layout_offset(aos, here);
}

/* Moves every leaf from where one layout has it to where the other has it. */
static void reference(const restride_layout *from, const restride_layout *to,
                      const restride_layout *aos, const unsigned char *source,
                      unsigned char *target)
{
    for (size_t f = 0; f < restride_layout_extent(aos, 1); f++) {
        size_t bytes = leaf_bytes(aos, f);
        for (size_t i = 0; i < restride_layout_extent(aos, 0); i++) {
            const size_t index[] = {i, f};
            memcpy(target + restride_layout_offset(to, index),
                   source + restride_layout_offset(from, index), bytes);
        }
    }
}

enum { ANY_STAGES = 1000 };

static void check_conversion(const char *dims, const char *from_expression,
                             const char *to_expression, size_t expected_stages)
{
    restride_layout *from = parse(dims, from_expression);
    restride_layout *to = parse(dims, to_expression);
    restride_layout *aos = parse(dims, "i f");
    size_t size = restride_layout_size(from);
    unsigned char *bytes = random_bytes(size, 7);
    unsigned char *expected = malloc(size);
    unsigned char *found = malloc(size);
    assert_true(expected != NULL && found != NULL);
    reference(from, to, aos, bytes, expected);

    restride_plan *plan;
    if (restride_plan_convert(&plan, engine, from, to) != RESTRIDE_OK)
        fail_msg("%s to %s: %s", from_expression, to_expression, restride_last_error());
    cl_mem buffer = test_device_buffer(&device, bytes, size);
    assert_int_equal(restride_execute(plan, buffer), RESTRIDE_OK);
    test_device_read(&device, buffer, found, size);
    assert_memory_equal(found, expected, size);
    if (expected_stages != ANY_STAGES)
        assert_int_equal(restride_plan_scratch_bytes(plan), 0);

    char *text = restride_plan_describe(plan);
    json_t *description = json_loads(text, 0, NULL);
    assert_non_null(description);
    assert_string_equal(json_string_value(json_object_get(description, "engine")), "opencl");
    size_t stages = json_array_size(json_object_get(description, "stages"));
    if (expected_stages != ANY_STAGES)
        assert_int_equal(stages, expected_stages);
    assert_int_equal(json_integer_value(json_object_get(description, "bytes_moved")),
                     2 * size * stages);
    json_decref(description);
    free(text);

    device.api->clReleaseMemObject(buffer);
    restride_plan_destroy(plan);
    restride_layout_destroy(from);
    restride_layout_destroy(to);
    restride_layout_destroy(aos);
    free(bytes);
    free(expected);
    free(found);
}

static void test_conversions(void **state)
{
    (void)state;
    check_conversion(mixed, "i f", "i/32 f i%32", 1);
    check_conversion(mixed, "i/32 f i%32", "i f", 1);
    check_conversion(mixed, "i/32 f i%32", "i/7 f i%7", 2);
    check_conversion(mixed, "i/32 f i%32", "i/32 f i%32", 0);
    check_conversion(mixed, "f i", "f i", 0);
    check_conversion("i:3 f{ float x; float y; }", "i f", "i/1024 f i%1024", 1);
    check_conversion(mixed, "i f", "f i", ANY_STAGES);
    /* A tile beyond the local memory of any device. */
    check_conversion("i:200000 f{ float x; double y; }", "i f", "i/100000 f i%100000", ANY_STAGES);
    check_conversion(mixed, "f i", "i f", ANY_STAGES);
    check_conversion("i:1003 f{ float x[5]; }", "f i", "i f", ANY_STAGES);
    check_conversion("i:1024 f{ float x[5]; }", "f i", "i/32 f i%32", ANY_STAGES);
}

static void test_a_stage_describes_itself(void **state)
{
    (void)state;
    restride_layout *aos = parse(mixed, "i f");
    restride_layout *asta = parse(mixed, "i/32 f i%32");
    restride_plan *plan;
    assert_int_equal(restride_plan_convert(&plan, engine, aos, asta), RESTRIDE_OK);
    char *text = restride_plan_describe(plan);
    json_t *description = json_loads(text, 0, NULL);
    json_t *stage = json_array_get(json_object_get(description, "stages"), 0);
    assert_string_equal(json_string_value(json_object_get(stage, "name")), "010!");
    assert_string_equal(json_string_value(json_object_get(stage, "method")), "BS");
    assert_int_equal(json_integer_value(json_object_get(stage, "tile")), 32);
    assert_int_equal(json_integer_value(json_object_get(stage, "record_bytes")), 32);
    assert_true(json_integer_value(json_object_get(stage, "tiles_per_work_group")) >= 1);
    assert_true(json_integer_value(json_object_get(stage, "vector_bytes")) >= 1);
    json_decref(description);
    free(text);
    restride_plan_destroy(plan);
    restride_layout_destroy(aos);
    restride_layout_destroy(asta);
}

static void expect_refusal(const char *from_dims, const char *from_expression, const char *to_dims,
                           const char *to_expression, restride_status expected, const char *word)
{
    restride_layout *from = parse(from_dims, from_expression);
    restride_layout *to = parse(to_dims, to_expression);
    restride_plan *plan = (restride_plan *)from;
    assert_int_equal(restride_plan_convert(&plan, engine, from, to), expected);
    assert_null(plan);
    assert_non_null(strstr(restride_last_error(), word));
    restride_layout_destroy(from);
    restride_layout_destroy(to);
}

static void test_refusals(void **state)
{
    (void)state;
    expect_refusal("i:100 f:5", "i f", "i:100 f:5", "i/32 f i%32", RESTRIDE_UNSUPPORTED,
                   "i:100 f:5");
    expect_refusal(mixed, "i f", "i:1003 f{ float x; }", "i f", RESTRIDE_INVALID_ARGUMENT,
                   "dimensions");
    restride_plan *plan;
    assert_int_equal(restride_plan_convert(&plan, engine, NULL, NULL), RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_plan_convert(NULL, NULL, NULL, NULL), RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_execute(NULL, NULL), RESTRIDE_INVALID_ARGUMENT);
    assert_null(restride_plan_describe(NULL));
    restride_plan_destroy(NULL);
    restride_engine_destroy(NULL);
    restride_engine *none;
    assert_int_equal(restride_engine_create_opencl(&none, NULL), RESTRIDE_INVALID_ARGUMENT);
}

static void test_a_buffer_that_is_too_small_stays(void **state)
{
    (void)state;
    restride_layout *aos = parse(mixed, "i f");
    restride_layout *asta = parse(mixed, "i/32 f i%32");
    size_t size = restride_layout_size(aos) - 1;
    unsigned char *bytes = random_bytes(size, 11);
    unsigned char *found = malloc(size);
    cl_mem buffer = test_device_buffer(&device, bytes, size);
    restride_plan *plan;
    assert_int_equal(restride_plan_convert(&plan, engine, aos, asta), RESTRIDE_OK);
    assert_int_equal(restride_execute(plan, buffer), RESTRIDE_INVALID_ARGUMENT);
    test_device_read(&device, buffer, found, size);
    assert_memory_equal(found, bytes, size);
    device.api->clReleaseMemObject(buffer);
    restride_plan_destroy(plan);
    restride_layout_destroy(aos);
    restride_layout_destroy(asta);
    free(bytes);
    free(found);
}

enum { THREADS = 4, REPEATS = 10 };

typedef struct {
    restride_plan *there;
    restride_plan *back;
    cl_mem buffer;
    restride_status status;
} worker;

static void *convert_often(void *argument)
{
    worker *work = argument;
    for (int i = 0; i < REPEATS && work->status == RESTRIDE_OK; i++) {
        work->status = restride_execute(work->there, work->buffer);
        if (work->status == RESTRIDE_OK)
            work->status = restride_execute(work->back, work->buffer);
    }
    if (work->status == RESTRIDE_OK)
        work->status = restride_execute(work->there, work->buffer);
    return NULL;
}

static void test_one_plan_from_many_threads(void **state)
{
    (void)state;
    restride_layout *aos = parse(mixed, "i f");
    restride_layout *asta = parse(mixed, "i/32 f i%32");
    size_t size = restride_layout_size(aos);
    unsigned char *expected = malloc(size);
    unsigned char *found = malloc(size);
    unsigned char *bytes[THREADS];
    worker workers[THREADS];
    pthread_t threads[THREADS];
    restride_plan *there;
    restride_plan *back;
    assert_int_equal(restride_plan_convert(&there, engine, aos, asta), RESTRIDE_OK);
    assert_int_equal(restride_plan_convert(&back, engine, asta, aos), RESTRIDE_OK);
    for (int t = 0; t < THREADS; t++) {
        bytes[t] = random_bytes(size, (uint32_t)t + 100);
        workers[t] =
            (worker){there, back, test_device_buffer(&device, bytes[t], size), RESTRIDE_OK};
        assert_int_equal(pthread_create(&threads[t], NULL, convert_often, &workers[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) {
        pthread_join(threads[t], NULL);
        assert_int_equal(workers[t].status, RESTRIDE_OK);
        reference(aos, asta, aos, bytes[t], expected);
        test_device_read(&device, workers[t].buffer, found, size);
        assert_memory_equal(found, expected, size);
        device.api->clReleaseMemObject(workers[t].buffer);
        free(bytes[t]);
    }
    restride_plan_destroy(there);
    restride_plan_destroy(back);
    restride_layout_destroy(aos);
    restride_layout_destroy(asta);
    free(expected);
    free(found);
}

int main(void)
{
    if (!test_device_open(&device))
        return 77;
    if (restride_engine_create_opencl(&engine, device.queue) != RESTRIDE_OK) {
        print_error("%s\n", restride_last_error());
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_conversions),
        cmocka_unit_test(test_a_stage_describes_itself),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_a_buffer_that_is_too_small_stays),
        cmocka_unit_test(test_one_plan_from_many_threads),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    restride_engine_destroy(engine);
    test_device_close(&device);
    return failed;
}
