/*
 * Requests with a stride on a device of the OpenCL or the CUDA engine, and streams of words: what
 * steering.h's search measures. A device has one of these at a time; not thread-safe.
 */
#ifndef RS_LAB_PROBE_MEASURE_H
#define RS_LAB_PROBE_MEASURE_H

#include "lab/probe/steering.h"
#include "restride/engine.h"

typedef enum {
    RS_PROBE_MEMORY, /* no word is read twice, so caches do not answer */
    RS_PROBE_CACHE   /* each chain reads one word for ever, as in the thesis */
} rs_probe_target;

typedef struct {
    size_t bytes;      /* of memory that is read; half, or less, when the device has no more */
    size_t groups;     /* that run at once; 0: 2 a processor */
    size_t items;      /* work-items of each, with requests of their own */
    double seconds;    /* of a measurement, at least */
    size_t repeat;     /* measurements, of which the median counts */
    size_t unit_bytes; /* addresses that come back lie this far from those before */
} rs_probe_options;

typedef struct rs_probe_device rs_probe_device;

/* The engine is rs_opencl_open()'s or rs_cuda_open()'s and stays the caller's. */
restride_status rs_probe_device_open(rs_probe_device **device, restride_engine *engine,
                                     const rs_probe_options *options);
void rs_probe_device_close(rs_probe_device *device);

/* Requests a second; `stride` is a multiple of 4 bytes, at most half of the memory. */
restride_status rs_probe_device_rate(rs_probe_device *device, rs_probe_target target, size_t stride,
                                     double *rate);

/* The memory that there is, and the requests that are under way at once. */
size_t rs_probe_device_bytes(const rs_probe_device *device);
size_t rs_probe_device_in_flight(const rs_probe_device *device);

/* Seconds to read all of a memory's words that lie `stride` bytes apart: one pass through it
 * (RS_PROBE_MEMORY), or as many words in a part of it that fits into caches (RS_PROBE_CACHE). */
restride_status rs_probe_device_stream(rs_probe_device *device, rs_probe_target target,
                                       size_t stride, double *seconds);

#endif
