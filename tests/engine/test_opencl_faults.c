/*
 * What the OpenCL engine says when something is wrong or fails, and what is left of it then. This
 * program defines the functions of OpenCL that the engine calls, so the library finds these before
 * the loader's: they count, fail on demand, and pass the call on.
 */
#include "buffers.h"
#include "cmocka_all.h"
#include "restride/opencl.h"
#include "restride/restride.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)

/* ---- faults ---- */

static void *loader;
static size_t calls;           /* of functions that may fail, since the last reset */
static size_t failing;         /* the number of the call that fails; 0: none */
static const char *only;       /* counts calls of that function alone; NULL: of all */
static cl_int failure;         /* what it returns */
static const char *has_failed; /* the function that did */
static long alive;             /* objects that were created and not released */

static bool fails(const char *name)
{
    if (only != NULL && strcmp(only, name) != 0)
        return false;
    calls++;
    if (calls != failing)
        return false;
    has_failed = name;
    return true;
}

static void *real(const char *name)
{
    void *function = dlsym(loader, name);
    if (function == NULL)
        abort();
    return function;
}

/* The function of that name behind this one, as a value of its own type. */
#define REAL(name) (*(__typeof__(name) **)(void *[]){real(#name)})

/* NOLINTBEGIN(bugprone-macro-parentheses): `arguments` is a list in its parentheses */
#define FAILING(name, parameters, arguments)                                                       \
    cl_int name parameters                                                                         \
    {                                                                                              \
        return fails(#name) ? failure : REAL(name) arguments;                                      \
    }
#define CREATING(type, name, parameters, arguments)                                                \
    type name parameters                                                                           \
    {                                                                                              \
        if (fails(#name)) {                                                                        \
            *code = failure;                                                                       \
            return NULL;                                                                           \
        }                                                                                          \
        type made = REAL(name) arguments;                                                          \
        alive += made != NULL;                                                                     \
        return made;                                                                               \
    }
/* NOLINTEND(bugprone-macro-parentheses) */
#define RELEASING(name, type)                                                                      \
    cl_int name(type object)                                                                       \
    {                                                                                              \
        alive--;                                                                                   \
        return REAL(name)(object);                                                                 \
    }

FAILING(clGetDeviceInfo,
        (cl_device_id device, cl_device_info what, size_t size, void *value, size_t *needed),
        (device, what, size, value, needed))
FAILING(clGetCommandQueueInfo,
        (cl_command_queue queue, cl_command_queue_info what, size_t size, void *value,
         size_t *needed),
        (queue, what, size, value, needed))
FAILING(clGetMemObjectInfo,
        (cl_mem memory, cl_mem_info what, size_t size, void *value, size_t *needed),
        (memory, what, size, value, needed))
FAILING(clBuildProgram,
        (cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
         void(CL_CALLBACK *notify)(cl_program, void *), void *context),
        (program, count, devices, options, notify, context))
FAILING(clSetKernelArg, (cl_kernel kernel, cl_uint index, size_t size, const void *value),
        (kernel, index, size, value))
FAILING(clWaitForEvents, (cl_uint count, const cl_event *events), (count, events))
FAILING(clFinish, (cl_command_queue queue), (queue))
FAILING(clEnqueueReadBuffer,
        (cl_command_queue queue, cl_mem buffer, cl_bool wait, size_t offset, size_t size,
         void *target, cl_uint count, const cl_event *list, cl_event *event),
        (queue, buffer, wait, offset, size, target, count, list, event))
FAILING(clEnqueueWriteBuffer,
        (cl_command_queue queue, cl_mem buffer, cl_bool wait, size_t offset, size_t size,
         const void *source, cl_uint count, const cl_event *list, cl_event *event),
        (queue, buffer, wait, offset, size, source, count, list, event))

CREATING(cl_mem, clCreateBuffer,
         (cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *code),
         (context, flags, size, host, code))
CREATING(cl_program, clCreateProgramWithSource,
         (cl_context context, cl_uint count, const char **texts, const size_t *lengths,
          cl_int *code),
         (context, count, texts, lengths, code))
CREATING(cl_kernel, clCreateKernel, (cl_program program, const char *name, cl_int *code),
         (program, name, code))
RELEASING(clReleaseMemObject, cl_mem)
RELEASING(clReleaseProgram, cl_program)
RELEASING(clReleaseKernel, cl_kernel)
RELEASING(clReleaseEvent, cl_event)

cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint rank,
                              const size_t *offset, const size_t *global, const size_t *local,
                              cl_uint count, const cl_event *list, cl_event *event)
{
    if (fails("clEnqueueNDRangeKernel"))
        return failure;
    cl_int code = REAL(clEnqueueNDRangeKernel)(queue, kernel, rank, offset, global, local, count,
                                               list, event);
    alive += code == CL_SUCCESS && event != NULL;
    return code;
}

cl_int clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
                           size_t to_offset, size_t size, cl_uint count, const cl_event *list,
                           cl_event *event)
{
    if (fails("clEnqueueCopyBuffer"))
        return failure;
    cl_int code = REAL(clEnqueueCopyBuffer)(queue, from, to, from_offset, to_offset, size, count,
                                            list, event);
    alive += code == CL_SUCCESS && event != NULL;
    return code;
}

