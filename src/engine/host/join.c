/*
 * JOIN and SPLIT: rows grow by `tail` elements, or give them off, in place (Sung thesis, section
 * 4.1.1, padding and unpadding).
 *
 * Byte x of the compact rows, in row x / w, belongs at x + x / w * d: a monotone map that moves no
 * byte further than `reach` = rows * d. Each thread has one part of [0, rows * w). JOIN moves it
 * from its end backward, SPLIT forward. A thread can then only hurt bytes of its neighbour that
 * lie within `reach` of their border, so each saves those of its own part first and moves them from
 * the copy, last. Scratch: `reach` bytes for the tail and `reach` for each thread.
 */
#include "engine/host/host.h"

#include <string.h>

static size_t row_bytes(const rs_transpose_task *task)
{
    return task->cols * task->unit;
}

static size_t tail_bytes(const rs_transpose_task *task)
{
    return task->tail * task->unit;
}

static size_t reach(const rs_transpose_task *task)
{
    return task->rows * tail_bytes(task);
}

restride_status rs_host_join_prepare(rs_host_stage *stage, size_t scratch_limit)
{
    const rs_transpose_task *task = &stage->task;
    /* A part must not be smaller than what is saved of it. */
    size_t most = task->cols / task->tail;
    if (stage->threads > most)
        stage->threads = most > 1 ? most : 1;
    rs_host_fit_threads(stage, reach(task), reach(task), scratch_limit);
    return RESTRIDE_OK;
}

typedef struct {
    const rs_transpose_task *task;
    unsigned char *matrix;
    unsigned char *tails; /* rows x tail elements */
    unsigned char *saved;
} place;

static unsigned char *spread(const place *p, size_t row, size_t compact)
{
    return p->matrix + compact + row * tail_bytes(p->task);
}

/* Moves [begin, end) of the compact rows to their places among the tails, last row first. */
static void move_apart(const place *p, size_t begin, size_t end)
{
    size_t width = row_bytes(p->task);
    while (end > begin) {
        size_t row = (end - 1) / width;
        size_t from = row * width > begin ? row * width : begin;
        memmove(spread(p, row, from), p->matrix + from, end - from);
        end = from;
    }
}

static void move_together(const place *p, size_t begin, size_t end)
{
    size_t width = row_bytes(p->task);
    while (begin < end) {
        size_t row = begin / width;
        size_t to = (row + 1) * width < end ? (row + 1) * width : end;
        memmove(p->matrix + begin, spread(p, row, begin), to - begin);
        begin = to;
    }
}

/* Copies between `saved`, which holds [begin, end) of the compact rows, and their places among the
 * tails. */
static void copy_saved(const place *p, size_t begin, size_t end, bool to_saved)
{
    size_t width = row_bytes(p->task);
    for (size_t from = begin; from < end;) {
        size_t row = from / width;
        size_t to = (row + 1) * width < end ? (row + 1) * width : end;
        unsigned char *saved = p->saved + (from - begin);
        if (to_saved)
            memcpy(saved, spread(p, row, from), to - from);
        else
            memcpy(spread(p, row, from), saved, to - from);
        from = to;
    }
}

static void copy_tails(const place *p, const rs_host_member *member, bool to_scratch)
{
    size_t begin;
    size_t end;
    size_t tail = tail_bytes(p->task);
    rs_host_team_share(member, p->task->rows, &begin, &end);
    for (size_t row = begin; row < end; row++) {
        unsigned char *among = spread(p, row, (row + 1) * row_bytes(p->task));
        if (to_scratch)
            memcpy(p->tails + row * tail, among, tail);
        else
            memcpy(among, p->tails + row * tail, tail);
    }
}

/* Between the matrix behind the compact rows, tail x rows, and the scratch, rows x tail. */
static void transpose_tails(const place *p, const rs_host_tile *tile, const rs_host_member *member,
                            bool to_scratch)
{
    const rs_transpose_task *task = p->task;
    size_t begin;
    size_t end;
    rs_host_team_share(member, task->rows, &begin, &end);
    unsigned char *behind = p->matrix + task->rows * row_bytes(task) + begin * task->unit;
    size_t behind_stride = task->rows * task->unit;
    unsigned char *tails = p->tails + begin * tail_bytes(task);
    if (to_scratch)
        rs_host_tile_transpose(tile, behind, behind_stride, tails, tail_bytes(task), task->tail,
                               end - begin);
    else
        rs_host_tile_transpose(tile, tails, tail_bytes(task), behind, behind_stride, end - begin,
                               task->tail);
}

static place find_place(const rs_host_run *run, const rs_host_member *member, size_t outer)
{
    const rs_host_stage *stage = run->stage;
    return (place){&stage->task, run->data + outer * stage->task.pitch, run->scratch,
                   run->scratch + (1 + member->index) * stage->own_bytes};
}

void rs_host_join_work(void *context, const rs_host_member *member)
{
    const rs_host_run *run = context;
    const rs_host_stage *stage = run->stage;
    size_t begin;
    size_t end;
    rs_host_team_share(member, stage->task.rows * row_bytes(&stage->task), &begin, &end);
    size_t border = end - begin < reach(&stage->task) ? end : begin + reach(&stage->task);
    for (size_t o = 0; o < stage->task.outer; o++) {
        const place p = find_place(run, member, o);
        transpose_tails(&p, &stage->tile, member, true);
        memcpy(p.saved, p.matrix + begin, border - begin);
        rs_host_team_wait(member);
        move_apart(&p, border, end);
        copy_saved(&p, begin, border, false);
        rs_host_team_wait(member);
        copy_tails(&p, member, false);
        rs_host_team_wait(member);
    }
}

void rs_host_split_work(void *context, const rs_host_member *member)
{
    const rs_host_run *run = context;
    const rs_host_stage *stage = run->stage;
    size_t begin;
    size_t end;
    rs_host_team_share(member, stage->task.rows * row_bytes(&stage->task), &begin, &end);
    size_t border = end - begin < reach(&stage->task) ? begin : end - reach(&stage->task);
    for (size_t o = 0; o < stage->task.outer; o++) {
        const place p = find_place(run, member, o);
        copy_tails(&p, member, true);
        copy_saved(&p, border, end, true);
        rs_host_team_wait(member);
        move_together(&p, begin, border);
        memcpy(p.matrix + border, p.saved, end - border);
        rs_host_team_wait(member);
        transpose_tails(&p, &stage->tile, member, false);
        rs_host_team_wait(member);
    }
}
