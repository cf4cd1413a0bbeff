/*
 * Contexts, streams, and commands around the driver's calls.
 *
 * Order. CUDA lets streams run side by side unless the program says otherwise. A conversion waits
 * for all that was given to other streams before and may use the buffer, and what comes after it in
 * another stream waits for the conversion (core/coherence.h). A launch of a kernel that is not
 * described, and other calls that may use any memory, count as uses of all buffers; each stream
 * looks at them again when something about buffers has changed (rs_layer.generation). The legacy
 * default stream and those that wait for it are ordered by the driver besides.
 *
 * While a stream captures, commands are recorded and run later, any number of times. So before a
 * capture begins everything comes back into the program's layout and stays there until it ends, and
 * so it does before a graph is launched.
 *
 * One context. When a second one is used, all memory comes back for good.
 */
#include "layer/core/events.h"
#include "layer/core/knowledge.h"
#include "layer/core/report.h"
#include "layer/core/restore.h"
#include "layer/core/timing.h"
#include "layer/cuda/events.h"

#include <stdlib.h>

static const char several_contexts[] = "a second context";
static const char capturing[] = "a stream captures a graph";

/* ---- records ---- */

/* Nobody else makes streams for the core. */
void rs_queue_follow(rs_layer *layer, rs_stream handle)
{
    (void)layer, (void)handle;
}

static rs_context *context_of(rs_cuda_context handle) RS_LOCKED
{
    rs_layer *layer = rs_the_layer();
    rs_context *context = rs_context_find(layer, handle);
    if (context != NULL || handle == NULL)
        return context;
    if (layer->contexts.count > 0) {
        atomic_store(&rs_cuda.must_freeze, several_contexts);
        return NULL;
    }
    context = calloc(1, sizeof *context);
    if (context == NULL || !rs_map_set(&layer->contexts, handle, context)) {
        free(context);
        return NULL;
    }
    *context = (rs_context){.layer = layer, .handle = handle, .references = 1};
    return context;
}

rs_context *rs_cuda_current_context(void)
{
    rs_cuda_context current = NULL;
    rs_cuda.driver->cuCtxGetCurrent(&current);
    return context_of(current);
}

static rs_cuda_queue *make_queue(rs_group context, rs_device device, rs_cuda_stream stream)
{
    rs_cuda_queue *queue = calloc(1, sizeof *queue);
    if (queue == NULL)
        return NULL;
    queue->core = (rs_queue){.layer = rs_the_layer(),
                             .handle = queue,
                             .context = context,
                             .device = device,
                             .profiling = rs_report_times(rs_the_layer())};
    queue->stream = stream;
    queue->number = 1 + atomic_fetch_add(&rs_cuda.stream_count, 1);
    queue->thread = pthread_self();
    return queue;
}

/* The record of a stream that the program uses for the first time. */
static rs_cuda_queue *follow(rs_context *context, rs_cuda_stream stream) RS_LOCKED
{
    rs_cuda_device device = 0;
    rs_cuda_context own = context->handle;
    rs_cuda_queue *queue = NULL;
    if ((uintptr_t)stream > RS_CUDA_STREAM_PER_THREAD &&
        (rs_cuda.driver->cuStreamGetCtx(stream, &own) != RS_CUDA_SUCCESS || own != context->handle))
        atomic_store(&rs_cuda.must_freeze, several_contexts);
    else if (rs_cuda.driver->cuCtxGetDevice(&device) == RS_CUDA_SUCCESS)
        queue = make_queue(context->handle, rs_cuda_device_handle(device), stream);
    if (queue != NULL && rs_map_set(&rs_the_layer()->queues, queue, queue))
        return queue;
    free(queue);
    return NULL;
}

static rs_cuda_queue *special_queue(rs_context *context, bool is_per_thread) RS_LOCKED
{
    static _Thread_local rs_cuda_queue *of_thread;
    rs_cuda_queue **place = is_per_thread ? &of_thread : &rs_cuda.legacy;
    const uintptr_t handle = is_per_thread ? RS_CUDA_STREAM_PER_THREAD : RS_CUDA_STREAM_LEGACY;
    if (*place == NULL)
        *place = follow(context, (rs_cuda_stream)handle);
    if (*place != NULL)
        (*place)->is_per_thread = is_per_thread;
    return *place;
}

