/* Lists of steps and the stages for them; see sequence.h. */
#include "transpose/sequence.h"
#include "base/text.h"
#include "transpose/cost.h"
#include "transpose/transpose.h"
#include "transpose/wisdom.h"

#include <stdio.h>
#include <string.h>

static rs_step *add(rs_sequence *steps, const rs_strided_part *context)
{
    rs_step *step = rs_arena_take(steps->arena, 1, sizeof *step);
    if (step == NULL)
        return NULL;
    step->context = *context;
    step->previous = steps->last;
    if (steps->last != NULL)
        steps->last->next = step;
    else
        steps->first = step;
    steps->last = step;
    steps->count++;
    return step;
}

void rs_sequence_transpose(rs_sequence *steps, const rs_strided_part *context, size_t batch,
                           size_t rows, size_t cols, size_t unit)
{
    if (rows == 1 || cols == 1)
        return;
    rs_step *step = add(steps, context);
    if (step != NULL)
        step->matrices = (rs_matrices){.rows = rows, .cols = cols, .unit = unit, .batch = batch};
}

void rs_sequence_task(rs_sequence *steps, const rs_strided_part *context,
                      const rs_transpose_task *task)
{
    rs_piece *pieces = rs_arena_take(steps->arena, task->piece_count, sizeof *pieces);
    rs_step *step = pieces != NULL || task->piece_count == 0 ? add(steps, context) : NULL;
    if (step == NULL)
        return;
    step->chosen = true;
    step->task = *task;
    if (task->piece_count != 0)
        memcpy(pieces, task->pieces, task->piece_count * sizeof *pieces);
    step->task.pieces = pieces;
}

rs_sequence rs_sequence_begin(const rs_sequence *like)
{
    rs_sequence steps = *like;
    steps.first = NULL;
    steps.last = NULL;
    steps.count = 0;
    return steps;
}

static void add_copy(rs_sequence *steps, const rs_step *step)
{
    if (step->chosen)
        rs_sequence_task(steps, &step->context, &step->task);
    else
        rs_sequence_transpose(steps, &step->context, step->matrices.batch, step->matrices.rows,
                              step->matrices.cols, step->matrices.unit);
}

void rs_sequence_append(rs_sequence *steps, const rs_sequence *added)
{
    for (const rs_step *step = added->first; step != NULL; step = step->next)
        add_copy(steps, step);
}

static const rs_transpose_method undoes[RS_TRANSPOSE_METHOD_COUNT] = {
    [RS_TRANSPOSE_JOIN] = RS_TRANSPOSE_SPLIT,      [RS_TRANSPOSE_SPLIT] = RS_TRANSPOSE_JOIN,
    [RS_TRANSPOSE_UNZIP] = RS_TRANSPOSE_ZIP,       [RS_TRANSPOSE_ZIP] = RS_TRANSPOSE_UNZIP,
    [RS_TRANSPOSE_REORDER] = RS_TRANSPOSE_REORDER, [RS_TRANSPOSE_ON_CHIP] = RS_TRANSPOSE_ON_CHIP,
};

static void add_undone(rs_sequence *steps, const rs_step *step)
{
    if (!step->chosen) {
        rs_sequence_transpose(steps, &step->context, step->matrices.batch, step->matrices.cols,
                              step->matrices.rows, step->matrices.unit);
        return;
    }
    rs_transpose_task task = step->task;
    task.method = undoes[task.method];
    rs_piece *pieces = rs_arena_take(steps->arena, task.piece_count, sizeof *pieces);
    if (pieces == NULL && task.piece_count != 0)
        return;
    if (task.method == RS_TRANSPOSE_REORDER || task.method == RS_TRANSPOSE_ON_CHIP) {
        for (size_t i = 0; i < task.piece_count; i++) {
            pieces[task.pieces[i].place] = task.pieces[i];
            pieces[task.pieces[i].place].place = i;
        }
        task.pieces = pieces;
    }
    rs_sequence_task(steps, &step->context, &task);
}

