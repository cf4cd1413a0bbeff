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

/* What a planner may be told; all zero: nothing, it chooses. */
typedef struct {
    /* The most scratch memory that the plan may take, in bytes; 0: 0.5 % of the array and 4 MiB a
     * thread. With more, the planner says in its description what it gains. */
    size_t scratch_bytes;
    /* The shortest run of bytes worth moving, where it is longer than the engine's cache line: a
     * page for an array in a file that is mapped into memory. */
    size_t run_bytes;
    /* The name of a method as restride_plan_describe() writes it; NULL: the planner's choice.
     * docs/planner.md lists them. */
    const char *method;
} restride_plan_options;

/*
 * Plans the conversion of an array from one layout to another, in place. Both layouts have the same
 * dimensions, one of which is a record. AoS and ASTA are one stage; between any two other layouts,
 * ragged ones included, an engine converts as far as it has the stages: the host engine has all.
 *
 * Where a layout is padded, the array has another size: the buffer must have as many bytes as the
 * larger of the two, the array begins where the buffer does, and what padding holds afterwards is
 * not defined. The bound on scratch memory is that of restride_transpose().
 *
 * The engine must outlive the plan, the layouts need not. RESTRIDE_UNSUPPORTED: this engine has no
 * stages for that pair, or the elements have no size; RESTRIDE_DEVICE_LIMIT: a tile does not fit
 * into the device's local memory. Thread-safe.
 */
RESTRIDE_API restride_status restride_plan_convert(restride_plan **plan, restride_engine *engine,
                                                   const restride_layout *from,
                                                   const restride_layout *to);

/*
 * The same for any array, with options (NULL: none; a method in them is not looked at).
 * `elem_size` is the size of an element in bytes where no dimension is a record, and 0 where one
 * is, since that says the sizes of its members (RESTRIDE_INVALID_ARGUMENT).
 */
RESTRIDE_API restride_status restride_plan_convert_with(restride_plan **plan,
                                                        restride_engine *engine,
                                                        const restride_layout *from,
                                                        const restride_layout *to, size_t elem_size,
                                                        const restride_plan_options *options);

/*
 * Runs a plan on a buffer that holds the array: a pointer for the host engine, a cl_mem for the
 * OpenCL engine (a buffer, or a part of one, that kernels may read and write), a CUdeviceptr cast
 * to a pointer for the CUDA engine. Returns when the conversion is done, or, with the CUDA engine,
 * when it is enqueued (restride/cuda.h). After an error the sentence ends with what is left of the
 * buffer: it is unchanged, or, when a device failed after something had begun that may have changed
 * it, its content is undefined.
 */
RESTRIDE_API restride_status restride_execute(restride_plan *plan, void *buffer);

/* How a run is watched; all zero: not at all. */
typedef struct {
    /*
     * Called about five times a second, from a thread of its own, and once from the calling thread
     * when the run has succeeded. `done` of `total` bytes have reached their place, summed over the
     * stages; `done` never shrinks and is estimated within a stage. NULL: nobody is told. The
     * function must not run or destroy the plan.
     */
    void (*progress)(void *context, size_t done, size_t total);
    void *context; /* handed to it */
} restride_run_options;

/* restride_execute() with options; NULL: none. */
RESTRIDE_API restride_status restride_execute_with(restride_plan *plan, void *buffer,
                                                   const restride_run_options *options);

/* Bytes of the array that the plan is for: what restride_execute() needs of the buffer. 0 without a
 * plan. Since 0.1. */
RESTRIDE_API size_t restride_plan_bytes(const restride_plan *plan);

/* Scratch memory besides the buffer, in bytes: what restride_execute() takes while it runs, and
 * the tables that the plan keeps. */
RESTRIDE_API size_t restride_plan_scratch_bytes(const restride_plan *plan);

/* The plan as JSON: engine, stages, sizes, bytes moved. The caller frees it; NULL when memory is
 * short. */
RESTRIDE_API char *restride_plan_describe(const restride_plan *plan);

/* Frees a plan, which no run may use any more; NULL is allowed. */
RESTRIDE_API void restride_plan_destroy(restride_plan *plan);

#ifdef __cplusplus
}
#endif
#endif
