/*
 * Copies from one buffer to another (engine/copy.h), in one pass.
 *
 * A thread takes box after box (engine/copy_box.h). A box is put together in the order of the
 * target, in a buffer that stays in the second-level cache, by tiles over the axes that are fastest
 * in source and target; then its runs are streamed to the target. Boxes of small arrays, and long
 * elements, go to the target at once. The members of a record that lie side by side in the target
 * are put together before any of it is written. Scratch: a buffer a thread.
 */
#include "base/arithmetic.h"
#include "engine/copy_box.h"
#include "engine/host/host.h"
#include "engine/host/stream.h"

#include <stdlib.h>
#include <string.h>

enum {
    FROM_RUN = 256,
    TO_RUN = 1024,
    BOX_BYTES = 64 << 10,
    GRAIN_BYTES = 128 << 10,
    LONG_UNIT = 512, /* bytes; these need no buffer */
    STREAM_PARTS = 4 /* arrays of more than so many serial_bytes do not stay in the caches */
};

typedef struct {
    rs_copy_part part;
    rs_host_tile tile;
    size_t rows, cols; /* the axes that tiles are over; axis_count: none */
    size_t along;      /* without tiles, the axis of the inner loop; axis_count: none */
    size_t strides[RS_COPY_MOST_AXES]; /* in the buffer, or the target */
    size_t begin;                      /* in the buffer */
} host_part;

typedef struct {
    size_t first, count; /* parts */
    size_t axis_count;   /* that a box has blocks of; parts' own axes are whole */
    size_t blocks[RS_COPY_MOST_AXES];
    size_t order[RS_COPY_MOST_AXES]; /* of the boxes: the fastest axis first */
    size_t boxes;
    size_t bytes; /* of a box, at most */
    bool direct;  /* without a buffer */
    bool whole;   /* records of `record` bytes, side by side in the target from `start` on */
    size_t start, record;
} host_group;

typedef struct {
    rs_stage base;
    size_t group_count;
    host_group *groups;
    size_t part_count;
    host_part *parts;
    size_t threads;
    size_t buffer_bytes; /* of a thread */
    bool beyond;         /* the caches */
} host_copies;

/* ---- preparing ---- */

static size_t block_of(const host_part *p, const host_group *g, size_t axis)
{
    return axis < g->axis_count ? g->blocks[axis] : p->part.axes[axis].extent;
}

/* The axis that is the fastest of those not yet placed. */
static size_t next_of(const host_part *p, const bool placed[], size_t begin, size_t end)
{
    size_t next = end;
    for (size_t a = begin; a < end; a++)
        if (!placed[a] && (next == end || p->part.axes[a].to < p->part.axes[next].to))
            next = a;
    return next;
}

/* Where the elements of a box lie in its buffer: in the order of the target, without gaps. The
 * members of a record have their places in it. */
static void place_part(host_part *p, const host_group *g)
{
    bool placed[RS_COPY_MOST_AXES] = {false};
    size_t placing = g->whole ? g->axis_count : p->part.axis_count;
    size_t stride = g->whole ? g->record : p->part.unit;
    for (size_t a = 0; a < p->part.axis_count; a++)
        p->strides[a] = p->part.axes[a].to;
    p->begin = g->whole ? p->part.to - g->start : 0;
    for (size_t done = 0; !g->direct && done < placing; done++) {
        size_t next = next_of(p, placed, 0, placing);
        placed[next] = true;
        p->strides[next] = stride;
        stride *= block_of(p, g, next);
    }
}

/* The axis of which neighbours lie side by side. */
static size_t dense_axis(const host_part *p, const host_group *g, bool in_target)
{
    size_t axis = 0;
    while (axis < p->part.axis_count &&
           ((in_target ? p->strides[axis] : p->part.axes[axis].from) != p->part.unit ||
            block_of(p, g, axis) == 1))
        axis++;
    return axis;
}

