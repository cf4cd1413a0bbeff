/*
 * 100! and 0100! by planned chains: rows x cols elements of `unit` bytes, in place.
 *
 * In place of the claimed flags of PTTWAC (Sung thesis, section 4.4) the cycles are cut into chains
 * before the run (cycle.h), and a thread moves several of them in turns (lanes.h). Each line moves
 * to the processor and back once.
 *
 * Scratch: one element in about 500, and two bits an element for the few cycles without a chain.
 * Long elements move in slices, which bounds the buffer of a thread and gives all threads work when
 * there are few elements.
 */
#include "engine/host/host.h"
#include "engine/host/lanes.h"

#include <string.h>

enum { LEAST_STRIDE = 509, APART = 4 };

restride_status rs_host_chains_prepare(rs_host_stage *stage, size_t scratch_limit)
{
    const rs_transpose_task *task = &stage->task;
    /* Elements as small as one byte make the marks the larger part, so only they are asked for. */
    size_t stride = LEAST_STRIDE;
    size_t bytes = task->rows * task->cols * task->unit;
    if (bytes / stride > scratch_limit / 2)
        stride = bytes / (scratch_limit / 2 + 1) + 1;
    restride_status status = rs_host_cycles_create(&stage->cycles, task->rows, task->cols, stride);
    stage->scratch_bytes = stage->cycles.starts * task->unit;
    /* Many matrices need no barriers: each thread takes whole ones. */
    size_t own_bytes = stage->cycles.starts * task->unit + RS_HOST_LINE_BYTES;
    stage->apart = task->outer >= APART * stage->threads &&
                   own_bytes <= scratch_limit / stage->threads && status == RESTRIDE_OK;
    if (stage->apart)
        rs_host_fit_threads(stage, 0, own_bytes - RS_HOST_LINE_BYTES, scratch_limit);
    return status;
}

static void save_starts(const rs_host_field *field, const rs_host_member *member,
                        unsigned char *saved)
{
    size_t begin;
    size_t end;
    size_t distance = field->cycles->stride * field->unit;
    rs_host_team_share(member, field->cycles->starts, &begin, &end);
    for (size_t i = begin; i < end; i++)
        memcpy(saved + i * field->unit, field->matrix + (i + 1) * distance, field->unit);
}

/* Moves one matrix with all members, or with the one that is alone. */
static void move_matrix(rs_host_field *field, const rs_host_member *member, unsigned char *saved)
{
    const rs_host_lanes lanes = rs_host_lanes_choose();
    size_t begin;
    size_t end;
    field->saved = saved;
    save_starts(field, member, saved);
    if (member->count > 1)
        rs_host_team_wait(member);
    rs_host_team_share(member, field->cycles->starts * field->slices, &begin, &end);
    lanes.chains(field, begin, end);
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
