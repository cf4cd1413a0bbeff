/*
 * Copies from one buffer to another (engine/copy.h), in one pass.
 *
 * A thread takes box after box (engine/copy_box.h). A box is put together in the order of the
 * target, in a buffer that stays in the second-level cache, by tiles over the axes that are fastest
 * in source and target; then its runs are streamed to the target. Where lines of the target begin
 * with its rows, tiles are streamed at once, without a buffer. Boxes of small arrays,
 * and long elements, go to the target at once. The members of a record that lie side by side in the
 * target are put together before any of it is written. Scratch: a buffer a thread.
 */
#include "engine/host/copies.h"
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
    ALIGNED_FROM_RUN = 4096,
    ALIGNED_TO_RUN = 256,
    GRAIN_BYTES = 128 << 10,
    STREAM_PARTS = 4 /* arrays of more than so many serial_bytes do not stay in the caches */
};

/* ---- preparing ---- */

static size_t block_of(const rs_host_copied_part *p, const rs_host_copied_group *g, size_t axis)
{
    return axis < g->axis_count ? g->blocks[axis] : p->part.axes[axis].extent;
}

/* The axis that is the fastest of those not yet placed. */
static size_t next_of(const rs_host_copied_part *p, const bool placed[], size_t begin, size_t end)
{
    size_t next = end;
    for (size_t a = begin; a < end; a++)
        if (!placed[a] && (next == end || p->part.axes[a].to < p->part.axes[next].to))
            next = a;
    return next;
}

/* Where the elements of a box lie in its buffer: in the order of the target, without gaps. The
 * members of a record have their places in it. */
static void place_part(rs_host_copied_part *p, const rs_host_copied_group *g)
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
        stride *= block_of(p, g, next) + (next == g->line_axis ? g->line : 0);
    }
}

/* The axis of which neighbours lie side by side. */
static size_t dense_axis(const rs_host_copied_part *p, const rs_host_copied_group *g,
                         bool in_target)
{
    size_t axis = 0;
    while (axis < p->part.axis_count &&
           ((in_target ? p->strides[axis] : p->part.axes[axis].from) != p->part.unit ||
            block_of(p, g, axis) == 1))
        axis++;
    return axis;
}

static void choose_loops(rs_host_copied_part *p, const rs_host_copied_group *g)
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
static void order_boxes(rs_host_copied_group *g, const rs_copy_part *part)
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
static void cut_records(rs_host_copied_group *g, const rs_copy_part *parts, size_t axis,
                        size_t record)
{
    for (size_t a = 0; a < g->axis_count; a++)
        g->blocks[a] = 1;
    size_t records = rs_size_larger(BOX_BYTES / 2 / record, 1);
    g->blocks[axis] = rs_size_smaller(records, parts[0].axes[axis].extent);
    g->bytes = g->blocks[axis] * record;
}

static void cut_part(rs_host_copied_group *g, const rs_copy_part *part)
{
    rs_copy_box box;
    const rs_copy_goals goals = goals_of(part->unit);
    rs_copy_box_choose(&box, part, &goals);
    memcpy(g->blocks, box.blocks, sizeof g->blocks);
    g->bytes = box.elements * part->unit;
    g->direct = g->direct || part->unit >= RS_HOST_COPY_LONG_UNIT;
}

/* Where a box has only a part of each run of the target, its buffer has room for one line more in
 * each run, so that whole lines are written. */
static void cut_lines(rs_host_copied_group *g, const rs_copy_part *part)
{
    enum { LINE = RS_HOST_STREAM_LINE };
    size_t dense = 0;
    while (dense < part->axis_count && part->axes[dense].to != part->unit)
        dense++;
    if (g->direct || dense == part->axis_count || LINE % part->unit != 0 ||
        g->blocks[dense] * part->unit < 2 * (size_t)LINE ||
        g->blocks[dense] >= part->axes[dense].extent || part->axes[dense].from == part->unit)
        return;
    g->line_axis = dense;
    g->line = LINE / part->unit;
    g->bytes += g->bytes / g->blocks[dense] * g->line;
}

/* Whether a target that begins with a line can be written past the caches, tile by tile: its rows
 * are lines apart. The group is then one of its own. */
static void add_aligned(rs_host_copied *copies, size_t group, const rs_copy_part *part)
{
    static const rs_copy_goals goals = {.from_run = ALIGNED_FROM_RUN,
                                        .to_run = ALIGNED_TO_RUN,
                                        .least = BOX_BYTES,
                                        .most = 2 * BOX_BYTES,
                                        .line = RS_HOST_STREAM_LINE};
    rs_host_copied_group *g = &copies->aligned[group];
    rs_host_copied_part *p = &copies->parts[copies->part_count];
    rs_copy_box box;
    size_t dense = part->axis_count;
    for (size_t a = 0; a < part->axis_count; a++) {
        if (part->axes[a].to == part->unit)
            dense = a;
        else if (part->axes[a].to % RS_HOST_STREAM_LINE != 0)
            return;
    }
    rs_copy_box_choose(&box, part, &goals);
    *g = (rs_host_copied_group){.first = copies->part_count,
                                .count = 1,
                                .axis_count = part->axis_count,
                                .direct = true,
                                .streams = true,
                                .bytes = box.elements * part->unit};
    memcpy(g->blocks, box.blocks, sizeof g->blocks);
    *p = (rs_host_copied_part){.part = *part};
    place_part(p, g);
    choose_loops(p, g);
    p->stream = p->rows == part->axis_count ? NULL : rs_host_tile_choose_stream(&p->tile);
    bool fits = part->to % RS_HOST_STREAM_LINE == 0 && p->rows == dense && p->stream != NULL &&
                g->blocks[dense] * part->unit % RS_HOST_STREAM_LINE == 0;
    if (!fits)
        return; /* without boxes, it is no group */
    copies->part_count++;
    order_boxes(g, part);
}

