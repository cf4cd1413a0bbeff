/*
 * Tuning of transpositions: the planner's cheapest plans race on random data (race.h), and the
 * fastest becomes wisdom. The cost model prunes, as the thesis does by rules (section 4.8.4);
 * measuring corrects it.
 */
#include "transpose/tune.h"
#include "transpose/plan.h"
#include "transpose/transpose.h"

#include <stdio.h>

static const double default_seconds = 2;

typedef struct {
    restride_engine *engine;
    size_t bytes;
    rs_stage_choice choices[RS_RACE_MOST_PLANS];
} contest;

static restride_status make_plan(const void *context, size_t index, restride_plan **plan)
{
    const contest *c = context;
    const rs_stage_choice *choice = &c->choices[index];
    restride_status status = rs_plan_create(plan, c->engine, c->bytes, "", "");
    if (status != RESTRIDE_OK)
        return status;
    (*plan)->method = choice->method;
    return rs_plan_add_transposes(*plan, choice->tasks, choice->count, choice->scratch_limit);
}

static void name_choice(char *name, size_t size, const rs_stage_choice *choice)
{
    const rs_tiles t = choice->tiles;
    if (t.rows != 0 && t.cols != 0)
        snprintf(name, size, "%s, tiles of %zu x %zu", choice->method, t.rows, t.cols);
    else if (t.rows != 0 || t.cols != 0)
        snprintf(name, size, "%s, blocks of %zu", choice->method, t.rows + t.cols);
    else
        snprintf(name, size, "%s", choice->method);
}

static void report(const contest *c, const rs_race_result *result, bool kept,
                   restride_tuning *tuning)
{
    *tuning = (restride_tuning){.tried = result->tried, .runs = result->runs, .kept = kept};
    name_choice(tuning->planner.name, sizeof tuning->planner.name, &c->choices[0]);
    tuning->planner.seconds = result->seconds[0];
    name_choice(tuning->best.name, sizeof tuning->best.name, &c->choices[result->best]);
    tuning->best.seconds = result->seconds[result->best];
}

restride_status rs_tune_matrices(restride_engine *engine, const rs_matrices *matrices,
                                 const restride_tune_options *options, restride_tuning *tuning)
{
    const size_t bytes = matrices->rows * matrices->cols * matrices->unit * matrices->batch;
    const rs_engine_traits traits = rs_wisdom_traits(engine, bytes);
    contest c = {engine, bytes, {{0}}};
    size_t count = rs_choose_candidates(c.choices, RS_RACE_MOST_PLANS, matrices, &traits, NULL);
    if (count == 0)
        return rs_choose_transpose(&c.choices[0], matrices, &traits, NULL);
    const size_t counts[] = {matrices->batch, matrices->rows, matrices->cols};
    static const size_t order[] = {0, 2, 1};
    const rs_permutation does = {3, counts, order, matrices->unit};
    const rs_race_plans plans = {engine, c.bytes, count, make_plan, &c, &does};
    rs_race_result result;
    restride_status status = rs_race_run(&plans, options, &result);
    if (status != RESTRIDE_OK)
        return status;
    restride_status kept = rs_wisdom_learn(engine, matrices, &traits, &c.choices[result.best],
                                           result.seconds[result.best], result.seconds[0]);
    report(&c, &result, kept == RESTRIDE_OK, tuning);
    return RESTRIDE_OK;
}

restride_tune_options rs_tune_options(const restride_tune_options *given)
{
    restride_tune_options options = given == NULL ? (restride_tune_options){0} : *given;
    if (!(options.seconds > 0))
        options.seconds = default_seconds;
    return options;
}

restride_status rs_tune_check_bytes(size_t bytes)
{
    if (bytes >= RS_WISDOM_LEAST_BYTES)
        return RESTRIDE_OK;
    return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                   "Tuning is for arrays of at least %d bytes, and this one has %zu; for less, "
                   "reading the wisdom takes longer than is gained.",
                   RS_WISDOM_LEAST_BYTES, bytes);
}

restride_status restride_tune_transpose(restride_engine *engine, size_t rows, size_t cols,
                                        size_t elem_size, size_t batch,
                                        const restride_tune_options *options,
                                        restride_tuning *tuning)
{
    const rs_matrices matrices = {rows, cols, elem_size, batch, 0};
    size_t bytes;
    if (engine == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT, "restride_tune_transpose needs an engine.");
    restride_status status = rs_matrices_check(&matrices, &bytes);
    if (status == RESTRIDE_OK)
        status = rs_tune_check_bytes(bytes);
    if (status != RESTRIDE_OK)
        return status;
    const restride_tune_options how = rs_tune_options(options);
    restride_tuning ignored;
    return rs_tune_matrices(engine, &matrices, &how, tuning == NULL ? &ignored : tuning);
}
