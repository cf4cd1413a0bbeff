/* The device's side of restride analyze --check. */
#include "cli/check_run.h"

#include "apply/launch.h"
#include "base/arithmetic.h"
#include "engine/open.h"
#include "engine/opencl/error.h"
#include "engine/opencl/opencl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENT_LIMIT = 64, LOG_ROOM = 4096 };

struct rs_check_device {
    restride_engine *engine;
    const cl_icd_dispatch *api;
    cl_command_queue queue;
    cl_context context;
    cl_device_id id;
    cl_program program;
    char name[256];
};

/* An argument of the kernels: a number, an array, or a copy of one. */
typedef struct {
    const char *name, *type;
    bool array, copy, written;
    size_t bytes, count; /* of an element; elements */
    int64_t integer;
    double number;
    cl_mem start, memory; /* as it was before, and during a run */
    cl_mem image;         /* over the memory, where the changed kernel wants one */
    unsigned char *expected, *found;
} argument;

typedef struct {
    rs_check_device *device;
    const json_t *nest;
    const rs_check_settings *settings;
    rs_check_result *result;
    argument arguments[ARGUMENT_LIMIT];
    int count, parameters; /* the copies come behind the parameters */
    uint64_t random;
} run;

/* ---- the device ---- */

restride_status rs_check_open(rs_check_device **device, const char *name)
{
    rs_check_device *opened = calloc(1, sizeof *opened);
    *device = NULL;
    if (opened == NULL)
        return rs_fail_memory("a device");
    restride_status status = rs_opencl_open(&opened->engine, name);
    if (status != RESTRIDE_OK) {
        free(opened);
        return status;
    }
    const rs_opencl_engine *engine = (const rs_opencl_engine *)opened->engine;
    opened->api = engine->api;
    opened->queue = engine->queue;
    opened->context = engine->context;
    opened->id = engine->device;
    memcpy(opened->name, engine->device_name, sizeof opened->name);
    *device = opened;
    return RESTRIDE_OK;
}

void rs_check_close(rs_check_device *device)
{
    if (device == NULL)
        return;
    if (device->program != NULL)
        device->api->clReleaseProgram(device->program);
    restride_engine_destroy(device->engine);
    free(device);
}

const char *rs_check_device_name(const rs_check_device *device)
{
    return device->name;
}

restride_status rs_check_build(rs_check_device *device, const char *source)
{
    cl_int code;
    char log[LOG_ROOM] = "";
    device->program =
        device->api->clCreateProgramWithSource(device->context, 1, &source, NULL, &code);
    if (code == CL_SUCCESS)
        code = device->api->clBuildProgram(device->program, 1, &device->id, "", NULL, NULL);
    if (code != CL_BUILD_PROGRAM_FAILURE)
        return code == CL_SUCCESS ? RESTRIDE_OK : rs_opencl_fail(code, "building the kernels");
    device->api->clGetProgramBuildInfo(device->program, device->id, CL_PROGRAM_BUILD_LOG,
                                       sizeof log - 1, log, NULL);
    return rs_fail(RESTRIDE_DEVICE_ERROR, "The device's compiler refuses the kernels: %s", log);
}

/* ---- data ---- */

static uint64_t next_random(run *r)
{
    r->random ^= r->random << 13;
    r->random ^= r->random >> 7;
    r->random ^= r->random << 17;
    return r->random;
}

/* Between 0.5 and 1.5: sums and quotients of such numbers stay tame. */
static double next_number(run *r)
{
    return 0.5 + (double)(next_random(r) >> 11) * 0x1p-53;
}

/* Records count as floats throughout. */
static void fill(run *r, argument *a)
{
    bool is_double = strcmp(a->type, "double") == 0;
    bool is_float = strcmp(a->type, "float") == 0 || (a->bytes % 4 == 0 && strchr(a->type, ' '));
    size_t size = is_double ? 8 : is_float ? 4 : a->bytes;
    for (size_t at = 0; at + size <= a->count * a->bytes; at += size) {
        double number = is_double || is_float ? next_number(r) : 0;
        float single = (float)number;
        uint64_t integer = is_double || is_float ? 0 : next_random(r) % 100;
        memcpy(a->expected + at,
               is_double  ? (const void *)&number
               : is_float ? (const void *)&single
                          : (const void *)&integer,
               size);
    }
}

