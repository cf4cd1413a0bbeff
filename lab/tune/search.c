/* See search.h. */
#include "lab/tune/search.h"

#include "console/bench_device.h"
#include "lab/tune/bench.h"
#include "restride/transpose.h"
#include "transpose/choose.h"
#include "transpose/methods.h"
#include "transpose/transpose.h"
#include "transpose/wisdom.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 9, MOST_NEAR = 6, MOST_REPEAT = 100, SENTENCE_BYTES = 512 };

static const double out_of_reach = 2; /* times the least: one run tells enough */
static const double near = 1.1;       /* times the least: it may be the fastest */

typedef struct {
    rs_offers offers;
    rs_tune_bench bench;
    rs_engine_traits traits;
    const rs_tune_how *how;
    rs_tune_found *found; /* plans: the planner's own, then all that are offered */
    size_t capacity;
    bool failed; /* memory was short */
    double least;
} search;

/* ---- what is offered ---- */

static bool is_known(const rs_tune_found *found, const rs_tune_plan *plan)
{
    for (size_t i = 0; i < found->count; i++)
        if (strcmp(found->plans[i].method, plan->method) == 0 &&
            found->plans[i].tiles.rows == plan->tiles.rows &&
            found->plans[i].tiles.cols == plan->tiles.cols)
            return true;
    return false;
}

static void add(search *s, const rs_tune_plan *plan)
{
    rs_tune_found *found = s->found;
    if (is_known(found, plan))
        return;
    if (found->count == s->capacity) {
        const size_t capacity = 2 * s->capacity + 64;
        rs_tune_plan *plans = realloc(found->plans, capacity * sizeof *plans);
        s->failed = s->failed || plans == NULL;
        if (plans == NULL)
            return;
        found->plans = plans;
        s->capacity = capacity;
    }
    found->plans[found->count++] = *plan;
}

static restride_status choose(const search *s, const rs_tune_plan *plan, rs_stage_choice *choice)
{
    const restride_plan_options options = {.method = plan->method};
    return rs_choose_exactly(choice, &s->bench.matrices, &s->traits, &options, plan->tiles);
}

static void take(rs_offers *offers, const rs_method *method, rs_tiles tiles)
{
    search *s = (search *)offers;
    rs_tune_plan plan = {.method = method->name, .tiles = tiles};
    rs_stage_choice choice;
    if (choose(s, &plan, &choice) != RESTRIDE_OK)
        return;
    plan.passes = choice.cost;
    add(s, &plan);
}

static int compare_passes(const void *a, const void *b)
{
    const double x = ((const rs_tune_plan *)a)->passes;
    const double y = ((const rs_tune_plan *)b)->passes;
    return (x > y) - (x < y);
}

static restride_status find_offers(search *s, const restride_plan *own)
{
    rs_problem problem = {.matrices = &s->bench.matrices,
                          .traits = s->traits,
                          .scratch_limit = rs_choose_scratch_limit(s->bench.bytes, &s->traits),
                          .scratch_bound =
                              rs_choose_scratch_bound(s->bench.bytes, &s->traits, NULL)};
    problem.traits.workers = rs_engine_workers(&s->traits, s->bench.bytes);
    add(s, &(rs_tune_plan){own->method, {own->tile_rows, own->tile_cols}, own->passes, 0, 0});
    for (size_t i = 0; i < rs_methods_count(); i++)
        if (!rs_methods_at(i)->only_when_named)
            rs_methods_at(i)->offer(rs_methods_at(i), &problem, &s->offers);
    if (s->failed)
        return rs_fail_memory("the plans of a search");
    s->found->offered = s->found->count;
    qsort(s->found->plans + 1, s->found->count - 1, sizeof *s->found->plans, compare_passes);
    return RESTRIDE_OK;
}

/* Leaves out those that cost too much to be tried. */
static void thin_out(search *s)
{
    rs_tune_found *found = s->found;
    size_t kept = 1;
    for (size_t i = 1; i < found->count; i++) {
        size_t cheaper = 0;
        for (size_t k = 1; k < kept; k++)
            cheaper += strcmp(found->plans[k].method, found->plans[i].method) == 0;
        if (i <= s->how->most || cheaper < s->how->each)
            found->plans[kept++] = found->plans[i];
    }
    found->count = kept;
}

/* ---- plans ---- */

static restride_status make_own(const search *s, restride_plan **plan)
{
    const rs_matrices *m = &s->bench.matrices;
    return restride_plan_transpose(plan, s->bench.engine, m->rows, m->cols, m->unit, m->batch);
}

/* RESTRIDE_UNSUPPORTED where the planner could not take it either. */
static restride_status make(const search *s, size_t index, restride_plan **plan)
{
    rs_stage_choice choice;
    *plan = NULL;
    if (index == 0)
        return make_own(s, plan);
    restride_status status = choose(s, &s->found->plans[index], &choice);
    if (status == RESTRIDE_OK)
        status = rs_plan_create(plan, s->bench.engine, s->bench.bytes, "", "");
    if (status == RESTRIDE_OK)
        status = rs_plan_add_transposes(*plan, choice.tasks, choice.count, choice.scratch_limit);
    if (status == RESTRIDE_OK && restride_plan_scratch_bytes(*plan) > choice.bound)
        status = rs_fail(RESTRIDE_UNSUPPORTED, "The plan takes too much scratch memory.");
    if (status == RESTRIDE_DEVICE_LIMIT)
        status = RESTRIDE_UNSUPPORTED;
    if (status != RESTRIDE_OK) {
        restride_plan_destroy(*plan);
        *plan = NULL;
    }
    return status;
}

