/* See baselines.h. */
#include "lab/baselines/baselines.h"

#include "base/arithmetic.h"
#include "base/log.h"
#include "engine/opencl/error.h"
#include "engine/opencl/opencl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char rs_opencl_baselines_kernels[]; /* baselines.cl */

enum {
    MOST_REGISTERS = 32, /* words of a super-element in a work-item */
    MOST_GROUPS = 65536,
    FLAG_BITS = 32,
    MOST_ARGUMENTS = 8,
    MOST_RUNS = 1000
};

struct rs_baselines {
    rs_opencl_engine *engine;
    const cl_icd_dispatch *api;
    cl_program programs[MOST_REGISTERS + 1]; /* by VALUES */
    size_t bytes;
    cl_mem data;
    cl_mem other; /* flags, or the target out of place */
    size_t simd_items;
    size_t local_bytes;
    size_t most_items;
};

size_t rs_baseline_bytes(const rs_baseline_case *c)
{
    return c->count * c->rows * c->cols * c->words * sizeof(cl_uint);
}

/* ---- programs ---- */

static restride_status build(rs_baselines *b, size_t values)
{
    if (b->programs[values] != NULL)
        return RESTRIDE_OK;
    const char *source = rs_opencl_baselines_kernels;
    char options[32];
    cl_int code;
    snprintf(options, sizeof options, "-D VALUES=%zu", values);
    cl_program program =
        b->api->clCreateProgramWithSource(b->engine->context, 1, &source, NULL, &code);
    if (code == CL_SUCCESS)
        code = b->api->clBuildProgram(program, 1, &b->engine->device, options, NULL, NULL);
    if (code != CL_SUCCESS) {
        char messages[4096] = "";
        if (program != NULL) {
            b->api->clGetProgramBuildInfo(program, b->engine->device, CL_PROGRAM_BUILD_LOG,
                                          sizeof messages, messages, NULL);
            b->api->clReleaseProgram(program);
        }
        rs_log(RS_LOG_ERROR, "the baselines were not built: %s", messages);
        return rs_opencl_fail(code, "building the baselines (RESTRIDE_LOG=error shows the "
                                    "compiler's messages)");
    }
    b->programs[values] = program;
    return RESTRIDE_OK;
}

/* The width at which the device runs work-items: asked of a kernel, since it is the compiler's. */
static restride_status read_simd_items(rs_baselines *b)
{
    cl_int code;
    cl_kernel kernel = b->api->clCreateKernel(b->programs[1], "claims_100", &code);
    if (code == CL_SUCCESS) {
        code = b->api->clGetKernelWorkGroupInfo(kernel, b->engine->device,
                                                CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE,
                                                sizeof b->simd_items, &b->simd_items, NULL);
        b->api->clReleaseKernel(kernel);
    }
    return code == CL_SUCCESS ? RESTRIDE_OK
                              : rs_opencl_fail(code, "asking for the width of a SIMD unit");
}

