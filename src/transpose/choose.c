/*
 * The choice among the methods of transposition: each offers tile sizes (offers.c), the stages
 * that these give are weighed (cost.c), and the cheapest within the scratch limit is taken (Sung
 * thesis, section 4.8.4).
 */
#include "transpose/choose.h"
#include "base/arithmetic.h"
#include "base/text.h"
#include "transpose/cost.h"
#include "transpose/methods.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum {
    LIMIT_PARTS = 200,
    WORKER_BYTES = 4 << 20,
    DEVICE_PARTS = 400,
    DEVICE_BYTES = 1 << 20,
    MOST_OF_A_METHOD = 4,
    ALIKE = 8
};

size_t rs_choose_scratch_limit(size_t bytes, const rs_engine_traits *traits)
{
    if (traits->scratch_parts != 0)
        return rs_size_add_capped(bytes / traits->scratch_parts, traits->scratch_bytes);
    size_t workers = rs_engine_workers(traits, bytes);
    size_t limit =
        rs_size_add_capped(bytes / LIMIT_PARTS, rs_size_multiply_capped(workers, WORKER_BYTES));
    return rs_size_smaller(limit, rs_size_add_capped(bytes, WORKER_BYTES));
}

size_t rs_choose_scratch_bound(size_t bytes, const rs_engine_traits *traits,
                               const restride_plan_options *options)
{
    if (options != NULL && options->scratch_bytes != 0)
        return options->scratch_bytes;
    return traits->scratch_parts != 0 ? rs_size_add_capped(bytes / DEVICE_PARTS, DEVICE_BYTES)
                                      : rs_choose_scratch_limit(bytes, traits);
}

static size_t bytes_of(const rs_matrices *m)
{
    return m->rows * m->cols * m->unit * m->batch;
}

/*
 * For data in a file the chip is the scratch memory, and a line what `run_bytes` says: what counts
 * is how often each page comes and goes.
 */
static rs_problem make_problem(const rs_matrices *matrices, const rs_engine_traits *traits,
                               const restride_plan_options *options)
{
    size_t by_default = rs_choose_scratch_limit(bytes_of(matrices), traits);
    rs_problem problem = {.matrices = matrices,
                          .traits = *traits,
                          .scratch_limit = by_default,
                          .scratch_bound =
                              rs_choose_scratch_bound(bytes_of(matrices), traits, options)};
    problem.traits.workers = rs_engine_workers(traits, bytes_of(matrices));
    if (options == NULL)
        return problem;
    if (options->scratch_bytes != 0)
        problem.scratch_limit = options->scratch_bytes;
    problem.granted = problem.scratch_limit > by_default;
    if (options->run_bytes > traits->line_bytes) {
        problem.traits.line_bytes = options->run_bytes;
        if (problem.scratch_limit > traits->chip_bytes)
            problem.traits.chip_bytes = problem.scratch_limit;
        problem.granted = true;
    }
    problem.named = options->method != NULL;
    return problem;
}

/* ---- one proposal ---- */

static size_t kept_bytes(const rs_stage_choice *choice, const rs_engine_traits *traits)
{
    size_t kept = 0;
    for (size_t i = 0; i < choice->count; i++)
        kept = rs_size_add_capped(kept, rs_cost_kept(&choice->tasks[i], traits));
    return kept;
}

/* With which the stages of a choice can run, tables included. */
static size_t least_scratch(const rs_stage_choice *choice, const rs_engine_traits *traits)
{
    size_t most = 0;
    for (size_t i = 0; i < choice->count; i++) {
        size_t bytes = rs_cost_least_scratch(&choice->tasks[i], traits);
        most = bytes > most ? bytes : most;
    }
    return rs_size_add_capped(most, kept_bytes(choice, traits));
}

/* What blocks cost takes longest to find, so they come last, and nothing more is looked for once
 * the rest cannot keep the sum below a cost that is too high. */
