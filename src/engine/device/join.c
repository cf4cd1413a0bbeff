/*
 * JOIN and SPLIT (pad and unpad, Sung thesis, section 4.1.1): rows move apart, the last one first,
 * or together, the first one first. src/engine/kernels/moves.cl has the kernels.
 *
 * Groups cannot wait for each other, so a launch moves only what has its targets behind (or before)
 * everything that is still to be read: as much as the rows have grown apart there. Where that is
 * little, a buffer takes more, in two launches. Scratch: the tails, and the buffer.
 */
#include "engine/device/device.h"

#include <stdio.h>
#include <stdlib.h>

enum { GROUP_ITEMS = 256, LEAST_BUFFER_BYTES = 4096 };
enum { SAVE_TAILS, RESTORE_TAILS, MOVE_ROWS, LIFT_ROWS, DROP_ROWS, KERNELS };
static const char *const kernel_names[KERNELS] = {"save_tails", "restore_tails", "move_rows",
                                                  "lift_rows", "drop_rows"};

/* In words. */
typedef struct {
    uint64_t rows;
    uint64_t narrow;
    uint64_t tail;
    uint64_t buffer;
    size_t at_once; /* matrices */
} join_plan;

static restride_status prepare(rs_device_stage *stage, size_t scratch_limit)
{
    const rs_transpose_task *task = &stage->task;
    rs_device_engine *engine = rs_device_engine_of(stage);
    size_t words = task->unit / stage->word;
    size_t tails = task->rows * task->tail * task->unit;
    size_t least = tails + (tails < LEAST_BUFFER_BYTES ? tails : LEAST_BUFFER_BYTES);
    if (least > scratch_limit)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "%zu tails of %zu elements of %zu bytes take more than %zu bytes of scratch "
                       "memory; grant more, or use another method.",
                       task->rows, task->tail, task->unit, scratch_limit);
    join_plan *plan = malloc(sizeof *plan);
    if (plan == NULL)
        return rs_fail_memory("a stage");
    *plan = (join_plan){task->rows, task->cols * words, task->tail * words, 0, 0};
    plan->at_once = scratch_limit / least;
    if (plan->at_once > task->outer)
        plan->at_once = task->outer;
    if (plan->at_once > RS_DEVICE_MOST_MATRICES)
        plan->at_once = RS_DEVICE_MOST_MATRICES;
    uint64_t most = (scratch_limit / plan->at_once - tails) / stage->word;
    uint64_t all = plan->rows * plan->narrow;
    plan->buffer = most < all ? most : all;
    stage->plan = plan;
    stage->items = engine->work_items < GROUP_ITEMS ? engine->work_items : GROUP_ITEMS;
    stage->scratch_bytes = plan->at_once * (tails + (size_t)plan->buffer * stage->word);
    char options[96];
    snprintf(options, sizeof options, "-D WORD=%s -D ELEMENT_WORDS=%zu",
             rs_device_word_type(stage->word), words);
    return rs_device_create_kernels(engine, rs_device_moves_kernels, options, kernel_names, KERNELS,
                                    stage->kernels);
}

/* Some matrices on their way through one run. */
typedef struct {
    const rs_device_stage *stage;
    rs_device_sequence *sequence;
    rs_device_memory buffer;
    rs_device_memory scratch;
    size_t outer;
    size_t matrices;
} passage;

enum { COMMON = 8, MOST = COMMON + 3 };

/* `own` has `count` numbers; the kernel has `work` work-items a matrix. */
static void launch(const passage *p, int kernel, const uint64_t *own, size_t count, uint64_t work)
{
    const rs_device_stage *stage = p->stage;
    const join_plan *plan = stage->plan;
    rs_device_argument arguments[MOST] = {
        RS_ARGUMENT(p->buffer),
        RS_ULONG((stage->task.offset + p->outer * stage->task.pitch) / stage->word),
        RS_ULONG(stage->task.pitch / stage->word),
        RS_ARGUMENT(p->scratch),
        RS_ULONG(plan->rows * plan->tail + plan->buffer),
        RS_ARGUMENT(plan->rows),
        RS_ARGUMENT(plan->narrow),
        RS_ARGUMENT(plan->tail),
    };
    for (size_t i = 0; i < count; i++)
        arguments[COMMON + i] = RS_ARGUMENT(own[i]);
    rs_device_launch(p->sequence, stage->kernels[kernel], arguments, COMMON + count,
                     rs_size_divide_up((size_t)work, stage->items), p->matrices, stage->items);
}

/* Moves places [begin, end) of the compact rows, whose targets are free already, or not. */
static void move(const passage *p, bool apart, uint64_t begin, uint64_t end, bool is_free)
{
    const uint64_t own[] = {apart, begin, end};
    if (is_free) {
        launch(p, MOVE_ROWS, own, 3, end - begin);
    } else {
        launch(p, LIFT_ROWS, own, 3, end - begin);
        launch(p, DROP_ROWS, own, 3, end - begin);
    }
}

/* The first place of the compact rows whose target is `end` or behind it. */
static uint64_t first_behind(const join_plan *plan, uint64_t end)
{
    uint64_t row = end / (plan->narrow + plan->tail);
    uint64_t inside = end - row * (plan->narrow + plan->tail);
    return row * plan->narrow + (inside < plan->narrow ? inside : plan->narrow);
}

static void move_apart(const passage *p, const join_plan *plan)
{
    uint64_t end = plan->rows * plan->narrow;
    while (end > plan->narrow) { /* the first row stays */
        uint64_t begin = first_behind(plan, end);
        bool is_free = end - begin >= plan->buffer;
        if (!is_free)
            begin = end - plan->narrow > plan->buffer ? end - plan->buffer : plan->narrow;
        move(p, true, begin, end, is_free);
        end = begin;
    }
}

static void move_together(const passage *p, const join_plan *plan)
{
    uint64_t all = plan->rows * plan->narrow;
    uint64_t begin = plan->narrow;
    while (begin < all) {
        uint64_t gap = begin / plan->narrow * plan->tail;
        bool is_free = gap >= plan->buffer;
        uint64_t most = is_free ? gap : plan->buffer;
        uint64_t end = most < all - begin ? begin + most : all;
        move(p, false, begin, end, is_free);
        begin = end;
    }
}

static void enqueue(const rs_device_stage *stage, rs_device_sequence *sequence,
                    rs_device_memory buffer, rs_device_memory scratch)
{
    const join_plan *plan = stage->plan;
    const uint64_t tails = plan->rows * plan->tail;
    const uint64_t among = 1;
    const uint64_t behind = 0;
    for (size_t o = 0; o < stage->task.outer; o += plan->at_once) {
        size_t left = stage->task.outer - o;
        const passage p = {stage,   sequence, buffer,
                           scratch, o,        left < plan->at_once ? left : plan->at_once};
        if (stage->task.method == RS_TRANSPOSE_JOIN) {
            launch(&p, SAVE_TAILS, &behind, 1, tails);
            move_apart(&p, plan);
            launch(&p, RESTORE_TAILS, &among, 1, tails);
        } else {
            launch(&p, SAVE_TAILS, &among, 1, tails);
            move_together(&p, plan);
            launch(&p, RESTORE_TAILS, &behind, 1, tails);
        }
    }
}

static void forget(rs_device_stage *stage)
{
    free(stage->plan);
}

const rs_device_method rs_device_join = {"pad", "rows move apart", prepare, enqueue, forget};
const rs_device_method rs_device_split = {"unpad", "rows move together", prepare, enqueue, forget};
