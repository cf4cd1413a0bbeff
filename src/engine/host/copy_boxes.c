/*
 * The boxes of a copy (copies.c): each is put together in a buffer and streamed to the target.
 *
 * Where runs begin inside lines a box reads a line more of each, and writes whole lines alone: a
 * line of which two boxes write a part would be waited for. Rows of the next box are asked for
 * meanwhile.
 */
#include "base/arithmetic.h"
#include "engine/host/copies.h"
#include "engine/host/stream.h"

#include <string.h>

enum {
    LONG_UNIT = RS_HOST_COPY_LONG_UNIT,
    SHARE_BYTES = 1 << 20, /* of boxes that a thread takes at a time */
    PARTS = 8,             /* that each thread's boxes are taken in, at least */
    STRIP_BYTES = 4 << 10, /* between two requests for lines */
    LEAST_STRIP = 16
};

/* A box of a part: how many it has of each axis, and where it begins. */
typedef struct {
    const rs_host_copied_part *p;
    size_t counts[RS_COPY_MOST_AXES];
    const unsigned char *source;
    unsigned char *place; /* where it is put together */
    bool beyond;
    bool streams;
} part_box;

/* Goes to the next of the axes that are not `a` or `b`. False behind the last. */
static bool next_index(const part_box *box, size_t index[], size_t a, size_t b)
{
    for (size_t axis = 0; axis < box->p->part.axis_count; axis++) {
        if (axis == a || axis == b)
            continue;
        if (++index[axis] < box->counts[axis])
            return true;
        index[axis] = 0;
    }
    return false;
}

/* With a constant `unit` the compiler turns each memcpy into one or two moves. */
static inline void move_along(unsigned char *target, size_t to, const unsigned char *source,
                              size_t from, size_t count, size_t unit)
{
    for (size_t i = 0; i < count; i++)
        memcpy(target + i * to, source + i * from, unit);
}

static void move_elements(const part_box *box, unsigned char *target, const unsigned char *source)
{
    const rs_host_copied_part *p = box->p;
    size_t unit = p->part.unit;
    bool single = p->along == p->part.axis_count;
    size_t count = single ? 1 : box->counts[p->along];
    size_t to = single ? 0 : p->strides[p->along];
    size_t from = single ? 0 : p->part.axes[p->along].from;
#define MOVE_ALONG(constant)                                                                       \
    case constant:                                                                                 \
        move_along(target, to, source, from, count, constant);                                     \
        return
    switch (unit) {
        MOVE_ALONG(1);
        MOVE_ALONG(2);
        MOVE_ALONG(4);
        MOVE_ALONG(8);
        MOVE_ALONG(12);
        MOVE_ALONG(16);
        MOVE_ALONG(32);
    default:
        for (size_t i = 0; i < count; i++)
            rs_host_stream(target + i * to, source + i * from, unit,
                           box->beyond && unit >= LONG_UNIT);
    }
#undef MOVE_ALONG
}

/* Rows of the source, in the box that comes next, that have not been asked for. */
typedef struct {
    part_box box;
    size_t index[RS_COPY_MOST_AXES];
    size_t bytes; /* of a row; 0: none are left */
} request;

static void ask(request *r, size_t rows)
{
    const rs_host_copied_part *p = r->box.p;
    for (; rows > 0 && r->bytes != 0; rows--) {
        const unsigned char *row = r->box.source;
        for (size_t a = 0; a < p->part.axis_count; a++)
            row += r->index[a] * p->part.axes[a].from;
        for (size_t i = 0; i < r->bytes; i += RS_HOST_STREAM_LINE)
            __builtin_prefetch(row + i, 0, 2);
        __builtin_prefetch(row + r->bytes - 1, 0, 2);
        if (!next_index(&r->box, r->index, p->cols, p->cols))
            r->bytes = 0;
    }
}

