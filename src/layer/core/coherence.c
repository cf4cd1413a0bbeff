/* Which layout each buffer is in, and the conversions between a program's commands: see coherence.h
 * for the rules. */
#include "layer/core/coherence.h"

#include "base/log.h"
#include "layer/core/buffer.h"
#include "layer/core/events.h"
#include "layer/core/process_exit.h"
#include "layer/core/report.h"
#include "layer/core/timing.h"

#include <stdlib.h>
#include <string.h>

/* The same layout for another device of the context has another layout: only the layout counts.
 */
static bool same_layout(const rs_device_layout *a, const rs_device_layout *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    return a == b || rs_relayout_equal(&a->relayout, &b->relayout);
}

/* ---- wait lists ---- */

/* Takes a reference to the event. */
void rs_command_wait(rs_command *command, rs_event event)
{
    if (command->wait_count + 1 > command->joined_capacity) {
        unsigned capacity = command->wait_count * 2 + 8;
        rs_event *joined = malloc(capacity * sizeof(rs_event));
        if (joined == NULL) {
            command->error = rs_api_no_memory;
            return;
        }
        if (command->wait_count > 0)
            memcpy(joined, command->wait_list, command->wait_count * sizeof(rs_event));
        for (unsigned i = 0; command->joined == NULL && i < command->wait_count; i++)
            rs_api_event_retain(joined[i]);
        free(command->joined);
        command->joined = joined;
        command->joined_capacity = capacity;
    }
    rs_api_event_retain(event);
    command->joined[command->wait_count++] = event;
    command->wait_list = command->joined;
}

void rs_command_start(rs_command *command, rs_layer *layer, rs_queue *queue, rs_stream handle,
                      unsigned wait_count, const void *wait_list)
{
    rs_layer_note_thread(layer);
    *command = (rs_command){.layer = layer,
                            .queue = queue,
                            .handle = handle,
                            .wait_count = wait_count,
                            .wait_list = wait_list};
    /* A wait list that the driver is going to refuse is not for us to extend. */
    if ((wait_count == 0) != (wait_list == NULL))
        command->queue = NULL;
    command->is_profiled = command->queue != NULL && command->queue->profiling;
}

void rs_command_begin(rs_command *command, rs_layer *layer, rs_stream queue, unsigned wait_count,
                      const void *wait_list)
{
    rs_layer_lock(layer);
    rs_command_start(command, layer, rs_queue_of(layer, queue), queue, wait_count, wait_list);
}

static void forget_list(rs_command *command)
{
    for (unsigned i = 0; command->joined != NULL && i < command->wait_count; i++)
        rs_api_event_release(command->joined[i]);
    free(command->joined);
}

void rs_command_finish(rs_command *command)
{
    forget_list(command);
}

void rs_command_end(rs_command *command)
{
    rs_command_finish(command);
    rs_layer_unlock(command->layer);
}

bool rs_command_redirect(rs_command *command, rs_stream handle, rs_event event)
{
    rs_command redirected = *command;
    redirected.handle = handle;
    redirected.is_profiled = true;
    redirected.wait_count = 0;
    redirected.wait_list = redirected.joined = NULL;
    redirected.joined_capacity = 0;
    rs_command_wait(&redirected, event);
    if (redirected.error != 0)
        return false;
    forget_list(command);
    *command = redirected;
    return true;
}

/* ---- users of a buffer ---- */

static void clear_users(rs_users *users)
{
    for (size_t i = 0; i < users->event_count; i++)
        rs_api_event_release(users->events[i]);
    free(users->queues);
    free(users->events);
    *users = (rs_users){NULL, 0, NULL, 0};
}

static bool add_user(rs_users *users, rs_queue *queue)
{
    for (size_t i = 0; i < users->queue_count; i++)
        if (users->queues[i] == queue)
            return true;
    rs_queue **queues = realloc(users->queues, (users->queue_count + 1) * sizeof(rs_queue *));
    if (queues == NULL)
        return false;
    queues[users->queue_count++] = queue;
    users->queues = queues;
    return true;
}

