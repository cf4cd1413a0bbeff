/* See copy_back.h. */
#include "transpose/copy_back.h"

#include "base/arithmetic.h"
#include "base/text.h"
#include "transpose/choose.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ALIGNMENT = 16, LAUNCH_BYTES = 4 << 20 /* which an idle device moves meanwhile */ };

static const char method_name[] = "copy";

static bool is_device(const restride_engine *engine)
{
    return engine->operations->transfer != NULL && engine->operations->copy != NULL &&
           engine->operations->create_transpose != NULL;
}

bool rs_copy_back_is_named(const restride_engine *engine, const restride_plan_options *options)
{
    return is_device(engine) && options != NULL && options->method != NULL &&
           strcmp(options->method, method_name) == 0;
}

/* Whether the caller grants memory and leaves the choice. */
static bool is_rival(const restride_plan *plan, const restride_plan_options *options)
{
    return is_device(plan->engine) && plan->stage_count > 0 && plan->method != NULL &&
           options != NULL && options->scratch_bytes != 0 && options->run_bytes == 0 &&
           options->method == NULL;
}

/* So many arrays as have room at a time; where they do not begin at whole words, all or none. */
static size_t arrays_in(const rs_copy_slabs *slabs, size_t room)
{
    const size_t most = slabs->bytes == 0 ? 0 : room / slabs->bytes;
    if (most >= slabs->count)
        return slabs->count;
    return most - most % (ALIGNMENT / rs_size_gcd(ALIGNMENT, slabs->bytes));
}

static double passes_of(const rs_copy_slabs *slabs, size_t together, double copy)
{
    const double launches = 2 * (double)rs_size_divide_up(slabs->count, together);
    return copy + 1 + launches * LAUNCH_BYTES / ((double)slabs->count * (double)slabs->bytes);
}

/* Tables of the copies take some of what is granted: how much is known when they are made. */
static restride_status add(restride_plan *plan, const rs_copy_task *task,
                           const rs_copy_slabs *slabs, size_t granted, size_t *together)
{
    for (size_t most = slabs->count + 1; *together > 0 && *together < most;) {
        const rs_transpose_task stage = {.method = RS_TRANSPOSE_COPY_BACK,
                                         .outer = 1,
                                         .pitch = slabs->count * slabs->bytes,
                                         .count = 1,
                                         .rows = slabs->count,
                                         .cols = slabs->bytes,
                                         .unit = 1,
                                         .tile = *together,
                                         .copy = task};
        restride_status status = rs_plan_add_transposes(plan, &stage, 1, granted);
        const size_t taken = restride_plan_scratch_bytes(plan);
        if (status != RESTRIDE_OK || taken <= granted)
            return status;
        rs_plan_drop_stages(plan, 0);
        most = *together;
        const size_t tables = taken - most * slabs->bytes;
        *together = tables < granted ? arrays_in(slabs, granted - tables) : 0;
    }
    return rs_fail(RESTRIDE_UNSUPPORTED,
                   "Copies of this array through scratch memory do not keep within %zu bytes.",
                   granted);
}

static void explain(restride_plan *plan, const rs_copy_slabs *slabs, size_t together, double passes,
                    double before)
{
    int length = snprintf(plan->why, sizeof plan->why,
                          "The scratch memory granted holds %zu of %zu part%s of the array: copied "
                          "there in the new order, and back.",
                          together, slabs->count, slabs->count == 1 ? "" : "s");
    if (before > passes)
        snprintf(plan->why + length, sizeof plan->why - (size_t)length,
                 " %s passes saved by the scratch memory granted.",
                 rs_decimal(before - passes, 2).text);
    plan->method = method_name;
    plan->tile_rows = plan->tile_cols = 0;
    plan->passes = passes;
}

restride_status rs_copy_back_replace(restride_plan *plan, const rs_copy_task *task,
                                     const restride_plan_options *options, bool *dropped)
{
    *dropped = false;
    const bool is_named = rs_copy_back_is_named(plan->engine, options);
    if (!is_named && !is_rival(plan, options))
        return RESTRIDE_OK;
    const rs_engine_traits traits = plan->engine->operations->traits(plan->engine);
    const size_t granted = rs_choose_scratch_bound(plan->bytes, &traits, options);
    const rs_copy_slabs slabs = rs_copy_slabs_of(task);
    size_t together = arrays_in(&slabs, granted);
    const double before = is_named ? 0 : plan->passes;
    double passes = INFINITY;
    if (together > 0 && (is_named || before > passes_of(&slabs, together, 1)))
        passes = passes_of(&slabs, together, rs_copy_cost(task, traits.group_bytes));
    if (!is_named && passes >= before)
        return RESTRIDE_OK;
    rs_plan_drop_stages(plan, 0);
    restride_status status = add(plan, task, &slabs, granted, &together);
    *dropped = status != RESTRIDE_OK && !is_named;
    if (status == RESTRIDE_OK)
        explain(plan, &slabs, together, passes, before);
    return *dropped ? RESTRIDE_OK : status;
}

restride_status rs_copy_back_permute(restride_plan *plan, const rs_permutation *permutation,
                                     const restride_plan_options *options, bool *dropped)
{
    *dropped = false;
    if (permutation->rank > RS_COPY_MOST_AXES)
        return RESTRIDE_OK;
    rs_copy_part part = {.unit = permutation->unit, .axis_count = permutation->rank};
    rs_copy_group group = {.count = 1, .shared = permutation->rank};
    size_t bytes = permutation->unit;
    for (size_t axis = permutation->rank; axis-- > 0; bytes *= permutation->counts[axis])
        part.axes[axis] = (rs_copy_axis){.extent = permutation->counts[axis], .from = bytes};
    size_t to = permutation->unit;
    for (size_t k = permutation->rank; k-- > 0;) {
        rs_copy_axis *axis = &part.axes[permutation->order[k]];
        axis->to = to;
        to *= axis->extent;
    }
    const rs_copy_task task = {
        .group_count = 1, .groups = &group, .parts = &part, .from_bytes = bytes, .to_bytes = bytes};
    rs_copy_simplify(&part, &group);
    return rs_copy_back_replace(plan, &task, options, dropped);
}
