/*
 * The row stages of C2R and R2C (shuffle.h). Elements of row i go one place further than those of
 * row i - 1, except where i + j / b reaches `rows`. So a group of k rows is taken together: it is
 * transposed to vectors of k elements, the vectors are permuted as a whole, and they are transposed
 * back along diagonals. The few vectors whose rows part in the middle move element by element.
 *
 * Scratch: a group of rows and a few vectors a thread.
 */
#include "engine/host/host.h"
#include "engine/host/shuffle.h"

#include <string.h>

enum { CHUNK = 64, VECTOR_BYTES = 64, GROUP_BYTES = 1 << 20 };

static size_t area_bytes(const rs_transpose_task *task, size_t group)
{
    return (task->cols + CHUNK) * group * task->unit;
}

restride_status rs_host_rows_prepare(rs_host_stage *stage, size_t scratch_limit)
{
    const rs_transpose_task *task = &stage->task;
    size_t limit = scratch_limit / stage->threads;
    limit = limit < GROUP_BYTES ? limit : GROUP_BYTES;
    size_t group = VECTOR_BYTES / task->unit;
    group = group > 1 ? group : 1;
    group = group < task->rows ? group : task->rows;
    while (group > 1 && area_bytes(task, group) > limit)
        group = (group + 1) / 2;
    stage->edge = group;
    stage->tile = rs_host_tile_choose(task->unit, group < task->cols ? group : task->cols);
    rs_host_fit_threads(stage, 0, area_bytes(task, group), scratch_limit);
    return RESTRIDE_OK;
}

/* Where the vectors of a group go, column by column: the place of the element in the first row. */
typedef struct {
    const rs_host_shuffle *shuffle;
    size_t turned;  /* (row + column / b) mod rows, of the first row */
    size_t lead;    /* the same modulo cols */
    size_t product; /* column * rows mod cols */
    size_t advance; /* rows mod cols */
    size_t left;    /* columns with the same column / b */
} walk;

static walk begin_walk(const rs_host_shuffle *shuffle, size_t row)
{
    return (walk){shuffle, row, row % shuffle->cols, 0, shuffle->rows % shuffle->cols, shuffle->b};
}

static inline void next_column(walk *w)
{
    w->product += w->advance;
    if (w->product >= w->shuffle->cols)
        w->product -= w->shuffle->cols;
    if (--w->left != 0)
        return;
    w->left = w->shuffle->b;
    w->turned++;
    w->lead = w->lead + 1 == w->shuffle->cols ? 0 : w->lead + 1;
    if (w->turned == w->shuffle->rows) {
        w->turned = 0;
        w->lead = 0;
    }
}

static inline size_t place(const walk *w)
{
    size_t sum = w->lead + w->product;
    return sum < w->shuffle->cols ? sum : sum - w->shuffle->cols;
}

/* The vector for the element of row `row` of the group: the element's place, less one for each row
 * before it. */
static size_t single_place(const walk *w, size_t row)
{
    size_t cols = w->shuffle->cols;
    size_t turned = (w->turned + row) % w->shuffle->rows;
    return (turned % cols + w->product + (cols - row % cols)) % cols;
}

typedef struct {
    const rs_host_stage *stage;
    rs_host_shuffle shuffle;
    unsigned char *rows; /* the first of the group */
    size_t first;        /* its number in the matrix */
    size_t count;
    unsigned char *vectors; /* in the order of the shuffled rows, for the first row */
    unsigned char *chunk;   /* in the order of the columns */
} group;

static inline void copy_vector(unsigned char *target, const unsigned char *source, size_t bytes)
{
    if (bytes == VECTOR_BYTES)
        memcpy(target, source, VECTOR_BYTES);
    else
        memcpy(target, source, bytes);
}

