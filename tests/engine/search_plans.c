/*
 * Compares what the planner takes with what a search finds, on a device.
 *
 *     search_plans opencl|cuda [--most N] [--all] ROWSxCOLSxBYTES...
 *
 * Every tile size that a method offers is a plan; the N (48) with the least estimated cost are run,
 * and three of every method whatever their cost. A time is the median of five. The best of them and
 * the planner's choice then run in turns, nine times each, and a line says how much slower the
 * planner's choice is. --all prints every plan.
 */
#include "lab.h"
#include "restride/restride.h"
#include "transpose/choose.h"
#include "transpose/cost.h"
#include "transpose/methods.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OFFERS = 8192, RUNS = 5, TURNS = 9, OF_EACH_METHOD = 3 };

typedef struct {
    rs_stage_choice choice;
    double milliseconds;
} plan;

static restride_engine *engine;
static rs_transfer *transfer;
static size_t most = 48;
static bool print_all;

/* ---- all offers ---- */

typedef struct {
    rs_offers offers;
    rs_matrices matrices;
    rs_engine_traits traits;
    size_t count;
    plan plans[MOST_OFFERS];
} list;

static void take(rs_offers *offers, const rs_method *method, rs_tiles tiles)
{
    list *l = (list *)offers;
    if (l->count == MOST_OFFERS)
        return;
    const restride_plan_options options = {.method = method->name};
    plan *p = &l->plans[l->count];
    if (rs_choose_exactly(&p->choice, &l->matrices, &l->traits, &options, tiles) == RESTRIDE_OK)
        l->count++;
}

static int compare_costs(const void *a, const void *b)
{
    double x = ((const plan *)a)->choice.cost;
    double y = ((const plan *)b)->choice.cost;
    return (x > y) - (x < y);
}

static void find_offers(list *l)
{
    const rs_problem problem = {
        .matrices = &l->matrices,
        .traits = l->traits,
        .scratch_limit = rs_choose_scratch_limit(
            l->matrices.rows * l->matrices.cols * l->matrices.unit, &l->traits)};
    for (size_t i = 0; i < rs_methods_count(); i++)
        if (!rs_methods_at(i)->only_when_named)
            rs_methods_at(i)->offer(rs_methods_at(i), &problem, &l->offers);
    qsort(l->plans, l->count, sizeof l->plans[0], compare_costs);
}

/* ---- times ---- */

/* NULL when it cannot be made. */
static restride_plan *make(const rs_stage_choice *choice, size_t bytes)
{
    restride_plan *made = NULL;
    if (rs_plan_create(&made, engine, bytes, "", "") != RESTRIDE_OK)
        return NULL;
    if (rs_plan_add_transposes(made, choice->tasks, choice->count, choice->scratch_limit) ==
        RESTRIDE_OK)
        return made;
    restride_plan_destroy(made);
    return NULL;
}

/* Infinite when it fails. */
static double run(restride_plan *made, void *buffer)
{
    double start = lab_now();
    if (made == NULL || restride_execute(made, buffer) != RESTRIDE_OK ||
        transfer->operations->finish(transfer) != RESTRIDE_OK)
        return INFINITY;
    return lab_now() - start;
}

static double measure(const rs_stage_choice *choice, size_t bytes, void *buffer)
{
    restride_plan *made = make(choice, bytes);
    double times[RUNS];
    run(made, buffer); /* warms up */
    for (int i = 0; i < RUNS; i++)
        times[i] = run(made, buffer);
    restride_plan_destroy(made);
    return lab_median(times, RUNS);
}

/* The least of many plans may have had a lucky moment, and the first of all, which is the
   planner's, has a device that was idle: so both again, in turns. */
static void measure_in_turns(plan *a, plan *b, size_t bytes, void *buffer)
{
    restride_plan *made[2] = {make(&a->choice, bytes), make(&b->choice, bytes)};
    double times[2][TURNS];
    for (int i = -1; i < TURNS; i++)
        for (int k = 0; k < 2; k++)
            times[k][i < 0 ? 0 : i] = run(made[k], buffer);
    a->milliseconds = lab_median(times[0], TURNS);
    b->milliseconds = lab_median(times[1], TURNS);
    restride_plan_destroy(made[0]);
    restride_plan_destroy(made[1]);
}

static void describe(const plan *p, size_t bytes)
{
    printf("%s, %zu x %zu: %.0f GB/s (estimated %.2f passes)", p->choice.method,
           p->choice.tiles.rows, p->choice.tiles.cols, 2 * (double)bytes / p->milliseconds / 1e6,
           p->choice.cost);
}

static bool is_wanted(const list *l, size_t index)
{
    size_t better = 0;
    for (size_t i = 0; i < index; i++)
        better += strcmp(l->plans[i].choice.method, l->plans[index].choice.method) == 0;
    return index < most || better < OF_EACH_METHOD;
}

static bool search(size_t rows, size_t cols, size_t unit)
{
    size_t bytes = rows * cols * unit;
    list *l = calloc(1, sizeof *l);
    void *buffer;
    if (l == NULL || transfer->operations->allocate(transfer, bytes, &buffer) != RESTRIDE_OK) {
        printf("%zux%zux%zu: no memory\n", rows, cols, unit);
        free(l);
        return false;
    }
    l->offers = (rs_offers){take, SIZE_MAX};
    l->matrices = (rs_matrices){rows, cols, unit, 1, 0};
    l->traits = engine->operations->traits(engine);
    find_offers(l);
    plan *best = NULL;
    size_t tried = 0;
    for (size_t i = 0; i < l->count; i++) {
        if (!is_wanted(l, i))
            continue;
        plan *p = &l->plans[i];
        p->milliseconds = measure(&p->choice, bytes, buffer);
        tried++;
        if (print_all) {
            printf("    ");
            describe(p, bytes);
            puts("");
        }
        if (best == NULL || p->milliseconds < best->milliseconds)
            best = p;
    }
    if (best != NULL && best != &l->plans[0]) {
        measure_in_turns(&l->plans[0], best, bytes, buffer);
        if (l->plans[0].milliseconds <= best->milliseconds)
            best = &l->plans[0];
    }
    if (best != NULL) {
        printf("%zux%zux%zu, %zu of %zu plans: %.3f of the best; planner ", rows, cols, unit, tried,
               l->count, best->milliseconds / l->plans[0].milliseconds);
        describe(&l->plans[0], bytes);
        printf("; best ");
        describe(best, bytes);
        puts("");
    }
    fflush(stdout);
    bool good = best != NULL && l->plans[0].milliseconds <= best->milliseconds / 0.9;
    transfer->operations->release(transfer, buffer);
    free(l);
    return good;
}

int main(int count, char **arguments)
{
    if (count < 3)
        return 2;
    restride_status status = lab_open(&engine, arguments[1]);
    if (status == RESTRIDE_OK)
        status = rs_transfer_open(engine, &transfer);
    if (status != RESTRIDE_OK) {
        puts(restride_last_error());
        return 77;
    }
    bool good = true;
    for (int i = 2; i < count; i++) {
        size_t rows;
        size_t cols;
        size_t unit;
        if (strcmp(arguments[i], "--all") == 0)
            print_all = true;
        else if (strcmp(arguments[i], "--most") == 0 && i + 1 < count)
            most = strtoull(arguments[++i], NULL, 10);
        else if (sscanf(arguments[i], "%zux%zux%zu", &rows, &cols, &unit) == 3)
            good = search(rows, cols, unit) && good;
    }
    transfer->operations->close(transfer);
    restride_engine_destroy(engine);
    return good ? 0 : 1;
}