#pragma GCC visibility pop

/* ---- one conversion ---- */

static test_device device;

typedef struct {
    const char *method; /* NULL: the axes of a tensor, or records when there are rows */
    size_t rows;
    size_t cols;
} conversion;

/* Members of several sizes, and a number of records that no block divides. */
static restride_status plan_records(restride_plan **plan, restride_engine *engine)
{
    static const char *const dims = "i:1009 f{ float x; double m; char kind; short v[3]; }";
    restride_layout *from;
    restride_layout *to;
    assert_int_equal(restride_layout_parse(&from, dims, "i f"), RESTRIDE_OK);
    assert_int_equal(restride_layout_parse(&to, dims, "f i"), RESTRIDE_OK);
    restride_status status = restride_plan_convert(plan, engine, from, to);
    restride_layout_destroy(from);
    restride_layout_destroy(to);
    return status;
}

static restride_status make_plan(restride_plan **plan, restride_engine *engine, const conversion *c)
{
    const restride_plan_options options = {.method = c->method};
    if (c->method == NULL && c->rows != 0)
        return plan_records(plan, engine);
    static const size_t dims[] = {12, 20, 18};
    static const int axes[] = {2, 0, 1};
    return c->method == NULL
               ? restride_plan_permute(plan, engine, 3, dims, axes, 4)
               : restride_plan_transpose_with(plan, engine, c->rows, c->cols, 4, 1, &options);
}

/* Makes an engine and a plan and runs it on `bytes` of a buffer; the sentence stays. Nothing of it
 * is left afterwards. */
static restride_status convert(const conversion *c, cl_mem buffer)
{
    restride_engine *engine = NULL;
    restride_plan *plan = NULL;
    long before = alive;
    restride_status status = restride_engine_create_opencl(&engine, device.queue);
    if (status == RESTRIDE_OK)
        status = make_plan(&plan, engine, c);
    if (status == RESTRIDE_OK)
        status = restride_execute(plan, buffer);
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
    if (alive != before)
        fail_msg("%ld objects are left after a failure of %s", alive - before,
                 has_failed == NULL ? "nothing" : has_failed);
    return status;
}

static void fail_at(size_t number, const char *function, cl_int code)
{
    calls = 0;
    failing = number;
    only = function;
    failure = code;
    has_failed = NULL;
}

static bool says(const char *part)
{
    return strstr(restride_last_error(), part) != NULL;
}

enum { BYTES = 40 << 10 };
static unsigned char content[BYTES];

