/*
 * A permutation of axes as a sequence of elementary transpositions, each of which lets two
 * neighbouring groups of axes change places: [outer][rows][cols][unit] becomes
 * [outer][cols][rows][unit] (Sung thesis, section 4.1, for any number of axes).
 *
 * Axes that stay neighbours are merged first. With up to RS_FACTOR_MOST_EXACT groups left the
 * cheapest path to the order wanted is taken (paths.h), or the one that wisdom has. With more, the
 * transposition that brings most pairs of neighbours together is taken (the cheapest of several)
 * until few enough are left.
 */
#include "transpose/factor.h"
#include "transpose/cost.h"
#include "transpose/passes.h"
#include "transpose/paths.h"
#include "transpose/wisdom.h"

#include <stdint.h>
#include <string.h>

/* ---- merging ---- */

static size_t place_of(const rs_permutation *p, size_t axis)
{
    for (size_t k = 0; k < p->rank; k++)
        if (p->order[k] == axis)
            return k;
    return p->rank;
}

/* Leaves out axes of one element, and names the others by their places. */
static void take_axes(rs_axis_order *a, const rs_permutation *p)
{
    a->count = 0;
    a->unit = p->unit;
    for (size_t axis = 0; axis < p->rank; axis++) {
        if (p->counts[axis] == 1)
            continue;
        size_t name = 0;
        for (size_t k = 0; k < place_of(p, axis); k++)
            name += p->counts[p->order[k]] != 1;
        a->sizes[name] = p->counts[axis];
        a->names[a->count++] = name;
    }
}

static void merge_into_previous(rs_axis_order *a, size_t i)
{
    size_t gone = a->names[i];
    a->sizes[gone - 1] *= a->sizes[gone];
    memmove(a->sizes + gone, a->sizes + gone + 1, (a->count - 1 - gone) * sizeof *a->sizes);
    memmove(a->names + i, a->names + i + 1, (a->count - 1 - i) * sizeof *a->names);
    a->count--;
    for (size_t k = 0; k < a->count; k++)
        a->names[k] -= a->names[k] > gone;
}

/* Neighbours that stay neighbours become one, and what stays last is part of the element. */
static void merge(rs_axis_order *a)
{
    for (size_t i = 1; i < a->count;)
        if (a->names[i] == a->names[i - 1] + 1)
            merge_into_previous(a, i);
        else
            i++;
    while (a->count > 0 && a->names[a->count - 1] == a->count - 1)
        a->unit *= a->sizes[--a->count];
}

/* ---- one transposition ---- */

static void add_step(rs_sequence *steps, const rs_strided_part *context, const rs_axis_order *a,
                     const rs_exchange *e)
{
    const rs_matrices m = rs_arrangement_matrices(a, e);
    rs_sequence_transpose(steps, context, m.batch, m.rows, m.cols, m.unit);
}

/* ---- the cheapest path ---- */

void rs_factor_add_path(rs_sequence *steps, const rs_strided_part *context,
                        const rs_axis_order *arrangement, const rs_path *path)
{
    rs_axis_order a = *arrangement;
    for (size_t i = 0; i < path->count; i++) {
        add_step(steps, context, &a, &path->exchanges[i]);
        rs_arrangement_apply(&a, &path->exchanges[i]);
    }
}

/* ---- wisdom ---- */

/* Whether a path, which may come from a file, leads from an arrangement to the order to reach. */
static bool leads_there(const rs_axis_order *arrangement, const rs_path *path)
{
    rs_axis_order a = *arrangement;
    for (size_t i = 0; i < path->count; i++) {
        const rs_exchange *e = &path->exchanges[i];
        if (e->begin >= e->middle || e->middle >= e->end || e->end > a.count)
            return false;
        rs_arrangement_apply(&a, e);
    }
    return rs_arrangement_gaps(&a) == 0;
}

/* Two groups that change places, and one that stays before them, have one order that is worth a
 * look. */
static bool has_choice(const rs_axis_order *a)
{
    return a->count - (a->names[0] == 0) >= 3;
}

/* For whoever tunes this conversion. */
static restride_status note(rs_guidance *guidance, rs_arena *arena, const rs_strided_part *context,
                            const rs_axis_order *a)
{
    rs_permuted *noted = rs_arena_take(arena, 1, sizeof *noted);
    if (noted == NULL)
        return rs_fail_memory("a plan");
    noted->next = guidance->permuted;
    noted->outer = context->outer;
    noted->arrangement = *a;
    guidance->permuted = noted;
    return RESTRIDE_OK;
}

/* The path that wisdom has; an empty one where it has none. */
static restride_status ask_wisdom(rs_path *path, const rs_sequence *steps,
                                  const rs_strided_part *context, const rs_axis_order *a)
{
    rs_guidance *guidance = steps->guidance;
    path->count = 0;
    if (guidance == NULL || !has_choice(a))
        return RESTRIDE_OK;
    restride_status status = note(guidance, steps->arena, context, a);
    if (status == RESTRIDE_OK)
        status = rs_wisdom_find_path(path, guidance->engine, a, context->outer, &steps->traits);
    if (status == RESTRIDE_OK && path->count != 0 && !leads_there(a, path))
        path->count = 0;
    guidance->orders_followed += path->count != 0;
    return status;
}