/* Tiles, strip by strip. */
static void turn(const part_box *box, unsigned char *target, const unsigned char *source,
                 request *asked)
{
    const rs_host_copied_part *p = box->p;
    size_t from = p->part.axes[p->rows].from;
    size_t rows = box->counts[p->rows];
    size_t cols = box->counts[p->cols];
    size_t least = rs_size_larger(p->tile.edge, LEAST_STRIP);
    size_t step = rs_size_larger(STRIP_BYTES / (cols * p->part.unit) / least, 1) * least;
    if (box->streams) {
        rs_host_tile_stream(&p->tile, p->stream, source, from, target, p->strides[p->cols], rows,
                            cols);
        return;
    }
    if (asked->bytes == 0)
        step = rows;
    for (size_t i = 0, height; i < rows; i += height) {
        height = rows - i < step + least ? rows - i : step;
        rs_host_tile_transpose(&p->tile, source + i * from, from, target + i * p->part.unit,
                               p->strides[p->cols], height, cols);
        ask(asked, height);
    }
}

static void put_together(const part_box *box, request *asked)
{
    const rs_host_copied_part *p = box->p;
    size_t none = p->part.axis_count;
    bool tiled = p->rows != none;
    size_t index[RS_COPY_MOST_AXES] = {0};
    do {
        const unsigned char *source = box->source;
        unsigned char *target = box->place;
        for (size_t a = 0; a < none; a++) {
            source += index[a] * p->part.axes[a].from;
            target += index[a] * p->strides[a];
        }
        if (tiled)
            turn(box, target, source, asked);
        else
            move_elements(box, target, source);
    } while (next_index(box, index, tiled ? p->rows : p->along, tiled ? p->cols : none));
}

/* Runs of the buffer, of `run` bytes at first, that are runs of the target too. */
static void write_rows(const part_box *box, size_t run, size_t axis_count, unsigned char *target,
                       const unsigned char *buffer)
{
    const rs_host_copied_part *p = box->p;
    part_box rows = *box;
    for (bool longer = true; longer;) {
        longer = false;
        for (size_t a = 0; a < axis_count; a++)
            if (rows.counts[a] > 1 && p->strides[a] == run && p->part.axes[a].to == run) {
                run *= rows.counts[a];
                rows.counts[a] = 1;
                longer = true;
            }
    }
    for (size_t a = axis_count; a < p->part.axis_count; a++)
        rows.counts[a] = 1;
    size_t none = p->part.axis_count;
    size_t index[RS_COPY_MOST_AXES] = {0};
    do {
        size_t to = 0;
        size_t from = 0;
        for (size_t a = 0; a < axis_count; a++) {
            to += index[a] * p->part.axes[a].to;
            from += index[a] * p->strides[a];
        }
        rs_host_stream(target + to, buffer + from, run, box->beyond);
    } while (next_index(&rows, index, none, none));
}

/* Bytes to where the next line begins. */
static size_t up_to_line(const unsigned char *place)
{
    enum { LINE = RS_HOST_STREAM_LINE };
    return (LINE - (uintptr_t)place % LINE) % LINE;
}

/* The whole lines of a box: each run from the first line that begins in it to the one that begins
 * behind it; what is before the first line, or behind the last one, is with the box at that end. */
static void write_lines(const part_box *box, const rs_host_copied_group *g, size_t origin,
                        unsigned char *target, const unsigned char *buffer)
{
    const rs_host_copied_part *p = box->p;
    size_t dense = g->line_axis;
    size_t index[RS_COPY_MOST_AXES] = {0};
    size_t extent = p->part.axes[dense].extent;
    size_t end = box->counts[dense] * p->part.unit;
    size_t most = (extent - origin) * p->part.unit;
    do {
        unsigned char *to = target;
        const unsigned char *from = buffer;
        for (size_t a = 0; a < p->part.axis_count; a++) {
            to += index[a] * p->part.axes[a].to;
            from += index[a] * p->strides[a];
        }
        size_t first = origin == 0 ? 0 : up_to_line(to);
        size_t last = end + up_to_line(to + end);
        last = rs_size_smaller(last, most);
        if (first < last)
            rs_host_stream(to + first, from + first, last - first, box->beyond);
    } while (next_index(box, index, dense, dense));
}