static cl_mem make_buffer(void)
{
    fail_at(0, NULL, 0);
    for (size_t i = 0; i < BYTES; i++)
        content[i] = (unsigned char)(i * 7 + i / 256);
    return test_device_buffer(&device, content, BYTES);
}

static bool is_untouched(cl_mem buffer)
{
    static unsigned char found[BYTES];
    test_device_read(&device, buffer, found, BYTES);
    return memcmp(found, content, BYTES) == 0;
}

static const conversion conversions[] = {
    {"direct", 60, 90},
    {"square", 64, 64},
    {"tiles 210!", 64, 96},
    {"2-stage 010! 100!", 61, 90},
    {"C2R in panels", 97, 101},
    {NULL, 0, 0},
    {NULL, 1, 1},
};
enum { CONVERSIONS = sizeof conversions / sizeof conversions[0] };

/* ---- tests ---- */

/* Every call, one after the other: a status and a sentence, nothing left over, and the engine that
 * is made next works. */
static void test_every_call(void **state)
{
    (void)state;
    for (size_t i = 0; i < CONVERSIONS; i++) {
        cl_mem buffer = make_buffer();
        assert_int_equal(convert(&conversions[i], buffer), RESTRIDE_OK);
        size_t count = calls;
        assert_true(count > 10);
        for (size_t n = 1; n <= count; n++) {
            fail_at(n, NULL, CL_OUT_OF_RESOURCES);
            restride_status status = convert(&conversions[i], buffer);
            if (has_failed == NULL) /* a test less was needed */
                continue;
            if (status == RESTRIDE_OK)
                fail_msg("call %zu, %s, failed and nobody knew", n, has_failed);
            if (!says("CL_OUT_OF_RESOURCES (-5)") && !says("too little memory"))
                fail_msg("%s: \"%s\"", has_failed, restride_last_error());
        }
        fail_at(0, NULL, 0);
        assert_int_equal(convert(&conversions[i], buffer), RESTRIDE_OK);
        device.api->clReleaseMemObject(buffer);
    }
}

enum { THREADS = 500, OBJECTS = 300 };

/* Makes a plan for irregular references and fills the slots; nothing is left afterwards. */
static restride_status reorder(restride_engine *engine, restride_irregular_method method,
                               cl_mem index, cl_mem array, cl_mem slots)
{
    const restride_launch launch = {THREADS, 32, 32};
    const restride_reference reference = {index, sizeof(cl_uint), OBJECTS, sizeof(float)};
    const restride_irregular_options options = {.method = method};
    restride_irregular_device *plan = NULL;
    long before = alive;
    restride_status status =
        restride_irregular_device_plan(&plan, engine, &launch, &reference, &options);
    if (status == RESTRIDE_OK)
        status = restride_irregular_device_gather(plan, array, slots);
    restride_irregular_device_destroy(plan);
    if (alive != before)
        fail_msg("%ld objects are left after a failure of %s", alive - before,
                 has_failed == NULL ? "nothing" : has_failed);
    return status;
}

/* A first plan; the engine keeps its programs. */
static void build_programs(restride_engine *engine, restride_irregular_method method, cl_mem index)
{
    const restride_launch launch = {THREADS, 32, 32};
    const restride_reference reference = {index, sizeof(cl_uint), OBJECTS, sizeof(float)};
    const restride_irregular_options options = {.method = method};
    restride_irregular_device *plan;
    assert_int_equal(restride_irregular_device_plan(&plan, engine, &launch, &reference, &options),
                     RESTRIDE_OK);
    restride_irregular_device_destroy(plan);
    calls = 0;
}

