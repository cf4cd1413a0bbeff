/* The row shuffles of C2R and R2C (kernels/rows.cu). A row fits into the shared memory of a block;
 * no scratch memory. */
#include "engine/cuda/cuda.h"

#include "base/arithmetic.h"

#include <stdio.h>

extern const char rs_cuda_rows_kernel[];

enum { THREADS = 512, BLOCKS = 4, LINE_BYTES = 128 };

/* The row and a number for each word of a line. */
size_t rs_cuda_rows_bytes(const rs_transpose_task *task)
{
    return task->cols * task->unit + LINE_BYTES / rs_cuda_word(task) * sizeof(uint32_t);
}

restride_status rs_cuda_rows_prepare(rs_cuda_stage *stage, size_t scratch_limit)
{
    (void)scratch_limit;
    const rs_transpose_task *task = &stage->task;
    const rs_cuda_engine *engine = rs_cuda_engine_of(stage);
    size_t row_bytes = rs_cuda_rows_bytes(task);
    if (row_bytes > engine->shared_bytes_a_block || task->rows > INT32_MAX)
        return rs_fail(RESTRIDE_DEVICE_LIMIT,
                       "Rows of %zu bytes do not fit into the %zu bytes of shared memory that a "
                       "block of %s has.",
                       row_bytes, engine->shared_bytes_a_block, engine->name);
    size_t unit_words = task->unit / stage->word;
    const bool is_c2r = task->method == RS_TRANSPOSE_C2R_ROWS;
    /* R2C, which stores element by element, would be 13 % slower without. */
    const bool constant = unit_words == 1 || !is_c2r;
    const rs_cuda_define defines[] = {
        {"WORD_BYTES", NULL, stage->word},
        {"UNIT_WORDS", NULL, constant ? unit_words : 0},
        {"THREADS", NULL, THREADS},
        {"BLOCKS", NULL, BLOCKS},
        {"C2R", NULL, is_c2r},
    };
    rs_cuda_launch *launch = rs_cuda_add_launch(stage);
    restride_status status =
        rs_cuda_kernel_create(&launch->kernel, engine, "shuffle_rows", rs_cuda_rows_kernel, defines,
                              sizeof defines / sizeof defines[0], THREADS, row_bytes);
    if (status != RESTRIDE_OK)
        return status;
    size_t items = task->rows * task->outer;
    launch->grid = items < launch->kernel.resident ? items : launch->kernel.resident;
    const uint64_t arguments[] = {
        task->pitch / stage->word,
        task->outer,
        task->rows,
        task->cols,
        task->cols / rs_size_gcd(task->rows, task->cols),
        unit_words,
    };
    rs_cuda_add_arguments(launch, arguments, sizeof arguments / sizeof arguments[0]);
    snprintf(stage->shape, sizeof stage->shape, "a row a block");
    return RESTRIDE_OK;
}
