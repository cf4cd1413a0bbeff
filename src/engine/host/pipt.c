/*
 * 100! by P-IPT: a thread a cycle (Sung thesis, section 4.5). From each position a walk follows the
 * cycle, over indices alone, until it meets a smaller position. The walk from the smallest one
 * comes back to where it began, and then moves the cycle. So one thread moves each cycle, and a
 * long one keeps it busy while the others have nothing left. A baseline, taken only when it is
 * named.
 *
 * Scratch: none; a thread keeps a slice of one element on its stack.
 */
#include "engine/host/host.h"

#include <string.h>

enum { SLICE_BYTES = 4096 };

restride_status rs_host_pipt_prepare(rs_host_stage *stage, size_t scratch_limit)
{
    (void)scratch_limit;
    rs_host_cycles_begin(&stage->cycles, stage->task.rows, stage->task.cols);
    return RESTRIDE_OK;
}

/* Position p meets a smaller one after about total / p steps, so all walks together take about
 * total * ln(total). */
static bool smallest_of_cycle(const rs_host_cycles *cycles, size_t position)
{
    size_t walk = rs_host_source(cycles, position);
    while (walk > position)
        walk = rs_host_source(cycles, walk);
    return walk == position;
}

/* The number of elements moved. */
static size_t move_slice(const rs_host_cycles *cycles, unsigned char *slice, size_t unit,
                         size_t width, size_t leader)
{
    unsigned char kept[SLICE_BYTES];
    memcpy(kept, slice + leader * unit, width);
    size_t moved = 1;
    size_t target = leader;
    size_t source = rs_host_source(cycles, target);
    for (; source != leader; source = rs_host_source(cycles, target), moved++) {
        memcpy(slice + target * unit, slice + source * unit, width);
        target = source;
    }
    memcpy(slice + target * unit, kept, width);
    return moved;
}

static size_t move_cycle(const rs_host_cycles *cycles, unsigned char *matrix, size_t unit,
                         size_t leader)
{
    size_t moved = 0;
    for (size_t begin = 0; begin < unit; begin += SLICE_BYTES) {
        size_t width = unit - begin < SLICE_BYTES ? unit - begin : SLICE_BYTES;
        moved = move_slice(cycles, matrix + begin, unit, width, leader);
    }
    return moved;
}

void rs_host_pipt_work(void *context, const rs_host_member *member)
{
    rs_host_run *run = context;
    const rs_transpose_task *task = &run->stage->task;
    const rs_host_cycles *cycles = &run->stage->cycles;
    size_t chunk_size = rs_host_chunk(cycles->total, member->count);
    size_t chunks = (cycles->total - 1) / chunk_size + 1;
    rs_host_loop loop = rs_host_loop_begin(member, task->outer * chunks, 1);
    for (size_t chunk, after; rs_host_loop_next(&loop, &chunk, &after);) {
        unsigned char *matrix = run->data + chunk / chunks * task->pitch;
        size_t begin = chunk % chunks * chunk_size;
        size_t end = cycles->total - begin < chunk_size ? cycles->total : begin + chunk_size;
        size_t moved = 0;
        for (size_t position = begin; position < end; position++)
            if (smallest_of_cycle(cycles, position))
                moved += move_cycle(cycles, matrix, task->unit, position);
        rs_host_done(run, moved * task->unit);
    }
}
