/* Running the user's program: its signals, its exit status, and a sentence when it cannot be
 * started. */
#ifndef RS_CLI_PROCESS_H
#define RS_CLI_PROCESS_H

#include "base/status.h"

#include <stdbool.h>

typedef struct {
    bool started;
    int start_error; /* errno of exec when it could not be started */
    int exit_status; /* of a program that ended by itself */
    int signal;      /* that ended it, or 0 */
    long process;    /* its number */
    double seconds;  /* from start to end */
} rs_process_result;

/*
 * Runs a program with this process's environment and standard streams and waits for it. Signals
 * that other processes send to this one meanwhile are passed on; those of the terminal reach the
 * program by themselves.
 */
restride_status rs_process_run(char **arguments, rs_process_result *result);

/*
 * Gives every program started from now on the OpenCL layer, whichever loader it loads:
 * one that knows layers by OPENCL_LAYERS, another by LD_AUDIT (src/loader/). RESTRIDE_IO when a
 * part is not there; then nothing is set.
 */
restride_status rs_process_add_layer(void);

/* Ends this process as the program ended: with its exit status (returned) or by its signal (does
 * not return). */
int rs_process_end_alike(const rs_process_result *result);

#endif
