/*
 * ON_CHIP on the host: the meaning of the stage, so that what a device does can be checked without
 * one. Each array goes to scratch memory, which holds one, and comes back permuted; never chosen.
 */
#include "engine/axes.h"
#include "engine/host/host.h"

#include <string.h>

restride_status rs_host_axes_prepare(rs_host_stage *stage, size_t scratch_limit)
{
    const rs_transpose_task *task = &stage->task;
    size_t bytes = task->rows * task->cols * task->unit;
    if (!rs_axes_of(&stage->axes, task) || stage->axes.elements * task->unit != bytes ||
        bytes > scratch_limit)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "The host permutes axes as a whole only with scratch memory for all of "
                       "them; leave the choice of the method to the planner.");
    stage->threads = 1;
    stage->own_bytes = bytes;
    stage->scratch_bytes = bytes;
    return RESTRIDE_OK;
}

void rs_host_axes_work(void *context, const rs_host_member *member)
{
    (void)member;
    const rs_host_run *run = context;
    const rs_transpose_task *task = &run->stage->task;
    const rs_axes *axes = &run->stage->axes;
    size_t bytes = task->rows * task->cols * task->unit;
    for (size_t i = 0; i < task->outer; i++) {
        unsigned char *array = run->data + i * task->pitch;
        memcpy(run->scratch, array, bytes);
        for (size_t e = 0; e < axes->elements; e++)
            memcpy(array + rs_axes_target(axes, e) * task->unit, run->scratch + e * task->unit,
                   task->unit);
        rs_host_done(run, bytes);
    }
}
