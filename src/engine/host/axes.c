/*
 * ON_CHIP, BOXES and SLOTS on the host: the meaning of these stages, so that what a device does can
 * be checked without one. Each array goes to scratch memory, which holds one, and comes back in its
 * new order; never chosen.
 */
#include "engine/host/host.h"

#include <stdlib.h>
#include <string.h>

static bool axes_of(rs_slots *slots, const rs_transpose_task *task)
{
    return rs_axes_of(&slots->axes, task);
}

static restride_status prepare(rs_host_stage *stage, size_t scratch_limit,
                               bool (*parse)(rs_slots *, const rs_transpose_task *))
{
    const rs_transpose_task *task = &stage->task;
    size_t bytes = task->rows * task->cols * task->unit;
    stage->slots = calloc(1, sizeof *stage->slots);
    if (stage->slots == NULL)
        return rs_fail_memory("the axes of a stage");
    if (!parse(stage->slots, task) || stage->slots->axes.elements * task->unit != bytes ||
        bytes > scratch_limit)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "The host permutes axes as a whole only with scratch memory for all of "
                       "them; leave the choice of the method to the planner.");
    stage->threads = 1;
    stage->own_bytes = bytes;
    stage->scratch_bytes = bytes;
    return RESTRIDE_OK;
}

restride_status rs_host_axes_prepare(rs_host_stage *stage, size_t scratch_limit)
{
    return prepare(stage, scratch_limit, axes_of);
}

restride_status rs_host_slots_prepare(rs_host_stage *stage, size_t scratch_limit)
{
    return prepare(stage, scratch_limit, rs_slots_of);
}

/* Where an element, or a slot, of `unit` bytes comes from or goes. */
typedef size_t place_function(const rs_slots *slots, size_t place);

static void permute(const rs_host_run *run, size_t unit, place_function *target,
                    place_function *source)
{
    const rs_transpose_task *task = &run->stage->task;
    const rs_slots *slots = run->stage->slots;
    size_t bytes = task->rows * task->cols * task->unit;
    for (size_t i = 0; i < task->outer; i++) {
        unsigned char *array = run->data + i * task->pitch;
        memcpy(run->scratch, array, bytes);
        for (size_t e = 0; e < bytes / unit; e++) {
            size_t to = target != NULL ? target(slots, e) : e;
            size_t from = source != NULL ? source(slots, e) : e;
            memcpy(array + to * unit, run->scratch + from * unit, unit);
        }
        rs_host_done(run, bytes);
    }
}

static size_t axes_target(const rs_slots *slots, size_t element)
{
    return rs_axes_target(&slots->axes, element);
}

void rs_host_axes_work(void *context, const rs_host_member *member)
{
    (void)member;
    const rs_host_run *run = context;
    permute(run, run->stage->task.unit, axes_target, NULL);
}

void rs_host_boxes_work(void *context, const rs_host_member *member)
{
    (void)member;
    const rs_host_run *run = context;
    permute(run, run->stage->task.unit, rs_boxes_target, NULL);
}

void rs_host_slots_work(void *context, const rs_host_member *member)
{
    (void)member;
    const rs_host_run *run = context;
    permute(run, run->stage->task.tile * run->stage->task.unit, NULL, rs_slots_source);
}
