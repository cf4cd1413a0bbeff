/*
 * Pad and unpad; see steps.h. at.part counts matrices, at.position bytes of the new matrix,
 * at.leader is 1 once the tails are stashed.
 */
#include "file/steps_form.h"

#include <stdlib.h>
#include <string.h>

static size_t padded_row_bytes(const rs_transpose_task *task)
{
    return rs_steps_row_bytes(task) + rs_steps_tail_bytes(task);
}

static size_t all_rows(const rs_transpose_task *task)
{
    return task->rows * padded_row_bytes(task);
}

static size_t all_tails(const rs_transpose_task *task)
{
    return task->rows * rs_steps_tail_bytes(task);
}

static const unsigned char *matrix_of(const rs_steps *s)
{
    return s->array + rs_steps_offset_of(s->task, s->at.part);
}

static restride_status begin_tails(rs_steps *s, const rs_journal *journal,
                                   const rs_journal_step *latest)
{
    (void)latest;
    size_t bytes = all_tails(s->task);
    s->stash = malloc(bytes);
    if (s->stash == NULL)
        return rs_fail_memory("the tails of a matrix");
    return s->at.leader == 0 ? RESTRIDE_OK : rs_journal_read_stash(journal, 0, s->stash, bytes);
}

/* Where the tails lie behind the compact rows, element by element of one tail column. */
static size_t behind(const rs_transpose_task *t, size_t column, size_t row)
{
    return t->rows * rs_steps_row_bytes(t) + (column * t->rows + row) * t->unit;
}

static void stash_tails(rs_steps *s)
{
    const rs_transpose_task *t = s->task;
    size_t tail = rs_steps_tail_bytes(t);
    const unsigned char *matrix = matrix_of(s);
    for (size_t row = 0; row < t->rows; row++)
        if (t->method == RS_TRANSPOSE_SPLIT)
            memcpy(s->stash + row * tail,
                   matrix + row * padded_row_bytes(t) + rs_steps_row_bytes(t), tail);
        else
            for (size_t column = 0; column < t->tail; column++)
                memcpy(s->stash + row * tail + column * t->unit, matrix + behind(t, column, row),
                       t->unit);
}

/*
 * Rows may be longer than a step, so at.position counts the bytes of the new matrix that are
 * filled: from its end for pad, whose rows move apart, and from its beginning for unpad. Byte x of
 * the padded rows belongs to row x / padded; the compact place of a byte is never behind its padded
 * one, so neither direction overwrites what is still to be read.
 */
static void fill_padded(const rs_steps *s, size_t begin, size_t length, unsigned char *place)
{
    const rs_transpose_task *t = s->task;
    while (length > 0) {
        size_t row = begin / padded_row_bytes(t);
        size_t within = begin % padded_row_bytes(t);
        bool in_tail = within >= rs_steps_row_bytes(t);
        size_t until = in_tail ? padded_row_bytes(t) : rs_steps_row_bytes(t);
        size_t count = until - within < length ? until - within : length;
        const unsigned char *from =
            in_tail ? s->stash + row * rs_steps_tail_bytes(t) + (within - rs_steps_row_bytes(t))
                    : matrix_of(s) + row * rs_steps_row_bytes(t) + within;
        memcpy(place, from, count);
        place += count;
        begin += count;
        length -= count;
    }
}

/* Byte `begin` of the new matrix on: compact rows, and behind them the tails by columns. */
static void fill_compact(const rs_steps *s, size_t begin, size_t length, unsigned char *place)
{
    const rs_transpose_task *t = s->task;
    size_t compact = t->rows * rs_steps_row_bytes(t);
    while (length > 0) {
        size_t count;
        if (begin < compact) {
            size_t row = begin / rs_steps_row_bytes(t);
            size_t within = begin % rs_steps_row_bytes(t);
            count =
                rs_steps_row_bytes(t) - within < length ? rs_steps_row_bytes(t) - within : length;
            memcpy(place, matrix_of(s) + row * padded_row_bytes(t) + within, count);
        } else {
            size_t element = (begin - compact) / t->unit;
            size_t within = (begin - compact) % t->unit;
            count = t->unit - within < length ? t->unit - within : length;
            memcpy(place,
                   s->stash + (element % t->rows * t->tail + element / t->rows) * t->unit + within,
                   count);
        }
        place += count;
        begin += count;
        length -= count;
    }
}