restride_status rs_baselines_open(rs_baselines **baselines, restride_engine *engine, size_t bytes)
{
    *baselines = NULL;
    rs_baselines *b = calloc(1, sizeof *b);
    if (b == NULL)
        return rs_fail_memory("the baselines");
    b->engine = (rs_opencl_engine *)engine;
    b->api = b->engine->api;
    b->bytes = bytes;
    cl_ulong local_bytes = 0;
    cl_int code;
    b->data = b->api->clCreateBuffer(b->engine->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    if (code == CL_SUCCESS)
        b->other =
            b->api->clCreateBuffer(b->engine->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    if (code == CL_SUCCESS)
        code = b->api->clGetDeviceInfo(b->engine->device, CL_DEVICE_LOCAL_MEM_SIZE,
                                       sizeof local_bytes, &local_bytes, NULL);
    if (code == CL_SUCCESS)
        code = b->api->clGetDeviceInfo(b->engine->device, CL_DEVICE_MAX_WORK_GROUP_SIZE,
                                       sizeof b->most_items, &b->most_items, NULL);
    /* A driver may refuse a group that takes all of it. */
    b->local_bytes = local_bytes > 1024 ? (size_t)local_bytes - 1024 : 0;
    restride_status status =
        code == CL_SUCCESS ? build(b, 1) : rs_opencl_fail(code, "preparing the baselines' memory");
    if (status == RESTRIDE_OK)
        status = read_simd_items(b);
    if (status != RESTRIDE_OK) {
        rs_baselines_close(b);
        return status;
    }
    *baselines = b;
    return RESTRIDE_OK;
}

void rs_baselines_close(rs_baselines *b)
{
    if (b == NULL)
        return;
    for (int i = 0; i <= MOST_REGISTERS; i++)
        if (b->programs[i] != NULL)
            b->api->clReleaseProgram(b->programs[i]);
    if (b->data != NULL)
        b->api->clReleaseMemObject(b->data);
    if (b->other != NULL)
        b->api->clReleaseMemObject(b->other);
    free(b);
}

/* ---- launches ---- */

typedef struct {
    size_t size;
    const void *value; /* NULL: local memory */
} argument;

typedef struct {
    const char *kernel;
    size_t values; /* of the program */
    size_t items;
    size_t groups;
    size_t local_bytes;
    bool flags; /* in global memory, cleared before each run */
    argument arguments[MOST_ARGUMENTS];
    cl_uint argument_count;
} launch;

#define ARGUMENT(variable) ((argument){sizeof(variable), &(variable)})
#define LOCAL(bytes) ((argument){(bytes), NULL})

/* What arguments point to. */
typedef struct {
    cl_uint rows, cols, words, flag_words, shift, padding, remapped;
    cl_ulong long_rows, long_cols;
} scalars;

/* As many work-items as there is work for, in whole SIMD units. */
static size_t default_items(const rs_baselines *b, size_t work, size_t most)
{
    size_t items = rs_size_divide_up(work, b->simd_items) * b->simd_items;
    return rs_size_smaller(items, rs_size_smaller(most, b->most_items));
}

static void prepare_flags(const rs_baseline_case *c, scalars *s)
{
    size_t total = c->rows * c->cols;
    size_t spreading = c->spreading != 0 ? c->spreading : 1;
    size_t words = total / FLAG_BITS + 1;
    s->shift = 5;
    for (size_t factor = 1; factor < spreading; factor *= 2)
        s->shift--;
    s->remapped = c->remapping ? (cl_uint)words : 0;
    s->padding = c->padding;
    words = c->remapping ? words : (total >> s->shift) + 1;
    s->flag_words = (cl_uint)(c->padding ? words + words / 32 + 1 : words);
}

static void prepare_010(const rs_baselines *b, const rs_baseline_case *c, scalars *s, launch *l)
{
    enum { USUAL_ITEMS = 256 };
    l->groups = c->count;
    l->items = c->items != 0 ? c->items : default_items(b, c->rows * c->cols, USUAL_ITEMS);
    argument plain[] = {ARGUMENT(b->data), ARGUMENT(s->rows), ARGUMENT(s->cols)};
    memcpy(l->arguments, plain, sizeof plain);
    l->argument_count = 3;
    if (c->kind == RS_BASELINE_BARRIER_010) {
        l->kernel = "barrier_010";
        l->local_bytes = c->rows * c->cols * sizeof(cl_uint);
        l->arguments[l->argument_count++] = LOCAL(l->local_bytes);
    } else if (c->kind == RS_BASELINE_CYCLES_010) {
        l->kernel = "cycles_010";
    } else {
        l->kernel = "claims_010";
        prepare_flags(c, s);
        l->local_bytes = s->flag_words * sizeof(cl_uint);
        argument more[] = {ARGUMENT(s->flag_words), ARGUMENT(s->shift), ARGUMENT(s->padding),
                           ARGUMENT(s->remapped), LOCAL(l->local_bytes)};
        memcpy(l->arguments + l->argument_count, more, sizeof more);
        l->argument_count += 5;
    }
}

static void prepare_100(const rs_baselines *b, const rs_baseline_case *c, scalars *s, launch *l)
{
    bool registers = c->kind == RS_BASELINE_REGISTER_100;
    bool group = c->kind == RS_BASELINE_GROUP_100;
    l->kernel = registers                           ? "claims_100_registers"
                : c->kind == RS_BASELINE_CYCLES_100 ? "cycles_100"
                                                    : "claims_100";
    l->items = group ? c->words : b->simd_items;
    l->items = c->items != 0 ? c->items : rs_size_smaller(l->items, b->most_items);
    l->values = registers ? rs_size_divide_up(c->words, l->items) : 1;
    l->groups = rs_size_smaller(c->rows * c->cols, MOST_GROUPS);
    l->flags = c->kind != RS_BASELINE_CYCLES_100;
    size_t held = (registers ? l->items : c->words) * sizeof(cl_uint);
    l->local_bytes = held + sizeof(cl_uint);
    argument all[] = {ARGUMENT(b->data),      ARGUMENT(b->other), ARGUMENT(s->long_rows),
                      ARGUMENT(s->long_cols), ARGUMENT(s->words), LOCAL(held),
                      LOCAL(sizeof(cl_uint))};
    memcpy(l->arguments, all, sizeof all);
    l->argument_count = 7;
}

static void prepare_out_of_place(const rs_baselines *b, const rs_baseline_case *c, scalars *s,
                                 launch *l)
{
    enum { TILE = 32, ITEMS = 256 };
    l->kernel = "out_of_place";
    l->items = rs_size_smaller(ITEMS, b->most_items);
    l->groups = rs_size_divide_up(c->rows, TILE) * rs_size_divide_up(c->cols, TILE);
    argument all[] = {ARGUMENT(b->data), ARGUMENT(b->other), ARGUMENT(s->long_rows),
                      ARGUMENT(s->long_cols)};
    memcpy(l->arguments, all, sizeof all);
    l->argument_count = 4;
}

static restride_status prepare(const rs_baselines *b, const rs_baseline_case *c, scalars *s,
                               launch *l)
{
    *l = (launch){.values = 1};
    *s = (scalars){.rows = (cl_uint)c->rows,
                   .cols = (cl_uint)c->cols,
                   .words = (cl_uint)c->words,
                   .long_rows = c->rows,
                   .long_cols = c->cols};
    if (c->kind <= RS_BASELINE_CYCLES_010)
        prepare_010(b, c, s, l);
    else if (c->kind == RS_BASELINE_OUT_OF_PLACE)
        prepare_out_of_place(b, c, s, l);
    else
        prepare_100(b, c, s, l);
    if (c->kind == RS_BASELINE_REGISTER_100 && c->words % l->items != 0)
        return rs_fail(RESTRIDE_DEVICE_LIMIT,
                       "Register tiling wants super-elements of whole SIMD units of %zu words, and "
                       "these have %zu.",
                       l->items, c->words);
    if (l->local_bytes > b->local_bytes || l->items > b->most_items || l->values > MOST_REGISTERS ||
        rs_baseline_bytes(c) > b->bytes)
        return rs_fail(RESTRIDE_DEVICE_LIMIT,
                       "A baseline of %zu x %zu elements takes %zu bytes of local memory and %zu "
                       "work-items, more than the device has.",
                       c->rows, c->cols, l->local_bytes, l->items);
    return RESTRIDE_OK;
}

/* Waits, and adds how long the command took by the device's clock. */
static cl_int add_time(const rs_baselines *b, cl_event event, double *seconds)
{
    cl_ulong start = 0;
    cl_ulong end = 0;
    cl_int code = b->api->clWaitForEvents(1, &event);
    if (code == CL_SUCCESS)
        code = b->api->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start,
                                               &start, NULL);
    if (code == CL_SUCCESS)
        code = b->api->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end,
                                               NULL);
    b->api->clReleaseEvent(event);
    *seconds += (double)(end - start) * 1e-9;
    return code;
}

