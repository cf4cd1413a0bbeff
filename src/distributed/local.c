/*
 * Local passes of a redistribution: see redistribution.h. Both sides are planned for several orders
 * of the dimensions, and the order is kept whose passes cost least on all processes together.
 */
#include "distributed/redistribution.h"
#include "distributed/regroup.h"
#include "transpose/cost.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ORDERS = 6 };

/* The passes for one order of the dimensions. */
typedef struct {
    int order[RS_LAYOUT_MAX_RANK];
    restride_plan *passes[2][RS_LOCAL_PASSES];
} local_plans;

/* Between the layout of the part and its form without tiles. */
static restride_status plan_form(const rs_redistribution_task *task, local_plans *local, int side)
{
    restride_layout *tiled;
    restride_layout *plain = NULL;
    const size_t rank = (size_t)task->group->rank;
    restride_status status = rs_spread_part(&tiled, task->layouts[side], rank, NULL);
    if (status == RESTRIDE_OK)
        status = rs_spread_part(&plain, task->layouts[side], rank, local->order);
    restride_plan *plan = NULL;
    if (status == RESTRIDE_OK)
        status = restride_plan_convert_with(&plan, task->engine, side == 0 ? tiled : plain,
                                            side == 0 ? plain : tiled, task->unit, &task->options);
    if (status == RESTRIDE_OK && plan->stage_count == 0) {
        restride_plan_destroy(plan);
        plan = NULL;
    }
    local->passes[side][side == 0 ? 0 : RS_LOCAL_PASSES - 1] = plan;
    restride_layout_destroy(tiled);
    restride_layout_destroy(plain);
    return status;
}

static restride_status make_splits(const rs_redistribution_task *task, const int order[], int side,
                                   rs_split splits[])
{
    const restride_layout *own = task->layouts[side];
    restride_status status = RESTRIDE_OK;
    for (int level = 0; status == RESTRIDE_OK && level < own->rank; level++) {
        const int d = order[level];
        status = rs_split_make(&splits[level], own, task->layouts[1 - side], d,
                               rs_spread_coordinate(own, d, (size_t)task->group->rank));
    }
    return status;
}

static restride_status plan_groups(const rs_redistribution_task *task, local_plans *local, int side,
                                   const rs_split splits[])
{
    rs_regroup regroup = {.rank = (size_t)task->layouts[side]->rank, .unit = task->counts.unit};
    for (size_t level = 0; level < regroup.rank; level++)
        regroup.splits[level] = &splits[level];
    return rs_regroup_plan(&local->passes[side][1], task->engine, &regroup, side == 1,
                           &task->options);
}

/* ---- both at once ---- */

/* Whether each group is one tile of a dimension, or one tile of each turn, the tiles in order; the
 * last one may be shorter. */
static bool has_tiles(const rs_split *split)
{
    const size_t count = split->period_runs;
    for (size_t i = 0; i < count; i++) {
        const bool shorter =
            split->periods == 1 && i + 1 == count && split->runs[i].units < split->runs[0].units;
        if ((split->runs[i].units != split->runs[0].units && !shorter) ||
            (i > 0 && split->runs[i].group <= split->runs[i - 1].group))
            return false;
    }
    return split->tail_runs == 0;
}

static void add_term(restride_layout *layout, int d, size_t divisor, size_t modulus)
{
    if (modulus != 1)
        layout->terms[layout->term_count++] =
            (rs_term){.dimension = d, .divisor = divisor, .modulus = modulus};
}

/* Makes the form without tiles the one by processes, where terms can say that. */
static bool tile_by_processes(restride_layout *plain, const int order[], const rs_split splits[])
{
    rs_term *terms = calloc(3 * (size_t)plain->rank, sizeof *terms);
    bool possible = terms != NULL;
    for (int level = 0; possible && level < plain->rank; level++)
        possible = splits[level].period_runs < 2 ||
                   (order[level] != plain->record && has_tiles(&splits[level]));
    if (!possible) {
        free(terms);
        return false;
    }
    free(plain->terms);
    plain->terms = terms;
    plain->term_count = 0;
    for (int level = 0; level < plain->rank; level++) {
        const rs_split *split = &splits[level];
        if (split->period_runs > 1)
            add_term(plain, order[level], split->runs[0].units,
                     split->periods == 1 ? 0 : split->period_runs);
    }
    for (int level = 0; level < plain->rank; level++) {
        const rs_split *split = &splits[level];
        const int d = order[level];
        plain->dimensions[d].descending = split->period_runs < 2 || split->periods == 1;
        if (!plain->dimensions[d].descending)
            add_term(plain, d, split->period_units, 0);
        add_term(plain, d, 1, split->period_runs < 2 ? 0 : split->runs[0].units);
    }
    return true;
}

static double cost_of_plan(const restride_plan *plan)
{
    if (plan == NULL)
        return 0;
    return (plan->passes > 0 ? plan->passes : (double)plan->stage_count) * (double)plan->bytes;
}