rs_cuda_queue *rs_cuda_queue_of(rs_word stream, bool is_per_thread)
{
    rs_context *context = rs_cuda_current_context();
    rs_cuda_queue *queue = NULL;
    if (context == NULL)
        return NULL;
    if (stream <= RS_CUDA_STREAM_PER_THREAD) {
        queue = special_queue(context, stream == RS_CUDA_STREAM_PER_THREAD ||
                                           (stream == 0 && is_per_thread));
    } else {
        queue = rs_map_get(&rs_cuda.streams, (const void *)stream);
        if (queue == NULL)
            queue = follow(context, (rs_cuda_stream)stream);
        if (queue != NULL && queue->core.context == context->handle &&
            rs_map_get(&rs_cuda.streams, (const void *)stream) == NULL &&
            !rs_map_set(&rs_cuda.streams, (const void *)stream, queue))
            queue = NULL;
    }
    if (queue == NULL && atomic_load(&rs_cuda.must_freeze) == NULL)
        atomic_store(&rs_cuda.must_freeze, "a stream that could not be followed");
    return queue;
}

int rs_cuda_queue_open(rs_group context, rs_device device, rs_cuda_queue **queue)
{
    rs_cuda_stream stream = NULL;
    const rs_cuda_entered entered = rs_cuda_enter(context);
    rs_cuda_result code = rs_cuda.driver->cuStreamCreate(&stream, RS_CUDA_STREAM_NON_BLOCKING);
    rs_cuda_leave(&entered);
    *queue = code == RS_CUDA_SUCCESS ? make_queue(context, device, stream) : NULL;
    if (code == RS_CUDA_SUCCESS && *queue == NULL)
        return RS_CUDA_OUT_OF_MEMORY;
    return code;
}

/* Its commands go on. */
void rs_cuda_queue_close(rs_cuda_queue *queue)
{
    const rs_cuda_entered entered = rs_cuda_enter(queue->core.context);
    rs_cuda.driver->cuStreamDestroy(queue->stream);
    rs_cuda_leave(&entered);
    free(queue);
}

/* ---- commands ---- */

void rs_cuda_use_all(rs_command *command)
{
    rs_layer *layer = command->layer;
    rs_cuda_queue *queue = (rs_cuda_queue *)command->queue;
    rs_buffer *buffer;
    if (queue == NULL || queue->settled == layer->generation)
        return;
    for (size_t at = 0; (buffer = rs_map_next(&layer->buffers, &at)) != NULL;)
        rs_command_use(command, buffer, NULL);
    if (command->error == 0)
        queue->settled = layer->generation;
}

/* Blank arrays were not used since their allocation. */
void rs_cuda_assume_all_used(void)
{
    rs_queue *queue;
    rs_buffer *buffer;
    rs_layer *layer = rs_the_layer();
    for (size_t at = 0; (queue = rs_map_next(&layer->queues, &at)) != NULL;) {
        rs_command command;
        rs_command_start(&command, layer, queue, queue->handle, 0, NULL);
        for (size_t one = 0; (buffer = rs_map_next(&layer->buffers, &one)) != NULL;)
            if (!rs_buffer_is_blank(buffer))
                rs_command_use(&command, buffer, NULL);
        rs_command_finish(&command);
    }
}

int rs_cuda_apply_waits(rs_command *command)
{
    const rs_cuda_queue *queue = (const rs_cuda_queue *)command->queue;
    rs_event const *list = command->wait_list;
    rs_cuda_result code = RS_CUDA_SUCCESS;
    for (unsigned i = 0; i < command->wait_count && code == RS_CUDA_SUCCESS; i++)
        code = rs_cuda_mark_await(queue, list[i]);
    return code == RS_CUDA_SUCCESS ? 0 : rs_api_lost;
}

static rs_word stream_of(const rs_entry *entry, const rs_word *w)
{
    return entry->kind->stream >= 0 ? w[entry->kind->stream] : 0;
}

/* Whether commands are to be brought into order now. Streams are known by name from their first
 * command on, also before. */
