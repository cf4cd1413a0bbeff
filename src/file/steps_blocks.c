/* 010! and others that work on blocks, which at.position counts; see steps.h. */
#include "engine/host/tile.h"
#include "file/steps_form.h"

#include <string.h>

enum {
    BLOCK_STEPS = 16, /* a block of more steps than this passes through the stash */
    WORD_BYTES = 8    /* the parts of a stash begin at multiples */
};

static size_t block_bytes(const rs_transpose_task *task)
{
    return task->rows * task->cols * task->unit;
}

static rs_host_tile tile_of(size_t unit, size_t rows, size_t cols)
{
    return rs_host_tile_choose(unit, rows < cols ? rows : cols);
}

/* A row has the first members of all pieces, one piece after the other. */
static void unzip_block(const rs_transpose_task *t, const unsigned char *from, unsigned char *to)
{
    for (size_t i = 0; i < t->piece_count; i++) {
        const rs_piece *piece = &t->pieces[i];
        rs_host_tile tile = tile_of(piece->unit, t->rows, piece->count);
        rs_host_tile_transpose(&tile, from, t->cols, to, t->rows * piece->unit, t->rows,
                               piece->count);
        from += piece->count * piece->unit;
        to += piece->count * piece->unit * t->rows;
    }
}

static void zip_block(const rs_transpose_task *t, const unsigned char *from, unsigned char *to)
{
    for (size_t i = 0; i < t->piece_count; i++) {
        const rs_piece *piece = &t->pieces[i];
        rs_host_tile tile = tile_of(piece->unit, piece->count, t->rows);
        rs_host_tile_transpose(&tile, from, t->rows * piece->unit, to, t->cols, piece->count,
                               t->rows);
        from += piece->count * piece->unit * t->rows;
        to += piece->count * piece->unit;
    }
}

static size_t piece_bytes(const rs_piece *piece)
{
    return piece->count * piece->unit;
}

static size_t target_of(const rs_transpose_task *t, const rs_piece *piece)
{
    size_t target = 0;
    for (size_t i = 0; i < t->piece_count; i++)
        if (t->pieces[i].place < piece->place)
            target += piece_bytes(&t->pieces[i]);
    return target;
}

static void transpose_block(const rs_transpose_task *t, const unsigned char *from,
                            unsigned char *to)
{
    rs_host_tile tile = tile_of(t->unit, t->rows, t->cols);
    rs_host_tile_transpose(&tile, from, t->cols * t->unit, to, t->rows * t->unit, t->rows, t->cols);
}

static void change_block(const rs_transpose_task *t, const unsigned char *from, unsigned char *to)
{
    switch (t->method) {
    case RS_TRANSPOSE_UNZIP:
        unzip_block(t, from, to);
        return;
    case RS_TRANSPOSE_ZIP:
        zip_block(t, from, to);
        return;
    case RS_TRANSPOSE_REORDER:
        for (size_t i = 0; i < t->piece_count; i++) {
            memcpy(to + target_of(t, &t->pieces[i]), from, piece_bytes(&t->pieces[i]));
            from += piece_bytes(&t->pieces[i]);
        }
        return;
    default:
        transpose_block(t, from, to);
    }
}

static size_t blocks_of(const rs_transpose_task *task)
{
    return rs_steps_matrices_of(task) * task->count;
}

static size_t block_offset(const rs_steps *s)
{
    const rs_transpose_task *t = s->task;
    return rs_steps_offset_of(t, s->at.position / t->count) +
           s->at.position % t->count * block_bytes(t);
}

/*
 * A block that is longer than a step passes through the stash: all of its new contents are written
 * there, from a file that stays as it is, and then they are copied into the file. at.part tells
 * which of the two is under way, and at.leader how many bytes of it are done.
 */
static bool through_stash(const rs_transpose_task *task, const rs_journal_capacity *capacity)
{
    return block_bytes(task) > capacity->payload;
}

