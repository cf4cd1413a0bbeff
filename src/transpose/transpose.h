/*
 * From a choice (choose.h) to the stages of a plan. Arithmetic knows nearly what a device takes and
 * what its tables need; the device has the last word.
 */
#ifndef RS_TRANSPOSE_TRANSPOSE_H
#define RS_TRANSPOSE_TRANSPOSE_H

#include "transpose/choose.h"
#include "transpose/plan.h"

/* Every number is at least 1, and the bytes of all fit in size_t: RESTRIDE_INVALID_ARGUMENT and
 * RESTRIDE_OVERFLOW where not. */
restride_status rs_matrices_check(const rs_matrices *matrices, size_t *bytes);

/* Fits the tasks of a choice to where the matrices lie. */
typedef void rs_transpose_adapt(rs_stage_choice *choice, const void *context);

/*
 * Adds the stages of *choice to a plan. Where the device refuses them, and no method is named,
 * those of the cheapest choice that it takes, which is *choice then. `adapt` may be NULL. After an
 * error the plan is as before.
 */
restride_status rs_transpose_add(restride_plan *plan, rs_stage_choice *choice,
                                 const rs_matrices *matrices, const rs_engine_traits *traits,
                                 const restride_plan_options *options, rs_transpose_adapt *adapt,
                                 const void *context);

/* The limit for another attempt, after one with `limit` took `taken` bytes of `bound`. */
size_t rs_transpose_lower(size_t limit, size_t taken, size_t bound, const rs_engine_traits *traits);

#endif
