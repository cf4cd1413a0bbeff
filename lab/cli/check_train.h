/*
 * Times of kernels on an OpenCL device. Short ones are timed as trains: launched many times, back
 * to back, so that neither the clock's steps nor the host's calls are in the time of one.
 */
#ifndef RS_LAB_CLI_CHECK_TRAIN_H
#define RS_LAB_CLI_CHECK_TRAIN_H

#include "apply/launch.h"
#include "engine/opencl/opencl.h"

/* With its arguments. */
typedef struct {
    const char *name;
    cl_kernel kernel;
    rs_launch shape;
} rs_train_kernel;

/* A queue in order, with times, and what keeps the device busy while a train is enqueued. */
typedef struct {
    const cl_icd_dispatch *api;
    cl_context context;
    cl_command_queue queue;
    bool plug_wanted; /* it was, so it is there unless there was no memory for it */
    cl_mem plug;
    double plug_seconds; /* of copying one half of it to the other */
} rs_train_track;        /* only the first three members have to be set */

void rs_train_close(rs_train_track *track);

/* Enqueues each kernel once; the event of the last one goes to `event` unless that is NULL. */
restride_status rs_train_enqueue(const rs_train_track *track, const rs_train_kernel *kernels,
                                 int count, cl_event *event);

/* How often kernels that take so long have to be launched for a train of two milliseconds. */
int rs_train_launches(double seconds);

/* Runs all kernels one after another, `launches` times, and says how long they take once. One
 * launch counts from its begin; of several the first one only warms up. */
restride_status rs_train_run(rs_train_track *track, const rs_train_kernel *kernels, int count,
                             int launches, double *seconds);

/* The median of `count` times, which are sorted. */
double rs_train_median(double *values, int count);

#endif
