/* See method.h. */
#include "transpose/method.h"

rs_transpose_task *rs_method_add_stage(rs_stage_choice *choice, const rs_problem *problem,
                                       rs_transpose_method method)
{
    const rs_matrices *m = problem->matrices;
    rs_transpose_task *task = &choice->tasks[choice->count++];
    *task = (rs_transpose_task){.method = method,
                                .offset = m->offset,
                                .outer = m->batch,
                                .pitch = m->rows * m->cols * m->unit,
                                .count = 1,
                                .rows = m->rows,
                                .cols = m->cols,
                                .unit = m->unit};
    return task;
}
