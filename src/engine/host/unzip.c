/*
 * UNZIP and ZIP: 010! for rows whose members differ in size (Sung thesis, section 5.4, AoS to ASTA
 * and back). A block goes into a buffer that stays in the second-level cache; each piece of its
 * rows is transposed from there. Scratch: one block a thread.
 */
#include "engine/host/host.h"

#include <stdlib.h>
#include <string.h>

enum { GRAIN_BYTES = 64 << 10 };

restride_status rs_host_pieces_create(rs_host_stage *stage)
{
    const rs_transpose_task *task = &stage->task;
    stage->pieces = malloc(task->piece_count * sizeof *stage->pieces);
    if (stage->pieces == NULL)
        return rs_fail_memory("the members of a row");
    size_t offset = 0;
    for (size_t i = 0; i < task->piece_count; i++) {
        const rs_piece *piece = &task->pieces[i];
        size_t edge = piece->count < task->rows ? piece->count : task->rows;
        stage->pieces[i] = (rs_host_piece){.count = piece->count,
                                           .unit = piece->unit,
                                           .place = piece->place,
                                           .offset = offset,
                                           .tile = rs_host_tile_choose(piece->unit, edge)};
        offset += piece->count * piece->unit;
    }
    return RESTRIDE_OK;
}

restride_status rs_host_unzip_prepare(rs_host_stage *stage, size_t scratch_limit)
{
    const rs_transpose_task *task = &stage->task;
    size_t blocks = task->outer * task->count;
    if (blocks > 0 && stage->threads > blocks)
        stage->threads = blocks;
    rs_host_fit_threads(stage, 0, task->rows * task->cols, scratch_limit);
    return rs_host_pieces_create(stage);
}

static void unzip_block(const rs_host_stage *stage, const rs_transpose_task *task,
                        unsigned char *block, const unsigned char *buffer)
{
    for (size_t i = 0; i < task->piece_count; i++) {
        const rs_host_piece *piece = &stage->pieces[i];
        rs_host_tile_transpose(&piece->tile, buffer + piece->offset, task->cols,
                               block + task->rows * piece->offset, task->rows * piece->unit,
                               task->rows, piece->count);
    }
}

static void zip_block(const rs_host_stage *stage, const rs_transpose_task *task,
                      unsigned char *block, const unsigned char *buffer)
{
    for (size_t i = 0; i < task->piece_count; i++) {
        const rs_host_piece *piece = &stage->pieces[i];
        rs_host_tile_transpose(&piece->tile, buffer + task->rows * piece->offset,
                               task->rows * piece->unit, block + piece->offset, task->cols,
                               piece->count, task->rows);
    }
}

static void move_blocks(rs_host_run *run, const rs_host_member *member,
                        void (*move)(const rs_host_stage *stage, const rs_transpose_task *task,
                                     unsigned char *block, const unsigned char *buffer))
{
    const rs_host_stage *stage = run->stage;
    const rs_transpose_task *task = &stage->task;
    size_t bytes = task->rows * task->cols;
    unsigned char *buffer = run->scratch + member->index * stage->own_bytes;
    size_t blocks = task->outer * task->count;
    rs_host_loop loop = rs_host_loop_begin(member, blocks, GRAIN_BYTES / bytes + 1);
    for (size_t begin, end; rs_host_loop_next(&loop, &begin, &end);)
        for (size_t k = begin; k < end; k++) {
            unsigned char *block =
                run->data + k / task->count * task->pitch + k % task->count * bytes;
            memcpy(buffer, block, bytes);
            move(stage, task, block, buffer);
            rs_host_done(run, bytes);
        }
}

void rs_host_unzip_work(void *context, const rs_host_member *member)
{
    move_blocks(context, member, unzip_block);
}

void rs_host_zip_work(void *context, const rs_host_member *member)
{
    move_blocks(context, member, zip_block);
}
