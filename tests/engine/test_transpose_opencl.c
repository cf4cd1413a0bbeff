/*
 * Transposition on an OpenCL device against its definition, byte by byte, between canaries.
 *
 *     test_transpose_opencl                   a cross-section, for every build
 *     test_transpose_opencl all [COUNT]       COUNT shapes (2000) of each kind, and large ones
 *     test_transpose_opencl huge              more than 2^32 elements, verified on the device
 *     test_transpose_opencl reduced           a few small cases, for a simulator that looks for
 * races test_transpose_opencl claims            the methods that such a simulator cannot judge
 */
#include "buffers.h"
#include "cmocka_all.h"
#include "restride/opencl.h"
#include "restride/restride.h"
#include "transpose/choose.h"
#include "transpose/reference.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD_BYTES = 256, GUARD = 0x5C };

static test_device device;
static restride_engine *engine;
static enum { CROSS_SECTION, ALL, HUGE, REDUCED, CLAIMS } tier;
static size_t wanted;

static const size_t units[] = {4, 8, 1, 2, 16, 12, 3, 5, 20, 24, 32, 7, 64, 100};
enum { UNIT_COUNT = sizeof units / sizeof units[0] };

static size_t shapes(size_t cross_section)
{
    return tier == ALL ? wanted : tier >= REDUCED ? cross_section / 12 + 1 : cross_section;
}

/* ---- one case ---- */

typedef struct {
    rs_matrices matrices;
    size_t chip;  /* that the planner is told of; 0: the device's */
    size_t limit; /* of scratch memory; 0: the default */
    const char *method;
} problem;

static void fail_case(const problem *p, const char *what)
{
    const rs_matrices *m = &p->matrices;
    fail_msg("%zu times %zu x %zu elements of %zu bytes, offset %zu, chip %zu, limit %zu, %s: %s",
             m->batch, m->rows, m->cols, m->unit, m->offset, p->chip, p->limit,
             p->method == NULL ? "any method" : p->method, what);
}

static void run_stage(const problem *p, const rs_transpose_task *task, size_t limit, cl_mem buffer)
{
    const rs_engine_operations *operations = engine->operations;
    rs_stage *stage;
    if (operations->create_transpose(engine, task, limit, &stage) != RESTRIDE_OK)
        fail_case(p, restride_last_error());
    size_t kept;
    size_t bytes = operations->scratch_bytes(stage, &kept);
    if (bytes + kept > limit)
        fail_case(p, "more scratch memory than the limit");
    void *scratch = NULL;
    if (bytes != 0)
        assert_int_equal(operations->acquire_scratch(engine, bytes, &scratch), RESTRIDE_OK);
    if (operations->run(stage, buffer, scratch, NULL, NULL) != RESTRIDE_OK)
        fail_case(p, restride_last_error());
    if (scratch != NULL)
        operations->release_scratch(engine, bytes, scratch);
    operations->destroy_stage(stage);
}

/* False when the method does not suit the shape. */
static bool check(const problem *p, uint64_t seed, size_t *methods)
{
    const rs_matrices *m = &p->matrices;
    rs_engine_traits traits = engine->operations->traits(engine);
    if (p->chip != 0 && p->chip < traits.chip_bytes)
        traits.chip_bytes = p->chip;
    const restride_plan_options options = {.scratch_bytes = p->limit, .method = p->method};
    rs_stage_choice choice;
    restride_status status = rs_choose_transpose(&choice, m, &traits, &options);
    if (status == RESTRIDE_UNSUPPORTED && p->method != NULL)
        return false;
    if (status != RESTRIDE_OK)
        fail_case(p, restride_last_error());
    size_t size = m->batch * m->rows * m->cols * m->unit;
    size_t whole = m->offset + size + GUARD_BYTES;
    guarded_buffer before = guarded_create(whole, 0, seed);
    unsigned char *expected = malloc(whole);
    unsigned char *found = malloc(whole);
    assert_true(expected != NULL && found != NULL);
    memcpy(expected, before.bytes, whole);
    reference_transpose(expected + m->offset, before.bytes + m->offset, m->batch, m->rows, m->cols,
                        m->unit);
    cl_mem buffer = test_device_buffer(&device, before.bytes, whole);
    for (size_t i = 0; i < choice.count; i++) {
        run_stage(p, &choice.tasks[i], choice.scratch_limit, buffer);
        methods[choice.tasks[i].method]++;
    }
    test_device_read(&device, buffer, found, whole);
    if (memcmp(found, expected, whole) != 0)
        fail_case(p, choice.why);
    device.api->clReleaseMemObject(buffer);
    free(found);
    free(expected);
    guarded_free(&before);
    return true;
}

