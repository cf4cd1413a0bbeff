/* What the core asks of an API, by OpenCL: see core/api.h. */
#include "layer/core/api.h"

#include "engine/opencl/error.h"
#include "layer/opencl/driver.h"

#include <stdlib.h>

const int rs_api_lost = CL_OUT_OF_RESOURCES;
const int rs_api_no_memory = CL_OUT_OF_HOST_MEMORY;
const char rs_api_lost_name[] = "CL_OUT_OF_RESOURCES";

void rs_api_fail(int error, const char *what)
{
    rs_opencl_fail(error, what);
}

/* ---- events ---- */

void rs_api_event_retain(rs_event event)
{
    rs_driver()->clRetainEvent(event);
}

void rs_api_event_release(rs_event event)
{
    rs_driver()->clReleaseEvent(event);
}

int rs_api_event_status(rs_event event)
{
    cl_int status = CL_COMPLETE;
    rs_driver()->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                                NULL);
    return status;
}

int rs_api_event_wait(rs_event event)
{
    cl_event awaited = event;
    return rs_driver()->clWaitForEvents(1, &awaited);
}

typedef struct {
    void (*function)(void *data);
    void *data;
} notification;

static void CL_CALLBACK notify(cl_event event, cl_int status, void *data)
{
    const notification wanted = *(notification *)data;
    (void)event, (void)status;
    free(data);
    wanted.function(wanted.data);
}

void rs_api_event_notify(rs_event event, void (*function)(void *data), void *data)
{
    notification *wanted = malloc(sizeof *wanted);
    if (wanted == NULL)
        return;
    *wanted = (notification){function, data};
    if (rs_driver()->clSetEventCallback(event, CL_COMPLETE, notify, wanted) != CL_SUCCESS)
        free(wanted);
}

bool rs_api_event_times(rs_event first, rs_event last, uint64_t *start, uint64_t *end)
{
    cl_ulong began = 0, ended = 0;
    const bool known =
        rs_driver()->clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_START, sizeof began,
                                             &began, NULL) == CL_SUCCESS &&
        rs_driver()->clGetEventProfilingInfo(last, CL_PROFILING_COMMAND_END, sizeof ended, &ended,
                                             NULL) == CL_SUCCESS &&
        began > 0 && ended >= began; /* 0: the driver has no time */
    *start = began;
    *end = ended;
    return known;
}

/* ---- streams ---- */

int rs_api_stream_open(rs_group group, rs_device device, rs_stream *stream)
{
    cl_int error = CL_SUCCESS;
    *stream = rs_driver()->clCreateCommandQueue(group, device, 0, &error);
    return error;
}

void rs_api_stream_close(rs_stream stream)
{
    rs_driver()->clReleaseCommandQueue(stream); /* flushes it */
}

/* Queues on the device refuse it. */
int rs_api_stream_flush(rs_stream stream)
{
    return rs_driver()->clFlush(stream);
}

void rs_api_stream_finish(rs_stream stream)
{
    rs_driver()->clFinish(stream);
}

int rs_api_stream_mark(rs_stream stream, rs_event *event)
{
    cl_event marker = NULL;
    const cl_int error = rs_driver()->clEnqueueMarkerWithWaitList(stream, 0, NULL, &marker);
    *event = marker;
    return error;
}

/* ---- memory, contexts, devices ---- */

rs_allocation rs_api_memory_create(rs_group group, size_t bytes, rs_allocation like)
{
    const rs_layer_buffer *buffer = rs_layer_buffer_find(like);
    const cl_mem_flags access = buffer != NULL ? buffer->flags & RS_HOST_ACCESS : 0;
    return rs_driver()->clCreateBuffer(group, CL_MEM_READ_WRITE | access, bytes, NULL, NULL);
}

void rs_api_memory_release(rs_allocation memory)
{
    rs_driver()->clReleaseMemObject(memory);
}

int rs_api_memory_read(rs_stream stream, rs_allocation memory, size_t bytes, void *to)
{
    return rs_driver()->clEnqueueReadBuffer(stream, memory, CL_TRUE, 0, bytes, to, 0, NULL, NULL);
}

int rs_api_memory_write(rs_stream stream, rs_allocation memory, size_t bytes, const void *from)
{
    return rs_driver()->clEnqueueWriteBuffer(stream, memory, CL_TRUE, 0, bytes, from, 0, NULL,
                                             NULL);
}

/* Images, and shared virtual memory, have no record; nor have arguments of which the driver does
 * not say what they are. */
bool rs_api_is_confined(const rs_kernel *kernel)
{
    for (size_t i = 0; i < kernel->argument_count; i++) {
        const rs_argument *argument = &kernel->arguments[i];
        cl_kernel_arg_address_qualifier space = 0;
        if (argument->buffer != NULL || (argument->handle == NULL && !argument->is_pointer))
            continue;
        if (rs_driver()->clGetKernelArgInfo(kernel->handle, (cl_uint)i,
                                            CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof space, &space,
                                            NULL) != CL_SUCCESS ||
            space == CL_KERNEL_ARG_ADDRESS_GLOBAL)
            return false;
    }
    return true;
}

bool rs_api_group_retain(rs_group group)
{
    return rs_driver()->clRetainContext(group) == CL_SUCCESS;
}

void rs_api_group_release(rs_group group)
{
    rs_driver()->clReleaseContext(group);
}

char *rs_api_device_name(rs_device device)
{
    size_t size = 0;
    rs_driver()->clGetDeviceInfo(device, CL_DEVICE_NAME, 0, NULL, &size);
    char *name = calloc(size + 1, 1);
    if (name == NULL ||
        rs_driver()->clGetDeviceInfo(device, CL_DEVICE_NAME, size, name, NULL) == CL_SUCCESS)
        return name;
    free(name);
    return NULL;
}

bool rs_api_device_is_cpu(rs_device device)
{
    cl_device_type type = 0;
    rs_driver()->clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    return (type & CL_DEVICE_TYPE_CPU) != 0;
}
