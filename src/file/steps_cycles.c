/*
 * 100! and others whose elements move along the cycles of a permutation; see steps.h.
 *
 * at.part counts slices of matrices, at.leader is the first element of the cycle that moves or the
 * next to be looked at, at.position the one that is filled next.
 *
 * A cycle begins at its lowest element, which is carried from step to step until the cycle closes.
 * The marks need not be kept in the journal: all cycles with lower leaders have moved.
 */
#include "engine/host/tile.h"
#include "file/steps_form.h"

#include <stdlib.h>
#include <string.h>

enum {
    SLICE_BYTES = 64 << 10, /* longer elements move in slices, all first ones first */
    ELEMENTS_AHEAD = 64,    /* that are asked for */
    WORD_BITS = 64
};

static bool fused(const rs_transpose_task *task)
{
    return task->method == RS_TRANSPOSE_FUSED;
}

/* An element of FUSED is a matrix, which is transposed while it moves, and so in one piece. */
static size_t element_bytes(const rs_transpose_task *task)
{
    return fused(task) ? task->inner_rows * task->inner_cols * task->unit : task->unit;
}

static size_t slice_bytes(const rs_transpose_task *task)
{
    size_t bytes = element_bytes(task);
    return bytes < SLICE_BYTES || fused(task) ? bytes : SLICE_BYTES;
}

static size_t slices_of(const rs_transpose_task *task)
{
    return (element_bytes(task) - 1) / slice_bytes(task) + 1;
}

/* Position j * rows + i holds what was at i * cols + j. */
static size_t source_of(const rs_transpose_task *task, size_t position)
{
    return position % task->rows * task->cols + position / task->rows;
}

static bool marked(const rs_steps *s, size_t element)
{
    return (s->marks[element / WORD_BITS] >> element % WORD_BITS & 1) != 0;
}

static void mark(rs_steps *s, size_t element)
{
    s->marks[element / WORD_BITS] |= (uint64_t)1 << element % WORD_BITS;
}

static size_t mark_words(const rs_transpose_task *task)
{
    return task->rows * task->cols / WORD_BITS + 1;
}

static restride_status begin_cycles(rs_steps *s, const rs_journal *journal,
                                    const rs_journal_step *latest)
{
    (void)journal;
    s->marks = calloc(mark_words(s->task), sizeof *s->marks);
    if (s->marks == NULL)
        return rs_fail_memory("the marks of a transposition");
    /* All of the cycle that moves: nobody asks for its marks before it has closed. */
    bool moving = latest->carried_bytes != 0;
    s->ahead = s->at.position;
    for (size_t leader = 0; leader < s->at.leader + moving; leader++)
        for (size_t element = leader; !marked(s, element); element = source_of(s->task, element))
            mark(s, element);
    return RESTRIDE_OK;
}

/* One slice of all elements of one matrix. */
typedef struct {
    size_t offset; /* of the slice in the first element */
    size_t width;
} slice;

static slice find_slice(const rs_transpose_task *t, size_t part)
{
    size_t begin = part % slices_of(t) * slice_bytes(t);
    size_t left = element_bytes(t) - begin;
    return (slice){rs_steps_offset_of(t, part / slices_of(t)) + begin,
                   rs_steps_smaller(left, slice_bytes(t))};
}

static bool stays(const rs_transpose_task *task, size_t element)
{
    return source_of(task, element) == element && !fused(task);
}

/* Asks for one more element of the cycle that moves. */
static void want_one(rs_steps *s, const slice *part)
{
    s->ahead = source_of(s->task, s->ahead);
    rs_steps_want(s, part->offset + s->ahead * element_bytes(s->task), part->width);
}

/* At the beginning of a cycle, or of a run in the middle of one. */
static void want_first(rs_steps *s, const slice *part)
{
    s->ahead = s->at.position;
    for (size_t i = 0; i < ELEMENTS_AHEAD; i++)
        want_one(s, part);
}

/* Whether there is a cycle left; its leader is then carried. */
static bool find_cycle(rs_steps *s, rs_journal_step *step, const slice *part)
{
    size_t total = s->task->rows * s->task->cols;
    while (s->at.leader < total && (marked(s, s->at.leader) || stays(s->task, s->at.leader)))
        s->at.leader++;
    if (s->at.leader == total)
        return false;
    s->at.position = s->at.leader;
    mark(s, s->at.leader);
    memcpy(step->carried, s->array + part->offset + s->at.leader * element_bytes(s->task),
           part->width);
    step->carried_bytes = part->width;
    want_first(s, part);
    return true;
}

