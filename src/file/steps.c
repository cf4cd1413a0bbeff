/* Stages in steps; see steps.h. Each form is a few functions in the table at the end. */
#include "file/steps.h"
#include "engine/host/tile.h"

#include <stdlib.h>
#include <string.h>

enum {
    SLICE_BYTES = 64 << 10, /* longer elements move in slices, all first ones first */
    TILE_ROW_BYTES = 4096,
    WORD_BITS = 64,
    LEAST_RANGES = 1024,
    MOST_ROW_BYTES = 256 << 20, /* that are brought into another order in one step */
    RANGE_PARTS = 64            /* a step of many ranges has about this many bytes in each */
};

typedef struct {
    /* The most bytes that have to go into one step. */
    size_t (*largest)(const rs_transpose_task *task);
    size_t (*stash_bytes)(const rs_transpose_task *task);                     /* NULL: none */
    restride_status (*begin)(rs_steps *steps, const rs_journal_step *latest); /* NULL: nothing */
    bool (*fill)(rs_steps *steps, rs_journal_step *step);
} form;

/* Matrices are numbered through all repeats. */
static size_t matrices_of(const rs_transpose_task *task)
{
    return (task->repeats > 1 ? task->repeats : 1) * task->outer;
}

static size_t offset_of(const rs_transpose_task *task, size_t matrix)
{
    return task->offset + matrix / task->outer * task->repeat_pitch +
           matrix % task->outer * task->pitch;
}

static size_t row_bytes(const rs_transpose_task *task)
{
    return task->cols * task->unit;
}

static size_t tail_bytes(const rs_transpose_task *task)
{
    return task->tail * task->unit;
}

/* The place of the next `length` bytes of new contents, at `offset` of the array. */
static unsigned char *add(rs_steps *s, rs_journal_step *step, size_t offset, size_t length)
{
    s->at.done += length;
    return rs_journal_step_add(step, s->array_offset + offset, length);
}

/* ---- 010! and others that work on blocks: at.position counts them ---- */

static size_t block_bytes(const rs_transpose_task *task)
{
    return task->rows * task->cols * task->unit;
}

static rs_host_tile tile_of(size_t unit, size_t rows, size_t cols)
{
    return rs_host_tile_choose(unit, rows < cols ? rows : cols);
}

static void transpose_block(const rs_transpose_task *t, const unsigned char *from,
                            unsigned char *to)
{
    rs_host_tile tile = tile_of(t->unit, t->rows, t->cols);
    rs_host_tile_transpose(&tile, from, t->cols * t->unit, to, t->rows * t->unit, t->rows, t->cols);
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

static void reorder_block(const rs_transpose_task *t, const unsigned char *from, unsigned char *to)
{
    for (size_t i = 0; i < t->piece_count; i++) {
        size_t target = 0;
        for (size_t k = 0; k < t->piece_count; k++)
            if (t->pieces[k].place < t->pieces[i].place)
                target += piece_bytes(&t->pieces[k]);
        memcpy(to + target, from, piece_bytes(&t->pieces[i]));
        from += piece_bytes(&t->pieces[i]);
    }
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
        reorder_block(t, from, to);
        return;
    default:
        transpose_block(t, from, to);
    }
}

static bool fill_blocks(rs_steps *s, rs_journal_step *step)
{
    const rs_transpose_task *t = s->task;
    size_t bytes = block_bytes(t);
    size_t blocks = matrices_of(t) * t->count;
    while (s->at.position < blocks && rs_journal_step_fits(step, bytes)) {
        size_t offset = offset_of(t, s->at.position / t->count) + s->at.position % t->count * bytes;
        change_block(t, s->array + offset, add(s, step, offset, bytes));
        s->at.position++;
    }
    return s->at.position == blocks;
}

/*
 * ---- 100!: at.part counts slices of matrices, at.leader is the first element of the cycle that
 * moves or the next to be looked at, at.position the one that is filled next ----
 *
 * A cycle begins at its lowest element, which is carried from step to step until the cycle closes.
 * The marks need not be kept in the journal: all cycles with lower leaders have moved.
 */
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