static const rs_transpose_method device_methods[] = {
    RS_TRANSPOSE_PANELS,       RS_TRANSPOSE_CHAINS,          RS_TRANSPOSE_SQUARE,
    RS_TRANSPOSE_TILES,        RS_TRANSPOSE_REVERSE,         RS_TRANSPOSE_SHUFFLE_ROWS,
    RS_TRANSPOSE_ROTATE,       RS_TRANSPOSE_SHUFFLE_COLUMNS, RS_TRANSPOSE_FUSED,
    RS_TRANSPOSE_PIPT,         RS_TRANSPOSE_PTTWAC,          RS_TRANSPOSE_PIPT_PANELS,
    RS_TRANSPOSE_PTTWAC_PANELS};

/* PTTWAC reads an element that another chain may be storing to, and looks at its flag afterwards:
 * a race whose outcome is thrown away. */
static bool belongs_to_tier(bool claims)
{
    return tier == REDUCED ? !claims : tier == CLAIMS ? claims : true;
}

static bool claims_places(rs_transpose_method method)
{
    return method == RS_TRANSPOSE_PTTWAC || method == RS_TRANSPOSE_PTTWAC_PANELS;
}

static void check_all_ran(const size_t *methods)
{
    for (size_t i = 0; i < sizeof device_methods / sizeof device_methods[0]; i++)
        if (belongs_to_tier(claims_places(device_methods[i])) && methods[device_methods[i]] == 0)
            fail_msg("no shape took a stage of method %d", (int)device_methods[i]);
}

/* ---- shapes ---- */

static size_t pick_unit(uint64_t *seed)
{
    return units[test_random(seed, test_random(seed, 2) == 0 ? 5 : UNIT_COUNT)];
}

/* A generated problem: small sides, slim ones, sides with common factors, squares, batches, chips
 * of a few hundred bytes, limits that leave little or nothing to save. */
static problem generate(uint64_t *seed, size_t side)
{
    problem p = {.matrices = {1 + test_random(seed, side), 1 + test_random(seed, side),
                              pick_unit(seed), 1, 0}};
    rs_matrices *m = &p.matrices;
    size_t factor = 1 + test_random(seed, 12);
    switch (test_random(seed, 6)) {
    case 0:
        m->cols = m->rows;
        break;
    case 1:
        m->rows = 1 + m->rows / factor;
        m->rows *= factor;
        m->cols = (1 + m->cols / factor) * factor;
        break;
    case 2:
        m->cols = 1 + m->cols / 16;
        m->rows *= 4;
        break;
    case 3:
        m->rows = 1 + m->rows / 16;
        m->cols *= 4;
        break;
    default:
        break;
    }
    if (test_random(seed, 4) == 0)
        m->batch = 1 + test_random(seed, 4);
    if (test_random(seed, 4) == 0)
        m->offset = test_random(seed, 40);
    p.chip = (size_t)64 << test_random(seed, 9);
    if (test_random(seed, 3) == 0)
        p.limit = 1 + test_random(seed, m->rows * m->cols * m->unit);
    return p;
}

static const char *const named[] = {NULL,
                                    "direct",
                                    "tiles 210!",
                                    "C2R in panels",
                                    "R2C in panels",
                                    "2-stage 010! 100!",
                                    "2-stage 100! 010!",
                                    "3-stage 100! 0010! 0100!",
                                    "3-stage 0100! 0010! 100!",
                                    "4-stage 0100! 0010! 1000! 0100!",
                                    "4-stage fused",
                                    "P-IPT",
                                    "PTTWAC",
                                    "3-stage P-IPT",
                                    "3-stage PTTWAC",
                                    "3-stage PTTWAC packed",
                                    "3-stage PTTWAC remapped"};
