/* A square in place (kernels/square.cu): mirror tiles, two in the shared memory of a block, 256
 * bytes along a side where rows are whole lines, and 384 where they are not and every run shares
 * its lines at the ends with others. No scratch memory. */
#include "engine/cuda/cuda.h"

#include <stdio.h>

extern const char rs_cuda_square_kernel[];

enum {
    LINE_BYTES = 128,
    RUN_BYTES = 256,
    MOST_EDGE = 64,
    THREADS = 256,
    LONG_RUN_BYTES = 384,
    LONG_MOST_EDGE = 96,
    LONG_THREADS = 512,
    LEAST_LONG_UNIT = 4, /* narrower words keep the load and store units busy, not the memory */
    MOST_WORD_BYTES = 16,
    LEAST_TILE_BYTES = 16 << 10, /* of longer elements, whose tiles would hold only a few */
    MOST_BLOCKS = 1 << 30
};

static bool has_long_runs(const rs_transpose_task *task)
{
    return task->unit >= LEAST_LONG_UNIT && task->cols * task->unit % LINE_BYTES != 0;
}

static size_t pair_bytes(const rs_cuda_stage *stage, size_t edge)
{
    size_t unit_words = stage->task.unit / stage->word;
    return 2 * edge * rs_cuda_tile_pitch(edge, unit_words, stage->word) * stage->word;
}

static size_t choose_edge(const rs_cuda_stage *stage)
{
    bool is_long = has_long_runs(&stage->task);
    size_t most = is_long ? LONG_MOST_EDGE : MOST_EDGE;
    most = most < stage->task.rows ? most : stage->task.rows;
    size_t edge = (is_long ? LONG_RUN_BYTES : RUN_BYTES) / stage->task.unit;
    while (stage->task.unit > MOST_WORD_BYTES && edge * edge * stage->task.unit < LEAST_TILE_BYTES)
        edge++;
    edge = edge < 1 ? 1 : edge > most ? most : edge;
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
    size_t threads = has_long_runs(task) ? LONG_THREADS : THREADS;
    size_t pitch = rs_cuda_tile_pitch(edge, unit_words, stage->word);
    const rs_cuda_define defines[] = {
        {"WORD_BYTES", NULL, stage->word}, {"UNIT_WORDS", NULL, unit_words}, {"TILE", NULL, edge},
        {"TILE_PITCH", NULL, pitch},       {"THREADS", NULL, threads},       {"BLOCKS", NULL, 1},
    };
    rs_cuda_launch *launch = rs_cuda_add_launch(stage);
    restride_status status = rs_cuda_kernel_create(
        &launch->kernel, rs_cuda_engine_of(stage), "square", rs_cuda_square_kernel, defines,
        sizeof defines / sizeof defines[0], threads, pair_bytes(stage, edge));
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
