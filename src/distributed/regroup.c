/*
 * Regrouping a part: see regroup.h. Dimension after dimension, from the slowest on, rows of the
 * pieces that it is cut into are taken apart (transpose/separate.h). Where blocks are dealt out in
 * turn, each turn is a row; a last turn that is shorter is split off first and joined at the end.
 */
#include "distributed/regroup.h"
#include "transpose/separate.h"

#include <stdlib.h>

typedef struct {
    const rs_regroup *regroup;
    size_t inner[RS_LAYOUT_MAX_RANK]; /* bytes of one unit of each dimension */
} work;

/* Equal pieces that follow each other. */
typedef struct {
    size_t count;
    size_t bytes;
} piece_run;

/* ---- rows of pieces ---- */

static const rs_loop_tree *leaf_of(rs_arena *arena, size_t bytes)
{
    rs_loop_tree *leaf = rs_arena_take(arena, 1, sizeof *leaf);
    if (leaf != NULL)
        leaf->bytes = bytes; /* its kind is RS_TREE_LEAF, which is 0 */
    return leaf;
}

static const rs_loop_tree *tree_of(rs_arena *arena, const piece_run *run)
{
    const rs_loop_tree like = {.axis = 1, .members = true};
    const rs_loop_tree *leaf = leaf_of(arena, run->bytes);
    if (leaf == NULL || run->count == 1)
        return leaf;
    return rs_tree_loop(arena, &like, run->count, leaf);
}

/* `rows` rows of pieces: the first pieces of all rows come together, then the second, and so on. */
static restride_status take_apart(rs_sequence *s, size_t offset, size_t rows,
                                  const piece_run runs[], size_t count)
{
    const rs_strided_part context = {offset, 1, 0};
    if (rows == 1 || count == 0)
        return RESTRIDE_OK;
    if (count == 1) {
        rs_sequence_transpose(s, &context, 1, rows, runs->count, runs->bytes);
        return RESTRIDE_OK;
    }
    const rs_loop_tree **parts = rs_arena_take(s->arena, count, sizeof *parts);
    for (size_t i = 0; parts != NULL && i < count; i++)
        if ((parts[i] = tree_of(s->arena, &runs[i])) == NULL)
            return rs_fail_memory("the parts of a row");
    const rs_loop_tree like = {.axis = 0};
    const rs_loop_tree *row = parts == NULL ? NULL : rs_tree_row(s->arena, parts, count);
    const rs_loop_tree *loop = row == NULL ? NULL : rs_tree_loop(s->arena, &like, rows, row);
    const rs_loop_tree *apart;
    return loop == NULL ? rs_fail_memory("the parts of a row")
                        : rs_separate(s, &context, loop, &apart);
}

static void reorder(rs_sequence *s, const rs_strided_part *context, const rs_piece *pieces,
                    size_t count)
{
    rs_transpose_task task = {.method = RS_TRANSPOSE_REORDER,
                              .count = 1,
                              .rows = 1,
                              .unit = 1,
                              .pieces = pieces,
                              .piece_count = count};
    bool ordered = true;
    for (size_t i = 0; i < count; i++) {
        task.cols += pieces[i].count * pieces[i].unit;
        ordered = ordered && pieces[i].place == i;
    }
    if (!ordered)
        rs_sequence_task(s, context, &task);
}

/* ---- the groups of one dimension ---- */

typedef struct {
    size_t group;
    size_t at; /* the run's number */
} ordered_run;

