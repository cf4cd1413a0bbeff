/*
 * Plans: a conversion between two layouts, worked out once and run as often as wanted.
 *
 *     restride_layout *from, *to;
 *     restride_engine *engine;
 *     restride_plan *plan = NULL;
 *     restride_layout_parse(&from, "i:1003 f:5 float", "i f");
 *     restride_layout_parse(&to, "i:1003 f:5 float", "i/32 f i%32");
 *     restride_engine_create_host(&engine, 0);
 *     restride_status status = restride_plan_convert(&plan, engine, from, to);
 *     static float a[1003 * 5];
 *     assert(status == RESTRIDE_OK && restride_execute(plan, a) == RESTRIDE_OK);   // in place
 *     restride_plan_destroy(plan);        // before its engine
 *     restride_engine_destroy(engine);
 *     restride_layout_destroy(to);
 *     restride_layout_destroy(from);
 *
 * A plan may run from several threads at once on different buffers.
 */
#ifndef RESTRIDE_PLAN_H
#define RESTRIDE_PLAN_H

#include "restride/engine.h"
#include "restride/layout.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct restride_plan restride_plan;

/* Options of a planner. All zero: it chooses. */
typedef struct {
    /* The most scratch memory that the plan may take, in bytes. 0: 0.5 % of the array and 4 MiB a
     * thread. With more, its description says what that gains: on a device, the bytes of the array
     * and a MiB let it copy the array there in its new order, and back. */
    size_t scratch_bytes;
    /* The shortest run of bytes worth moving, where it is longer than a cache line. For an array in
     * a mapped file this is a page. */
    size_t run_bytes;
    /* The name of a method, as restride_plan_describe() writes it and docs/planner.md lists it.
     * NULL: the planner chooses. */
    const char *method;
} restride_plan_options;

/*
 * Plans the conversion of an array from one layout to another, in place. Both layouts must have the
 * same dimensions, one of which is a record. The host engine converts between any two layouts. A
 * device engine converts where it has the stages.
 *
 * A padded layout makes the array larger. The buffer must then be as large as the larger of the two
 * layouts. The array begins where the buffer begins, and the bytes of padding are undefined
 * afterwards. The bound on scratch memory is that of restride_transpose().
 *
 * The engine must outlive the plan; the layouts need not. RESTRIDE_UNSUPPORTED: the engine has no
 * stages for these layouts, or the elements have no size. RESTRIDE_DEVICE_LIMIT: a tile does not
 * fit into the device's local memory. Thread-safe.
 */
RESTRIDE_API restride_status restride_plan_convert(restride_plan **plan, restride_engine *engine,
                                                   const restride_layout *from,
                                                   const restride_layout *to);

/*
 * Plans the conversion of any array, with options; otherwise like restride_plan_convert().
 * `options` may be NULL, and the method in them is ignored.
 *
 * `elem_size` is the size of an element in bytes where no dimension is a record. It must be 0 where
 * one is, because a record states the sizes of its members (RESTRIDE_INVALID_ARGUMENT).
 */
RESTRIDE_API restride_status restride_plan_convert_with(restride_plan **plan,
                                                        restride_engine *engine,
                                                        const restride_layout *from,
                                                        const restride_layout *to, size_t elem_size,
                                                        const restride_plan_options *options);

/*
 * Runs a plan on a buffer that holds the array. The buffer is a pointer for the host engine and a
 * CUdeviceptr cast to a pointer for the CUDA engine. For the OpenCL engine it is the cl_mem of
 * a buffer, or of a part of one, that kernels may read and write.
 *
 * Returns when the conversion is done. With the CUDA engine it returns when the conversion is
 * enqueued (restride/cuda.h). After an error the sentence ends with the state of the buffer:
 * unchanged, or undefined when a device failed after it had begun.
 */
RESTRIDE_API restride_status restride_execute(restride_plan *plan, void *buffer);

/* Options of a run. All zero: nobody watches it. */
typedef struct {
    /*
     * Called about five times a second by a thread of its own, and once by the calling thread after
     * success. NULL: never. Must not run or destroy the plan.
     *
     * `done` of `total` bytes have reached their place, summed over the stages. `done` never
     * shrinks; within a stage it is an estimate.
     */
    void (*progress)(void *context, size_t done, size_t total);
    void *context; /* handed to it */
} restride_run_options;

/* Runs a plan with options; otherwise like restride_execute(). `options` may be NULL. */
RESTRIDE_API restride_status restride_execute_with(restride_plan *plan, void *buffer,
                                                   const restride_run_options *options);

/*
 * Plans the conversion of an array from one buffer to another, in one pass. The layouts are any of
 * the same dimensions: a transposition is "y x" to "x y", and records may go between AoS, SoA and
 * ASTA. `elem_size` is that of restride_plan_convert_with(). Run it with restride_execute_copy().
 *
 *     restride_layout *from, *to;
 *     restride_engine *engine;
 *     restride_plan *plan = NULL;
 *     restride_layout_parse(&from, "y:2 x:3 float", "y x");
 *     restride_layout_parse(&to, "y:2 x:3 float", "x y");
 *     restride_engine_create_host(&engine, 0);
 *     restride_status status = restride_plan_convert_copy(&plan, engine, from, to, 0);
 *     float a[6] = {1, 2, 3, 4, 5, 6}, b[6];
 *     assert(status == RESTRIDE_OK && restride_execute_copy(plan, a, b) == RESTRIDE_OK);
 *     assert(b[1] == 4);
 *     restride_plan_destroy(plan);
 *     restride_engine_destroy(engine);
 *     restride_layout_destroy(to);
 *     restride_layout_destroy(from);
 *
 * The engine must outlive the plan; the layouts need not. RESTRIDE_UNSUPPORTED: the layouts cut the
 * array into too many parts, or the elements have no size. Thread-safe. Since 0.1.
 */
RESTRIDE_API restride_status restride_plan_convert_copy(restride_plan **plan,
                                                        restride_engine *engine,
                                                        const restride_layout *from,
                                                        const restride_layout *to,
                                                        size_t elem_size);

/*
 * Runs a plan of restride_plan_convert_copy(). Both buffers are what restride_execute() takes. Each
 * needs the bytes of its layout. The source is only read. Padding of the target is not written. The
 * buffers must not overlap: where both are addresses this is checked (RESTRIDE_INVALID_ARGUMENT).
 * It returns when restride_execute() would. After an error the sentence says whether the target is
 * unchanged or undefined. Thread-safe on different targets. Since 0.1.
 */
RESTRIDE_API restride_status restride_execute_copy(restride_plan *plan, const void *from, void *to);

/* The bytes of the array that a plan is for, which its buffer must have. Of a plan between two
 * buffers it is the larger one's. 0 without a plan. Since 0.1. */
RESTRIDE_API size_t restride_plan_bytes(const restride_plan *plan);

/* The scratch memory of a plan, in bytes: what a run takes, and the tables that the plan keeps. */
RESTRIDE_API size_t restride_plan_scratch_bytes(const restride_plan *plan);

/* Describes a plan as JSON: engine, stages, sizes and bytes moved. The caller frees the text. NULL
 * when memory is short. */
RESTRIDE_API char *restride_plan_describe(const restride_plan *plan);

/* Frees a plan, which no run may use any more; NULL is allowed. */
RESTRIDE_API void restride_plan_destroy(restride_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
