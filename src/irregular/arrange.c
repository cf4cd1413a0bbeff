/*
 * Plans made on a device: duplication, and the approximation of approximate.c, whose numbers it
 * reproduces. Every step is one item a thread, run or object, and what each of them needs to know
 * of those before it is a sum (engine/device/sort.h); src/engine/kernels/irregular.cl has them.
 */
#include "engine/device/sort.h"
#include "irregular/device.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    TAKE_INDEX,
    NUMBER,
    MARK_RUNS,
    FIND_RUNS,
    MEASURE_RUNS,
    RANK_RUNS,
    WEIGH_RUNS,
    CLEAR_SLOTS,
    PLACE_RUNS,
    MARK_UNPLACED,
    PLACE_OBJECTS,
    PLACE_THREADS,
    COUNT_TRANSACTIONS,
    KERNELS
};
static const char *const kernel_names[KERNELS] = {
    "take_index",    "number",        "mark_runs",         "find_runs",  "measure_runs",
    "rank_runs",     "weigh_runs",    "clear_slots",       "place_runs", "mark_unplaced",
    "place_objects", "place_threads", "count_transactions"};

/* As in the kernels. */
enum { GROUP = 256, SPAN = 1024, REACH_BYTES = 24, OFFENDER = 0, LONGEST, ALONE, FOUND };
enum { MOST_MEMORIES = 24 };

static const char doing[] = "making a plan for irregular references";

/* Runs of the sorted references, one an object that is read. */
typedef struct {
    size_t count;
    uint32_t longest;    /* threads */
    uint32_t alone;      /* the first, by popularity, of one thread */
    uint32_t last_alone; /* behind those that fill warps together */
    rs_device_memory first;
    rs_device_memory object;
    rs_sorter_pairs ranked; /* values: numbers of runs, the most popular first */
    rs_device_memory full;
    rs_device_memory rest;
    rs_device_memory in_rest;
    rs_device_memory full_start;
    rs_device_memory rest_start;
} run_table;

typedef struct {
    restride_irregular_device *plan;
    rs_device_engine *engine;
    rs_device_sequence sequence;
    rs_device_kernel kernels[KERNELS];
    rs_sorter sorter;
    rs_device_memory memories[MOST_MEMORIES]; /* to be released; NULL: the plan's by now */
    size_t memory_count;
    restride_status status; /* of the allocations */
    rs_device_memory found;
    rs_device_memory sums;   /* of transactions */
    rs_sorter_pairs threads; /* keys: the objects they read */
    run_table runs;
} making;

/* ---- memory ---- */

static rs_device_memory take(making *m, size_t bytes)
{
    rs_device_memory memory = NULL;
    if (m->status == RESTRIDE_OK)
        m->status = m->engine->device->allocate(m->engine, bytes, &memory);
    if (m->status != RESTRIDE_OK)
        return NULL;
    m->memories[m->memory_count++] = memory;
    return memory;
}

static rs_device_memory take_numbers(making *m, size_t count)
{
    return take(m, count * sizeof(uint32_t));
}

/* Makes memory that was taken the plan's own. */
static rs_device_memory keep(making *m, rs_device_memory memory)
{
    for (size_t i = 0; i < m->memory_count; i++)
        if (m->memories[i] == memory)
            m->memories[i] = NULL;
    return memory;
}

static rs_sorter_pairs take_pairs(making *m, size_t count)
{
    rs_sorter_pairs pairs;
    pairs.keys = take_numbers(m, count);
    pairs.values = take_numbers(m, count);
    pairs.other_keys = take_numbers(m, count);
    pairs.other_values = take_numbers(m, count);
    return pairs;
}

static void finish_making(making *m)
{
    for (size_t i = 0; i < m->memory_count; i++)
        if (m->memories[i] != NULL)
            m->engine->device->release(m->engine, m->memories[i]);
    rs_sorter_destroy(&m->sorter);
}

/* ---- launches ---- */

static void launch(making *m, int kernel, const rs_device_argument *arguments, size_t count,
                   size_t items)
{
    rs_device_launch(&m->sequence, m->kernels[kernel], arguments, count,
                     rs_size_divide_up(items, GROUP), 1, GROUP);
}
#define LAUNCH(m, kernel, items, ...)                                                              \
    launch(m, kernel, (const rs_device_argument[]){__VA_ARGS__},                                   \
           sizeof((const rs_device_argument[]){__VA_ARGS__}) / sizeof(rs_device_argument), items)

static restride_status read_found(making *m, uint32_t found[FOUND])
{
    return rs_device_finish_reading(&m->sequence, found, m->found, FOUND * sizeof *found, doing);
}

/* Whole warps that a group counts, in threads. */
static size_t span(const rs_reads *reads)
{
    return SPAN / reads->warp * reads->warp;
}