enum { NAMED = sizeof named / sizeof named[0] };

/* A method that does not suit a shape is tried on the next one. */
static void test_generated(void **state)
{
    (void)state;
    uint64_t seed = 20140215;
    size_t methods[RS_TRANSPOSE_METHOD_COUNT] = {0};
    size_t count = shapes(250);
    for (size_t n = 0; n < NAMED; n++) {
        size_t taken = 0;
        if (!belongs_to_tier(named[n] != NULL && strstr(named[n], "PTTWAC") != NULL))
            continue;
        for (size_t i = 0; taken < count / (n == 0 ? 1 : 4) + 1 && i < 40 * count; i++) {
            uint64_t before = seed;
            problem p = generate(&seed, tier >= REDUCED ? 40 : i % 5 == 0 ? 400 : 150);
            p.method = named[n];
            if (n != 0 && strstr(named[n], "panels") != NULL)
                p.chip = 0; /* they need a window of a certain size */
            taken += check(&p, before, methods);
        }
        if (taken == 0)
            fail_msg("no shape for the method %s", named[n]);
    }
    check_all_ran(methods);
}

/* Every pair of small sides, whatever the planner takes. */
static void test_small(void **state)
{
    (void)state;
    size_t methods[RS_TRANSPOSE_METHOD_COUNT] = {0};
    size_t side = tier == ALL ? 40 : tier >= REDUCED ? 3 : 9;
    for (size_t rows = 1; rows <= side; rows++)
        for (size_t cols = 1; cols <= side; cols++) {
            const problem p = {
                {rows, cols, units[(rows * 7 + cols) % UNIT_COUNT], 1, 0}, 64, 0, NULL};
            check(&p, rows * 100 + cols, methods);
        }
}

/* Sizes at which there are many groups, pieces and strips. */
static const problem large[] = {
    {{720, 1800, 4, 1, 0}, 4096, 0, NULL},
    {{1800, 720, 4, 1, 0}, 4096, 0, "tiles 210!"},
    {{1024, 1024, 4, 1, 0}, 0, 0, NULL},
    {{1000, 1000, 4, 1, 16}, 0, 0, NULL},
    {{997, 1009, 4, 1, 0}, 0, 0, "C2R in panels"},
    {{997, 1009, 4, 1, 0}, 0, 0, "R2C in panels"},
    {{1013, 331, 8, 1, 0}, 0, 0, "C2R in panels"},
    {{331, 1013, 8, 1, 8}, 0, 0, "R2C in panels"},
    {{512, 4096, 4, 1, 0}, 8192, 0, NULL},
    {{4096, 64, 4, 1, 0}, 1024, 0, NULL},
    {{100000, 3, 4, 1, 0}, 0, 0, NULL},
    {{3, 100000, 4, 1, 0}, 0, 0, NULL},
    {{50000, 19, 4, 1, 0}, 0, 0, NULL},
    {{19, 50000, 8, 1, 0}, 0, 0, NULL},
    {{333, 777, 12, 1, 0}, 0, 0, NULL},
    {{640, 480, 3, 3, 0}, 0, 0, NULL},
    {{1999, 1001, 1, 1, 3}, 0, 0, NULL},
    {{512, 512, 1, 1, 0}, 0, 0, NULL},
    {{300, 300, 2, 2, 4}, 0, 0, NULL},
    {{332, 332, 1, 1, 0}, 0, 0, NULL},
    {{480, 720, 1, 1, 0}, 0, 0, "tiles 210!"},
    {{480, 720, 2, 2, 4}, 0, 0, "tiles 210!"},
    {{30000, 40, 2, 1, 0}, 0, 0, NULL},
    {{70000, 1, 4, 2, 0}, 0, 0, NULL},
    {{32, 8, 4, 40000, 0}, 0, 0, NULL},
    {{17, 23, 4, 3000, 0}, 64, 0, NULL},
    {{17, 23, 4, 33000, 0}, 64, 0, NULL},
    {{2, 2, 1000000, 1, 0}, 0, 0, NULL},
    {{5, 3, 70000, 1, 0}, 0, 0, NULL},
    {{1250, 2500, 4, 1, 0}, 0, 1, "direct"},
    {{1250, 2501, 4, 1, 0}, 0, 100000, "direct"},
    {{900, 1100, 4, 1, 0}, 0, 20000, "direct"},
    {{20011, 97, 4, 1, 0}, 0, 0, "C2R in panels"},
    {{97, 20011, 4, 1, 0}, 0, 0, "C2R in panels"},
    {{97, 20011, 4, 2, 4}, 0, 60000, "C2R in panels"},
    {{720, 1800, 4, 1, 0}, 0, 0, "4-stage fused"},
    {{1800, 720, 8, 1, 0}, 0, 40000, "4-stage fused"},
    {{480, 660, 12, 2, 4}, 0, 0, "4-stage fused"},
    {{720, 600, 4, 1, 0}, 0, 0, "3-stage PTTWAC"},
    {{600, 720, 8, 2, 8}, 0, 0, "3-stage PTTWAC packed"},
    {{600, 720, 2, 1, 2}, 0, 0, "3-stage PTTWAC remapped"},
    {{720, 600, 12, 1, 0}, 0, 0, "3-stage P-IPT"},
    {{300, 201, 4, 1, 0}, 0, 0, "PTTWAC"},
    {{201, 300, 4, 3, 4}, 0, 0, "P-IPT"},
};

