/* Which layout each buffer is in, and the conversions between a program's commands: see coherence.h
 * for the rules. */
#include "layer/coherence.h"

#include "base/log.h"
#include "engine/opencl/error.h"
#include "layer/ending.h"
#include "layer/events.h"
#include "layer/parts.h"
#include "layer/report.h"
#include "layer/timing.h"

#include <stdlib.h>
#include <string.h>

const char rs_native_reason[] =
    "the program runs native kernels, which may wait for what it does next";

/* The same layout for another device of the context has another residence: only the layout counts.
 */
static bool same_layout(const rs_residence *a, const rs_residence *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    return a == b || rs_relayout_equal(&a->relayout, &b->relayout);
}

/* ---- wait lists ---- */

/* Takes a reference to the event. */
void rs_command_wait(rs_command *command, cl_event event)
{
    if (command->wait_count + 1 > command->joined_capacity) {
        cl_uint capacity = command->wait_count * 2 + 8;
        cl_event *joined = malloc(capacity * sizeof(cl_event));
        if (joined == NULL) {
            command->error = CL_OUT_OF_HOST_MEMORY;
            return;
        }
        if (command->wait_count > 0)
            memcpy(joined, command->wait_list, command->wait_count * sizeof(cl_event));
        for (cl_uint i = 0; command->joined == NULL && i < command->wait_count; i++)
            rs_driver()->clRetainEvent(joined[i]);
        free(command->joined);
        command->joined = joined;
        command->joined_capacity = capacity;
    }
    rs_driver()->clRetainEvent(event);
    command->joined[command->wait_count++] = event;
    command->wait_list = command->joined;
}

static void note_thread(void)
{
    const pthread_t self = pthread_self();
    if (!rs_the_layer.has_a_thread)
        rs_the_layer.first_thread = self;
    rs_the_layer.has_a_thread = true;
    if (!pthread_equal(rs_the_layer.first_thread, self))
        rs_the_layer.has_several_threads = true;
}

void rs_command_begin(rs_command *command, cl_command_queue queue, cl_uint wait_count,
                      const cl_event *wait_list)
{
    rs_layer_lock();
    note_thread();
    *command = (rs_command){.handle = queue, .wait_count = wait_count, .wait_list = wait_list};
    /* A wait list that the driver is going to refuse is not for us to extend. */
    if ((wait_count == 0) == (wait_list == NULL))
        command->queue = rs_queue_of(queue);
    command->is_profiled = command->queue != NULL && command->queue->profiling;
}

static void forget_list(rs_command *command)
{
    for (cl_uint i = 0; command->joined != NULL && i < command->wait_count; i++)
        rs_driver()->clReleaseEvent(command->joined[i]);
    free(command->joined);
}

void rs_command_end(rs_command *command)
{
    forget_list(command);
    rs_layer_unlock();
}

bool rs_command_divert(rs_command *command, cl_command_queue handle, cl_event event)
{
    rs_command diverted = *command;
    diverted.handle = handle;
    diverted.is_profiled = true;
    diverted.wait_count = 0;
    diverted.wait_list = diverted.joined = NULL;
    diverted.joined_capacity = 0;
    rs_command_wait(&diverted, event);
    if (diverted.error != CL_SUCCESS)
        return false;
    forget_list(command);
    *command = diverted;
    return true;
}

/* ---- users of a buffer ---- */