static int compare_runs(const void *a, const void *b)
{
    const ordered_run *x = a;
    const ordered_run *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Units of each group in a row, by ascending groups; NULL when memory is short. */
typedef struct {
    size_t count;
    rs_split_run *groups;
} group_list;

/* Sorts the runs of each row by their groups, and brings each group of all rows together. */
static restride_status take_groups(rs_sequence *s, size_t offset, size_t rows, size_t inner,
                                   const rs_split_run runs[], size_t count, group_list *list)
{
    ordered_run *order = rs_arena_take(s->arena, count, sizeof *order);
    rs_piece *pieces = rs_arena_take(s->arena, count, sizeof *pieces);
    piece_run *parts = rs_arena_take(s->arena, count, sizeof *parts);
    list->groups = rs_arena_take(s->arena, count, sizeof *list->groups);
    if (order == NULL || pieces == NULL || parts == NULL || list->groups == NULL)
        return count == 0 ? RESTRIDE_OK : rs_fail_memory("the parts of a row");
    size_t row_bytes = 0;
    for (size_t i = 0; i < count; i++) {
        order[i] = (ordered_run){runs[i].group, i};
        row_bytes += runs[i].units * inner;
    }
    qsort(order, count, sizeof *order, compare_runs);
    size_t part_count = 0;
    for (size_t i = 0; i < count; i++) {
        const rs_split_run *run = &runs[order[i].at];
        pieces[order[i].at] = (rs_piece){1, run->units * inner, i};
        if (list->count == 0 || list->groups[list->count - 1].group != run->group)
            list->groups[list->count++] = (rs_split_run){run->group, 0};
        list->groups[list->count - 1].units += run->units;
    }
    for (size_t g = 0; g < list->count; g++) {
        const size_t bytes = list->groups[g].units * inner;
        if (part_count == 0 || parts[part_count - 1].bytes != bytes)
            parts[part_count++] = (piece_run){0, bytes};
        parts[part_count - 1].count++;
    }
    const rs_strided_part each_row = {offset, rows, row_bytes};
    reorder(s, &each_row, pieces, count);
    return take_apart(s, offset, rows, parts, part_count);
}

/* The groups of whole turns come before those of the last turn. */
static restride_status join_tails(rs_sequence *s, size_t offset, size_t rows, size_t periods,
                                  size_t inner, const group_list *turn, const group_list *tail,
                                  group_list *all)
{
    rs_piece *pieces = rs_arena_take(s->arena, turn->count + tail->count, sizeof *pieces);
    all->groups = rs_arena_take(s->arena, turn->count + tail->count, sizeof *all->groups);
    if (pieces == NULL || all->groups == NULL)
        return rs_fail_memory("the parts of a row");
    rs_sequence joins = rs_sequence_begin(s);
    restride_status status = RESTRIDE_OK;
    size_t place = 0;
    for (size_t a = 0, b = 0; status == RESTRIDE_OK && (a < turn->count || b < tail->count);) {
        const bool has_turn =
            a < turn->count && (b == tail->count || turn->groups[a].group <= tail->groups[b].group);
        const bool has_tail =
            b < tail->count && (a == turn->count || tail->groups[b].group <= turn->groups[a].group);
        piece_run parts[2] = {{0, 0}, {0, 0}};
        all->groups[all->count].group = has_turn ? turn->groups[a].group : tail->groups[b].group;
        if (has_turn) {
            parts[0] = (piece_run){1, turn->groups[a].units * periods * inner};
            pieces[a++] = (rs_piece){1, rows * parts[0].bytes, place++};
        }
        if (has_tail) {
            parts[1] = (piece_run){1, tail->groups[b].units * inner};
            pieces[turn->count + b++] = (rs_piece){1, rows * parts[1].bytes, place++};
        }
        if (has_turn && has_tail)
            status = take_apart(&joins, offset, rows, parts, 2);
        const size_t bytes = parts[0].bytes + parts[1].bytes;
        all->groups[all->count++].units = bytes / inner;
        offset += rows * bytes;
    }
    size_t begin = offset;
    for (size_t i = 0; i < turn->count + tail->count; i++)
        begin -= pieces[i].unit;
    const rs_strided_part whole = {begin, 1, 0};
    reorder(s, &whole, pieces, turn->count + tail->count);
    rs_sequence_append_undone(s, &joins);
    return status;
}

/* `rows` rows of one dimension: its groups come together. */
static restride_status regroup_rows(rs_sequence *s, const rs_split *split, size_t offset,
                                    size_t rows, size_t inner, group_list *all)
{
    const rs_split_run *tail_runs = split->runs + split->period_runs;
    if (split->tail_runs == 0)
        return take_groups(s, offset, rows * split->periods, inner, split->runs, split->period_runs,
                           all);
    const size_t turns = split->periods * split->period_units;
    const piece_run parts[] = {{1, turns * inner}, {1, (split->units - turns) * inner}};
    group_list turn = {0};
    group_list tail = {0};
    restride_status status = take_apart(s, offset, rows, parts, 2);
    if (status == RESTRIDE_OK)
        status = take_groups(s, offset, rows * split->periods, inner, split->runs,
                             split->period_runs, &turn);
    if (status == RESTRIDE_OK)
        status = take_groups(s, offset + rows * parts[0].bytes, rows, inner, tail_runs,
                             split->tail_runs, &tail);
    return status == RESTRIDE_OK
               ? join_tails(s, offset, rows, split->periods, inner, &turn, &tail, all)
               : status;
}

static bool has_one_group(const rs_split *split)
{
    for (size_t i = 1; i < split->period_runs + split->tail_runs; i++)
        if (split->runs[i].group != split->runs[0].group)
            return false;
    return true;
}

static restride_status regroup_from(rs_sequence *s, const work *w, size_t level, size_t offset,
                                    size_t rows)
{
    const rs_regroup *r = w->regroup;
    while (level < r->rank && has_one_group(r->splits[level]))
        rows *= r->splits[level++]->units;
    if (level == r->rank)
        return RESTRIDE_OK;
    const rs_split *split = r->splits[level];
    group_list all = {0};
    restride_status status = regroup_rows(s, split, offset, rows, w->inner[level], &all);
    if (split->tail_runs == 0)
        for (size_t g = 0; g < all.count; g++)
            all.groups[g].units *= split->periods;
    for (size_t g = 0; status == RESTRIDE_OK && g < all.count; g++) {
        status = regroup_from(s, w, level + 1, offset, rows * all.groups[g].units);
        offset += rows * all.groups[g].units * w->inner[level];
    }
    return status;
}

/* ---- plans ---- */

typedef struct {
    const rs_regroup *regroup;
    bool undone;
} regroup_task;

static restride_status fill_regroup(rs_sequence *s, const void *context)
{
    const regroup_task *task = context;
    work w = {.regroup = task->regroup};
    size_t bytes = task->regroup->unit;
    for (size_t level = task->regroup->rank; level-- > 0;) {
        w.inner[level] = bytes;
        bytes *= task->regroup->splits[level]->units;
    }
    if (!task->undone)
        return regroup_from(s, &w, 0, 0, 1);
    rs_sequence way = rs_sequence_begin(s);
    restride_status status = regroup_from(&way, &w, 0, 0, 1);
    rs_sequence_append_undone(s, &way);
    return status;
}

typedef struct {
    const rs_piece *pieces;
    size_t count;
} order_task;

static restride_status fill_order(rs_sequence *s, const void *context)
{
    const order_task *task = context;
    const rs_strided_part whole = {0, 1, 0};
    reorder(s, &whole, task->pieces, task->count);
    return RESTRIDE_OK;
}

/* A plan without stages is dropped. */
static restride_status plan(restride_plan **plan, restride_engine *engine, size_t bytes,
                            const char *from, const char *to, rs_sequence_fill *fill,
                            const void *context, const restride_plan_options *options)
{
    *plan = NULL;
    if (bytes == 0)
        return RESTRIDE_OK;
    restride_plan *created;
    restride_status status = rs_plan_create(&created, engine, bytes, from, to);
    if (status != RESTRIDE_OK)
        return status;
    status = rs_sequence_plan(created, options, fill, context);
    if (status == RESTRIDE_OK && created->stage_count > 0) {
        *plan = created;
        return RESTRIDE_OK;
    }
    restride_plan_destroy(created);
    return status;
}

restride_status rs_regroup_plan(restride_plan **result, restride_engine *engine,
                                const rs_regroup *regroup, bool undone,
                                const restride_plan_options *options)
{
    const regroup_task task = {regroup, undone};
    size_t bytes = regroup->unit;
    for (size_t level = 0; level < regroup->rank; level++)
        bytes *= regroup->splits[level]->units;
    return plan(result, engine, bytes, undone ? "by processes" : "without tiles",
                undone ? "without tiles" : "by processes", fill_regroup, &task, options);
}

restride_status rs_regroup_order(restride_plan **result, restride_engine *engine,
                                 const rs_piece *pieces, size_t count,
                                 const restride_plan_options *options)
{
    const order_task task = {pieces, count};
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += pieces[i].count * pieces[i].unit;
    return plan(result, engine, bytes, "by processes", "by messages", fill_order, &task, options);
}
