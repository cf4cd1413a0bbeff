/*
 * 010!: each block is transposed into a buffer that stays in the second-level cache and copied back
 * (Sung thesis, section 4.2, barrier synchronisation; the block is the tile, the cache is the
 * on-chip memory). Scratch: one block a thread.
 */
#include "engine/host/host.h"

#include <string.h>

enum { GRAIN_BYTES = 64 << 10 }; /* small blocks are handed out by the dozen */

restride_status rs_host_panels_prepare(rs_host_stage *stage, size_t scratch_limit)
{
    const rs_transpose_task *task = &stage->task;
    size_t blocks = task->outer * task->count;
    if (stage->threads > blocks)
        stage->threads = blocks;
    rs_host_fit_threads(stage, 0, task->rows * task->cols * task->unit, scratch_limit);
    return RESTRIDE_OK;
}

void rs_host_panels_work(void *context, const rs_host_member *member)
{
    rs_host_run *run = context;
    const rs_host_stage *stage = run->stage;
    const rs_transpose_task *task = &stage->task;
    size_t bytes = task->rows * task->cols * task->unit;
    unsigned char *buffer = run->scratch + member->index * stage->own_bytes;
    size_t blocks = task->outer * task->count;
    size_t grain = GRAIN_BYTES / bytes + 1;
    for (size_t i = atomic_fetch_add(&run->next, grain); i < blocks;
         i = atomic_fetch_add(&run->next, grain))
        for (size_t k = i; k < blocks && k < i + grain; k++) {
            unsigned char *block =
                run->data + k / task->count * task->pitch + k % task->count * bytes;
            /* Copying first reads memory in order, for the prefetcher; the rest is in cache. */
            memcpy(buffer, block, bytes);
            rs_host_tile_transpose(&stage->tile, buffer, task->cols * task->unit, block,
                                   task->rows * task->unit, task->rows, task->cols);
            rs_host_done(run, bytes);
        }
}