/* One conversion instead of two passes, where there is one that costs less. */
static void plan_at_once(const rs_redistribution_task *task, local_plans *local, int side,
                         const rs_split splits[])
{
    restride_plan **form = &local->passes[side][side == 0 ? 0 : RS_LOCAL_PASSES - 1];
    restride_plan **groups = &local->passes[side][1];
    restride_layout *tiled = NULL;
    restride_layout *grouped = NULL;
    restride_plan *plan = NULL;
    const size_t rank = (size_t)task->group->rank;
    if (*form == NULL || *groups == NULL)
        return;
    if (rs_spread_part(&tiled, task->layouts[side], rank, NULL) == RESTRIDE_OK &&
        rs_spread_part(&grouped, task->layouts[side], rank, local->order) == RESTRIDE_OK &&
        tile_by_processes(grouped, local->order, splits) &&
        restride_plan_convert_with(&plan, task->engine, side == 0 ? tiled : grouped,
                                   side == 0 ? grouped : tiled, task->unit,
                                   &task->options) == RESTRIDE_OK &&
        cost_of_plan(plan) < cost_of_plan(*form) + cost_of_plan(*groups)) {
        restride_plan_destroy(*form);
        restride_plan_destroy(*groups);
        *form = plan;
        *groups = NULL;
        plan = NULL;
    }
    restride_plan_destroy(plan);
    restride_layout_destroy(tiled);
    restride_layout_destroy(grouped);
}

static restride_status plan_side(const rs_redistribution_task *task, local_plans *local, int side)
{
    rs_split splits[RS_LAYOUT_MAX_RANK] = {{0}};
    restride_status status = make_splits(task, local->order, side, splits);
    if (status == RESTRIDE_OK)
        status = plan_form(task, local, side);
    if (status == RESTRIDE_OK)
        status = plan_groups(task, local, side, splits);
    if (status == RESTRIDE_OK)
        plan_at_once(task, local, side, splits);
    for (int level = 0; level < task->layouts[side]->rank; level++)
        rs_split_free(&splits[level]);
    return status;
}

static restride_status plan_order(const rs_redistribution_task *task, local_plans *local,
                                  const size_t bytes[2])
{
    restride_status status = RESTRIDE_OK;
    for (int side = 0; status == RESTRIDE_OK && side < 2; side++) {
        if (bytes[side] == 0)
            continue;
        status = plan_side(task, local, side);
    }
    return status;
}

static void destroy_passes(local_plans *local)
{
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < RS_LOCAL_PASSES; i++) {
            restride_plan_destroy(local->passes[side][i]);
            local->passes[side][i] = NULL;
        }
}

/* Bytes that the passes move, weighted with what they cost. */
static double cost_of(const local_plans *local)
{
    double cost = 0;
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < RS_LOCAL_PASSES; i++)
            cost += cost_of_plan(local->passes[side][i]);
    return cost;
}

/* ---- the order of the dimensions ---- */

/* Dimensions in the order of their first own terms, then those without any, then the record. */
static void order_like(const restride_layout *layout, int order[])
{
    bool listed[RS_LAYOUT_MAX_RANK] = {false};
    int count = 0;
    if (layout->record >= 0)
        listed[layout->record] = true;
    for (int t = 0; t < layout->term_count; t++) {
        const rs_term *term = &layout->terms[t];
        if (term->spread || listed[term->dimension])
            continue;
        listed[term->dimension] = true;
        order[count++] = term->dimension;
    }
    for (int d = 0; d < layout->rank; d++)
        if (!listed[d])
            order[count++] = d;
    if (layout->record >= 0)
        order[count] = layout->record;
}

static size_t add_order(local_plans locals[], size_t count, const int order[], int rank)
{
    for (size_t i = 0; i < count; i++)
        if (memcmp(locals[i].order, order, (size_t)rank * sizeof *order) == 0)
            return count;
    memcpy(locals[count].order, order, (size_t)rank * sizeof *order);
    return count + 1;
}

/* As both layouts have them; with at most three dimensions that may change places, all orders. */
static size_t list_orders(const rs_redistribution_task *task, local_plans locals[])
{
    const restride_layout *layout = task->layouts[0];
    const int rank = layout->rank;
    int order[RS_LAYOUT_MAX_RANK];
    size_t count = 0;
    for (int side = 0; side < 2; side++) {
        order_like(task->layouts[side], order);
        count = add_order(locals, count, order, rank);
    }
    const int others = layout->record >= 0 ? rank - 1 : rank;
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    int first[RS_LAYOUT_MAX_RANK];
    memcpy(first, locals[0].order, sizeof first);
    for (size_t i = 0; others == 3 && i < sizeof orders / sizeof orders[0]; i++) {
        for (int k = 0; k < rank; k++)
            order[k] = first[k < others ? orders[i][k] : k];
        count = add_order(locals, count, order, rank);
    }
    if (others == 2) {
        memcpy(order, first, sizeof order);
        order[0] = first[1];
        order[1] = first[0];
        count = add_order(locals, count, order, rank);
    }
    return count;
}

/* Plans the passes for each order, and keeps those that cost least on all processes together. */
restride_status rs_redistribution_plan_local(const rs_redistribution_task *task,
                                             rs_redistribution *r)
{
    local_plans locals[MOST_ORDERS] = {{{0}, {{NULL}}}};
    double costs[MOST_ORDERS] = {0};
    const size_t count = list_orders(task, locals);
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; i < count; i++) {
        restride_status planned = plan_order(task, &locals[i], r->bytes);
        costs[i] = planned == RESTRIDE_OK ? cost_of(&locals[i]) : RS_COST_IMPOSSIBLE;
        status = planned != RESTRIDE_OK ? planned : status;
    }
    restride_status summed = rs_group_sum(task->group, costs, count);
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
        best = costs[i] < costs[best] ? i : best;
    if (summed != RESTRIDE_OK || costs[best] < RS_COST_IMPOSSIBLE)
        status = summed;
    for (size_t i = 0; i < count; i++)
        if (i == best && summed == RESTRIDE_OK) {
            memcpy(r->order, locals[i].order, sizeof r->order);
            memcpy(r->passes, locals[i].passes, sizeof r->passes);
        } else {
            destroy_passes(&locals[i]);
        }
    return status;
}
