/*
 * The layouts that buffers of a context can be in, with the kernels that convert. A device's
 * compiler takes a quarter of a second for them when it sees them for the first time. So policy
 * auto has them built beside the program, by a thread that takes no lock of the layer.
 *
 * Such a thread is never waited for under the layer's lock: the driver may call the program from
 * it, by the function that the program gave to its context, and the program this layer.
 *
 * All functions but the last are called with the layer's lock.
 */
#ifndef RS_LAYER_RESIDENCES_H
#define RS_LAYER_RESIDENCES_H

#include "layer/state.h"

/* The residence of buffers of so many bytes, made if there is none yet; NULL, with the reason
 * (valid until the next failure), when it cannot be. Of one that a thread still builds a second is
 * made. */
const rs_residence *rs_residence_find(rs_context *context, cl_device_id device,
                                      const rs_relayout *relayout, size_t bytes, const char **why);

/* Begins to build it, if it is new. */
void rs_residence_begin(rs_context *context, cl_device_id device, const rs_relayout *relayout);

/* Whether a thread is still building it. */
bool rs_residence_is_pending(const rs_context *context, cl_device_id device,
                             const rs_relayout *relayout);

/* Frees all residences of a context; those that are being built, when they are. */
void rs_residences_free(rs_context *context);

/* Waits until no thread builds. Called without the lock, and returns with it. */
void rs_residences_await(void);

#endif
