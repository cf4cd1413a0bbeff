/* The local passes: what goes to each process comes together, and the way back. */
#ifndef RS_DISTRIBUTED_REGROUP_H
#define RS_DISTRIBUTED_REGROUP_H

#include "distributed/counts.h"
#include "transpose/sequence.h"

/*
 * A part without tiles, its dimensions from the slowest to the fastest, a record the last. What
 * one coordinate of the other layout has in each dimension comes together: the groups follow each
 * other by the coordinates of the first dimension, then of the second, and so on. In a group the
 * elements keep their order.
 */
typedef struct {
    size_t rank;
    const rs_split *splits[RS_LAYOUT_MAX_RANK];
    size_t unit; /* bytes of an element; 1 with a record */
} rs_regroup;

/* Plans it, or with `undone` the way back. *plan is NULL when nothing is to be done. */
restride_status rs_regroup_plan(restride_plan **plan, restride_engine *engine,
                                const rs_regroup *regroup, bool undone,
                                const restride_plan_options *options);

/* Plans another order of `count` pieces; likewise. */
restride_status rs_regroup_order(restride_plan **plan, restride_engine *engine,
                                 const rs_piece *pieces, size_t count,
                                 const restride_plan_options *options);

#endif
