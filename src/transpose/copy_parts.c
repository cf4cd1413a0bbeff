/*
 * The parts of a conversion from one buffer to another (engine/copy.h).
 *
 * Each dimension is cut into pieces in which all tiles of both layouts are whole (levels.h). Inside
 * a piece an index is a sum of digits, of which each moves the element by a fixed distance in both
 * layouts. A group is one piece of each dimension; its parts are the runs of equal members. The
 * distances are those of the definition, restride_layout_offset(). Padding is left out: nothing is
 * to be copied there.
 *
 * Tiles of one layout that do not nest with the other's have borders that repeat with a period,
 * their least common multiple: between two borders all tiles are whole.
 */
#include "transpose/copy_parts.h"
#include "base/arithmetic.h"
#include "transpose/levels.h"

#include <stdlib.h>

enum { MOST_GROUPS = 4096, MOST_PARTS = 16384 };

typedef struct {
    size_t step;
    size_t count;
} digit;

/* Indices begin + the sum of all digits. */
typedef struct {
    size_t begin;
    size_t digit_count;
    digit digits[RS_COPY_MOST_AXES];
} piece;

typedef struct {
    size_t count;
    piece *pieces;
} cut;

typedef struct {
    rs_arena *arena;
    const restride_layout *from;
    const restride_layout *to;
    size_t scale; /* bytes of what offsets count */
    size_t unit;  /* bytes of an element, without a record */
    cut cuts[RS_LAYOUT_MAX_RANK];
    size_t runs; /* of members; 1 without a record */
} maker;

static restride_status fail_many(void)
{
    return rs_fail(RESTRIDE_UNSUPPORTED,
                   "The layouts cut the array into more parts than the planner looks at; make "
                   "fewer dimensions ragged, or convert in two steps.");
}

/* ---- pieces of one dimension ---- */

static void collect_sizes(rs_levels *levels, const restride_layout *layout, int d)
{
    for (int t = 0; t < layout->term_count; t++)
        if (layout->terms[t].dimension == d)
            rs_levels_add(levels, layout->terms[t].divisor);
}

/* The digits of an interval of tiles, times `scale`. */
static void add_digits(piece *p, const rs_levels *levels, const rs_interval *interval, size_t scale)
{
    p->digits[p->digit_count++] = (digit){levels->sizes[interval->level] * scale, interval->count};
    for (size_t level = interval->level; level-- > 0;)
        p->digits[p->digit_count++] =
            (digit){levels->sizes[level] * scale, levels->sizes[level + 1] / levels->sizes[level]};
}

typedef struct {
    rs_levels below; /* sizes that divide all others */
    rs_levels apart; /* that do not nest, and what lies between them */
    rs_levels above; /* multiples of the period, in periods */
    size_t period;
} nesting;

static bool nests_with_all(const rs_levels *levels, size_t size)
{
    for (size_t i = 0; i < levels->count; i++)
        if (levels->sizes[i] % size != 0 && size % levels->sizes[i] != 0)
            return false;
    return true;
}

/* False when the period is longer than any array. */
static bool find_period(nesting *n, const rs_levels *levels)
{
    size_t least = 0;
    n->period = 1;
    for (size_t i = 0; i < levels->count; i++) {
        size_t size = levels->sizes[i];
        if (nests_with_all(levels, size))
            continue;
        least = least == 0 ? size : least;
        size_t factor = size / rs_size_gcd(n->period, size);
        if (!rs_size_multiply(n->period, factor, &n->period))
            return false;
    }
    rs_levels_add(&n->below, 1);
    rs_levels_add(&n->above, 1);
    for (size_t i = 0; i < levels->count; i++) {
        size_t size = levels->sizes[i];
        if (size < least)
            rs_levels_add(&n->below, size);
        else if (size % n->period == 0)
            rs_levels_add(&n->above, size / n->period);
        else
            rs_levels_add(&n->apart, size);
    }
    return true;
}

