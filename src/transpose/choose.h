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
    size_t offset; /* bytes of the buffer before the first matrix */
} rs_matrices;

enum { RS_CHOICE_MOST_TASKS = 6 };

typedef struct {
    const char *method; /* its name in the table of choose.c */
    size_t count;
    rs_transpose_task tasks[RS_CHOICE_MOST_TASKS];
    size_t scratch_limit; /* for each stage */
    double cost;          /* passes over the memory at the speed of a copy, estimated */
    char why[256];
} rs_choice;

/* The scratch memory that a plan may take for `bytes` bytes: 0.5 % and 4 MiB a worker. */
size_t rs_choose_scratch_limit(size_t bytes, size_t workers);

/*
 * The cheapest stages within the scratch limit. The product of the sizes fits in size_t. `options`
 * may be NULL. RESTRIDE_UNSUPPORTED when no plan keeps within the limit, or the named method does
 * not suit the shape; RESTRIDE_INVALID_ARGUMENT when there is no method of that name.
 */
restride_status rs_choose_transpose(rs_choice *choice, const rs_matrices *matrices,
                                    const rs_engine_traits *traits,
                                    const restride_plan_options *options);

#endif
