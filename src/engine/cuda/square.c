/* A square in place (kernels/square.cu): mirror tiles, 384 bytes along a side where they can be,
 * two in the shared memory of a block. Runs of 256 bytes were slower where rows are no whole lines.
 * No scratch memory. */
#include "engine/cuda/cuda.h"

#include <stdio.h>

extern const char rs_cuda_square_kernel[];

enum { RUN_BYTES = 384, MOST_EDGE = 96, THREADS = 512, MOST_BLOCKS = 1 << 30 };

static size_t pair_bytes(const rs_cuda_stage *stage, size_t edge)
{
    size_t unit_words = stage->task.unit / stage->word;
    return 2 * edge * rs_cuda_tile_pitch(edge, unit_words, stage->word) * stage->word;
}

static size_t choose_edge(const rs_cuda_stage *stage)
{
    size_t edge = RUN_BYTES / stage->task.unit;
    edge = edge < 1 ? 1 : edge > MOST_EDGE ? MOST_EDGE : edge;
    while (edge > 1 && pair_bytes(stage, edge) > rs_cuda_engine_of(stage)->shared_bytes_a_block)
        edge /= 2;
    return edge;
}

restride_status rs_cuda_square_prepare(rs_cuda_stage *stage, size_t scratch_limit)
{
    (void)scratch_limit;
    const rs_transpose_task *task = &stage->task;
    size_t unit_words = task->unit / stage->word;
    size_t edge = choose_edge(stage);
    size_t pitch = rs_cuda_tile_pitch(edge, unit_words, stage->word);
    const rs_cuda_define defines[] = {
        {"WORD_BYTES", NULL, stage->word}, {"UNIT_WORDS", NULL, unit_words}, {"TILE", NULL, edge},
        {"TILE_PITCH", NULL, pitch},       {"THREADS", NULL, THREADS},       {"BLOCKS", NULL, 1},
    };
    rs_cuda_launch *launch = rs_cuda_add_launch(stage);
    restride_status status = rs_cuda_kernel_create(
        &launch->kernel, rs_cuda_engine_of(stage), "square", rs_cuda_square_kernel, defines,
        sizeof defines / sizeof defines[0], THREADS, pair_bytes(stage, edge));
    if (status != RESTRIDE_OK)
        return status;
    size_t tiles = (task->rows - 1) / edge + 1;
    size_t items = tiles * (tiles + 1) / 2 * task->outer;
    launch->grid = items < MOST_BLOCKS ? items : MOST_BLOCKS;
    const uint64_t arguments[] = {task->pitch / stage->word, task->outer, task->rows};
    for (size_t i = 0; i < sizeof arguments / sizeof arguments[0]; i++)
        rs_cuda_add_argument(launch, arguments[i]);
    snprintf(stage->shape, sizeof stage->shape, "tiles of %zu x %zu", edge, edge);
    return RESTRIDE_OK;
}
