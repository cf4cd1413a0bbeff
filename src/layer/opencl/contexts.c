/*
 * Contexts and queues: whose references the layer counts, which queues run out of order, and
 * profiling that the report needs and the program did not ask for (hidden from it).
 */
#include "layer/core/coherence.h"
#include "layer/core/device_layouts.h"
#include "layer/core/report.h"
#include "layer/core/restore.h"
#include "layer/core/timing.h"
#include "layer/opencl/profiled_launch.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

rs_context *rs_context_of(cl_context handle)
{
    rs_context *context = rs_context_find(rs_the_layer(), handle);
    if (context != NULL || handle == NULL)
        return context;
    context = calloc(1, sizeof *context);
    if (context == NULL || !rs_map_set(&rs_the_layer()->contexts, handle, context)) {
        free(context);
        return NULL;
    }
    context->layer = rs_the_layer();
    context->handle = handle;
    context->references = 1;
    return context;
}

void rs_context_trim(rs_context *context)
{
    if (context->references > 0 || context->buffer_count > 0)
        return;
    rs_map_remove(&rs_the_layer()->contexts, context->handle);
    rs_device_layouts_free(context);
    free(context);
}

cl_context rs_new_context(cl_context handle)
{
    if (handle == NULL)
        return NULL;
    rs_layer_lock(rs_the_layer());
    rs_context_of(handle); /* without a record its buffers are simply never converted */
    rs_layer_unlock(rs_the_layer());
    return handle;
}

static cl_context CL_API_CALL create_context(const cl_context_properties *properties,
                                             cl_uint device_count, const cl_device_id *devices,
                                             void(CL_CALLBACK *notify)(const char *, const void *,
                                                                       size_t, void *),
                                             void *data, cl_int *error)
{
    return rs_new_context(
        rs_driver()->clCreateContext(properties, device_count, devices, notify, data, error));
}

static cl_context CL_API_CALL
create_context_from_type(const cl_context_properties *properties, cl_device_type type,
                         void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
                         void *data, cl_int *error)
{
    return rs_new_context(
        rs_driver()->clCreateContextFromType(properties, type, notify, data, error));
}

static cl_int CL_API_CALL retain_context(cl_context handle)
{
    cl_int error = rs_driver()->clRetainContext(handle);
    rs_layer_lock(rs_the_layer());
    rs_context *context = rs_context_find(rs_the_layer(), handle);
    if (context != NULL && error == CL_SUCCESS)
        context->references++;
    rs_layer_unlock(rs_the_layer());
    return error;
}

/* Queues, programs and memory of the layer's own hold the context, too: the program sees what it
 * holds itself. */
static cl_int CL_API_CALL get_context_info(cl_context handle, cl_context_info name,
                                           size_t value_size, void *value, size_t *value_size_ret)
{
    cl_int error = rs_driver()->clGetContextInfo(handle, name, value_size, value, value_size_ret);
    if (error != CL_SUCCESS || value == NULL || name != CL_CONTEXT_REFERENCE_COUNT)
        return error;
    rs_layer_lock(rs_the_layer());
    const rs_context *context = rs_context_find(rs_the_layer(), handle);
    if (context != NULL && context->references > 0)
        *(cl_uint *)value = context->references;
    rs_layer_unlock(rs_the_layer());
    return error;
}

static cl_int CL_API_CALL release_context(cl_context handle)
{
    rs_layer_lock(rs_the_layer());
    rs_timing_collect(rs_the_layer());
    rs_profiled_events_trim();
    rs_layer_is_held(rs_the_layer());
    rs_context *context = rs_context_find(rs_the_layer(), handle);
    if (context != NULL && context->references > 0 && --context->references == 0)
        rs_context_trim(context);
    rs_layer_unlock(rs_the_layer());
    return rs_driver()->clReleaseContext(handle);
}

static rs_layer_queue *find_queue(cl_command_queue handle) RS_LOCKED
{
    return (rs_layer_queue *)rs_queue_find(rs_the_layer(), handle);
}

