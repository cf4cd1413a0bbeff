/*
 * A race among plans that do the same: whoever wants the fastest lists them, the planner's own
 * first, and gets the winner.
 *
 * Every plan runs once and is checked element by element; on a device the last ones are, at the
 * end. Then those that are still near the best run in turns, so that other work of the machine
 * slows all of them, and medians are compared. The planner's own plan takes part to the end and
 * wins unless another is clearly faster.
 */
#ifndef RS_TRANSPOSE_RACE_H
#define RS_TRANSPOSE_RACE_H

#include "restride/plan.h"
#include "restride/wisdom.h"
#include "transpose/factor.h"

enum { RS_RACE_MOST_PLANS = 24 };

typedef struct {
    restride_engine *engine;
    size_t bytes; /* of the buffer that they run on */
    size_t count; /* 1 to RS_RACE_MOST_PLANS */
    /* Makes a plan when its turn comes; the race destroys it. */
    restride_status (*make)(const void *context, size_t index, restride_plan **plan);
    const void *context;
    /* What all of them do to an array of `bytes` bytes; NULL: results are not checked. */
    const rs_permutation *does;
} rs_race_plans;

typedef struct {
    size_t best;                        /* the winner's index */
    double seconds[RS_RACE_MOST_PLANS]; /* of a run of each plan that was tried: the median */
    size_t tried;
    size_t runs;
} rs_race_result;

/* RESTRIDE_DEVICE_ERROR when a plan gives a wrong result. `options` say seconds and progress. */
restride_status rs_race_run(const rs_race_plans *plans, const restride_tune_options *options,
                            rs_race_result *result);

#endif