/* Where byte `place` of the new matrix comes from, about: tails are left out. */
static size_t about_source(const rs_transpose_task *t, size_t place)
{
    size_t from = rs_steps_row_bytes(t);
    size_t to = padded_row_bytes(t);
    return t->method == RS_TRANSPOSE_JOIN ? place / to * from : place / from * to;
}

/* What the next step reads, while this one is filled. */
static void want_next(const rs_steps *s, size_t begin, size_t length)
{
    const rs_transpose_task *t = s->task;
    size_t first = about_source(t, begin);
    size_t end =
        rs_steps_smaller(about_source(t, begin + length) + padded_row_bytes(t), all_rows(t));
    if (first < end)
        rs_steps_want(s, rs_steps_offset_of(t, s->at.part) + first, end - first);
}

static void move_rows(rs_steps *s, rs_journal_step *step)
{
    const rs_transpose_task *t = s->task;
    bool join = t->method == RS_TRANSPOSE_JOIN;
    size_t left = all_rows(t) - s->at.position;
    size_t length = rs_steps_smaller(left, step->capacity.payload - step->payload_bytes);
    size_t begin = join ? left - length : s->at.position;
    unsigned char *place = rs_steps_add(s, step, rs_steps_offset_of(t, s->at.part) + begin, length);
    if (s->at.position == 0)
        want_next(s, begin, length);
    want_next(s, join ? begin - rs_steps_smaller(begin, length) : begin + length, length);
    if (join)
        fill_padded(s, begin, length, place);
    else
        fill_compact(s, begin, length, place);
    s->at.position += length;
}

/* The tails are stashed in a step of its own, without ranges: after it the stash is what counts. */
static restride_status fill_tails(rs_steps *s, rs_journal *journal, bool *finished)
{
    const rs_transpose_task *t = s->task;
    if (s->at.leader == 0) {
        stash_tails(s);
        s->at.leader = 1;
        return rs_journal_write_stash(journal, 0, s->stash, all_tails(t));
    }
    move_rows(s, rs_journal_step_of(journal));
    if (s->at.position < all_rows(t))
        return RESTRIDE_OK;
    s->at = (rs_journal_cursor){s->at.stage, s->at.part + 1, 0, 0, s->at.done};
    *finished = s->at.part == rs_steps_matrices_of(t);
    return RESTRIDE_OK;
}

static bool tails_suit(const rs_transpose_task *task, size_t *bytes)
{
    size_t cols;
    return task->count == 1 && task->piece_count == 0 && task->tail != 0 && task->cols != 0 &&
           rs_size_add(task->cols, task->tail, &cols) &&
           RS_STEPS_MULTIPLY(bytes, task->rows, cols, task->unit);
}

static void measure_tails(const rs_transpose_task *task, size_t step_bytes,
                          rs_journal_capacity *capacity, size_t *stash_bytes)
{
    (void)capacity;
    (void)step_bytes;
    *stash_bytes = rs_steps_larger(*stash_bytes, all_tails(task));
}

static bool tails_fit(const rs_transpose_task *task, const rs_journal_capacity *capacity,
                      size_t stash_bytes)
{
    return capacity->payload > 0 && all_tails(task) <= stash_bytes;
}

static bool tails_resumable(const rs_transpose_task *task, const rs_journal_step *latest)
{
    const rs_journal_cursor *at = &latest->next;
    return latest->carried_bytes == 0 && at->part < rs_steps_matrices_of(task) && at->leader <= 1 &&
           at->position < (at->leader == 1 ? all_rows(task) : 1);
}

static size_t tails_stashed(const rs_transpose_task *task, const rs_journal_step *latest)
{
    return latest->next.leader == 0 ? 0 : all_tails(task);
}

const rs_steps_form rs_steps_of_tails = {tails_suit,    measure_tails, tails_fit, tails_resumable,
                                         tails_stashed, begin_tails,   fill_tails};
