/* JOIN and SPLIT (kernels/tails.cu). Scratch: the tails of one matrix. */
#include "engine/cuda/cuda.h"

#include <stdio.h>

extern const char rs_cuda_tails_kernel[];

enum { THREADS = 512, BLOCKS = 2, VALUES = 8, COUNTER_BYTES = 128 };

restride_status rs_cuda_tails_prepare(rs_cuda_stage *stage, size_t scratch_limit)
{
    (void)scratch_limit;
    const rs_transpose_task *task = &stage->task;
    size_t unit_words = task->unit / stage->word;
    const rs_cuda_define defines[] = {
        {"WORD_BYTES", NULL, stage->word}, {"UNIT_WORDS", NULL, unit_words},
        {"THREADS", NULL, THREADS},        {"BLOCKS", NULL, BLOCKS},
        {"VALUES", NULL, VALUES},          {"JOIN", NULL, task->method == RS_TRANSPOSE_JOIN},
    };
    rs_cuda_launch *launch = rs_cuda_add_launch(stage);
    restride_status status = rs_cuda_kernel_create(&launch->kernel, rs_cuda_engine_of(stage),
                                                   "tails", rs_cuda_tails_kernel, defines,
                                                   sizeof defines / sizeof defines[0], THREADS, 0);
    if (status == RESTRIDE_OK)
        status = rs_cuda_keep(launch, rs_cuda_engine_of(stage), NULL,
                              COUNTER_BYTES + task->rows * task->tail * task->unit);
    if (status != RESTRIDE_OK)
        return status;
    launch->grid = launch->kernel.resident;
    launch->cooperative = true;
    const uint64_t arguments[] = {
        task->pitch / stage->word,
        task->outer,
        task->rows,
        task->cols * unit_words,
        task->tail * unit_words,
        launch->table + COUNTER_BYTES,
        launch->table,
    };
    for (size_t i = 0; i < sizeof arguments / sizeof arguments[0]; i++)
        rs_cuda_add_argument(launch, arguments[i]);
    snprintf(stage->shape, sizeof stage->shape, "chunks of %zu words",
             launch->grid * THREADS * VALUES);
    return RESTRIDE_OK;
}