static int64_t integer_of(const rs_values *values, const char *name)
{
    for (int i = 0; i < values->count; i++)
        if (strcmp(values->names[i], name) == 0)
            return values->values[i];
    return 0;
}

static bool is_image(const run *r, const char *name)
{
    size_t i;
    json_t *array;
    json_array_foreach(json_object_get(r->nest, "arrays"), i, array)
    {
        if (strcmp(json_string_value(json_object_get(array, "name")), name) == 0)
            return strcmp(json_string_value(json_object_get(array, "memory")), "texture") == 0;
    }
    return false;
}

/* An image over an array: a pixel for each element. */
static restride_status create_image(const run *r, argument *a)
{
    static const struct {
        const char *type;
        cl_image_format format;
    } formats[] = {{"char", {CL_R, CL_SIGNED_INT8}},   {"uchar", {CL_R, CL_UNSIGNED_INT8}},
                   {"short", {CL_R, CL_SIGNED_INT16}}, {"ushort", {CL_R, CL_UNSIGNED_INT16}},
                   {"int", {CL_R, CL_SIGNED_INT32}},   {"uint", {CL_R, CL_UNSIGNED_INT32}},
                   {"float", {CL_R, CL_FLOAT}}};
    const rs_check_device *d = r->device;
    cl_int code = CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
    cl_image_desc shape;
    memset(&shape, 0, sizeof shape);
    shape.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER;
    shape.image_width = a->count;
    shape.mem_object = a->memory;
    if (d->api->clCreateImage == NULL)
        return rs_fail(RESTRIDE_UNSUPPORTED, "This OpenCL has no images of buffers.");
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(formats[i].type, a->type) == 0)
            a->image = d->api->clCreateImage(d->context, CL_MEM_READ_WRITE, &formats[i].format,
                                             &shape, NULL, &code);
    return code == CL_SUCCESS ? RESTRIDE_OK : rs_opencl_fail(code, "creating an image");
}

