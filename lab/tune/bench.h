/*
 * Matrices in an engine's memory, on the host or on a device, on which plans run: each is checked
 * against the definition, element by element, and timed beside copies of the same bytes.
 */
#ifndef RS_LAB_TUNE_BENCH_H
#define RS_LAB_TUNE_BENCH_H

#include "engine/device/device.h"
#include "engine/transfer.h"
#include "transpose/stage_choice.h"

typedef struct {
    restride_engine *engine;
    rs_matrices matrices;
    size_t bytes;
    size_t threads;        /* of a copy on the host */
    rs_transfer *transfer; /* NULL: the engine works in host memory */
    void *original;        /* the matrices as they were */
    void *array;           /* what plans run on */
    rs_device_kernel compare;
    rs_device_memory wrong; /* a count on the device */
} rs_tune_bench;

/* The matrices were checked (rs_matrices_check()). After an error there is nothing to close. */
restride_status rs_tune_bench_open(rs_tune_bench *bench, restride_engine *engine,
                                   const rs_matrices *matrices);
void rs_tune_bench_close(rs_tune_bench *bench);

/* The original over the array; a run of a plan on the array. Both wait for the end. */
restride_status rs_tune_bench_copy(const rs_tune_bench *bench, double *seconds);
restride_status rs_tune_bench_run(const rs_tune_bench *bench, restride_plan *plan, double *seconds);

/* Whether the array is the original, transposed; RESTRIDE_DEVICE_ERROR with a sentence when not. */
restride_status rs_tune_bench_check(const rs_tune_bench *bench);

#endif
