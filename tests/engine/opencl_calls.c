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
FAILING(clBuildProgram,
        (cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
         void(CL_CALLBACK *notify)(cl_program, void *), void *context),
        (program, count, devices, options, notify, context))
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

#pragma GCC visibility pop