static cl_int set_arguments(const rs_baselines *b, cl_kernel kernel, const argument *arguments,
                            cl_uint count)
{
    cl_int code = CL_SUCCESS;
    for (cl_uint i = 0; i < count && code == CL_SUCCESS; i++)
        code = b->api->clSetKernelArg(kernel, i, arguments[i].size, arguments[i].value);
    return code;
}

static cl_int enqueue(const rs_baselines *b, cl_kernel kernel, size_t groups, size_t items,
                      double *seconds)
{
    size_t global = groups * items;
    cl_event event;
    cl_int code = b->api->clEnqueueNDRangeKernel(b->engine->queue, kernel, 1, NULL, &global, &items,
                                                 0, NULL, &event);
    return code == CL_SUCCESS ? add_time(b, event, seconds) : code;
}

/* Clearing the flags is a part of the work. */
static cl_int run_once(const rs_baselines *b, cl_kernel kernel, const launch *l,
                       const rs_baseline_case *c, double *seconds)
{
    *seconds = 0;
    if (l->flags) {
        const cl_uint zero = 0;
        size_t bytes = (c->rows * c->cols / FLAG_BITS + 1) * sizeof zero;
        cl_event event;
        cl_int code = b->api->clEnqueueFillBuffer(b->engine->queue, b->other, &zero, sizeof zero, 0,
                                                  bytes, 0, NULL, &event);
        if (code == CL_SUCCESS)
            code = add_time(b, event, seconds);
        if (code != CL_SUCCESS)
            return code;
    }
    return enqueue(b, kernel, l->groups, l->items, seconds);
}

static int compare_seconds(const void *x, const void *y)
{
    double a = *(const double *)x;
    double b = *(const double *)y;
    return (a > b) - (a < b);
}

static restride_status check_and_time(rs_baselines *b, cl_kernel kernel, const launch *l,
                                      const rs_baseline_case *c, size_t repeat, const void *before,
                                      void *after, double *seconds)
{
    size_t bytes = rs_baseline_bytes(c);
    double times[MOST_RUNS];
    repeat = rs_size_smaller(repeat, MOST_RUNS);
    cl_mem result = c->kind == RS_BASELINE_OUT_OF_PLACE ? b->other : b->data;
    cl_int code = b->api->clEnqueueWriteBuffer(b->engine->queue, b->data, CL_TRUE, 0, bytes, before,
                                               0, NULL, NULL);
    if (code == CL_SUCCESS)
        code = run_once(b, kernel, l, c, &times[0]);
    if (code == CL_SUCCESS)
        code = b->api->clEnqueueReadBuffer(b->engine->queue, result, CL_TRUE, 0, bytes, after, 0,
                                           NULL, NULL);
    for (size_t i = 0; i < repeat && code == CL_SUCCESS; i++)
        code = run_once(b, kernel, l, c, &times[i]);
    if (code != CL_SUCCESS)
        return rs_opencl_fail(code, "running a baseline");
    qsort(times, repeat, sizeof *times, compare_seconds);
    *seconds = times[repeat / 2];
    return RESTRIDE_OK;
}

