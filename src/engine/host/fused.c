/*
 * 1000! and 0010! in one pass: rows x cols elements, each a matrix of inner_rows x inner_cols,
 * change places along the cycles of 100! and are transposed on their way. These are the fused
 * middle stages of the 4-stage transposition (Karlsson 2009; Gustavson, Karlsson and Kagstrom 2012;
 * Sung thesis, section 4.8.3).
 *
 * The cycles are cut into chains as those of CHAINS (cycle.h). An element that stays where it is
 * has to be transposed too; cycle.h leaves those out, and they are found by arithmetic: position q
 * stays when q * (cols - 1) is a multiple of total - 1. Scratch: the first element of each chain,
 * and one element a thread.
 */
#include "base/arithmetic.h"
#include "engine/host/host.h"

#include <string.h>

enum { CHAINS_A_THREAD = 16 };

static size_t element_bytes(const rs_transpose_task *task)
{
    return task->inner_rows * task->inner_cols * task->unit;
}

restride_status rs_host_fused_prepare(rs_host_stage *stage, size_t scratch_limit)
{
    const rs_transpose_task *task = &stage->task;
    size_t total = task->rows * task->cols;
    stage->tile = rs_host_tile_choose(
        task->unit, task->inner_rows < task->inner_cols ? task->inner_rows : task->inner_cols);
    rs_host_fit_threads(stage, 0, element_bytes(task), scratch_limit / 2);
    size_t left = scratch_limit > stage->scratch_bytes ? scratch_limit - stage->scratch_bytes : 0;
    size_t chains = left / element_bytes(task);
    if (chains > stage->threads * CHAINS_A_THREAD)
        chains = stage->threads * CHAINS_A_THREAD;
    restride_status status =
        rs_host_cycles_create(&stage->cycles, task->rows, task->cols, total / (chains + 1) + 1);
    stage->scratch_bytes += stage->cycles.chains * element_bytes(task);
    return status;
}

/* One matrix of elements, as one thread sees it. */
typedef struct {
    const rs_host_run *run;
    const rs_transpose_task *task;
    const rs_host_cycles *cycles;
    unsigned char *matrix;
    unsigned char *saved; /* the first element of each chain */
    unsigned char *own;
    size_t bytes; /* of an element */
} field;

static void place(const field *f, const unsigned char *element, size_t position)
{
    const rs_transpose_task *task = f->task;
    rs_host_tile_transpose(&f->run->stage->tile, element, task->inner_cols * task->unit,
                           f->matrix + position * f->bytes, task->inner_rows * task->unit,
                           task->inner_rows, task->inner_cols);
    rs_host_done(f->run, f->bytes);
}

/* Moves the elements from `position` on, as far as the one that was at `stop`, of which `last` is a
 * copy. */
static void move_chain(const field *f, size_t position, size_t stop, const unsigned char *last)
{
    size_t source = rs_host_source(f->cycles, position);
    for (; source != stop; source = rs_host_source(f->cycles, position)) {
        place(f, f->matrix + source * f->bytes, position);
        position = source;
    }
    place(f, last, position);
}

static void save_starts(const field *f, size_t begin, size_t end)
{
    rs_host_chain_cursor chain;
    if (begin == end)
        return;
    rs_host_chain_begin(&chain, f->cycles, begin);
    for (size_t i = begin; i < end; i++, rs_host_chain_next(&chain))
        memcpy(f->saved + i * f->bytes, f->matrix + chain.start * f->bytes, f->bytes);
}

static void move_chains(const field *f, size_t begin, size_t end)
{
    rs_host_chain_cursor chain;
    if (begin == end)
        return;
    rs_host_chain_begin(&chain, f->cycles, begin);
    for (size_t i = begin; i < end; i++, rs_host_chain_next(&chain))
        move_chain(f, chain.start, chain.stop, f->saved + chain.following * f->bytes);
}

static void move_cycles(const field *f, const rs_host_member *member)
{
    rs_host_whole_cursor cycle;
    rs_host_whole_begin(&cycle, f->cycles, 1, member->index, member->count, false);
    while (rs_host_whole_next(&cycle)) {
        memcpy(f->own, f->matrix + cycle.leader * f->bytes, f->bytes);
        move_chain(f, cycle.leader, cycle.leader, f->own);
    }
}

static void turn_fixed(const field *f, const rs_host_member *member)
{
    size_t last = f->cycles->total - 1;
    size_t count = last == 0 ? 1 : rs_size_gcd(f->cycles->cols - 1, last) + 1;
    size_t begin;
    size_t end;
    rs_host_team_share(member, count, &begin, &end);
    for (size_t i = begin; i < end; i++) {
        size_t position = i == 0 ? 0 : i * (last / (count - 1));
        memcpy(f->own, f->matrix + position * f->bytes, f->bytes);
        place(f, f->own, position);
    }
}

void rs_host_fused_work(void *context, const rs_host_member *member)
{
    const rs_host_run *run = context;
    const rs_host_stage *stage = run->stage;
    size_t begin;
    size_t end;
    for (size_t o = 0; o < stage->task.outer; o++) {
        const field f = {.run = run,
                         .task = &stage->task,
                         .cycles = &stage->cycles,
                         .matrix = run->data + o * stage->task.pitch,
                         .saved = run->scratch + stage->threads * stage->own_bytes,
                         .own = run->scratch + member->index * stage->own_bytes,
                         .bytes = element_bytes(&stage->task)};
        rs_host_team_share(member, f.cycles->chains, &begin, &end);
        save_starts(&f, begin, end);
        rs_host_team_wait(member);
        move_chains(&f, begin, end);
        move_cycles(&f, member);
        turn_fixed(&f, member);
        rs_host_team_wait(member);
    }
}