void rs_sequence_append_undone(rs_sequence *steps, const rs_sequence *added)
{
    for (const rs_step *step = added->last; step != NULL; step = step->previous)
        add_undone(steps, step);
}

/* For the planner, which must know how many there are. */
rs_matrices rs_sequence_matrices(const rs_step *step)
{
    rs_matrices m = step->matrices;
    m.batch *= step->context.outer;
    m.offset = step->context.offset;
    return m;
}

static restride_plan_options limits_of(const rs_sequence *steps)
{
    return (restride_plan_options){.scratch_bytes = steps->scratch_limit,
                                   .run_bytes = steps->run_bytes};
}

static restride_status estimate(const rs_sequence *steps, const rs_matrices *matrices,
                                rs_stage_choice *choice)
{
    const restride_plan_options options = limits_of(steps);
    return rs_choose_transpose(choice, matrices, &steps->traits, &options);
}

double rs_sequence_price(const rs_sequence *steps, const rs_matrices *matrices, double highest)
{
    const restride_plan_options options = limits_of(steps);
    return rs_choose_price(matrices, &steps->traits, &options, highest);
}

double rs_sequence_bound(const rs_sequence *steps, const rs_matrices *matrices, bool *exact)
{
    const restride_plan_options options = limits_of(steps);
    return rs_choose_bound(matrices, &steps->traits, &options, exact);
}

static size_t step_bytes(const rs_step *step)
{
    const rs_matrices *m = &step->matrices;
    const rs_transpose_task *t = &step->task;
    return step->chosen ? step->context.outer * t->count * t->rows * (t->cols + t->tail) * t->unit
                        : step->context.outer * m->batch * m->rows * m->cols * m->unit;
}

/* What a chosen step has for its run: its tables come first. */
static size_t limit_of(const rs_sequence *steps, const rs_step *step)
{
    size_t kept = rs_cost_kept(&step->task, &steps->traits);
    return steps->scratch_limit > kept ? steps->scratch_limit - kept : 0;
}

/* Of a chosen step, in passes over its matrices. */
static double chosen_price(const rs_sequence *steps, const rs_step *step)
{
    rs_transpose_task task = step->task;
    task.outer = step->context.outer;
    task.pitch = step->context.pitch;
    task.offset = step->context.offset;
    return rs_cost_of_transpose(&task, &steps->traits, limit_of(steps, step));
}

double rs_sequence_task_price(const rs_sequence *steps, const rs_strided_part *context,
                              const rs_transpose_task *task)
{
    const rs_step step = {.context = *context, .chosen = true, .task = *task};
    return chosen_price(steps, &step);
}

double rs_sequence_cost(const rs_sequence *steps)
{
    double cost = 0;
    for (const rs_step *step = steps->first; step != NULL; step = step->next) {
        const rs_matrices all = rs_sequence_matrices(step);
        double price = step->chosen ? chosen_price(steps, step)
                                    : rs_sequence_price(steps, &all, RS_COST_IMPOSSIBLE);
        if (price >= RS_COST_IMPOSSIBLE)
            return RS_COST_IMPOSSIBLE;
        cost += price * (double)step_bytes(step);
    }
    return cost;
}

/* Spreads a task for matrices that lie one after the other over the parts of a context. */
static void spread(rs_transpose_task *task, const rs_strided_part *context, size_t dense_bytes)
{
    if (context->outer == 1 || context->pitch == dense_bytes)
        return;
    size_t inner = task->outer / context->outer;
    if (inner >= context->outer) {
        task->outer = inner;
        task->repeats = context->outer;
        task->repeat_pitch = context->pitch;
    } else {
        task->repeats = inner;
        task->repeat_pitch = task->pitch;
        task->outer = context->outer;
        task->pitch = context->pitch;
    }
}