restride_status rs_baselines_run(rs_baselines *b, const rs_baseline_case *c, size_t repeat,
                                 const void *before, void *after, double *seconds)
{
    scalars s;
    launch l;
    restride_status status = prepare(b, c, &s, &l);
    if (status == RESTRIDE_OK)
        status = build(b, l.values);
    if (status != RESTRIDE_OK)
        return status;
    cl_int code;
    cl_kernel kernel = b->api->clCreateKernel(b->programs[l.values], l.kernel, &code);
    if (code == CL_SUCCESS)
        code = set_arguments(b, kernel, l.arguments, l.argument_count);
    status = code == CL_SUCCESS ? check_and_time(b, kernel, &l, c, repeat, before, after, seconds)
                                : rs_opencl_fail(code, "preparing a baseline");
    if (kernel != NULL)
        b->api->clReleaseKernel(kernel);
    return status;
}

/* ---- padding ---- */

static cl_int pad(const rs_baselines *b, cl_kernel rows_kernel, cl_kernel last_kernel, size_t rows,
                  size_t cols, size_t padded_cols, rs_padding_step *steps, size_t most,
                  size_t *count)
{
    enum { ITEMS = 256 };
    size_t items = rs_size_smaller(ITEMS, b->most_items);
    const cl_ulong from = cols;
    const cl_ulong to = padded_cols;
    size_t left = rows;
    cl_int code = CL_SUCCESS;
    *count = 0;
    while (left > 0 && code == CL_SUCCESS && *count < most) {
        size_t movable = left * (padded_cols - cols) / padded_cols;
        rs_padding_step step = {movable, 0};
        const cl_ulong first = left - movable;
        const cl_ulong rest = left;
        const argument moved[] = {ARGUMENT(b->data), ARGUMENT(first), ARGUMENT(from), ARGUMENT(to)};
        const argument last[] = {ARGUMENT(b->data), ARGUMENT(rest), ARGUMENT(from), ARGUMENT(to),
                                 LOCAL(cols * sizeof(cl_uint))};
        if (movable > 0) {
            code = set_arguments(b, rows_kernel, moved, 4);
            if (code == CL_SUCCESS)
                code = enqueue(b, rows_kernel, movable, items, &step.seconds);
            left -= movable;
        } else {
            code = set_arguments(b, last_kernel, last, 5);
            if (code == CL_SUCCESS)
                code = enqueue(b, last_kernel, 1, items, &step.seconds);
            step.rows = left;
            left = 0;
        }
        steps[(*count)++] = step;
    }
    return code;
}

restride_status rs_baselines_pad(rs_baselines *b, size_t rows, size_t cols, size_t padded_cols,
                                 void *data, rs_padding_step *steps, size_t most, size_t *count)
{
    size_t bytes = rows * padded_cols * sizeof(cl_uint);
    if (bytes > b->bytes || cols * sizeof(cl_uint) > b->local_bytes)
        return rs_fail(RESTRIDE_DEVICE_LIMIT,
                       "A row of %zu words, or the matrix, is too large for the device.", cols);
    cl_int code;
    cl_kernel rows_kernel = b->api->clCreateKernel(b->programs[1], "pad_rows", &code);
    cl_kernel last_kernel =
        code == CL_SUCCESS ? b->api->clCreateKernel(b->programs[1], "pad_last_rows", &code) : NULL;
    if (code == CL_SUCCESS)
        code = b->api->clEnqueueWriteBuffer(b->engine->queue, b->data, CL_TRUE, 0, bytes, data, 0,
                                            NULL, NULL);
    if (code == CL_SUCCESS)
        code = pad(b, rows_kernel, last_kernel, rows, cols, padded_cols, steps, most, count);
    if (code == CL_SUCCESS)
        code = b->api->clEnqueueReadBuffer(b->engine->queue, b->data, CL_TRUE, 0, bytes, data, 0,
                                           NULL, NULL);
    if (rows_kernel != NULL)
        b->api->clReleaseKernel(rows_kernel);
    if (last_kernel != NULL)
        b->api->clReleaseKernel(last_kernel);
    return code == CL_SUCCESS ? RESTRIDE_OK : rs_opencl_fail(code, "padding a matrix");
}
