/* Differential runs of original and rewritten kernels. */
#include "device.h"

#include "ask.h"
#include "cmocka_all.h"
#include "layout/layout.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
    bool asked;
    cl_context context;
    cl_device_id device;
    cl_command_queue queue;
} the;

bool device_available(void)
{
    cl_platform_id platforms[8];
    cl_uint count = 0;
    if (!the.asked) {
        the.asked = true;
        if (clGetPlatformIDs(8, platforms, &count) != CL_SUCCESS)
            count = 0;
        for (cl_uint i = 0; i < count && i < 8 && the.context == NULL; i++)
            if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &the.device, NULL) ==
                CL_SUCCESS)
                the.context = clCreateContext(NULL, 1, &the.device, NULL, NULL, NULL);
        if (the.context != NULL)
            the.queue = clCreateCommandQueue(the.context, the.device, 0, NULL);
        if (the.queue == NULL)
            print_message("There is no OpenCL device here; install pocl-opencl-icd to run this.\n");
    }
    return the.queue != NULL;
}

void device_release(void)
{
    if (the.queue != NULL)
        clReleaseCommandQueue(the.queue);
    if (the.context != NULL)
        clReleaseContext(the.context);
}

cl_program device_build(const char *source, const char *options)
{
    cl_int error;
    cl_program program = clCreateProgramWithSource(the.context, 1, &source, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    if (clBuildProgram(program, 1, &the.device, options, NULL, NULL) != CL_SUCCESS) {
        char log[4096] = "";
        clGetProgramBuildInfo(program, the.device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
        fail_msg("a source does not build: %s", log);
    }
    return program;
}

bool device_has_generic_pointers(void)
{
    const char *source =
        "int get(const int *p) { return *p; } kernel void f(global int *a) { int k = "
        "2; int *q = a; q[0] = get(a + 1) + get(&k); }";
    cl_program program = clCreateProgramWithSource(the.context, 1, &source, NULL, NULL);
    bool builds =
        clBuildProgram(program, 1, &the.device, "-cl-std=CL2.0", NULL, NULL) == CL_SUCCESS;
    clReleaseProgram(program);
    return builds;
}

char *device_build_log(const char *source)
{
    cl_int error;
    size_t size = 0;
    cl_program program = clCreateProgramWithSource(the.context, 1, &source, NULL, &error);
    assert_int_equal(error, CL_SUCCESS);
    assert_int_not_equal(clBuildProgram(program, 1, &the.device, "", NULL, NULL), CL_SUCCESS);
    clGetProgramBuildInfo(program, the.device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size);
    char *log = calloc(size + 1, 1);
    assert_non_null(log);
    clGetProgramBuildInfo(program, the.device, CL_PROGRAM_BUILD_LOG, size, log, NULL);
    clReleaseProgram(program);
    return log;
}

/* Random bytes that are sensible numbers when read as float or double, and differ everywhere. */
static void fill(unsigned char *bytes, size_t size, unsigned *state)
{
    for (size_t i = 0; i < size; i += 4) {
        *state = *state * 1664525u + 1013904223u;
        unsigned word = 0x3f800000u + (*state >> 7);
        for (size_t b = 0; b < 4 && i + b < size; b++)
            bytes[i + b] = (unsigned char)(word >> (8 * b));
    }
}

/* Copies n records between the program's own layout and that of a transformed argument. */
static void convert(const json_t *argument, size_t n, unsigned char *own, unsigned char *other,
                    bool to_own)
{
    bool soa = json_object_get(argument, "source_layout") != NULL;
    rs_record record;
    restride_layout *layout;
    read_record(argument, &record);
    assert_int_equal(rs_layout_of_record(&layout, &record, n, string_of(argument, "layout")),
                     RESTRIDE_OK);
    assert_int_equal(restride_layout_size(layout), n * record.size);
    for (size_t i = 0; i < n; i++)
        for (size_t f = 0; f < record.leaf_count; f++) {
            const size_t index[] = {i, f};
            size_t at = soa ? (f * n + i) * record.leaves[f].size
                            : i * record.size + record.leaves[f].offset;
            unsigned char *a = own + at;
            unsigned char *b = other + restride_layout_offset(layout, index);
            memcpy(to_own ? a : b, to_own ? b : a, record.leaves[f].size);
        }
    restride_layout_destroy(layout);
    rs_record_free(&record);
}

/* A buffer with bytes before and behind it that no kernel may touch. */
typedef struct {
    cl_mem all, inside;
    size_t size; /* bytes inside */
} guarded;

enum { GUARD = 4096, GUARD_BYTE = 0xa5 };

static guarded make_guarded(const unsigned char *bytes, size_t size)
{
    cl_int error;
    const cl_buffer_region region = {GUARD, size};
    unsigned char *image = malloc(GUARD + size + GUARD);
    assert_non_null(image);
    memset(image, GUARD_BYTE, GUARD + size + GUARD);
    memcpy(image + GUARD, bytes, size);
    cl_mem all = clCreateBuffer(the.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                GUARD + size + GUARD, image, &error);
    assert_int_equal(error, CL_SUCCESS);
    free(image);
    cl_mem inside = clCreateSubBuffer(all, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    assert_int_equal(error, CL_SUCCESS);
    return (guarded){all, inside, size};
}

/* Reads what is inside, and releases the buffer. */
static void take_guarded(const guarded *buffer, unsigned char *bytes, const char *title,
                         const char *form)
{
    unsigned char *image = malloc(GUARD + buffer->size + GUARD);
    assert_non_null(image);
    assert_int_equal(clEnqueueReadBuffer(the.queue, buffer->all, CL_TRUE, 0,
                                         GUARD + buffer->size + GUARD, image, 0, NULL, NULL),
                     CL_SUCCESS);
    memcpy(bytes, image + GUARD, buffer->size);
    for (size_t i = 0; i < GUARD; i++) {
        if (image[GUARD - 1 - i] != GUARD_BYTE)
            fail_msg("%s: %s writes %zu bytes before a buffer", title, form, i + 1);
        if (image[GUARD + buffer->size + i] != GUARD_BYTE)
            fail_msg("%s: %s writes %zu bytes behind a buffer", title, form, i);
    }
    free(image);
    clReleaseMemObject(buffer->inside);
    clReleaseMemObject(buffer->all);
}

/* Runs one kernel, or a form of it; the buffers hold the results afterwards. */
static void run(const device_case *test, const char *form, cl_program program, const json_t *reply,
                unsigned char *buffers[], size_t n)
{
    cl_int error;
    guarded memory[BUFFER_LIMIT];
    cl_kernel kernel = clCreateKernel(program, form, &error);
    assert_int_equal(error, CL_SUCCESS);
    for (int b = 0; b < test->buffer_count; b++) {
        memory[b] = make_guarded(buffers[b], n * test->element_size[b]);
        cl_mem inside = memory[b].inside;
        assert_int_equal(clSetKernelArg(kernel, (cl_uint)b, sizeof inside, &inside), 0);
        const json_t *argument =
            reply == NULL ? NULL : find_argument(reply, test->kernel, test->names[b]);
        if (argument != NULL && json_object_get(argument, "count_argument") != NULL) {
            cl_ulong count = n;
            cl_uint place = (cl_uint)number_of(argument, "count_argument");
            assert_int_equal(clSetKernelArg(kernel, place, sizeof count, &count), CL_SUCCESS);
        }
    }
    cl_int items = (cl_int)n;
    assert_int_equal(clSetKernelArg(kernel, (cl_uint)test->buffer_count, sizeof items, &items), 0);
    const size_t local = 16, global = (n + local - 1) / local * local;
    assert_int_equal(
        clEnqueueNDRangeKernel(the.queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL),
        CL_SUCCESS);
    for (int b = 0; b < test->buffer_count; b++)
        take_guarded(&memory[b], buffers[b], test->title, form);
    clReleaseKernel(kernel);
}

/* Whether a byte of an array may be compared. Padding, and the bytes behind the third lane of a
 * vector of 3, are unspecified in C after a structure was assigned: PoCL copies them, so they are
 * compared there, while the compilers of GPUs leave in them whatever a register held. */
static bool is_comparable(const json_t *argument, size_t byte)
{
    cl_device_type device_type = 0;
    const json_t *leaves = json_object_get(json_object_get(argument, "record"), "leaves");
    size_t i;
    json_t *leaf;
    clGetDeviceInfo(the.device, CL_DEVICE_TYPE, sizeof device_type, &device_type, NULL);
    if ((device_type & CL_DEVICE_TYPE_CPU) != 0 || leaves == NULL)
        return true;
    json_array_foreach((json_t *)leaves, i, leaf)
    {
        size_t offset = (size_t)number_of(leaf, "offset");
        size_t size = (size_t)number_of(leaf, "size");
        const char *type = string_of(leaf, "type");
        if (strchr(type, '3') != NULL)
            size = size / 4 * 3;
        if (byte >= offset && byte < offset + size)
            return true;
    }
    return false;
}

static bool is_transformed(const json_t *argument)
{
    return strcmp(string_of(argument, "status"), "transformed") == 0;
}

/* Runs one form of the rewritten kernel on the arrays of `before`, and compares with `expected`. */
static void compare_form(const device_case *test, const char *form, cl_program rewritten,
                         const json_t *reply, unsigned char *before[], unsigned char *expected[],
                         size_t n)
{
    unsigned char *found[BUFFER_LIMIT], *moved[BUFFER_LIMIT];
    for (int b = 0; b < test->buffer_count; b++) {
        size_t size = n * test->element_size[b];
        const json_t *argument = find_argument(reply, test->kernel, test->names[b]);
        found[b] = malloc(size);
        moved[b] = malloc(size);
        assert_true(found[b] != NULL && moved[b] != NULL);
        memcpy(moved[b], before[b], size);
        if (is_transformed(argument)) {
            assert_int_equal(number_of(json_object_get(argument, "record"), "size"),
                             test->element_size[b]);
            convert(argument, n, before[b], moved[b], false);
        }
    }
    run(test, form, rewritten, reply, moved, n);
    for (int b = 0; b < test->buffer_count; b++) {
        size_t size = n * test->element_size[b];
        const json_t *argument = find_argument(reply, test->kernel, test->names[b]);
        if (is_transformed(argument))
            convert(argument, n, found[b], moved[b], true);
        else
            memcpy(found[b], moved[b], size);
        for (size_t i = 0; i < size; i++)
            if (found[b][i] != expected[b][i] && is_comparable(argument, i % test->element_size[b]))
                fail_msg(
                    "%s: %s: with n = %zu and layout %s, byte %zu of element %zu of %s is %02x "
                    "instead of %02x",
                    test->title, form, n, string_of(argument, "layout"), i % test->element_size[b],
                    i / test->element_size[b], test->names[b], found[b][i], expected[b][i]);
        free(found[b]);
        free(moved[b]);
    }
}

/* The kernel's copy for arrays whose tiles are all full, when these are such arrays; or NULL. */
static const char *full_form(const device_case *test, const json_t *reply, size_t n)
{
    const char *name = NULL;
    size_t i;
    json_t *kernel;
    json_array_foreach(json_object_get(reply, "kernels"), i, kernel)
    {
        if (strcmp(string_of(kernel, "name"), test->kernel) == 0)
            name = json_string_value(json_object_get(kernel, "full_kernel"));
    }
    for (int b = 0; b < test->buffer_count && name != NULL; b++) {
        const json_t *argument = find_argument(reply, test->kernel, test->names[b]);
        if (is_transformed(argument) && n % (size_t)number_of(argument, "tile") != 0)
            name = NULL;
    }
    return name;
}

void device_compare(const device_case *test, cl_program original, cl_program rewritten,
                    const json_t *reply, size_t n, unsigned seed)
{
    unsigned char *before[BUFFER_LIMIT], *expected[BUFFER_LIMIT];
    for (int b = 0; b < test->buffer_count; b++) {
        size_t size = n * test->element_size[b];
        before[b] = malloc(size);
        expected[b] = malloc(size);
        assert_true(before[b] != NULL && expected[b] != NULL);
        fill(before[b], size, &seed);
        memcpy(expected[b], before[b], size);
    }
    run(test, test->kernel, original, NULL, expected, n);
    compare_form(test, test->kernel, rewritten, reply, before, expected, n);
    const char *full = full_form(test, reply, n);
    if (full != NULL)
        compare_form(test, full, rewritten, reply, before, expected, n);
    bool changed = false;
    for (int b = 0; b < test->buffer_count; b++) {
        changed = changed || memcmp(before[b], expected[b], n * test->element_size[b]) != 0;
        free(before[b]);
        free(expected[b]);
    }
    assert_true(changed); /* a kernel that writes nothing would test nothing */
}
