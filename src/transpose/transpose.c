/* Plans that transpose matrices: from a choice (choose.h) to stages that the engine takes. */
#include "transpose/transpose.h"
#include "base/arithmetic.h"
#include "restride/transpose.h"
#include "transpose/copy_back.h"
#include "transpose/wisdom.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CHOICES = 16, LESS_PARTS = 32, DEVICE_LESS_PARTS = 4, SENTENCE_BYTES = 512 };

static restride_status add(restride_plan *plan, const rs_stage_choice *choice)
{
    const size_t count = plan->stage_count;
    restride_status status =
        rs_plan_add_transposes(plan, choice->tasks, choice->count, choice->scratch_limit);
    if (status != RESTRIDE_OK)
        rs_plan_drop_stages(plan, count);
    return status;
}

static bool is_same(const rs_stage_choice *a, const rs_stage_choice *b)
{
    return a->method == b->method && a->tiles.rows == b->tiles.rows &&
           a->tiles.cols == b->tiles.cols;
}

/* The first one that can be added; `status`, with its sentence, when there is none. */
static restride_status add_another(restride_plan *plan, rs_stage_choice *choice,
                                   rs_stage_choice *others, size_t count, rs_transpose_adapt *adapt,
                                   const void *context, restride_status status)
{
    char sentence[SENTENCE_BYTES];
    snprintf(sentence, sizeof sentence, "%s", restride_last_error());
    for (size_t i = 0; i < count; i++) {
        if (is_same(&others[i], choice))
            continue;
        if (adapt != NULL)
            adapt(&others[i], context);
        restride_status other = add(plan, &others[i]);
        if (other == RESTRIDE_OK)
            *choice = others[i];
        if (other == RESTRIDE_OK || other == RESTRIDE_OUT_OF_MEMORY)
            return other;
    }
    return rs_fail(status, "%s", sentence);
}

restride_status rs_transpose_add(restride_plan *plan, rs_stage_choice *choice,
                                 const rs_matrices *matrices, const rs_engine_traits *traits,
                                 const restride_plan_options *options, rs_transpose_adapt *adapt,
                                 const void *context)
{
    if (adapt != NULL)
        adapt(choice, context);
    restride_status status = add(plan, choice);
    if (status != RESTRIDE_DEVICE_LIMIT || (options != NULL && options->method != NULL))
        return status;
    rs_stage_choice *others = malloc(MOST_CHOICES * sizeof *others);
    if (others == NULL)
        return rs_fail_memory("a plan");
    const size_t count = rs_choose_candidates(others, MOST_CHOICES, matrices, traits, options);
    status = add_another(plan, choice, others, count, adapt, context, status);
    free(others);
    return status;
}

/* To make the stages of a device takes longer than to choose them. */
size_t rs_transpose_lower(size_t limit, size_t taken, size_t bound, const rs_engine_traits *traits)
{
    const size_t step = limit / LESS_PARTS + 1, leap = limit / DEVICE_LESS_PARTS;
    const size_t over = taken > bound ? taken - bound : 0;
    if (traits->scratch_parts == 0 || over < step)
        return limit - step;
    return limit - rs_size_smaller(over, leap > step ? leap : step);
}

/* ---- a transposition ---- */

/* What wisdom knows, or what is estimated to be cheapest. */
static restride_status choose(rs_stage_choice *choice, restride_engine *engine,
                              const rs_matrices *matrices, const rs_engine_traits *traits,
                              const restride_plan_options *options)
{
    restride_status status = RESTRIDE_OK;
    *choice = (rs_stage_choice){0};
    if (options == NULL ||
        (options->scratch_bytes == 0 && options->run_bytes == 0 && options->method == NULL))
        status = rs_wisdom_choose(choice, engine, matrices, traits);
    if (status == RESTRIDE_OK && choice->method == NULL)
        status = rs_choose_transpose(choice, matrices, traits, options);
    return status;
}

static void describe_choice(restride_plan *plan, const rs_stage_choice *choice)
{
    plan->method = choice->method;
    plan->tile_rows = choice->tiles.rows;
    plan->tile_cols = choice->tiles.cols;
    plan->passes = choice->cost;
    memcpy(plan->why, choice->why, sizeof plan->why);
}

static restride_status create_plan(restride_plan **plan, restride_engine *engine,
                                   const rs_matrices *matrices, size_t bytes)
{
    return rs_plan_create(plan, engine, bytes, matrices->batch > 1 ? "b r c" : "r c",
                          matrices->batch > 1 ? "b c r" : "c r");
}

/* The tables of all stages and the scratch memory of one may take more than the stages were chosen
 * for. Then they are chosen for less. */