/* Transactions of threads that read `slot`; `least`: what their different slots need at least. */
static restride_status count_transactions(making *m, rs_device_memory slot, bool least,
                                          size_t *total)
{
    const rs_reads *reads = &m->plan->reads;
    size_t groups = rs_size_divide_up(reads->threads, span(reads));
    const rs_device_argument arguments[] = {
        RS_ARGUMENT(slot),    RS_ULONG(reads->threads),      RS_UINT(reads->warp),
        RS_UINT(span(reads)), RS_ULONG(reads->object_bytes), RS_ULONG(reads->segment_bytes),
        RS_UINT(least),       RS_ARGUMENT(m->sums),          RS_LOCAL_MEMORY(SPAN * REACH_BYTES)};
    uint64_t *sums = malloc(groups * sizeof *sums);
    if (sums == NULL)
        return rs_fail_memory("counting transactions");
    rs_device_launch(&m->sequence, m->kernels[COUNT_TRANSACTIONS], arguments,
                     sizeof arguments / sizeof arguments[0], groups, 1, GROUP);
    restride_status status =
        rs_device_finish_reading(&m->sequence, sums, m->sums, groups * sizeof *sums, doing);
    *total = 0;
    for (size_t i = 0; status == RESTRIDE_OK && i < groups; i++)
        *total += (size_t)sums[i];
    free(sums);
    return status;
}

/* ---- both methods ---- */

static restride_status begin(making *m)
{
    char options[64];
    snprintf(options, sizeof options, "-D WORD=uint -D INDEX=%s",
             m->plan->index_bytes == 8 ? "ulong" : "uint");
    restride_status status = rs_sorter_check(m->engine);
    if (status == RESTRIDE_OK)
        status = rs_device_create_kernels(m->engine, rs_device_irregular_kernels, options,
                                          kernel_names, KERNELS, m->kernels);
    if (status != RESTRIDE_OK)
        return status;
    const rs_reads *reads = &m->plan->reads;
    m->found = take_numbers(m, FOUND);
    m->sums = take(m, rs_size_divide_up(reads->threads, span(reads)) * sizeof(uint64_t));
    return m->status;
}

/* Copies the index array to `object`, and checks it. */
static restride_status take_index(making *m, void *index, rs_device_memory object)
{
    static const uint32_t initial[FOUND] = {[OFFENDER] = UINT32_MAX};
    restride_status status =
        m->engine->device->write(m->engine, m->found, initial, sizeof initial, doing);
    if (status != RESTRIDE_OK)
        return status;
    uint64_t threads = m->plan->reads.threads;
    uint64_t objects = m->plan->reads.objects;
    LAUNCH(m, TAKE_INDEX, threads, RS_ARGUMENT(index), RS_ARGUMENT(object), RS_ARGUMENT(threads),
           RS_ARGUMENT(objects), RS_ARGUMENT(m->found));
    uint32_t found[FOUND];
    status = read_found(m, found);
    if (status == RESTRIDE_OK && found[OFFENDER] != UINT32_MAX)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "Thread %u reads behind the array, which has only %zu objects; mend the "
                       "index array.",
                       (unsigned)found[OFFENDER], m->plan->reads.objects);
    if (status == RESTRIDE_OK)
        status = count_transactions(m, object, false, &m->plan->facts.transactions_before);
    return status;
}

static restride_status duplicate(making *m, void *index)
{
    restride_irregular_device *plan = m->plan;
    uint64_t threads = plan->reads.threads;
    rs_device_memory source = take_numbers(m, threads);
    rs_device_memory numbers = take_numbers(m, threads);
    restride_status status = m->status;
    if (status == RESTRIDE_OK)
        status = take_index(m, index, source);
    if (status == RESTRIDE_OK)
        status = count_transactions(m, source, true, &plan->facts.transactions_best);
    if (status != RESTRIDE_OK)
        return status;
    LAUNCH(m, NUMBER, threads, RS_ARGUMENT(numbers), RS_ARGUMENT(threads));
    status = count_transactions(m, numbers, false, &plan->facts.transactions_after);
    if (status != RESTRIDE_OK)
        return status;
    plan->source = keep(m, source);
    plan->index = keep(m, numbers);
    plan->slots = threads;
    plan->facts.transactions_bound = rs_duplication_bound(&plan->reads);
    plan->facts.extra_bytes = threads * plan->reads.object_bytes;
    return RESTRIDE_OK;
}

/* ---- approximation ---- */

