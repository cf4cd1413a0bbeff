/* Runs the kernels of a nest on an OpenCL device: as it was written, with threads, and changed. */
#ifndef RS_LAB_CLI_CHECK_RUN_H
#define RS_LAB_CLI_CHECK_RUN_H

#include "apply/values.h"
#include "lab/cli/check_device.h"

typedef struct {
    bool ran_original; /* as one work-item; left out where that would take too long */
    size_t elements;   /* compared */
    size_t different;  /* whose bytes differ */
    double largest;    /* relative difference */
    size_t first;      /* index of the first that differs more than is allowed */
    const char *array; /* in which it is; NULL: none does */
    double allowed;
    double original, threads, pack, changed, unpack; /* seconds, medians */
    double again;                                    /* the nest with threads, timed once more */
    int launches;                                    /* of it in each of its times */
    rs_values values;
} rs_check_result;

typedef struct {
    int width;
    int repeat; /* times of which the median counts; trains of launches where one is short */
    uint64_t seed;
    size_t most_trips; /* of the original as one work-item */
} rs_check_settings;

/* The values of the result are the caller's, from rs_values_choose(). */
restride_status rs_check_run(rs_check_device *device, const json_t *nest,
                             const rs_check_settings *settings, rs_check_result *result);

#endif
