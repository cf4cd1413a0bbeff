/*
 * 100! and 0100! by planned chains: rows x cols elements of `unit` bytes, in place; and 210!, whose
 * rows and columns change places around a middle.
 *
 * In place of the claimed flags of PTTWAC (Sung thesis, section 4.4) the cycles are cut into chains
 * before the run (cycle.h), and a thread moves several of them in turns (lanes.h). Each line moves
 * to the processor and back once.
 *
 * Scratch: one element in about 500. Long elements move in slices, which bounds the buffer of a
 * thread and gives all threads work when there are few elements.
 */
#include "engine/host/host.h"
#include "engine/host/lanes.h"

#include <string.h>

enum { CHAIN_LENGTH = 509, APART = 4 };

/* With which so many elements save no more than the limit. */
static size_t length_within(size_t elements, size_t unit, size_t limit)
{
    size_t most = limit / unit;
    size_t least = most < elements ? elements / (most + 1) + 1 : 1;
    return least > CHAIN_LENGTH ? least : CHAIN_LENGTH;
}

restride_status rs_host_chains_prepare(rs_host_stage *stage, size_t scratch_limit)
{
    const rs_transpose_task *task = &stage->task;
    const size_t middle = task->method == RS_TRANSPOSE_REVERSE ? task->tile : 1;
    size_t elements = task->rows * middle * task->cols;
    size_t length = length_within(elements, task->unit, scratch_limit);
    restride_status status =
        middle > 1 ? rs_host_cycles_list(&stage->cycles, task->rows, middle, task->cols, length)
                   : rs_host_cycles_create(&stage->cycles, task->rows, task->cols, length);
    stage->scratch_bytes = stage->cycles.chains * task->unit;
    /* Many matrices need no barriers: each thread takes whole ones. */
    size_t own_bytes = stage->scratch_bytes + RS_HOST_LINE_BYTES;
    stage->apart =
        task->outer >= APART * stage->threads && own_bytes <= scratch_limit / stage->threads;
    if (stage->apart)
        rs_host_fit_threads(stage, 0, stage->scratch_bytes, scratch_limit);
    return status;
}

static void save_starts(const rs_host_field *field, const rs_host_member *member,
                        unsigned char *saved)
{
    size_t begin;
    size_t end;
    rs_host_chain_cursor chain;
    rs_host_team_share(member, field->cycles->chains, &begin, &end);
    if (begin == end)
        return;
    rs_host_chain_begin(&chain, field->cycles, begin);
    for (size_t i = begin; i < end; i++, rs_host_chain_next(&chain))
        memcpy(saved + i * field->unit, field->matrix + chain.start * field->unit, field->unit);
}

/* Moves one matrix with all members, or with the one that is alone. */
static void move_matrix(rs_host_field *field, const rs_host_member *member, unsigned char *saved)
{
    const rs_host_lanes lanes = rs_host_lanes_choose();
    field->saved = saved;
    save_starts(field, member, saved);
    if (member->count > 1)
        rs_host_team_wait(member);
    lanes.chains(field, member->index, member->count);
    lanes.cycles(field, member->index, member->count);
    if (member->count > 1)
        rs_host_team_wait(member);
}

void rs_host_chains_work(void *context, const rs_host_member *member)
{
    const rs_host_run *run = context;
    const rs_host_stage *stage = run->stage;
    rs_host_field field;
    rs_host_field_cut(&field, &stage->cycles, stage->task.unit);
    field.progress = run->progress;
    rs_host_member alone = {member->team, 0, 1};
    size_t begin = 0;
    size_t end = stage->task.outer;
    if (stage->apart)
        rs_host_team_share(member, stage->task.outer, &begin, &end);
    for (size_t o = begin; o < end; o++) {
        field.matrix = run->data + o * stage->task.pitch;
        if (stage->apart)
            move_matrix(&field, &alone, run->scratch + member->index * stage->own_bytes);
        else
            move_matrix(&field, member, run->scratch);
    }
}
