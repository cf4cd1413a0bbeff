/* The driver's events: where they are, and waiting for them. */
#ifndef RS_LAYER_EVENTS_H
#define RS_LAYER_EVENTS_H

#include "layer/core/state.h"

/* Whether a command is complete or has failed. */
bool rs_event_is_over(rs_event event);

/* Waits until it is, for `longest` seconds: it may depend on something that the program does later.
 * Returns the seconds that it took. Called without the lock. */
double rs_event_wait(rs_layer *layer, rs_event event, double longest) RS_UNLOCKED;

/* An event that completes after everything given to the queue so far; flushed, so that others may
 * wait for it. What a queue is to do may wait for what the program has not flushed yet, in another
 * queue: all queues of the context are flushed, too. */
int rs_queue_mark(const rs_queue *queue, rs_event *event) RS_LOCKED;
void rs_queues_flush(rs_layer *layer, rs_group context) RS_LOCKED;

/* Such events of all queues, in a list with room for `more`; NULL when memory is short. */
rs_event *rs_queues_mark(rs_layer *layer, size_t more, size_t *count) RS_LOCKED;

/* Releases those events of a list that are over. */
void rs_events_drop_over(rs_event *events, size_t *count);

#endif
