/*
 * A square matrix: each pair of mirror tiles changes places through one tile of scratch memory a
 * thread, which stays in the first-level cache. One pass over the matrix.
 */
#include "engine/host/host.h"

#include <string.h>

enum { TILE_ROW_BYTES = 256, LEAST_EDGE = 4 };

restride_status rs_host_square_prepare(rs_host_stage *stage, size_t scratch_limit)
{
    const rs_transpose_task *task = &stage->task;
    size_t edge = TILE_ROW_BYTES / task->unit;
    stage->edge = edge < LEAST_EDGE ? LEAST_EDGE : edge;
    rs_host_fit_threads(stage, 0, stage->edge * stage->edge * task->unit, scratch_limit);
    return RESTRIDE_OK;
}

static void swap_tiles(const rs_host_run *run, unsigned char *matrix, unsigned char *buffer,
                       size_t tile_row, size_t tile_col)
{
    const rs_host_stage *stage = run->stage;
    size_t n = stage->task.rows;
    size_t unit = stage->task.unit;
    size_t stride = n * unit;
    size_t i = tile_row * stage->edge;
    size_t j = tile_col * stage->edge;
    size_t height = n - i < stage->edge ? n - i : stage->edge;
    size_t width = n - j < stage->edge ? n - j : stage->edge;
    unsigned char *here = matrix + i * stride + j * unit;
    unsigned char *mirror = matrix + j * stride + i * unit;
    rs_host_tile_transpose(&stage->tile, here, stride, buffer, height * unit, height, width);
    if (i != j)
        rs_host_tile_transpose(&stage->tile, mirror, stride, here, stride, width, height);
    for (size_t row = 0; row < width; row++)
        memcpy(mirror + row * stride, buffer + row * height * unit, height * unit);
    rs_host_done(run, (i != j ? 2 : 1) * height * width * unit);
}

void rs_host_square_work(void *context, const rs_host_member *member)
{
    rs_host_run *run = context;
    const rs_host_stage *stage = run->stage;
    unsigned char *buffer = run->scratch + member->index * stage->own_bytes;
    size_t tiles = (stage->task.rows - 1) / stage->edge + 1;
    size_t items = stage->task.outer * tiles;
    for (size_t i = atomic_fetch_add(&run->next, 1); i < items;
         i = atomic_fetch_add(&run->next, 1)) {
        size_t tile_row = tiles - 1 - i % tiles; /* the longest row first, for balance */
        for (size_t tile_col = 0; tile_col <= tile_row; tile_col++)
            swap_tiles(run, run->data + i / tiles * stage->task.pitch, buffer, tile_row, tile_col);
    }
}
