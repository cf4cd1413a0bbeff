/* Verification: see verify.h. */
#include "layer/core/verify.h"

#include "layer/core/report.h"
#include "layer/core/restore.h"

#include <stdlib.h>
#include <string.h>

/* What a buffer held, and what the program's form and the other one left. */
enum { BEFORE, OWN, OTHER, COPIES };

typedef struct rs_verified_buffer {
    rs_buffer *buffer;
    size_t argument;
    unsigned char *bytes[COPIES];
} verified;

/* ---- memory ---- */

static void finish_all(const rs_verification *v) RS_LOCKED
{
    rs_queue *queue;
    rs_layer *layer = v->own.queue->layer;
    for (size_t at = 0; (queue = rs_map_next(&layer->queues, &at)) != NULL;)
        if (queue->context == v->own.queue->context)
            rs_api_stream_finish(queue->handle);
}

/* Brings the buffers back to the program's layout, and waits until that is done. */
static bool bring_back(const rs_verification *v) RS_LOCKED
{
    rs_command command;
    rs_command_start(&command, v->own.queue->layer, v->own.queue, v->own.queue->handle, 0, NULL);
    command.keeps_run = true;
    for (size_t i = 0; i < v->count; i++)
        rs_command_use(&command, v->buffers[i].buffer, NULL);
    const bool is_back = command.error == 0;
    rs_command_finish(&command);
    finish_all(v);
    return is_back;
}

static bool read_all(const rs_verification *v, int copy) RS_LOCKED
{
    for (size_t i = 0; i < v->count; i++) {
        const verified *one = &v->buffers[i];
        if (rs_api_memory_read(v->own.queue->handle, one->buffer->handle, one->buffer->size,
                               one->bytes[copy]) != 0)
            return false;
    }
    return true;
}

static bool write_all(const rs_verification *v, int copy) RS_LOCKED
{
    bool is_written = true;
    for (size_t i = 0; i < v->count; i++) {
        const verified *one = &v->buffers[i];
        is_written = rs_api_memory_write(v->own.queue->handle, one->buffer->handle,
                                         one->buffer->size, one->bytes[copy]) == 0 &&
                     is_written;
    }
    return is_written;
}

/* ---- what is verified ---- */

static void forget(rs_verification *v)
{
    for (size_t i = 0; i < v->count; i++)
        for (int copy = 0; copy < COPIES; copy++)
            free(v->buffers[i].bytes[copy]);
    free(v->buffers);
    *v = (rs_verification){0};
}

static bool has(const rs_verification *v, const rs_buffer *buffer)
{
    for (size_t i = 0; i < v->count; i++)
        if (v->buffers[i].buffer == buffer)
            return true;
    return false;
}

/* Why not, or NULL. */
static const char *find_buffers(rs_verification *v) RS_LOCKED
{
    const rs_kernel *kernel = v->own.kernel;
    if (rs_layer_is_held(kernel->layer))
        return "the program holds commands back";
    if (!rs_api_is_confined(kernel))
        return "an argument leads to memory that is not followed";
    v->buffers = calloc(kernel->argument_count + 1, sizeof *v->buffers);
    for (size_t i = 0; v->buffers != NULL && i < kernel->argument_count; i++) {
        rs_buffer *buffer = kernel->arguments[i].buffer;
        if (buffer == NULL || has(v, buffer))
            continue;
        if (buffer->map_count > 0 || buffer->is_lost ||
            (buffer->layout != NULL && buffer->layout->device != v->own.queue->device))
            return "the program has a buffer mapped, or another device has it";
        verified *one = &v->buffers[v->count++];
        *one = (verified){.buffer = buffer, .argument = i};
        for (int copy = 0; copy < COPIES; copy++)
            if ((one->bytes[copy] = malloc(buffer->size)) == NULL)
                return "there is no memory for the copies";
    }
    return v->buffers != NULL ? NULL : "there is no memory for the copies";
}

static void leave_out(rs_verification *v, const char *why) RS_LOCKED
{
    rs_report_note(v->own.kernel->layer, "Launches of %s were not verified: %s.",
                   v->own.kernel->facts->name, why);
    v->own.kernel->layer->verified.left_out++;
    forget(v);
}