/* The next border behind `at`. */
static size_t next_border(const nesting *n, size_t at, size_t end)
{
    size_t next = end;
    for (size_t i = 0; i < n->apart.count; i++) {
        size_t border = (at / n->apart.sizes[i] + 1) * n->apart.sizes[i];
        next = border < next ? border : next;
    }
    return next;
}

/* Adds the pieces of [0, end), a period or part of one, in all of the periods of `outer`; NULL:
 * there is one, which begins at `begin`. With `c->pieces` NULL they are only counted. */
static void cut_period(cut *c, const nesting *n, const rs_interval *outer, size_t begin, size_t end)
{
    rs_interval intervals[2 * RS_MOST_LEVELS + 1];
    for (size_t at = 0; at < end && c->count <= MOST_GROUPS;) {
        size_t next = next_border(n, at, end);
        size_t count = 0;
        rs_levels_cut(&n->below, intervals, &count, at, next, false);
        for (size_t i = 0; i < count; i++, c->count++) {
            if (c->pieces == NULL)
                continue;
            piece *p = &c->pieces[c->count];
            p->begin = begin + intervals[i].begin;
            if (outer != NULL)
                add_digits(p, &n->above, outer, n->period);
            add_digits(p, &n->below, &intervals[i], 1);
        }
        at = next;
    }
}

static void cut_periods(cut *c, const nesting *n, size_t extent)
{
    rs_interval outer[2 * RS_MOST_LEVELS + 1];
    size_t count = 0;
    size_t whole = extent / n->period;
    rs_levels_cut(&n->above, outer, &count, 0, whole, false);
    for (size_t i = 0; i < count; i++)
        cut_period(c, n, &outer[i], outer[i].begin * n->period, n->period);
    cut_period(c, n, NULL, whole * n->period, extent % n->period);
}

static restride_status cut_dimension(maker *m, int d)
{
    size_t extent = m->from->dimensions[d].extent;
    rs_levels levels = {.count = 0};
    nesting n = {.period = 1};
    rs_levels_add(&levels, 1);
    collect_sizes(&levels, m->from, d);
    collect_sizes(&levels, m->to, d);
    cut *c = &m->cuts[d];
    if (rs_levels_nested(&levels)) {
        n.above = levels;
        rs_levels_add(&n.below, 1);
    } else if (!find_period(&n, &levels)) {
        return fail_many();
    }
    cut_periods(c, &n, extent);
    if (c->count > MOST_GROUPS)
        return fail_many();
    c->pieces = rs_arena_take(m->arena, c->count + 1, sizeof *c->pieces);
    if (c->pieces == NULL)
        return rs_fail_memory("the pieces of a dimension");
    c->count = 0;
    cut_periods(c, &n, extent);
    return RESTRIDE_OK;
}

/* ---- parts ---- */

static size_t offset_of(const maker *m, const restride_layout *layout, const size_t index[])
{
    return restride_layout_offset(layout, index) * m->scale;
}

/* Adds the axis on which one index grows by `step`. */
static bool add_axis(const maker *m, rs_copy_part *part, size_t index[], int d, const digit *along)
{
    if (along->count == 1)
        return true;
    if (part->axis_count == RS_COPY_MOST_AXES)
        return false;
    size_t before = index[d];
    index[d] += along->step;
    part->axes[part->axis_count++] =
        (rs_copy_axis){along->count, offset_of(m, m->from, index) - part->from,
                       offset_of(m, m->to, index) - part->to};
    index[d] = before;
    return true;
}