bool rs_cuda_follows(rs_cuda_queue *queue)
{
    return queue != NULL && rs_cuda.is_wanted && rs_cuda.captures == 0;
}

/* Calls that block are made without the lock: what they wait for may need another thread. Their
 * memory is not converted meanwhile. */
static rs_word call_blocking(const rs_entry *entry, const rs_word *w, rs_layer *layer,
                             rs_cuda_buffer *const *buffers, size_t count) RS_LOCKED
{
    layer->holds += count == 0;
    for (size_t i = 0; i < count; i++)
        if (buffers[i] != NULL)
            buffers[i]->core.map_count++;
    rs_layer_unlock(layer);
    const rs_word result = rs_entry_call(entry, w);
    rs_layer_lock(layer);
    layer->holds -= count == 0;
    for (size_t i = 0; i < count; i++)
        if (buffers[i] != NULL)
            buffers[i]->core.map_count--;
    if (rs_report_times(layer)) /* a program may wait by copies alone */
        rs_timing_collect(layer);
    return result;
}

/* The same while nothing is in order. */
static rs_word call_freely(const rs_entry *entry, const rs_word *w)
{
    const rs_word result = rs_entry_call(entry, w);
    if (entry->kind->stream < 0 && rs_report_times(rs_the_layer()))
        rs_cuda_collect_times();
    return result;
}

/* What must end all conversions does so first. While nothing is brought into order because a stream
 * captures, that may end at any time. */
rs_word rs_cuda_pass(const rs_entry *entry, const rs_word *w)
{
    rs_layer *layer = rs_the_layer();
    rs_word result;
    if (!rs_cuda.is_wanted || atomic_load(&rs_cuda.must_freeze) != NULL) {
        rs_layer_unlock(layer);
        rs_cuda_is_frozen();
        return call_freely(entry, w);
    }
    result =
        entry->kind->stream < 0 ? call_blocking(entry, w, layer, NULL, 0) : rs_entry_call(entry, w);
    rs_layer_unlock(layer);
    return result;
}

rs_word rs_cuda_call_with(const rs_entry *entry, const rs_word *w, rs_command *command,
                          rs_cuda_buffer *const *buffers, size_t count)
{
    if (command->error == 0)
        command->error = rs_cuda_apply_waits(command);
    if (command->error != 0)
        return (rs_word)command->error;
    return entry->kind->stream < 0 ? call_blocking(entry, w, command->layer, buffers, count)
                                   : rs_entry_call(entry, w);
}

/* A copy of some shape, between memory that is named in structures: it may use any. */
rs_word rs_follow_use_everything(const rs_entry *entry, rs_word *w)
{
    rs_layer *layer = rs_the_layer();
    if (rs_cuda_is_frozen())
        return rs_entry_call(entry, w);
    rs_layer_lock(layer);
    rs_cuda_queue *queue = rs_cuda_queue_of(stream_of(entry, w), entry->is_per_thread);
    if (!rs_cuda_follows(queue)) {
        layer->unseen++;
        return rs_cuda_pass(entry, w);
    }
    rs_command command;
    rs_command_start(&command, layer, &queue->core, queue, 0, NULL);
    rs_cuda_use_all(&command);
    rs_word result = rs_cuda_call_with(entry, w, &command, NULL, 0);
    rs_command_end(&command);
    return result;
}

/* A graph holds commands of any kind, which were recorded with the program's own layouts. */
rs_word rs_follow_restore_everything(const rs_entry *entry, rs_word *w)
{
    rs_layer *layer = rs_the_layer();
    if (rs_cuda_is_frozen())
        return rs_entry_call(entry, w);
    rs_layer_lock(layer);
    layer->holds++;
    rs_cuda_queue *queue = rs_cuda_queue_of(stream_of(entry, w), entry->is_per_thread);
    const bool is_followed = rs_cuda_follows(queue);
    rs_layer_unlock(layer);
    if (is_followed)
        rs_layer_restore(layer);
    rs_layer_lock(layer);
    if (is_followed) {
        rs_command command;
        rs_command_start(&command, layer, &queue->core, queue, 0, NULL);
        rs_cuda_use_all(&command);
        rs_cuda_apply_waits(&command);
        rs_command_finish(&command);
    }
    layer->unseen++;
    const rs_word result = rs_entry_call(entry, w);
    layer->holds--;
    rs_layer_unlock(layer);
    return result;
}

