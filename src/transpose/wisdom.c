/*
 * Wisdom in an engine: read from its file when first asked, then kept with the engine, behind a
 * lock. Records are looked up by the whole problem: engine, device, its traits, and the matrices,
 * or the groups of axes that a permutation moves.
 */
#include "transpose/wisdom.h"
#include "base/text.h"
#include "transpose/cost.h"
#include "transpose/wisdom_file.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    rs_attachment base;
    bool loaded;
    char *path;      /* NULL: switched off */
    json_t *records; /* NULL before it is loaded */
    json_t *places;  /* of the records */
    restride_status problem;
    char sentence[512]; /* about the problem */
    /* Of the engine's place, where `rates_known`; NULL: none. All that plans may still look at are
     * in a list. */
    bool rates_known;
    const rs_rates *rates;
    struct kept_rates *all_rates;
} wisdom;

typedef struct kept_rates {
    struct kept_rates *next;
    rs_rates rates;
} kept_rates;

/* ---- the engine's wisdom ---- */

static void destroy(rs_attachment *base)
{
    wisdom *w = (wisdom *)base;
    while (w->all_rates != NULL) {
        kept_rates *first = w->all_rates;
        w->all_rates = first->next;
        free(first);
    }
    json_decref(w->places);
    json_decref(w->records);
    free(w->path);
    free(w);
}

static void note_problem(wisdom *w, restride_status status)
{
    w->problem = status;
    snprintf(w->sentence, sizeof w->sentence, "%s",
             status == RESTRIDE_OK ? "" : restride_last_error());
}

/* A lack of memory is the only error, and the next call tries again. */
static restride_status load(wisdom *w)
{
    if (w->loaded)
        return RESTRIDE_OK;
    free(w->path);
    restride_status status = rs_wisdom_file_path(&w->path);
    if (status != RESTRIDE_OK)
        return status;
    json_decref(w->places);
    json_decref(w->records);
    w->places = NULL;
    w->records = NULL;
    if (w->path != NULL)
        status = rs_wisdom_file_read(w->path, false, &w->records);
    if (status == RESTRIDE_OUT_OF_MEMORY)
        return status;
    note_problem(w, status);
    if (w->records == NULL)
        w->records = json_array();
    w->places = rs_wisdom_places(w->records);
    if (w->records == NULL || w->places == NULL)
        return rs_fail_memory("the wisdom");
    w->loaded = true;
    return RESTRIDE_OK;
}

/* On success the caller has the lock. */
static restride_status open_wisdom(restride_engine *engine, wisdom **opened)
{
    *opened = (wisdom *)rs_engine_attach(&engine->wisdom, sizeof(wisdom), destroy);
    if (*opened == NULL)
        return rs_fail_memory("the wisdom");
    pthread_mutex_lock(&(*opened)->base.lock);
    restride_status status = load(*opened);
    if (status != RESTRIDE_OK)
        pthread_mutex_unlock(&(*opened)->base.lock);
    return status;
}

/* ---- records ---- */

static json_t *describe_place(const restride_engine *engine, const rs_engine_traits *traits)
{
    return json_pack("{s:s, s:o, s:I, s:I, s:I}", "engine", engine->operations->name, "device",
                     engine->operations->describe_device(engine), "chip_bytes",
                     (json_int_t)traits->chip_bytes, "line_bytes", (json_int_t)traits->line_bytes,
                     "threads", (json_int_t)traits->workers);
}

/* The place with the members of `added`, which is released; NULL when memory is short. */
static json_t *at_place(const restride_engine *engine, const rs_engine_traits *traits,
                        json_t *added)
{
    json_t *problem = describe_place(engine, traits);
    if (problem != NULL && (added == NULL || json_object_update(problem, added) != 0)) {
        json_decref(problem);
        problem = NULL;
    }
    json_decref(added);
    return problem;
}

static json_t *describe_problem(const restride_engine *engine, const rs_matrices *m,
                                const rs_engine_traits *traits)
{
    return at_place(engine, traits,
                    json_pack("{s:I, s:I, s:I, s:I}", "rows", (json_int_t)m->rows, "cols",
                              (json_int_t)m->cols, "element_bytes", (json_int_t)m->unit, "batch",
                              (json_int_t)m->batch));
}

/* NULL when memory is short, or an array could not be added to. */
static json_t *describe_numbers(const size_t numbers[], size_t count)
{
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        if (json_array_append_new(array, json_integer((json_int_t)numbers[i])) != 0) {
            json_decref(array);
            return NULL;
        }
    return array;
}

