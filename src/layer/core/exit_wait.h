/* What exit() waits for: see process_exit.h. */
#ifndef RS_LAYER_EXIT_WAIT_H
#define RS_LAYER_EXIT_WAIT_H

#include "layer/core/state.h"

/* Waits, for some seconds at most, until no thread builds for the layer and none of its commands is
 * in a queue. Called without the lock. */
void rs_exit_wait(rs_layer *layer, bool has_first_runs) RS_UNLOCKED;

#endif
