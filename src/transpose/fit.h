/*
 * From a choice (choose.h) to the stages of a plan. Arithmetic knows nearly what a device takes and
 * what its tables need; the device has the last word.
 */
#ifndef RS_TRANSPOSE_FIT_H
#define RS_TRANSPOSE_FIT_H

#include "transpose/choose.h"
#include "transpose/plan.h"

/* Adds the stages that transpose matrices to a plan without stages, and says why it has them: those
 * that wisdom knows, or what is estimated to be cheapest, within the scratch memory. */
restride_status rs_fit_matrices(restride_plan *plan, const rs_matrices *matrices,
                                const restride_plan_options *options);

/* Fits the tasks of a choice to where the matrices lie. */
typedef void rs_fit_adapt(rs_stage_choice *choice, const void *context);

/*
 * Adds the stages of *choice to a plan. Where the device refuses them, and no method is named,
 * those of the cheapest choice that it takes, which is *choice then. `adapt` may be NULL. After an
 * error the plan is as before.
 */
restride_status rs_fit_add(restride_plan *plan, rs_stage_choice *choice,
                           const rs_matrices *matrices, const rs_engine_traits *traits,
                           const restride_plan_options *options, rs_fit_adapt *adapt,
                           const void *context);

/* The limit for another attempt, after one with `limit` took `taken` bytes of `bound`. */
size_t rs_fit_less(size_t limit, size_t taken, size_t bound, const rs_engine_traits *traits);

#endif
