/* Races among plans; see race.h. */
#include "transpose/race.h"
#include "base/seconds.h"
#include "engine/transfer.h"
#include "transpose/plan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_PLANS = 4, MOST_RUNS = 25, LEAST_RUNS = 3, MOST_AXES = 64 };

static const double first_share = 3;          /* first runs may take so many times the seconds */
static const double out_of_first_reach = 1.6; /* times the best first run: not worth a second */
static const double out_of_reach = 1.15;      /* times the best: not worth another run */
static const double clearly = 0.97;           /* of the planner's time: another plan wins */

typedef struct {
    restride_plan *plan; /* NULL: no longer in the race */
    double times[MOST_RUNS];
    size_t runs;
} contender;

typedef struct {
    const rs_race_plans *plans;
    restride_engine *engine;
    restride_tune_options options;
    size_t unit;           /* bytes of an element of the data */
    unsigned char *data;   /* on the host */
    rs_transfer *transfer; /* NULL: the engine works in host memory */
    void *buffer;          /* what plans run on: the data, or memory of the device */
    size_t tried;
    size_t runs;
    contender contenders[RS_RACE_MOST_PLANS];
} race;

static void tell(const race *r, double part)
{
    if (r->options.progress != NULL)
        r->options.progress(r->options.context, part < 1 ? part : 1);
}

/* ---- data that shows where it came from ---- */

static uint64_t word_of(size_t element, size_t part)
{
    uint64_t mixed = (element * 0x100000001B3u + part + 1) * 0x9E3779B97F4A7C15u;
    return mixed ^ (mixed >> 29);
}

static size_t part_bytes(size_t unit, size_t part)
{
    size_t left = unit - part * sizeof(uint64_t);
    return left < sizeof(uint64_t) ? left : sizeof(uint64_t);
}

static void fill(const race *r)
{
    size_t unit = r->unit;
    size_t elements = r->plans->bytes / unit;
    for (size_t e = 0; e < elements; e++)
        for (size_t part = 0; part * sizeof(uint64_t) < unit; part++) {
            uint64_t word = word_of(e, part);
            memcpy(r->data + e * unit + part * sizeof word, &word, part_bytes(unit, part));
        }
}

static bool is_element(const unsigned char *bytes, size_t element, size_t unit)
{
    for (size_t part = 0; part * sizeof(uint64_t) < unit; part++) {
        uint64_t word = word_of(element, part);
        if (memcmp(bytes + part * sizeof word, &word, part_bytes(unit, part)) != 0)
            return false;
    }
    return true;
}

/* The result is read in order, while its index and the place that each element came from go along.
 */
static bool is_right(const race *r)
{
    const rs_permutation *p = r->plans->does;
    size_t strides[MOST_AXES];
    size_t stride = 1;
    for (size_t axis = p->rank; axis-- > 0; stride *= p->counts[axis])
        strides[axis] = stride;
    size_t index[MOST_AXES] = {0};
    size_t from = 0;
    for (size_t e = 0; e < stride; e++) {
        if (!is_element(r->data + e * p->unit, from, p->unit))
            return false;
        for (size_t k = p->rank; k-- > 0;) {
            size_t axis = p->order[k];
            from += strides[axis];
            if (++index[k] < p->counts[axis])
                break;
            from -= index[k] * strides[axis];
            index[k] = 0;
        }
    }
    return true;
}

/* ---- contenders ---- */

static void leave(contender *c)
{
    restride_plan_destroy(c->plan);
    c->plan = NULL;
}

static restride_status run(race *r, contender *c)
{
    double start = rs_seconds_now();
    restride_status status = restride_execute(c->plan, r->buffer);
    if (status == RESTRIDE_OK && r->transfer != NULL)
        status = r->transfer->operations->finish(r->transfer);
    if (status == RESTRIDE_OK)
        c->times[c->runs++] = rs_seconds_now() - start;
    r->runs++;
    return status;
}

static double least(const contender *c)
{
    double time = c->times[0];
    for (size_t i = 1; i < c->runs; i++)
        time = c->times[i] < time ? c->times[i] : time;
    return time;
}

static double median(const contender *c)
{
    double sorted[MOST_RUNS];
    memcpy(sorted, c->times, c->runs * sizeof sorted[0]);
    qsort(sorted, c->runs, sizeof sorted[0], rs_seconds_compare);
    return sorted[c->runs / 2];
}

static double best_least(const race *r)
{
    double best = least(&r->contenders[0]);
    for (size_t i = 1; i < r->tried; i++)
        if (r->contenders[i].plan != NULL && least(&r->contenders[i]) < best)
            best = least(&r->contenders[i]);
    return best;
}

/* All but the planner's own. */
static void drop_slow(race *r, double reach)
{
    double limit = reach * best_least(r);
    for (size_t i = 1; i < r->tried; i++)
        if (r->contenders[i].plan != NULL && least(&r->contenders[i]) > limit)
            leave(&r->contenders[i]);
}

/* Copies the data to the device or back; nothing where there is none. */
static restride_status carry(const race *r, bool to_device)
{
    if (r->transfer == NULL)
        return RESTRIDE_OK;
    const rs_transfer_operations *operations = r->transfer->operations;
    size_t bytes = r->plans->bytes;
    const rs_transfer_block all = {r->data, bytes, r->buffer, 0, bytes, bytes, 1, NULL};
    rs_ticket ticket;
    restride_status status = to_device ? operations->upload(r->transfer, &all, &ticket)
                                       : operations->download(r->transfer, &all, &ticket);
    return status == RESTRIDE_OK ? operations->wait(r->transfer, ticket) : status;
}