/* The record of a new queue; false when memory is short. */
static bool add_queue(cl_command_queue handle, cl_context context, cl_device_id device,
                      const cl_queue_properties *list, cl_command_queue_properties wanted,
                      cl_command_queue_properties given) RS_LOCKED
{
    rs_layer_queue *queue = calloc(1, sizeof *queue);
    if (queue == NULL || !rs_map_set(&rs_the_layer()->queues, handle, queue)) {
        free(queue);
        return false;
    }
    rs_map_remove(&rs_opencl.released, handle);
    queue->core = (rs_queue){.layer = rs_the_layer(),
                             .handle = handle,
                             .context = context,
                             .device = device,
                             .out_of_order = (given & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0,
                             .profiling = (given & CL_QUEUE_PROFILING_ENABLE) != 0};
    queue->references = 1;
    queue->properties = wanted;
    queue->profiling_added = given != wanted;
    if (list != NULL) {
        size_t count = 1;
        while (list[count - 1] != 0)
            count += 2;
        queue->list = malloc(count * sizeof *list);
        if (queue->list != NULL) {
            memcpy(queue->list, list, count * sizeof *list);
            queue->list_bytes = count * sizeof *list;
        }
    }
    rs_report_device(rs_the_layer(), device);
    return true;
}

/* Without a record the commands of a queue could not be followed, so nothing may be converted from
 * then on. */
static cl_command_queue keep_queue(cl_command_queue handle, cl_context context, cl_device_id device,
                                   const cl_queue_properties *list,
                                   cl_command_queue_properties wanted,
                                   cl_command_queue_properties given)
{
    if (handle == NULL)
        return NULL;
    rs_layer_lock(rs_the_layer());
    const bool is_followed = rs_queue_find(rs_the_layer(), handle) != NULL ||
                             add_queue(handle, context, device, list, wanted, given);
    rs_layer_unlock(rs_the_layer());
    if (!is_followed)
        rs_layer_freeze(rs_the_layer(), "there was not enough memory to follow a command queue");
    return handle;
}

/* By an extension's function: it is asked about itself. */
void rs_queue_follow(rs_layer *layer, rs_stream handle)
{
    cl_context context;
    cl_device_id device;
    cl_command_queue_properties properties;
    (void)layer;
    if (rs_driver()->clGetCommandQueueInfo(handle, CL_QUEUE_CONTEXT, sizeof context,
                                           (void *)&context, NULL) == CL_SUCCESS &&
        rs_driver()->clGetCommandQueueInfo(handle, CL_QUEUE_DEVICE, sizeof device, (void *)&device,
                                           NULL) == CL_SUCCESS &&
        rs_driver()->clGetCommandQueueInfo(handle, CL_QUEUE_PROPERTIES, sizeof properties,
                                           &properties, NULL) == CL_SUCCESS)
        keep_queue(handle, context, device, NULL, properties, properties);
}

static cl_command_queue CL_API_CALL create_queue(cl_context context, cl_device_id device,
                                                 cl_command_queue_properties properties,
                                                 cl_int *error)
{
    cl_command_queue_properties given =
        properties | (rs_report_times(rs_the_layer()) ? CL_QUEUE_PROFILING_ENABLE : 0);
    cl_command_queue handle = rs_driver()->clCreateCommandQueue(context, device, given, error);
    return keep_queue(handle, context, device, NULL, properties, given);
}

enum { QUEUE_LIST_LIMIT = 32 };

static cl_command_queue CL_API_CALL create_queue_with_properties(cl_context context,
                                                                 cl_device_id device,
                                                                 const cl_queue_properties *list,
                                                                 cl_int *error)
{
    cl_queue_properties extended[QUEUE_LIST_LIMIT + 3];
    size_t count = 0;
    cl_command_queue_properties wanted = 0;
    size_t flags_at = QUEUE_LIST_LIMIT;
    bool fits = true;
    for (; list != NULL && list[count] != 0 && fits; count += 2) {
        fits = count + 2 <= QUEUE_LIST_LIMIT;
        if (!fits)
            break;
        extended[count] = list[count];
        extended[count + 1] = list[count + 1];
        if (list[count] == CL_QUEUE_PROPERTIES) {
            wanted = list[count + 1];
            flags_at = count + 1;
        }
    }
    cl_command_queue_properties given = wanted;
    /* A queue on the device has no profiling events of ours; one with an odd list is left alone. */
    if (fits && rs_report_times(rs_the_layer()) && (wanted & CL_QUEUE_ON_DEVICE) == 0) {
        given |= CL_QUEUE_PROFILING_ENABLE;
        if (flags_at == QUEUE_LIST_LIMIT) {
            extended[count++] = CL_QUEUE_PROPERTIES;
            flags_at = count++;
        }
        extended[flags_at] = given;
        extended[count] = 0;
    }
    /* The program's own list decides: a driver may take the other alone, or refuse that alone. */
    cl_command_queue handle =
        rs_driver()->clCreateCommandQueueWithProperties(context, device, list, error);
    cl_command_queue profiled = NULL;
    if (handle != NULL && given != wanted) {
        cl_int ignored;
        profiled =
            rs_driver()->clCreateCommandQueueWithProperties(context, device, extended, &ignored);
    }
    if (profiled != NULL) {
        rs_driver()->clReleaseCommandQueue(handle);
        handle = profiled;
    } else {
        given = wanted;
    }
    return keep_queue(handle, context, device, list, wanted, given);
}

static cl_int CL_API_CALL retain_queue(cl_command_queue handle)
{
    cl_int error = rs_driver()->clRetainCommandQueue(handle);
    rs_layer_lock(rs_the_layer());
    rs_layer_queue *queue = find_queue(handle);
    if (queue != NULL && error == CL_SUCCESS)
        queue->references++;
    rs_layer_unlock(rs_the_layer());
    return error;
}

static cl_int CL_API_CALL release_queue(cl_command_queue handle)
{
    rs_layer_lock(rs_the_layer());
    rs_layer_queue *queue = find_queue(handle);
    if (queue != NULL && --queue->references == 0) {
        rs_queue_retire(&queue->core);
        rs_profiling_queue_close(queue);
        /* Without memory for it, the times that the program did not ask for are seen: harmless. */
        if (queue->profiling_added)
            rs_map_set(&rs_opencl.released, handle, &rs_opencl.released);
        rs_map_remove(&rs_the_layer()->queues, handle);
        free(queue->list);
        free(queue);
    }
    rs_timing_collect(rs_the_layer());
    rs_profiled_events_trim();
    rs_layer_unlock(rs_the_layer());
    return rs_driver()->clReleaseCommandQueue(handle);
}

static cl_int answer(const void *bytes, size_t size, size_t value_size, void *value,
                     size_t *value_size_ret)
{
    if (value != NULL && value_size < size)
        return CL_INVALID_VALUE;
    if (value != NULL && size > 0)
        memcpy(value, bytes, size);
    if (value_size_ret != NULL)
        *value_size_ret = size;
    return CL_SUCCESS;
}

#ifndef CL_QUEUE_PROPERTIES_ARRAY
#define CL_QUEUE_PROPERTIES_ARRAY 0x1098
#endif

static cl_int CL_API_CALL get_queue_info(cl_command_queue handle, cl_command_queue_info name,
                                         size_t value_size, void *value, size_t *value_size_ret)
{
    rs_layer_lock(rs_the_layer());
    rs_layer_queue *queue = find_queue(handle);
    cl_int error;
    if (queue != NULL && queue->profiling_added && name == CL_QUEUE_PROPERTIES)
        error =
            answer(&queue->properties, sizeof queue->properties, value_size, value, value_size_ret);
    else if (queue != NULL && queue->profiling_added && name == CL_QUEUE_PROPERTIES_ARRAY)
        error = answer(queue->list, queue->list_bytes, value_size, value, value_size_ret);
    else
        error = rs_driver()->clGetCommandQueueInfo(handle, name, value_size, value, value_size_ret);
    if (queue != NULL && error == CL_SUCCESS && value != NULL && name == CL_QUEUE_REFERENCE_COUNT)
        *(cl_uint *)value = queue->references; /* events of the layer's hold it, too */
    rs_layer_unlock(rs_the_layer());
    return error;
}

static cl_int CL_API_CALL get_profiling_info(cl_event event, cl_profiling_info name,
                                             size_t value_size, void *value, size_t *value_size_ret)
{
    cl_command_queue handle = NULL;
    rs_driver()->clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof handle, (void *)&handle,
                                NULL);
    rs_layer_lock(rs_the_layer());
    rs_layer_queue *queue = find_queue(handle);
    bool hidden = (queue != NULL && queue->profiling_added) ||
                  rs_map_get(&rs_opencl.released, handle) != NULL;
    rs_layer_unlock(rs_the_layer());
    if (hidden)
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    return rs_driver()->clGetEventProfilingInfo(event, name, value_size, value, value_size_ret);
}

