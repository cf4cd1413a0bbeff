/*
 * How long the forms of a nest take on a device, from a model: what their warps move goes through
 * the device's caches (traffic.h), and the time is that of the slowest of memory, caches, memory
 * pipelines, arithmetic, and waiting for data. Packing is left out.
 */
#ifndef RS_APPLY_PREDICT_H
#define RS_APPLY_PREDICT_H

#include "apply/spaces.h"
#include "apply/values.h"

typedef struct {
    double threads, changed;                   /* seconds */
    const char *bound_threads, *bound_changed; /* what takes the longest */
} rs_prediction;

/* With `spaces` (else NULL) for arrays that were placed, the nest's description (apply.h) and the
 * numbers of its parameters. */
restride_status rs_predict(rs_prediction *prediction, const rs_kernels *kernels,
                           const rs_spaces *spaces, const json_t *description,
                           const rs_values *values);

#endif