static void clear_users(rs_users *users)
{
    for (size_t i = 0; i < users->event_count; i++)
        rs_driver()->clReleaseEvent(users->events[i]);
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

void rs_queue_retire(rs_queue *queue)
{
    rs_buffer *buffer;
    for (size_t at = 0; (buffer = rs_map_next(&rs_the_layer.buffers, &at)) != NULL;) {
        rs_users *users = &buffer->users;
        if (buffer->ready_queue == queue)
            buffer->ready_queue = NULL;
        for (size_t i = 0; i < users->queue_count; i++) {
            if (users->queues[i] != queue)
                continue;
            users->queues[i] = users->queues[--users->queue_count];
            cl_event *events = realloc(users->events, (users->event_count + 1) * sizeof(cl_event));
            if (events != NULL)
                users->events = events;
            if (events == NULL || rs_queue_mark(queue, &events[users->event_count]) != CL_SUCCESS)
                rs_driver()->clFinish(queue->handle); /* nothing is left to wait for */
            else
                users->event_count++;
            rs_events_drop_over(users->events, &users->event_count);
            break;
        }
    }
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
    rs_buffer_end_run(buffer);
    rs_buffer_unreserve(buffer);
    rs_route_leave(&buffer->route);
    clear_users(&buffer->users);
    if (buffer->ready != NULL)
        rs_driver()->clReleaseEvent(buffer->ready);
    buffer->ready = NULL;
    while (buffer->map_parts != NULL) {
        rs_map_part *map = buffer->map_parts;
        buffer->map_parts = map->next;
        rs_driver()->clReleaseMemObject(map->scratch);
        free(map);
    }
}

/* ---- conversions ---- */

/* The conversion of another queue may wait there for a flush, which the program, knowing nothing of
 * it, need not make before it waits for this command. */
static void wait_until_ready(rs_command *command, const rs_buffer *buffer)
{
    const bool elsewhere = buffer->ready_queue != command->queue;
    if (buffer->ready == NULL || (!elsewhere && !command->queue->out_of_order))
        return;
    if (elsewhere && buffer->ready_queue != NULL && !rs_event_is_over(buffer->ready))
        rs_queues_flush(command->queue->context);
    rs_command_wait(command, buffer->ready);
}

void rs_command_own(rs_command *command, rs_buffer *buffer)
{
    wait_until_ready(command, buffer);
    for (size_t i = 0; i < buffer->users.event_count; i++)
        rs_command_wait(command, buffer->users.events[i]);
    for (size_t i = 0; i < buffer->users.queue_count; i++) {
        rs_queue *user = buffer->users.queues[i];
        if (user == command->queue && !user->out_of_order)
            continue;
        cl_event marker = NULL;
        cl_int error = rs_queue_mark(user, &marker);
        if (error != CL_SUCCESS) {
            command->error = error;
            return;
        }
        rs_command_wait(command, marker);
        rs_driver()->clReleaseEvent(marker);
    }
}

void rs_buffer_changed(rs_buffer *buffer, rs_queue *queue, cl_event event)
{
    if (buffer->ready != NULL)
        rs_driver()->clReleaseEvent(buffer->ready);
    buffer->ready = event;
    buffer->ready_queue = queue;
    clear_users(&buffer->users);
}

bool rs_command_reserve(rs_command *command, rs_buffer *buffer, const rs_residence *residence)
{
    cl_event placed;
    if (same_layout(buffer->residence, residence))
        return true;
    rs_buffer_unreserve(buffer);
    if (rs_route_take(residence->converter, command->queue->handle, buffer->size, &buffer->reserved,
                      &placed) != RESTRIDE_OK)
        return false;
    if (placed == NULL)
        return true;
    rs_command_wait(command, placed);
    rs_driver()->clReleaseEvent(placed);
    return command->error == CL_SUCCESS;
}

void rs_buffer_unreserve(rs_buffer *buffer)
{
    rs_route_leave(&buffer->reserved);
}

void rs_buffer_settle(rs_buffer *buffer, const rs_residence *residence)
{
    if (same_layout(buffer->residence, residence))
        return;
    rs_route_leave(&buffer->route);
    if (residence != NULL) {
        buffer->route = buffer->reserved;
        buffer->reserved = (rs_route){NULL, NULL};
    }
    buffer->residence = residence;
}

static void lose(rs_buffer *buffer)
{
    rs_report_note_always(
        "A conversion of a buffer of %zu bytes failed midway, so its content is lost and "
        "every command on it fails with CL_OUT_OF_RESOURCES: %s",
        buffer->size, restride_last_error());
    rs_buffer_end_run(buffer);
    rs_buffer_unreserve(buffer);
    rs_buffer_settle(buffer, NULL);
    buffer->is_lost = true;
}

/* A conversion may also fail while it runs. That is looked for where another would follow, and
 * after a wait that failed. */
static void look_for_failure(rs_buffer *buffer)
{
    if (buffer->ready == NULL || buffer->is_lost)
        return;
    cl_int status = rs_event_status(buffer->ready);
    if (status >= CL_COMPLETE)
        return;
    rs_opencl_fail(status, "running a conversion");
    lose(buffer);
}

void rs_layer_look_for_failures(void)
{
    rs_buffer *buffer;
    rs_layer_lock();
    for (size_t at = 0; (buffer = rs_map_next(&rs_the_layer.buffers, &at)) != NULL;)
        look_for_failure(buffer);
    rs_layer_unlock();
}

static cl_int fail_conversion(rs_command *command, rs_buffer *buffer, bool is_torn)
{
    rs_log(RS_LOG_ERROR, "%s", restride_last_error());
    if (is_torn)
        lose(buffer);
    else
        rs_report_note("A conversion failed: %s", restride_last_error());
    command->is_refused = !is_torn;
    return CL_OUT_OF_RESOURCES;
}

static cl_int enqueue_conversion(rs_command *command, rs_buffer *buffer,
                                 const rs_residence *residence, rs_direction direction)
{
    rs_conversion made;
    const size_t record = residence->relayout.record.size, count = buffer->size / record;
    const rs_route *route = direction == RS_THERE ? &buffer->reserved : &buffer->route;
    if (rs_converter_enqueue(residence->converter, route, command->handle, buffer->handle,
                             buffer->size, direction, command->wait_count, command->wait_list,
                             &made) != RESTRIDE_OK)
        return fail_conversion(command, buffer, made.is_torn);
    rs_buffer_changed(buffer, command->queue, made.event);
    rs_buffer_settle(buffer, direction == RS_THERE ? residence : NULL);
    /* In an in-order queue too: some drivers complete commands that move no bytes, a migration for
     * example, before the commands in front of them. */
    rs_command_wait(command, made.event);
    rs_driver()->clRetainEvent(made.event);
    rs_timing_take(&(rs_timed){.event = made.event,
                               .began = made.began,
                               .back = direction == RS_BACK,
                               .bytes = count * record,
                               .is_profiled = command->is_profiled,
                               .device = command->queue->device});
    return CL_SUCCESS;
}

/* Whether what brings it back has run before. */
static bool can_come_back(const rs_buffer *buffer)
{
    return rs_converter_has_run(buffer->residence->converter, &buffer->route, RS_BACK);
}

/* On a queue of its own, of the device that has what the way back takes. */
static cl_int bring_back_elsewhere(rs_buffer *buffer)
{
    cl_int error;
    if (!rs_ending_admits(can_come_back(buffer)))
        return CL_OUT_OF_RESOURCES;
    rs_queue own = {.device = buffer->residence->device};
    own.handle = rs_driver()->clCreateCommandQueue(buffer->context->handle, own.device, 0, &error);
    if (own.handle == NULL)
        return error;
    rs_command command = {.queue = &own, .handle = own.handle};
    rs_layer_lock();
    rs_command_own(&command, buffer);
    error = command.error;
    if (error == CL_SUCCESS)
        error = enqueue_conversion(&command, buffer, buffer->residence, RS_BACK);
    if (buffer->ready_queue == &own)
        buffer->ready_queue = NULL;
    rs_command_end(&command);
    rs_driver()->clReleaseCommandQueue(own.handle); /* flushes it */
    return error;
}

/* Beside the command's queue the way back is a user of the buffer like others, and waited for. */
static cl_int bring_back(rs_command *command, rs_buffer *buffer)
{
    if (buffer->residence->device != command->queue->device) {
        cl_int error = bring_back_elsewhere(buffer);
        if (error == CL_SUCCESS)
            wait_until_ready(command, buffer);
        return error != CL_SUCCESS ? error : command->error;
    }
    if (!rs_ending_admits(can_come_back(buffer)))
        return CL_OUT_OF_RESOURCES;
    rs_command_own(command, buffer);
    return command->error != CL_SUCCESS
               ? command->error
               : enqueue_conversion(command, buffer, buffer->residence, RS_BACK);
}

static void note_use(rs_command *command, rs_buffer *buffer)
{
    wait_until_ready(command, buffer);
    if (!add_user(&buffer->users, command->queue))
        command->error = CL_OUT_OF_HOST_MEMORY;
}

/* Without a queue record the driver is going to refuse the command, or the layer is frozen and all
 * is AoS. A buffer of another context is the driver's to refuse. */
static bool is_followed(const rs_command *command, const rs_buffer *buffer)
{
    return buffer != NULL && command->queue != NULL && command->error == CL_SUCCESS &&
           buffer->context->handle == command->queue->context;
}

void rs_command_touch(rs_command *command, cl_mem handle)
{
    rs_buffer *buffer = rs_buffer_behind(handle);
    if (!is_followed(command, buffer))
        return;
    if (buffer->is_lost)
        command->error = CL_OUT_OF_RESOURCES;
    else
        note_use(command, buffer);
}

void rs_command_use(rs_command *command, cl_mem handle, const rs_residence *residence)
{
    rs_buffer *buffer = rs_buffer_behind(handle);
    if (!is_followed(command, buffer))
        return;
    if (residence == NULL && !command->keeps_run)
        rs_buffer_end_run(buffer);
    if (!same_layout(buffer->residence, residence)) {
        look_for_failure(buffer);
        if (buffer->is_lost)
            command->error = CL_OUT_OF_RESOURCES;
        else if (buffer->residence != NULL)
            command->error = bring_back(command, buffer);
        if (command->error == CL_SUCCESS && residence != NULL &&
            !rs_ending_admits(
                rs_converter_has_run(residence->converter, &buffer->reserved, RS_THERE)))
            command->error = CL_OUT_OF_RESOURCES;
        if (command->error == CL_SUCCESS && residence != NULL)
            rs_command_own(command, buffer);
        if (command->error == CL_SUCCESS && residence != NULL)
            command->error = enqueue_conversion(command, buffer, residence, RS_THERE);
    }
    if (command->error == CL_SUCCESS)
        rs_command_touch(command, handle);
}

/* ---- at once ---- */

/* Starts bringing a buffer back to AoS, if it is not there already; *event is what to wait for, or
 * NULL. */
static cl_int start_restoring(rs_buffer *buffer, cl_event *event)
{
    rs_buffer_end_run(buffer);
    if (buffer->is_lost)
        return CL_OUT_OF_RESOURCES;
    cl_int error = buffer->residence != NULL ? bring_back_elsewhere(buffer) : CL_SUCCESS;
    if (error == CL_SUCCESS && buffer->ready != NULL) {
        *event = buffer->ready;
        rs_driver()->clRetainEvent(*event);
    }
    return error;
}

/* Not under the lock: a callback of the driver may need it before the event can complete. */
static cl_int finish_restoring(cl_event event)
{
    if (event == NULL)
        return CL_SUCCESS;
    cl_int error = rs_driver()->clWaitForEvents(1, &event);
    rs_driver()->clReleaseEvent(event);
    if (error != CL_SUCCESS)
        rs_layer_look_for_failures();
    return error;
}

cl_int rs_buffer_pin(cl_mem handle, const char *why)
{
    cl_event event = NULL;
    cl_int error = CL_SUCCESS;
    rs_layer_lock();
    rs_buffer *buffer = rs_buffer_behind(handle);
    if (buffer != NULL)
        error = start_restoring(buffer, &event);
    if (buffer != NULL && buffer->pinned == NULL)
        buffer->pinned = why;
    rs_layer_unlock();
    cl_int finished = finish_restoring(event);
    return error != CL_SUCCESS ? error : finished;
}

/* Nobody needs to wait for conversions that are over. */
static void forget_conversions(void)
{
    rs_buffer *buffer;
    rs_layer_lock();
    for (size_t at = 0; (buffer = rs_map_next(&rs_the_layer.buffers, &at)) != NULL;) {
        look_for_failure(buffer);
        if (buffer->ready != NULL && rs_event_is_over(buffer->ready)) {
            rs_driver()->clReleaseEvent(buffer->ready);
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
    cl_event *events = calloc(rs_the_layer.buffers.count + 1, sizeof *events);
    rs_buffer *buffer;
    while ((buffer = rs_map_next(&rs_the_layer.buffers, &at)) != NULL) {
        cl_event event = NULL;
        if (start_restoring(buffer, &event) != CL_SUCCESS)
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
        if (buffer->residence != NULL && !buffer->is_lost && !can_come_back(buffer))
            bring_back_elsewhere(buffer);
}

cl_event *rs_layer_mark(size_t *count)
{
    rs_buffer *buffer;
    cl_event *marks = rs_queues_mark(rs_the_layer.buffers.count, count);
    for (size_t at = 0;
         marks != NULL && (buffer = rs_map_next(&rs_the_layer.buffers, &at)) != NULL;)
        if (buffer->ready != NULL) {
            rs_driver()->clRetainEvent(buffer->ready);
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
    cl_event *more = realloc(rs_the_layer.held,
                             (rs_the_layer.held_count + rs_the_layer.queues.count) * sizeof *more);
    if (more == NULL)
        return;
    rs_the_layer.held = more;
    for (size_t at = 0; (queue = rs_map_next(&rs_the_layer.queues, &at)) != NULL;)
        if (rs_queue_mark(queue, &more[rs_the_layer.held_count]) == CL_SUCCESS)
            rs_the_layer.held_count++;
}

bool rs_layer_is_held(void)
{
    while (rs_the_layer.held_count > 0 &&
           rs_event_is_over(rs_the_layer.held[rs_the_layer.held_count - 1]))
        rs_driver()->clReleaseEvent(rs_the_layer.held[--rs_the_layer.held_count]);
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
