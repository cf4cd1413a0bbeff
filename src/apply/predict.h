/*
 * What a change should gain where memory is the limit: for a warp and one iteration of the
 * innermost loops, the bursts that its references touch together, and its memory instructions.
 * Loops are taken to run often, and a burst to stay in the cache for one iteration; packing is left
 * out.
 */
#ifndef RS_APPLY_PREDICT_H
#define RS_APPLY_PREDICT_H

#include "apply/spaces.h"

typedef struct {
    double threads, changed; /* in proportion to the time */
} rs_prediction;

/* With `spaces` (else NULL) for arrays that were placed. */
restride_status rs_predict(rs_prediction *prediction, const rs_kernels *kernels,
                           const rs_spaces *spaces, const rs_device_model *device);

#endif