static void test_large(void **state)
{
    (void)state;
    size_t methods[RS_TRANSPOSE_METHOD_COUNT] = {0};
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++)
        if (!check(&large[i], i, methods))
            fail_case(&large[i], restride_last_error());
    check_all_ran(methods);
}

/* ---- through the public interface ---- */

static void test_plans(void **state)
{
    (void)state;
    enum { ROWS = 300, COLS = 420, UNIT = 4, SIZE = ROWS * COLS * UNIT };
    restride_plan *plan;
    assert_int_equal(restride_plan_transpose(&plan, engine, ROWS, COLS, UNIT, 1), RESTRIDE_OK);
    guarded_buffer before = guarded_create(SIZE, 0, 1);
    unsigned char *expected = malloc(SIZE);
    unsigned char *found = malloc(SIZE);
    assert_true(expected != NULL && found != NULL);
    reference_transpose(expected, before.bytes, 1, ROWS, COLS, UNIT);
    cl_mem buffer = test_device_buffer(&device, before.bytes, SIZE);
    assert_int_equal(restride_execute(plan, buffer), RESTRIDE_OK);
    test_device_read(&device, buffer, found, SIZE);
    assert_memory_equal(found, expected, SIZE);
    assert_true(restride_plan_scratch_bytes(plan) <= SIZE / 400 + (1 << 20));
    char *text = restride_plan_describe(plan);
    json_t *description = json_loads(text, 0, NULL);
    assert_non_null(description);
    assert_string_equal(json_string_value(json_object_get(description, "engine")), "opencl");
    assert_true(json_array_size(json_object_get(description, "stages")) > 0);
    json_decref(description);
    free(text);
    restride_plan_destroy(plan);

    /* A buffer that is one element too small is refused and stays as it is. */
    assert_int_equal(restride_plan_transpose(&plan, engine, ROWS + 1, COLS, UNIT, 1), RESTRIDE_OK);
    assert_int_equal(restride_execute(plan, buffer), RESTRIDE_INVALID_ARGUMENT);
    test_device_read(&device, buffer, found, SIZE);
    assert_memory_equal(found, expected, SIZE);
    restride_plan_destroy(plan);
    device.api->clReleaseMemObject(buffer);
    free(found);
    free(expected);
    guarded_free(&before);
}