void rs_verify_begin(rs_verification *v, const rs_choice *choice, rs_verify_run *run, void *launch)
{
    *v = (rs_verification){0};
    if (!choice->rewritten || !choice->kernel->layer->settings.verifies)
        return;
    *v = (rs_verification){.own = *choice, .run = run, .launch = launch};
    v->own.rewritten = v->own.is_timed = false;
    v->own.by_policy = true;
    v->own.demand = RS_INDIFFERENT;
    const char *why = find_buffers(v);
    if (why != NULL) {
        leave_out(v, why);
        return;
    }
    finish_all(v);
    if (!bring_back(v) || !read_all(v, BEFORE)) {
        leave_out(v, "its buffers cannot be read");
        return;
    }
    const int error = run(&v->own, launch);
    const bool is_read = bring_back(v) && error == 0 && read_all(v, OWN);
    if (!write_all(v, BEFORE) || !is_read)
        leave_out(v, "the program's own form could not run twice");
}

/* ---- what both forms left ---- */

/* The first byte that differs, of the first buffer that has one. */
static const verified *find_difference(const rs_verification *v, size_t *byte)
{
    for (size_t i = 0; i < v->count; i++) {
        const verified *one = &v->buffers[i];
        for (*byte = 0; *byte < one->buffer->size; ++*byte)
            if (one->bytes[OWN][*byte] != one->bytes[OTHER][*byte])
                return one;
    }
    return NULL;
}

static const char *name_argument(const rs_kernel *kernel, size_t index)
{
    size_t i;
    json_t *argument;
    json_array_foreach(kernel->facts->arguments, i, argument)
    {
        if ((size_t)json_integer_value(json_object_get(argument, "index")) == index &&
            json_object_get(argument, "name") != NULL)
            return json_string_value(json_object_get(argument, "name"));
    }
    return "";
}

static const char *name_member(const rs_record *record, size_t byte)
{
    for (size_t i = 0; i < record->leaf_count; i++)
        if (byte - record->leaves[i].offset < record->leaves[i].size)
            return record->leaves[i].name != NULL ? record->leaves[i].name : "padding";
    return "";
}

static void note_difference(const rs_verification *v, const verified *one, size_t byte) RS_LOCKED
{
    const rs_kernel *kernel = v->own.kernel;
    const rs_target *target = kernel->arguments[one->argument].target;
    const char *name = name_argument(kernel, one->argument);
    if (target != NULL)
        rs_report_note_always(
            kernel->layer,
            "Verification: the rewritten form of %s left other bytes than the program's own form: "
            "argument %zu %s, element %zu, member %s. Keep it by a configuration file.",
            kernel->facts->name, one->argument, name, byte / target->relayout.record.size,
            name_member(&target->relayout.record, byte % target->relayout.record.size));
    else
        rs_report_note_always(kernel->layer,
                              "Verification: the rewritten form of %s left other bytes than the "
                              "program's own form: argument %zu %s, byte %zu.",
                              kernel->facts->name, one->argument, name, byte);
}

/* Whether the program's own form leaves the same again. */
static bool is_steady(const rs_verification *v) RS_LOCKED
{
    size_t byte;
    if (!write_all(v, BEFORE))
        return true;
    const int error = v->run(&v->own, v->launch);
    return !(bring_back(v) && error == 0 && read_all(v, OTHER) &&
             find_difference(v, &byte) != NULL);
}

void rs_verify_end(rs_verification *v, bool is_rewritten)
{
    if (v->own.kernel == NULL)
        return;
    rs_layer *layer = v->own.kernel->layer;
    size_t byte;
    if (!is_rewritten) { /* the program's own form ran after all */
        forget(v);
        return;
    }
    if (!bring_back(v) || !read_all(v, OTHER)) {
        leave_out(v, "its buffers cannot be read");
        return;
    }
    layer->verified.count++;
    const verified *one = find_difference(v, &byte);
    if (one != NULL) {
        const bool is_wrong = is_steady(v);
        layer->verified.different += is_wrong;
        layer->verified.unsteady += !is_wrong;
        if (is_wrong)
            note_difference(v, one, byte);
        if (!write_all(v, OWN))
            rs_report_note_always(layer, "Verification: the results of the program's own form "
                                         "could not be written back.");
    }
    forget(v);
}