static void finish(const rs_queue *queue) RS_LOCKED
{
    rs_queues_flush(queue->layer, queue->context);
    rs_api_stream_finish(queue->handle);
}

void rs_queue_retire(rs_queue *queue)
{
    rs_buffer *buffer;
    queue->layer->generation++;
    for (size_t at = 0; (buffer = rs_map_next(&queue->layer->buffers, &at)) != NULL;) {
        rs_users *users = &buffer->users;
        if (buffer->ready_queue == queue)
            buffer->ready_queue = NULL;
        for (size_t i = 0; i < users->queue_count; i++) {
            if (users->queues[i] != queue)
                continue;
            users->queues[i] = users->queues[--users->queue_count];
            rs_event *events = realloc(users->events, (users->event_count + 1) * sizeof(rs_event));
            if (events != NULL)
                users->events = events;
            if (events == NULL || rs_queue_mark(queue, &events[users->event_count]) != 0)
                finish(queue); /* nothing is left to wait for */
            else
                users->event_count++;
            rs_events_drop_over(users->events, &users->event_count);
            break;
        }
    }
}

void rs_buffer_note_wanted(rs_buffer *buffer, struct rs_known_kernel *by)
{
    if (buffer->run++ == 0) /* other kernels end it from now on */
        buffer->context->layer->generation++;
    buffer->last_wanted = by;
}

void rs_buffer_end_run(rs_buffer *buffer)
{
    if (buffer->run == 0)
        return;
    if (buffer->last_wanted != NULL) {
        size_t *usual = &buffer->last_wanted->knowledge.usual_run;
        if (*usual == 0 || buffer->run < *usual)
            *usual = buffer->run;
    }
    buffer->previous_run = buffer->run;
    buffer->run = 0;
}

void rs_buffer_forget(rs_buffer *buffer)
{
    buffer->context->layer->generation++;
    rs_buffer_end_run(buffer);
    rs_buffer_unreserve(buffer);
    rs_workspace_release(&buffer->workspace);
    clear_users(&buffer->users);
    if (buffer->ready != NULL)
        rs_api_event_release(buffer->ready);
    buffer->ready = NULL;
    while (buffer->map_parts != NULL) {
        rs_map_part *map = buffer->map_parts;
        buffer->map_parts = map->next;
        rs_api_memory_release(map->scratch);
        free(map);
    }
}

/* ---- conversions ---- */

/* The conversion of another queue may wait there for a flush, which the program, knowing nothing of
 * it, need not make before it waits for this command. */
static void wait_until_ready(rs_command *command, const rs_buffer *buffer) RS_LOCKED
{
    const bool elsewhere = buffer->ready_queue != command->queue;
    if (buffer->ready == NULL || (!elsewhere && !command->queue->out_of_order))
        return;
    if (elsewhere && !rs_event_is_over(buffer->ready))
        rs_queues_flush(command->layer, command->queue->context);
    rs_command_wait(command, buffer->ready);
}

void rs_command_wait_for_users(rs_command *command, rs_buffer *buffer)
{
    wait_until_ready(command, buffer);
    for (size_t i = 0; i < buffer->users.event_count; i++)
        rs_command_wait(command, buffer->users.events[i]);
    for (size_t i = 0; i < buffer->users.queue_count; i++) {
        rs_queue *user = buffer->users.queues[i];
        if (user == command->queue && !user->out_of_order)
            continue;
        rs_event marker = NULL;
        int error = rs_queue_mark(user, &marker);
        if (error != 0) {
            command->error = error;
            return;
        }
        rs_command_wait(command, marker);
        rs_api_event_release(marker);
    }
}