/* What wisdom knows, or what is estimated to be cheapest. */
static restride_status choose_stages(const rs_sequence *steps, const rs_matrices *matrices,
                                     rs_stage_choice *choice)
{
    rs_guidance *guidance = steps->guidance;
    if (guidance == NULL)
        return estimate(steps, matrices, choice);
    restride_status status = rs_wisdom_choose(choice, guidance->engine, matrices, &steps->traits);
    if (status != RESTRIDE_OK)
        return status;
    if (choice->method == NULL)
        return estimate(steps, matrices, choice);
    guidance->stages_followed++;
    return RESTRIDE_OK;
}

static restride_status add_chosen(const rs_sequence *steps, const rs_step *step,
                                  restride_plan *plan, double *cost)
{
    rs_transpose_task task = step->task;
    task.offset = step->context.offset;
    task.outer = step->context.outer;
    task.pitch = step->context.pitch;
    *cost = chosen_price(steps, step);
    return rs_plan_add_transposes(plan, &task, 1, limit_of(steps, step));
}

static void spread_all(rs_stage_choice *choice, const void *context)
{
    const rs_step *step = context;
    const size_t dense = step_bytes(step) / step->context.outer;
    for (size_t i = 0; i < choice->count; i++)
        spread(&choice->tasks[i], &step->context, dense);
}

static restride_status add_transposition(const rs_sequence *steps, const rs_step *step,
                                         restride_plan *plan, double *cost)
{
    rs_stage_choice choice = {0};
    const rs_matrices all = rs_sequence_matrices(step);
    const restride_plan_options options = limits_of(steps);
    restride_status status = choose_stages(steps, &all, &choice);
    if (status == RESTRIDE_OK)
        status = rs_transpose_add(plan, &choice, &all, &steps->traits, &options, spread_all, step);
    *cost = choice.cost;
    return status;
}

/* Chooses the stages of one step and adds them to the plan, and their cost to the plan's. */
static restride_status choose_step(const rs_sequence *steps, const rs_step *step,
                                   restride_plan *plan)
{
    double cost = 0;
    restride_status status = step->chosen ? add_chosen(steps, step, plan, &cost)
                                          : add_transposition(steps, step, plan, &cost);
    if (status == RESTRIDE_OK)
        plan->passes += cost * (double)step_bytes(step) / (double)plan->bytes;
    return status;
}

static void explain(const rs_sequence *steps, restride_plan *plan)
{
    const rs_guidance *guidance = steps->guidance;
    plan->method = "factored";
    if (steps->count == 0)
        snprintf(plan->why, sizeof plan->why, "Both orders are the same bytes.");
    else if (guidance != NULL && guidance->orders_followed + guidance->stages_followed > 0)
        snprintf(plan->why, sizeof plan->why,
                 "%zu step%s, %zu stages. Wisdom of measurements says which stages make %zu of the "
                 "steps%s; estimated cost: %s copies of the array.",
                 steps->count, steps->count == 1 ? "" : "s", plan->stage_count,
                 guidance->stages_followed,
                 guidance->orders_followed > 0 ? ", and which steps to take" : "",
                 rs_decimal(plan->passes, 1).text);
    else
        snprintf(plan->why, sizeof plan->why,
                 "%zu step%s, %zu stages: of the sequences of transpositions compared this costs "
                 "least, as much as %s copies of the array.",
                 steps->count, steps->count == 1 ? "" : "s", plan->stage_count,
                 rs_decimal(plan->passes, 1).text);
}

static restride_status plan_within(restride_plan *plan, rs_sequence *steps, rs_sequence_fill *fill,
                                   const void *conversion)
{
    plan->passes = 0;
    restride_status status = fill(steps, conversion);
    if (status == RESTRIDE_OK && steps->arena->failed)
        status = rs_fail_memory("a plan");
    for (const rs_step *step = steps->first; status == RESTRIDE_OK && step != NULL;
         step = step->next)
        status = choose_step(steps, step, plan);
    if (status == RESTRIDE_OK) {
        rs_plan_expect(plan, &steps->traits, steps->scratch_limit);
        explain(steps, plan);
    }
    return status;
}