static void choose_loops(host_part *p, const host_group *g)
{
    size_t none = p->part.axis_count;
    p->rows = dense_axis(p, g, true);
    p->cols = dense_axis(p, g, false);
    p->along = p->rows;
    for (size_t a = 0; a < none; a++)
        if (p->rows == none && block_of(p, g, a) > 1 &&
            (p->along == none || p->strides[a] < p->strides[p->along]))
            p->along = a;
    if (p->rows == none || p->cols == none || p->rows == p->cols)
        p->rows = p->cols = none;
    else
        p->tile = rs_host_tile_choose(
            p->part.unit, rs_size_smaller(block_of(p, g, p->rows), block_of(p, g, p->cols)));
}

/* Boxes follow each other along the source, then along the target. */
static void order_boxes(host_group *g, const rs_copy_part *part)
{
    bool taken[RS_COPY_MOST_AXES] = {false};
    g->boxes = 1;
    for (size_t i = 0; i < g->axis_count; i++) {
        size_t next = g->axis_count;
        for (size_t a = 0; a < g->axis_count; a++) {
            const rs_copy_axis *axis = &part->axes[a];
            const rs_copy_axis *best = &part->axes[next < g->axis_count ? next : a];
            if (!taken[a] &&
                (next == g->axis_count || (i == 0 ? axis->from < best->from : axis->to < best->to)))
                next = a;
        }
        taken[next] = true;
        g->order[i] = next;
        g->boxes *= rs_size_divide_up(part->axes[next].extent, g->blocks[next]);
    }
}

static rs_copy_goals goals_of(size_t unit)
{
    enum { NARROW = 4 };
    size_t less = unit < NARROW ? 2 : 1; /* so that boxes are not too large */
    return (rs_copy_goals){.from_run = FROM_RUN / less,
                           .to_run = TO_RUN / less,
                           .least = BOX_BYTES / 4,
                           .most = BOX_BYTES,
                           .line = RS_HOST_STREAM_LINE};
}

/* A box has records that follow each other. */
static void cut_records(host_group *g, const rs_copy_part *parts, size_t axis, size_t record)
{
    for (size_t a = 0; a < g->axis_count; a++)
        g->blocks[a] = 1;
    size_t records = rs_size_larger(BOX_BYTES / 2 / record, 1);
    g->blocks[axis] = rs_size_smaller(records, parts[0].axes[axis].extent);
    g->bytes = g->blocks[axis] * record;
}

static void cut_part(host_group *g, const rs_copy_part *part)
{
    rs_copy_box box;
    const rs_copy_goals goals = goals_of(part->unit);
    rs_copy_box_choose(&box, part, &goals);
    memcpy(g->blocks, box.blocks, sizeof g->blocks);
    g->bytes = box.elements * part->unit;
    g->direct = g->direct || part->unit >= LONG_UNIT;
}

static void add_group(host_copies *copies, const rs_copy_part *parts, const rs_copy_group *group)
{
    host_group *g = &copies->groups[copies->group_count++];
    size_t axis;
    size_t start;
    size_t record;
    *g = (host_group){.first = copies->part_count,
                      .count = group->count,
                      .axis_count = group->shared,
                      .direct = !copies->beyond};
    if (group->count == 1) {
        cut_part(g, parts);
    } else if (rs_copy_is_whole(parts, group, true, &axis, &g->start, &g->record)) {
        g->whole = true;
        cut_records(g, parts, axis, g->record);
    } else if (rs_copy_is_whole(parts, group, false, &axis, &start, &record)) {
        cut_records(g, parts, axis, record);
    }
    for (size_t i = 0; i < group->count; i++) {
        host_part *p = &copies->parts[copies->part_count++];
        p->part = parts[i];
        place_part(p, g);
        choose_loops(p, g);
    }
    order_boxes(g, parts);
    if (!g->direct)
        copies->buffer_bytes = rs_size_larger(copies->buffer_bytes, g->bytes);
}

