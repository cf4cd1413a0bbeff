/* The driver's events: see events.h. */
#include "layer/events.h"

#include <stdlib.h>
#include <time.h>

cl_int rs_event_status(cl_event event)
{
    cl_int status = CL_COMPLETE;
    rs_driver()->clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
                                NULL);
    return status;
}

bool rs_event_is_over(cl_event event)
{
    return rs_event_status(event) <= CL_COMPLETE;
}

double rs_event_wait(cl_event event, double longest)
{
    enum { SHORTEST_SLEEP = 10000, LONGEST_SLEEP = 1000000 };
    /* A thread that sleeps wakes up late: short launches are waited for without. */
    static const double longest_spin = 1e-4;
    const double start = rs_layer_clock();
    double waited = 0;
    long sleep = SHORTEST_SLEEP;
    while (waited < longest && !rs_event_is_over(event)) {
        const struct timespec pause = {0, sleep};
        if (waited >= longest_spin) {
            nanosleep(&pause, NULL);
            sleep = sleep * 2 < LONGEST_SLEEP ? sleep * 2 : LONGEST_SLEEP;
        }
        waited = rs_layer_clock() - start;
    }
    return waited;
}

/* Queues on the device refuse it. */
void rs_queues_flush(cl_context context)
{
    const rs_queue *queue;
    for (size_t at = 0; (queue = rs_map_next(&rs_the_layer.queues, &at)) != NULL;)
        if (queue->context == context)
            rs_driver()->clFlush(queue->handle);
}

cl_int rs_queue_mark(const rs_queue *queue, cl_event *event)
{
    cl_int error = rs_driver()->clEnqueueMarkerWithWaitList(queue->handle, 0, NULL, event);
    if (error == CL_SUCCESS)
        error = rs_driver()->clFlush(queue->handle);
    if (error == CL_SUCCESS)
        rs_queues_flush(queue->context);
    return error;
}

cl_event *rs_queues_mark(size_t more, size_t *count)
{
    const rs_queue *queue;
    cl_event *events = calloc(rs_the_layer.queues.count + more + 1, sizeof *events);
    *count = 0;
    for (size_t at = 0; events != NULL && (queue = rs_map_next(&rs_the_layer.queues, &at)) != NULL;)
        if (rs_queue_mark(queue, &events[*count]) == CL_SUCCESS)
            ++*count;
    return events;
}

void rs_events_drop_over(cl_event *events, size_t *count)
{
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++)
        if (rs_event_is_over(events[i]))
            rs_driver()->clReleaseEvent(events[i]);
        else
            events[kept++] = events[i];
    *count = kept;
}