/* Sorts the threads by object and finds the runs; `marks` receives their sums. */
static restride_status find_runs(making *m, rs_device_memory *marks)
{
    const rs_reads *reads = &m->plan->reads;
    run_table *runs = &m->runs;
    uint64_t threads = reads->threads;
    size_t most = threads < reads->objects ? threads : reads->objects;
    rs_sorter_sort(&m->sorter, &m->sequence, &m->threads, threads, reads->objects - 1, true);
    *marks = m->threads.other_keys;
    LAUNCH(m, MARK_RUNS, threads, RS_ARGUMENT(m->threads.keys), RS_ARGUMENT(*marks),
           RS_ARGUMENT(threads));
    rs_sorter_sum(&m->sorter, &m->sequence, *marks, threads);
    restride_status status = rs_sorter_total(&m->sorter, &m->sequence, threads, &runs->count);
    if (status != RESTRIDE_OK)
        return status;
    runs->first = take_numbers(m, most + 1);
    runs->object = take_numbers(m, most);
    runs->ranked = take_pairs(m, runs->count);
    if (m->status != RESTRIDE_OK)
        return m->status;
    LAUNCH(m, FIND_RUNS, threads, RS_ARGUMENT(m->threads.keys), RS_ARGUMENT(*marks),
           RS_ARGUMENT(threads), RS_ARGUMENT(runs->first), RS_ARGUMENT(runs->object));
    return RESTRIDE_OK;
}

/* Sorts the runs by popularity, and says which threads that read alone fill warps. */
static restride_status rank_runs(making *m)
{
    run_table *runs = &m->runs;
    uint64_t count = runs->count;
    uint32_t found[FOUND];
    LAUNCH(m, MEASURE_RUNS, count, RS_ARGUMENT(runs->first), RS_ARGUMENT(count),
           RS_ARGUMENT(m->found), RS_LOCAL_MEMORY(2 * sizeof(uint32_t)));
    restride_status status = read_found(m, found);
    if (status != RESTRIDE_OK)
        return status;
    size_t warp = m->plan->reads.warp;
    runs->longest = found[LONGEST];
    runs->alone = (uint32_t)count - found[ALONE];
    runs->last_alone = runs->alone + (uint32_t)(found[ALONE] / warp * warp);
    LAUNCH(m, RANK_RUNS, count, RS_ARGUMENT(runs->first), RS_ARGUMENT(count),
           RS_ARGUMENT(runs->longest), RS_ARGUMENT(runs->ranked.keys));
    rs_sorter_sort(&m->sorter, &m->sequence, &runs->ranked, count, runs->longest, true);
    return RESTRIDE_OK;
}

/* Sums what the runs have in each group of threads; the totals are how many there are. */
static restride_status weigh_runs(making *m, size_t *popular_threads, size_t *rest_threads,
                                  size_t *rest_objects)
{
    run_table *runs = &m->runs;
    uint64_t count = runs->count;
    uint32_t warp = (uint32_t)m->plan->reads.warp;
    runs->full = take_numbers(m, count);
    runs->rest = take_numbers(m, count);
    runs->in_rest = take_numbers(m, count);
    if (m->status != RESTRIDE_OK)
        return m->status;
    LAUNCH(m, WEIGH_RUNS, count, RS_ARGUMENT(runs->ranked.values), RS_ARGUMENT(runs->first),
           RS_ARGUMENT(count), RS_ARGUMENT(warp), RS_ARGUMENT(runs->alone),
           RS_ARGUMENT(runs->last_alone), RS_ARGUMENT(runs->full), RS_ARGUMENT(runs->rest),
           RS_ARGUMENT(runs->in_rest));
    const struct {
        rs_device_memory values;
        size_t *total;
    } sums[] = {
        {runs->full, popular_threads}, {runs->rest, rest_threads}, {runs->in_rest, rest_objects}};
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; status == RESTRIDE_OK && i < sizeof sums / sizeof sums[0]; i++) {
        rs_sorter_sum(&m->sorter, &m->sequence, sums[i].values, count);
        status = rs_sorter_total(&m->sorter, &m->sequence, count, sums[i].total);
    }
    return status;
}

