/*
 * Kernels with irregular references, rewritten for what a plan makes of their arrays: on a device
 * they give what the originals give, with every method, and what is not understood stays.
 */
#include "ask.h"
#include "base/json.h"
#include "cmocka_all.h"
#include "device.h"
#include "restride/irregular.h"
#include "transpose/reference.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 1000, GROUP = 50, OBJECTS = 300, LANES = 4, METHODS = 4 };

static json_t *ask_to_reorder(const char *source, const char *array)
{
    return ask(json_pack("{s:s, s:{s:s}, s:b}", "source", source, "references", array, "p",
                         "assume_undefined", 1));
}

static const json_t *first_reference(const json_t *reply, const char *kernel)
{
    const json_t *entry = rs_json_named(json_object_get(reply, "kernels"), kernel);
    return json_array_get(json_object_get(entry, "references"), 0);
}

/* ---- on a device ---- */

/* Each kernel `k` reads records of LANES floats, a, through p, and writes out, one a thread. */
static const struct {
    const char *title, *source;
    bool moves;
} kernels[] = {
    {"a variable for the number",
     "kernel void k(global const float4 *restrict a, global const uint *p, global float4 *out) {\n"
     "    int i = get_global_id(0);\n"
     "    out[i] = 2 * a[p[i]] + i;\n"
     "}\n",
     true},
    {"no variable, brackets and casts, members, a helper",
     "typedef struct { float x, y; float z[2]; } record;\n"
     "float4 all(float x, float y, float z, float w) { return (float4)(x, y, z, w); }\n"
     "kernel void k(__global const record a[], const __global uint *p, global float4 *out) {\n"
     "    out[get_global_id(0)] = all(a[(p)[get_global_id(0)]].x, ((a[(int)(p[(size_t)\n"
     "        get_global_id(0)])])).y, a[p[get_global_id(0)]].z[0], a[0].x);\n"
     "}\n",
     true},
    {"a variable for the object, and one that goes on",
     "kernel void k(global const float4 *a, global const uint *p, global float4 *out) {\n"
     "    const size_t thread = get_global_id(0);\n"
     "    uint object = p[thread], next = p[thread];\n"
     "    next += 1;\n"
     "    out[thread] = a[object] - a[next % 300] * a[p[(thread + 1) % 1000]];\n"
     "}\n",
     true},
    {"work-items that work together",
     "kernel void k(global const float4 *a, global const uint *p, global float4 *out) {\n"
     "    local float4 shared[50];\n"
     "    shared[get_local_id(0)] = a[p[get_global_id(0)]];\n"
     "    barrier(CLK_LOCAL_MEM_FENCE);\n"
     "    out[get_global_id(0)] = shared[49 - get_local_id(0)];\n"
     "}\n",
     false},
    {"a helper that asks for the number",
     "size_t number(void) { return get_global_id(0); }\n"
     "kernel void k(global const float4 *a, global const uint *p, global float4 *out) {\n"
     "    out[number()] = a[p[get_global_id(0)]];\n"
     "}\n",
     false},
};

typedef struct {
    cl_context context;
    cl_device_id device;
    cl_command_queue queue;
    float array[OBJECTS * LANES];
    uint32_t index[THREADS];
} setting;

static cl_mem create(const setting *s, const void *content, size_t bytes)
{
    cl_int code;
    cl_mem_flags flags = content != NULL ? CL_MEM_COPY_HOST_PTR : 0;
    cl_mem buffer =
        clCreateBuffer(s->context, CL_MEM_READ_WRITE | flags, bytes, (void *)content, &code);
    assert_int_equal(code, CL_SUCCESS);
    return buffer;
}

static void set(cl_kernel kernel, long long argument, cl_mem buffer)
{
    assert_true(argument >= 0);
    assert_int_equal(clSetKernelArg(kernel, (cl_uint)argument, sizeof buffer, &buffer), CL_SUCCESS);
}

static void launch(const setting *s, cl_kernel kernel, float *result)
{
    const size_t threads = THREADS, group = GROUP;
    cl_mem out = create(s, NULL, THREADS * LANES * sizeof *result);
    set(kernel, 2, out);
    assert_int_equal(
        clEnqueueNDRangeKernel(s->queue, kernel, 1, NULL, &threads, &group, 0, NULL, NULL),
        CL_SUCCESS);
    assert_int_equal(clEnqueueReadBuffer(s->queue, out, CL_TRUE, 0,
                                         THREADS * LANES * sizeof *result, result, 0, NULL, NULL),
                     CL_SUCCESS);
    clReleaseMemObject(out);
}