/* The layer holds a reference to events whose times it still waits for, and some stand for others:
 * the program must not see it. */
static cl_int CL_API_CALL get_event_info(cl_event event, cl_event_info name, size_t value_size,
                                         void *value, size_t *value_size_ret)
{
    cl_int error = rs_driver()->clGetEventInfo(event, name, value_size, value, value_size_ret);
    if (error != CL_SUCCESS || value == NULL ||
        (name != CL_EVENT_REFERENCE_COUNT && name != CL_EVENT_COMMAND_TYPE))
        return error;
    rs_layer_lock(rs_the_layer());
    if (name == CL_EVENT_REFERENCE_COUNT && rs_timing_holds(rs_the_layer(), event))
        --*(cl_uint *)value;
    rs_profiled_event_correct(event, name, value);
    rs_layer_unlock(rs_the_layer());
    return error;
}

/*
 * A command that waits for a user event can be abandoned, or held back for as long as the program
 * likes; a conversion in front of it would be too, and other queues' conversions would wait for it.
 * So all is in AoS while there is a user event without a status, and until what it has held back is
 * over: NVIDIA's driver hands that to the device in a thread of its own, and crashes when
 * conversions come meanwhile (lab/docs/correctness.md). After a command was abandoned, nothing is
 * converted any more. An event that is released without a status never gets one: what waits for it
 * does so for good, and where nothing does, all goes on.
 */