static void add_single(host_copies *copies, const rs_copy_part *part)
{
    const rs_copy_group alone = {.count = 1, .shared = part->axis_count};
    add_group(copies, part, &alone);
}

/* What is long is cut, so that several threads may copy it. */
static void add_part(host_copies *copies, const rs_copy_part *part)
{
    rs_copy_part whole = *part;
    rs_copy_part rest = *part;
    if (part->unit <= GRAIN_BYTES || part->axis_count == RS_COPY_MOST_AXES) {
        add_single(copies, part);
        return;
    }
    whole.unit = GRAIN_BYTES;
    whole.axes[whole.axis_count++] =
        (rs_copy_axis){part->unit / GRAIN_BYTES, GRAIN_BYTES, GRAIN_BYTES};
    add_single(copies, &whole);
    rest.unit = part->unit % GRAIN_BYTES;
    rest.from += part->unit - rest.unit;
    rest.to += part->unit - rest.unit;
    if (rest.unit != 0)
        add_single(copies, &rest);
}

static void add_groups(host_copies *copies, const rs_copy_task *task)
{
    for (size_t i = 0; i < task->group_count; i++) {
        const rs_copy_group *group = &task->groups[i];
        const rs_copy_part *parts = task->parts + group->first;
        size_t axis;
        size_t start;
        size_t record;
        if (group->count > 1 && (rs_copy_is_whole(parts, group, true, &axis, &start, &record) ||
                                 rs_copy_is_whole(parts, group, false, &axis, &start, &record)))
            add_group(copies, parts, group);
        else
            for (size_t p = 0; p < group->count; p++)
                add_part(copies, &parts[p]);
    }
}

static size_t count_parts(const rs_copy_task *task)
{
    size_t parts = 0;
    for (size_t i = 0; i < task->group_count; i++)
        parts += task->groups[i].count;
    return parts;
}

static void destroy_copies(rs_stage *base)
{
    host_copies *copies = (host_copies *)base;
    free(copies->groups);
    free(copies->parts);
    free(copies);
}

static restride_status create_copies(restride_engine *engine, const rs_copy_task *task,
                                     rs_stage **stage)
{
    *stage = NULL;
    host_copies *copies = calloc(1, sizeof *copies);
    if (copies == NULL)
        return rs_fail_memory("a stage");
    size_t most = 2 * count_parts(task) + 1; /* long ones are cut in two */
    copies->base.engine = engine;
    copies->groups = malloc(most * sizeof *copies->groups);
    copies->parts = calloc(most, sizeof *copies->parts);
    if (copies->groups == NULL || copies->parts == NULL) {
        destroy_copies(&copies->base);
        return rs_fail_memory("a stage");
    }
    const rs_engine_traits traits = engine->operations->traits(engine);
    copies->threads = rs_engine_workers(&traits, task->to_bytes);
    copies->beyond = task->to_bytes / STREAM_PARTS > traits.serial_bytes;
    add_groups(copies, task);
    *stage = &copies->base;
    return RESTRIDE_OK;
}

/* ---- running ---- */

typedef struct {
    const host_copies *copies;
    const host_group *group;
    const unsigned char *from;
    unsigned char *to;
    unsigned char *buffers;
} copy_run;

/* A box of a part: how many it has of each axis, and where it begins. */
typedef struct {
    const host_part *p;
    size_t counts[RS_COPY_MOST_AXES];
    const unsigned char *source;
    unsigned char *place; /* where it is put together */
    bool beyond;
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
    const host_part *p = box->p;
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

static void put_together(const part_box *box)
{
    const host_part *p = box->p;
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
            rs_host_tile_transpose(&p->tile, source, p->part.axes[p->rows].from, target,
                                   p->strides[p->cols], box->counts[p->rows], box->counts[p->cols]);
        else
            move_elements(box, target, source);
    } while (next_index(box, index, tiled ? p->rows : p->along, tiled ? p->cols : none));
}

