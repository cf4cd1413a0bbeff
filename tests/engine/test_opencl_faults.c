/*
 * What the OpenCL engine says when something is wrong or fails, and what is left of it then; with
 * calls of OpenCL that fail on demand (opencl_calls.h).
 */
#include "buffers.h"
#include "cmocka_all.h"
#include "opencl_calls.h"
#include "restride/opencl.h"
#include "restride/restride.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    long before = opencl_calls_alive();
    restride_status status = restride_engine_create_opencl(&engine, device.queue);
    if (status == RESTRIDE_OK)
        status = make_plan(&plan, engine, c);
    if (status == RESTRIDE_OK)
        status = restride_execute(plan, buffer);
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
    if (opencl_calls_alive() != before)
        fail_msg("%ld objects are left after a failure of %s", opencl_calls_alive() - before,
                 opencl_calls_failed() == NULL ? "nothing" : opencl_calls_failed());
    return status;
}

static void fail_at(size_t number, const char *function, cl_int code)
{
    opencl_calls_fail_at(number, function, code);
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
        size_t count = opencl_calls_count();
        assert_true(count > 10);
        for (size_t n = 1; n <= count; n++) {
            fail_at(n, NULL, CL_OUT_OF_RESOURCES);
            restride_status status = convert(&conversions[i], buffer);
            if (opencl_calls_failed() == NULL) /* a test less was needed */
                continue;
            if (status == RESTRIDE_OK)
                fail_msg("call %zu, %s, failed and nobody knew", n, opencl_calls_failed());
            if (!says("CL_OUT_OF_RESOURCES (-5)") && !says("too little memory"))
                fail_msg("%s: \"%s\"", opencl_calls_failed(), restride_last_error());
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
    long before = opencl_calls_alive();
    restride_status status =
        restride_irregular_device_plan(&plan, engine, &launch, &reference, &options);
    if (status == RESTRIDE_OK)
        status = restride_irregular_device_gather(plan, array, slots);
    restride_irregular_device_destroy(plan);
    if (opencl_calls_alive() != before)
        fail_msg("%ld objects are left after a failure of %s", opencl_calls_alive() - before,
                 opencl_calls_failed() == NULL ? "nothing" : opencl_calls_failed());
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
    fail_at(0, NULL, 0);
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
        size_t count = opencl_calls_count();
        assert_true(count > 50);
        for (size_t n = 1; n <= count; n++) {
            fail_at(n, NULL, CL_OUT_OF_RESOURCES);
            if (reorder(engine, methods[m], indices, array, slots) == RESTRIDE_OK)
                fail_msg("call %zu, %s, failed and nobody knew", n, opencl_calls_failed());
            if (!says("CL_OUT_OF_RESOURCES (-5)"))
                fail_msg("%s: \"%s\"", opencl_calls_failed(), restride_last_error());
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
            assert_string_equal(opencl_calls_failed(), functions[f]);
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
    size_t count = opencl_calls_count();
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
    assert_true(says("The content of the buffer is undefined now."));
    assert_true(says("CL_DEVICE_NOT_AVAILABLE"));
    fail_at(0, "clEnqueueNDRangeKernel", 0);
    assert_int_equal(restride_execute(plan, buffer), RESTRIDE_OK);
    fail_at(opencl_calls_count(), "clEnqueueNDRangeKernel", CL_DEVICE_NOT_AVAILABLE);
    assert_int_equal(restride_execute(plan, buffer), RESTRIDE_DEVICE_ERROR);
    assert_true(says("Stage 2 of 2 failed"));
    assert_true(says("The content of the buffer is undefined now."));
    fail_at(0, "clFinish", 0);
    assert_int_equal(restride_execute(plan, buffer), RESTRIDE_OK);
    assert_int_equal(opencl_calls_count(), 1);
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
        assert_int_equal(opencl_calls_count(), run == 0);
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

static cl_mem make_buffer_for(cl_mem_flags flags)
{
    cl_int code;
    cl_mem buffer = device.api->clCreateBuffer(device.context, flags | CL_MEM_COPY_HOST_PTR, BYTES,
                                               content, &code);
    assert_int_equal(code, CL_SUCCESS);
    return buffer;
}

/* Kernels may not do everything with every buffer. What a plan reads and writes must be made for
 * both; what is only read, or only written, or copied, need not. */
static void test_buffers_of_one_way(void **state)
{
    (void)state;
    static const cl_mem_flags flags[] = {CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY};
    static const char *const names[] = {"CL_MEM_READ_ONLY", "CL_MEM_WRITE_ONLY"};
    device.api->clReleaseMemObject(make_buffer()); /* sets the content */
    for (int i = 0; i < 2; i++) {
        cl_mem buffer = make_buffer_for(flags[i]);
        assert_int_equal(convert(&conversions[0], buffer), RESTRIDE_INVALID_ARGUMENT);
        assert_true(says(names[i]));
        assert_true(says("The buffer is unchanged."));
        assert_true(is_untouched(buffer));
        device.api->clReleaseMemObject(buffer);
    }
    cl_uint index[THREADS] = {0};
    cl_mem indices = test_device_buffer(&device, (const unsigned char *)index, sizeof index);
    cl_mem array = make_buffer_for(CL_MEM_READ_ONLY);
    cl_mem slots = make_buffer_for(CL_MEM_WRITE_ONLY);
    restride_engine *engine;
    assert_int_equal(restride_engine_create_opencl(&engine, device.queue), RESTRIDE_OK);
    build_programs(engine, RESTRIDE_IRREGULAR_DUPLICATION, indices);
    assert_int_equal(reorder(engine, RESTRIDE_IRREGULAR_DUPLICATION, indices, array, slots),
                     RESTRIDE_OK);
    assert_int_equal(reorder(engine, RESTRIDE_IRREGULAR_DUPLICATION, indices, slots, array),
                     RESTRIDE_INVALID_ARGUMENT);
    restride_engine_destroy(engine);
    device.api->clReleaseMemObject(slots);
    device.api->clReleaseMemObject(array);
    device.api->clReleaseMemObject(indices);
}

/* An image has a size, too, but kernels find something else behind it than its elements. */
static void test_images(void **state)
{
    (void)state;
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
    __typeof__(clCreateImage) *create;
    assert_non_null(library);
    memcpy(&create, &(void *){dlsym(library, "clCreateImage")}, sizeof create);
    assert_non_null(create);
    const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
    const cl_image_desc what = {
        .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 128, .image_height = 128};
    cl_int code;
    cl_mem image = create(device.context, CL_MEM_READ_WRITE, &format, &what, NULL, &code);
    if (code == CL_SUCCESS) {
        assert_int_equal(convert(&conversions[0], image), RESTRIDE_INVALID_ARGUMENT);
        assert_true(says("an image or a pipe"));
        device.api->clReleaseMemObject(image);
    }
    dlclose(library);
}

/* Codes of OpenCL have their names, which "an error of the driver's own" would hide. */
static void test_names(void **state)
{
    (void)state;
    static const struct {
        cl_int code;
        const char *name;
    } rows[] = {
        {CL_MISALIGNED_SUB_BUFFER_OFFSET, "CL_MISALIGNED_SUB_BUFFER_OFFSET (-13)"},
        {CL_INVALID_ARG_VALUE, "CL_INVALID_ARG_VALUE (-50)"},
        {CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS (-52)"},
        {CL_INVALID_PROGRAM_EXECUTABLE, "CL_INVALID_PROGRAM_EXECUTABLE (-45)"},
        {-9999, "an error of the driver's own (-9999)"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cl_mem buffer = make_buffer();
        fail_at(1, "clEnqueueNDRangeKernel", rows[i].code);
        assert_int_equal(convert(&conversions[0], buffer), RESTRIDE_DEVICE_ERROR);
        assert_true(says(rows[i].name));
        fail_at(0, NULL, 0);
        device.api->clReleaseMemObject(buffer);
    }
}

int main(void)
{
    if (!opencl_calls_open() || !test_device_open(&device))
        return 77;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_call),
        cmocka_unit_test(test_untouched),
        cmocka_unit_test(test_build),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_lost_device),
        cmocka_unit_test(test_scratch_is_kept),
        cmocka_unit_test(test_wrong_buffers),
        cmocka_unit_test(test_every_call_of_reordering),
        cmocka_unit_test(test_buffers_of_one_way),
        cmocka_unit_test(test_images),
        cmocka_unit_test(test_names),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    test_device_close(&device);
    return failed;
}
