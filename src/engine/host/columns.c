/*
 * The column stages of C2R and R2C (shuffle.h): rotate, and the column shuffle, which is a rotation
 * of column j by j with a permutation of whole rows behind it. Byte columns are independent of each
 * other, so elements of any size go the same way: strips of 64 bytes, several to a panel. A panel
 * is rotated on its way to a buffer by the barrel shifter, and its rows change places when they are
 * written back; the inverse does both the other way round.
 *
 * Scratch: a panel a thread. Rows that do not begin at a line make neighbouring panels share lines,
 * which are still in the third-level cache when the next panel of the same thread comes.
 */
#include "engine/host/host.h"
#include "engine/host/shuffle.h"

#include <string.h>

enum {
    MOST_STRIPS = 8,
    PANEL_BYTES = 2600 << 10, /* wider panels than one strip only below it */
    ROUND = 32,               /* rows that one strip goes ahead of the next */
    AHEAD = 48,               /* rows from one that is moved to the one that is asked for */
    LINE_BYTES = 64
};

static size_t count_strips(const rs_transpose_task *task, size_t limit)
{
    size_t row_bytes = task->cols * task->unit;
    size_t most = PANEL_BYTES < limit ? PANEL_BYTES : limit;
    size_t strips = most / (task->rows * RS_HOST_STRIP);
    size_t needed = (row_bytes - 1) / RS_HOST_STRIP + 1;
    strips = strips < MOST_STRIPS ? strips : MOST_STRIPS;
    strips = strips < needed ? strips : needed;
    return strips > 0 ? strips : 1;
}

restride_status rs_host_columns_prepare(rs_host_stage *stage, size_t scratch_limit)
{
    const rs_transpose_task *task = &stage->task;
    stage->edge = count_strips(task, scratch_limit / stage->threads);
    rs_host_fit_threads(stage, 0, task->rows * stage->edge * RS_HOST_STRIP, scratch_limit);
    return RESTRIDE_OK;
}

/* Which columns turn by how much, and whether rows are permuted too. */
typedef struct {
    rs_host_shuffle shuffle;
    size_t run;   /* neighbouring columns that turn alike */
    bool permute; /* rows too */
    bool backward;
} turn;

static turn make_turn(const rs_transpose_task *task)
{
    bool rotate =
        task->method == RS_TRANSPOSE_C2R_ROTATE || task->method == RS_TRANSPOSE_R2C_ROTATE;
    turn t = {.shuffle = rs_host_shuffle_make(task->rows, task->cols), .permute = !rotate};
    t.run = rotate ? t.shuffle.b : 1;
    t.backward =
        task->method == RS_TRANSPOSE_R2C_ROTATE || task->method == RS_TRANSPOSE_R2C_COLUMNS;
    return t;
}

/* The row of the rotated panel that row i comes from, for i = 0, 1, 2 and so on. */
typedef struct {
    const turn *turn;
    size_t advance; /* cols modulo rows */
    size_t place;
    size_t left; /* of the a rows that go before the next step back */
} row_order;

static row_order begin_order(const turn *t)
{
    return (row_order){t, t->shuffle.cols % t->shuffle.rows, 0, t->shuffle.a};
}

static inline size_t next_place(row_order *order)
{
    size_t place = order->place;
    size_t rows = order->turn->shuffle.rows;
    if (!order->turn->permute) {
        order->place++;
        return place;
    }
    order->place += order->advance;
    if (--order->left == 0) {
        order->left = order->turn->shuffle.a;
        order->place += rows - 1;
    }
    while (order->place >= rows)
        order->place -= rows;
    return place;
}

typedef struct {
    const rs_host_stage *stage;
    const turn *turn;
    unsigned char *matrix; /* at the panel's first byte in row 0 */
    unsigned char *buffer;
    size_t stride; /* of the matrix */
    size_t pitch;  /* of the buffer */
    size_t width;  /* bytes of the panel in each row */
    size_t strips;
    size_t starts[MOST_STRIPS]; /* rows that the strips' first columns turn by */
    rs_host_skew skews[MOST_STRIPS];
    rs_host_skew_run *run;
} panel;

/* How far each byte of a strip turns beyond the first. */
static void begin_strip(panel *p, size_t strip, size_t byte)
{
    const rs_transpose_task *task = &p->stage->task;
    unsigned char shifts[RS_HOST_STRIP];
    size_t first = byte / task->unit / p->turn->run;
    size_t width = task->cols * task->unit - byte;
    width = width < RS_HOST_STRIP ? width : RS_HOST_STRIP;
    for (size_t t = 0; t < RS_HOST_STRIP; t++) {
        size_t inside = t < width ? t : width - 1;
        shifts[t] = (unsigned char)((byte + inside) / task->unit / p->turn->run - first);
    }
    p->starts[strip] = first % task->rows;
    rs_host_skew_begin(&p->skews[strip], shifts, width, p->turn->backward);
    p->skews[strip].first = strip == 0;
    if (p->turn->backward)
        p->skews[strip].out_ahead = AHEAD * p->stride;
    else
        p->skews[strip].in_ahead = AHEAD * p->stride;
}