/* Where bytes that lie together after the change come from. */
typedef struct {
    size_t offset;
    size_t length;
} source_run;

static source_run element_run(size_t element, size_t unit, size_t within)
{
    return (source_run){element * unit + within, unit - within};
}

static source_run find_in_matrix(const rs_transpose_task *t, size_t place)
{
    size_t element = place / t->unit;
    return element_run(element % t->rows * t->cols + element / t->rows, t->unit, place % t->unit);
}

static source_run find_in_unzip(const rs_transpose_task *t, size_t place)
{
    size_t before = 0;
    const rs_piece *piece = t->pieces;
    for (; place >= t->rows * piece_bytes(piece); piece++) {
        place -= t->rows * piece_bytes(piece);
        before += piece_bytes(piece);
    }
    size_t element = place / piece->unit;
    source_run run = element_run(element / t->rows, piece->unit, place % piece->unit);
    run.offset += element % t->rows * t->cols + before;
    return run;
}

static source_run find_in_zip(const rs_transpose_task *t, size_t place)
{
    size_t row = place / t->cols;
    size_t before = 0;
    const rs_piece *piece = t->pieces;
    for (place %= t->cols; place >= piece_bytes(piece); piece++) {
        place -= piece_bytes(piece);
        before += t->rows * piece_bytes(piece);
    }
    source_run run =
        element_run(place / piece->unit * t->rows + row, piece->unit, place % piece->unit);
    run.offset += before;
    return run;
}

static source_run find_in_reorder(const rs_transpose_task *t, size_t place)
{
    size_t before = 0;
    const rs_piece *piece = t->pieces;
    for (size_t target;
         place < (target = target_of(t, piece)) || place - target >= piece_bytes(piece); piece++)
        before += piece_bytes(piece);
    size_t within = place - target_of(t, piece);
    return (source_run){before + within, piece_bytes(piece) - within};
}

static source_run find_source(const rs_transpose_task *t, size_t place)
{
    switch (t->method) {
    case RS_TRANSPOSE_UNZIP:
        return find_in_unzip(t, place);
    case RS_TRANSPOSE_ZIP:
        return find_in_zip(t, place);
    case RS_TRANSPOSE_REORDER:
        return find_in_reorder(t, place);
    default:
        return find_in_matrix(t, place);
    }
}

/* Bytes [begin, begin + length) of a changed block. */
static void gather(const rs_transpose_task *t, const unsigned char *block, size_t begin,
                   size_t length, unsigned char *place)
{
    while (length > 0) {
        source_run run = find_source(t, begin);
        size_t count = rs_steps_smaller(run.length, length);
        memcpy(place, block + run.offset, count);
        place += count;
        begin += count;
        length -= count;
    }
}

static restride_status fill_through_stash(rs_steps *s, rs_journal *journal, bool *finished)
{
    const rs_transpose_task *t = s->task;
    rs_journal_step *step = rs_journal_step_of(journal);
    size_t bytes = block_bytes(t);
    size_t offset = block_offset(s);
    size_t begin = s->at.leader;
    size_t room = step->capacity.payload - step->capacity.payload % WORD_BYTES;
    size_t length = rs_steps_smaller(bytes - begin, room);
    restride_status status;
    if (s->at.part == 0) {
        gather(t, s->array + offset, begin, length, step->payload);
        status = rs_journal_write_stash(journal, begin, step->payload, length);
    } else {
        unsigned char *place = rs_steps_add(s, step, offset + begin, length);
        status = rs_journal_read_stash(journal, begin, place, length);
    }
    s->at.leader += length;
    if (s->at.leader < bytes)
        return status;
    s->at.position += s->at.part;
    s->at.part = 1 - s->at.part;
    s->at.leader = 0;
    *finished = s->at.position == blocks_of(t);
    return status;
}