static restride_status check(race *r, contender *c)
{
    if (r->plans->does == NULL)
        return run(r, c);
    fill(r);
    restride_status status = carry(r, true);
    if (status == RESTRIDE_OK)
        status = run(r, c);
    if (status == RESTRIDE_OK)
        status = carry(r, false);
    if (status != RESTRIDE_OK || is_right(r))
        return status;
    return rs_fail(
        RESTRIDE_DEVICE_ERROR,
        "A plan of %zu stages (%s) gave a wrong result for an array of %zu bytes; please "
        "report these sizes.",
        c->plan->stage_count, c->plan->method == NULL ? "" : c->plan->method, c->plan->bytes);
}

/* On a device the copies would take most of the time: there the last ones of the race are checked
 * instead. */
static restride_status first_runs(race *r)
{
    double end = rs_seconds_now() + first_share * r->options.seconds;
    restride_status status = RESTRIDE_OK;
    while (status == RESTRIDE_OK && r->tried < r->plans->count &&
           (r->tried < LEAST_PLANS || rs_seconds_now() < end)) {
        contender *c = &r->contenders[r->tried];
        status = r->plans->make(r->plans->context, r->tried, &c->plan);
        r->tried++;
        if (status == RESTRIDE_OK)
            status = r->transfer == NULL ? check(r, c) : run(r, c);
        if (status == RESTRIDE_OK)
            drop_slow(r, out_of_first_reach);
        tell(r, 0.5 * (double)r->tried / (double)r->plans->count);
    }
    return status;
}

static restride_status check_last(race *r)
{
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; r->transfer != NULL && status == RESTRIDE_OK && i < r->tried; i++) {
        contender *c = &r->contenders[i];
        size_t runs = c->runs;
        if (c->plan != NULL)
            status = check(r, c);
        c->runs = runs; /* behind a copy the device is not what it was */
    }
    return status;
}

/* The first run also warms up, so it does not count. */
static restride_status runs_in_turns(race *r)
{
    double start = rs_seconds_now();
    for (size_t i = 0; i < r->tried; i++)
        if (r->contenders[i].plan != NULL)
            r->contenders[i].runs = 0;
    for (size_t round = 0; round < MOST_RUNS; round++) {
        for (size_t i = 0; i < r->tried; i++) {
            if (r->contenders[i].plan == NULL)
                continue;
            restride_status status = run(r, &r->contenders[i]);
            if (status != RESTRIDE_OK)
                return status;
            tell(r, 0.5 + 0.5 * (rs_seconds_now() - start) / r->options.seconds);
        }
        if (round + 1 < LEAST_RUNS)
            continue;
        drop_slow(r, out_of_reach);
        if (rs_seconds_now() - start > r->options.seconds)
            break;
    }
    return RESTRIDE_OK;
}

static void find_winner(const race *r, rs_race_result *result)
{
    *result = (rs_race_result){.tried = r->tried, .runs = r->runs};
    for (size_t i = 0; i < r->tried; i++)
        result->seconds[i] = median(&r->contenders[i]);
    double limit = clearly * result->seconds[0];
    for (size_t i = 1; i < r->tried; i++)
        if (r->contenders[i].plan != NULL && result->seconds[i] < limit) {
            result->best = i;
            limit = result->seconds[i];
        }
}

/* ---- the whole ---- */

static restride_status take_memory(race *r)
{
    size_t bytes = r->plans->bytes;
    void *data = NULL;
    if (r->engine->operations->transfer == NULL) {
        restride_status status = r->engine->operations->acquire_scratch(r->engine, bytes, &data);
        r->data = data;
        r->buffer = data;
        if (status == RESTRIDE_OK && r->plans->does == NULL)
            fill(r);
        return status;
    }
    r->data = malloc(bytes);
    if (r->data == NULL)
        return rs_fail_memory("the data of a measurement");
    restride_status status = rs_transfer_open(r->engine, &r->transfer);
    if (status == RESTRIDE_OK)
        status = r->transfer->operations->allocate(r->transfer, bytes, &r->buffer);
    if (status != RESTRIDE_OK)
        return status;
    fill(r);
    return carry(r, true);
}

static void free_memory(race *r)
{
    if (r->engine->operations->transfer == NULL) {
        if (r->data != NULL)
            r->engine->operations->release_scratch(r->engine, r->plans->bytes, r->data);
        return;
    }
    if (r->buffer != NULL)
        r->transfer->operations->release(r->transfer, r->buffer);
    if (r->transfer != NULL)
        r->transfer->operations->close(r->transfer);
    free(r->data);
}

static restride_status hold(race *r, rs_race_result *result)
{
    restride_status status = take_memory(r);
    if (status == RESTRIDE_OK)
        status = first_runs(r);
    if (status == RESTRIDE_OK)
        status = runs_in_turns(r);
    if (status == RESTRIDE_OK)
        status = check_last(r);
    if (status == RESTRIDE_OK) {
        find_winner(r, result);
        tell(r, 1);
    }
    for (size_t i = 0; i < r->tried; i++)
        leave(&r->contenders[i]);
    free_memory(r);
    return status;
}

restride_status rs_race_run(const rs_race_plans *plans, const restride_tune_options *options,
                            rs_race_result *result)
{
    race *r = calloc(1, sizeof *r);
    if (r == NULL)
        return rs_fail_memory("the measurements");
    r->plans = plans;
    r->engine = plans->engine;
    r->options = *options;
    r->unit = plans->does == NULL ? sizeof(uint64_t) : plans->does->unit;
    restride_status status = hold(r, result);
    free(r);
    return status;
}
