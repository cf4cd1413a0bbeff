/* Measures, and checks, the marshaling stage on a device. Used by `restride bench marshal`. */
#ifndef RS_ENGINE_OPENCL_MEASURE_H
#define RS_ENGINE_OPENCL_MEASURE_H

#include "engine/opencl/marshal.h"

/* A device with a profiling queue and two buffers: one to convert, one to copy to. */
typedef struct rs_marshal_bench rs_marshal_bench;

/*
 * `device` is a number (in the loader's order) or a part of a name; NULL: the first GPU, else the
 * first device. `bytes` of each buffer; 0: 1 GiB, on a CPU 32 MiB.
 */
restride_status rs_marshal_bench_open(rs_marshal_bench **bench, const char *device, size_t bytes);
void rs_marshal_bench_close(rs_marshal_bench *bench);

const char *rs_marshal_bench_device(const rs_marshal_bench *bench);
size_t rs_marshal_bench_bytes(const rs_marshal_bench *bench);

/* Medians of `repeat` runs, by the device's clock. A copy of the same bytes is timed between the
 * conversions. */
typedef struct {
    rs_marshal_shape shape;
    size_t count;
    size_t bytes;
    double to_asta_seconds;
    double to_aos_seconds;
    double copy_seconds;
} rs_marshal_timing;

restride_status rs_marshal_bench_run(rs_marshal_bench *bench, const rs_record *record, size_t tile,
                                     const rs_marshal_variant *variant, size_t repeat,
                                     rs_marshal_timing *timing);

/* Converts random bytes both ways and compares every leaf with the definition; a sentence names the
 * first wrong one. */
restride_status rs_marshal_bench_verify(rs_marshal_bench *bench, const rs_record *record,
                                        size_t tile, const rs_marshal_variant *variant);

#endif