static restride_status read_argument(run *r, const json_t *entry, bool copy)
{
    argument *a = &r->arguments[r->count];
    const rs_values *values = &r->result->values;
    if (r->count == ARGUMENT_LIMIT)
        return rs_fail(RESTRIDE_UNSUPPORTED, "A kernel has more than %d arguments.",
                       ARGUMENT_LIMIT);
    memset(a, 0, sizeof *a);
    r->count++;
    a->name = json_string_value(json_object_get(entry, "name"));
    a->type = json_string_value(json_object_get(entry, "type"));
    a->bytes = (size_t)json_integer_value(json_object_get(entry, "bytes"));
    a->copy = copy;
    a->array = copy || strcmp(json_string_value(json_object_get(entry, "kind")), "array") == 0;
    a->written = json_is_true(json_object_get(entry, "written"));
    if (!a->array) {
        a->integer = integer_of(values, a->name);
        a->number = next_number(r);
        return RESTRIDE_OK;
    }
    a->count = copy ? rs_values_product(values, json_object_get(entry, "elements"))
                    : rs_values_largest(values, json_object_get(entry, "sizes"));
    a->count = a->count == 0 ? 1 : a->count;
    size_t bytes;
    if (!rs_size_multiply(a->count, a->bytes, &bytes))
        return rs_fail(RESTRIDE_OUT_OF_MEMORY, "The array %s is too large.", a->name);
    cl_int code = CL_SUCCESS;
    const rs_check_device *d = r->device;
    a->memory = d->api->clCreateBuffer(d->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    if (code == CL_SUCCESS && !copy)
        a->start = d->api->clCreateBuffer(d->context, CL_MEM_READ_WRITE, bytes, NULL, &code);
    if (code != CL_SUCCESS)
        return rs_opencl_fail(code, "creating an array");
    if (copy)
        return RESTRIDE_OK;
    if (is_image(r, a->name)) {
        restride_status status = create_image(r, a);
        if (status != RESTRIDE_OK)
            return status;
    }
    a->expected = malloc(bytes);
    a->found = malloc(bytes);
    if (a->expected == NULL || a->found == NULL)
        return rs_fail_memory("an array");
    fill(r, a);
    code = d->api->clEnqueueWriteBuffer(d->queue, a->start, CL_TRUE, 0, bytes, a->expected, 0, NULL,
                                        NULL);
    return code == CL_SUCCESS ? RESTRIDE_OK : rs_opencl_fail(code, "writing an array");
}

static restride_status read_arguments(run *r)
{
    size_t i;
    json_t *entry;
    restride_status status = RESTRIDE_OK;
    json_array_foreach(json_object_get(r->nest, "parameters"), i, entry)
    {
        status = status == RESTRIDE_OK ? read_argument(r, entry, false) : status;
    }
    r->parameters = r->count;
    json_array_foreach(json_object_get(r->nest, "copies"), i, entry)
    {
        status = status == RESTRIDE_OK ? read_argument(r, entry, true) : status;
    }
    return status;
}

static void free_arguments(run *r)
{
    for (int i = 0; i < r->count; i++) {
        argument *a = &r->arguments[i];
        if (a->image != NULL)
            r->device->api->clReleaseMemObject(a->image);
        if (a->start != NULL)
            r->device->api->clReleaseMemObject(a->start);
        if (a->memory != NULL)
            r->device->api->clReleaseMemObject(a->memory);
        free(a->expected);
        free(a->found);
    }
}

/* ---- launches ---- */

static cl_int set_number(const cl_icd_dispatch *api, cl_kernel kernel, cl_uint at,
                         const argument *a)
{
    float single = (float)a->number;
    if (strcmp(a->type, "double") == 0)
        return api->clSetKernelArg(kernel, at, sizeof a->number, &a->number);
    if (strcmp(a->type, "float") == 0)
        return api->clSetKernelArg(kernel, at, sizeof single, &single);
    return api->clSetKernelArg(kernel, at, a->bytes, &a->integer); /* little-endian */
}

/* The parameters, then the copies from `first` to before `last`. */
static cl_int set_arguments(const run *r, cl_kernel kernel, int first, int last, bool images)
{
    const cl_icd_dispatch *api = r->device->api;
    cl_uint at = 0;
    cl_int code = CL_SUCCESS;
    for (int i = 0; i < r->count && code == CL_SUCCESS; i++) {
        const argument *a = &r->arguments[i];
        if (a->copy && (i - r->parameters < first || i - r->parameters >= last))
            continue;
        const cl_mem *memory = images && a->image != NULL ? &a->image : &a->memory;
        code = a->array ? api->clSetKernelArg(kernel, at, sizeof *memory, memory)
                        : set_number(api, kernel, at, a);
        at++;
    }
    return code;
}

static restride_status finish(const rs_check_device *d, cl_int code, cl_event event,
                              const char *name, double *seconds)
{
    cl_ulong start = 0, end = 0;
    if (code == CL_SUCCESS)
        code = d->api->clWaitForEvents(1, &event);
    if (code == CL_SUCCESS)
        code = d->api->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start,
                                               &start, NULL);
    if (code == CL_SUCCESS)
        code = d->api->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end,
                                               NULL);
    if (event != NULL)
        d->api->clReleaseEvent(event);
    *seconds += (double)(end - start) * 1e-9;
    return code == CL_SUCCESS ? RESTRIDE_OK : rs_opencl_fail(code, name);
}

static const char *kernel_name(const run *r, const char *role)
{
    return json_string_value(json_object_get(json_object_get(r->nest, "kernels"), role));
}

