/* Lists of steps and the stages for them; see sequence.h. */
#include "transpose/sequence.h"
#include "transpose/cost.h"

#include <stdio.h>
#include <string.h>

static rs_step *add(rs_sequence *steps, const rs_context *context)
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

void rs_sequence_transpose(rs_sequence *steps, const rs_context *context, size_t batch, size_t rows,
                           size_t cols, size_t unit)
{
    if (rows == 1 || cols == 1)
        return;
    rs_step *step = add(steps, context);
    if (step != NULL)
        step->matrices = (rs_matrices){.rows = rows, .cols = cols, .unit = unit, .batch = batch};
}

void rs_sequence_task(rs_sequence *steps, const rs_context *context, const rs_transpose_task *task)
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
    [RS_TRANSPOSE_REORDER] = RS_TRANSPOSE_REORDER,
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
    if (task.method == RS_TRANSPOSE_REORDER) {
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

/* The matrices of all parts of a context, for the planner: it must know how many there are. */
static rs_matrices all_matrices(const rs_step *step)
{
    rs_matrices m = step->matrices;
    m.batch *= step->context.outer;
    m.offset = step->context.offset;
    return m;
}

static restride_status choose(const rs_sequence *steps, const rs_matrices *matrices,
                              rs_choice *choice)
{
    const restride_plan_options options = {.scratch_bytes = steps->scratch_limit,
                                           .run_bytes = steps->run_bytes};
    return rs_choose_transpose(choice, matrices, &steps->traits, &options);
}

double rs_sequence_price(const rs_sequence *steps, const rs_matrices *matrices)
{
    rs_choice choice;
    if (choose(steps, matrices, &choice) != RESTRIDE_OK)
        return RS_COST_IMPOSSIBLE;
    return choice.cost;
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

double rs_sequence_cost(const rs_sequence *steps)
{
    double cost = 0;
    for (const rs_step *step = steps->first; step != NULL; step = step->next) {
        double price;
        if (step->chosen) {
            rs_transpose_task task = step->task;
            task.outer = step->context.outer;
            price = rs_cost_of_transpose(&task, &steps->traits, limit_of(steps, step));
        } else {
            const rs_matrices all = all_matrices(step);
            price = rs_sequence_price(steps, &all);
        }
        if (price >= RS_COST_IMPOSSIBLE)
            return RS_COST_IMPOSSIBLE;
        cost += price * (double)step_bytes(step);
    }
    return cost;
}

/* Spreads a task for matrices that lie one after the other over the parts of a context. */
static void spread(rs_transpose_task *task, const rs_context *context, size_t dense_bytes)
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

/* Chooses the stages of one step and adds them to the plan. */
static restride_status choose_step(const rs_sequence *steps, const rs_step *step,
                                   restride_plan *plan)
{
    rs_choice choice = {.count = 1};
    restride_status status = RESTRIDE_OK;
    if (step->chosen) {
        choice.tasks[0] = step->task;
        choice.tasks[0].offset = step->context.offset;
        choice.tasks[0].outer = step->context.outer;
        choice.tasks[0].pitch = step->context.pitch;
        choice.scratch_limit = limit_of(steps, step);
    } else {
        const rs_matrices all = all_matrices(step);
        status = choose(steps, &all, &choice);
        size_t dense = step_bytes(step) / step->context.outer;
        for (size_t i = 0; status == RESTRIDE_OK && i < choice.count; i++)
            spread(&choice.tasks[i], &step->context, dense);
    }
    if (status == RESTRIDE_OK)
        status = rs_plan_add_transposes(plan, choice.tasks, choice.count, choice.scratch_limit);
    return status;
}

static void explain(const rs_sequence *steps, restride_plan *plan)
{
    plan->method = "factored";
    if (steps->count == 0) {
        snprintf(plan->why, sizeof plan->why, "Both orders are the same bytes.");
        return;
    }
    double passes = rs_sequence_cost(steps) / (double)plan->bytes;
    snprintf(plan->why, sizeof plan->why,
             "%zu step%s, %zu stages: of the sequences of transpositions compared this costs "
             "least, as much as %.1f copies of the array.",
             steps->count, steps->count == 1 ? "" : "s", plan->stage_count, passes);
}

static restride_status plan_within(restride_plan *plan, rs_sequence *steps, rs_sequence_fill *fill,
                                   const void *conversion)
{
    restride_status status = fill(steps, conversion);
    if (status == RESTRIDE_OK && steps->arena->failed)
        status = rs_fail_memory("a plan");
    for (const rs_step *step = steps->first; status == RESTRIDE_OK && step != NULL;
         step = step->next)
        status = choose_step(steps, step, plan);
    if (status == RESTRIDE_OK)
        explain(steps, plan);
    return status;
}

/* Devices keep their tables within what each stage may take. */
static bool fits(const restride_plan *plan, const rs_sequence *steps)
{
    bool device = steps->traits.chip_only || steps->traits.cost != NULL;
    return device || restride_plan_scratch_bytes(plan) <= steps->budget;
}

/*
 * Each step alone keeps within the budget; together the tables of all and the scratch memory of one
 * may not. Then all get less, until they do.
 */
restride_status rs_sequence_plan(restride_plan *plan, const restride_plan_options *options,
                                 rs_sequence_fill *fill, const void *conversion)
{
    enum { ROUNDS = 80, PARTS = 32 };
    const rs_engine_traits traits = plan->engine->operations->traits(plan->engine);
    rs_sequence surroundings = {.traits = traits};
    surroundings.budget = rs_choose_scratch_limit(plan->bytes, &traits);
    if (options != NULL && options->scratch_bytes != 0)
        surroundings.budget = options->scratch_bytes;
    if (options != NULL)
        surroundings.run_bytes = options->run_bytes;
    surroundings.scratch_limit = surroundings.budget;
    for (int round = 0; round < ROUNDS && surroundings.scratch_limit > 0; round++) {
        rs_arena arena = {0};
        rs_sequence steps = surroundings;
        steps.arena = &arena;
        restride_status status = plan_within(plan, &steps, fill, conversion);
        rs_arena_free(&arena);
        if (status != RESTRIDE_OK || fits(plan, &steps))
            return status;
        rs_plan_drop_stages(plan);
        surroundings.scratch_limit -= surroundings.scratch_limit / PARTS + 1;
    }
    return rs_fail(RESTRIDE_UNSUPPORTED,
                   "The stages of this conversion do not keep within %zu bytes of scratch memory; "
                   "grant more, or use an engine with more threads.",
                   surroundings.budget);
}