static restride_status name_failure(const rs_tune_plan *plan, restride_status status)
{
    char sentence[SENTENCE_BYTES];
    snprintf(sentence, sizeof sentence, "%s", restride_last_error());
    return rs_fail(status, "%s, tiles of %zu x %zu: %s", plan->method, plan->tiles.rows,
                   plan->tiles.cols, sentence);
}

/* ---- times ---- */

static restride_status check(const search *s, restride_plan *plan, double *seconds)
{
    double copy;
    restride_status status = rs_tune_bench_copy(&s->bench, &copy);
    if (status == RESTRIDE_OK)
        status = rs_tune_bench_run(&s->bench, plan, seconds);
    return status == RESTRIDE_OK ? rs_tune_bench_check(&s->bench) : status;
}

/* One run behind the checked one is enough for a plan that is far from the least. */
static restride_status measure(search *s, rs_tune_plan *entry, restride_plan *plan)
{
    double times[MOST_REPEAT];
    size_t runs = 0;
    double first;
    restride_status status = check(s, plan, &first);
    while (status == RESTRIDE_OK && runs < s->how->repeat && runs < MOST_REPEAT) {
        status = rs_tune_bench_run(&s->bench, plan, &times[runs++]);
        if (s->least > 0 && times[0] > out_of_reach * s->least)
            break;
    }
    if (status != RESTRIDE_OK)
        return name_failure(entry, status);
    entry->seconds = rs_seconds_median(times, runs);
    if (s->least <= 0 || entry->seconds < s->least)
        s->least = entry->seconds;
    return RESTRIDE_OK;
}

static restride_status measure_all(search *s)
{
    rs_tune_found *found = s->found;
    size_t kept = 0;
    for (size_t i = 0; i < found->count; i++) {
        restride_plan *plan;
        restride_status status = make(s, i, &plan);
        if (status == RESTRIDE_UNSUPPORTED && i > 0) {
            found->refused++;
            continue;
        }
        if (status == RESTRIDE_OK)
            status = measure(s, &found->plans[i], plan);
        restride_plan_destroy(plan);
        if (status != RESTRIDE_OK)
            return status;
        found->plans[kept++] = found->plans[i];
    }
    found->count = kept;
    return RESTRIDE_OK;
}

/* ---- turns ---- */

typedef struct {
    size_t count;
    size_t index[MOST_NEAR + 1]; /* of plans; the planner's own is the first */
    restride_plan *plans[MOST_NEAR + 1];
    double times[MOST_NEAR + 2][TURNS]; /* the last ones are copies */
} contest;

static void find_near(const search *s, contest *c)
{
    const rs_tune_found *found = s->found;
    c->count = 1;
    while (c->count <= MOST_NEAR) {
        size_t next = 0;
        for (size_t i = 1; i < found->count; i++) {
            bool is_in = found->plans[i].seconds > near * s->least;
            for (size_t k = 1; k < c->count; k++)
                is_in = is_in || c->index[k] == i;
            if (!is_in && (next == 0 || found->plans[i].seconds < found->plans[next].seconds))
                next = i;
        }
        if (next == 0)
            break;
        c->index[c->count++] = next;
    }
}

/* The first turn only warms up. */
static restride_status take_turns(const search *s, contest *c)
{
    restride_status status = RESTRIDE_OK;
    for (int turn = -1; turn < TURNS; turn++) {
        const int place = turn < 0 ? 0 : turn;
        for (size_t k = 0; k < c->count && status == RESTRIDE_OK; k++)
            status = rs_tune_bench_run(&s->bench, c->plans[k], &c->times[k][place]);
        if (status == RESTRIDE_OK)
            status = rs_tune_bench_copy(&s->bench, &c->times[MOST_NEAR + 1][place]);
    }
    return status;
}

static restride_status decide(const search *s)
{
    contest c = {0};
    rs_tune_found *found = s->found;
    restride_status status = RESTRIDE_OK;
    find_near(s, &c);
    for (size_t k = 0; k < c.count && status == RESTRIDE_OK; k++)
        status = make(s, c.index[k], &c.plans[k]);
    if (status == RESTRIDE_OK)
        status = take_turns(s, &c);
    for (size_t k = 0; k < c.count; k++) {
        restride_plan_destroy(c.plans[k]);
        rs_tune_plan *plan = &found->plans[c.index[k]];
        plan->turns = rs_seconds_median(c.times[k], TURNS);
        if (plan->turns < found->plans[found->best].turns)
            found->best = c.index[k];
    }
    found->copy_seconds = rs_seconds_median(c.times[MOST_NEAR + 1], TURNS);
    return status;
}

/* ---- the whole ---- */

static restride_status compare(search *s)
{
    restride_plan *own = NULL;
    restride_status status = make_own(s, &own);
    if (status == RESTRIDE_OK)
        status = find_offers(s, own);
    restride_plan_destroy(own);
    if (status != RESTRIDE_OK)
        return status;
    thin_out(s);
    status = measure_all(s);
    return status == RESTRIDE_OK ? decide(s) : status;
}

restride_status rs_tune_search(restride_engine *engine, const rs_matrices *matrices,
                               const rs_tune_how *how, rs_tune_found *found)
{
    search s = {.offers = {take, SIZE_MAX}, .how = how, .found = found};
    *found = (rs_tune_found){0};
    restride_status status = rs_tune_bench_open(&s.bench, engine, matrices);
    if (status != RESTRIDE_OK)
        return status;
    s.traits = rs_wisdom_traits(engine, s.bench.bytes);
    status = compare(&s);
    rs_tune_bench_close(&s.bench);
    return status;
}

void rs_tune_found_free(rs_tune_found *found)
{
    free(found->plans);
    *found = (rs_tune_found){0};
}
