/* Buffers that are restored at once, whatever the next command is, and the reasons for which
 * nothing may be converted. */
#ifndef RS_LAYER_RESTORE_H
#define RS_LAYER_RESTORE_H

#include "layer/core/coherence.h"

/*
 * Restores a buffer to AoS (done on return), keeps it there, and says why. Unknown handles
 * are ignored. Called without the lock: what it waits for may need a callback of the program, and
 * that the lock.
 */
int rs_buffer_keep(rs_layer *layer, rs_allocation handle, const char *why) RS_UNLOCKED;

/* The same for every buffer; from now on nothing is converted. */
void rs_layer_freeze(rs_layer *layer, const char *why) RS_UNLOCKED;

/* The same for every buffer, for now. */
void rs_layer_restore(rs_layer *layer) RS_UNLOCKED;

/* Begins to restore those that only kernels can restore that have never run. Called with the lock.
 */
void rs_layer_restore_untried(rs_layer *layer) RS_LOCKED;

/* Events behind all commands and conversions so far. The caller releases them and frees the list;
 * NULL when memory is short. Called with the lock. */
rs_event *rs_layer_mark(rs_layer *layer, size_t *count) RS_LOCKED;

/* Before the program's last hold on its commands ends: what it has held back is still under way
 * until every queue has come to here. Where nothing is to be converted yet, the queues get their
 * markers when the first layout to convert to is known. */
void rs_layer_follow_held(rs_layer *layer) RS_LOCKED;

/* Whether it is; releases what is over. */
bool rs_layer_is_held(rs_layer *layer) RS_LOCKED;

/* Why nothing may be converted now, or NULL. */
const char *rs_layer_frozen(rs_layer *layer) RS_LOCKED;

#endif