/* Every call with one engine, which has built its programs before. */
static void test_every_call_of_reordering(void **state)
{
    (void)state;
    static const restride_irregular_method methods[] = {RESTRIDE_IRREGULAR_APPROXIMATION,
                                                        RESTRIDE_IRREGULAR_DUPLICATION};
    cl_uint index[THREADS];
    for (cl_uint t = 0; t < THREADS; t++)
        index[t] = t * t % OBJECTS;
    cl_mem array = make_buffer();
    cl_mem slots = make_buffer();
    cl_mem indices = test_device_buffer(&device, (const unsigned char *)index, sizeof index);
    restride_engine *engine;
    assert_int_equal(restride_engine_create_opencl(&engine, device.queue), RESTRIDE_OK);
    for (size_t m = 0; m < sizeof methods / sizeof methods[0]; m++) {
        fail_at(0, NULL, 0);
        build_programs(engine, methods[m], indices);
        assert_int_equal(reorder(engine, methods[m], indices, array, slots), RESTRIDE_OK);
        size_t count = calls;
        assert_true(count > 50);
        for (size_t n = 1; n <= count; n++) {
            fail_at(n, NULL, CL_OUT_OF_RESOURCES);
            if (reorder(engine, methods[m], indices, array, slots) == RESTRIDE_OK)
                fail_msg("call %zu, %s, failed and nobody knew", n, has_failed);
            if (!says("CL_OUT_OF_RESOURCES (-5)"))
                fail_msg("%s: \"%s\"", has_failed, restride_last_error());
        }
        fail_at(0, NULL, 0);
        assert_int_equal(reorder(engine, methods[m], indices, array, slots), RESTRIDE_OK);
    }
    restride_engine_destroy(engine);
    device.api->clReleaseMemObject(slots);
    device.api->clReleaseMemObject(array);
    device.api->clReleaseMemObject(indices);
}

/* Whatever fails before the first stage leaves the buffer as it is. */
static void test_untouched(void **state)
{
    (void)state;
    static const char *const functions[] = {"clCreateProgramWithSource", "clBuildProgram",
                                            "clCreateKernel", "clGetMemObjectInfo"};
    for (size_t i = 0; i < CONVERSIONS; i++)
        for (size_t f = 0; f < sizeof functions / sizeof functions[0]; f++) {
            cl_mem buffer = make_buffer();
            fail_at(1, functions[f], CL_OUT_OF_RESOURCES);
            assert_int_not_equal(convert(&conversions[i], buffer), RESTRIDE_OK);
            assert_string_equal(has_failed, functions[f]);
            fail_at(0, NULL, 0);
            assert_true(is_untouched(buffer));
            device.api->clReleaseMemObject(buffer);
        }
}

static void test_build(void **state)
{
    (void)state;
    cl_mem buffer = make_buffer();
    fail_at(1, "clBuildProgram", CL_BUILD_PROGRAM_FAILURE);
    assert_int_equal(convert(&conversions[0], buffer), RESTRIDE_DEVICE_ERROR);
    assert_true(says("building a kernel of transposition"));
    assert_true(says("CL_BUILD_PROGRAM_FAILURE (-11)"));
    fail_at(0, NULL, 0);
    device.api->clReleaseMemObject(buffer);
}

/* The tables of a plan, and the scratch memory of a run. */
static void test_memory(void **state)
{
    (void)state;
    cl_mem buffer = make_buffer();
    assert_int_equal(convert(&conversions[0], buffer), RESTRIDE_OK);
    fail_at(0, "clCreateBuffer", 0);
    assert_int_equal(convert(&conversions[0], buffer), RESTRIDE_OK);
    size_t count = calls;
    assert_true(count > 2);
    device.api->clReleaseMemObject(buffer);
    for (size_t n = 1; n <= count; n++) {
        buffer = make_buffer();
        fail_at(n, "clCreateBuffer", CL_MEM_OBJECT_ALLOCATION_FAILURE);
        assert_int_equal(convert(&conversions[0], buffer), RESTRIDE_OUT_OF_MEMORY);
        assert_true(says("CL_MEM_OBJECT_ALLOCATION_FAILURE (-4)"));
        fail_at(0, NULL, 0);
        assert_true(is_untouched(buffer));
        device.api->clReleaseMemObject(buffer);
    }
}

