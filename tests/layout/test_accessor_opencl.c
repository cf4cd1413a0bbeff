/* The generated accessors of OpenCL C, run on the first OpenCL device and compared with the
 * definition. */
#include "cmocka_all.h"

#include <stdio.h>

#ifdef RS_TEST_OPENCL_LOADER

#include "base/text.h"
#include "generate.h"
#include "layout/layout.h"

/* clCreateCommandQueue serves OpenCL 1.2 devices too. */
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdlib.h>
#include <string.h>

enum { LAYOUTS = 40, SEED = 4711, RECORDS = 70 };

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_program program;
static made_layout layouts[LAYOUTS];

static restride_layout *parse(const char *dims, const char *expression)
{
    restride_layout *layout;
    if (restride_layout_parse(&layout, dims, expression) != RESTRIDE_OK)
        fail_msg("\"%s\" of \"%s\": %s", expression, dims, restride_last_error());
    return layout;
}

static void add_accessor(rs_text *text, const restride_layout *layout, const char *prefix)
{
    char *source;
    assert_int_equal(restride_layout_accessor(layout, RESTRIDE_DIALECT_OPENCL_C, prefix, &source),
                     RESTRIDE_OK);
    rs_text_add_string(text, source);
    free(source);
}

/* A kernel that takes extents, indices, field offset and size of one element a work-item. */
static void add_kernel(rs_text *text, int number, int plain, bool record)
{
    rs_text_format(text,
                   "__kernel void K%d(__global const ulong *e, __global const ulong *x,\n"
                   "                  __global ulong *out)\n"
                   "{ x += get_global_id(0) * 7; out += get_global_id(0) * 2; out[0] = P%d_offset(",
                   number, number);
    for (int i = 0; i < 2 * plain; i++)
        rs_text_format(text, "%s%c[%d]", i > 0 ? ", " : "", i < plain ? 'e' : 'x', i % plain);
    if (record)
        rs_text_format(text, "%sx[4], x[5]", plain > 0 ? ", " : "");
    rs_text_format(text, "); out[1] = P%d_translate(", number);
    for (int i = 0; i < plain; i++)
        rs_text_format(text, "e[%d], ", i);
    rs_text_add_string(text, "x[6]); }\n");
}

static const char element_kernel[] =
    "__kernel void add(__global float *data, ulong n, __local double *tile)\n"
    "{\n"
    "    size_t i = get_global_id(0), l = get_local_id(0);\n"
    "    R_AT(__local double, tile, get_local_size(0), l, R_m_OFFSET) =\n"
    "        R_AT(const __global double, data, n, i, R_m_OFFSET);\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    R_AT(__global float4, data, n, i, R_p_OFFSET) +=\n"
    "        (float4)((float)R_AT(__local double, tile, get_local_size(0), l, R_m_OFFSET));\n"
    "}\n";

static void make_program(void)
{
    uint64_t random = SEED;
    rs_text text = RS_TEXT_EMPTY;
    rs_text_add_string(&text, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
    for (int i = 0; i < LAYOUTS; i++) {
        make_layout(&layouts[i], &random);
        restride_layout *layout = parse(layouts[i].dims, layouts[i].expression);
        char prefix[20];
        snprintf(prefix, sizeof prefix, "P%d", i);
        add_accessor(&text, layout, prefix);
        bool record = layouts[i].record >= 0;
        add_kernel(&text, i, layout->rank - record, record);
        restride_layout_destroy(layout);
    }
    restride_layout *layout = parse("i:1 f{ double m; float4 p; }", "i/32 f i%32");
    add_accessor(&text, layout, "R");
    rs_text_format(&text, "%s", element_kernel);
    char *source = rs_text_take(&text);
    assert_non_null(source);
    restride_layout_destroy(layout);
    cl_int error;
    const char *sources[] = {source};
    program = clCreateProgramWithSource(context, 1, sources, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    error = clBuildProgram(program, 1, &device, "-cl-std=CL1.2", NULL, NULL);
    if (error != CL_SUCCESS) {
        static char log[20000];
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        fail_msg("the accessors do not compile: %.3000s", log);
    }
    free(source);
}

static int set_up(void **state)
{
    (void)state;
    cl_platform_id platform;
    cl_uint platforms = 0;
    if (clGetPlatformIDs(1, &platform, &platforms) != CL_SUCCESS || platforms == 0 ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS)
        return 0;
    cl_int error;
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    queue = clCreateCommandQueue(context, device, 0, &error);
    assert_int_equal(error, CL_SUCCESS);
    make_program();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    if (context == NULL)
        return 0;
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return 0;
}

static void skip_without_device(void)
{
    if (context != NULL)
        return;
    print_message("skipped: no OpenCL device here\n");
    skip();
}

static cl_mem buffer_of(void *data, size_t size)
{
    cl_int error;
    cl_mem buffer =
        clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, size, data, &error);
    assert_int_equal(error, CL_SUCCESS);
    return buffer;
}

static void read_buffer(cl_mem buffer, void *data, size_t size)
{
    assert_int_equal(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, size, data, 0, NULL, NULL),
                     CL_SUCCESS);
    clReleaseMemObject(buffer);
}