/* A queue that may run its commands in any order. */
static void test_out_of_order(void **state)
{
    (void)state;
    enum { ROWS = 300, COLS = 420, UNIT = 4, SIZE = ROWS * COLS * UNIT, RUNS = 5 };
    const restride_plan_options options = {.method = "tiles 210!"};
    cl_int code;
    cl_command_queue queue = device.api->clCreateCommandQueue(
        device.context, device.device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
    if (code != CL_SUCCESS) /* the device has none */
        skip();
    restride_engine *any_order;
    restride_plan *plan;
    assert_int_equal(restride_engine_create_opencl(&any_order, queue), RESTRIDE_OK);
    assert_int_equal(restride_plan_transpose_with(&plan, any_order, ROWS, COLS, UNIT, 1, &options),
                     RESTRIDE_OK);
    guarded_buffer before = guarded_create(SIZE, 0, 1);
    unsigned char *expected = malloc(SIZE);
    unsigned char *found = malloc(SIZE);
    assert_true(expected != NULL && found != NULL);
    reference_transpose(expected, before.bytes, 1, ROWS, COLS, UNIT);
    for (int run = 0; run < RUNS; run++) {
        cl_mem buffer = test_device_buffer(&device, before.bytes, SIZE);
        assert_int_equal(restride_execute(plan, buffer), RESTRIDE_OK);
        test_device_read(&device, buffer, found, SIZE);
        assert_memory_equal(found, expected, SIZE);
        device.api->clReleaseMemObject(buffer);
    }
    restride_plan_destroy(plan);
    restride_engine_destroy(any_order);
    device.api->clReleaseCommandQueue(queue);
    free(found);
    free(expected);
    guarded_free(&before);
}

/* What plans take on the device, tables included: at most 0.25 % and 1 MiB. */
static void test_scratch(void **state)
{
    (void)state;
    static const size_t sides[][2] = {{1999, 2003}, {2003, 1999},  {4096, 512},  {1024, 8192},
                                      {1800, 7200}, {3300, 3900},  {1250, 1500}, {100000, 19},
                                      {8, 400000},  {1021, 30011}, {7216, 808},  {16384, 128}};
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        restride_plan *plan;
        if (restride_plan_transpose(&plan, engine, sides[i][0], sides[i][1], 4, 1) != RESTRIDE_OK)
            fail_msg("%s", restride_last_error());
        size_t allowed = sides[i][0] * sides[i][1] * 4 / 400 + (1 << 20);
        size_t taken = restride_plan_scratch_bytes(plan);
        if (taken > allowed)
            fail_msg("%zu x %zu takes %zu bytes of %zu", sides[i][0], sides[i][1], taken, allowed);
        restride_plan_destroy(plan);
    }
}

/* Stages that this engine does not have, and blocks that do not fit on chip. */
static void test_refusals(void **state)
{
    (void)state;
    rs_stage *stage;
    rs_transpose_task task = {
        .method = RS_TRANSPOSE_C2R_ROWS, .outer = 1, .count = 1, .rows = 4, .cols = 4, .unit = 4};
    assert_int_equal(engine->operations->create_transpose(engine, &task, 1 << 20, &stage),
                     RESTRIDE_UNSUPPORTED);
    assert_null(stage);
    task.method = RS_TRANSPOSE_PANELS;
    task.rows = 1000;
    task.cols = 1000;
    assert_int_equal(engine->operations->create_transpose(engine, &task, 1 << 20, &stage),
                     RESTRIDE_DEVICE_LIMIT);
    assert_null(stage);
    task.method = RS_TRANSPOSE_SHUFFLE_ROWS;
    task.cols = 10000000;
    assert_int_equal(engine->operations->create_transpose(engine, &task, 1 << 20, &stage),
                     RESTRIDE_DEVICE_LIMIT);
    assert_true(strlen(restride_last_error()) > 20);
    restride_plan *plan;
    const restride_plan_options options = {.method = "C2R in panels"};
    restride_status status = restride_plan_transpose_with(&plan, engine, 100, 200, 4, 1, &options);
    assert_int_equal(status, RESTRIDE_UNSUPPORTED);
}

