/* The device's side of restride-lab check. */
#include "lab/cli/check_run.h"
#include "base/json.h"

#include "base/arithmetic.h"
#include "engine/opencl/error.h"
#include "lab/cli/check_train.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENT_LIMIT = 64 };

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
    const json_t *array = rs_json_named(json_object_get(r->nest, "arrays"), name);
    return array != NULL && strcmp(rs_json_string_of(array, "memory"), "texture") == 0;
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

static const char *kernel_name(const run *r, const char *role)
{
    return json_string_value(json_object_get(json_object_get(r->nest, "kernels"), role));
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

/* ---- forms ---- */

/* What is timed by itself. `FORM_AGAIN` is the nest with threads a second time: by what its times
 * differ is noise. */
typedef enum { FORM_THREADS, FORM_PACK, FORM_CHANGED, FORM_UNPACK, FORM_AGAIN, FORMS } form_kind;

typedef struct {
    rs_train_kernel kernels[ARGUMENT_LIMIT];
    int count;
} form;

/* With the copies from `first` to before `last`. */
static restride_status add_kernel(const run *r, form *f, const char *name, const rs_launch *shape,
                                  int first, int last)
{
    cl_int code;
    cl_kernel kernel = r->device->api->clCreateKernel(r->device->program, name, &code);
    if (kernel != NULL)
        f->kernels[f->count++] = (rs_train_kernel){name, kernel, *shape};
    if (code == CL_SUCCESS)
        code = set_arguments(r, kernel, first, last, name == kernel_name(r, "changed"));
    return code == CL_SUCCESS ? RESTRIDE_OK : rs_opencl_fail(code, name);
}

static restride_status add_copies(const run *r, form *f, const char *direction)
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
            status = add_kernel(r, f, kernel, &shape, (int)i, (int)i + 1);
    }
    return status;
}

static restride_status make_form(const run *r, form_kind kind, form *f)
{
    bool changed = kind == FORM_CHANGED;
    if (kind == FORM_PACK || kind == FORM_UNPACK)
        return add_copies(r, f, kind == FORM_PACK ? "pack" : "unpack");
    const rs_launch shape = rs_launch_of(&r->result->values, r->nest, changed, r->settings->width);
    return add_kernel(r, f, kernel_name(r, changed ? "changed" : "threads"), &shape, 0,
                      changed ? r->count : 0);
}

static restride_status make_forms(const run *r, form forms[FORMS])
{
    restride_status status = RESTRIDE_OK;
    for (form_kind kind = 0; kind < FORMS && status == RESTRIDE_OK; kind++)
        status = make_form(r, kind, &forms[kind]);
    return status;
}

static void free_form(const run *r, form *f)
{
    for (int i = 0; i < f->count; i++)
        r->device->api->clReleaseKernel(f->kernels[i].kernel);
}

/* The forms from `first` to `last`, each once, with the arrays as they were before. */
static restride_status run_forms(const run *r, const form forms[FORMS], form_kind first,
                                 form_kind last)
{
    restride_status status = restore(r);
    for (form_kind kind = first; kind <= last && status == RESTRIDE_OK; kind++)
        status = rs_train_enqueue(&r->device->track, forms[kind].kernels, forms[kind].count, NULL);
    return status;
}

