/* Calls that fail, and commands that fail while they run, as the program's made_up_fault says. */
#include "made_up_gpu.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

extern const char *_Atomic made_up_fault __attribute__((weak));

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

bool fails(const char *kind)
{
    static size_t calls;
    const char *fault = &made_up_fault != NULL ? made_up_fault : NULL;
    char named[16];
    size_t first, last;
    bool found = false;
    pthread_mutex_lock(&mutex);
    if (fault == NULL)
        calls = 0;
    else if (sscanf(fault, "%15s %zu %zu", named, &first, &last) == 3 && strcmp(named, kind) == 0)
        found = ++calls >= first && calls <= last;
    pthread_mutex_unlock(&mutex);
    return found;
}

static cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t size,
                                        void *host, cl_int *error)
{
    if (!fails("buffer"))
        return below->clCreateBuffer(context, flags, size, host, error);
    if (error != NULL)
        *error = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return NULL;
}

static cl_int CL_API_CALL migrate(cl_command_queue queue, cl_uint count, const cl_mem *handles,
                                  cl_mem_migration_flags flags, cl_uint wait_count,
                                  const cl_event *wait_list, cl_event *event)
{
    return fails("migrate") ? CL_MEM_OBJECT_ALLOCATION_FAILURE
                            : below->clEnqueueMigrateMemObjects(queue, count, handles, flags,
                                                                wait_count, wait_list, event);
}

static cl_int CL_API_CALL set_argument(cl_kernel kernel, cl_uint index, size_t size,
                                       const void *value)
{
    return fails("argument") ? CL_OUT_OF_RESOURCES
                             : below->clSetKernelArg(kernel, index, size, value);
}

static cl_int CL_API_CALL enqueue_marker(cl_command_queue queue, cl_uint wait_count,
                                         const cl_event *wait_list, cl_event *event)
{
    return fails("marker")
               ? CL_OUT_OF_RESOURCES
               : below->clEnqueueMarkerWithWaitList(queue, wait_count, wait_list, event);
}

static cl_int CL_API_CALL enqueue_barrier(cl_command_queue queue, cl_uint wait_count,
                                          const cl_event *wait_list, cl_event *event)
{
    return fails("barrier")
               ? CL_OUT_OF_RESOURCES
               : below->clEnqueueBarrierWithWaitList(queue, wait_count, wait_list, event);
}

/* ---- commands that fail while they run ---- */

enum { MOST_FAILED = 256 };

static struct {
    cl_event events[MOST_FAILED]; /* held for good, so that none becomes another's handle */
    cl_int statuses[MOST_FAILED];
    int count;
} failed;

static void note_failure(cl_event event, cl_int status)
{
    pthread_mutex_lock(&mutex);
    if (failed.count < MOST_FAILED) {
        below->clRetainEvent(event);
        failed.events[failed.count] = event;
        failed.statuses[failed.count++] = status;
    }
    pthread_mutex_unlock(&mutex);
}

/* CL_COMPLETE when the event is none of a command that fails. */
static cl_int status_of(cl_event event)
{
    cl_int status = CL_COMPLETE;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < failed.count; i++)
        if (failed.events[i] == event)
            status = failed.statuses[i];
    pthread_mutex_unlock(&mutex);
    return status;
}

static bool has_failure(cl_uint count, const cl_event *events)
{
    for (cl_uint i = 0; events != NULL && i < count; i++)
        if (status_of(events[i]) < 0)
            return true;
    return false;
}

cl_int pass_on(cl_int error, cl_uint wait_count, const cl_event *wait_list, const cl_event *event)
{
    if (error == CL_SUCCESS && event != NULL && has_failure(wait_count, wait_list))
        note_failure(*event, CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    return error;
}

static cl_int CL_API_CALL read_all(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                   size_t offset, size_t size, void *data, cl_uint wait_count,
                                   const cl_event *wait_list, cl_event *event)
{
    return pass_on(below->clEnqueueReadBuffer(queue, buffer, blocking, offset, size, data,
                                              wait_count, wait_list, event),
                   wait_count, wait_list, event);
}

static cl_int CL_API_CALL copy_all(cl_command_queue queue, cl_mem from, cl_mem to,
                                   size_t from_offset, size_t to_offset, size_t size,
                                   cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    return pass_on(below->clEnqueueCopyBuffer(queue, from, to, from_offset, to_offset, size,
                                              wait_count, wait_list, event),
                   wait_count, wait_list, event);
}

static cl_int CL_API_CALL wait_for_events(cl_uint count, const cl_event *events)
{
    cl_int error = below->clWaitForEvents(count, events);
    return error == CL_SUCCESS && has_failure(count, events)
               ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST
               : error;
}

static cl_int CL_API_CALL get_event_info(cl_event event, cl_event_info name, size_t value_size,
                                         void *value, size_t *value_size_ret)
{
    cl_int error = below->clGetEventInfo(event, name, value_size, value, value_size_ret);
    if (error == CL_SUCCESS && name == CL_EVENT_COMMAND_EXECUTION_STATUS && value != NULL &&
        *(cl_int *)value == CL_COMPLETE)
        *(cl_int *)value = status_of(event);
    return error;
}

cl_int enqueue_failure(cl_command_queue queue, cl_uint wait_count, const cl_event *wait_list,
                       cl_event *event)
{
    cl_int error = below->clEnqueueMarkerWithWaitList(queue, wait_count, wait_list, event);
    if (error == CL_SUCCESS)
        note_failure(*event, CL_OUT_OF_RESOURCES);
    return error;
}

void add_faults(cl_icd_dispatch *table)
{
    table->clCreateBuffer = create_buffer;
    table->clSetKernelArg = set_argument;
    table->clEnqueueMigrateMemObjects = migrate;
    table->clEnqueueMarkerWithWaitList = enqueue_marker;
    table->clEnqueueBarrierWithWaitList = enqueue_barrier;
    table->clEnqueueReadBuffer = read_all;
    table->clEnqueueCopyBuffer = copy_all;
    table->clWaitForEvents = wait_for_events;
    table->clGetEventInfo = get_event_info;
}
