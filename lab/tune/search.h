/*
 * Which of all plans for a matrix is fastest, and how near to it the planner's own comes.
 *
 * The planner's plan and those that its methods offer run once, checked element by element, and
 * some more times. Those that come within a tenth of the least then run in turns with the planner's
 * own, since the least of many may have had a lucky moment.
 */
#ifndef RS_LAB_TUNE_SEARCH_H
#define RS_LAB_TUNE_SEARCH_H

#include "transpose/stage_choice.h"

typedef struct {
    size_t most;   /* of the plans with the least expected cost; SIZE_MAX: all */
    size_t each;   /* of each method, whatever they cost */
    size_t repeat; /* runs of a plan behind the one that is checked */
} rs_tune_how;

typedef struct {
    const char *method;
    rs_tiles tiles;
    double passes;  /* at the speed of a copy, expected */
    double seconds; /* the median of its runs */
    double turns;   /* the median of those in turns; 0: it was not near enough */
} rs_tune_plan;

typedef struct {
    size_t offered; /* plans with different methods or tiles */
    size_t refused; /* by the engine, or beyond the bound of scratch memory */
    size_t count;   /* tried: the first is the planner's own */
    rs_tune_plan *plans;
    size_t best;         /* the least in turns */
    double copy_seconds; /* of a copy of the array, in those turns */
} rs_tune_found;

/* RESTRIDE_DEVICE_ERROR, with the plan's name, when a plan gives a wrong element. What is found is
 * freed by rs_tune_found_free(), after an error too. */
restride_status rs_tune_search(restride_engine *engine, const rs_matrices *matrices,
                               const rs_tune_how *how, rs_tune_found *found);
void rs_tune_found_free(rs_tune_found *found);

#endif