static void follow(cl_event event, uintptr_t references)
{
    rs_map *events = &rs_opencl.user_events;
    if (references == 0)
        rs_map_remove(events, event);
    else
        rs_map_set(events, event, (void *)references); /* NOLINT: a number */
    rs_the_layer()->holds = events->count;
    atomic_store(&rs_opencl.has_user_events, events->count > 0);
}

/* The program's references to an event that it may set; 0: it is none, or has its status. */
static uintptr_t references_to(cl_event event)
{
    return (uintptr_t)rs_map_get(&rs_opencl.user_events, event);
}

static cl_event CL_API_CALL create_user_event(cl_context context, cl_int *error)
{
    cl_event event = rs_driver()->clCreateUserEvent(context, error);
    if (event == NULL)
        return NULL;
    rs_layer_lock(rs_the_layer());
    follow(event, 1);
    bool followed = references_to(event) > 0;
    rs_layer_unlock(rs_the_layer());
    if (followed)
        rs_layer_restore(rs_the_layer());
    else
        rs_layer_freeze(rs_the_layer(), "there was not enough memory to follow a user event");
    return event;
}

/* Before the event has its status, or nobody any more who could give it one: what it has held back
 * is still under way after it. */
static void follow_held(cl_event event) RS_LOCKED
{
    if (rs_opencl.user_events.count == 1 && references_to(event) > 0)
        rs_layer_follow_held(rs_the_layer());
}

static cl_int CL_API_CALL set_user_event_status(cl_event event, cl_int status)
{
    rs_layer_lock(rs_the_layer());
    if (status == CL_COMPLETE)
        follow_held(event);
    rs_layer_unlock(rs_the_layer());
    cl_int error = rs_driver()->clSetUserEventStatus(event, status);
    rs_layer_lock(rs_the_layer());
    if (error == CL_SUCCESS && status < 0 && rs_the_layer()->frozen == NULL)
        rs_the_layer()->frozen = "the program abandoned commands by a user event";
    if (error == CL_SUCCESS)
        follow(event, 0);
    rs_layer_unlock(rs_the_layer());
    return error;
}

/* Other events are none of the layer's business, and released where it must not be waited for: in
 * callbacks. */
static cl_int CL_API_CALL retain_event(cl_event event)
{
    const cl_int error = rs_driver()->clRetainEvent(event);
    if (error != CL_SUCCESS || !atomic_load(&rs_opencl.has_user_events))
        return error;
    rs_layer_lock(rs_the_layer());
    const uintptr_t references = references_to(event);
    if (references > 0)
        follow(event, references + 1);
    rs_layer_unlock(rs_the_layer());
    return error;
}

static cl_int CL_API_CALL release_event(cl_event event)
{
    if (atomic_load(&rs_opencl.has_user_events)) {
        rs_layer_lock(rs_the_layer());
        const uintptr_t references = references_to(event);
        if (references == 1)
            follow_held(event);
        if (references > 0)
            follow(event, references - 1);
        rs_layer_unlock(rs_the_layer());
    }
    return rs_driver()->clReleaseEvent(event);
}

/* After a wait of the program. */
static void collect_times(cl_int error)
{
    if (error != CL_SUCCESS)
        rs_layer_look_for_failures(rs_the_layer());
    rs_layer_lock(rs_the_layer());
    rs_timing_collect(rs_the_layer());
    rs_knowledge_note_wait(rs_the_layer());
    rs_report_keep_up(rs_the_layer());
    rs_layer_unlock(rs_the_layer());
}

static cl_int CL_API_CALL finish(cl_command_queue handle)
{
    cl_int error = rs_driver()->clFinish(handle);
    collect_times(error);
    return error;
}

static cl_int CL_API_CALL wait_for_events(cl_uint count, const cl_event *events)
{
    cl_int error = rs_driver()->clWaitForEvents(count, events);
    collect_times(error);
    return error;
}

void rs_layer_add_contexts(cl_icd_dispatch *table)
{
    table->clCreateContext = create_context;
    table->clCreateContextFromType = create_context_from_type;
    table->clRetainContext = retain_context;
    table->clReleaseContext = release_context;
    table->clGetContextInfo = get_context_info;
    table->clCreateCommandQueue = create_queue;
    table->clCreateCommandQueueWithProperties = create_queue_with_properties;
    table->clRetainCommandQueue = retain_queue;
    table->clReleaseCommandQueue = release_queue;
    table->clGetCommandQueueInfo = get_queue_info;
    table->clGetEventProfilingInfo = get_profiling_info;
    table->clGetEventInfo = get_event_info;
    table->clCreateUserEvent = create_user_event;
    table->clSetUserEventStatus = set_user_event_status;
    table->clRetainEvent = retain_event;
    table->clReleaseEvent = release_event;
    table->clFinish = finish;
    table->clWaitForEvents = wait_for_events;
}