/* `order` names the groups in the order of memory by their places afterwards, and `sizes` are by
 * those places. */
static json_t *describe_permutation(const restride_engine *engine, const rs_axis_order *a,
                                    size_t outer, const rs_engine_traits *traits)
{
    return at_place(engine, traits,
                    json_pack("{s:o, s:o, s:I, s:I}", "order", describe_numbers(a->names, a->count),
                              "sizes", describe_numbers(a->sizes, a->count), "element_bytes",
                              (json_int_t)a->unit, "batch", (json_int_t)outer));
}

static size_t count_of(const json_t *record, const char *name)
{
    return (size_t)json_integer_value(json_object_get(record, name));
}

static double seconds_of(const json_t *record, const char *name)
{
    return json_number_value(json_object_get(record, name));
}

/* The stages are made anew: the file says how, never where. */
static void follow(rs_stage_choice *choice, const json_t *record, const rs_matrices *matrices,
                   const rs_engine_traits *traits)
{
    const restride_plan_options options = {
        .method = json_string_value(json_object_get(record, "method"))};
    const rs_tiles tiles = {count_of(record, "tile_rows"), count_of(record, "tile_cols")};
    if (rs_choose_exactly(choice, matrices, traits, &options, tiles) != RESTRIDE_OK) {
        choice->method = NULL;
        return;
    }
    snprintf(choice->why, sizeof choice->why,
             "Wisdom of a measurement: %s ms, against %s ms of the planner's own choice.",
             rs_decimal(1e3 * seconds_of(record, "seconds"), 3).text,
             rs_decimal(1e3 * seconds_of(record, "planner_seconds"), 3).text);
}

/* The exchanges of a path are numbers three by three; a path that is damaged has none. */
static void read_path(rs_path *path, const json_t *record)
{
    const json_t *numbers = json_object_get(record, "exchanges");
    size_t count = json_array_size(numbers);
    if (count % 3 != 0 || count / 3 > RS_FACTOR_MOST_EXCHANGES)
        return;
    for (size_t i = 0; i < count / 3; i++)
        path->exchanges[i] =
            (rs_exchange){(size_t)json_integer_value(json_array_get(numbers, 3 * i)),
                          (size_t)json_integer_value(json_array_get(numbers, 3 * i + 1)),
                          (size_t)json_integer_value(json_array_get(numbers, 3 * i + 2))};
    path->count = count / 3;
}

/* ---- costs of stages ---- */

static json_t *describe_rates(const restride_engine *engine, const rs_engine_traits *traits)
{
    return at_place(engine, traits, json_pack("{s:i}", "rates", RS_RATES_VERSION));
}

/* Kind by kind, in parts of a thousand. */
static json_t *rates_json(const rs_rates *rates)
{
    size_t numbers[RS_RATE_KINDS * RS_RATE_SIZES];
    for (size_t kind = 0; kind < RS_RATE_KINDS; kind++)
        for (size_t i = 0; i < RS_RATE_SIZES; i++)
            numbers[kind * RS_RATE_SIZES + i] = (size_t)(1e3 * rates->factors[kind][i] + 0.5);
    return describe_numbers(numbers, sizeof numbers / sizeof numbers[0]);
}

static bool read_rates(rs_rates *rates, const json_t *record)
{
    const json_t *numbers = json_object_get(record, "factors");
    if (json_array_size(numbers) != RS_RATE_KINDS * (size_t)RS_RATE_SIZES)
        return false;
    for (size_t i = 0; i < json_array_size(numbers); i++)
        rates->factors[i / RS_RATE_SIZES][i % RS_RATE_SIZES] =
            1e-3 * (double)json_integer_value(json_array_get(numbers, i));
    return rs_rates_check(rates);
}

/* Behind the lock. What is not there, damaged or beyond the memory leaves the planner its own
 * weights. */
static void know_rates(wisdom *w, const restride_engine *engine, const rs_engine_traits *traits)
{
    w->rates_known = true;
    w->rates = NULL;
    if (json_array_size(w->records) == 0)
        return;
    json_t *problem = describe_rates(engine, traits);
    size_t place = SIZE_MAX;
    kept_rates *kept = malloc(sizeof *kept);
    bool found = problem != NULL && kept != NULL && rs_wisdom_find(w->places, problem, &place) &&
                 place != SIZE_MAX && read_rates(&kept->rates, json_array_get(w->records, place));
    json_decref(problem);
    if (!found) {
        free(kept);
        return;
    }
    kept->next = w->all_rates;
    w->all_rates = kept;
    w->rates = &kept->rates;
}

