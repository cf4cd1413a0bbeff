/*
 * The layouts that buffers of a context can be in on a device, with the kernels and plans that
 * convert. A device's compiler takes a quarter of a second for them when it sees them for the first
 * time, and longer for plans. So they are made by threads that take no lock of the layer; policy
 * auto has the kernels built beside the program, before its first launch or when a trial is in
 * sight.
 *
 * Such a thread is never waited for under the layer's lock: the driver may call the program from
 * it, by the function that the program gave to its context, and the program this layer.
 *
 * All functions but the last are called with the layer's lock. The program's own thread can build
 * without it, too.
 */
#ifndef RS_LAYER_DEVICE_LAYOUTS_H
#define RS_LAYER_DEVICE_LAYOUTS_H

#include "layer/core/state.h"

/* Begins to make what is not there yet of a layout for buffers of so many bytes; 0: of any.
 * Whether a thread is making it now. */
bool rs_device_layout_begin(rs_context *context, rs_device device, const rs_relayout *relayout,
                            size_t bytes) RS_LOCKED;

/* Begins to make it if no launch comes soon: with NVIDIA's driver launches take longer while a
 * compiler works beside them, and short ones may never want it. */
void rs_device_layout_prepare(rs_context *context, rs_device device,
                              const rs_relayout *relayout) RS_LOCKED;

/* A launch has come, or the end of the process. */
void rs_device_layouts_defer(rs_layer *layer);

/* Whether a thread is still making something for it. */
bool rs_device_layout_is_pending(const rs_context *context, rs_device device,
                                 const rs_relayout *relayout) RS_LOCKED;

/* Whether plans for so many bytes are needed and not even begun. */
bool rs_device_layout_lacks_plans(const rs_context *context, rs_device device,
                                  const rs_relayout *relayout, size_t bytes) RS_LOCKED;

/* The layout of buffers of so many bytes, when it is not pending; NULL, with the reason (valid
 * until the next failure), when it cannot be. What no thread could be begun for is made here. */
const rs_device_layout *rs_device_layout_find(rs_context *context, rs_device device,
                                              const rs_relayout *relayout, size_t bytes,
                                              const char **why) RS_LOCKED;

/* Seconds that plans took to make since the last call. */
double rs_device_layout_take_seconds(rs_context *context, rs_device device,
                                     const rs_relayout *relayout) RS_LOCKED;

/* Frees all layouts of a context; those that are being built, when they are. */
void rs_device_layouts_free(rs_context *context) RS_LOCKED;

/* Around what the program's own thread builds without the lock: the end of the process and forks
 * wait for it as well. False when the thread is inside such a build already: the driver has called
 * the program from there. Called with the lock. */
bool rs_build_begin(rs_layer *layer) RS_LOCKED;
void rs_build_end(rs_layer *layer) RS_LOCKED;

/* Has a thread of the layer's own build something; false: there is none. The end of the process and
 * forks wait for it. The function is called without the lock. */
bool rs_build_beside(rs_layer *layer, void (*function)(void *data), void *data) RS_LOCKED;

/* Whether this thread is inside a build. */
bool rs_build_is_inside(void);

/* Waits until no thread builds, or for so many seconds. Called without the lock, and returns with
 * it. */
void rs_builds_wait(rs_layer *layer, double longest) RS_LOCKS;

#endif
