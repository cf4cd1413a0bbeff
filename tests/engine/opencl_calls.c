/* See opencl_calls.h. */
#include "opencl_calls.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

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

bool opencl_calls_open(void)
{
    loader = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_GLOBAL);
    return loader != NULL;
}

void opencl_calls_fail_at(size_t number, const char *function, cl_int code)
{
    calls = 0;
    failing = number;
    only = function;
    failure = code;
    has_failed = NULL;
}

size_t opencl_calls_count(void)
{
    return calls;
}

const char *opencl_calls_failed(void)
{
    return has_failed;
}

long opencl_calls_alive(void)
{
    return alive;
}

/* ---- programs that are kept ---- */

/* A driver takes long to build, even what it has in its cache. A program that was released is the
 * next one of the same source; with the same options it is built already. */
typedef struct {
    cl_program program;
    cl_context context;
    char *source, *options; /* NULL: not built */
    bool is_used;
} kept_program;

enum { MOST_KEPT = 256 };
static kept_program kept_programs[MOST_KEPT];
static size_t kept_count;

static kept_program *find_program(cl_program program)
{
    for (size_t i = 0; i < kept_count; i++)
        if (kept_programs[i].program == program)
            return &kept_programs[i];
    return NULL;
}

static kept_program *find_free(cl_context context, const char *source)
{
    for (size_t i = 0; i < kept_count; i++)
        if (!kept_programs[i].is_used && kept_programs[i].context == context &&
            strcmp(kept_programs[i].source, source) == 0)
            return &kept_programs[i];
    return NULL;
}

static char *join(cl_uint count, const char **texts, const size_t *lengths)
{
    char *joined = NULL;
    size_t size = 0;
    for (cl_uint i = 0; i < count; i++) {
        const size_t length = lengths != NULL && lengths[i] != 0 ? lengths[i] : strlen(texts[i]);
        char *longer = realloc(joined, size + length + 1);
        if (longer == NULL)
            abort();
        joined = longer;
        memcpy(joined + size, texts[i], length);
        size += length;
        joined[size] = 0;
    }
    return joined;
}

#pragma GCC visibility push(default)

/* The function of that name behind this one, as a value of its own type. */
#define REAL(name) (*(__typeof__(name) **)(void *[]){real(#name)})

/* NOLINTBEGIN(bugprone-macro-parentheses): `arguments` is a list in its parentheses */
#define FAILING(name, parameters, arguments)                                                       \
    cl_int name parameters                                                                         \
    {                                                                                              \
        return fails(#name) ? failure : REAL(name) arguments;                                      \
    }
#define ENQUEUING(name, parameters, arguments)                                                     \
    cl_int name parameters                                                                         \
    {                                                                                              \
        if (fails(#name))                                                                          \
            return failure;                                                                        \
        cl_int code = REAL(name) arguments;                                                        \
        alive += code == CL_SUCCESS && event != NULL;                                              \
        return code;                                                                               \
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
cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id *devices,
                      const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                      void *context)
{
    if (fails("clBuildProgram"))
        return failure;
    kept_program *kept = find_program(program);
    if (kept != NULL && kept->options != NULL && strcmp(kept->options, options) == 0)
        return CL_SUCCESS;
    const cl_int code = REAL(clBuildProgram)(program, count, devices, options, notify, context);
    if (kept != NULL) {
        free(kept->options);
        kept->options = code == CL_SUCCESS ? strdup(options) : NULL;
    }
    return code;
}

FAILING(clSetKernelArg, (cl_kernel kernel, cl_uint index, size_t size, const void *value),
        (kernel, index, size, value))
FAILING(clWaitForEvents, (cl_uint count, const cl_event *events), (count, events))
FAILING(clFinish, (cl_command_queue queue), (queue))
FAILING(clFlush, (cl_command_queue queue), (queue))

#define COMMAND_PARAMETERS cl_uint count, const cl_event *list, cl_event *event
#define RECT_PARAMETERS                                                                            \
    cl_command_queue queue, cl_mem buffer, cl_bool wait, const size_t *there, const size_t *here,  \
        const size_t *region, size_t row_pitch, size_t slice_pitch, size_t host_row_pitch,         \
        size_t host_slice_pitch
#define RECT_ARGUMENTS                                                                             \
    queue, buffer, wait, there, here, region, row_pitch, slice_pitch, host_row_pitch,              \
        host_slice_pitch

ENQUEUING(clEnqueueReadBuffer,
          (cl_command_queue queue, cl_mem buffer, cl_bool wait, size_t offset, size_t size,
           void *target, COMMAND_PARAMETERS),
          (queue, buffer, wait, offset, size, target, count, list, event))
ENQUEUING(clEnqueueWriteBuffer,
          (cl_command_queue queue, cl_mem buffer, cl_bool wait, size_t offset, size_t size,
           const void *source, COMMAND_PARAMETERS),
          (queue, buffer, wait, offset, size, source, count, list, event))
ENQUEUING(clEnqueueReadBufferRect, (RECT_PARAMETERS, void *target, COMMAND_PARAMETERS),
          (RECT_ARGUMENTS, target, count, list, event))
ENQUEUING(clEnqueueWriteBufferRect, (RECT_PARAMETERS, const void *source, COMMAND_PARAMETERS),
          (RECT_ARGUMENTS, source, count, list, event))
ENQUEUING(clEnqueueNDRangeKernel,
          (cl_command_queue queue, cl_kernel kernel, cl_uint rank, const size_t *offset,
           const size_t *global, const size_t *local, COMMAND_PARAMETERS),
          (queue, kernel, rank, offset, global, local, count, list, event))
ENQUEUING(clEnqueueCopyBuffer,
          (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset,
           size_t size, COMMAND_PARAMETERS),
          (queue, from, to, from_offset, to_offset, size, count, list, event))

CREATING(cl_mem, clCreateBuffer,
         (cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *code),
         (context, flags, size, host, code))

cl_program clCreateProgramWithSource(cl_context context, cl_uint count, const char **texts,
                                     const size_t *lengths, cl_int *code)
{
    if (fails("clCreateProgramWithSource")) {
        *code = failure;
        return NULL;
    }
    char *source = join(count, texts, lengths);
    kept_program *kept = find_free(context, source);
    if (kept == NULL && kept_count == MOST_KEPT)
        abort();
    if (kept == NULL) {
        cl_program made = REAL(clCreateProgramWithSource)(context, count, texts, lengths, code);
        if (made != NULL) {
            kept = &kept_programs[kept_count++];
            *kept = (kept_program){.program = made, .context = context, .source = strdup(source)};
        }
    }
    free(source);
    if (kept == NULL)
        return NULL;
    alive++;
    kept->is_used = true;
    *code = REAL(clRetainProgram)(kept->program);
    return kept->program;
}

cl_int clReleaseProgram(cl_program program)
{
    kept_program *kept = find_program(program);
    alive--;
    if (kept != NULL)
        kept->is_used = false;
    return REAL(clReleaseProgram)(program);
}

CREATING(cl_kernel, clCreateKernel, (cl_program program, const char *name, cl_int *code),
         (program, name, code))
RELEASING(clReleaseMemObject, cl_mem)
RELEASING(clReleaseKernel, cl_kernel)
RELEASING(clReleaseEvent, cl_event)

#pragma GCC visibility pop