static restride_status fill_blocks(rs_steps *s, rs_journal *journal, bool *finished)
{
    const rs_transpose_task *t = s->task;
    rs_journal_step *step = rs_journal_step_of(journal);
    size_t bytes = block_bytes(t);
    if (through_stash(t, &step->capacity))
        return fill_through_stash(s, journal, finished);
    for (; s->at.position < blocks_of(t) && rs_journal_step_fits(step, bytes); s->at.position++) {
        size_t offset = block_offset(s);
        /* While one block is worked on, the disk reads the one behind it. */
        rs_steps_want(s, block_offset(s), 2 * bytes);
        change_block(t, s->array + offset, rs_steps_add(s, step, offset, bytes));
    }
    *finished = s->at.position == blocks_of(t);
    return RESTRIDE_OK;
}

static bool matrix_suits(const rs_transpose_task *task, size_t *bytes)
{
    return task->piece_count == 0 &&
           RS_STEPS_MULTIPLY(bytes, task->count, task->rows, task->cols, task->unit);
}

/* The pieces make up a row. */
static bool pieces_suit(const rs_transpose_task *task, size_t *bytes)
{
    size_t sum = 0;
    for (size_t i = 0; i < task->piece_count; i++) {
        size_t piece;
        if (!RS_STEPS_MULTIPLY(&piece, task->pieces[i].count, task->pieces[i].unit) ||
            !rs_size_add(sum, piece, &sum))
            return false;
    }
    return task->unit == 1 && sum == task->cols &&
           RS_STEPS_MULTIPLY(bytes, task->count, task->rows, task->cols);
}

/* Each piece has a place of its own. */
static bool reorder_suits(const rs_transpose_task *task, size_t *bytes)
{
    for (size_t i = 0; i < task->piece_count; i++)
        for (size_t k = 0; k <= i; k++)
            if (task->pieces[i].place >= task->piece_count ||
                (k < i && task->pieces[k].place == task->pieces[i].place))
                return false;
    return task->rows == 1 && pieces_suit(task, bytes);
}

static void measure_blocks(const rs_transpose_task *task, size_t step_bytes,
                           rs_journal_capacity *capacity, size_t *stash_bytes)
{
    size_t bytes = block_bytes(task);
    capacity->payload = rs_steps_larger(capacity->payload, WORD_BYTES);
    if (bytes / BLOCK_STEPS <= step_bytes)
        capacity->payload = rs_steps_larger(capacity->payload, bytes);
    else
        *stash_bytes = rs_steps_larger(*stash_bytes, bytes);
}

static bool blocks_fit(const rs_transpose_task *task, const rs_journal_capacity *capacity,
                       size_t stash_bytes)
{
    return !through_stash(task, capacity) ||
           (capacity->payload >= WORD_BYTES && block_bytes(task) <= stash_bytes);
}

static bool blocks_resumable(const rs_transpose_task *task, const rs_journal_step *latest)
{
    const rs_journal_cursor *at = &latest->next;
    size_t most_part = through_stash(task, &latest->capacity) ? 1 : 0;
    return latest->carried_bytes == 0 && at->position < blocks_of(task) && at->part <= most_part &&
           at->leader < (most_part == 1 ? block_bytes(task) : 1) && at->leader % WORD_BYTES == 0;
}

/* Before its first part is written the stash is what an earlier stage left. */
static size_t blocks_stashed(const rs_transpose_task *task, const rs_journal_step *latest)
{
    if (!through_stash(task, &latest->capacity))
        return 0;
    return latest->next.part == 0 ? latest->next.leader : block_bytes(task);
}

const rs_steps_form rs_steps_of_blocks = {
    matrix_suits, measure_blocks, blocks_fit, blocks_resumable, blocks_stashed, NULL, fill_blocks};

const rs_steps_form rs_steps_of_pieces = {
    pieces_suit, measure_blocks, blocks_fit, blocks_resumable, blocks_stashed, NULL, fill_blocks};

const rs_steps_form rs_steps_of_reorder = {
    reorder_suits, measure_blocks, blocks_fit, blocks_resumable, blocks_stashed, NULL, fill_blocks};