static double add_costs(const rs_stage_choice *choice, const rs_engine_traits *traits, size_t unit,
                        double too_high)
{
    double costs[RS_CHOICE_MOST_TASKS];
    double least = rs_cost_least(traits, 1, unit);
    double bound = least * (double)choice->count;
    for (int blocks = 0; blocks < 2; blocks++)
        for (size_t i = 0; i < choice->count; i++) {
            const rs_transpose_task *task = &choice->tasks[i];
            if ((task->method == RS_TRANSPOSE_PANELS) != (blocks == 1))
                continue;
            costs[i] = rs_cost_of_transpose(task, traits, choice->scratch_limit);
            bound += costs[i] - least;
            if (bound >= too_high)
                return RS_COST_IMPOSSIBLE;
        }
    double sum = 0;
    for (size_t i = 0; i < choice->count; i++)
        sum += costs[i];
    return sum;
}

static void weigh(rs_stage_choice *choice, const rs_problem *problem, double too_high)
{
    size_t kept = kept_bytes(choice, &problem->traits);
    choice->limit = problem->scratch_limit;
    choice->bound = problem->scratch_bound;
    choice->scratch_limit = problem->scratch_limit > kept ? problem->scratch_limit - kept : 0;
    choice->cost = choice->count > 0 && choice->scratch_limit == 0
                       ? RS_COST_IMPOSSIBLE
                       : add_costs(choice, &problem->traits, problem->matrices->unit, too_high);
}

/* False when the method does not suit the problem, or costs too much. */
static bool build(rs_stage_choice *choice, const rs_problem *problem, const rs_method *method,
                  rs_tiles tiles, double too_high)
{
    choice->method = method->name;
    choice->tiles = tiles;
    choice->count = 0;
    choice->highest = too_high;
    choice->why[0] = '\0';
    if (!method->build(choice, problem, tiles))
        return false;
    weigh(choice, problem, too_high);
    return true;
}

/* ---- the search ---- */

typedef struct {
    const rs_method *method;
    rs_tiles tiles;
    double cost;
} candidate;

enum { MOST_CANDIDATES = 32 };

typedef struct {
    rs_offers offers;
    const rs_problem *problem;
    size_t considered;
    size_t least_scratch; /* of what was considered, while nothing keeps within the limit */
    bool spread;          /* candidates of a method must differ */
    double highest;       /* what costs as much or more is of no use */
    size_t most;
    size_t count;
    candidate best[MOST_CANDIDATES + 1]; /* the cheapest first, and room for one more */
    rs_stage_choice trial;
} search;

static bool near(size_t a, size_t b)
{
    size_t larger = a > b ? a : b;
    return (larger - (a > b ? b : a)) * ALIKE <= larger;
}

static bool alike(const candidate *a, const candidate *b)
{
    return near(a->tiles.rows, b->tiles.rows) && near(a->tiles.cols, b->tiles.cols);
}

/* Whether the candidates before one leave it its place among them. */
static bool differs(const search *s, size_t index)
{
    size_t same = 0;
    for (size_t i = 0; i < index; i++)
        if (s->best[i].method == s->best[index].method) {
            same++;
            if (same == MOST_OF_A_METHOD || alike(&s->best[i], &s->best[index]))
                return false;
        }
    return true;
}

static void thin_out(search *s)
{
    for (size_t i = 1; i < s->count;)
        if (differs(s, i)) {
            i++;
        } else {
            s->count--;
            memmove(&s->best[i], &s->best[i + 1], (s->count - i) * sizeof s->best[0]);
        }
}

/* What costs as much comes too late: all places are taken by cheaper ones, or it is of no use. */
static double too_high(const search *s)
{
    return s->count > 0 && s->count == s->most ? s->best[s->count - 1].cost : s->highest;
}

/* Stages that together cost that much at least. */
static size_t find_beaten(const search *s)
{
    const double cost = too_high(s);
    size_t stages = 0;
    while (stages <= RS_CHOICE_MOST_TASKS &&
           rs_cost_least(&s->problem->traits, stages, s->problem->matrices->unit) < cost)
        stages++;
    return stages;
}

static void insert(search *s, const candidate *added)
{
    if (added->cost >= too_high(s))
        return;
    size_t place = s->count;
    while (place > 0 && s->best[place - 1].cost > added->cost)
        place--;
    memmove(&s->best[place + 1], &s->best[place], (s->count - place) * sizeof s->best[0]);
    s->best[place] = *added;
    s->count++;
    if (s->spread)
        thin_out(s);
    if (s->count > s->most)
        s->count = s->most;
    s->offers.beaten = find_beaten(s);
}

