/*
 * The states of a buffer, and what each event does to it: one table, buffer.c. It is drawn in
 * lab/docs/correctness.md as `test_core --table` prints it; test_core drives it with random
 * programs, and tools/model/buffer.pml has the order of commands for spin.
 *
 *   original   its bytes are in the program's layout, and may be converted
 *   mapped     the same while the program has it mapped: it may not be converted
 *   kept       the same for good
 *   converted  in the layout of buffer->layout
 *   lost       between two layouts, after a conversion that failed midway
 *
 * What holds in every state, whenever the lock is free:
 *   - a buffer is converted if and only if it has a layout, and then it is neither mapped nor lost;
 *   - a converted buffer has the workspace of its conversion back, and no other buffer has one;
 *   - `ready` is the last conversion. Every command enqueued since waits for it, or is behind it in
 *     the same in-order queue;
 *   - `users` has every queue with a command enqueued since that may still use the buffer. The next
 *     conversion waits for them all.
 */
#ifndef RS_LAYER_BUFFER_H
#define RS_LAYER_BUFFER_H

#include "layer/core/state.h"

typedef enum {
    RS_BUFFER_ORIGINAL,
    RS_BUFFER_MAPPED,
    RS_BUFFER_KEPT,
    RS_BUFFER_CONVERTED,
    RS_BUFFER_LOST,
    RS_BUFFER_STATES
} rs_buffer_state;

typedef enum {
    RS_USE_ORIGINAL, /* a command needs the program's layout */
    RS_USE_SAME,     /* a launch needs the layout that it is in */
    RS_USE_OTHER,    /* a launch needs another one, which it has reserved */
    RS_USE_OPAQUE,   /* a command does not look at its bytes: all are replaced, or none is read */
    RS_REPLACED_ORIGINAL,  /* a command has replaced all of them, in the program's layout */
    RS_REPLACED_CONVERTED, /* in another one, which it has reserved */
    RS_RESTORE,            /* it is restored at once, for good or for now */
    RS_TORN,               /* a conversion has failed midway */
    RS_BUFFER_EVENTS
} rs_buffer_event;

typedef enum {
    RS_DO_NOTHING,
    RS_DO_CONVERT,         /* to the other layout */
    RS_DO_RESTORE,         /* to the program's */
    RS_DO_RESTORE_CONVERT, /* one after the other */
    RS_DO_SET_LAYOUT,      /* the bytes are there already: note where */
    RS_DO_RELEASE,         /* its workspaces */
    RS_DO_REFUSE,          /* the command fails with rs_api_lost */
} rs_buffer_action;

typedef struct {
    rs_buffer_action action;
    rs_buffer_state next; /* if the action succeeds; it stays where it was if that never began */
} rs_buffer_step;

rs_buffer_state rs_buffer_state_of(const rs_buffer *buffer);

rs_buffer_step rs_buffer_next(rs_buffer_state state, rs_buffer_event event);

/* What the table calls them, for the document and for messages of tests. */
const char *rs_buffer_state_name(rs_buffer_state state);
const char *rs_buffer_event_name(rs_buffer_event event);
const char *rs_buffer_action_name(rs_buffer_action action);

/* Whether what is said above of one buffer alone holds. */
bool rs_buffer_is_sound(const rs_buffer *buffer);

#endif
