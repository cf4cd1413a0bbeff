/* Buffers that come home at once, and why nothing may leave: see restore.h. */
#include "layer/core/restore.h"

#include "base/log.h"
#include "layer/core/buffer.h"
#include "layer/core/events.h"

#include <stdlib.h>

const char rs_native_reason[] =
    "the program runs native kernels, which may wait for what it does next";

/* Starts bringing a buffer back to AoS, if it is not there already; *event is what to wait for, or
 * NULL. */
static int start_restoring(rs_buffer *buffer, rs_event *event)
{
    rs_buffer_end_run(buffer);
    const rs_buffer_action action = rs_buffer_next(rs_buffer_state_of(buffer), RS_RESTORE).action;
    if (action == RS_DO_REFUSE)
        return rs_api_lost;
    int error = action == RS_DO_BRING_BACK ? rs_buffer_bring_back(buffer) : 0;
    if (error == 0 && buffer->ready != NULL) {
        *event = buffer->ready;
        rs_api_event_retain(*event);
        /* It may wait for what the program would flush after this call. */
        rs_queues_flush(buffer->context->handle);
    }
    return error;
}

/* Not under the lock: a callback of the driver may need it before the event can complete. */
static int finish_restoring(rs_event event)
{
    if (event == NULL)
        return 0;
    int error = rs_api_event_wait(event);
    rs_api_event_release(event);
    if (error != 0)
        rs_layer_look_for_failures();
    return error;
}

int rs_buffer_pin(rs_allocation handle, const char *why)
{
    rs_event event = NULL;
    int error = 0;
    rs_layer_lock();
    rs_buffer *buffer = rs_buffer_behind(handle);
    if (buffer != NULL)
        error = start_restoring(buffer, &event);
    if (buffer != NULL && buffer->pinned == NULL)
        buffer->pinned = why;
    rs_layer_unlock();
    int finished = finish_restoring(event);
    return error != 0 ? error : finished;
}

/* Nobody needs to wait for conversions that are over. */
static void forget_conversions(void)
{
    rs_buffer *buffer;
    rs_layer_lock();
    for (size_t at = 0; (buffer = rs_map_next(&rs_the_layer.buffers, &at)) != NULL;) {
        rs_buffer_look_for_failure(buffer);
        if (buffer->ready != NULL && rs_event_is_over(buffer->ready)) {
            rs_api_event_release(buffer->ready);
            buffer->ready = NULL;
            buffer->ready_queue = NULL;
        }
    }
    rs_layer_unlock();
}

/* Brings every buffer back; done on return. Called without the lock. */
void rs_layer_restore(void)
{
    rs_layer_lock();
    size_t at = 0, count = 0;
    rs_event *events = calloc(rs_the_layer.buffers.count + 1, sizeof *events);
    rs_buffer *buffer;
    while ((buffer = rs_map_next(&rs_the_layer.buffers, &at)) != NULL) {
        rs_event event = NULL;
        if (start_restoring(buffer, &event) != 0)
            rs_log(RS_LOG_ERROR, "a buffer could not be brought back");
        if (events != NULL)
            events[count++] = event;
        else
            finish_restoring(event);
    }
    rs_layer_unlock();
    for (size_t i = 0; i < count; i++)
        finish_restoring(events[i]);
    free(events);
    forget_conversions();
}

void rs_layer_restore_untried(void)
{
    rs_buffer *buffer;
    for (size_t at = 0; (buffer = rs_map_next(&rs_the_layer.buffers, &at)) != NULL;)
        if (buffer->residence != NULL && !buffer->is_lost && !rs_buffer_can_come_back(buffer))
            rs_buffer_bring_back(buffer);
}

rs_event *rs_layer_mark(size_t *count)
{
    rs_buffer *buffer;
    rs_event *marks = rs_queues_mark(rs_the_layer.buffers.count, count);
    for (size_t at = 0;
         marks != NULL && (buffer = rs_map_next(&rs_the_layer.buffers, &at)) != NULL;)
        if (buffer->ready != NULL) {
            rs_api_event_retain(buffer->ready);
            marks[(*count)++] = buffer->ready;
        }
    return marks;
}

void rs_layer_freeze(const char *why)
{
    rs_layer_lock();
    if (rs_the_layer.frozen == NULL)
        rs_the_layer.frozen = why;
    rs_layer_unlock();
    rs_layer_restore();
}

/* ---- commands that were held back ---- */

/* Whether a layout is known that buffers may be converted to. */
static bool knows_a_layout(void)
{
    const rs_context *context;
    for (size_t at = 0; (context = rs_map_next(&rs_the_layer.contexts, &at)) != NULL;)
        if (context->residences != NULL)
            return true;
    return false;
}

void rs_layer_follow_held(void)
{
    rs_queue *queue;
    rs_the_layer.follows_later = !knows_a_layout();
    if (rs_the_layer.follows_later || rs_the_layer.queues.count == 0)
        return;
    rs_events_drop_over(rs_the_layer.held, &rs_the_layer.held_count);
    rs_event *more = realloc(rs_the_layer.held,
                             (rs_the_layer.held_count + rs_the_layer.queues.count) * sizeof *more);
    if (more == NULL)
        return;
    rs_the_layer.held = more;
    for (size_t at = 0; (queue = rs_map_next(&rs_the_layer.queues, &at)) != NULL;)
        if (rs_queue_mark(queue, &more[rs_the_layer.held_count]) == 0)
            rs_the_layer.held_count++;
}

bool rs_layer_is_held(void)
{
    while (rs_the_layer.held_count > 0 &&
           rs_event_is_over(rs_the_layer.held[rs_the_layer.held_count - 1]))
        rs_api_event_release(rs_the_layer.held[--rs_the_layer.held_count]);
    return rs_the_layer.user_events.count > 0 || rs_the_layer.held_count > 0;
}

const char *rs_layer_frozen(void)
{
    if (rs_the_layer.frozen != NULL)
        return rs_the_layer.frozen;
    if (rs_the_layer.native_count > 0)
        return rs_native_reason;
    return rs_layer_is_held() ? "the program holds commands back with user events" : NULL;
}