static void take(rs_offers *offers, const rs_method *method, rs_tiles tiles)
{
    search *s = (search *)offers;
    s->considered++;
    if (!build(&s->trial, s->problem, method, tiles, too_high(s)))
        return;
    const candidate added = {method, tiles, s->trial.cost};
    if (added.cost < RS_COST_IMPOSSIBLE) {
        insert(s, &added);
    } else if (s->count == 0 && s->highest >= RS_COST_IMPOSSIBLE) {
        size_t scratch = least_scratch(&s->trial, &s->problem->traits);
        s->least_scratch = scratch < s->least_scratch ? scratch : s->least_scratch;
    }
}

/* Whether a method cannot be cheaper than what there is. */
static bool is_beaten(const search *s, const rs_method *method)
{
    return method->least_stages >= s->offers.beaten;
}

static void begin(search *s, const rs_problem *problem, size_t most, double highest)
{
    s->problem = problem;
    s->considered = 0;
    s->least_scratch = SIZE_MAX;
    s->spread = most > 1;
    s->highest = highest;
    s->most = most;
    s->count = 0;
    s->offers = (rs_offers){take, find_beaten(s)};
}

/* `named` may be NULL. */
static void look(search *s, const rs_problem *problem, const rs_method *named, size_t most,
                 double highest)
{
    begin(s, problem, most, highest);
    for (size_t i = 0; i < rs_methods_count(); i++) {
        const rs_method *method = rs_methods_at(i);
        if (named != NULL ? method == named : !method->only_when_named && !is_beaten(s, method))
            method->offer(method, problem, &s->offers);
    }
}

double rs_choose_price(const rs_matrices *matrices, const rs_engine_traits *traits,
                       const restride_plan_options *options, double highest)
{
    rs_problem problem = make_problem(matrices, traits, options);
    problem.roughly = options == NULL || options->run_bytes <= traits->line_bytes;
    search s;
    look(&s, &problem, NULL, 1, highest);
    if (s.count == 0 && problem.roughly && highest >= RS_COST_IMPOSSIBLE) {
        problem.roughly = false;
        look(&s, &problem, NULL, 1, highest);
    }
    return s.count == 0 ? highest : s.best[0].cost;
}

/* The methods that may do with one stage, which offer one proposal each. */
double rs_choose_bound(const rs_matrices *matrices, const rs_engine_traits *traits,
                       const restride_plan_options *options, bool *exact)
{
    const rs_problem problem = make_problem(matrices, traits, options);
    search s;
    begin(&s, &problem, 1, RS_COST_IMPOSSIBLE);
    for (size_t i = 0; i < rs_methods_count(); i++) {
        const rs_method *method = rs_methods_at(i);
        if (method->least_stages < 2 && !method->only_when_named && !is_beaten(&s, method))
            method->offer(method, &problem, &s.offers);
    }
    double others = rs_cost_least(&problem.traits, 2, matrices->unit);
    *exact = s.count > 0 && s.best[0].cost <= others;
    return *exact ? s.best[0].cost : others;
}

/* ---- the outcome ---- */

static void explain(rs_stage_choice *choice, const rs_problem *problem, const rs_method *method)
{
    if (method->why != NULL)
        snprintf(choice->why, sizeof choice->why, "%s", method->why);
    else
        method->explain(choice, problem, choice->why, sizeof choice->why);
}

/* Says what the scratch memory gains that the caller granted beyond the default. */
static void explain_gain(rs_stage_choice *choice, const rs_problem *problem,
                         const rs_engine_traits *traits, const restride_plan_options *options)
{
    restride_plan_options without = *options;
    without.scratch_bytes = 0;
    const rs_problem less = make_problem(problem->matrices, traits, &without);
    if (options->scratch_bytes <= less.scratch_limit)
        return;
    search s;
    look(&s, &less, options->method == NULL ? NULL : rs_methods_find(options->method), 1,
         RS_COST_IMPOSSIBLE);
    size_t length = strlen(choice->why);
    char *end = choice->why + length;
    size_t room = sizeof choice->why - length;
    if (s.count == 0)
        snprintf(end, room, " Without the scratch memory granted there is no plan.");
    else if (s.best[0].cost - choice->cost >= 0.005)
        snprintf(end, room, " %s passes saved by the scratch memory granted.",
                 rs_decimal(s.best[0].cost - choice->cost, 2).text);
}