static restride_status make_stages(restride_plan **plan, restride_engine *engine,
                                   const rs_matrices *matrices, size_t bytes,
                                   const restride_plan_options *options)
{
    enum { ROUNDS = 80 };
    const rs_engine_traits traits = rs_wisdom_traits(engine, bytes);
    size_t bound = 0;
    restride_plan_options less = options != NULL ? *options : (restride_plan_options){0};
    const restride_plan_options *asked = options;
    rs_stage_choice choice;
    for (int round = 0; round < ROUNDS; round++) {
        restride_status status = choose(&choice, engine, matrices, &traits, asked);
        bound = round == 0 ? choice.bound : bound;
        if (status == RESTRIDE_OK && *plan == NULL)
            status = create_plan(plan, engine, matrices, bytes);
        if (status == RESTRIDE_OK)
            status = rs_transpose_add(*plan, &choice, matrices, &traits, asked, NULL, NULL);
        if (status != RESTRIDE_OK && (round == 0 || status != RESTRIDE_UNSUPPORTED))
            return status;
        const size_t taken = restride_plan_scratch_bytes(*plan);
        if (status == RESTRIDE_OK && taken <= bound) {
            describe_choice(*plan, &choice);
            rs_plan_expect(*plan, &traits, choice.scratch_limit);
            return RESTRIDE_OK;
        }
        rs_plan_drop_stages(*plan, 0);
        if (status == RESTRIDE_OK)
            less.scratch_bytes = rs_transpose_lower(choice.limit, taken, bound, &traits);
        if (status != RESTRIDE_OK || less.scratch_bytes == 0) /* 0 would ask for the default */
            break;
        asked = &less;
    }
    return rs_fail(RESTRIDE_UNSUPPORTED,
                   "The stages of this transposition do not keep within %zu bytes of scratch "
                   "memory; grant more.",
                   bound);
}

/* A method of its own on devices, and a rival of all others where scratch memory is granted. */
static restride_status make_plan(restride_plan **plan, restride_engine *engine,
                                 const rs_matrices *matrices, size_t bytes,
                                 const restride_plan_options *options)
{
    const size_t counts[] = {matrices->batch, matrices->rows, matrices->cols};
    static const size_t order[] = {0, 2, 1};
    const rs_permutation permutation = {3, counts, order, matrices->unit};
    bool dropped = false;
    restride_status status = rs_copy_back_is_named(engine, options)
                                 ? create_plan(plan, engine, matrices, bytes)
                                 : make_stages(plan, engine, matrices, bytes, options);
    if (status == RESTRIDE_OK)
        status = rs_copy_back_permute(*plan, &permutation, options, &dropped);
    return dropped ? make_stages(plan, engine, matrices, bytes, options) : status;
}

restride_status rs_matrices_check(const rs_matrices *m, size_t *bytes)
{
    if (m->rows == 0 || m->cols == 0 || m->unit == 0 || m->batch == 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "%zu x %zu elements of %zu bytes (batch: %zu) hold nothing; every number "
                       "must be at least 1.",
                       m->rows, m->cols, m->unit, m->batch);
    if (!rs_size_multiply(m->rows, m->cols, bytes) || !rs_size_multiply(*bytes, m->unit, bytes) ||
        !rs_size_multiply(*bytes, m->batch, bytes))
        return rs_fail(RESTRIDE_OVERFLOW,
                       "%zu x %zu elements of %zu bytes (batch: %zu) are more bytes than a size "
                       "can hold.",
                       m->rows, m->cols, m->unit, m->batch);
    return RESTRIDE_OK;
}

restride_status restride_plan_transpose(restride_plan **plan, restride_engine *engine, size_t rows,
                                        size_t cols, size_t elem_size, size_t batch)
{
    return restride_plan_transpose_with(plan, engine, rows, cols, elem_size, batch, NULL);
}

restride_status restride_plan_transpose_with(restride_plan **plan, restride_engine *engine,
                                             size_t rows, size_t cols, size_t elem_size,
                                             size_t batch, const restride_plan_options *options)
{
    if (plan != NULL)
        *plan = NULL;
    if (plan == NULL || engine == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "restride_plan_transpose needs an engine and a place for the plan.");
    const rs_matrices matrices = {rows, cols, elem_size, batch, 0};
    size_t bytes;
    restride_status status = rs_matrices_check(&matrices, &bytes);
    if (status != RESTRIDE_OK)
        return status;
    if (engine->operations->create_transpose == NULL)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "The %s engine has no stages that transpose matrices; use the host engine.",
                       engine->operations->name);
    restride_plan *created = NULL;
    status = make_plan(&created, engine, &matrices, bytes, options);
    if (status != RESTRIDE_OK) {
        restride_plan_destroy(created);
        return status;
    }
    *plan = created;
    return RESTRIDE_OK;
}
