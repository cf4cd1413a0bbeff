/* Timed launches of queues without profiling: see profiled_launch.h. */
#include "layer/opencl/profiled_launch.h"

#include "base/list.h"
#include "base/log.h"

#include <stdlib.h>

const double rs_profiled_launch_seconds = 4e-5; /* with NVIDIA's driver */

/* Makes its profiling queue at first need. */
bool rs_queue_can_be_timed(rs_queue *core)
{
    rs_layer_queue *queue = (rs_layer_queue *)core;
    cl_int error = CL_SUCCESS;
    if (core->profiling)
        return true;
    if (core->out_of_order)
        return false;
    if (queue->profiling_queue == NULL && !queue->has_no_profiling_queue) {
        queue->profiling_queue = rs_driver()->clCreateCommandQueue(
            core->context, core->device, CL_QUEUE_PROFILING_ENABLE, &error);
        queue->has_no_profiling_queue = queue->profiling_queue == NULL;
        if (queue->has_no_profiling_queue)
            rs_log(RS_LOG_INFO, "launches of a queue cannot be timed (error %d)", error);
    }
    return queue->profiling_queue != NULL;
}

void rs_profiling_queue_prepare(cl_context context, cl_device_id device)
{
    rs_queue *queue;
    for (size_t at = 0; (queue = rs_map_next(&rs_the_layer()->queues, &at)) != NULL;)
        if (queue->context == context && queue->device == device) {
            rs_queue_can_be_timed(queue);
            return;
        }
}

bool rs_profiled_launch_begin(rs_command *command)
{
    cl_event marker = NULL;
    if (!rs_queue_can_be_timed(command->queue))
        return false;
    cl_command_queue queue = command->queue->handle;
    if (rs_driver()->clEnqueueMarkerWithWaitList(queue, command->wait_count, command->wait_list,
                                                 &marker) != CL_SUCCESS)
        return false;
    bool begun =
        rs_driver()->clFlush(queue) == CL_SUCCESS &&
        rs_command_redirect(command, ((rs_layer_queue *)command->queue)->profiling_queue, marker);
    rs_driver()->clReleaseEvent(marker);
    return begun;
}

/* ---- events ---- */

static bool is_released(cl_event event)
{
    cl_uint references = 0;
    return rs_driver()->clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof references,
                                       &references, NULL) == CL_SUCCESS &&
           references <= 1;
}

void rs_profiled_events_trim(void)
{
    size_t kept = 0;
    for (size_t i = 0; i < rs_opencl.standing_in.count; i++) {
        cl_event event = rs_opencl.standing_in.events[i];
        if (is_released(event))
            rs_driver()->clReleaseEvent(event);
        else
            rs_opencl.standing_in.events[kept++] = event;
    }
    rs_opencl.standing_in.count = kept;
}

/* Without memory for it, the program finds that its event is that of a barrier. */
static void note(cl_event event) RS_LOCKED
{
    rs_profiled_events_trim();
    if (!RS_LIST_GROW(rs_opencl.standing_in.events, rs_opencl.standing_in.count))
        return;
    rs_driver()->clRetainEvent(event);
    rs_opencl.standing_in.events[rs_opencl.standing_in.count++] = event;
}

void rs_profiled_event_correct(cl_event event, cl_event_info name, void *value)
{
    size_t i = 0;
    while (i < rs_opencl.standing_in.count && rs_opencl.standing_in.events[i] != event)
        i++;
    if (i == rs_opencl.standing_in.count)
        return;
    if (name == CL_EVENT_REFERENCE_COUNT)
        --*(cl_uint *)value;
    if (name == CL_EVENT_COMMAND_TYPE)
        *(cl_command_type *)value = CL_COMMAND_NDRANGE_KERNEL;
}

/* ---- behind the launch ---- */

void rs_profiled_launch_end(const rs_command *command, cl_event launched, cl_event *event)
{
    cl_event last = launched;
    cl_int error = CL_SUCCESS;
    if (launched == NULL) /* behind conversions for it */
        error = rs_driver()->clEnqueueMarkerWithWaitList(command->handle, 0, NULL, &last);
    rs_driver()->clFlush(command->handle);
    if (error == CL_SUCCESS)
        error = rs_driver()->clEnqueueBarrierWithWaitList(command->queue->handle, 1, &last, event);
    if (error != CL_SUCCESS)
        rs_driver()->clFinish(command->handle); /* then there is nothing to wait for */
    if (launched == NULL && last != NULL)
        rs_driver()->clReleaseEvent(last);
    if (event == NULL)
        return;
    if (error == CL_SUCCESS) {
        note(*event);
        return;
    }
    rs_driver()->clRetainEvent(launched);
    *event = launched;
}

void rs_profiling_queue_close(rs_layer_queue *queue)
{
    if (queue->profiling_queue != NULL)
        rs_driver()->clReleaseCommandQueue(queue->profiling_queue);
    queue->profiling_queue = NULL;
}