static void compare(const made_layout *made, int number)
{
    size_t(*indices)[MADE_RANK], *offsets;
    size_t count = sort_elements(made, &indices, &offsets);
    cl_ulong extents[MADE_RANK] = {0};
    cl_ulong(*arguments)[7] = calloc(count, sizeof *arguments);
    cl_ulong(*results)[2] = calloc(count, sizeof *results);
    assert_true(arguments != NULL && results != NULL);
    for (size_t e = 0; e < count; e++) {
        int plain = 0;
        for (int d = 0; d < made->rank; d++)
            if (d != made->record) {
                extents[plain] = made->extent[d];
                arguments[e][plain++] = indices[e][d];
            }
        if (made->record >= 0) {
            arguments[e][4] = made->leaf_offset[indices[e][made->record]];
            arguments[e][5] = made->leaf_size[indices[e][made->record]];
        }
        arguments[e][6] = is_inside(made, indices[e]) ? row_major_offset(made, indices[e]) : 0;
    }
    cl_mem buffers[] = {buffer_of(extents, sizeof extents),
                        buffer_of(arguments, count * sizeof *arguments),
                        buffer_of(results, count * sizeof *results)};
    char name[20];
    snprintf(name, sizeof name, "K%d", number);
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, name, &error);
    assert_int_equal(error, CL_SUCCESS);
    for (cl_uint i = 0; i < 3; i++)
        assert_int_equal(clSetKernelArg(kernel, i, sizeof buffers[i], &buffers[i]), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &count, NULL, 0, NULL, NULL),
                     CL_SUCCESS);
    read_buffer(buffers[2], results, count * sizeof *results);
    clReleaseKernel(kernel);
    clReleaseMemObject(buffers[0]);
    clReleaseMemObject(buffers[1]);
    for (size_t e = 0; e < count; e++)
        if (is_inside(made, indices[e]) &&
            (results[e][0] != offsets[e] || results[e][1] != offsets[e]))
            fail_msg("\"%s\" of \"%s\": accessor %zu, translated %zu, definition %zu",
                     made->expression, made->dims, (size_t)results[e][0], (size_t)results[e][1],
                     offsets[e]);
    free(indices);
    free(offsets);
    free(arguments);
    free(results);
}

static void test_accessors_agree_on_the_device(void **state)
{
    (void)state;
    skip_without_device();
    for (int i = 0; i < LAYOUTS; i++)
        compare(&layouts[i], i);
}

/* The element macro in global and local memory, with a vector member and a ragged tail. */
static void test_the_element_macro(void **state)
{
    (void)state;
    skip_without_device();
    restride_layout *layout = parse("i:70 f{ double m; float4 p; }", "i/32 f i%32");
    static unsigned char data[RECORDS * 32];
    const size_t vector = 2; /* the leaves: m, 8 bytes of padding, p */
    assert_int_equal(layout->dimensions[1].record.leaves[vector].size, 16);
    for (size_t i = 0; i < RECORDS; i++) {
        double m = (double)i;
        float p[4] = {(float)i, 1, 2, 3};
        memcpy(data + restride_layout_offset(layout, (const size_t[]){i, 0}), &m, sizeof m);
        memcpy(data + restride_layout_offset(layout, (const size_t[]){i, vector}), p, sizeof p);
    }
    cl_mem buffer = buffer_of(data, sizeof data);
    cl_ulong count = RECORDS;
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, "add", &error);
    assert_int_equal(error, CL_SUCCESS);
    const size_t global = RECORDS, local = 7;
    assert_int_equal(clSetKernelArg(kernel, 0, sizeof buffer, &buffer), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 1, sizeof count, &count), CL_SUCCESS);
    assert_int_equal(clSetKernelArg(kernel, 2, local * 32, NULL), CL_SUCCESS);
    assert_int_equal(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL),
                     CL_SUCCESS);
    read_buffer(buffer, data, sizeof data);
    clReleaseKernel(kernel);
    for (size_t i = 0; i < RECORDS; i++) {
        float p[4];
        memcpy(p, data + restride_layout_offset(layout, (const size_t[]){i, vector}), sizeof p);
        const float x = (float)i;
        assert_true(p[0] == x + x && p[1] == 1 + x && p[2] == 2 + x && p[3] == 3 + x);
    }
    restride_layout_destroy(layout);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accessors_agree_on_the_device),
        cmocka_unit_test(test_the_element_macro),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

#else

int main(void)
{
    printf("skipped: no OpenCL loader to build this test with\n");
    return 0;
}

#endif