/* Between `columns` vectors of the chunk and their places. */
static void permute_chunk(const group *g, walk *w, size_t columns, bool to_places)
{
    size_t unit = g->stage->task.unit;
    size_t bytes = g->count * unit;
    for (size_t j = 0; j < columns; j++, next_column(w)) {
        unsigned char *vector = g->chunk + j * bytes;
        if (w->turned + g->count <= g->shuffle.rows) {
            unsigned char *at = g->vectors + place(w) * bytes;
            copy_vector(to_places ? at : vector, to_places ? vector : at, bytes);
            continue;
        }
        for (size_t row = 0; row < g->count; row++) {
            unsigned char *at = g->vectors + single_place(w, row) * bytes + row * unit;
            memcpy(to_places ? at : vector + row * unit, to_places ? vector + row * unit : at,
                   unit);
        }
    }
}

/* Between the rows, in order, and the vectors, at their places. */
static void move_columns(const group *g, bool to_vectors)
{
    const rs_transpose_task *task = &g->stage->task;
    size_t stride = task->cols * task->unit;
    size_t bytes = g->count * task->unit;
    walk w = begin_walk(&g->shuffle, g->first);
    for (size_t j = 0; j < task->cols; j += CHUNK) {
        size_t columns = task->cols - j < CHUNK ? task->cols - j : CHUNK;
        unsigned char *here = g->rows + j * task->unit;
        if (to_vectors) {
            rs_host_tile_transpose(&g->stage->tile, here, stride, g->chunk, bytes, g->count,
                                   columns);
            permute_chunk(g, &w, columns, true);
        } else {
            permute_chunk(g, &w, columns, false);
            rs_host_tile_transpose(&g->stage->tile, g->chunk, bytes, here, stride, columns,
                                   g->count);
        }
    }
}

/* Between the vectors, in order, and the diagonals of the rows. */
static void move_diagonals(const group *g, bool to_vectors)
{
    const rs_transpose_task *task = &g->stage->task;
    size_t unit = task->unit;
    size_t stride = task->cols * unit;
    size_t bytes = g->count * unit;
    size_t x = 0;
    /* Whole chunks end before the first diagonal goes round. */
    for (; x + g->count <= task->cols;) {
        size_t columns = task->cols - x - g->count + 1;
        columns = columns < CHUNK ? columns : CHUNK;
        unsigned char *here = g->rows + x * unit;
        unsigned char *vectors = g->vectors + x * bytes;
        if (to_vectors)
            rs_host_tile_transpose(&g->stage->tile, here, stride + unit, vectors, bytes, g->count,
                                   columns);
        else
            rs_host_tile_transpose(&g->stage->tile, vectors, bytes, here, stride + unit, columns,
                                   g->count);
        x += columns;
    }
    for (; x < task->cols; x++)
        for (size_t row = 0; row < g->count; row++) {
            unsigned char *here = g->rows + row * stride + (x + row) % task->cols * unit;
            unsigned char *element = g->vectors + x * bytes + row * unit;
            memcpy(to_vectors ? element : here, to_vectors ? here : element, unit);
        }
}

void rs_host_rows_work(void *context, const rs_host_member *member)
{
    rs_host_run *run = context;
    const rs_host_stage *stage = run->stage;
    const rs_transpose_task *task = &stage->task;
    group g = {.stage = stage,
               .shuffle = rs_host_shuffle_make(task->rows, task->cols),
               .vectors = run->scratch + member->index * stage->own_bytes};
    g.chunk = g.vectors + task->cols * stage->edge * task->unit;
    size_t groups = (task->rows - 1) / stage->edge + 1;
    size_t items = task->outer * groups;
    rs_host_loop loop = rs_host_loop_begin(member, items, 1);
    for (size_t i, end; rs_host_loop_next(&loop, &i, &end);) {
        g.first = i % groups * stage->edge;
        g.rows = run->data + i / groups * task->pitch + g.first * task->cols * task->unit;
        g.count = task->rows - g.first < stage->edge ? task->rows - g.first : stage->edge;
        bool forward = task->method == RS_TRANSPOSE_C2R_ROWS;
        if (forward) {
            move_columns(&g, true);
            move_diagonals(&g, false);
        } else {
            move_diagonals(&g, true);
            move_columns(&g, false);
        }
        rs_host_done(run, g.count * task->cols * task->unit);
    }
}