static restride_status run_original(const run *r)
{
    static const rs_launch one = {{1, 1, 1}, {1, 1, 1}};
    form f = {.count = 0};
    restride_status status = restore(r);
    if (status == RESTRIDE_OK)
        status = add_kernel(r, &f, kernel_name(r, "original"), &one, 0, 0);
    if (status == RESTRIDE_OK)
        status = rs_train_run(&r->device->track, f.kernels, f.count, 1, &r->result->original);
    free_form(r, &f);
    return status;
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

/* How often each form is launched in a train. A nest runs on what it left, which may not be
 * subscripts any more. */
static restride_status count_launches(const run *r, const form forms[FORMS], int launches[FORMS])
{
    bool random = json_is_true(json_object_get(r->nest, "random"));
    restride_status status = restore(r);
    for (int kind = 0; kind < FORMS && status == RESTRIDE_OK; kind++) {
        double seconds = 0;
        launches[kind] = 1;
        if (random)
            continue;
        status =
            rs_train_run(&r->device->track, forms[kind].kernels, forms[kind].count, 1, &seconds);
        launches[kind] = rs_train_launches(seconds);
    }
    return status;
}

static restride_status time_form(const run *r, const form *f, int launches, double *seconds)
{
    restride_status status = restore(r);
    return status == RESTRIDE_OK
               ? rs_train_run(&r->device->track, f->kernels, f->count, launches, seconds)
               : status;
}

/* Alternates the forms, so that none finds a warmer device. */
static restride_status measure(const run *r, const form forms[FORMS])
{
    const size_t repeat = (size_t)r->settings->repeat;
    int launches[FORMS];
    double *const medians[FORMS] = {[FORM_THREADS] = &r->result->threads,
                                    [FORM_PACK] = &r->result->pack,
                                    [FORM_CHANGED] = &r->result->changed,
                                    [FORM_UNPACK] = &r->result->unpack,
                                    [FORM_AGAIN] = &r->result->again};
    if (repeat == 0)
        return RESTRIDE_OK;
    double *seconds = calloc(repeat * FORMS, sizeof *seconds);
    restride_status status =
        seconds == NULL ? rs_fail_memory("the times") : count_launches(r, forms, launches);
    for (size_t i = 0; i < repeat && status == RESTRIDE_OK; i++)
        for (form_kind kind = 0; kind < FORMS && status == RESTRIDE_OK; kind++)
            status = time_form(r, &forms[kind], launches[kind], &seconds[kind * repeat + i]);
    for (form_kind kind = 0; kind < FORMS && status == RESTRIDE_OK; kind++)
        *medians[kind] = rs_train_median(seconds + kind * repeat, (int)repeat);
    if (status == RESTRIDE_OK)
        r->result->launches = launches[FORM_THREADS];
    free(seconds);
    return status;
}

/* What the form left, as what is expected or beside it. */
static restride_status look(const run *r, bool expected)
{
    restride_status status = fetch(r, expected);
    if (status == RESTRIDE_OK && !expected)
        compare(r);
    return status;
}

static restride_status run_all(run *r, const form forms[FORMS])
{
    size_t trips = rs_values_product(&r->result->values, json_object_get(r->nest, "trips"));
    r->result->ran_original = trips <= r->settings->most_trips;
    r->result->allowed = json_is_true(json_object_get(r->nest, "reduction")) ? (double)trips : 0;
    restride_status status = RESTRIDE_OK;
    if (r->result->ran_original) {
        status = run_original(r);
        if (status == RESTRIDE_OK)
            status = look(r, true);
    }
    if (status == RESTRIDE_OK)
        status = run_forms(r, forms, FORM_THREADS, FORM_THREADS);
    if (status == RESTRIDE_OK)
        status = look(r, !r->result->ran_original);
    if (status == RESTRIDE_OK)
        status = run_forms(r, forms, FORM_PACK, FORM_UNPACK);
    if (status == RESTRIDE_OK)
        status = look(r, false);
    return status == RESTRIDE_OK ? measure(r, forms) : status;
}

static restride_status make_and_run(run *r)
{
    form *forms = calloc(FORMS, sizeof *forms);
    restride_status status = forms == NULL ? rs_fail_memory("the kernels") : make_forms(r, forms);
    if (status == RESTRIDE_OK)
        status = run_all(r, forms);
    for (int i = 0; forms != NULL && i < FORMS; i++)
        free_form(r, &forms[i]);
    free(forms);
    return status;
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
        status = make_and_run(r);
    free_arguments(r);
    free(r);
    return status;
}