rs_engine_traits rs_wisdom_traits(const restride_engine *engine, size_t bytes)
{
    rs_engine_traits traits = engine->operations->traits(engine);
    wisdom *w;
    if (bytes < RS_WISDOM_LEAST_BYTES || !rs_cost_is_host(&traits) ||
        open_wisdom((restride_engine *)(uintptr_t)engine, &w) != RESTRIDE_OK)
        return traits;
    if (!w->rates_known)
        know_rates(w, engine, &traits);
    traits.rates = w->rates;
    pthread_mutex_unlock(&w->base.lock);
    return traits;
}

/* A query, and where its answer goes. */
typedef struct {
    restride_engine *engine;
    const rs_engine_traits *traits;
    const rs_matrices *matrices; /* or: */
    const rs_axis_order *arrangement;
    size_t outer;
    rs_stage_choice *choice;
    rs_path *path;
} question;

static void answer(const question *q, const json_t *record)
{
    if (q->matrices != NULL)
        follow(q->choice, record, q->matrices, q->traits);
    else
        read_path(q->path, record);
}

static restride_status look_up(const question *q)
{
    wisdom *w;
    restride_status status = open_wisdom(q->engine, &w);
    if (status != RESTRIDE_OK)
        return status;
    if (json_array_size(w->records) > 0) {
        json_t *problem = q->matrices != NULL ? describe_problem(q->engine, q->matrices, q->traits)
                                              : describe_permutation(q->engine, q->arrangement,
                                                                     q->outer, q->traits);
        size_t place = SIZE_MAX;
        if (problem == NULL || !rs_wisdom_find(w->places, problem, &place))
            status = rs_fail_memory("the wisdom");
        if (place != SIZE_MAX)
            answer(q, json_array_get(w->records, place));
        json_decref(problem);
    }
    pthread_mutex_unlock(&w->base.lock);
    return status;
}

restride_status rs_wisdom_choose(rs_stage_choice *choice, restride_engine *engine,
                                 const rs_matrices *matrices, const rs_engine_traits *traits)
{
    choice->method = NULL;
    if (matrices->rows * matrices->cols * matrices->unit * matrices->batch < RS_WISDOM_LEAST_BYTES)
        return RESTRIDE_OK;
    const question q = {.engine = engine, .traits = traits, .matrices = matrices, .choice = choice};
    return look_up(&q);
}

restride_status rs_wisdom_find_path(rs_path *path, restride_engine *engine,
                                    const rs_axis_order *arrangement, size_t outer,
                                    const rs_engine_traits *traits)
{
    path->count = 0;
    if (rs_axis_order_bytes(arrangement, outer) < RS_WISDOM_LEAST_BYTES)
        return RESTRIDE_OK;
    const question q = {.engine = engine,
                        .traits = traits,
                        .arrangement = arrangement,
                        .outer = outer,
                        .path = path};
    return look_up(&q);
}

/* ---- changes: plans that the engine keeps follow what it knew before, and are forgotten ---- */

static restride_status fail_off(void)
{
    return rs_fail(
        RESTRIDE_UNSUPPORTED,
        "Wisdom is switched off: RESTRIDE_WISDOM is empty, or there is no HOME to keep a "
        "file in; name one in RESTRIDE_WISDOM.");
}

/* Into the file, and into what the engine knows. */
static restride_status add_records(wisdom *w, const json_t *records, bool replace)
{
    if (!rs_wisdom_merge(w->records, w->places, records, replace))
        return rs_fail_memory("the wisdom");
    return w->path == NULL ? fail_off() : rs_wisdom_file_merge(w->path, records, replace);
}

/* Keeps one record, which is released; NULL when memory was short. */
static restride_status learn(restride_engine *engine, json_t *record)
{
    wisdom *w;
    json_t *records = json_pack("[o]", record);
    restride_status status = open_wisdom(engine, &w);
    if (status == RESTRIDE_OK) {
        w->rates_known = false;
        status = records == NULL ? rs_fail_memory("the wisdom") : add_records(w, records, true);
        pthread_mutex_unlock(&w->base.lock);
    }
    restride_engine_forget_plans(engine);
    json_decref(records);
    return status;
}