void rs_buffer_changed(rs_buffer *buffer, rs_queue *queue, rs_event event)
{
    buffer->context->layer->generation++;
    if (buffer->ready != NULL)
        rs_api_event_release(buffer->ready);
    buffer->ready = event;
    buffer->ready_queue = queue;
    buffer->blank = 0;
    clear_users(&buffer->users);
}

bool rs_command_reserve(rs_command *command, rs_buffer *buffer, const rs_device_layout *layout)
{
    rs_event placed;
    if (same_layout(buffer->layout, layout))
        return true;
    rs_buffer_unreserve(buffer);
    if (rs_workspace_take(layout->converter, command->handle, buffer->size, &buffer->reserved,
                          &placed) != RESTRIDE_OK)
        return false;
    if (placed == NULL)
        return true;
    rs_command_wait(command, placed);
    rs_api_event_release(placed);
    return command->error == 0;
}

void rs_buffer_unreserve(rs_buffer *buffer)
{
    rs_workspace_release(&buffer->reserved);
}

void rs_buffer_set_layout(rs_buffer *buffer, const rs_device_layout *layout)
{
    if (same_layout(buffer->layout, layout))
        return;
    buffer->context->layer->generation++;
    rs_workspace_release(&buffer->workspace);
    if (layout != NULL) {
        buffer->workspace = buffer->reserved;
        buffer->reserved = (rs_workspace){NULL, NULL};
    }
    buffer->layout = layout;
}

/* What repeats launches must not go on: the next use ends the state. */
void rs_buffer_set_blank(rs_buffer *buffer)
{
    buffer->context->layer->generation++;
    buffer->blank = buffer->context->layer->unseen;
}

static rs_buffer_action step_of(const rs_buffer *buffer, rs_buffer_event event)
{
    return rs_buffer_next(rs_buffer_state_of(buffer), event).action;
}

static void lose(rs_buffer *buffer) RS_LOCKED
{
    if (step_of(buffer, RS_TORN) != RS_DO_RELEASE)
        return;
    rs_report_note_always(
        buffer->context->layer,
        "A conversion of a buffer of %zu bytes failed midway, so its content is lost and "
        "every command on it fails with %s: %s",
        buffer->size, rs_api_lost_name, restride_last_error());
    rs_buffer_end_run(buffer);
    rs_buffer_unreserve(buffer);
    rs_buffer_set_layout(buffer, NULL);
    buffer->is_lost = true;
    buffer->context->layer->generation++;
}

void rs_buffer_look_for_failure(rs_buffer *buffer)
{
    if (buffer->ready == NULL || buffer->is_lost)
        return;
    int status = rs_api_event_status(buffer->ready);
    if (status >= 0)
        return;
    rs_api_fail(status, "running a conversion");
    lose(buffer);
}

void rs_layer_look_for_failures(rs_layer *layer)
{
    rs_buffer *buffer;
    rs_layer_lock(layer);
    for (size_t at = 0; (buffer = rs_map_next(&layer->buffers, &at)) != NULL;)
        rs_buffer_look_for_failure(buffer);
    rs_layer_unlock(layer);
}

static int fail_conversion(rs_command *command, rs_buffer *buffer, bool is_torn) RS_LOCKED
{
    rs_log(RS_LOG_ERROR, "%s", restride_last_error());
    if (is_torn)
        lose(buffer);
    else
        rs_report_note(command->layer, "A conversion failed: %s", restride_last_error());
    command->refusal = is_torn ? NULL : "the device refused to convert a buffer";
    return rs_api_lost;
}

