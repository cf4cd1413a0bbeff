/*
 * The speed of in-place transposition on an OpenCL device; tools/gpu_transpose.sh runs it.
 *
 *     time_transpose [--method NAME] [--again N] SHAPE...
 *
 * SHAPE is RxC:U or RxCxB:U, with R x C [x BATCH] elements of U bytes; an option is for the shapes
 * behind it. Every element is checked on the device after each of N runs (1) on the same input.
 * Then runs and copies of the same bytes from buffer to buffer alternate; a time is the median of
 * nine, from the call to its return.
 */
#include "device.h"
#include "restride/opencl.h"
#include "restride/restride.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEAT = 9 };

static const char source[] =
    "ulong mix(ulong e) { e = (e + 1) * 0x9E3779B97F4A7C15UL; return e ^ (e >> 29); }\n"
    "kernel void fill(global WORD *data, ulong count) {\n"
    "    for (ulong place = get_global_id(0); place < count; place += get_global_size(0))\n"
    "        data[place] = (WORD)mix(place);\n"
    "}\n"
    "kernel void compare(global const WORD *data, ulong count, ulong rows, ulong cols,\n"
    "                    ulong words, global uint *wrong) {\n"
    "    for (ulong place = get_global_id(0); place < count; place += get_global_size(0)) {\n"
    "        ulong area = rows * cols * words;\n"
    "        ulong matrix = place / area, element = place % area / words;\n"
    "        ulong from = (element % rows * cols + element / rows) * words + place % words;\n"
    "        if (data[place] != (WORD)mix(matrix * area + from)) atomic_inc(wrong);\n"
    "    }\n"
    "}\n";

typedef struct {
    size_t rows;
    size_t cols;
    size_t batch;
    size_t unit;
    size_t bytes;
} problem;

typedef struct {
    const char *method; /* NULL: the planner's choice */
    size_t again;
} settings;

typedef struct {
    double run[REPEAT];
    double copy[REPEAT];
    double plan[REPEAT];
    cl_uint wrong;
} timing;

static test_device device;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times)
{
    qsort(times, REPEAT, sizeof *times, compare_times);
    return times[REPEAT / 2];
}

static cl_int build(const problem *p, size_t *word, cl_program *program)
{
    static const char *const types[] = {"uchar", "ushort", "uint", "ulong"};
    int index = 3;
    while (p->unit % ((size_t)1 << index) != 0)
        index--;
    *word = (size_t)1 << index;
    char options[64];
    snprintf(options, sizeof options, "-D WORD=%s", types[index]);
    const char *text = source;
    cl_int code;
    *program = device.api->clCreateProgramWithSource(device.context, 1, &text, NULL, &code);
    return code != CL_SUCCESS
               ? code
               : device.api->clBuildProgram(*program, 1, &device.device, options, NULL, NULL);
}

/* `wrong` NULL: the kernel takes the number of words alone. */
static cl_int launch(cl_program program, const char *name, cl_mem buffer, const cl_ulong sizes[4],
                     cl_mem wrong)
{
    const size_t work = 1 << 20; /* work-items; each has many words */
    const cl_icd_dispatch *api = device.api;
    cl_int code;
    cl_kernel kernel = api->clCreateKernel(program, name, &code);
    if (code != CL_SUCCESS)
        return code;
    code = api->clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    for (cl_uint i = 0; i < (wrong != NULL ? 4 : 1); i++)
        code |= api->clSetKernelArg(kernel, 1 + i, sizeof sizes[i], &sizes[i]);
    if (wrong != NULL)
        code |= api->clSetKernelArg(kernel, 5, sizeof wrong, &wrong);
    if (code == CL_SUCCESS)
        code =
            api->clEnqueueNDRangeKernel(device.queue, kernel, 1, NULL, &work, NULL, 0, NULL, NULL);
    if (code == CL_SUCCESS)
        code = api->clFinish(device.queue);
    api->clReleaseKernel(kernel);
    return code;
}

/* Fills the buffer and runs the plan, `again` times, and counts the elements that are wrong. */
static cl_int verify(const problem *p, restride_plan *plan, cl_mem buffer, size_t again,
                     cl_uint *wrong)
{
    const cl_icd_dispatch *api = device.api;
    cl_program program = NULL;
    size_t word;
    cl_int code = build(p, &word, &program);
    if (code != CL_SUCCESS)
        return code;
    *wrong = 0;
    cl_mem count = api->clCreateBuffer(device.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                       sizeof *wrong, wrong, &code);
    const cl_ulong sizes[] = {p->bytes / word, p->rows, p->cols, p->unit / word};
    for (size_t i = 0; i < again && code == CL_SUCCESS; i++) {
        code = launch(program, "fill", buffer, sizes, NULL);
        if (code == CL_SUCCESS && restride_execute(plan, buffer) != RESTRIDE_OK)
            code = CL_INVALID_OPERATION;
        if (code == CL_SUCCESS)
            code = launch(program, "compare", buffer, sizes, count);
    }
    if (code == CL_SUCCESS)
        code = api->clEnqueueReadBuffer(device.queue, count, CL_TRUE, 0, sizeof *wrong, wrong, 0,
                                        NULL, NULL);
    if (count != NULL)
        api->clReleaseMemObject(count);
    api->clReleaseProgram(program);
    return code;
}

