/*
 * Tuning of permutations and conversions. Both are made of transpositions, so what is measured is
 *
 *   - each transposition of the plan, and of the other paths that a permutation of three and more
 *     groups of axes could take (tune.c): records that plans of plain matrices follow as well;
 *   - those paths as a whole, each transposition as it was tuned: a record of the permutation;
 *   - in the end, the plan as it was estimated beside the plan as it is from now on.
 */
#include "engine/stage.h"
#include "transpose/cost.h"
#include "transpose/paths.h"
#include "transpose/plan.h"
#include "transpose/tune.h"

#include <stdio.h>

enum { MOST_PATHS = 6, MOST_EDGES = 32 };

/* What the transpositions, the paths and the comparison get of the time. */
static const double edges_share = 0.5;
static const double paths_share = 0.25;
static const double last_share = 0.25;

typedef struct {
    restride_engine *engine;
    size_t bytes;
    rs_sequence_fill *fill;
    const void *conversion;
    const restride_tune_options *options;
    restride_tuning *tuning;
    double told; /* the part that is done */
} job;

/* ---- progress ---- */

typedef struct {
    const job *job;
    double begin;
    double share;
} part_of_job;

static void tell_part(void *context, double part)
{
    const part_of_job *p = context;
    p->job->options->progress(p->job->options->context, p->begin + p->share * part);
}

/* Options for a measurement that takes a share of the job's time. */
static restride_tune_options share_of(job *j, part_of_job *part, double share)
{
    *part = (part_of_job){j, j->told, share};
    j->told += share;
    return (restride_tune_options){.seconds = share * j->options->seconds,
                                   .progress = j->options->progress == NULL ? NULL : tell_part,
                                   .context = part};
}

static void add_up(job *j, size_t tried, size_t runs, bool kept)
{
    j->tuning->tried += tried;
    j->tuning->runs += runs;
    j->tuning->kept = j->tuning->kept && kept;
}

/* ---- what there is to measure ---- */

typedef struct {
    size_t count;
    rs_matrices matrices[MOST_EDGES];
} edge_list;

static bool same_problem(const rs_matrices *a, const rs_matrices *b)
{
    return a->rows == b->rows && a->cols == b->cols && a->unit == b->unit && a->batch == b->batch;
}

static void add_edges(edge_list *edges, const rs_sequence *steps)
{
    for (const rs_step *step = steps->first; step != NULL; step = step->next) {
        if (step->chosen || edges->count == MOST_EDGES)
            continue;
        rs_matrices m = rs_sequence_matrices(step);
        m.offset = 0; /* they are measured by themselves */
        bool is_new = m.rows * m.cols * m.unit * m.batch >= RS_WISDOM_LEAST_BYTES;
        for (size_t i = 0; is_new && i < edges->count; i++)
            is_new = !same_problem(&edges->matrices[i], &m);
        if (is_new)
            edges->matrices[edges->count++] = m;
    }
}

static rs_strided_part context_of(const rs_permuted *p)
{
    size_t bytes = rs_axis_order_bytes(&p->arrangement, 1);
    return (rs_strided_part){0, p->outer, bytes};
}

/* Those of the plan, and behind them those of other paths. */
static restride_status find_edges(const rs_sequence *steps, edge_list *edges, size_t *permuted)
{
    add_edges(edges, steps);
    for (const rs_permuted *p = steps->guidance->permuted; p != NULL; p = p->next) {
        if (rs_axis_order_bytes(&p->arrangement, p->outer) < RS_WISDOM_LEAST_BYTES)
            continue;
        const rs_strided_part context = context_of(p);
        rs_path paths[MOST_PATHS];
        size_t count;
        restride_status status = rs_paths_find(paths, MOST_PATHS, &count, steps, &context,
                                               &p->arrangement, RS_COST_IMPOSSIBLE);
        if (status != RESTRIDE_OK)
            return status;
        rs_sequence all = rs_sequence_begin(steps);
        for (size_t i = 0; i < count; i++)
            rs_factor_add_path(&all, &context, &p->arrangement, &paths[i]);
        add_edges(edges, &all);
        ++*permuted;
    }
    return RESTRIDE_OK;
}

