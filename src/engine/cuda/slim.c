/*
 * 010! of slim panels, a few rows or a few columns of elements, each in the shared memory of one
 * block (kernels/slim.cu): how a panel is cut into slices, and which panels suit.
 *
 * No gate, no scratch memory and no table.
 */
#include "base/arithmetic.h"
#include "engine/cuda/cuda.h"

#include <stdint.h>
#include <stdio.h>

extern const char rs_cuda_slim_kernel[];

enum {
    LEAST_ARCHITECTURE = 90, /* which has the bulk copy engine */
    LEAST_WORD = 4,
    MOST_FEW = 8,
    MOST_ROW_BYTES =
        32, /* of a few columns: threads side by side read rows, in the same banks if longer */
    LEAST_BYTES = 32 << 10, /* of a panel: the kernels of all devices are as good below */
    SLICES = 2,             /* 4 and 8 are as fast or slower */
    THREADS = 512,
    MOST_BLOCKS = 4, /* a multiprocessor */
    BULK_BYTES = 16, /* what bulk copies and the widest accesses are multiples of */
    BANKS_BYTES = 128,
    SECTOR_BYTES = 32,
    BELL_BYTES = 8
};

typedef struct {
    bool lying; /* a few rows, not a few columns */
    size_t few;
    size_t length; /* the long side */
    size_t slice;
    size_t vector; /* words that are accessed together */
    size_t pitch;  /* words from one row of a lying slice to the next */
    size_t bytes;  /* in shared memory */
} cut;

/* Threads side by side read the parts of one column, whose rows should lie in different banks: the
 * pitch that comes nearest to that. */
static size_t choose_pitch(const cut *c, size_t word)
{
    size_t step = BULK_BYTES / word;
    size_t least = rs_size_divide_up(c->slice, step) * step;
    size_t apart = BANKS_BYTES / (c->few / c->vector) % BANKS_BYTES;
    size_t best = least;
    size_t best_miss = SIZE_MAX;
    for (size_t pitch = least; pitch < least + BANKS_BYTES / word; pitch += step) {
        size_t place = c->vector * pitch * word % BANKS_BYTES;
        size_t miss = place > apart ? place - apart : apart - place;
        if (miss < best_miss) {
            best_miss = miss;
            best = pitch;
        }
    }
    return best;
}

static cut cut_panel(const rs_transpose_task *task)
{
    size_t word = rs_cuda_word(task);
    cut c = {.lying = task->rows < task->cols, .vector = 1};
    c.few = c.lying ? task->rows : task->cols;
    c.length = c.lying ? task->cols : task->rows;
    while (c.few % (2 * c.vector) == 0 && 2 * c.vector * word <= BULK_BYTES)
        c.vector *= 2;
    size_t sector = SECTOR_BYTES / word;
    c.slice = rs_size_divide_up(rs_size_divide_up(c.length, SLICES), sector) * sector;
    c.pitch = choose_pitch(&c, word);
    c.bytes = SLICES * (c.few * (c.lying ? c.pitch : c.slice) * word + BELL_BYTES);
    return c;
}

bool rs_cuda_slim_suits(const rs_cuda_engine *engine, const rs_transpose_task *task)
{
    size_t few = rs_size_smaller(task->rows, task->cols);
    size_t length = rs_size_larger(task->rows, task->cols);
    size_t word = rs_cuda_word(task);
    return engine->architecture >= LEAST_ARCHITECTURE && word == task->unit && word >= LEAST_WORD &&
           few <= MOST_FEW && (task->cols > few || few * word <= MOST_ROW_BYTES) &&
           length <= engine->shared_bytes_a_block / (few * word) &&
           few * length * word >= LEAST_BYTES && length * word % BULK_BYTES == 0 &&
           task->offset % BULK_BYTES == 0 && task->pitch % BULK_BYTES == 0 &&
           (task->repeats < 2 || task->repeat_pitch % BULK_BYTES == 0) &&
           cut_panel(task).bytes <= engine->shared_bytes_a_block;
}

restride_status rs_cuda_slim_prepare(rs_cuda_stage *stage, size_t scratch_limit)
{
    (void)scratch_limit;
    const rs_transpose_task *task = &stage->task;
    const rs_cuda_engine *engine = rs_cuda_engine_of(stage);
    const cut c = cut_panel(task);
    size_t blocks = MOST_BLOCKS;
    while (blocks > 1 && c.bytes > engine->shared_bytes / blocks - RS_CUDA_RESERVED_BYTES)
        blocks--;
    const rs_cuda_define defines[] = {
        {"WORD_BYTES", NULL, stage->word}, {"FEW", NULL, c.few},       {"LYING", NULL, c.lying},
        {"SLICES", NULL, SLICES},          {"VECTOR", NULL, c.vector}, {"THREADS", NULL, THREADS},
        {"BLOCKS", NULL, MOST_BLOCKS},
    };
    rs_cuda_launch *launch = rs_cuda_add_launch(stage);
    restride_status status =
        rs_cuda_kernel_create(&launch->kernel, engine, "slim", rs_cuda_slim_kernel, defines,
                              sizeof defines / sizeof defines[0], THREADS, c.bytes);
    if (status != RESTRIDE_OK)
        return status;
    size_t panels = task->outer * task->count;
    launch->grid = rs_size_smaller(panels, blocks * engine->multiprocessors);
    const uint64_t arguments[] = {
        task->pitch / stage->word, task->count, panels, c.length, c.slice, c.pitch};
    rs_cuda_add_arguments(launch, arguments, sizeof arguments / sizeof arguments[0]);
    snprintf(stage->shape, sizeof stage->shape, "%zu blocks, slices of %zu %s", launch->grid,
             c.slice, c.lying ? "columns" : "rows");
    return RESTRIDE_OK;
}