static void mark_cycle(rs_steps *s, size_t leader)
{
    for (size_t element = leader; !marked(s, element); element = source_of(s->task, element))
        mark(s, element);
}

static restride_status begin_cycles(rs_steps *s, const rs_journal_step *latest)
{
    s->marks = calloc(mark_words(s->task), sizeof *s->marks);
    if (s->marks == NULL)
        return rs_fail_memory("the marks of a transposition");
    /* All of the cycle that moves: nobody asks for its marks before it has closed. */
    bool moving = latest->carried_bytes != 0;
    for (size_t leader = 0; leader < s->at.leader + moving; leader++)
        mark_cycle(s, leader);
    return RESTRIDE_OK;
}

/* One slice of all elements of one matrix. */
typedef struct {
    size_t offset; /* of the slice in the first element */
    size_t width;
} slice;

static slice find_slice(const rs_steps *s)
{
    const rs_transpose_task *t = s->task;
    size_t begin = s->at.part % slices_of(t) * slice_bytes(t);
    size_t left = element_bytes(t) - begin;
    return (slice){offset_of(t, s->at.part / slices_of(t)) + begin,
                   left < slice_bytes(t) ? left : slice_bytes(t)};
}

static bool stays(const rs_transpose_task *task, size_t element)
{
    return source_of(task, element) == element && !fused(task);
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
    unsigned char *place = add(s, step, part->offset + s->at.position * bytes, part->width);
    if (source == s->at.leader) {
        put_element(s, place, step->carried, part->width);
        step->carried_bytes = 0;
        s->at.leader++;
        return;
    }
    put_element(s, place, s->array + part->offset + source * bytes, part->width);
    mark(s, source);
    s->at.position = source;
}

static void begin_part(rs_steps *s)
{
    s->at.part++;
    s->at.leader = 0;
    s->at.position = 0;
    memset(s->marks, 0, mark_words(s->task) * sizeof *s->marks);
}

static bool fill_cycles(rs_steps *s, rs_journal_step *step)
{
    size_t parts = matrices_of(s->task) * slices_of(s->task);
    while (s->at.part < parts) {
        const slice part = find_slice(s);
        while (step->carried_bytes != 0 || find_cycle(s, step, &part)) {
            if (!rs_journal_step_fits(step, part.width))
                return false;
            move_element(s, step, &part);
        }
        begin_part(s);
    }
    return true;
}

/* ---- square: at.part counts matrices, at.leader tile rows, at.position tile columns ---- */

static size_t edge_of(const rs_transpose_task *task)
{
    size_t edge = TILE_ROW_BYTES / task->unit;
    edge = edge > 0 ? edge : 1;
    return edge < task->rows ? edge : task->rows;
}

static size_t pair_bytes(const rs_transpose_task *task)
{
    return 2 * edge_of(task) * edge_of(task) * task->unit;
}

/* The tile at (i, j) of the new matrix is the transposed one at (j, i) of the old. */
static void fill_tile(rs_steps *s, rs_journal_step *step, size_t i, size_t j)
{
    const rs_transpose_task *t = s->task;
    size_t edge = edge_of(t);
    size_t height = t->rows - i < edge ? t->rows - i : edge;
    size_t width = t->rows - j < edge ? t->rows - j : edge;
    size_t matrix = offset_of(t, s->at.part);
    rs_host_tile tile = rs_host_tile_choose(t->unit, height < width ? height : width);
    unsigned char *place = step->payload + step->payload_bytes;
    for (size_t row = 0; row < height; row++)
        add(s, step, matrix + ((i + row) * t->rows + j) * t->unit, width * t->unit);
    rs_host_tile_transpose(&tile, s->array + matrix + (j * t->rows + i) * t->unit,
                           t->rows * t->unit, place, width * t->unit, width, height);
}

static bool pair_fits(const rs_transpose_task *t, const rs_journal_step *step)
{
    return rs_journal_step_fits(step, pair_bytes(t)) &&
           step->capacity.ranges - step->range_count >= 2 * edge_of(t);
}

