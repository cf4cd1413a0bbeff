/*
 * The locks of a layer, and their order: a thread that holds one takes only those below it.
 *
 *   lock               guards                                taken by
 *   rs_layer.mutex     all records and counts (state.h)      rs_layer_lock(), rs_command_begin()
 *   rewriter.mutex     the requests that are under way       rewriter.c alone
 *   changes.mutex      the wake-ups of waiting threads       wait.c alone
 *
 * rs_layer.mutex is recursive, for a driver may call the program back, and so this layer, from
 * inside a call. No function of the layer takes it twice by itself. Nobody waits for another
 * thread, a compiler or an event with it, but verify.c. The threads that build conversions and
 * those of the driver take changes.mutex alone, so whoever holds rs_layer.mutex may join a thread
 * that has built.
 *
 * Every function is marked with what it needs, and clang checks it (tests/layer/locks.sh). It
 * compares expressions, and a layer is reached by many: one name stands for the lock of them all.
 */
#ifndef RS_LAYER_LOCKS_H
#define RS_LAYER_LOCKS_H

#include "base/thread_safety.h"

struct RS_CAPABILITY("layer") rs_layer_lock_name {
    int unused;
};
extern struct rs_layer_lock_name rs_layer_locked; /* for the marks alone: it is defined nowhere */

#define RS_LOCKED RS_REQUIRES(rs_layer_locked)   /* called with the lock */
#define RS_UNLOCKED RS_EXCLUDES(rs_layer_locked) /* called without it */
#define RS_LOCKS RS_ACQUIRES(rs_layer_locked)    /* returns with it */
#define RS_UNLOCKS RS_RELEASES(rs_layer_locked)  /* returns without it */

#endif