/* The same bytes come out each time: no plan depends on which group comes first. (time_transpose
 * --again repeats more plans, and a thousand times.) */
static void test_repeat(void **state)
{
    (void)state;
    static const problem repeated[] = {
        {{1800, 7200, 4, 1, 0}, 0, 0, "tiles 210!"},
        {{1800, 7200, 4, 1, 0}, 0, 0, "direct"},
        {{1801, 7200, 4, 1, 0}, 0, 0, "C2R in panels"},
        {{7200, 1801, 4, 1, 0}, 0, 0, "R2C in panels"},
    };
    enum { RUNS = 3 };
    for (size_t i = 0; i < sizeof repeated / sizeof repeated[0]; i++) {
        const rs_matrices *m = &repeated[i].matrices;
        size_t size = m->rows * m->cols * m->unit;
        const restride_plan_options options = {.method = repeated[i].method};
        restride_plan *plan;
        if (restride_plan_transpose_with(&plan, engine, m->rows, m->cols, m->unit, 1, &options) !=
            RESTRIDE_OK)
            fail_case(&repeated[i], restride_last_error());
        guarded_buffer before = guarded_create(size, 0, i);
        unsigned char *expected = malloc(size);
        unsigned char *found = malloc(size);
        assert_true(expected != NULL && found != NULL);
        reference_transpose(expected, before.bytes, 1, m->rows, m->cols, m->unit);
        cl_mem buffer = test_device_buffer(&device, before.bytes, size);
        for (size_t run = 0; run < RUNS; run++) {
            assert_int_equal(device.api->clEnqueueWriteBuffer(device.queue, buffer, CL_TRUE, 0,
                                                              size, before.bytes, 0, NULL, NULL),
                             CL_SUCCESS);
            assert_int_equal(restride_execute(plan, buffer), RESTRIDE_OK);
            test_device_read(&device, buffer, found, size);
            if (memcmp(found, expected, size) != 0)
                fail_case(&repeated[i], "wrong in one of many runs");
        }
        device.api->clReleaseMemObject(buffer);
        free(found);
        free(expected);
        guarded_free(&before);
        restride_plan_destroy(plan);
    }
}

/* ---- sizes that no host memory is wanted for ---- */

static const char huge_source[] =
    "uchar value(ulong e) { e *= 0x9E3779B97F4A7C15UL; return (uchar)(e >> 56); }\n"
    "kernel void fill(global uchar *data, ulong rows, ulong cols) {\n"
    "    for (ulong e = get_global_id(0); e < rows * cols; e += get_global_size(0))\n"
    "        data[e] = value(e);\n"
    "}\n"
    "kernel void compare(global const uchar *data, ulong rows, ulong cols, global uint *wrong) {\n"
    "    for (ulong e = get_global_id(0); e < rows * cols; e += get_global_size(0)) {\n"
    "        ulong col = e / rows;\n"
    "        if (data[e] != value((e - col * rows) * cols + col)) atomic_inc(wrong);\n"
    "    }\n"
    "}\n";