static bool fill_pairs(rs_steps *s, rs_journal_step *step)
{
    const rs_transpose_task *t = s->task;
    size_t edge = edge_of(t);
    size_t tiles = (t->rows - 1) / edge + 1;
    while (s->at.part < matrices_of(t)) {
        if (!pair_fits(t, step))
            return false;
        fill_tile(s, step, s->at.leader * edge, s->at.position * edge);
        if (s->at.leader != s->at.position)
            fill_tile(s, step, s->at.position * edge, s->at.leader * edge);
        if (s->at.position++ < s->at.leader)
            continue;
        s->at.position = 0;
        if (++s->at.leader == tiles) {
            s->at.leader = 0;
            s->at.part++;
        }
    }
    return true;
}

/* ---- pad and unpad: at.part counts matrices, at.position rows, at.leader is 1 once the tails are
 * stashed ---- */

static size_t padded_row_bytes(const rs_transpose_task *task)
{
    return row_bytes(task) + tail_bytes(task);
}

static size_t all_tails(const rs_transpose_task *task)
{
    return task->rows * tail_bytes(task);
}

static const unsigned char *matrix_of(const rs_steps *s)
{
    return s->array + offset_of(s->task, s->at.part);
}

static restride_status begin_tails(rs_steps *s, const rs_journal_step *latest)
{
    (void)latest;
    s->stash = malloc(all_tails(s->task));
    return s->stash == NULL ? rs_fail_memory("the tails of a matrix") : RESTRIDE_OK;
}

/* Where the tails lie behind the compact rows, element by element of one tail column. */
static size_t behind(const rs_transpose_task *t, size_t column, size_t row)
{
    return t->rows * row_bytes(t) + (column * t->rows + row) * t->unit;
}

