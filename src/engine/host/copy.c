/*
 * COPY: a block is transposed into scratch memory by all threads and copied back. Two passes for a
 * block of any shape beyond the caches, one out of place and one plain copy; chosen when the caller
 * grants that much scratch memory.
 *
 * The first pass goes through a tile of a few kilobytes, so that whole lines can be written to the
 * scratch memory without being read first (streaming stores). Elements of a line and more need no
 * tile. Scratch: the block, and a tile a thread.
 */
#include "engine/host/host.h"
#include "engine/host/stream.h"

enum { RUN_BYTES = 1024, MOST_RUN = 512, WIDTH = 64, LINE_BYTES = 64 };

restride_status rs_host_copy_prepare(rs_host_stage *stage, size_t scratch_limit)
{
    const rs_transpose_task *task = &stage->task;
    size_t run = RUN_BYTES / task->unit;
    stage->edge = run > MOST_RUN ? MOST_RUN : run < WIDTH / 4 ? WIDTH / 4 : run;
    size_t tile_bytes = task->unit < LINE_BYTES ? stage->edge * WIDTH * task->unit : 0;
    rs_host_fit_threads(stage, task->rows * task->cols * task->unit, tile_bytes, scratch_limit);
    return RESTRIDE_OK;
}

typedef struct {
    const rs_host_stage *stage;
    unsigned char *block;
    unsigned char *copy;
    unsigned char *tile;
    bool beyond; /* the caches */
} field;

static void copy_tile(const field *f, size_t row, size_t col)
{
    const rs_transpose_task *task = &f->stage->task;
    size_t edge = f->stage->edge;
    size_t height = task->rows - row < edge ? task->rows - row : edge;
    size_t width = task->cols - col < WIDTH ? task->cols - col : WIDTH;
    const unsigned char *source = f->block + (row * task->cols + col) * task->unit;
    unsigned char *target = f->copy + (col * task->rows + row) * task->unit;
    size_t source_stride = task->cols * task->unit;
    size_t target_stride = task->rows * task->unit;
    if (task->unit >= LINE_BYTES) {
        rs_host_tile_transpose(&f->stage->tile, source, source_stride, target, target_stride,
                               height, width);
        return;
    }
    size_t run = height * task->unit;
    rs_host_tile_transpose(&f->stage->tile, source, source_stride, f->tile, run, height, width);
    for (size_t j = 0; j < width; j++)
        rs_host_stream(target + j * target_stride, f->tile + j * run, run, f->beyond);
}

static void transpose_block(const field *f, const rs_host_member *member)
{
    const rs_transpose_task *task = &f->stage->task;
    size_t across = (task->cols - 1) / WIDTH + 1;
    size_t down = (task->rows - 1) / f->stage->edge + 1;
    size_t begin;
    size_t end;
    rs_host_team_share(member, across * down, &begin, &end);
    for (size_t i = begin; i < end; i++)
        copy_tile(f, i / across * f->stage->edge, i % across * WIDTH);
    rs_host_finish_streams();
}

void rs_host_copy_work(void *context, const rs_host_member *member)
{
    const rs_host_run *run = context;
    const rs_host_stage *stage = run->stage;
    const rs_transpose_task *task = &stage->task;
    size_t bytes = task->rows * task->cols * task->unit;
    unsigned char *copy = run->scratch + stage->threads * stage->own_bytes;
    unsigned char *tile = run->scratch + member->index * stage->own_bytes;
    size_t begin;
    size_t end;
    for (size_t i = 0; i < task->outer * task->count; i++) {
        unsigned char *block = run->data + i / task->count * task->pitch + i % task->count * bytes;
        const field f = {stage, block, copy, tile, bytes > RS_HOST_STREAM_BYTES};
        transpose_block(&f, member);
        rs_host_team_wait(member);
        rs_host_team_share(member, bytes, &begin, &end);
        rs_host_stream(block + begin, copy + begin, end - begin, f.beyond);
        rs_host_finish_streams();
        rs_host_done(run, end - begin);
        rs_host_team_wait(member);
    }
}