static restride_status find_method(const restride_plan_options *options, const rs_method **named)
{
    *named = NULL;
    if (options == NULL || options->method == NULL)
        return RESTRIDE_OK;
    *named = rs_methods_find(options->method);
    return *named != NULL ? RESTRIDE_OK
                          : rs_fail(RESTRIDE_INVALID_ARGUMENT,
                                    "There is no method \"%s\" of transposition.", options->method);
}

static restride_status fail_nothing_found(const rs_problem *problem, const rs_method *named,
                                          size_t needed)
{
    const rs_matrices *m = problem->matrices;
    if (needed == SIZE_MAX || needed <= problem->scratch_limit)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "The method \"%s\" does not suit %zu x %zu elements of %zu bytes; leave the "
                       "choice to the planner.",
                       named == NULL ? "any" : named->name, m->rows, m->cols, m->unit);
    return rs_fail(RESTRIDE_UNSUPPORTED,
                   "No in-place transposition of %zu x %zu elements of %zu bytes keeps within %zu "
                   "bytes of scratch; grant %zu.",
                   m->rows, m->cols, m->unit, problem->scratch_limit, needed);
}

restride_status rs_choose_transpose(rs_stage_choice *choice, const rs_matrices *matrices,
                                    const rs_engine_traits *traits,
                                    const restride_plan_options *options)
{
    const rs_method *named;
    *choice = (rs_stage_choice){.cost = RS_COST_IMPOSSIBLE};
    restride_status status = find_method(options, &named);
    if (status != RESTRIDE_OK)
        return status;
    const rs_problem problem = make_problem(matrices, traits, options);
    search s;
    look(&s, &problem, named, 1, RS_COST_IMPOSSIBLE);
    if (s.count == 0)
        return fail_nothing_found(&problem, named, s.least_scratch);
    build(choice, &problem, s.best[0].method, s.best[0].tiles, INFINITY);
    choice->considered = s.considered;
    explain(choice, &problem, s.best[0].method);
    if (options != NULL)
        explain_gain(choice, &problem, traits, options);
    return RESTRIDE_OK;
}

restride_status rs_choose_exactly(rs_stage_choice *choice, const rs_matrices *matrices,
                                  const rs_engine_traits *traits,
                                  const restride_plan_options *options, rs_tiles tiles)
{
    const rs_method *named;
    *choice = (rs_stage_choice){.cost = RS_COST_IMPOSSIBLE};
    restride_status status = find_method(options, &named);
    if (status != RESTRIDE_OK)
        return status;
    const rs_problem problem = make_problem(matrices, traits, options);
    if (named == NULL || !build(choice, &problem, named, tiles, INFINITY) ||
        choice->cost >= RS_COST_IMPOSSIBLE)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "Tiles of %zu x %zu do not suit %zu x %zu elements of %zu bytes.",
                       tiles.rows, tiles.cols, matrices->rows, matrices->cols, matrices->unit);
    return RESTRIDE_OK;
}

size_t rs_choose_candidates(rs_stage_choice *choices, size_t most, const rs_matrices *matrices,
                            const rs_engine_traits *traits, const restride_plan_options *options)
{
    const rs_problem problem = make_problem(matrices, traits, options);
    search s;
    look(&s, &problem, NULL, most < MOST_CANDIDATES ? most : MOST_CANDIDATES, RS_COST_IMPOSSIBLE);
    for (size_t i = 0; i < s.count; i++) {
        choices[i] = (rs_stage_choice){0};
        build(&choices[i], &problem, s.best[i].method, s.best[i].tiles, INFINITY);
        explain(&choices[i], &problem, s.best[i].method);
    }
    return s.count;
}