/* Runs a kernel with the copies from `first` to before `last`; adds its time. */
static restride_status launch(const run *r, const char *name, const rs_launch *shape, int first,
                              int last, double *seconds)
{
    const rs_check_device *d = r->device;
    const bool changed = name == kernel_name(r, "changed");
    cl_int code;
    cl_event event = NULL;
    cl_kernel kernel = d->api->clCreateKernel(d->program, name, &code);
    if (code == CL_SUCCESS)
        code = set_arguments(r, kernel, first, last, changed);
    if (code == CL_SUCCESS)
        code = d->api->clEnqueueNDRangeKernel(d->queue, kernel, 3, NULL, shape->global,
                                              shape->local, 0, NULL, &event);
    restride_status status = finish(d, code, event, name, seconds);
    if (kernel != NULL)
        d->api->clReleaseKernel(kernel);
    return status;
}

static restride_status restore(const run *r)
{
    for (int i = 0; i < r->parameters; i++) {
        const argument *a = &r->arguments[i];
        if (!a->array)
            continue;
        cl_int code = r->device->api->clEnqueueCopyBuffer(r->device->queue, a->start, a->memory, 0,
                                                          0, a->count * a->bytes, 0, NULL, NULL);
        if (code != CL_SUCCESS)
            return rs_opencl_fail(code, "copying an array");
    }
    return RESTRIDE_OK;
}

static restride_status fetch(const run *r, bool expected)
{
    for (int i = 0; i < r->parameters; i++) {
        const argument *a = &r->arguments[i];
        if (!a->array)
            continue;
        cl_int code = r->device->api->clEnqueueReadBuffer(
            r->device->queue, a->memory, CL_TRUE, 0, a->count * a->bytes,
            expected ? a->expected : a->found, 0, NULL, NULL);
        if (code != CL_SUCCESS)
            return rs_opencl_fail(code, "reading an array");
    }
    return RESTRIDE_OK;
}

static restride_status move_copies(const run *r, const char *direction, double *seconds)
{
    size_t i;
    json_t *copy;
    restride_status status = RESTRIDE_OK;
    json_array_foreach(json_object_get(r->nest, "copies"), i, copy)
    {
        const json_t *elements = json_object_get(copy, "elements");
        const char *kernel = json_string_value(json_object_get(copy, direction));
        size_t whole = rs_values_product(&r->result->values, elements);
        size_t row = rs_values_quantity(&r->result->values,
                                        json_array_get(elements, json_array_size(elements) - 1));
        const size_t items[3] = {row, row > 0 ? whole / row : 1, 1};
        const rs_launch shape = rs_launch_items(items);
        if (kernel != NULL && status == RESTRIDE_OK)
            status = launch(r, kernel, &shape, (int)i, (int)i + 1, seconds);
    }
    return status;
}

static restride_status run_changed(const run *r, double *pack, double *changed, double *unpack)
{
    const rs_launch shape = rs_launch_of(&r->result->values, r->nest, true, r->settings->width);
    restride_status status = restore(r);
    if (status == RESTRIDE_OK)
        status = move_copies(r, "pack", pack);
    if (status == RESTRIDE_OK)
        status = launch(r, kernel_name(r, "changed"), &shape, 0, r->count, changed);
    return status == RESTRIDE_OK ? move_copies(r, "unpack", unpack) : status;
}

static restride_status run_threads(const run *r, double *seconds)
{
    const rs_launch shape = rs_launch_of(&r->result->values, r->nest, false, r->settings->width);
    restride_status status = restore(r);
    return status == RESTRIDE_OK ? launch(r, kernel_name(r, "threads"), &shape, 0, 0, seconds)
                                 : status;
}

/* ---- comparison ---- */

static double number_at(const argument *a, const unsigned char *bytes, size_t at)
{
    double number;
    float single;
    if (strcmp(a->type, "double") == 0) {
        memcpy(&number, bytes + at * a->bytes, sizeof number);
        return number;
    }
    if (strcmp(a->type, "float") == 0) {
        memcpy(&single, bytes + at * a->bytes, sizeof single);
        return single;
    }
    return 0; /* of other types nothing but equal bytes will do */
}

static double difference(const argument *a, size_t at)
{
    double x = number_at(a, a->expected, at), y = number_at(a, a->found, at);
    double size = fabs(x) > fabs(y) ? fabs(x) : fabs(y);
    return size > 0 && isfinite(size) ? fabs(x - y) / size : INFINITY;
}

