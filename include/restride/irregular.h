/*
 * Irregular references: an order of data and threads for A[P[t]].
 *
 * Thread t of a launch reads object P[t] of an array A. The threads run in warps; a warp's reads
 * cost one transaction for each aligned memory segment that they touch, so threads that read
 * scattered objects pay up to one transaction each. A plan puts the objects into new places
 * (slots), some of them twice or with gaps, and may put the threads into a new order, so that a
 * warp touches few segments:
 *
 *     uint32_t P[64], new_P[64];
 *     float A[1000], slots[64];
 *     for (uint32_t t = 0; t < 64; t++)
 *         A[P[t] = t * 619 % 1000] = (float)t;
 *     restride_reference a = {P, sizeof P[0], 1000, sizeof A[0]};
 *     restride_launch launch = {64, 32, 32};
 *     restride_irregular_options options = {.method = RESTRIDE_IRREGULAR_DUPLICATION};
 *     restride_irregular *plan;
 *     restride_status status = restride_irregular_plan(&plan, &launch, &a, 1, &options);
 *     assert(status == RESTRIDE_OK && restride_irregular_slots(plan, 0) == 64);
 *     restride_irregular_gather(plan, 0, A, slots);
 *     restride_irregular_index(plan, 0, new_P);   // thread t now reads slots[new_P[t]]
 *     assert(slots[new_P[7]] == A[P[7]]);
 *     restride_irregular_destroy(plan);
 *
 * Other methods move the threads too: restride_irregular_order().
 *
 * Source: E. Z. Zhang, H. Li, X. Shen, "A Study Towards Optimal Data Layout for GPU Computing".
 * docs/irregular.md explains the methods, their bounds and when each one pays.
 */
#ifndef RESTRIDE_IRREGULAR_H
#define RESTRIDE_IRREGULAR_H

#include "restride/status.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How threads run and memory is read. */
typedef struct {
    size_t threads;
    size_t warp;          /* threads that read at once: 1 to 1024 */
    size_t segment_bytes; /* what one transaction moves: 32 on today's GPUs, 128 on older ones */
} restride_launch;

/* One A[P[t]] of a kernel. */
typedef struct {
    const void *index;  /* P: launch.threads unsigned integers, each below `objects` */
    size_t index_bytes; /* of one of them: 4 or 8 */
    size_t objects;     /* in A */
    size_t object_bytes;
} restride_reference;

/* The numbers are stable. */
typedef enum {
    RESTRIDE_IRREGULAR_AUTO = 0, /* the fewest transactions that the budget allows, then memory */
    /* Each thread's object stored in the order of the threads, which stay: A[P[t]] becomes
     * slots[t]. Takes one slot a thread; A is kept. */
    RESTRIDE_IRREGULAR_DUPLICATION = 1,
    /* The warps that gain most for the memory, within the budget, read copies of their objects
     * behind A; the threads stay. */
    RESTRIDE_IRREGULAR_PARTIAL = 2,
    /* Threads sorted by object, objects by popularity; an object is stored twice, or a slot left
     * empty, only where a warp would touch a segment too many. */
    RESTRIDE_IRREGULAR_PADDING = 3,
    /* Warps for popular objects and for objects read once are formed first; every object is stored
     * once. No extra memory, and a proven bound. */
    RESTRIDE_IRREGULAR_APPROXIMATION = 4
} restride_irregular_method;

/* All zero: any method, any amount of memory, all processors. */
typedef struct {
    restride_irregular_method method;
    size_t extra_bytes; /* the budget over all references; 0: no limit, PARTIAL then needs none */
    int keep_threads;   /* not 0: the threads stay in order, so only the first two methods serve */
    int processors;     /* host threads that make the plan; 0: all */
} restride_irregular_options;

/* What a plan does to one reference. */
typedef struct {
    size_t transactions_before;
    size_t transactions_after;
    size_t transactions_bound; /* never more than this, known from the method */
    size_t transactions_best;  /* no order of data, copies included, has fewer; of threads neither,
                                  when the plan moves them */
    size_t extra_bytes;        /* of slots beyond A */
    size_t break_even; /* launches after which transactions saved repay those of gather and index;
                          SIZE_MAX: never */
} restride_irregular_facts;

/* A plan: not changed once made, so any number of threads may use it at once. */
typedef struct restride_irregular restride_irregular;

/*
 * Makes a plan for the `count` (1 to 8) references of one launch. They share one order of the
 * threads: that of the reference which gives the fewest transactions in total. The index arrays are
 * read and not kept. `options` may be NULL. The caller destroys the plan.
 *
 * RESTRIDE_INVALID_ARGUMENT: no thread or object, a warp or size out of range, an index not below
 * `objects`, or PADDING or APPROXIMATION with keep_threads. RESTRIDE_UNSUPPORTED: the budget is too
 * small for the method. RESTRIDE_OVERFLOW, RESTRIDE_OUT_OF_MEMORY. Thread-safe.
 */
RESTRIDE_API restride_status restride_irregular_plan(restride_irregular **plan,
                                                     const restride_launch *launch,
                                                     const restride_reference references[],
                                                     size_t count,
                                                     const restride_irregular_options *options);

/* Frees a plan; NULL is allowed. */
RESTRIDE_API void restride_irregular_destroy(restride_irregular *plan);

/* The method that the plan uses: never AUTO. */
RESTRIDE_API restride_irregular_method
restride_irregular_plan_method(const restride_irregular *plan);

/* Whether the plan moves threads. If not, restride_irregular_order() gives 0, 1, 2, ... */
RESTRIDE_API int restride_irregular_moves_threads(const restride_irregular *plan);

/* The facts of one reference. `reference` is its place in restride_irregular_plan()'s list, from 0.
 */
RESTRIDE_API restride_irregular_facts restride_irregular_plan_facts(const restride_irregular *plan,
                                                                    size_t reference);

/* The number of slots of a reference, each as large as its object. */
RESTRIDE_API size_t restride_irregular_slots(const restride_irregular *plan, size_t reference);

/* Writes the order of the threads, launch.threads entries. The new thread t does the work of the
 * old thread order[t]. */
RESTRIDE_API void restride_irregular_order(const restride_irregular *plan, size_t order[]);

/* Writes the new index array: launch.threads integers as wide as the old ones. Entry t is the slot
 * that the new thread t reads. RESTRIDE_OVERFLOW: a slot does not fit into 4 bytes, and nothing was
 * written. */
RESTRIDE_API restride_status restride_irregular_index(const restride_irregular *plan,
                                                      size_t reference, void *index);

/* Fills the slots from the array; empty slots become 0. Array and slots must not overlap. */
RESTRIDE_API void restride_irregular_gather(const restride_irregular *plan, size_t reference,
                                            const void *array, void *slots);

/* Fills the array from the first slot of each object, for kernels that write what they read.
 * Objects without a slot stay as they are. Data in further copies are lost. */
RESTRIDE_API void restride_irregular_scatter(const restride_irregular *plan, size_t reference,
                                             const void *slots, void *array);

#ifdef __cplusplus
}
#endif
#endif
