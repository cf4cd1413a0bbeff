/*
 * Which layout each buffer is in, and the conversions between a program's commands. "AoS" stands
 * for the program's own layout, also of arrays that it keeps in SoA.
 *
 * A command is wrapped so:
 *
 *     rs_command command;
 *     rs_command_begin(&command, layer, queue, wait_count, wait_list);   locks the layer
 *     rs_command_use(&command, buffer, NULL);                            NULL: it must be AoS
 *     error = command.error;
 *     if (error == 0)
 *         error = target->clEnqueue...(..., command.wait_count, command.wait_list, &event);
 *     rs_command_end(&command);                                          unlocks
 *
 * Order between commands. Programs may use one buffer from several queues, without events, as long
 * as they only read it; a conversion writes it. So a conversion waits for every command that was
 * given to another queue (or to an out-of-order queue) since the last conversion, by a marker
 * there; and every later command on another queue waits for the conversion's event. On one in-order
 * queue, the common case, nothing is added.
 *
 * Blank arrays. An array is blank while the order of its bytes means nothing, in two cases: none of
 * them was written or read since its allocation, or all are one byte and nothing was done since. A
 * use of a blank array in any layout needs no conversion: the array is declared to be in that
 * layout, and is blank no longer. This is sound. Of one byte, all orders are the same. Fresh memory
 * has some content that the API leaves undefined, and nobody has looked at it. A conversion would
 * only choose an order of it, so that a program behaves as if its memory had come with these very
 * bytes in another order: each result is one that a plain run may have. From that first use on the
 * array is like all others, so what was read once does not change. No byte comes from elsewhere,
 * and memory that comes with zeros has zeros. Every command that may use a buffer says so here, or
 * counts as unseen (rs_layer.unseen) and ends the state of all.
 *
 * What may fail. Before a buffer is converted it has all memory that the conversion back takes, so
 * that this fails by the driver alone. A conversion that fails before its first command
 * leaves the buffer as it was: a launch then takes the program's own kernel. One that fails midway
 * loses the bytes: every command on that buffer fails from then on, and the report says so. So does
 * one that fails while it runs, once that is seen: at the buffer's next conversion, or when a wait
 * of the program or the layer fails.
 */
#ifndef RS_LAYER_COHERENCE_H
#define RS_LAYER_COHERENCE_H

#include "layer/core/policy.h"
#include "layer/core/state.h"

typedef struct {
    rs_layer *layer;
    rs_queue *queue;  /* NULL: unknown; the command goes through as it is */
    rs_stream handle; /* where it is enqueued: that queue, or its profiling queue */
    bool is_profiled; /* has times there */
    int error;        /* of a conversion that failed: the command must not be enqueued */
    unsigned wait_count;
    const void *wait_list; /* the program's, or `joined` */
    rs_event *joined;
    unsigned joined_capacity;
    bool keeps_run; /* the program's own layout by choice of the policy: see rs_buffer_end_run */
    const char *refusal; /* the error is of a conversion that never began, and this is why: without
                            it the command can be enqueued; else NULL */
    size_t argument;     /* of a launch: that of the last buffer */
} rs_command;

void rs_command_begin(rs_command *command, rs_layer *layer, rs_stream queue, unsigned wait_count,
                      const void *wait_list) RS_LOCKS;

/* The same with the lock and the queue's record, where both are there: `queue` may be NULL. */
void rs_command_start(rs_command *command, rs_layer *layer, rs_queue *queue, rs_stream handle,
                      unsigned wait_count, const void *wait_list) RS_LOCKED;

/* Brings a buffer into a layout (NULL: AoS) for this command and notes its use. NULL for a buffer
 * that has no record is ignored. */
void rs_command_use(rs_command *command, rs_buffer *buffer,
                    const rs_device_layout *layout) RS_LOCKED;

/* The same for all buffers of a launch, after rs_kernel_bind(): `layouts` are those of its targets,
 * NULL the program's own. None is converted unless all that this takes is there. */
void rs_command_use_all(rs_command *command, const rs_kernel *kernel,
                        const rs_device_layout *const *layouts, rs_policy_demand demand) RS_LOCKED;

/* Whether a next command like this one would find nothing to do for the buffer, as long as the
 * generation does not change. */
bool rs_command_is_repeatable(const rs_command *command, const rs_buffer *buffer) RS_LOCKED;

/* Takes all that the buffer needs to be brought into a layout and back, so that the use can only
 * fail by the driver; false, with the reason in restride_last_error(), when that is not to be had.
 * rs_buffer_unreserve() gives it back, if the buffer was not brought there. */
bool rs_command_reserve(rs_command *command, rs_buffer *buffer,
                        const rs_device_layout *layout) RS_LOCKED;
void rs_buffer_unreserve(rs_buffer *buffer) RS_LOCKED;

/* The buffer's bytes have been replaced by others: of a layout that is reserved, or, with NULL,
 * in the program's own layout. */
void rs_buffer_set_layout(rs_buffer *buffer, const rs_device_layout *layout) RS_LOCKED;

/* The order of the buffer's bytes means nothing, from now until its next use. */
void rs_buffer_set_blank(rs_buffer *buffer) RS_LOCKED;

static inline bool rs_buffer_is_blank(const rs_buffer *buffer)
{
    return buffer->blank == buffer->context->layer->unseen;
}

/* Notes a use that leaves the bytes' layout alone: the command replaces all of them, or reads none.
 */
void rs_command_touch(rs_command *command, rs_buffer *buffer) RS_LOCKED;

void rs_command_end(rs_command *command) RS_UNLOCKS;

/* The same for one that was started with the lock, which stays. */
void rs_command_finish(rs_command *command) RS_LOCKED;

/* Lets the command wait for an event as well. */
void rs_command_wait(rs_command *command, rs_event event) RS_LOCKED;

/* The command goes by another queue of the same device, which has profiling, and waits for that
 * event alone; false when memory is short. */
bool rs_command_redirect(rs_command *command, rs_stream handle, rs_event event) RS_LOCKED;

/* Before a command that changes a buffer's bytes behind other queues' backs, as a conversion does:
 * it waits for everything that may still use them. After it: who comes later waits for `event`,
 * which is taken over. */
void rs_command_wait_for_users(rs_command *command, rs_buffer *buffer) RS_LOCKED;
void rs_buffer_changed(rs_buffer *buffer, rs_queue *queue, rs_event event) RS_LOCKED;

/* On a queue of its own; the buffer's last conversion is that from now on. 0 or an error. */
int rs_buffer_restore(rs_buffer *buffer) RS_LOCKED;

/* Whether what restores it has run before. */
bool rs_buffer_restore_has_run(const rs_buffer *buffer) RS_LOCKED;

/* A conversion may also fail while it runs. That is looked for where another would follow, and
 * after a wait that failed: the buffer is lost then. */
void rs_buffer_look_for_failure(rs_buffer *buffer) RS_LOCKED;
void rs_layer_look_for_failures(rs_layer *layer) RS_UNLOCKED;

/* A launch wants the buffer in another layout. */
void rs_buffer_note_wanted(rs_buffer *buffer, struct rs_known_kernel *by) RS_LOCKED;

/* Something needed the buffer in AoS: the launches that wanted it otherwise are over for now. */
void rs_buffer_end_run(rs_buffer *buffer) RS_LOCKED;

/* Before a queue's record ends: its place among the users of buffers is taken by an event. */
void rs_queue_retire(rs_queue *queue) RS_LOCKED;

/* Frees what a buffer's record holds. */
void rs_buffer_forget(rs_buffer *buffer) RS_LOCKED;

#endif