restride_status rs_wisdom_learn(restride_engine *engine, const rs_matrices *matrices,
                                const rs_engine_traits *traits, const rs_stage_choice *choice,
                                double seconds, double planner_seconds)
{
    return learn(engine, json_pack("{s:o, s:s, s:I, s:I, s:f, s:f}", "problem",
                                   describe_problem(engine, matrices, traits), "method",
                                   choice->method, "tile_rows", (json_int_t)choice->tiles.rows,
                                   "tile_cols", (json_int_t)choice->tiles.cols, "seconds", seconds,
                                   "planner_seconds", planner_seconds));
}

restride_status rs_wisdom_learn_path(restride_engine *engine, const rs_axis_order *arrangement,
                                     size_t outer, const rs_engine_traits *traits,
                                     const rs_path *path, double seconds, double planner_seconds)
{
    size_t numbers[3 * RS_FACTOR_MOST_EXCHANGES];
    for (size_t i = 0; i < path->count; i++) {
        numbers[3 * i] = path->exchanges[i].begin;
        numbers[3 * i + 1] = path->exchanges[i].middle;
        numbers[3 * i + 2] = path->exchanges[i].end;
    }
    return learn(engine, json_pack("{s:o, s:s, s:i, s:i, s:o, s:f, s:f}", "problem",
                                   describe_permutation(engine, arrangement, outer, traits),
                                   "method", "factored", "tile_rows", 0, "tile_cols", 0,
                                   "exchanges", describe_numbers(numbers, 3 * path->count),
                                   "seconds", seconds, "planner_seconds", planner_seconds));
}

/* Every record says seconds; these say nothing. */
restride_status rs_wisdom_learn_rates(restride_engine *engine, const rs_rates *rates)
{
    const rs_engine_traits traits = engine->operations->traits(engine);
    return learn(engine, json_pack("{s:o, s:s, s:i, s:i, s:o, s:f, s:f}", "problem",
                                   describe_rates(engine, &traits), "method", "rates", "tile_rows",
                                   0, "tile_cols", 0, "factors", rates_json(rates), "seconds", 1.0,
                                   "planner_seconds", 1.0));
}

restride_status restride_wisdom_check(restride_engine *engine)
{
    if (engine == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT, "restride_wisdom_check needs an engine.");
    wisdom *w;
    restride_status status = open_wisdom(engine, &w);
    if (status != RESTRIDE_OK)
        return status;
    status = w->problem;
    if (status != RESTRIDE_OK)
        rs_fail(status, "%s", w->sentence);
    pthread_mutex_unlock(&w->base.lock);
    return status;
}

restride_status restride_wisdom_import(restride_engine *engine, const char *path)
{
    if (engine == NULL || path == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "restride_wisdom_import needs an engine and the name of a file.");
    wisdom *w;
    restride_status status = open_wisdom(engine, &w);
    if (status != RESTRIDE_OK)
        return status;
    json_t *records = NULL;
    w->rates_known = false;
    status = w->path == NULL ? fail_off() : rs_wisdom_file_read(path, true, &records);
    /* The file first: an engine must not know what could not be kept. */
    if (status == RESTRIDE_OK)
        status = rs_wisdom_file_merge(w->path, records, false);
    if (status == RESTRIDE_OK && !rs_wisdom_merge(w->records, w->places, records, false))
        status = rs_fail_memory("the wisdom");
    json_decref(records);
    pthread_mutex_unlock(&w->base.lock);
    restride_engine_forget_plans(engine);
    return status;
}

restride_status restride_wisdom_export(restride_engine *engine, const char *path)
{
    if (engine == NULL || path == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "restride_wisdom_export needs an engine and the name of a file.");
    wisdom *w;
    restride_status status = open_wisdom(engine, &w);
    if (status != RESTRIDE_OK)
        return status;
    status = rs_wisdom_file_write(path, w->records);
    pthread_mutex_unlock(&w->base.lock);
    return status;
}

restride_status restride_wisdom_forget(restride_engine *engine)
{
    if (engine == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT, "restride_wisdom_forget needs an engine.");
    wisdom *w;
    restride_status status = open_wisdom(engine, &w);
    if (status != RESTRIDE_OK)
        return status;
    status = w->path == NULL ? fail_off() : rs_wisdom_file_remove(w->path);
    if (status == RESTRIDE_OK) {
        json_array_clear(w->records);
        json_object_clear(w->places);
        w->rates_known = false;
        note_problem(w, RESTRIDE_OK);
    }
    pthread_mutex_unlock(&w->base.lock);
    restride_engine_forget_plans(engine);
    return status;
}
