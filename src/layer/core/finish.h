/* What exit() waits for: see ending.h. */
#ifndef RS_LAYER_FINISH_H
#define RS_LAYER_FINISH_H

#include <stdbool.h>

/* Waits, for some seconds at most, until no thread builds for the layer and none of its commands is
 * in a queue. Called without the lock. */
void rs_layer_finish(bool has_first_runs);

#endif