/* ---- all axes at once ---- */

typedef struct {
    const rs_sequence *steps;
    const rs_strided_part *part;
} pricing_context;

static double price_task(const void *context, const rs_transpose_task *task)
{
    const pricing_context *c = context;
    return rs_sequence_task_price(c->steps, c->part, task);
}

/* The axes as pieces, which have room for all. */
static rs_transpose_task task_of(const rs_axis_order *a, rs_piece *pieces)
{
    rs_transpose_task task = {.count = 1,
                              .rows = 1,
                              .cols = 1,
                              .unit = a->unit,
                              .pieces = pieces,
                              .piece_count = a->count};
    for (size_t i = 0; i < a->count; i++) {
        pieces[i] = (rs_piece){a->sizes[a->names[i]], 0, a->names[i]};
        task.rows *= a->sizes[a->names[i]];
    }
    return task;
}

/* The stages that take all axes at once; none on the host. */
static void find_passes(rs_passes *passes, const rs_sequence *steps, const rs_strided_part *part,
                        const rs_axis_order *a)
{
    rs_piece pieces[RS_FACTOR_MOST_EXACT];
    const rs_transpose_task task = task_of(a, pieces);
    const pricing_context context = {steps, part};
    const rs_passes_pricing pricing = {price_task, &context, steps->traits.box_bytes};
    *passes = (rs_passes){.price = RS_COST_IMPOSSIBLE};
    if (!rs_cost_is_host(&steps->traits))
        rs_passes_find(passes, &pricing, &task);
}

/* Adds the cheapest path, or the stages that take all axes at once where they are cheaper. These
 * are found sooner, and paths that cost more are not looked at. */
static restride_status add_cheapest(rs_sequence *steps, const rs_strided_part *part,
                                    const rs_axis_order *a)
{
    rs_passes passes;
    rs_path path;
    size_t count;
    find_passes(&passes, steps, part, a);
    restride_status status = rs_paths_find(&path, 1, &count, steps, part, a, passes.price);
    if (status != RESTRIDE_OK)
        return status;
    if (count != 0)
        rs_factor_add_path(steps, part, a, &path);
    else if (passes.count == 0)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "No sequence of transpositions keeps within %zu bytes of scratch memory; "
                       "grant more.",
                       steps->budget);
    for (size_t i = 0; count == 0 && i < passes.count; i++) {
        passes.tasks[i].pieces = passes.pieces[i];
        rs_sequence_task(steps, part, &passes.tasks[i]);
    }
    return RESTRIDE_OK;
}

/* ---- many axes ---- */

static restride_status close_rs_arrangement_gaps(rs_sequence *steps, const rs_strided_part *context,
                                                 rs_axis_order *a)
{
    rs_exchange best = rs_exchange_none;
    size_t best_gaps = SIZE_MAX;
    double best_price = RS_COST_IMPOSSIBLE;
    for (rs_exchange e = rs_exchange_none; rs_exchange_next(&e, a->count);) {
        rs_axis_order after = *a;
        rs_arrangement_apply(&after, &e);
        size_t left = rs_arrangement_gaps(&after);
        if (left > best_gaps)
            continue;
        rs_matrices m = rs_arrangement_matrices(a, &e);
        m.batch *= context->outer;
        double price_now = rs_sequence_price(steps, &m, RS_COST_IMPOSSIBLE);
        if (price_now < RS_COST_IMPOSSIBLE && (left < best_gaps || price_now < best_price)) {
            best = e;
            best_gaps = left;
            best_price = price_now;
        }
    }
    if (best_gaps >= rs_arrangement_gaps(a))
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "No transposition of these %zu axes keeps within %zu bytes of scratch "
                       "memory; grant more.",
                       a->count, steps->budget);
    add_step(steps, context, a, &best);
    rs_arrangement_apply(a, &best);
    merge(a);
    return RESTRIDE_OK;
}

restride_status rs_factor_permutation(rs_sequence *steps, const rs_strided_part *context,
                                      const rs_permutation *permutation)
{
    rs_axis_order a;
    if (permutation->rank > RS_FACTOR_MOST_AXES)
        return rs_fail(RESTRIDE_UNSUPPORTED, "%zu axes are more than %d; convert in two steps.",
                       permutation->rank, RS_FACTOR_MOST_AXES);
    take_axes(&a, permutation);
    merge(&a);
    restride_status status = RESTRIDE_OK;
    while (status == RESTRIDE_OK && a.count > RS_FACTOR_MOST_EXACT)
        status = close_rs_arrangement_gaps(steps, context, &a);
    if (status != RESTRIDE_OK || a.count < 2)
        return status;
    rs_path path;
    status = ask_wisdom(&path, steps, context, &a);
    if (status != RESTRIDE_OK)
        return status;
    if (path.count == 0)
        return add_cheapest(steps, context, &a);
    rs_factor_add_path(steps, context, &a, &path); /* as it was measured */
    return RESTRIDE_OK;
}