static bool time_runs(const problem *p, const settings *s, restride_plan *plan, cl_mem buffer,
                      cl_mem copy, timing *t)
{
    if (verify(p, plan, buffer, s->again, &t->wrong) != CL_SUCCESS)
        return false;
    for (int i = 0; i < REPEAT; i++) {
        double start = now();
        if (restride_execute(plan, buffer) != RESTRIDE_OK)
            return false;
        double middle = now();
        if (device.api->clEnqueueCopyBuffer(device.queue, buffer, copy, 0, 0, p->bytes, 0, NULL,
                                            NULL) != CL_SUCCESS ||
            device.api->clFinish(device.queue) != CL_SUCCESS)
            return false;
        t->run[i] = middle - start;
        t->copy[i] = now() - middle;
    }
    return true;
}

static void print_row(const problem *p, restride_plan *plan, timing *t)
{
    double run = 2e-9 * (double)p->bytes / median(t->run);
    double copy = 2e-9 * (double)p->bytes / median(t->copy);
    char *text = restride_plan_describe(plan);
    json_t *description = text == NULL ? NULL : json_loads(text, 0, NULL);
    const char *method = json_string_value(json_object_get(description, "method"));
    printf("%10zu x %-10zu %5zu %8zu %7.0f %7.0f %6.2f %8.2f %7.3f %% %6s  %s\n", p->rows, p->cols,
           p->unit, p->batch, run, copy, run / copy, 1e3 * median(t->plan),
           100.0 * (double)restride_plan_scratch_bytes(plan) / (double)p->bytes,
           t->wrong == 0 ? "right" : "WRONG", method == NULL ? "" : method);
    fflush(stdout);
    json_decref(description);
    free(text);
}

static bool make_plan(restride_engine *engine, const problem *p, const settings *s,
                      restride_plan **plan)
{
    const restride_plan_options options = {.method = s->method};
    return restride_plan_transpose_with(plan, engine, p->rows, p->cols, p->unit, p->batch,
                                        &options) == RESTRIDE_OK;
}

/* The plans behind the first are timed: its programs are built by then. */
static bool measure(restride_engine *engine, const problem *p, const settings *s)
{
    const cl_icd_dispatch *api = device.api;
    cl_int code;
    restride_plan *plan;
    timing t = {.wrong = 0};
    if (!make_plan(engine, p, s, &plan))
        return false;
    for (int i = 0; i < REPEAT; i++) {
        restride_plan_destroy(plan);
        double start = now();
        if (!make_plan(engine, p, s, &plan))
            return false;
        t.plan[i] = now() - start;
    }
    cl_mem copy = NULL;
    cl_mem buffer = api->clCreateBuffer(device.context, CL_MEM_READ_WRITE, p->bytes, NULL, &code);
    if (code == CL_SUCCESS)
        copy = api->clCreateBuffer(device.context, CL_MEM_READ_WRITE, p->bytes, NULL, &code);
    bool done = code == CL_SUCCESS && time_runs(p, s, plan, buffer, copy, &t);
    if (done)
        print_row(p, plan, &t);
    if (copy != NULL)
        api->clReleaseMemObject(copy);
    if (buffer != NULL)
        api->clReleaseMemObject(buffer);
    restride_plan_destroy(plan);
    return done && t.wrong == 0;
}

static bool read_problem(const char *text, problem *p)
{
    *p = (problem){.batch = 1};
    if (sscanf(text, "%zux%zux%zu:%zu", &p->rows, &p->cols, &p->batch, &p->unit) != 4) {
        p->batch = 1;
        if (sscanf(text, "%zux%zu:%zu", &p->rows, &p->cols, &p->unit) != 3)
            return false;
    }
    p->bytes = p->rows * p->cols * p->batch * p->unit;
    return p->bytes != 0;
}

int main(int argc, char **argv)
{
    restride_engine *engine;
    int failed = 0;
    if (!test_device_open(&device))
        return 77;
    if (restride_engine_create_opencl(&engine, device.queue) != RESTRIDE_OK) {
        printf("%s\n", restride_last_error());
        return 1;
    }
    printf("%23s %5s %8s %7s %7s %6s %8s %9s %6s  method\n", "shape", "bytes", "batch", "GB/s",
           "copy", "ratio", "plan ms", "scratch", "");
    settings s = {.again = 1};
    for (int i = 1; i < argc; i++) {
        problem p;
        if (strcmp(argv[i], "--method") == 0 && i + 1 < argc) {
            s.method = argv[++i];
        } else if (strcmp(argv[i], "--again") == 0 && i + 1 < argc) {
            s.again = strtoull(argv[++i], NULL, 10);
        } else if (!read_problem(argv[i], &p) || !measure(engine, &p, &s)) {
            printf("%s failed: %s\n", argv[i], restride_last_error());
            failed = 1;
        }
    }
    restride_engine_destroy(engine);
    test_device_close(&device);
    return failed;
}