/* Sets the added arguments from a plan; 3 buffers are the caller's. */
static void set_plan(const setting *s, cl_kernel kernel, const json_t *entry,
                     const restride_irregular *plan, cl_mem buffers[3])
{
    const json_t *reference = json_array_get(json_object_get(entry, "references"), 0);
    size_t slot_count = restride_irregular_slots(plan, 0);
    float *slots = calloc(slot_count * LANES, sizeof *slots);
    uint32_t index[THREADS], narrow[THREADS];
    size_t order[THREADS];
    assert_non_null(slots);
    restride_irregular_gather(plan, 0, s->array, slots);
    assert_int_equal(restride_irregular_index(plan, 0, index), RESTRIDE_OK);
    restride_irregular_order(plan, order);
    for (size_t t = 0; t < THREADS; t++)
        narrow[t] = (uint32_t)order[t];
    buffers[0] = create(s, slots, slot_count * LANES * sizeof *slots);
    buffers[1] = create(s, index, sizeof index);
    buffers[2] = create(s, narrow, sizeof narrow);
    set(kernel, number_of(reference, "slots_argument"), buffers[0]);
    set(kernel, number_of(reference, "index_argument"), buffers[1]);
    if (number_of(entry, "order_argument") >= 0) {
        const cl_ulong threads = restride_irregular_moves_threads(plan) != 0 ? THREADS : 0;
        set(kernel, number_of(entry, "order_argument"), buffers[2]);
        assert_int_equal(clSetKernelArg(kernel, (cl_uint)number_of(entry, "threads_argument"),
                                        sizeof threads, &threads),
                         CL_SUCCESS);
    }
    free(slots);
}

static void compare(const setting *s, cl_kernel kernel, const json_t *entry, bool moves, int method,
                    const float *expected)
{
    const restride_launch threads = {THREADS, 32, 128};
    const restride_reference reference = {s->index, sizeof *s->index, OBJECTS,
                                          LANES * sizeof *s->array};
    const restride_irregular_options options = {.method = (restride_irregular_method)method,
                                                .keep_threads = !moves};
    restride_irregular *plan;
    restride_status status = restride_irregular_plan(&plan, &threads, &reference, 1, &options);
    if (!moves && method > RESTRIDE_IRREGULAR_PARTIAL) {
        assert_int_equal(status, RESTRIDE_INVALID_ARGUMENT);
        return;
    }
    assert_int_equal(status, RESTRIDE_OK);
    static float result[THREADS * LANES];
    cl_mem buffers[3];
    set_plan(s, kernel, entry, plan, buffers);
    launch(s, kernel, result);
    assert_memory_equal(result, expected, sizeof result);
    for (int i = 0; i < 3; i++)
        clReleaseMemObject(buffers[i]);
    restride_irregular_destroy(plan);
}

static setting open_setting(cl_program program)
{
    setting s;
    uint64_t seed = 4;
    cl_int code;
    clGetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof s.context, &s.context, NULL);
    clGetProgramInfo(program, CL_PROGRAM_DEVICES, sizeof s.device, &s.device, NULL);
    s.queue = clCreateCommandQueue(s.context, s.device, 0, &code);
    assert_int_equal(code, CL_SUCCESS);
    for (size_t i = 0; i < OBJECTS * LANES; i++)
        s.array[i] = (float)test_random(&seed, 1000);
    for (size_t t = 0; t < THREADS; t++)
        s.index[t] = (uint32_t)test_random(&seed, 1 + test_random(&seed, OBJECTS));
    return s;
}

static void compare_kernel(size_t which)
{
    json_t *reply = ask_to_reorder(kernels[which].source, "a");
    const json_t *entry = json_array_get(json_object_get(reply, "kernels"), 0);
    if (json_object_get(reply, "source") == NULL)
        fail_msg("%s: %s", kernels[which].title, json_dumps(reply, 0));
    assert_int_equal(number_of(entry, "order_argument") >= 0, kernels[which].moves);
    cl_program original = device_build(kernels[which].source, "");
    cl_program rewritten = device_build(string_of(reply, "source"), string_of(reply, "options"));
    setting s = open_setting(original);
    static float expected[THREADS * LANES];
    cl_kernel kernel = clCreateKernel(original, "k", NULL);
    cl_kernel changed = clCreateKernel(rewritten, "k", NULL);
    cl_mem array = create(&s, s.array, sizeof s.array);
    cl_mem index = create(&s, s.index, sizeof s.index);
    cl_kernel both[] = {kernel, changed};
    for (int i = 0; i < 2; i++) {
        set(both[i], 0, array);
        set(both[i], 1, index);
    }
    launch(&s, kernel, expected);
    for (int method = 1; method <= METHODS; method++)
        compare(&s, changed, entry, kernels[which].moves, method, expected);
    clReleaseMemObject(index);
    clReleaseMemObject(array);
    clReleaseKernel(changed);
    clReleaseKernel(kernel);
    clReleaseCommandQueue(s.queue);
    clReleaseProgram(rewritten);
    clReleaseProgram(original);
    json_decref(reply);
}

static void reordered_kernels_compute_the_same(void **state)
{
    (void)state;
    if (!device_available())
        skip();
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++)
        compare_kernel(i);
    device_release();
}

/* ---- text ---- */