/* ---- transpositions ---- */

static restride_status tune_edges(job *j, const edge_list *edges)
{
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; status == RESTRIDE_OK && i < edges->count; i++) {
        part_of_job part;
        const restride_tune_options options =
            share_of(j, &part, edges_share / (double)edges->count);
        restride_tuning tuning;
        status = rs_tune_matrices(j->engine, &edges->matrices[i], &options, &tuning);
        if (status == RESTRIDE_OK)
            add_up(j, tuning.tried, tuning.runs, tuning.kept);
    }
    return status;
}

/* ---- paths ---- */

typedef struct {
    restride_engine *engine;
    const rs_permuted *permuted;
    rs_strided_part context;
    const rs_path *paths;
} path_candidates;

typedef struct {
    const path_candidates *candidates;
    const rs_path *path;
} candidate_path;

static restride_status fill_path(rs_sequence *steps, const void *conversion)
{
    const candidate_path *p = conversion;
    rs_factor_add_path(steps, &p->candidates->context, &p->candidates->permuted->arrangement,
                       p->path);
    return RESTRIDE_OK;
}

static restride_status make_path(const void *context, size_t index, restride_plan **plan)
{
    const path_candidates *c = context;
    const candidate_path path = {c, &c->paths[index]};
    size_t bytes = c->context.outer * c->context.pitch;
    restride_status status = rs_plan_create(plan, c->engine, bytes, "", "");
    return status == RESTRIDE_OK ? rs_sequence_plan(*plan, NULL, fill_path, &path) : status;
}

/* The axes of all arrangements in the order of memory, and the order to reach. */
static rs_permutation permutation_of(const rs_permuted *p, size_t *counts, size_t *order)
{
    const rs_axis_order *a = &p->arrangement;
    counts[0] = p->outer;
    order[0] = 0;
    for (size_t i = 0; i < a->count; i++) {
        counts[i + 1] = a->sizes[a->names[i]];
        order[a->names[i] + 1] = i + 1;
    }
    return (rs_permutation){a->count + 1, counts, order, a->unit};
}

static restride_status tune_path(job *j, const rs_sequence *steps, const rs_permuted *p,
                                 double share)
{
    rs_path paths[MOST_PATHS];
    const path_candidates candidates = {j->engine, p, context_of(p), paths};
    size_t count;
    restride_status status = rs_paths_find(paths, MOST_PATHS, &count, steps, &candidates.context,
                                           &p->arrangement, RS_COST_IMPOSSIBLE);
    if (status != RESTRIDE_OK || count == 0)
        return status;
    size_t counts[RS_FACTOR_MOST_EXACT + 1];
    size_t order[RS_FACTOR_MOST_EXACT + 1];
    const rs_permutation does = permutation_of(p, counts, order);
    const rs_race_plans plans = {j->engine,   rs_axis_order_bytes(&p->arrangement, p->outer),
                                 count,       make_path,
                                 &candidates, &does};
    part_of_job part;
    const restride_tune_options options = share_of(j, &part, share);
    rs_race_result result;
    status = rs_race_run(&plans, &options, &result);
    if (status != RESTRIDE_OK)
        return status;
    restride_status kept =
        rs_wisdom_learn_path(j->engine, &p->arrangement, p->outer, &steps->traits,
                             &paths[result.best], result.seconds[result.best], result.seconds[0]);
    add_up(j, result.tried, result.runs, kept == RESTRIDE_OK);
    return RESTRIDE_OK;
}

static restride_status tune_paths(job *j, const rs_sequence *steps, size_t count)
{
    restride_status status = RESTRIDE_OK;
    for (const rs_permuted *p = steps->guidance->permuted; status == RESTRIDE_OK && p != NULL;
         p = p->next)
        if (rs_axis_order_bytes(&p->arrangement, p->outer) >= RS_WISDOM_LEAST_BYTES)
            status = tune_path(j, steps, p, paths_share / (double)count);
    return status;
}

/* ---- the whole ---- */

