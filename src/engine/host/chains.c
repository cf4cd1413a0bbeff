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

enum { LEAST_STRIDE = 509 };

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

void rs_host_chains_work(void *context, const rs_host_member *member)
{
    const rs_host_run *run = context;
    const rs_host_stage *stage = run->stage;
    const rs_host_cycles *cycles = &stage->cycles;
    const rs_host_lanes lanes = rs_host_lanes_choose();
    rs_host_field field;
    rs_host_field_cut(&field, cycles, stage->task.unit);
    field.saved = run->scratch;
    field.progress = run->progress;
    size_t begin;
    size_t end;
    for (size_t o = 0; o < stage->task.outer; o++) {
        field.matrix = run->data + o * stage->task.pitch;
        save_starts(&field, member, run->scratch);
        rs_host_team_wait(member);
        rs_host_team_share(member, cycles->starts * field.slices, &begin, &end);
        lanes.chains(&field, begin, end);
        lanes.cycles(&field, member->index, member->count);
        rs_host_team_wait(member);
    }
}
