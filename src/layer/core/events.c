/* The driver's events: see events.h. */
#include "layer/core/events.h"

#include "layer/core/wait.h"

#include <stdlib.h>

bool rs_event_is_over(rs_event event)
{
    return rs_api_event_status(event) <= 0;
}

static void wake(void *layer)
{
    rs_layer_wake(layer);
}

double rs_event_wait(rs_layer *layer, rs_event event, double longest)
{
    /* A sleeping thread wakes up late, so the wait for a short launch spins. */
    static const double longest_spin = 1e-4;
    const double start = rs_seconds_now(), end = start + longest;
    double now = start;
    while (now < end && now - start < longest_spin && !rs_event_is_over(event))
        now = rs_seconds_now();
    if (now >= end || rs_event_is_over(event))
        return now - start;
    unsigned long long seen = rs_layer_changes(layer);
    rs_api_event_notify(event, wake, layer);
    while (!rs_event_is_over(event) && rs_layer_wait(layer, seen, end))
        seen = rs_layer_changes(layer);
    return rs_seconds_now() - start;
}

void rs_queues_flush(rs_layer *layer, rs_group context)
{
    const rs_queue *queue;
    for (size_t at = 0; (queue = rs_map_next(&layer->queues, &at)) != NULL;)
        if (queue->context == context)
            rs_api_stream_flush(queue->handle);
}

int rs_queue_mark(const rs_queue *queue, rs_event *event)
{
    int error = rs_api_stream_mark(queue->handle, event);
    if (error == 0)
        error = rs_api_stream_flush(queue->handle);
    if (error == 0)
        rs_queues_flush(queue->layer, queue->context);
    return error;
}

rs_event *rs_queues_mark(rs_layer *layer, size_t more, size_t *count)
{
    const rs_queue *queue;
    rs_event *events = calloc(layer->queues.count + more + 1, sizeof *events);
    *count = 0;
    for (size_t at = 0; events != NULL && (queue = rs_map_next(&layer->queues, &at)) != NULL;)
        if (rs_queue_mark(queue, &events[*count]) == 0)
            ++*count;
    return events;
}

void rs_events_drop_over(rs_event *events, size_t *count)
{
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++)
        if (rs_event_is_over(events[i]))
            rs_api_event_release(events[i]);
        else
            events[kept++] = events[i];
    *count = kept;
}