/* ---- captures ---- */

static void end_pause(void) RS_LOCKED
{
    if (--rs_cuda.pauses == 0)
        rs_the_layer()->paused = NULL;
}

/* Commands of other streams are not brought into order while one captures: all memory is back by
 * then. */
rs_word rs_follow_begin_capture(const rs_entry *entry, rs_word *w)
{
    rs_layer *layer = rs_the_layer();
    rs_cuda_is_frozen();
    rs_layer_lock(layer);
    rs_cuda_queue *queue = rs_cuda_queue_of(w[0], entry->is_per_thread);
    rs_cuda.pauses++;
    layer->paused = capturing;
    rs_layer_unlock(layer);
    rs_layer_restore(layer);
    rs_layer_lock(layer);
    rs_cuda.captures++;
    rs_layer_unlock(layer);
    const rs_word result = rs_entry_call(entry, w);
    if ((rs_cuda_result)result == RS_CUDA_SUCCESS && queue != NULL) {
        queue->is_capturing = true;
        return result;
    }
    rs_layer_lock(layer);
    rs_cuda.captures--;
    end_pause();
    rs_layer_unlock(layer);
    return result;
}

/* What was given to other streams meanwhile may use anything. */
static void end_capture(rs_cuda_queue *queue) RS_LOCKED
{
    if (!queue->is_capturing)
        return;
    queue->is_capturing = false;
    end_pause();
    if (--rs_cuda.captures > 0)
        return;
    rs_the_layer()->generation++;
    if (rs_cuda.is_wanted && !atomic_load(&rs_cuda.is_frozen))
        rs_cuda_assume_all_used();
}

rs_word rs_follow_end_capture(const rs_entry *entry, rs_word *w)
{
    const rs_word result = rs_entry_call(entry, w);
    rs_layer_lock(rs_the_layer());
    rs_cuda_queue *queue = rs_cuda_queue_of(w[0], entry->is_per_thread);
    if (queue != NULL)
        end_capture(queue);
    rs_layer_unlock(rs_the_layer());
    return result;
}

/* ---- the ends of streams and contexts ---- */

rs_word rs_follow_destroy_stream(const rs_entry *entry, rs_word *w)
{
    rs_layer_lock(rs_the_layer());
    rs_cuda_queue *queue = rs_map_remove(&rs_cuda.streams, (const void *)w[0]);
    if (queue != NULL) {
        end_capture(queue);
        rs_queue_retire(&queue->core);
        rs_map_remove(&rs_the_layer()->queues, queue);
    }
    rs_layer_unlock(rs_the_layer());
    free(queue);
    return rs_entry_call(entry, w);
}

void rs_cuda_collect_times(void)
{
    rs_layer *layer = rs_the_layer();
    rs_layer_lock(layer);
    if (rs_timing_wanted(layer))
        rs_timing_collect(layer);
    rs_layer_unlock(layer);
}

rs_word rs_follow_end_context(const rs_entry *entry, rs_word *w)
{
    rs_cuda_collect_times();
    if (!rs_cuda_is_frozen())
        rs_cuda_freeze("a function that ends a context");
    return rs_entry_call(entry, w);
}

/* The program waits: what was launched before is over. */
rs_word rs_follow_wait(const rs_entry *entry, rs_word *w)
{
    rs_layer *layer = rs_the_layer();
    const rs_word result = rs_entry_call(entry, w);
    if (rs_cuda_is_frozen() || !(rs_cuda.is_wanted || rs_report_times(layer)))
        return result;
    if ((rs_cuda_result)result != RS_CUDA_SUCCESS)
        rs_layer_look_for_failures(layer);
    rs_layer_lock(layer);
    if (rs_timing_wanted(layer)) {
        rs_knowledge_note_wait(layer);
        rs_timing_collect(layer);
    }
    rs_report_keep_up(layer);
    rs_layer_unlock(layer);
    return result;
}