static void begin_panel(panel *p, unsigned char *matrix, size_t byte)
{
    size_t row_bytes = p->stage->task.cols * p->stage->task.unit;
    p->matrix = matrix + byte;
    p->width = row_bytes - byte < p->pitch ? row_bytes - byte : p->pitch;
    p->strips = (p->width - 1) / RS_HOST_STRIP + 1;
    for (size_t strip = 0; strip < p->strips; strip++)
        begin_strip(p, strip, byte + strip * RS_HOST_STRIP);
}

static inline void prefetch_row(const panel *p, size_t row)
{
    const unsigned char *bytes = p->matrix + row * p->stride;
    for (size_t i = 0; i < p->width; i += LINE_BYTES)
        __builtin_prefetch(bytes + i, 0, 2);
    __builtin_prefetch(bytes + p->width - 1, 0, 2);
}

/* Rows of `from` go through the barrel shifters to `to`. */
static void turn_strips(panel *p, const unsigned char *from, size_t from_stride, unsigned char *to,
                        size_t to_stride)
{
    size_t rows = p->stage->task.rows;
    rs_host_ring rings[MOST_STRIPS];
    for (size_t strip = 0; strip < p->strips; strip++) {
        unsigned char nowhere[RS_HOST_STRIP];
        size_t prelude = p->skews[strip].prelude;
        size_t start = p->turn->backward ? 2 * rows - p->starts[strip] - prelude % rows
                                         : rows + p->starts[strip] - 1;
        const unsigned char *begin = from + strip * RS_HOST_STRIP;
        rings[strip] = (rs_host_ring){begin, begin + rows * from_stride,
                                      begin + start % rows * from_stride, from_stride};
        p->run(&p->skews[strip], &rings[strip], nowhere, 0, prelude);
    }
    for (size_t row = 0; row < rows; row += ROUND) {
        size_t count = rows - row < ROUND ? rows - row : ROUND;
        for (size_t strip = 0; strip < p->strips; strip++)
            p->run(&p->skews[strip], &rings[strip], to + row * to_stride + strip * RS_HOST_STRIP,
                   to_stride, count);
    }
}

static inline void copy_row(unsigned char *target, const unsigned char *source, size_t width)
{
    while (width >= RS_HOST_STRIP) {
        memcpy(target, source, RS_HOST_STRIP);
        target += RS_HOST_STRIP;
        source += RS_HOST_STRIP;
        width -= RS_HOST_STRIP;
    }
    if (width > 0)
        memcpy(target, source, width);
}

static void scatter_rows(const panel *p)
{
    size_t rows = p->stage->task.rows;
    row_order order = begin_order(p->turn);
    for (size_t i = 0; i < rows; i++) {
        prefetch_row(p, i + AHEAD < rows ? i + AHEAD : rows - 1);
        copy_row(p->buffer + next_place(&order) * p->pitch, p->matrix + i * p->stride, p->width);
    }
}

static void gather_rows(const panel *p)
{
    size_t rows = p->stage->task.rows;
    row_order order = begin_order(p->turn);
    for (size_t i = 0; i < rows; i++) {
        prefetch_row(p, i + AHEAD < rows ? i + AHEAD : rows - 1);
        copy_row(p->matrix + i * p->stride, p->buffer + next_place(&order) * p->pitch, p->width);
    }
}

static void move_panel(panel *p)
{
    if (p->turn->backward) {
        scatter_rows(p);
        turn_strips(p, p->buffer, p->pitch, p->matrix, p->stride);
    } else {
        turn_strips(p, p->matrix, p->stride, p->buffer, p->pitch);
        gather_rows(p);
    }
}

void rs_host_columns_work(void *context, const rs_host_member *member)
{
    const rs_host_run *run = context;
    const rs_host_stage *stage = run->stage;
    const rs_transpose_task *task = &stage->task;
    const turn t = make_turn(task);
    panel p = {.stage = stage,
               .turn = &t,
               .buffer = run->scratch + member->index * stage->own_bytes,
               .stride = task->cols * task->unit,
               .pitch = stage->edge * RS_HOST_STRIP,
               .run = rs_host_skew_choose()};
    size_t panels = (p.stride - 1) / p.pitch + 1;
    size_t begin;
    size_t end;
    rs_host_team_share(member, task->outer * panels, &begin, &end);
    for (size_t i = begin; i < end; i++) {
        begin_panel(&p, run->data + i / panels * task->pitch, i % panels * p.pitch);
        move_panel(&p);
        rs_host_done(run, p.width * task->rows);
    }
}
