/*
 * Waiting for what another thread does: a build that ends, an event of the driver, exit(). Who
 * changes anything that is waited for calls rs_layer_wake() afterwards; who waits looks again then:
 *
 *     do {
 *         seen = rs_layer_changes(layer);
 *         lock the layer, look, unlock it
 *     } while (!found && rs_layer_wait(layer, seen, end));
 *
 * A change between the look and the wait is not missed, for the count has gone on. Never called
 * with the layer's lock: what is waited for may need it. The clock is rs_seconds_now().
 */
#ifndef RS_LAYER_WAIT_H
#define RS_LAYER_WAIT_H

#include "layer/core/state.h"

/* Something has changed. Takes no lock of the layer but its own: threads of the driver call it. */
void rs_layer_wake(rs_layer *layer);

/* How many changes there were. */
unsigned long long rs_layer_changes(rs_layer *layer);

/* Waits until there are more than `seen`; false when it is `end` before. */
bool rs_layer_wait(rs_layer *layer, unsigned long long seen, double end) RS_UNLOCKED;

/* Seconds that all which policy auto waits for may take from now on. */
double rs_wait_budget(rs_layer *layer, double now) RS_LOCKED;

#endif
