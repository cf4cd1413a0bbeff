/*
 * Timed launches of queues without profiling. With profiling every launch takes longer (5 us with
 * NVIDIA's driver), so the program's queues stay as they are, and the few launches that policy auto
 * has to time go, with their conversions, by a queue of the layer's own that has it:
 *
 *     the program's queue   ... marker .......................... barrier ...
 *                                     \                          /
 *     the profiling queue, in order    conversions, kernel ------
 *
 * The marker has the launch's wait list and completes when the launch might begin. What follows in
 * the program's queue waits for the barrier, and the program gets the barrier's event.
 *
 * There is no such way for out-of-order queues: a launch there may be needed before others that
 * were enqueued before it can begin, and PoCL's markers wait for all of those, whatever their wait
 * list says. So their launches are not timed, unless they have profiling anyhow.
 *
 * So a profiling queue is empty of anything that the program's queue does not know of, and the
 * records of buffers never name it.
 */
#ifndef RS_LAYER_PROFILED_LAUNCH_H
#define RS_LAYER_PROFILED_LAUNCH_H

#include "layer/core/coherence.h"
#include "layer/core/timing.h"
#include "layer/opencl/driver.h"

/* Makes the profiling queue of one queue of a device before the launches come: with NVIDIA's driver
 * the first takes 85 us, and others 4. */
void rs_profiling_queue_prepare(cl_context context, cl_device_id device) RS_LOCKED;

/* Sends the command to the profiling queue; false: it stays where it was. Each that is begun is
 * ended, before the command is. */
bool rs_profiled_launch_begin(rs_command *command) RS_LOCKED;

/* `launched` is the kernel's event; NULL: it could not be enqueued, and then so must `event` be,
 * which otherwise takes the program's. */
void rs_profiled_launch_end(const rs_command *command, cl_event launched,
                            cl_event *event) RS_LOCKED;

/* Before a queue's record ends. */
void rs_profiling_queue_close(rs_layer_queue *queue) RS_LOCKED;

/* What the driver says of an event that stands for a launch, corrected. */
void rs_profiled_event_correct(cl_event event, cl_event_info name, void *value) RS_LOCKED;

/* Releases those events that the program has released. */
void rs_profiled_events_trim(void) RS_LOCKED;

#endif
