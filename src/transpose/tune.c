/*
 * Tuning: the planner's cheapest plans are run on random data, and the fastest becomes wisdom. The
 * cost model prunes, as the thesis does by rules (section 4.8.4); measuring corrects it.
 *
 * Every plan runs once and is checked element by element; on a device the last ones are, at the
 * end. Then those that are still near the best run in turns, so that whatever disturbs the machine
 * disturbs all of them, and medians are compared. The planner's own choice takes part to the end
 * and wins unless another is clearly faster.
 */
#include "engine/transfer.h"
#include "transpose/wisdom.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_PLANS = 24, LEAST_PLANS = 4, MOST_RUNS = 25, LEAST_RUNS = 3 };

static const double default_seconds = 2;
static const double first_share = 3;          /* first runs may take so many times the seconds */
static const double out_of_first_reach = 1.6; /* times the best first run: not worth a second */
static const double out_of_reach = 1.15;      /* times the best: not worth another run */
static const double clearly = 0.97;           /* of the planner's time: another plan wins */

typedef struct {
    rs_choice choice;
    restride_plan *plan; /* NULL: no longer in the race */
    double times[MOST_RUNS];
    size_t runs;
} contender;

typedef struct {
    restride_engine *engine;
    rs_matrices matrices;
    rs_engine_traits traits;
    restride_tune_options options;
    size_t bytes;
    unsigned char *data;   /* on the host */
    rs_transfer *transfer; /* NULL: the engine works in host memory */
    void *buffer;          /* what plans run on: the data, or memory of the device */
    size_t count;
    size_t tried;
    size_t runs;
    contender contenders[MOST_PLANS];
} race;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

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
    size_t unit = r->matrices.unit;
    size_t elements = r->bytes / unit;
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

static bool is_transposed(const race *r)
{
    const rs_matrices *m = &r->matrices;
    const unsigned char *bytes = r->data;
    for (size_t b = 0; b < m->batch; b++)
        for (size_t j = 0; j < m->cols; j++)
            for (size_t i = 0; i < m->rows; i++, bytes += m->unit)
                if (!is_element(bytes, (b * m->rows + i) * m->cols + j, m->unit))
                    return false;
    return true;
}

/* ---- contenders ---- */

static void name_choice(char *name, size_t size, const rs_choice *choice)
{
    const rs_tiles t = choice->tiles;
    if (t.rows != 0 && t.cols != 0)
        snprintf(name, size, "%s, tiles of %zu x %zu", choice->method, t.rows, t.cols);
    else if (t.rows != 0 || t.cols != 0)
        snprintf(name, size, "%s, blocks of %zu", choice->method, t.rows + t.cols);
    else
        snprintf(name, size, "%s", choice->method);
}

static void leave(contender *c)
{
    restride_plan_destroy(c->plan);
    c->plan = NULL;
}

static restride_status enter(race *r, contender *c)
{
    restride_status status = rs_plan_create(&c->plan, r->engine, r->bytes, "", "");
    if (status == RESTRIDE_OK)
        status = rs_plan_add_transposes(c->plan, c->choice.tasks, c->choice.count,
                                        c->choice.scratch_limit);
    return status;
}

static restride_status run(race *r, contender *c)
{
    double start = now();
    restride_status status = restride_execute(c->plan, r->buffer);
    if (status == RESTRIDE_OK && r->transfer != NULL)
        status = r->transfer->operations->finish(r->transfer);
    if (status == RESTRIDE_OK)
        c->times[c->runs++] = now() - start;
    r->runs++;
    return status;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
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
    qsort(sorted, c->runs, sizeof sorted[0], compare);
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

/* All but the planner's own choice. */
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
    const rs_transfer_block all = {r->data, r->bytes, r->buffer, 0, r->bytes, r->bytes, 1};
    rs_ticket ticket;
    restride_status status = to_device ? operations->upload(r->transfer, &all, &ticket)
                                       : operations->download(r->transfer, &all, &ticket);
    return status == RESTRIDE_OK ? operations->wait(r->transfer, ticket) : status;
}

static restride_status check(race *r, contender *c)
{
    fill(r);
    restride_status status = carry(r, true);
    if (status == RESTRIDE_OK)
        status = run(r, c);
    if (status == RESTRIDE_OK)
        status = carry(r, false);
    if (status != RESTRIDE_OK || is_transposed(r))
        return status;
    char name[128];
    name_choice(name, sizeof name, &c->choice);
    return rs_fail(RESTRIDE_DEVICE_ERROR,
                   "\"%s\" gave a wrong result for %zu x %zu elements of %zu bytes; please report "
                   "this shape.",
                   name, r->matrices.rows, r->matrices.cols, r->matrices.unit);
}

/* On a device the copies would take most of the time: there the last ones of the race are checked
 * instead. */