static void stash_tails(rs_steps *s)
{
    const rs_transpose_task *t = s->task;
    size_t tail = tail_bytes(t);
    const unsigned char *matrix = matrix_of(s);
    for (size_t row = 0; row < t->rows; row++)
        if (t->method == RS_TRANSPOSE_SPLIT)
            memcpy(s->stash + row * tail, matrix + row * padded_row_bytes(t) + row_bytes(t), tail);
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
        bool in_tail = within >= row_bytes(t);
        size_t until = in_tail ? padded_row_bytes(t) : row_bytes(t);
        size_t count = until - within < length ? until - within : length;
        const unsigned char *from = in_tail
                                        ? s->stash + row * tail_bytes(t) + (within - row_bytes(t))
                                        : matrix_of(s) + row * row_bytes(t) + within;
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
    size_t compact = t->rows * row_bytes(t);
    while (length > 0) {
        size_t count;
        if (begin < compact) {
            size_t row = begin / row_bytes(t);
            size_t within = begin % row_bytes(t);
            count = row_bytes(t) - within < length ? row_bytes(t) - within : length;
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

static bool fill_tails(rs_steps *s, rs_journal_step *step)
{
    const rs_transpose_task *t = s->task;
    bool join = t->method == RS_TRANSPOSE_JOIN;
    size_t bytes = t->rows * padded_row_bytes(t);
    size_t room = step->capacity.payload - step->payload_bytes;
    size_t left = bytes - s->at.position;
    size_t length = left < room ? left : room;
    size_t begin = join ? left - length : s->at.position;
    unsigned char *place = add(s, step, offset_of(t, s->at.part) + begin, length);
    if (join)
        fill_padded(s, begin, length, place);
    else
        fill_compact(s, begin, length, place);
    s->at.position += length;
    if (s->at.position < bytes)
        return false;
    s->at = (rs_journal_cursor){s->at.stage, s->at.part + 1, 0, 0, s->at.done};
    return s->at.part == matrices_of(t);
}

static size_t one_byte(const rs_transpose_task *task)
{
    (void)task;
    return 1;
}

/* ---- all forms ---- */

static const form forms[] = {
    [RS_TRANSPOSE_PANELS] = {block_bytes, NULL, NULL, fill_blocks},
    [RS_TRANSPOSE_CHAINS] = {slice_bytes, NULL, begin_cycles, fill_cycles},
    [RS_TRANSPOSE_SQUARE] = {pair_bytes, NULL, NULL, fill_pairs},
    [RS_TRANSPOSE_JOIN] = {one_byte, all_tails, begin_tails, fill_tails},
    [RS_TRANSPOSE_SPLIT] = {one_byte, all_tails, begin_tails, fill_tails},
    [RS_TRANSPOSE_PIPT] = {slice_bytes, NULL, begin_cycles, fill_cycles},
    [RS_TRANSPOSE_PTTWAC] = {slice_bytes, NULL, begin_cycles, fill_cycles},
    [RS_TRANSPOSE_COPY] = {block_bytes, NULL, NULL, fill_blocks},
    [RS_TRANSPOSE_UNZIP] = {block_bytes, NULL, NULL, fill_blocks},
    [RS_TRANSPOSE_ZIP] = {block_bytes, NULL, NULL, fill_blocks},
    [RS_TRANSPOSE_REORDER] = {block_bytes, NULL, NULL, fill_blocks},
    [RS_TRANSPOSE_FUSED] = {slice_bytes, NULL, begin_cycles, fill_cycles},
};
enum { FORM_COUNT = sizeof forms / sizeof forms[0] };

bool rs_steps_known(const rs_transpose_task *task)
{
    return task->unit != 0 && (size_t)task->method < FORM_COUNT && forms[task->method].fill != NULL;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

void rs_steps_measure(const rs_transpose_task *task, size_t step_bytes,
                      rs_journal_capacity *capacity, size_t *stash_bytes)
{
    const form *f = &forms[task->method];
    size_t ranges = larger(step_bytes / RANGE_PARTS, LEAST_RANGES);
    if (task->method == RS_TRANSPOSE_SQUARE)
        ranges = larger(ranges, 2 * edge_of(task));
    capacity->ranges = larger(capacity->ranges, ranges);
    capacity->payload = larger(capacity->payload, larger(step_bytes, f->largest(task)));
    if (f->fill == fill_cycles)
        capacity->carried = larger(capacity->carried, slice_bytes(task));
    if (f->stash_bytes != NULL)
        *stash_bytes = larger(*stash_bytes, f->stash_bytes(task));
}

restride_status rs_steps_begin(rs_steps *steps, const rs_transpose_task *task,
                               const unsigned char *array, size_t array_offset, rs_journal *journal)
{
    const form *f = &forms[task->method];
    const rs_journal_step *latest = rs_journal_step_of(journal);
    *steps =
        (rs_steps){.task = task, .array = array, .array_offset = array_offset, .at = latest->next};
    restride_status status = f->begin != NULL ? f->begin(steps, latest) : RESTRIDE_OK;
    if (status == RESTRIDE_OK && f->stash_bytes != NULL && steps->at.leader != 0)
        status = rs_journal_read_stash(journal, steps->stash, f->stash_bytes(task));
    return status;
}

void rs_steps_end(rs_steps *steps)
{
    free(steps->marks);
    free(steps->stash);
    *steps = (rs_steps){0};
}

restride_status rs_steps_next(rs_steps *steps, rs_journal *journal, bool *finished)
{
    const form *f = &forms[steps->task->method];
    rs_journal_step *step = rs_journal_step_of(journal);
    rs_journal_step_clear(step);
    *finished = false;
    if (f->stash_bytes != NULL && steps->at.leader == 0) {
        /* A step of its own, without ranges: after it the stash is what counts. */
        stash_tails(steps);
        steps->at.leader = 1;
        step->next = steps->at;
        return rs_journal_write_stash(journal, steps->stash, f->stash_bytes(steps->task));
    }
    *finished = f->fill(steps, step);
    step->next = steps->at;
    if (*finished)
        step->next = (rs_journal_cursor){.stage = steps->at.stage + 1, .done = steps->at.done};
    return RESTRIDE_OK;
}
