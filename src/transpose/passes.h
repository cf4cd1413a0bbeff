/* Permutations of axes as one stage or two, beside the paths of transpositions (paths.h). */
#ifndef RS_TRANSPOSE_PASSES_H
#define RS_TRANSPOSE_PASSES_H

#include "engine/axes.h"

enum { RS_PASSES_MOST = 2 };

/* What a stage costs, in passes over the array. */
typedef struct {
    double (*price)(const void *context, const rs_transpose_task *task);
    const void *context;
    size_t box_bytes; /* as rs_engine_traits has them */
} rs_passes_pricing;

typedef struct {
    double price; /* RS_COST_IMPOSSIBLE: the engine has no such stages */
    size_t count;
    rs_transpose_task tasks[RS_PASSES_MOST];
    rs_piece pieces[RS_PASSES_MOST][RS_AXES_MOST]; /* of each task */
} rs_passes;

/* The cheapest of all for the axes that the pieces of a task are: on chip as a whole, slots alone,
 * tiles or boxes and then slots. */
void rs_passes_find(rs_passes *best, const rs_passes_pricing *pricing,
                    const rs_transpose_task *axes);

#endif
