/* Who reads which object, the most popular object first (step 1 of padding and of approximation).
 */
#include "base/arithmetic.h"
#include "irregular/irregular.h"

#include <stdlib.h>

/* `object`: what the threads read, sorted. */
static size_t count_runs(const rs_reads *reads, const size_t *object)
{
    size_t runs = 0;
    for (size_t t = 0; t < reads->threads; t++)
        runs += t == 0 || object[t] != object[t - 1];
    return runs;
}

/* The runs in the order of their objects; returns the length of the longest. */
static size_t find_runs(const rs_reads *reads, const size_t *object, rs_run *run)
{
    size_t longest = 0;
    size_t runs = 0;
    for (size_t t = 0; t < reads->threads; t++) {
        if (t == 0 || object[t] != object[t - 1])
            run[runs++] = (rs_run){object[t], t, 0};
        size_t length = ++run[runs - 1].count;
        longest = length > longest ? length : longest;
    }
    return longest;
}

static restride_status sort_runs(rs_popularity *popularity, const rs_reads *reads,
                                 const size_t *object)
{
    size_t runs = popularity->runs;
    size_t *keys = malloc(runs * sizeof *keys);
    size_t *order = malloc(runs * sizeof *order);
    rs_run *by_object = malloc(runs * sizeof *by_object);
    restride_status status = RESTRIDE_OK;
    if (keys == NULL || order == NULL || by_object == NULL)
        status = rs_fail_memory("the popularity of objects");
    if (status == RESTRIDE_OK) {
        size_t longest = find_runs(reads, object, by_object);
        for (size_t i = 0; i < runs; i++)
            keys[i] = longest - by_object[i].count;
        status = rs_order_by_key(order, NULL, keys, runs, longest, reads->processors);
    }
    for (size_t i = 0; status == RESTRIDE_OK && i < runs; i++)
        popularity->run[i] = by_object[order[i]];
    free(by_object);
    free(order);
    free(keys);
    return status;
}

restride_status rs_popularity_create(rs_popularity *popularity, const rs_reads *reads)
{
    *popularity = (rs_popularity){.thread = malloc(reads->threads * sizeof(size_t))};
    size_t *object = malloc(reads->threads * sizeof *object);
    restride_status status =
        popularity->thread == NULL || object == NULL
            ? rs_fail_memory("the order of threads")
            : rs_order_by_key(popularity->thread, object, reads->object, reads->threads,
                              reads->objects - 1, reads->processors);
    if (status == RESTRIDE_OK) {
        size_t bytes;
        popularity->runs = count_runs(reads, object);
        if (rs_size_multiply(popularity->runs, sizeof *popularity->run, &bytes))
            popularity->run = malloc(bytes);
        status = popularity->run == NULL ? rs_fail_memory("the popularity of objects")
                                         : sort_runs(popularity, reads, object);
    }
    free(object);
    if (status != RESTRIDE_OK)
        rs_popularity_free(popularity);
    return status;
}

void rs_popularity_free(rs_popularity *popularity)
{
    free(popularity->thread);
    free(popularity->run);
    *popularity = (rs_popularity){0};
}