static int enqueue_conversion(rs_command *command, rs_buffer *buffer,
                              const rs_device_layout *layout, rs_direction direction) RS_LOCKED
{
    rs_conversion made;
    const size_t record = layout->relayout.record.size, count = buffer->size / record;
    const rs_workspace *workspace =
        direction == RS_FORWARD ? &buffer->reserved : &buffer->workspace;
    if (rs_converter_enqueue(layout->converter, workspace, command->handle, buffer->handle,
                             buffer->size, direction, command->wait_count, command->wait_list,
                             &made) != RESTRIDE_OK)
        return fail_conversion(command, buffer, made.is_torn);
    rs_buffer_changed(buffer, command->queue, made.event);
    rs_buffer_set_layout(buffer, direction == RS_FORWARD ? layout : NULL);
    /* In an in-order queue too: some drivers complete commands that move no bytes, a migration for
     * example, before the commands in front of them. */
    rs_command_wait(command, made.event);
    rs_api_event_retain(made.event);
    rs_timing_take(command->layer, &(rs_timed){.event = made.event,
                                               .began = made.began,
                                               .is_inverse = direction == RS_INVERSE,
                                               .bytes = count * record,
                                               .is_profiled = command->is_profiled,
                                               .device = command->queue->device});
    return 0;
}

bool rs_buffer_restore_has_run(const rs_buffer *buffer)
{
    return rs_converter_has_run(buffer->layout->converter, &buffer->workspace, RS_INVERSE);
}

/* On a queue of its own, of the device that has what the conversion takes. */
int rs_buffer_restore(rs_buffer *buffer)
{
    rs_layer *layer = buffer->context->layer;
    int error;
    if (!rs_exit_admits(layer, rs_buffer_restore_has_run(buffer)))
        return rs_api_lost;
    rs_queue own = {.layer = layer, .device = buffer->layout->device};
    error = rs_api_stream_open(buffer->context->handle, own.device, &own.handle);
    if (error != 0)
        return error;
    rs_command command = {.layer = layer, .queue = &own, .handle = own.handle};
    rs_command_wait_for_users(&command, buffer);
    error = command.error;
    if (error == 0)
        error = enqueue_conversion(&command, buffer, buffer->layout, RS_INVERSE);
    if (buffer->ready_queue == &own)
        buffer->ready_queue = NULL;
    forget_list(&command);
    rs_api_stream_close(own.handle); /* flushes it */
    return error;
}

/* On another queue the conversion is a user of the buffer like others, and waited for. */
static int restore(rs_command *command, rs_buffer *buffer) RS_LOCKED
{
    if (buffer->layout->device != command->queue->device) {
        int error = rs_buffer_restore(buffer);
        if (error == 0)
            wait_until_ready(command, buffer);
        return error != 0 ? error : command->error;
    }
    if (!rs_exit_admits(command->layer, rs_buffer_restore_has_run(buffer)))
        return rs_api_lost;
    rs_command_wait_for_users(command, buffer);
    return command->error != 0 ? command->error
                               : enqueue_conversion(command, buffer, buffer->layout, RS_INVERSE);
}

static void note_use(rs_command *command, rs_buffer *buffer) RS_LOCKED
{
    wait_until_ready(command, buffer);
    if (!add_user(&buffer->users, command->queue))
        command->error = rs_api_no_memory;
}

/* Without a queue record the driver is going to refuse the command, or the layer is frozen and all
 * is AoS. A buffer of another context is the driver's to refuse. */
static bool is_followed(const rs_command *command, const rs_buffer *buffer)
{
    return buffer != NULL && command->queue != NULL && command->error == 0 &&
           buffer->context->handle == command->queue->context;
}

void rs_command_touch(rs_command *command, rs_buffer *buffer)
{
    if (!is_followed(command, buffer))
        return;
    buffer->blank = 0;
    if (step_of(buffer, RS_USE_OPAQUE) == RS_DO_REFUSE)
        command->error = rs_api_lost;
    else
        note_use(command, buffer);
}

/* By the launch that has reserved what it takes. */
static int convert(rs_command *command, rs_buffer *buffer, const rs_device_layout *layout) RS_LOCKED
{
    if (!rs_exit_admits(command->layer,
                        rs_converter_has_run(layout->converter, &buffer->reserved, RS_FORWARD)))
        return rs_api_lost;
    rs_command_wait_for_users(command, buffer);
    return command->error != 0 ? command->error
                               : enqueue_conversion(command, buffer, layout, RS_FORWARD);
}