rs_sequence rs_sequence_of(const restride_engine *engine, size_t bytes,
                           const restride_plan_options *options)
{
    rs_sequence steps = {.traits = rs_wisdom_traits(engine, bytes)};
    steps.bound = rs_choose_scratch_bound(bytes, &steps.traits, options);
    steps.budget = rs_choose_scratch_limit(bytes, &steps.traits);
    if (options != NULL && options->scratch_bytes != 0)
        steps.budget = options->scratch_bytes;
    if (options != NULL)
        steps.run_bytes = options->run_bytes;
    steps.scratch_limit = steps.budget;
    return steps;
}

/* One attempt: *done tells whether the plan has stages that keep within the bound, and *taken what
 * they take. */
static restride_status attempt(restride_plan *plan, const rs_sequence *surroundings,
                               rs_sequence_fill *fill, const void *conversion, bool *done,
                               size_t *taken)
{
    rs_arena arena = {0};
    rs_sequence steps = *surroundings;
    steps.arena = &arena;
    restride_status status = plan_within(plan, &steps, fill, conversion);
    rs_arena_free(&arena);
    *taken = restride_plan_scratch_bytes(plan);
    *done = status == RESTRIDE_OK && *taken <= steps.bound;
    if (!*done)
        rs_plan_drop_stages(plan, 0);
    return status;
}

/*
 * Each step alone keeps within the budget; together the tables of all and the scratch memory of one
 * may not. Then all get less, until they do.
 */
static void give_less(rs_sequence *surroundings, size_t taken)
{
    surroundings->scratch_limit = rs_transpose_lower(surroundings->scratch_limit, taken,
                                                     surroundings->bound, &surroundings->traits);
}

static restride_status plan_by_estimates(restride_plan *plan, rs_sequence *surroundings,
                                         rs_sequence_fill *fill, const void *conversion)
{
    enum { ROUNDS = 80 };
    for (int round = 0; round < ROUNDS && surroundings->scratch_limit > 0; round++) {
        bool done;
        size_t taken;
        restride_status status = attempt(plan, surroundings, fill, conversion, &done, &taken);
        if (done || (status != RESTRIDE_OK && (round == 0 || status != RESTRIDE_UNSUPPORTED)))
            return status;
        give_less(surroundings, taken); /* another order of the steps may keep within less */
    }
    return rs_fail(RESTRIDE_UNSUPPORTED,
                   "The stages of this conversion do not keep within %zu bytes of scratch memory; "
                   "grant more.",
                   surroundings->bound);
}

restride_status rs_sequence_plan_estimated(restride_plan *plan, rs_sequence_fill *fill,
                                           const void *conversion)
{
    rs_sequence surroundings = rs_sequence_of(plan->engine, plan->bytes, NULL);
    return plan_by_estimates(plan, &surroundings, fill, conversion);
}

restride_status rs_sequence_plan(restride_plan *plan, const restride_plan_options *options,
                                 rs_sequence_fill *fill, const void *conversion)
{
    rs_sequence surroundings = rs_sequence_of(plan->engine, plan->bytes, options);
    bool bound = options != NULL && (options->scratch_bytes != 0 || options->run_bytes != 0);
    if (bound || plan->bytes < RS_WISDOM_LEAST_BYTES)
        return plan_by_estimates(plan, &surroundings, fill, conversion);
    rs_guidance guidance = {.engine = plan->engine};
    rs_sequence guided = surroundings;
    guided.guidance = &guidance;
    bool done;
    size_t taken;
    restride_status status = attempt(plan, &guided, fill, conversion, &done, &taken);
    if (done || status == RESTRIDE_OUT_OF_MEMORY)
        return status;
    /* What wisdom says may have been measured elsewhere, or be wrong; then estimates decide. */
    if (guidance.orders_followed + guidance.stages_followed == 0) {
        if (status != RESTRIDE_OK)
            return status;
        give_less(&surroundings, taken);
    }
    return plan_by_estimates(plan, &surroundings, fill, conversion);
}
