/* Plans that transpose matrices. */
#include "restride/transpose.h"
#include "base/arithmetic.h"
#include "transpose/fit.h"
#include "transpose/wisdom.h"

#include <string.h>

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

/* The tables of all stages and the scratch memory of one may take more than the stages were chosen
 * for. Then they are chosen for less. */
static restride_status add_stages(restride_plan *plan, const rs_matrices *matrices,
                                  const restride_plan_options *options)
{
    enum { ROUNDS = 80 };
    const rs_engine_traits traits = plan->engine->operations->traits(plan->engine);
    const size_t bound = rs_fit_bound(plan->bytes, &traits, options);
    restride_plan_options less = options != NULL ? *options : (restride_plan_options){0};
    const restride_plan_options *asked = options;
    rs_stage_choice choice;
    for (int round = 0; round < ROUNDS; round++) {
        restride_status status = choose(&choice, plan->engine, matrices, &traits, asked);
        if (status == RESTRIDE_OK)
            status = rs_fit_add(plan, &choice, matrices, &traits, asked, NULL, NULL);
        if (status != RESTRIDE_OK && (round == 0 || status != RESTRIDE_UNSUPPORTED))
            return status;
        const size_t taken = restride_plan_scratch_bytes(plan);
        if (status == RESTRIDE_OK && taken <= bound) {
            describe_choice(plan, &choice);
            return RESTRIDE_OK;
        }
        rs_plan_drop_stages(plan, 0);
        if (status == RESTRIDE_OK)
            less.scratch_bytes = rs_fit_less(choice.limit, taken, bound, &traits);
        if (status != RESTRIDE_OK || less.scratch_bytes == 0) /* 0 would ask for the default */
            break;
        asked = &less;
    }
    return rs_fail(RESTRIDE_UNSUPPORTED,
                   "The stages of this transposition do not keep within %zu bytes of scratch "
                   "memory; grant more.",
                   bound);
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
    restride_plan *created;
    status = rs_plan_create(&created, engine, bytes, batch > 1 ? "b r c" : "r c",
                            batch > 1 ? "b c r" : "c r");
    if (status != RESTRIDE_OK)
        return status;
    status = add_stages(created, &matrices, options);
    if (status != RESTRIDE_OK) {
        restride_plan_destroy(created);
        return status;
    }
    *plan = created;
    return RESTRIDE_OK;
}