static void add_group(rs_host_copied *copies, const rs_copy_part *parts, const rs_copy_group *group)
{
    rs_host_copied_group *g = &copies->groups[copies->group_count++];
    size_t axis;
    size_t start;
    size_t record;
    *g = (rs_host_copied_group){.first = copies->part_count,
                                .count = group->count,
                                .axis_count = group->shared,
                                .direct = !copies->beyond};
    if (group->count == 1) {
        cut_part(g, parts);
        cut_lines(g, parts);
    } else if (rs_copy_is_whole(parts, group, true, &axis, &g->start, &g->record)) {
        g->whole = true;
        cut_records(g, parts, axis, g->record);
    } else if (rs_copy_is_whole(parts, group, false, &axis, &start, &record)) {
        cut_records(g, parts, axis, record);
    }
    for (size_t i = 0; i < group->count; i++) {
        rs_host_copied_part *p = &copies->parts[copies->part_count++];
        *p = (rs_host_copied_part){.part = parts[i]};
        place_part(p, g);
        choose_loops(p, g);
    }
    order_boxes(g, parts);
    if (copies->beyond && group->count == 1 && parts->unit < RS_HOST_COPY_LONG_UNIT)
        add_aligned(copies, copies->group_count - 1, parts);
    if (!g->direct)
        copies->buffer_bytes = rs_size_larger(copies->buffer_bytes, g->bytes);
}

static void add_single(rs_host_copied *copies, const rs_copy_part *part)
{
    const rs_copy_group alone = {.count = 1, .shared = part->axis_count};
    add_group(copies, part, &alone);
}

/* What is long is cut, so that several threads may copy it. */
static void add_part(rs_host_copied *copies, const rs_copy_part *part)
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

static void add_groups(rs_host_copied *copies, const rs_copy_task *task)
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
    rs_host_copied *copies = (rs_host_copied *)base;
    free(copies->groups);
    free(copies->aligned);
    free(copies->parts);
    free(copies);
}

static restride_status create_copies(restride_engine *engine, const rs_copy_task *task,
                                     rs_stage **stage)
{
    *stage = NULL;
    rs_host_copied *copies = calloc(1, sizeof *copies);
    if (copies == NULL)
        return rs_fail_memory("a stage");
    size_t most = 2 * count_parts(task) + 1; /* long ones are cut in two */
    copies->base.engine = engine;
    copies->groups = malloc(most * sizeof *copies->groups);
    copies->aligned = calloc(most, sizeof *copies->aligned);
    copies->parts = calloc(2 * most, sizeof *copies->parts);
    if (copies->groups == NULL || copies->aligned == NULL || copies->parts == NULL) {
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

static size_t scratch_bytes(const rs_stage *base)
{
    const rs_host_copied *copies = (const rs_host_copied *)base;
    return copies->threads * copies->buffer_bytes;
}

static restride_status run_copies(const rs_stage *base, const void *from, void *to,
                                  rs_under_way *under_way)
{
    const rs_host_copied *copies = (const rs_host_copied *)base;
    const bool line = (uintptr_t)to % RS_HOST_STREAM_LINE == 0;
    size_t bytes = 0;
    void *buffers = NULL;
    for (size_t i = 0; i < copies->group_count; i++)
        if (!line || copies->aligned[i].boxes == 0)
            bytes = scratch_bytes(base);
    if (bytes != 0 && posix_memalign(&buffers, RS_HOST_STREAM_LINE, bytes) != 0)
        return rs_fail(RESTRIDE_OUT_OF_MEMORY,
                       "There is not enough memory for %zu bytes of scratch.", bytes);
    under_way->has_begun = true;
    for (size_t i = 0; i < copies->group_count; i++) {
        bool aligned = line && copies->aligned[i].boxes != 0;
        const rs_host_copied_group *group = aligned ? &copies->aligned[i] : &copies->groups[i];
        rs_host_copy_run run = {copies, group, from, to, buffers};
        size_t threads = rs_size_smaller(copies->threads, group->boxes);
        rs_host_team_run(threads, rs_host_copy_boxes, &run);
    }
    free(buffers);
    return RESTRIDE_OK;
}

static json_t *describe_copies(const rs_stage *base)
{
    const rs_host_copied *copies = (const rs_host_copied *)base;
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