static restride_status measure_parts(job *j)
{
    rs_arena arena = {0};
    rs_guidance guidance = {.engine = j->engine};
    rs_sequence steps = rs_sequence_of(j->engine, j->bytes, NULL);
    steps.arena = &arena;
    steps.guidance = &guidance;
    edge_list edges = {0};
    size_t permuted = 0;
    restride_status status = j->fill(&steps, j->conversion);
    if (status == RESTRIDE_OK)
        status = find_edges(&steps, &edges, &permuted);
    if (status == RESTRIDE_OK && arena.failed)
        status = rs_fail_memory("the measurements");
    if (status == RESTRIDE_OK && edges.count == 0)
        status = rs_fail(RESTRIDE_UNSUPPORTED,
                         "Nothing can be tuned here: no transposition of this plan moves %d bytes "
                         "or more.",
                         RS_WISDOM_LEAST_BYTES);
    if (status == RESTRIDE_OK)
        status = tune_edges(j, &edges);
    if (status == RESTRIDE_OK)
        status = tune_paths(j, &steps, permuted);
    rs_arena_free(&arena);
    return status;
}

/* First the plan as it was estimated, then as it is from now on. */
static restride_status make_either(const void *context, size_t index, restride_plan **plan)
{
    const job *j = context;
    restride_status status = rs_plan_create(plan, j->engine, j->bytes, "", "");
    if (status != RESTRIDE_OK)
        return status;
    return index == 0 ? rs_sequence_plan_estimated(*plan, j->fill, j->conversion)
                      : rs_sequence_plan(*plan, NULL, j->fill, j->conversion);
}

/* "010! 64 x 3136, square 56 x 56": as many stages as there is room for. */
static void name_plan(char *name, size_t size, const restride_plan *plan)
{
    size_t length = 0;
    name[0] = '\0';
    for (size_t i = 0; i < plan->stage_count && length < size; i++) {
        const rs_transpose_task *task = &plan->tasks[i];
        json_t *stage = plan->engine->operations->describe_stage(plan->stages[i]);
        const char *stage_name = json_string_value(json_object_get(stage, "name"));
        int added = snprintf(name + length, size - length, "%s%s %zu x %zu", i > 0 ? ", " : "",
                             stage_name == NULL ? "stage" : stage_name, task->rows, task->cols);
        json_decref(stage);
        length += added > 0 ? (size_t)added : 0;
    }
}

static restride_status name_either(const job *j, size_t index, char *name, size_t size)
{
    restride_plan *plan = NULL;
    restride_status status = make_either(j, index, &plan);
    if (status == RESTRIDE_OK)
        name_plan(name, size, plan);
    restride_plan_destroy(plan);
    return status;
}

/* Whether the second is another plan at all shows in the names. */
static restride_status compare_plans(job *j)
{
    restride_tuning *t = j->tuning;
    restride_status status = name_either(j, 0, t->planner.name, sizeof t->planner.name);
    if (status == RESTRIDE_OK)
        status = name_either(j, 1, t->best.name, sizeof t->best.name);
    if (status != RESTRIDE_OK)
        return status;
    part_of_job part;
    const restride_tune_options options = share_of(j, &part, last_share);
    const rs_race_plans plans = {j->engine, j->bytes, 2, make_either, j, NULL};
    rs_race_result result;
    status = rs_race_run(&plans, &options, &result);
    if (status != RESTRIDE_OK)
        return status;
    t->planner.seconds = result.seconds[0];
    t->best.seconds = result.seconds[1];
    add_up(j, result.tried, result.runs, true);
    if (j->options->progress != NULL)
        j->options->progress(j->options->context, 1);
    return RESTRIDE_OK;
}

restride_status rs_tune_sequence(restride_engine *engine, size_t bytes, rs_sequence_fill *fill,
                                 const void *conversion, const restride_tune_options *options,
                                 restride_tuning *tuning)
{
    *tuning = (restride_tuning){.kept = 1};
    job j = {engine, bytes, fill, conversion, options, tuning, 0};
    restride_status status = measure_parts(&j);
    return status == RESTRIDE_OK ? compare_plans(&j) : status;
}
