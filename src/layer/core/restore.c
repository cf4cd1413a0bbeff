/* Buffers that are restored at once, and why nothing may be converted: see restore.h. */
#include "layer/core/restore.h"

#include "base/log.h"
#include "layer/core/buffer.h"
#include "layer/core/events.h"

#include <stdlib.h>

/* Starts to restore a buffer to AoS, if it is not there already; *event is what to wait for, or
 * NULL. */
static int start_restoring(rs_buffer *buffer, rs_event *event) RS_LOCKED
{
    rs_buffer_end_run(buffer);
    const rs_buffer_action action = rs_buffer_next(rs_buffer_state_of(buffer), RS_RESTORE).action;
    if (action == RS_DO_REFUSE)
        return rs_api_lost;
    int error = action == RS_DO_RESTORE ? rs_buffer_restore(buffer) : 0;
    if (error == 0 && buffer->ready != NULL) {
        *event = buffer->ready;
        rs_api_event_retain(*event);
        /* It may wait for what the program would flush after this call. */
        rs_queues_flush(buffer->context->layer, buffer->context->handle);
    }
    return error;
}

/* Not under the lock: a callback of the driver may need it before the event can complete. */
static int finish_restoring(rs_layer *layer, rs_event event)
{
    if (event == NULL)
        return 0;
    int error = rs_api_event_wait(event);
    rs_api_event_release(event);
    if (error != 0)
        rs_layer_look_for_failures(layer);
    return error;
}

int rs_buffer_keep(rs_layer *layer, rs_allocation handle, const char *why)
{
    rs_event event = NULL;
    int error = 0;
    rs_layer_lock(layer);
    rs_buffer *buffer = rs_buffer_behind(layer, handle);
    if (buffer != NULL)
        error = start_restoring(buffer, &event);
    if (buffer != NULL && buffer->kept_reason == NULL)
        buffer->kept_reason = why;
    rs_layer_unlock(layer);
    int finished = finish_restoring(layer, event);
    return error != 0 ? error : finished;
}

/* Nobody needs to wait for conversions that are over. */
static void forget_conversions(rs_layer *layer)
{
    rs_buffer *buffer;
    rs_layer_lock(layer);
    for (size_t at = 0; (buffer = rs_map_next(&layer->buffers, &at)) != NULL;) {
        rs_buffer_look_for_failure(buffer);
        if (buffer->ready != NULL && rs_event_is_over(buffer->ready)) {
            rs_api_event_release(buffer->ready);
            buffer->ready = NULL;
            buffer->ready_queue = NULL;
        }
    }
    rs_layer_unlock(layer);
}

/* Brings every buffer back; done on return. Called without the lock. */
void rs_layer_restore(rs_layer *layer)
{
    rs_layer_lock(layer);
    size_t at = 0, count = 0;
    rs_event *events = calloc(layer->buffers.count + 1, sizeof *events);
    rs_buffer *buffer;
    while ((buffer = rs_map_next(&layer->buffers, &at)) != NULL) {
        rs_event event = NULL;
        if (start_restoring(buffer, &event) != 0)
            rs_log(RS_LOG_ERROR, "a buffer could not be restored");
        if (events != NULL)
            events[count++] = event;
        else
            finish_restoring(layer, event);
    }
    rs_layer_unlock(layer);
    for (size_t i = 0; i < count; i++)
        finish_restoring(layer, events[i]);
    free(events);
    forget_conversions(layer);
}

void rs_layer_restore_untried(rs_layer *layer)
{
    rs_buffer *buffer;
    for (size_t at = 0; (buffer = rs_map_next(&layer->buffers, &at)) != NULL;)
        if (buffer->layout != NULL && !buffer->is_lost && !rs_buffer_restore_has_run(buffer))
            rs_buffer_restore(buffer);
}

rs_event *rs_layer_mark(rs_layer *layer, size_t *count)
{
    rs_buffer *buffer;
    rs_event *marks = rs_queues_mark(layer, layer->buffers.count, count);
    for (size_t at = 0; marks != NULL && (buffer = rs_map_next(&layer->buffers, &at)) != NULL;)
        if (buffer->ready != NULL) {
            rs_api_event_retain(buffer->ready);
            marks[(*count)++] = buffer->ready;
        }
    return marks;
}

void rs_layer_freeze(rs_layer *layer, const char *why)
{
    rs_layer_lock(layer);
    if (layer->frozen == NULL)
        layer->frozen = why;
    rs_layer_unlock(layer);
    rs_layer_restore(layer);
}

/* ---- commands that were held back ---- */

/* Whether a layout is known that buffers may be converted to. */
static bool knows_a_layout(rs_layer *layer)
{
    const rs_context *context;
    for (size_t at = 0; (context = rs_map_next(&layer->contexts, &at)) != NULL;)
        if (context->layouts != NULL)
            return true;
    return false;
}

void rs_layer_follow_held(rs_layer *layer)
{
    rs_queue *queue;
    layer->follows_later = !knows_a_layout(layer);
    if (layer->follows_later || layer->queues.count == 0)
        return;
    rs_events_drop_over(layer->held, &layer->held_count);
    rs_event *more = realloc(layer->held, (layer->held_count + layer->queues.count) * sizeof *more);
    if (more == NULL)
        return;
    layer->held = more;
    for (size_t at = 0; (queue = rs_map_next(&layer->queues, &at)) != NULL;)
        if (rs_queue_mark(queue, &more[layer->held_count]) == 0)
            layer->held_count++;
}

bool rs_layer_is_held(rs_layer *layer)
{
    while (layer->held_count > 0 && rs_event_is_over(layer->held[layer->held_count - 1]))
        rs_api_event_release(layer->held[--layer->held_count]);
    return layer->holds > 0 || layer->held_count > 0;
}

const char *rs_layer_frozen(rs_layer *layer)
{
    if (layer->frozen != NULL)
        return layer->frozen;
    if (layer->paused != NULL)
        return layer->paused;
    return rs_layer_is_held(layer) ? "the program holds commands back with user events" : NULL;
}