static void put_element(const rs_steps *s, unsigned char *place, const unsigned char *element,
                        size_t width)
{
    const rs_transpose_task *t = s->task;
    if (!fused(t)) {
        memcpy(place, element, width);
        return;
    }
    rs_host_tile tile =
        rs_host_tile_choose(t->unit, t->inner_rows < t->inner_cols ? t->inner_rows : t->inner_cols);
    rs_host_tile_transpose(&tile, element, t->inner_cols * t->unit, place, t->inner_rows * t->unit,
                           t->inner_rows, t->inner_cols);
}

static void move_element(rs_steps *s, rs_journal_step *step, const slice *part)
{
    size_t bytes = element_bytes(s->task);
    size_t source = source_of(s->task, s->at.position);
    unsigned char *place =
        rs_steps_add(s, step, part->offset + s->at.position * bytes, part->width);
    if (source == s->at.leader) {
        put_element(s, place, step->carried, part->width);
        step->carried_bytes = 0;
        s->at.leader++;
        return;
    }
    put_element(s, place, s->array + part->offset + source * bytes, part->width);
    mark(s, source);
    s->at.position = source;
    want_one(s, part);
}

static void begin_part(rs_steps *s)
{
    s->at.part++;
    s->at.leader = 0;
    s->at.position = 0;
    memset(s->marks, 0, mark_words(s->task) * sizeof *s->marks);
}

static size_t parts_of(const rs_transpose_task *task)
{
    return rs_steps_matrices_of(task) * slices_of(task);
}

static restride_status fill_cycles(rs_steps *s, rs_journal *journal, bool *finished)
{
    rs_journal_step *step = rs_journal_step_of(journal);
    while (s->at.part < parts_of(s->task)) {
        const slice part = find_slice(s->task, s->at.part);
        while (step->carried_bytes != 0 || find_cycle(s, step, &part)) {
            if (!rs_journal_step_fits(step, part.width))
                return RESTRIDE_OK;
            move_element(s, step, &part);
        }
        begin_part(s);
    }
    *finished = true;
    return RESTRIDE_OK;
}

static bool cycles_suit(const rs_transpose_task *task, size_t *bytes)
{
    return task->count == 1 && task->piece_count == 0 &&
           RS_STEPS_MULTIPLY(bytes, task->rows, task->cols, task->unit);
}

static bool fused_suits(const rs_transpose_task *task, size_t *bytes)
{
    return task->count == 1 && task->piece_count == 0 &&
           RS_STEPS_MULTIPLY(bytes, task->rows, task->cols, task->inner_rows, task->inner_cols,
                             task->unit);
}

static void measure_cycles(const rs_transpose_task *task, size_t step_bytes,
                           rs_journal_capacity *capacity, size_t *stash_bytes)
{
    (void)stash_bytes;
    (void)step_bytes;
    capacity->payload = rs_steps_larger(capacity->payload, slice_bytes(task));
    capacity->carried = rs_steps_larger(capacity->carried, slice_bytes(task));
}

static bool cycles_fit(const rs_transpose_task *task, const rs_journal_capacity *capacity,
                       size_t stash_bytes)
{
    (void)stash_bytes;
    return slice_bytes(task) <= capacity->payload && slice_bytes(task) <= capacity->carried;
}

/* A cycle that moves is followed from its lowest element; all of it is walked to see that. */
static bool in_cycle(const rs_transpose_task *task, size_t leader, size_t position)
{
    bool found = false;
    size_t element = leader;
    do {
        found = found || element == position;
        element = source_of(task, element);
    } while (element > leader);
    return found && element == leader;
}

static bool cycles_resumable(const rs_transpose_task *task, const rs_journal_step *latest)
{
    const rs_journal_cursor *at = &latest->next;
    size_t total = task->rows * task->cols;
    if (at->part >= parts_of(task))
        return false;
    if (latest->carried_bytes == 0)
        return at->leader <= total;
    return at->leader < total && latest->carried_bytes == find_slice(task, at->part).width &&
           in_cycle(task, at->leader, at->position);
}

const rs_steps_form rs_steps_of_cycles = {cycles_suit, measure_cycles, cycles_fit, cycles_resumable,
                                          NULL,        begin_cycles,   fill_cycles};

const rs_steps_form rs_steps_of_fused = {fused_suits, measure_cycles, cycles_fit, cycles_resumable,
                                         NULL,        begin_cycles,   fill_cycles};
