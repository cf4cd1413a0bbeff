/* Which stages transpose a matrix in place: arithmetic alone, without an engine. */
#ifndef RS_TRANSPOSE_CHOOSE_H
#define RS_TRANSPOSE_CHOOSE_H

#include "engine/stage.h"
#include "transpose/plan.h"

typedef struct {
    size_t rows;
    size_t cols;
    size_t unit;
    size_t batch;
} rs_matrices;

typedef struct {
    size_t count;
    rs_transpose_task tasks[RS_PLAN_MOST_STAGES];
    size_t scratch_limit; /* for each stage */
    double cost;          /* passes over the memory at the speed of a copy, estimated */
    char why[256];
} rs_choice;

/* The scratch memory that a plan may take for `bytes` bytes: 0.5 % and 4 MiB a worker. */
size_t rs_choose_scratch_limit(size_t bytes, size_t workers);

/* The cheapest stages within the scratch limit. The product of the sizes fits in size_t. */
restride_status rs_choose_transpose(rs_choice *choice, const rs_matrices *matrices,
                                    const rs_engine_traits *traits);

#endif