/* The part of a group whose first leaf is `leaf`; the record's index is that. */
static restride_status make_part(const maker *m, rs_copy_part *part, size_t index[],
                                 const size_t chosen[], rs_copy_group *group)
{
    const restride_layout *layout = m->from;
    int record = layout->record;
    part->unit = m->unit;
    part->from = offset_of(m, m->from, index);
    part->to = offset_of(m, m->to, index);
    part->axis_count = 0;
    bool fits = true;
    for (int d = 0; d < layout->rank; d++) {
        const piece *p = d == record ? NULL : &m->cuts[d].pieces[chosen[d]];
        for (size_t i = 0; p != NULL && i < p->digit_count; i++)
            fits = fits && add_axis(m, part, index, d, &p->digits[i]);
    }
    group->shared = part->axis_count;
    if (record >= 0) {
        const rs_record *members = &layout->dimensions[record].record;
        const digit leaves = {1, rs_record_run(members, index[record])};
        part->unit = members->leaves[index[record]].size;
        fits = fits && add_axis(m, part, index, record, &leaves);
    }
    return fits ? RESTRIDE_OK : fail_many();
}

static restride_status make_group(const maker *m, rs_copy_task *task, const size_t chosen[],
                                  size_t *part_count)
{
    const restride_layout *layout = m->from;
    size_t index[RS_LAYOUT_MAX_RANK] = {0};
    rs_copy_group *group = &task->groups[task->group_count++];
    group->first = *part_count;
    for (int d = 0; d < layout->rank; d++)
        if (d != layout->record)
            index[d] = m->cuts[d].pieces[chosen[d]].begin;
    restride_status status = RESTRIDE_OK;
    size_t leaf = 0;
    for (group->count = 0; status == RESTRIDE_OK && group->count < m->runs; group->count++) {
        if (layout->record >= 0)
            index[layout->record] = leaf;
        status = make_part(m, &task->parts[group->first + group->count], index, chosen, group);
        if (layout->record >= 0)
            leaf += rs_record_run(&layout->dimensions[layout->record].record, leaf);
    }
    if (status == RESTRIDE_OK)
        rs_copy_simplify(task->parts + group->first, group);
    *part_count += group->count;
    return status;
}

static size_t count_runs(const restride_layout *layout)
{
    if (layout->record < 0)
        return 1;
    const rs_record *members = &layout->dimensions[layout->record].record;
    size_t runs = 0;
    for (size_t leaf = 0; leaf < members->leaf_count; leaf += rs_record_run(members, leaf))
        runs++;
    return runs;
}

/* Every combination of pieces is a group. */
static restride_status make_groups(maker *m, rs_copy_task *task, size_t groups)
{
    size_t chosen[RS_LAYOUT_MAX_RANK] = {0};
    size_t parts = 0;
    restride_status status = RESTRIDE_OK;
    for (size_t g = 0; g < groups && status == RESTRIDE_OK; g++) {
        size_t rest = g;
        for (int d = m->from->rank; d-- > 0;)
            if (d != m->from->record) {
                chosen[d] = rest % m->cuts[d].count;
                rest /= m->cuts[d].count;
            }
        status = make_group(m, task, chosen, &parts);
    }
    return status;
}

restride_status rs_copy_parts(rs_copy_task *task, rs_arena *arena, const restride_layout *from,
                              const restride_layout *to, size_t elem_size)
{
    maker m = {.arena = arena,
               .from = from,
               .to = to,
               .scale = from->record >= 0 ? 1 : elem_size,
               .unit = elem_size,
               .runs = count_runs(from)};
    size_t groups = 1;
    rs_layout_count_bytes(from, elem_size, &task->from_bytes);
    rs_layout_count_bytes(to, elem_size, &task->to_bytes);
    for (int d = 0; d < from->rank; d++) {
        if (d == from->record)
            continue;
        restride_status status = cut_dimension(&m, d);
        if (status != RESTRIDE_OK)
            return status;
        groups = rs_size_multiply_capped(groups, m.cuts[d].count);
    }
    if (groups > MOST_GROUPS || groups > MOST_PARTS / m.runs)
        return fail_many();
    task->groups = rs_arena_take(arena, groups + 1, sizeof *task->groups);
    task->parts = rs_arena_take(arena, groups * m.runs + 1, sizeof *task->parts);
    if (task->groups == NULL || task->parts == NULL)
        return rs_fail_memory("the parts of a conversion");
    return make_groups(&m, task, groups);
}
