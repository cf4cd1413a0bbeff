/*
 * On a device: the whole array through scratch memory that the caller granted, in its new order,
 * and back (RS_TRANSPOSE_COPY_BACK).
 */
#ifndef RS_TRANSPOSE_COPY_BACK_H
#define RS_TRANSPOSE_COPY_BACK_H

#include "engine/copy.h"
#include "transpose/axes.h"
#include "transpose/plan.h"

/* Whether the options name this method, and the engine is a device's. */
bool rs_copy_back_is_named(const restride_engine *engine, const restride_plan_options *options);

/*
 * Puts a stage that does what `task` says in the place of a plan's stages: where that is expected
 * to be faster, or named. *dropped: the device could not make it, and the plan has no stages any
 * more.
 */
restride_status rs_copy_back_replace(restride_plan *plan, const rs_copy_task *task,
                                     const restride_plan_options *options, bool *dropped);

/* The same for the axes of an array. */
restride_status rs_copy_back_permute(restride_plan *plan, const rs_permutation *permutation,
                                     const restride_plan_options *options, bool *dropped);

#endif