static void every_read_and_number_is_replaced(void **state)
{
    (void)state;
    json_t *reply = ask_to_reorder(
        "kernel void k(global const float *a, global const int *p, global float *out) {\n"
        "    uint i = get_global_id(0);\n"
        "    out[i] = a[p[i]] + a[i % 3] + get_global_id(1);\n"
        "}\n",
        "k.a");
    const char *source = string_of(reply, "source");
    assert_non_null(strstr(source, "uint i = (get_global_id(0) < restride_threads ? "
                                   "restride_order[get_global_id(0)] : get_global_id(0));"));
    assert_non_null(strstr(source,
                           "out[i] = restride_a_slots[restride_a_index[get_global_id(0)]] + "
                           "a[i % 3] + get_global_id(1);"));
    assert_non_null(strstr(source, "global float *out, global const float *restride_a_slots, "
                                   "__global const uint *restride_a_index, "
                                   "__global const uint *restride_order, ulong restride_threads)"));
    json_decref(reply);
}

/* ---- refusals ---- */

#define KERNEL(body)                                                                               \
    "kernel void k(global const float *a, global const int *p, global float *out) {\n"             \
    "    int i = get_global_id(0);\n" body "\n}\n"

static const struct {
    const char *source, *reason;
    int line;
} refusals[] = {
    {KERNEL("out[i] = a[i];"), "no element is read through its index", 1},
    {KERNEL("out[i] = a[p[i + 1]];"), "no element is read through its index", 1},
    {KERNEL("out[i] = a[p[get_global_id(1)]];"), "no element is read through its index", 1},
    {KERNEL("out[i] = a[(uchar)p[i]];"), "no element is read through its index", 1},
    {KERNEL("i++; out[i] = a[p[i]];"), "no element is read through its index", 1},
    {KERNEL("int *q = &i; *q = 3; out[i] = a[p[i]];"), "no element is read through its index", 1},
    {KERNEL("int j = p[i]; j += 1; out[i] = a[j];"), "no element is read through its index", 1},
    {KERNEL("for (int t = get_global_id(0); t < 9; t += 4) out[t] = a[p[t]];"),
     "no element is read through its index", 1},
    {KERNEL("global const float *q = a;\nout[i] = a[p[i]] + q[0];"), "used otherwise", 3},
    {KERNEL("out[i] = a[p[i]] + *a;"), "used otherwise", 3},
    {KERNEL("global const float *q = &a[p[i]]; out[i] = a[p[i]] + *q;"), "used otherwise", 3},
    {KERNEL("out[i] = a[p[i]] + *(p + 1);"), "its index is used otherwise", 3},
    {"kernel void k(global float *a, global const int *p) {\n"
     "    a[p[get_global_id(0)]] += 1;\n}\n",
     "not const", 1},
    {"kernel void k(global const float *a, global int *p, global float *out) {\n"
     "    out[get_global_id(0)] = a[p[get_global_id(0)]];\n}\n",
     "its index is not const", 1},
    {"kernel void k(global const float *a, global const short *p, global float *out) {\n"
     "    out[get_global_id(0)] = a[p[get_global_id(0)]];\n}\n",
     "integers of 4 or 8 bytes", 1},
    {"kernel void k(local const float *a, global const int *p, global float *out) {\n"
     "    out[get_global_id(0)] = a[p[get_global_id(0)]];\n}\n",
     "does not point to global", 1},
    {"typedef struct { float v[2]; } record;\n"
     "float sum(global const float *v) { ((global float *)v)[0] = 1; return v[1]; }\n"
     "kernel void k(global const record *a, global const int *p, global float *out) {\n"
     "    out[get_global_id(0)] = sum(a[p[get_global_id(0)]].v);\n}\n",
     "used otherwise", 4},
    {"kernel void k(global const float *a, global const int *p, global float *out);\n" KERNEL(
         "out[i] = a[p[i]];"),
     "named in another place", 2},
};

static void what_is_not_understood_stays(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        json_t *reply = ask_to_reorder(refusals[i].source, "a");
        const json_t *reference = first_reference(reply, "k");
        if (reference == NULL || strcmp(string_of(reference, "status"), "kept") != 0 ||
            json_object_get(reply, "source") != NULL)
            fail_msg("reordered: %s", refusals[i].source);
        if (strstr(string_of(reference, "reason"), refusals[i].reason) == NULL ||
            number_of(reference, "line") != refusals[i].line)
            fail_msg("%s:%lld for %s", string_of(reference, "reason"), number_of(reference, "line"),
                     refusals[i].source);
        json_decref(reply);
    }
}

static void wrong_requests_get_a_sentence(void **state)
{
    (void)state;
    static const char source[] = KERNEL("out[i] = a[p[i]];");
    static const char *const arrays[] = {"b", "other.a", "k.b"};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
        json_t *reply = ask_to_reorder(source, arrays[i]);
        assert_true(json_is_true(json_object_get(reply, "bad_request")));
        assert_non_null(strstr(string_of(reply, "error"), arrays[i]));
        json_decref(reply);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reordered_kernels_compute_the_same),
        cmocka_unit_test(every_read_and_number_is_replaced),
        cmocka_unit_test(what_is_not_understood_stays),
        cmocka_unit_test(wrong_requests_get_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
