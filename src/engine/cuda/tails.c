/* JOIN and SPLIT (kernels/tails.cu). Scratch: the tails of one matrix. */
#include "engine/cuda/cuda.h"

#include <stdio.h>

extern const char rs_cuda_tails_kernel[];

enum {
    THREADS = 256,
    BLOCKS = 2,   /* a multiprocessor: while one waits the other stores */
    SEGMENTS = 3, /* that move_rows() has on chip */
    WORD_BYTES = 16,
    LEAST_BYTES = 4096,
    COUNTER_BYTES = 128
};

/* What a block has on chip of one chunk; less of a matrix that would not give each one as much. */
static size_t segment_bytes(const rs_cuda_engine *engine, const rs_transpose_task *task)
{
    size_t most = (engine->shared_bytes / BLOCKS - RS_CUDA_RESERVED_BYTES) / SEGMENTS;
    size_t row = (task->cols + task->tail) * task->unit;
    size_t share = task->rows * row / (engine->multiprocessors * BLOCKS);
    size_t bytes = share < LEAST_BYTES ? LEAST_BYTES : share;
    return (bytes < most ? bytes : most) / WORD_BYTES * WORD_BYTES;
}

restride_status rs_cuda_tails_prepare(rs_cuda_stage *stage, size_t scratch_limit)
{
    (void)scratch_limit;
    const rs_transpose_task *task = &stage->task;
    const rs_cuda_engine *engine = rs_cuda_engine_of(stage);
    size_t segment = segment_bytes(engine, task);
    stage->word = WORD_BYTES;
    const rs_cuda_define defines[] = {
        {"WORD_BYTES", NULL, WORD_BYTES},
        {"THREADS", NULL, THREADS},
        {"BLOCKS", NULL, BLOCKS},
        {"JOIN", NULL, task->method == RS_TRANSPOSE_JOIN},
    };
    rs_cuda_launch *launch = rs_cuda_add_launch(stage);
    restride_status status =
        rs_cuda_kernel_create(&launch->kernel, engine, "tails", rs_cuda_tails_kernel, defines,
                              sizeof defines / sizeof defines[0], THREADS, SEGMENTS * segment);
    if (status == RESTRIDE_OK)
        status = rs_cuda_keep(launch, engine, NULL,
                              COUNTER_BYTES + task->rows * task->tail * task->unit);
    if (status != RESTRIDE_OK)
        return status;
    launch->grid = launch->kernel.resident;
    launch->cooperative = true;
    const uint64_t arguments[] = {
        task->pitch,
        task->outer,
        task->rows,
        task->cols * task->unit,
        task->tail * task->unit,
        segment,
        launch->table + COUNTER_BYTES,
        launch->table,
        task->unit,
    };
    rs_cuda_add_arguments(launch, arguments, sizeof arguments / sizeof arguments[0]);
    snprintf(stage->shape, sizeof stage->shape, "segments of %zu bytes", segment);
    return RESTRIDE_OK;
}