static void compare(const run *r)
{
    rs_check_result *result = r->result;
    for (int i = 0; i < r->parameters; i++) {
        const argument *a = &r->arguments[i];
        if (!a->array)
            continue;
        result->elements += a->written ? a->count : 0;
        if (memcmp(a->expected, a->found, a->count * a->bytes) == 0)
            continue;
        for (size_t at = 0; at < a->count; at++) {
            if (memcmp(a->expected + at * a->bytes, a->found + at * a->bytes, a->bytes) == 0)
                continue;
            double off = difference(a, at);
            result->different++;
            result->largest = off > result->largest ? off : result->largest;
            /* A sum in another order may lose a rounding a term. */
            double unit = a->bytes == 8 ? 0x1p-52 : 0x1p-23;
            if (result->array == NULL && !(off <= result->allowed * unit)) {
                result->array = a->name;
                result->first = at;
            }
        }
    }
}

/* ---- a whole check ---- */

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare_doubles);
    return count % 2 != 0 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
}

/* Alternates both forms, so that neither finds a warmer device. */
static restride_status measure(const run *r)
{
    enum { FORMS = 4 };
    int repeat = r->settings->repeat;
    double *seconds = calloc((size_t)repeat * FORMS, sizeof *seconds);
    restride_status status = seconds == NULL ? rs_fail_memory("the times") : RESTRIDE_OK;
    for (int i = 0; i < repeat && status == RESTRIDE_OK; i++) {
        status = run_threads(r, &seconds[i]);
        if (status == RESTRIDE_OK)
            status = run_changed(r, &seconds[repeat + i], &seconds[2 * repeat + i],
                                 &seconds[3 * repeat + i]);
    }
    if (status == RESTRIDE_OK && repeat > 0) {
        r->result->threads = median(seconds, repeat);
        r->result->pack = median(seconds + repeat, repeat);
        r->result->changed = median(seconds + 2 * repeat, repeat);
        r->result->unpack = median(seconds + 3 * repeat, repeat);
    }
    free(seconds);
    return status;
}

static restride_status run_all(run *r)
{
    static const rs_launch one = {{1, 1, 1}, {1, 1, 1}};
    double ignored = 0;
    size_t trips = rs_values_product(&r->result->values, json_object_get(r->nest, "trips"));
    r->result->ran_original = trips <= r->settings->most_trips;
    r->result->allowed = json_is_true(json_object_get(r->nest, "reduction")) ? (double)trips : 0;
    restride_status status = restore(r);
    if (status == RESTRIDE_OK && r->result->ran_original) {
        status = launch(r, kernel_name(r, "original"), &one, 0, 0, &r->result->original);
        if (status == RESTRIDE_OK)
            status = fetch(r, true);
        if (status == RESTRIDE_OK)
            status = run_threads(r, &ignored);
        if (status == RESTRIDE_OK)
            status = fetch(r, false);
        if (status == RESTRIDE_OK)
            compare(r);
    } else if (status == RESTRIDE_OK) {
        status = run_threads(r, &ignored);
        if (status == RESTRIDE_OK)
            status = fetch(r, true);
    }
    if (status == RESTRIDE_OK)
        status = run_changed(r, &ignored, &ignored, &ignored);
    if (status == RESTRIDE_OK)
        status = fetch(r, false);
    if (status == RESTRIDE_OK)
        compare(r);
    return status == RESTRIDE_OK ? measure(r) : status;
}

restride_status rs_check_run(rs_check_device *device, const json_t *nest,
                             const rs_check_settings *settings, rs_check_result *result)
{
    rs_values values = result->values;
    memset(result, 0, sizeof *result);
    result->values = values;
    run *r = calloc(1, sizeof *r);
    if (r == NULL)
        return rs_fail_memory("a check");
    r->device = device;
    r->nest = nest;
    r->settings = settings;
    r->result = result;
    r->random = settings->seed * 0x9e3779b97f4a7c15U + 1;
    restride_status status = read_arguments(r);
    if (status == RESTRIDE_OK)
        status = run_all(r);
    free_arguments(r);
    free(r);
    return status;
}
