/*
 * What stages of the host cost here: an example of each kind (rates.h) at each size runs in turns
 * with a copy by the same threads. What it takes, in copies, beside the model's weight is the
 * factor. A machine whose processors share no cache shows in these figures like any other.
 */
#include "base/seconds.h"
#include "engine/host/team.h"
#include "transpose/cost.h"
#include "transpose/rates.h"
#include "transpose/tune.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE_BYTES = 2 << 20, RUNS = 3, FEW_RUNS = 2, LARGE_BYTES = 8 << 20 };

/* What takes longer runs once: it is not over before another program has had its turn, either. */
static const double long_seconds = 0.012;

/* ---- memory and copies ---- */

static restride_status take_memory(unsigned char **memory, size_t bytes)
{
    void *begin = NULL;
    if (posix_memalign(&begin, PAGE_BYTES, bytes) != 0)
        return rs_fail_memory("the measurements");
    madvise(begin, bytes, MADV_HUGEPAGE); /* a refusal costs speed alone */
    memset(begin, 1, bytes);
    *memory = begin;
    return RESTRIDE_OK;
}

/* ---- one example ---- */

typedef struct {
    restride_engine *engine;
    rs_engine_traits traits;
    unsigned char *array;
    unsigned char *other;
} bench;

static double least(const double *seconds, size_t count)
{
    double found = seconds[0];
    for (size_t i = 1; i < count; i++)
        found = fmin(found, seconds[i]);
    return found;
}

/* In copies of as many bytes; negative after a failure. */
static double measure(const bench *b, rs_stage *stage, size_t bytes, size_t runs)
{
    const rs_engine_operations *o = b->engine->operations;
    double stages[RUNS];
    double copies[RUNS];
    void *scratch = NULL;
    size_t kept;
    size_t wanted = o->scratch_bytes(stage, &kept);
    if (wanted != 0 && o->acquire_scratch(b->engine, wanted, &scratch) != RESTRIDE_OK)
        return -1;
    restride_status status = RESTRIDE_OK;
    size_t done = 0;
    while (done < runs && status == RESTRIDE_OK && (done == 0 || stages[0] < long_seconds)) {
        double begin = rs_seconds_now();
        rs_host_team_copy(rs_engine_workers(&b->traits, bytes), b->other, b->array, bytes);
        double middle = rs_seconds_now();
        status = o->run(stage, b->array, scratch, NULL, NULL);
        copies[done] = middle - begin;
        stages[done++] = rs_seconds_now() - middle;
    }
    if (scratch != NULL)
        o->release_scratch(b->engine, wanted, scratch);
    return status == RESTRIDE_OK ? least(stages, done) / least(copies, done) : -1;
}

/* One factor. */
static restride_status find_factor(const bench *b, size_t kind, size_t size, double *factor)
{
    const rs_transpose_task task = rs_rates_example(kind, rs_rate_sizes[size], &b->traits);
    size_t limit = rs_choose_scratch_limit(rs_rate_sizes[size], &b->traits);
    rs_engine_traits traits = b->traits;
    traits.workers = rs_engine_workers(&traits, rs_rate_sizes[size]);
    traits.rates = NULL;
    double weight = rs_cost_of_transpose(&task, &traits, limit);
    rs_stage *stage;
    restride_status status =
        b->engine->operations->create_transpose(b->engine, &task, limit, &stage);
    if (status != RESTRIDE_OK)
        return status;
    size_t runs = rs_rate_sizes[size] < LARGE_BYTES ? RUNS : FEW_RUNS;
    double copies = measure(b, stage, task.pitch, runs);
    b->engine->operations->destroy_stage(stage);
    *factor = rs_rates_limit(copies / weight);
    return copies > 0 ? RESTRIDE_OK : rs_fail_memory("the measurements");
}

static restride_status find_all(const bench *b, rs_rates *rates)
{
    restride_status status = RESTRIDE_OK;
    for (size_t kind = 0; kind < RS_RATE_KINDS; kind++)
        for (size_t size = 0; size < RS_RATE_SIZES && status == RESTRIDE_OK; size++)
            status = find_factor(b, kind, size, &rates->factors[kind][size]);
    return status;
}

restride_status restride_tune_rates(restride_engine *engine, double *seconds)
{
    double begin = rs_seconds_now();
    if (engine == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT, "restride_tune_rates needs an engine.");
    bench b = {.engine = engine, .traits = engine->operations->traits(engine)};
    if (!rs_cost_is_host(&b.traits))
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "The costs of the %s engine are those of its kind of device; only the "
                       "host's are measured.",
                       engine->operations->name);
    rs_rates rates;
    const size_t most = rs_rate_sizes[RS_RATE_SIZES - 1] + PAGE_BYTES;
    restride_status status = take_memory(&b.array, most);
    if (status == RESTRIDE_OK)
        status = take_memory(&b.other, most);
    if (status == RESTRIDE_OK)
        status = find_all(&b, &rates);
    free(b.array);
    free(b.other);
    if (seconds != NULL)
        *seconds = rs_seconds_now() - begin;
    return status == RESTRIDE_OK ? rs_wisdom_learn_rates(engine, &rates) : status;
}