/* A device that is lost between the stages: the sentence says what the buffer is now. */
static void test_lost_device(void **state)
{
    (void)state;
    cl_mem buffer = make_buffer();
    restride_engine *engine;
    restride_plan *plan;
    assert_int_equal(restride_engine_create_opencl(&engine, device.queue), RESTRIDE_OK);
    assert_int_equal(make_plan(&plan, engine, &conversions[2]), RESTRIDE_OK);
    fail_at(1, "clFinish", CL_DEVICE_NOT_AVAILABLE);
    assert_int_equal(restride_execute(plan, buffer), RESTRIDE_DEVICE_ERROR);
    assert_true(says("whose content is undefined now"));
    assert_true(says("CL_DEVICE_NOT_AVAILABLE"));
    fail_at(0, "clEnqueueNDRangeKernel", 0);
    assert_int_equal(restride_execute(plan, buffer), RESTRIDE_OK);
    fail_at(calls, "clEnqueueNDRangeKernel", CL_DEVICE_NOT_AVAILABLE);
    assert_int_equal(restride_execute(plan, buffer), RESTRIDE_DEVICE_ERROR);
    assert_true(says("Stage 2 of 2 failed, so the buffer is neither"));
    fail_at(0, "clFinish", 0);
    assert_int_equal(restride_execute(plan, buffer), RESTRIDE_OK);
    assert_int_equal(calls, 1);
    fail_at(0, NULL, 0);
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
    device.api->clReleaseMemObject(buffer);
}

/* Plans whose runs want scratch memory of different sizes take turns with the larger one. */
static void test_scratch_is_kept(void **state)
{
    (void)state;
    static const conversion pair[] = {{"direct", 100, 90}, {"direct", 30, 20}};
    cl_mem buffer = make_buffer();
    restride_engine *engine;
    restride_plan *plans[2];
    assert_int_equal(restride_engine_create_opencl(&engine, device.queue), RESTRIDE_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(make_plan(&plans[i], engine, &pair[i]), RESTRIDE_OK);
        assert_true(restride_plan_scratch_bytes(plans[i]) > 0);
    }
    for (int run = 0; run < 4; run++) {
        fail_at(0, "clCreateBuffer", 0);
        assert_int_equal(restride_execute(plans[run % 2], buffer), RESTRIDE_OK);
        assert_int_equal(calls, run == 0);
    }
    fail_at(0, NULL, 0);
    for (int i = 0; i < 2; i++)
        restride_plan_destroy(plans[i]);
    restride_engine_destroy(engine);
    device.api->clReleaseMemObject(buffer);
}

static void test_wrong_buffers(void **state)
{
    (void)state;
    cl_mem buffer = make_buffer();
    const conversion large = {"direct", 600, 90};
    assert_int_equal(convert(&large, buffer), RESTRIDE_INVALID_ARGUMENT);
    assert_true(says("has 40960 bytes, but the array takes 216000"));
    assert_true(is_untouched(buffer));
    device.api->clReleaseMemObject(buffer);

    test_device own = device;
    test_device other;
    assert_true(test_device_open(&other));
    device = other;
    cl_mem foreign = make_buffer();
    device = own;
    assert_int_equal(convert(&conversions[0], foreign), RESTRIDE_INVALID_ARGUMENT);
    assert_true(says("another context"));
    device = other;
    assert_true(is_untouched(foreign));
    device = own;
    other.api->clReleaseMemObject(foreign);
    test_device_close(&other);
}

int main(void)
{
    loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (loader == NULL || !test_device_open(&device))
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_call),    cmocka_unit_test(test_untouched),
        cmocka_unit_test(test_build),         cmocka_unit_test(test_memory),
        cmocka_unit_test(test_lost_device),   cmocka_unit_test(test_scratch_is_kept),
        cmocka_unit_test(test_wrong_buffers), cmocka_unit_test(test_every_call_of_reordering),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    test_device_close(&device);
    return failed;
}