/* What a use asks of the table. Where the order means nothing the bytes are in any layout. */
static rs_buffer_event event_of_use(const rs_buffer *buffer, const rs_device_layout *layout)
{
    const bool is_there = same_layout(buffer->layout, layout);
    if (rs_buffer_is_blank(buffer) && !is_there)
        return layout == NULL ? RS_REPLACED_ORIGINAL : RS_REPLACED_CONVERTED;
    if (layout == NULL)
        return RS_USE_ORIGINAL;
    return is_there ? RS_USE_SAME : RS_USE_OTHER;
}

void rs_command_use(rs_command *command, rs_buffer *buffer, const rs_device_layout *layout)
{
    if (!is_followed(command, buffer))
        return;
    if (layout == NULL && !command->keeps_run)
        rs_buffer_end_run(buffer);
    if (!same_layout(buffer->layout, layout))
        rs_buffer_look_for_failure(buffer);
    const rs_buffer_action action = step_of(buffer, event_of_use(buffer, layout));
    buffer->blank = 0;
    if (action == RS_DO_REFUSE)
        command->error = rs_api_lost;
    if (action == RS_DO_SET_LAYOUT) {
        rs_timing_count_blank(command->layer, buffer->size);
        rs_buffer_set_layout(buffer, layout);
    }
    if (action == RS_DO_RESTORE || action == RS_DO_RESTORE_CONVERT)
        command->error = restore(command, buffer);
    if (command->error == 0 && (action == RS_DO_CONVERT || action == RS_DO_RESTORE_CONVERT))
        command->error = convert(command, buffer, layout);
    if (command->error == 0)
        note_use(command, buffer);
}

/* ---- launches ---- */

static void unreserve_all(const rs_kernel *kernel) RS_LOCKED
{
    for (size_t i = 0; i < kernel->target_count; i++)
        if (kernel->targets[i].buffer != NULL)
            rs_buffer_unreserve(kernel->targets[i].buffer);
}

static bool reserve_all(rs_command *command, const rs_kernel *kernel,
                        const rs_device_layout *const *layouts) RS_LOCKED
{
    for (size_t i = 0; i < kernel->target_count; i++) {
        if (rs_command_reserve(command, kernel->targets[i].buffer, layouts[i]))
            continue;
        command->argument = kernel->targets[i].index;
        command->refusal = restride_last_error();
        command->error = rs_api_lost;
        return false;
    }
    return true;
}

/* Whether a buffer that a launch wants as the program has it may soon be of use in another layout.
 */
static bool goes_on(const rs_target *target, rs_policy_demand demand)
{
    return target != NULL && (demand == RS_FOR_LAYOUT ||
                              (demand == RS_INDIFFERENT &&
                               (target->buffer == NULL || target->buffer->layout == NULL)));
}

void rs_command_use_all(rs_command *command, const rs_kernel *kernel,
                        const rs_device_layout *const *layouts, rs_policy_demand demand)
{
    const bool is_ready = layouts == NULL || reserve_all(command, kernel, layouts);
    for (size_t i = 0; is_ready && i < kernel->argument_count; i++) {
        const rs_target *target = kernel->arguments[i].target;
        if (command->error == 0)
            command->argument = i;
        command->keeps_run = goes_on(target, demand);
        rs_command_use(command, kernel->arguments[i].buffer,
                       target != NULL && layouts != NULL ? layouts[target - kernel->targets]
                                                         : NULL);
    }
    if (command->error != 0)
        unreserve_all(kernel);
}

/* What is enqueued behind it in an in-order queue needs not wait for a conversion again. */
bool rs_command_is_repeatable(const rs_command *command, const rs_buffer *buffer)
{
    return is_followed(command, buffer) && (buffer->ready == NULL || !command->queue->out_of_order);
}