/* Which part of each axis box number `number` has. */
static void locate(const rs_host_copied_group *g, const rs_copy_part *part, size_t number,
                   size_t origin[], size_t counts[])
{
    for (size_t i = 0; i < g->axis_count; i++) {
        size_t a = g->order[i];
        size_t blocks = rs_size_divide_up(part->axes[a].extent, g->blocks[a]);
        origin[a] = number % blocks * g->blocks[a];
        counts[a] = rs_size_smaller(g->blocks[a], part->axes[a].extent - origin[a]);
        number /= blocks;
    }
}

/* Short rows follow each other, which hardware sees. */
static request request_box(const rs_host_copy_run *run, size_t number)
{
    const rs_host_copied_group *g = run->group;
    const rs_host_copied_part *p = &run->copies->parts[g->first];
    size_t origin[RS_COPY_MOST_AXES];
    request r = {.box = {.p = p, .source = run->from + p->part.from}};
    if (number >= g->boxes || g->count > 1 || g->streams || p->cols == p->part.axis_count)
        return r;
    locate(g, &p->part, number, origin, r.box.counts);
    for (size_t a = 0; a < g->axis_count; a++)
        r.box.source += origin[a] * p->part.axes[a].from;
    if (r.box.counts[p->cols] * p->part.unit >= RS_HOST_STREAM_LINE)
        r.bytes = r.box.counts[p->cols] * p->part.unit;
    return r;
}

/* A line more than the box has, as far as there is one. */
static void put_lines(part_box *box, const rs_host_copied_group *g, size_t origin, request *asked)
{
    const rs_copy_axis *axis = &box->p->part.axes[g->line_axis];
    size_t own = box->counts[g->line_axis];
    box->counts[g->line_axis] += rs_size_smaller(g->line, axis->extent - origin - own);
    put_together(box, asked);
    box->counts[g->line_axis] = own;
}

/* `next` is the box that the thread copies after this one. */
static void copy_box(const rs_host_copy_run *run, size_t number, size_t next, unsigned char *buffer)
{
    const rs_host_copied_group *g = run->group;
    request asked = request_box(run, next);
    size_t origin[RS_COPY_MOST_AXES];
    size_t shift = 0;
    part_box box = {.beyond = run->copies->beyond, .streams = g->streams};
    locate(g, &run->copies->parts[g->first].part, number, origin, box.counts);
    for (size_t i = 0; i < g->count; i++) {
        box.p = &run->copies->parts[g->first + i];
        const rs_copy_part *part = &box.p->part;
        box.source = run->from + part->from;
        shift = 0;
        for (size_t a = 0; a < g->axis_count; a++) {
            box.source += origin[a] * part->axes[a].from;
            shift += origin[a] * part->axes[a].to;
        }
        for (size_t a = g->axis_count; a < part->axis_count; a++)
            box.counts[a] = part->axes[a].extent;
        box.place = g->direct ? run->to + part->to + shift : buffer + box.p->begin;
        if (g->line != 0) {
            put_lines(&box, g, origin[g->line_axis], &asked);
            write_lines(&box, g, origin[g->line_axis], run->to + part->to + shift, buffer);
            continue;
        }
        put_together(&box, &asked);
        if (!g->direct && !g->whole)
            write_rows(&box, part->unit, part->axis_count, run->to + part->to + shift, buffer);
    }
    if (!g->direct && g->whole)
        write_rows(&box, g->record, g->axis_count, run->to + g->start + shift, buffer);
}

void rs_host_copy_boxes(void *context, const rs_host_member *member)
{
    const rs_host_copy_run *run = context;
    unsigned char *buffer = run->buffers + member->index * run->copies->buffer_bytes;
    size_t grain = rs_size_smaller(SHARE_BYTES / rs_size_larger(run->group->bytes, 1),
                                   run->group->boxes / (PARTS * member->count)) +
                   1;
    rs_host_loop loop = rs_host_loop_begin(member, run->group->boxes, grain);
    for (size_t begin, end; rs_host_loop_next(&loop, &begin, &end);)
        for (size_t number = begin; number < end; number++)
            copy_box(run, number, number + 1 < end ? number + 1 : SIZE_MAX, buffer);
    rs_host_finish_streams();
}