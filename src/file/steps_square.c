/*
 * Squares, whose mirror tiles change places; see steps.h. at.part counts matrices, at.leader tile
 * rows, at.position tile columns.
 */
#include "engine/host/tile.h"
#include "file/steps_form.h"

enum { TILE_ROW_BYTES = 4096 };

/* A step has at least one pair of tiles as wide as a page. */
static size_t least_edge(const rs_transpose_task *task)
{
    size_t edge = TILE_ROW_BYTES / task->unit;
    return rs_steps_smaller(edge > 0 ? edge : 1, task->rows);
}

static size_t pair_bytes(const rs_transpose_task *task, size_t edge)
{
    return 2 * edge * edge * task->unit;
}

/* The wider the tiles are, the fewer pages belong to two of them: as wide as a step has room for,
 * in doublings. */
static size_t widest_edge(const rs_transpose_task *task, const rs_journal_capacity *capacity)
{
    size_t edge = least_edge(task);
    while (2 * edge <= task->rows && 4 * edge <= capacity->ranges &&
           pair_bytes(task, 2 * edge) <= capacity->payload)
        edge *= 2;
    return edge;
}

/* The tile at (i, j) of the new matrix is the transposed one at (j, i) of the old. */
static void fill_tile(rs_steps *s, rs_journal_step *step, size_t edge, size_t i, size_t j)
{
    const rs_transpose_task *t = s->task;
    size_t height = t->rows - i < edge ? t->rows - i : edge;
    size_t width = t->rows - j < edge ? t->rows - j : edge;
    size_t matrix = rs_steps_offset_of(t, s->at.part);
    rs_host_tile tile = rs_host_tile_choose(t->unit, height < width ? height : width);
    unsigned char *place = step->payload + step->payload_bytes;
    for (size_t row = 0; row < height; row++)
        rs_steps_add(s, step, matrix + ((i + row) * t->rows + j) * t->unit, width * t->unit);
    rs_host_tile_transpose(&tile, s->array + matrix + (j * t->rows + i) * t->unit,
                           t->rows * t->unit, place, width * t->unit, width, height);
}

static bool pair_fits(const rs_transpose_task *t, size_t edge, const rs_journal_step *step)
{
    return rs_journal_step_fits(step, pair_bytes(t, edge)) &&
           step->capacity.ranges - step->range_count >= 2 * edge;
}

static size_t tiles_of(const rs_transpose_task *task, size_t edge)
{
    return (task->rows - 1) / edge + 1;
}

static void want_tile(const rs_steps *s, size_t edge, size_t i, size_t j)
{
    const rs_transpose_task *t = s->task;
    size_t matrix = rs_steps_offset_of(t, s->at.part);
    size_t width = rs_steps_smaller(t->rows - j * edge, edge);
    for (size_t row = i * edge; row < (i + 1) * edge && row < t->rows; row++)
        rs_steps_want(s, matrix + (row * t->rows + j * edge) * t->unit, width * t->unit);
}

/* Both tiles, the one of the next pair ahead. */
static void want_next(const rs_steps *s, size_t edge)
{
    bool diagonal = s->at.position == s->at.leader;
    size_t i = s->at.leader + diagonal;
    size_t j = diagonal ? 0 : s->at.position + 1;
    if (!s->file->beyond_memory || i >= tiles_of(s->task, edge))
        return;
    want_tile(s, edge, i, j);
    if (i != j)
        want_tile(s, edge, j, i);
}

static restride_status fill_pairs(rs_steps *s, rs_journal *journal, bool *finished)
{
    const rs_transpose_task *t = s->task;
    rs_journal_step *step = rs_journal_step_of(journal);
    size_t edge = widest_edge(s->task, &step->capacity);
    while (s->at.part < rs_steps_matrices_of(t)) {
        if (!pair_fits(t, edge, step))
            return RESTRIDE_OK;
        want_next(s, edge);
        fill_tile(s, step, edge, s->at.leader * edge, s->at.position * edge);
        if (s->at.leader != s->at.position)
            fill_tile(s, step, edge, s->at.position * edge, s->at.leader * edge);
        if (s->at.position++ < s->at.leader)
            continue;
        s->at.position = 0;
        if (++s->at.leader == tiles_of(t, edge)) {
            s->at.leader = 0;
            s->at.part++;
        }
    }
    *finished = true;
    return RESTRIDE_OK;
}

static bool square_suits(const rs_transpose_task *task, size_t *bytes)
{
    return task->count == 1 && task->rows == task->cols && task->piece_count == 0 &&
           RS_STEPS_MULTIPLY(bytes, task->rows, task->cols, task->unit);
}

static void measure_pairs(const rs_transpose_task *task, size_t step_bytes,
                          rs_journal_capacity *capacity, size_t *stash_bytes)
{
    (void)stash_bytes;
    (void)step_bytes;
    capacity->payload = rs_steps_larger(capacity->payload, pair_bytes(task, least_edge(task)));
    capacity->ranges = rs_steps_larger(capacity->ranges, 2 * least_edge(task));
}

static bool pairs_fit(const rs_transpose_task *task, const rs_journal_capacity *capacity,
                      size_t stash_bytes)
{
    (void)stash_bytes;
    size_t edge = least_edge(task);
    return pair_bytes(task, edge) <= capacity->payload && 2 * edge <= capacity->ranges;
}

static bool pairs_resumable(const rs_transpose_task *task, const rs_journal_step *latest)
{
    const rs_journal_cursor *at = &latest->next;
    return latest->carried_bytes == 0 && at->part < rs_steps_matrices_of(task) &&
           at->leader < tiles_of(task, widest_edge(task, &latest->capacity)) &&
           at->position <= at->leader;
}

const rs_steps_form rs_steps_of_squares = {square_suits, measure_pairs, pairs_fit, pairs_resumable,
                                           NULL,         NULL,          fill_pairs};