/* Runs of the buffer, of `run` bytes at first, that are runs of the target too. */
static void write_rows(const part_box *box, size_t run, size_t axis_count, unsigned char *target,
                       const unsigned char *buffer)
{
    const host_part *p = box->p;
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

/* Which part of each axis box number `number` has. */
static void locate(const host_group *g, const rs_copy_part *part, size_t number, size_t origin[],
                   size_t counts[])
{
    for (size_t i = 0; i < g->axis_count; i++) {
        size_t a = g->order[i];
        size_t blocks = rs_size_divide_up(part->axes[a].extent, g->blocks[a]);
        origin[a] = number % blocks * g->blocks[a];
        counts[a] = rs_size_smaller(g->blocks[a], part->axes[a].extent - origin[a]);
        number /= blocks;
    }
}

static void copy_box(const copy_run *run, size_t number, unsigned char *buffer)
{
    const host_group *g = run->group;
    size_t origin[RS_COPY_MOST_AXES];
    size_t shift = 0;
    part_box box = {.beyond = run->copies->beyond};
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
        put_together(&box);
        if (!g->direct && !g->whole)
            write_rows(&box, part->unit, part->axis_count, run->to + part->to + shift, buffer);
    }
    if (!g->direct && g->whole)
        write_rows(&box, g->record, g->axis_count, run->to + g->start + shift, buffer);
}

static void work(void *context, const rs_host_member *member)
{
    const copy_run *run = context;
    unsigned char *buffer = run->buffers + member->index * run->copies->buffer_bytes;
    rs_host_loop loop = rs_host_loop_begin(member, run->group->boxes,
                                           GRAIN_BYTES / rs_size_larger(run->group->bytes, 1) + 1);
    for (size_t begin, end; rs_host_loop_next(&loop, &begin, &end);)
        for (size_t number = begin; number < end; number++)
            copy_box(run, number, buffer);
    rs_host_finish_streams();
}

static size_t scratch_bytes(const rs_stage *base)
{
    const host_copies *copies = (const host_copies *)base;
    return copies->threads * copies->buffer_bytes;
}

static restride_status run_copies(const rs_stage *base, const void *from, void *to,
                                  rs_under_way *under_way)
{
    const host_copies *copies = (const host_copies *)base;
    size_t bytes = scratch_bytes(base);
    void *buffers = NULL;
    if (bytes != 0 && posix_memalign(&buffers, RS_HOST_STREAM_LINE, bytes) != 0)
        return rs_fail(RESTRIDE_OUT_OF_MEMORY,
                       "There is not enough memory for %zu bytes of scratch.", bytes);
    under_way->has_begun = true;
    for (size_t i = 0; i < copies->group_count; i++) {
        copy_run run = {copies, &copies->groups[i], from, to, buffers};
        size_t threads = rs_size_smaller(copies->threads, copies->groups[i].boxes);
        rs_host_team_run(threads, work, &run);
    }
    free(buffers);
    return RESTRIDE_OK;
}

static json_t *describe_copies(const rs_stage *base)
{
    const host_copies *copies = (const host_copies *)base;
    const rs_named_number numbers[] = {
        {"parts", copies->part_count},
        {"groups", copies->group_count},
        {"threads", copies->threads},
        {"buffer_bytes", copies->buffer_bytes},
    };
    const char *tiles = "none";
    for (size_t i = 0; i < copies->part_count; i++)
        if (copies->parts[i].tile.name != NULL)
            tiles = copies->parts[i].tile.name;
    json_t *object = json_pack("{s:s, s:s, s:s}", "name", "copy", "method",
                               "boxes through a buffer in cache", "tiles", tiles);
    return rs_describe_numbers(object, numbers, sizeof numbers / sizeof numbers[0]);
}

const rs_copy_operations rs_host_copies = {.create = create_copies,
                                           .run = run_copies,
                                           .scratch_bytes = scratch_bytes,
                                           .describe = describe_copies,
                                           .destroy = destroy_copies,
                                           .are_addresses = true};
