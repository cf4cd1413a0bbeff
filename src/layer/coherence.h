/*
 * Which layout each buffer is in, and the conversions between a program's commands. "AoS" stands
 * for the program's own layout, also of arrays that it keeps in SoA.
 *
 * A command is wrapped so:
 *
 *     rs_command command;
 *     rs_command_begin(&command, queue, wait_count, wait_list);     locks the layer
 *     rs_command_use(&command, buffer, NULL);                       NULL: it must be AoS
 *     error = command.error ? command.error
 *                           : target->clEnqueue...(..., command.wait_count, command.wait_list,
 * &event); rs_command_end(&command);                                     unlocks
 *
 * Order between commands. Programs may use one buffer from several queues, without events, as long
 * as they only read it; a conversion writes it. So a conversion waits for every command that was
 * given to another queue (or to an out-of-order queue) since the last conversion, by a marker
 * there; and every later command on another queue waits for the conversion's event. On one in-order
 * queue, the common case, nothing is added.
 *
 * What may fail. Before a buffer leaves the program's layout it has all memory that the way back
 * takes, so that this fails by the driver alone. A conversion that fails before its first command
 * leaves the buffer as it was: a launch then takes the program's own kernel. One that fails midway
 * loses the bytes: every command on that buffer fails from then on, and the report says so. So does
 * one that fails while it runs, once that is seen: at the buffer's next conversion, or when a wait
 * of the program or the layer fails.
 */
#ifndef RS_LAYER_COHERENCE_H
#define RS_LAYER_COHERENCE_H

#include "layer/residences.h"

typedef struct {
    rs_queue *queue;         /* NULL: unknown; the command goes through as it is */
    cl_command_queue handle; /* where it is enqueued: that queue, or its own (detour.h) */
    bool is_profiled;        /* has times there */
    cl_int error;            /* of a conversion that failed: the command must not be enqueued */
    cl_uint wait_count;
    const cl_event *wait_list; /* the program's, or `joined` */
    cl_event *joined;
    cl_uint joined_capacity;
    bool keeps_run;  /* the program's own layout by choice of the policy: see rs_buffer_end_run */
    bool is_refused; /* the error is of a conversion that never began: without it the command can be
                        enqueued */
} rs_command;

void rs_command_begin(rs_command *command, cl_command_queue queue, cl_uint wait_count,
                      const cl_event *wait_list);

/* Brings a buffer into a residence (NULL: AoS) for this command and notes its use. A sub-buffer
 * stands for its parent, with NULL alone. Unknown handles are ignored. */
void rs_command_use(rs_command *command, cl_mem buffer, const rs_residence *residence);

/* Takes all that the buffer needs to be brought into a residence and back, so that the use can only
 * fail by the driver; false, with the reason in restride_last_error(), when that is not to be had.
 * rs_buffer_unreserve() gives it back, if the buffer was not brought there. */
bool rs_command_reserve(rs_command *command, rs_buffer *buffer, const rs_residence *residence);
void rs_buffer_unreserve(rs_buffer *buffer);

/* The buffer's bytes have been replaced by others: of a residence that is reserved, or, with NULL,
 * in the program's own layout. */
void rs_buffer_settle(rs_buffer *buffer, const rs_residence *residence);

/* Notes a use that leaves the bytes' layout alone: the command replaces all of them, or reads none.
 */
void rs_command_touch(rs_command *command, cl_mem buffer);

void rs_command_end(rs_command *command);

/* Lets the command wait for an event as well. */
void rs_command_wait(rs_command *command, cl_event event);

/* The command goes by another queue of the same device, which has profiling, and waits for that
 * event alone; false when memory is short. */
bool rs_command_divert(rs_command *command, cl_command_queue handle, cl_event event);

/* Before a command that changes a buffer's bytes behind other queues' backs, as a conversion does:
 * it waits for everything that may still use them. After it: who comes later waits for `event`,
 * which is taken over. */
void rs_command_own(rs_command *command, rs_buffer *buffer);
void rs_buffer_changed(rs_buffer *buffer, rs_queue *queue, cl_event event);

/*
 * Brings a buffer back to AoS (it is done on return), keeps it there, and says why. Unknown handles
 * are ignored. Called without the lock: what it waits for may need a callback of the program, and
 * that the lock.
 */
cl_int rs_buffer_pin(cl_mem handle, const char *why);

/* The same for every buffer; from now on nothing is converted. */
void rs_layer_freeze(const char *why);

/* The same for every buffer, for now. */
void rs_layer_restore(void);

/* Begins to bring back those that only kernels can that have never run. Called with the lock. */
void rs_layer_restore_untried(void);

/* Events behind all commands and conversions so far. The caller releases them and frees the list;
 * NULL when memory is short. Called with the lock. */
cl_event *rs_layer_mark(size_t *count);

/* Before the last user event without a status is complete: what it has held back is still under way
 * until every queue has come to here. Where nothing is to be converted yet, the queues get their
 * markers when the first layout to convert to is known. */
void rs_layer_follow_held(void);

/* Whether it is; lets go of what is over. */
bool rs_layer_is_held(void);

/* Why nothing may be converted now, or NULL; and why not once the program runs native kernels. */
const char *rs_layer_frozen(void);
extern const char rs_native_reason[];

/* After a wait that failed: buffers whose conversion has failed are lost. */
void rs_layer_look_for_failures(void);

/* Something needed the buffer in AoS: the launches that wanted it otherwise are over for now. */
void rs_buffer_end_run(rs_buffer *buffer);

/* Before a queue's record ends: its place among the users of buffers is taken by an event. */
void rs_queue_retire(rs_queue *queue);

/* Frees what a buffer's record holds. */
void rs_buffer_forget(rs_buffer *buffer);

#endif
