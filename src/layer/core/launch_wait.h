/*
 * What policy auto lets a launch wait for: the time of the one before, without which a program that
 * enqueues all its launches at once would be over before anything is known, and the build of
 * conversions that it wants. Both take only a little of the program's time so far.
 */
#ifndef RS_LAYER_LAUNCH_WAIT_H
#define RS_LAYER_LAUNCH_WAIT_H

#include "layer/core/state.h"

/* Waits for it. Called without the lock, for a callback of the program may need it. */
void rs_launch_wait(rs_layer *layer, rs_stream queue, void *handle) RS_UNLOCKED;

#endif