static void launch(cl_kernel kernel, cl_mem buffer, cl_ulong rows, cl_ulong cols)
{
    const size_t work = 1 << 20; /* work-items; each has many elements */
    const cl_icd_dispatch *api = device.api;
    assert_int_equal(api->clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
    assert_int_equal(api->clSetKernelArg(kernel, 1, sizeof rows, &rows), CL_SUCCESS);
    assert_int_equal(api->clSetKernelArg(kernel, 2, sizeof cols, &cols), CL_SUCCESS);
    assert_int_equal(
        api->clEnqueueNDRangeKernel(device.queue, kernel, 1, NULL, &work, NULL, 0, NULL, NULL),
        CL_SUCCESS);
    assert_int_equal(api->clFinish(device.queue), CL_SUCCESS);
}

static void check_huge(cl_kernel fill, cl_kernel compare, cl_ulong rows, cl_ulong cols)
{
    const cl_icd_dispatch *api = device.api;
    cl_int code;
    size_t size = rows * cols;
    cl_mem buffer = api->clCreateBuffer(device.context, CL_MEM_READ_WRITE, size, NULL, &code);
    if (code != CL_SUCCESS) {
        printf("no room for %zu bytes on the device\n", size);
        return;
    }
    cl_uint wrong = 0;
    cl_mem count = test_device_buffer(&device, (const unsigned char *)&wrong, sizeof wrong);
    launch(fill, buffer, rows, cols);
    restride_plan *plan;
    if (restride_plan_transpose(&plan, engine, rows, cols, 1, 1) != RESTRIDE_OK)
        fail_msg("%s", restride_last_error());
    if (restride_execute(plan, buffer) != RESTRIDE_OK)
        fail_msg("%zu x %zu: %s", (size_t)rows, (size_t)cols, restride_last_error());
    assert_int_equal(api->clSetKernelArg(compare, 3, sizeof count, &count), CL_SUCCESS);
    launch(compare, buffer, rows, cols);
    test_device_read(&device, count, (unsigned char *)&wrong, sizeof wrong);
    if (wrong != 0)
        fail_msg("%zu x %zu elements of one byte: %u are wrong", (size_t)rows, (size_t)cols, wrong);
    restride_plan_destroy(plan);
    api->clReleaseMemObject(buffer);
    api->clReleaseMemObject(count);
}

static void test_huge(void **state)
{
    (void)state;
    const cl_icd_dispatch *api = device.api;
    cl_int code;
    const char *source = huge_source;
    cl_program program = api->clCreateProgramWithSource(device.context, 1, &source, NULL, &code);
    assert_int_equal(code, CL_SUCCESS);
    assert_int_equal(api->clBuildProgram(program, 1, &device.device, "", NULL, NULL), CL_SUCCESS);
    cl_kernel fill = api->clCreateKernel(program, "fill", &code);
    assert_int_equal(code, CL_SUCCESS);
    cl_kernel compare = api->clCreateKernel(program, "compare", &code);
    assert_int_equal(code, CL_SUCCESS);
    static const struct {
        cl_ulong rows;
        cl_ulong cols;
    } sides[] = {{65536, 81920}, {131072, 40000}, {73728, 73728}, {1600000000, 3}, {46351, 100003}};
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++)
        check_huge(fill, compare, sides[i].rows, sides[i].cols);
    api->clReleaseKernel(fill);
    api->clReleaseKernel(compare);
    api->clReleaseProgram(program);
}

int main(int argc, char **argv)
{
    static const char *const tiers[] = {"", "all", "huge", "reduced", "claims"};
    for (int t = 0; argc > 1 && t < 5; t++)
        if (strcmp(argv[1], tiers[t]) == 0)
            tier = t;
    wanted = argc > 2 ? strtoul(argv[2], NULL, 10) : 2000;
    if (!test_device_open(&device))
        return 77;
    if (test_device_engine(&device, &engine) != RESTRIDE_OK) {
        printf("%s\n", restride_last_error());
        return 1;
    }
    const struct CMUnitTest shape_tests[] = {
        cmocka_unit_test(test_plans),     cmocka_unit_test(test_out_of_order),
        cmocka_unit_test(test_scratch),   cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_small),     cmocka_unit_test(test_large),
        cmocka_unit_test(test_generated), cmocka_unit_test(test_repeat),
    };
    const struct CMUnitTest reduced_tests[] = {cmocka_unit_test(test_small),
                                               cmocka_unit_test(test_generated)};
    const struct CMUnitTest claims_tests[] = {cmocka_unit_test(test_generated)};
    const struct CMUnitTest huge_tests[] = {cmocka_unit_test(test_huge)};
    int failed = tier == REDUCED  ? cmocka_run_group_tests(reduced_tests, NULL, NULL)
                 : tier == CLAIMS ? cmocka_run_group_tests(claims_tests, NULL, NULL)
                 : tier == HUGE   ? cmocka_run_group_tests(huge_tests, NULL, NULL)
                                  : cmocka_run_group_tests(shape_tests, NULL, NULL);
    restride_engine_destroy(engine);
    test_device_close(&device);
    return failed;
}
