/* Runs a kernel in Oclgrind, with the recorder that writes down its accesses. */
#ifndef RS_CLI_SIM_LAUNCH_H
#define RS_CLI_SIM_LAUNCH_H

#include "cli/sim_signature.h"

#include <stdio.h>

typedef struct {
    const char *file;
    const rs_sim_signature *signature; /* every parameter is given */
    size_t global[3];
    size_t local[3];
    char *const *options; /* the compiler's */
    size_t option_count;
} rs_sim_launch;

typedef struct rs_sim_running rs_sim_running;

/* Starts it; the recording is read from *stream (sim/trace.h) while it runs. */
restride_status rs_sim_launch_start(rs_sim_running **running, const rs_sim_launch *launch,
                                    FILE **stream);

/* Waits for the end, and adds to the sentence of a failure what Oclgrind has to say. `status` is
 * that of reading the recording; returned, unless the launch itself failed. */
restride_status rs_sim_launch_end(rs_sim_running *running, restride_status status);

#endif