static restride_status first_runs(race *r)
{
    double end = now() + first_share * r->options.seconds;
    restride_status status = RESTRIDE_OK;
    while (status == RESTRIDE_OK && r->tried < r->count &&
           (r->tried < LEAST_PLANS || now() < end)) {
        contender *c = &r->contenders[r->tried];
        status = enter(r, c);
        r->tried++;
        if (status == RESTRIDE_OK)
            status = r->transfer == NULL ? check(r, c) : run(r, c);
        if (status == RESTRIDE_OK)
            drop_slow(r, out_of_first_reach);
        tell(r, 0.5 * (double)r->tried / (double)r->count);
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
    double start = now();
    for (size_t i = 0; i < r->tried; i++)
        r->contenders[i].runs = 0;
    for (size_t round = 0; round < MOST_RUNS; round++) {
        for (size_t i = 0; i < r->tried; i++) {
            if (r->contenders[i].plan == NULL)
                continue;
            restride_status status = run(r, &r->contenders[i]);
            if (status != RESTRIDE_OK)
                return status;
            tell(r, 0.5 + 0.5 * (now() - start) / r->options.seconds);
        }
        if (round + 1 < LEAST_RUNS)
            continue;
        drop_slow(r, out_of_reach);
        if (now() - start > r->options.seconds)
            break;
    }
    return RESTRIDE_OK;
}

static const contender *winner(const race *r)
{
    const contender *best = &r->contenders[0];
    double limit = clearly * median(best);
    for (size_t i = 1; i < r->tried; i++)
        if (r->contenders[i].plan != NULL && median(&r->contenders[i]) < limit) {
            best = &r->contenders[i];
            limit = median(best);
        }
    return best;
}

/* ---- the whole ---- */

static void report(const race *r, const contender *best, bool kept, restride_tuning *tuning)
{
    if (tuning == NULL)
        return;
    *tuning = (restride_tuning){.tried = r->tried, .runs = r->runs, .kept = kept};
    const contender *planner = &r->contenders[0];
    name_choice(tuning->planner.name, sizeof tuning->planner.name, &planner->choice);
    tuning->planner.seconds = median(planner);
    name_choice(tuning->best.name, sizeof tuning->best.name, &best->choice);
    tuning->best.seconds = median(best);
}

static restride_status take_memory(race *r)
{
    void *data = NULL;
    if (r->engine->operations->transfer == NULL) {
        restride_status status = r->engine->operations->acquire_scratch(r->engine, r->bytes, &data);
        r->data = data;
        r->buffer = data;
        return status;
    }
    r->data = malloc(r->bytes);
    if (r->data == NULL)
        return rs_fail_memory("the data of a measurement");
    restride_status status = rs_transfer_open(r->engine, &r->transfer);
    if (status == RESTRIDE_OK)
        status = r->transfer->operations->allocate(r->transfer, r->bytes, &r->buffer);
    if (status != RESTRIDE_OK)
        return status;
    fill(r);
    return carry(r, true);
}

static void free_memory(race *r)
{
    if (r->engine->operations->transfer == NULL) {
        if (r->data != NULL)
            r->engine->operations->release_scratch(r->engine, r->bytes, r->data);
        return;
    }
    if (r->buffer != NULL)
        r->transfer->operations->release(r->transfer, r->buffer);
    if (r->transfer != NULL)
        r->transfer->operations->close(r->transfer);
    free(r->data);
}

static restride_status hold(race *r, restride_tuning *tuning)
{
    rs_choice choices[MOST_PLANS];
    r->count = rs_choose_candidates(choices, MOST_PLANS, &r->matrices, &r->traits, NULL);
    if (r->count == 0)
        return rs_choose_transpose(&choices[0], &r->matrices, &r->traits, NULL);
    for (size_t i = 0; i < r->count; i++)
        r->contenders[i].choice = choices[i];
    restride_status status = take_memory(r);
    if (status == RESTRIDE_OK)
        status = first_runs(r);
    if (status == RESTRIDE_OK)
        status = runs_in_turns(r);
    if (status == RESTRIDE_OK)
        status = check_last(r);
    if (status == RESTRIDE_OK) {
        const contender *best = winner(r);
        tell(r, 1);
        restride_status kept = rs_wisdom_learn(r->engine, &r->matrices, &r->traits, &best->choice,
                                               median(best), median(&r->contenders[0]));
        report(r, best, kept == RESTRIDE_OK, tuning);
    }
    for (size_t i = 0; i < r->count; i++)
        leave(&r->contenders[i]);
    free_memory(r);
    return status;
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
    if (status != RESTRIDE_OK)
        return status;
    if (bytes < RS_WISDOM_LEAST_BYTES)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "Tuning is for arrays of at least %d bytes, and this one has %zu; for less, "
                       "reading the wisdom takes longer than is gained.",
                       RS_WISDOM_LEAST_BYTES, bytes);
    race *r = calloc(1, sizeof *r);
    if (r == NULL)
        return rs_fail_memory("the measurements");
    r->engine = engine;
    r->matrices = matrices;
    r->traits = engine->operations->traits(engine);
    r->bytes = bytes;
    if (options != NULL)
        r->options = *options;
    if (!(r->options.seconds > 0))
        r->options.seconds = default_seconds;
    status = hold(r, tuning);
    free(r);
    return status;
}