/* A slot for each object, and where the threads of each run go. */
static restride_status place_objects(making *m, size_t popular_threads, size_t placed,
                                     rs_device_memory slot)
{
    run_table *runs = &m->runs;
    uint64_t objects = m->plan->reads.objects;
    uint64_t count = runs->count;
    uint32_t warp = (uint32_t)m->plan->reads.warp;
    uint32_t first_alone_thread = (uint32_t)popular_threads;
    uint32_t placed_objects = (uint32_t)placed;
    rs_device_memory source = take_numbers(m, objects);
    rs_device_memory marks = take_numbers(m, objects);
    runs->full_start = take_numbers(m, count);
    runs->rest_start = take_numbers(m, count);
    if (m->status != RESTRIDE_OK)
        return m->status;
    LAUNCH(m, CLEAR_SLOTS, objects, RS_ARGUMENT(slot), RS_ARGUMENT(objects));
    LAUNCH(m, PLACE_RUNS, count, RS_ARGUMENT(runs->ranked.values), RS_ARGUMENT(runs->first),
           RS_ARGUMENT(runs->object), RS_ARGUMENT(count), RS_ARGUMENT(warp),
           RS_ARGUMENT(runs->alone), RS_ARGUMENT(runs->last_alone), RS_ARGUMENT(first_alone_thread),
           RS_ARGUMENT(runs->full), RS_ARGUMENT(runs->rest), RS_ARGUMENT(runs->in_rest),
           RS_ARGUMENT(runs->full_start), RS_ARGUMENT(runs->rest_start), RS_ARGUMENT(slot));
    LAUNCH(m, MARK_UNPLACED, objects, RS_ARGUMENT(slot), RS_ARGUMENT(marks), RS_ARGUMENT(objects));
    rs_sorter_sum(&m->sorter, &m->sequence, marks, objects);
    LAUNCH(m, PLACE_OBJECTS, objects, RS_ARGUMENT(slot), RS_ARGUMENT(marks), RS_ARGUMENT(objects),
           RS_ARGUMENT(placed_objects), RS_ARGUMENT(source));
    m->plan->source = keep(m, source);
    return RESTRIDE_OK;
}

static restride_status place_threads(making *m, rs_device_memory marks, rs_device_memory slot)
{
    const run_table *runs = &m->runs;
    uint64_t threads = m->plan->reads.threads;
    uint32_t warp = (uint32_t)m->plan->reads.warp;
    rs_device_memory order = m->threads.other_values;
    rs_device_memory index = take_numbers(m, threads);
    if (m->status != RESTRIDE_OK)
        return m->status;
    LAUNCH(m, PLACE_THREADS, threads, RS_ARGUMENT(m->threads.keys), RS_ARGUMENT(m->threads.values),
           RS_ARGUMENT(marks), RS_ARGUMENT(threads), RS_ARGUMENT(warp), RS_ARGUMENT(runs->first),
           RS_ARGUMENT(runs->full_start), RS_ARGUMENT(runs->rest_start), RS_ARGUMENT(slot),
           RS_ARGUMENT(order), RS_ARGUMENT(index));
    m->plan->order = keep(m, order);
    m->plan->index = keep(m, index);
    return count_transactions(m, index, false, &m->plan->facts.transactions_after);
}

static restride_status arrange(making *m)
{
    size_t popular_threads = 0;
    size_t rest_threads = 0;
    size_t rest_objects = 0;
    rs_device_memory marks = NULL;
    rs_device_memory slot = take_numbers(m, m->plan->reads.objects);
    restride_status status = m->status;
    if (status == RESTRIDE_OK)
        status = find_runs(m, &marks);
    if (status == RESTRIDE_OK)
        status = rank_runs(m);
    if (status == RESTRIDE_OK)
        status = weigh_runs(m, &popular_threads, &rest_threads, &rest_objects);
    size_t alone = m->runs.last_alone - m->runs.alone;
    if (status == RESTRIDE_OK)
        status = place_objects(m, popular_threads, alone + rest_objects, slot);
    if (status == RESTRIDE_OK)
        status = place_threads(m, marks, slot);
    size_t warp = m->plan->reads.warp;
    m->plan->facts.transactions_bound =
        rs_approximation_bound(&m->plan->reads, popular_threads / warp, alone / warp, rest_threads);
    return status;
}

static restride_status approximate(making *m, void *index)
{
    restride_irregular_device *plan = m->plan;
    const rs_reads *reads = &plan->reads;
    size_t most = reads->threads > reads->objects ? reads->threads : reads->objects;
    m->threads = take_pairs(m, reads->threads);
    restride_status status = m->status;
    if (status == RESTRIDE_OK)
        status = rs_sorter_create(&m->sorter, m->engine, most);
    if (status == RESTRIDE_OK)
        status = take_index(m, index, m->threads.keys);
    if (status == RESTRIDE_OK)
        status = arrange(m);
    plan->slots = reads->objects;
    plan->facts.transactions_best = rs_least_in_any_order(reads, m->runs.count);
    return status;
}

restride_status rs_arrange_on_device(restride_irregular_device *plan, void *index)
{
    making m = {.plan = plan, .engine = plan->engine, .sequence = {.engine = plan->engine}};
    restride_status status = begin(&m);
    if (status == RESTRIDE_OK)
        status = plan->method == RESTRIDE_IRREGULAR_DUPLICATION ? duplicate(&m, index)
                                                                : approximate(&m, index);
    restride_status finished = rs_device_finish(&m.sequence, doing);
    finish_making(&m);
    return status == RESTRIDE_OK ? finished : status;
}
