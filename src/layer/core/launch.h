/*
 * What every launch goes through, whatever the API: a form is chosen (choice.h), its buffers are
 * placed, and where the rewritten form cannot be launched, the program's own is.
 *
 * All functions are called with the layer's lock.
 */
#ifndef RS_LAYER_LAUNCH_H
#define RS_LAYER_LAUNCH_H

#include "layer/core/choice.h"

/* Looks up the kernel and what it depends on, at first and after the lock was released: another
 * thread may have changed it. False: the program has it no more. Clang has marks for functions
 * alone. */
typedef bool rs_launch_find(rs_choice *choice, void *launch);

/* Chooses a form. What is being built and is needed at once is waited for without the lock
 * (device_layouts.h), and not for ever: the build may itself wait for this call, in a callback. */
void rs_launch_choose(rs_layer *layer, rs_choice *choice, rs_stream queue, void *handle,
                      rs_launch_find *find, void *launch) RS_LOCKED;

/* Before the driver's call: places the buffers for the chosen form, whose bit of `forms_run` is
 * given. 0 or the command's error. */
int rs_launch_place(rs_command *command, const rs_choice *choice, unsigned form) RS_LOCKED;

/* After the other form could not be launched, which the API calls `what`: whether the program's own
 * can be; it is chosen then. */
bool rs_launch_falls_back(rs_command *command, rs_choice *choice, int error,
                          const char *what) RS_LOCKED;

#endif
