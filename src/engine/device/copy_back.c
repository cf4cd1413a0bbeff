/*
 * COPY_BACK: arrays are copied into scratch memory in their new order (copies.c), and back. Two
 * passes whatever the order; chosen when the caller grants that much scratch memory. Arrays that
 * keep their places among each other go some at a time. Scratch: those, and tables of the copies.
 */
#include "engine/device/device.h"

#include <stdlib.h>

/* Some arrays at a time, and the same number of them again and again. */
typedef struct {
    rs_stage *forth;
    rs_stage *back;
    size_t bytes;
    size_t times;
} round_trip;

enum { MOST_TRIPS = 2 }; /* the last arrays may be fewer */

typedef struct {
    round_trip trips[MOST_TRIPS];
} copy_back;

/* What is behind whole vectors would make all accesses short. */
static restride_status create_back(restride_engine *engine, size_t bytes, rs_stage **stage)
{
    const size_t rest = bytes % RS_DEVICE_COPY_ALIGNMENT;
    rs_copy_part parts[2];
    rs_copy_group groups[2];
    rs_copy_task task = {.groups = groups, .parts = parts, .from_bytes = bytes, .to_bytes = bytes};
    const rs_copy_part both[] = {{.unit = bytes - rest},
                                 {.unit = rest, .from = bytes - rest, .to = bytes - rest}};
    for (size_t i = 0; i < 2; i++) {
        if (both[i].unit == 0)
            continue;
        parts[task.group_count] = both[i];
        groups[task.group_count] = (rs_copy_group){.first = task.group_count, .count = 1};
        task.group_count++;
    }
    return rs_device_copies_create(engine, &task, stage);
}

static size_t count_parts(const rs_copy_task *task)
{
    size_t count = 0;
    for (size_t g = 0; g < task->group_count; g++)
        if (task->groups[g].first + task->groups[g].count > count)
            count = task->groups[g].first + task->groups[g].count;
    return count;
}

static restride_status create_forth(restride_engine *engine, const rs_copy_task *all, size_t count,
                                    rs_stage **stage)
{
    rs_copy_task some = {.groups = calloc(all->group_count, sizeof *some.groups),
                         .parts = calloc(count_parts(all), sizeof *some.parts)};
    restride_status status = rs_fail_memory("a stage");
    if (some.groups != NULL && some.parts != NULL) {
        rs_copy_take_slabs(&some, all, count);
        status = rs_device_copies_create(engine, &some, stage);
    }
    free(some.groups);
    free(some.parts);
    return status;
}

static restride_status add_trip(rs_device_stage *stage, round_trip *trip, size_t arrays,
                                size_t times)
{
    restride_engine *engine = stage->base.engine;
    trip->bytes = arrays * stage->task.cols;
    trip->times = times;
    restride_status status = create_forth(engine, stage->task.copy, arrays, &trip->forth);
    if (status == RESTRIDE_OK)
        status = create_back(engine, trip->bytes, &trip->back);
    if (status == RESTRIDE_OK)
        stage->kept_bytes +=
            rs_device_copies_bytes(trip->forth) + rs_device_copies_bytes(trip->back);
    return status;
}

static restride_status prepare(rs_device_stage *stage, size_t scratch_limit)
{
    const rs_transpose_task *task = &stage->task;
    copy_back *own = stage->plan = calloc(1, sizeof *own);
    if (own == NULL)
        return rs_fail_memory("a stage");
    stage->scratch_bytes = task->tile * task->cols;
    if (stage->scratch_bytes > scratch_limit ||
        (task->tile < task->rows && stage->scratch_bytes % RS_DEVICE_COPY_ALIGNMENT != 0))
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "Copies of %zu x %zu bytes do not suit %zu bytes of scratch memory.",
                       task->tile, task->cols, scratch_limit);
    const size_t rest = task->rows % task->tile;
    restride_status status = add_trip(stage, &own->trips[0], task->tile, task->rows / task->tile);
    if (status == RESTRIDE_OK && rest != 0)
        status = add_trip(stage, &own->trips[1], rest, 1);
    stage->task.copy = NULL; /* the caller's */
    return status;
}

static void enqueue(const rs_device_stage *stage, rs_device_sequence *sequence,
                    rs_device_memory buffer, rs_device_memory scratch)
{
    const copy_back *own = stage->plan;
    const rs_device_place aside = {scratch, 0};
    rs_device_place place = {buffer, stage->task.offset};
    for (size_t t = 0; t < MOST_TRIPS; t++)
        for (size_t i = 0; i < own->trips[t].times; i++) {
            const round_trip *trip = &own->trips[t];
            rs_device_copies_enqueue_at(trip->forth, sequence, place, aside);
            rs_device_copies_enqueue_at(trip->back, sequence, aside, place);
            place.offset += trip->bytes;
        }
}

static void forget(rs_device_stage *stage)
{
    copy_back *own = stage->plan;
    for (size_t t = 0; own != NULL && t < MOST_TRIPS; t++) {
        if (own->trips[t].forth != NULL)
            rs_device_copies_destroy(own->trips[t].forth);
        if (own->trips[t].back != NULL)
            rs_device_copies_destroy(own->trips[t].back);
    }
    free(own);
}

const rs_device_method rs_device_copy_back = {
    "copy", "copied into scratch memory in the new order, and back", prepare, enqueue, forget};
