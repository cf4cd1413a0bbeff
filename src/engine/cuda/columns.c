/*
 * The column shuffles and rotations of C2R and R2C (kernels/columns.cu): how wide a panel of
 * columns is and how many blocks hold one together. No scratch memory; 128 bytes a gang for its
 * counter.
 */
#include "engine/cuda/cuda.h"

#include "base/arithmetic.h"
#include "base/number.h"

#include <stdio.h>

extern const char rs_cuda_columns_kernel[];

enum { THREADS = 1024, RUN_BYTES = 256, LEAST_RUN_BYTES = 32, COUNTER_BYTES = 128, ALIGNMENT = 16 };

static bool is_shuffle(rs_transpose_method method)
{
    return method == RS_TRANSPOSE_C2R_COLUMNS || method == RS_TRANSPOSE_R2C_COLUMNS;
}

static bool is_c2r(rs_transpose_method method)
{
    return method == RS_TRANSPOSE_C2R_COLUMNS || method == RS_TRANSPOSE_C2R_ROTATE;
}

/* What a shuffle keeps on chip besides the elements of a row: its place. */
static size_t place_bytes(rs_transpose_method method)
{
    return is_shuffle(method) ? sizeof(uint32_t) : 0;
}

/* From one row of a panel to the next on chip: of few sizes, each of which has a kernel. */
static size_t pitch_bytes(const rs_transpose_task *task, size_t cols)
{
    size_t pitch = LEAST_RUN_BYTES;
    while (pitch < cols * task->unit && pitch < RUN_BYTES)
        pitch *= 2;
    return rs_size_larger(pitch, cols * task->unit);
}

static size_t most_rows(const rs_cuda_engine *engine, const rs_transpose_task *task, size_t cols)
{
    size_t row = pitch_bytes(task, cols) + place_bytes(task->method);
    return (engine->shared_bytes_a_block - ALIGNMENT) / row;
}

size_t rs_cuda_columns_width(const rs_cuda_engine *engine, const rs_transpose_task *task)
{
    if (task->rows > INT32_MAX || task->cols > INT32_MAX)
        return 0;
    for (size_t run = RUN_BYTES; run >= LEAST_RUN_BYTES; run /= 2) {
        size_t cols = run > task->unit ? run / task->unit : 1;
        if (task->rows <= engine->multiprocessors * most_rows(engine, task, cols))
            return cols;
    }
    return 0;
}

restride_status rs_cuda_columns_prepare(rs_cuda_stage *stage, size_t scratch_limit)
{
    (void)scratch_limit;
    const rs_transpose_task *task = &stage->task;
    const rs_cuda_engine *engine = rs_cuda_engine_of(stage);
    size_t blocks = engine->multiprocessors;
    size_t cols = rs_cuda_columns_width(engine, task);
    if (cols == 0)
        return rs_fail(RESTRIDE_DEVICE_LIMIT,
                       "Columns of %zu elements of %zu bytes do not fit into the shared memory of "
                       "%s.",
                       task->rows, task->unit, engine->name);
    size_t members = (task->rows - 1) / most_rows(engine, task, cols) + 1;
    size_t panels = ((task->cols - 1) / cols + 1) * task->outer;
    size_t gangs = blocks / members < panels ? blocks / members : panels;
    members = blocks / gangs < task->rows ? blocks / gangs : task->rows;
    size_t band = (task->rows - 1) / members + 1;
    const rs_cuda_define defines[] = {
        {"WORD_BYTES", NULL, stage->word},
        {"PANEL_WORDS", NULL, pitch_bytes(task, cols) / stage->word},
        {"THREADS", NULL, THREADS},
        {"BLOCKS", NULL, 1},
        {"SHUFFLE", NULL, is_shuffle(task->method)},
        {"C2R", NULL, is_c2r(task->method)},
        {"PLACE_BYTES", NULL, place_bytes(task->method)},
    };
    rs_cuda_launch *launch = rs_cuda_add_launch(stage);
    restride_status status = rs_cuda_kernel_create(
        &launch->kernel, engine, "shuffle_columns", rs_cuda_columns_kernel, defines,
        sizeof defines / sizeof defines[0], THREADS,
        band * (pitch_bytes(task, cols) + place_bytes(task->method)) + ALIGNMENT);
    if (status == RESTRIDE_OK)
        status = rs_cuda_keep(launch, rs_cuda_engine_of(stage), NULL, gangs * COUNTER_BYTES);
    if (status != RESTRIDE_OK)
        return status;
    launch->grid = gangs * members;
    launch->cooperative = true;
    size_t divisor = rs_size_gcd(task->rows, task->cols);
    size_t a = task->rows / divisor;
    const uint64_t arguments[] = {
        task->pitch / stage->word,
        task->outer,
        task->rows,
        task->cols,
        divisor,
        rs_number_inverse(task->cols / divisor, a),
        a == 1 ? UINT64_MAX : UINT64_MAX / a,
        band,
        members,
        launch->table,
        cols,
        task->unit / stage->word,
    };
    rs_cuda_add_arguments(launch, arguments, sizeof arguments / sizeof arguments[0]);
    snprintf(stage->shape, sizeof stage->shape,
             "%zu gangs of %zu blocks, panels %zu columns wide, %zu rows a block", gangs, members,
             cols, band);
    return RESTRIDE_OK;
}
