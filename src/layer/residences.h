/*
 * The layouts that buffers of a context can be in, with the kernels that convert. A device's
 * compiler takes a quarter of a second for them when it sees them for the first time. So policy
 * auto has them built beside the program, by a thread that takes no lock of the layer.
 *
 * All functions are called with the layer's lock.
 */
#ifndef RS_LAYER_RESIDENCES_H
#define RS_LAYER_RESIDENCES_H

#include "layer/state.h"

/* The residence of a record in tiles, made if new; NULL, with the reason, when it cannot be. Waits
 * for a thread that builds it. */
const rs_residence *rs_residence_find(rs_context *context, cl_device_id device,
                                      const rs_record *record, size_t tile, const char **why);

/* Begins to build it, if it is new. */
void rs_residence_begin(rs_context *context, cl_device_id device, const rs_record *record,
                        size_t tile);

/* Whether a thread is still building it. */
bool rs_residence_is_pending(const rs_context *context, cl_device_id device,
                             const rs_record *record, size_t tile);

/* Waits for what is being built, and frees all residences of a context. */
void rs_residences_free(rs_context *context);

#endif
