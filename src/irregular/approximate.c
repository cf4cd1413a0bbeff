/*
 * Approximation with a bound (Zhang, Li, Shen): threads in three groups. No extra memory.
 *
 *   popular   an object that a whole warp or more reads: full warps, a segment or object each
 *   alone     objects that one thread reads: full warps of neighbours at segment borders
 *   the rest  the others, and what did not fill a warp above; sorted by popularity
 *
 * A warp of the rest reads neighbours, which begin anywhere: at most one segment more than they
 * must touch. So, with warps of no more objects than a segment holds, the total is at most the
 * optimum (one transaction a warp) plus one for each warp of the rest: the paper's bound with R
 * = 1.
 */
#include "irregular/irregular.h"

#include <stdbool.h>
#include <stdlib.h>

typedef struct {
    const rs_reads *reads;
    const rs_popularity *popularity;
    rs_arrangement *arrangement;
    size_t *slot; /* of each object, or RS_EMPTY_SLOT */
    size_t threads;
} work;

static bool is_popular(const work *w, const rs_run *run)
{
    return run->count >= w->reads->warp && run->count > 1;
}

/* Adds the run's threads from the one numbered `from` to before `to`. */
static void add_threads(work *w, const rs_run *run, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        w->arrangement->order[w->threads++] = w->popularity->thread[run->first + i];
}

static void add_object(work *w, size_t object)
{
    if (w->slot[object] != RS_EMPTY_SLOT)
        return;
    w->slot[object] = w->arrangement->slots;
    w->arrangement->source[w->arrangement->slots++] = object;
}

/* The runs are sorted by popularity, so those of one thread are the last. */
static size_t first_alone(const rs_popularity *popularity)
{
    size_t first = popularity->runs;
    while (first > 0 && popularity->run[first - 1].count == 1)
        first--;
    return first;
}

/* Segments that one object can touch, wherever its slot is. */
static size_t at_any_place(const rs_reads *reads)
{
    bool within = reads->segment_bytes % reads->object_bytes == 0 ||
                  reads->object_bytes % reads->segment_bytes == 0;
    return rs_segments(reads, 1) + (within ? 0 : 1);
}

/* Whether warps of different objects, one after another, never touch a segment too many. */
static bool side_by_side(const rs_reads *reads)
{
    return rs_next_border(reads, reads->warp) == reads->warp ||
           reads->segment_bytes % (reads->warp * reads->object_bytes) == 0;
}

size_t rs_approximation_bound(const rs_reads *reads, size_t popular_warps, size_t alone_warps,
                              size_t rest)
{
    size_t most = rs_segments(reads, reads->warp);
    return popular_warps * at_any_place(reads) +
           alone_warps * (side_by_side(reads) ? most : most + 1) +
           (rest / reads->warp + (rest % reads->warp > 0)) * (most + 1);
}

static void group(work *w)
{
    const rs_popularity *popularity = w->popularity;
    const rs_run *run = popularity->run;
    size_t warp = w->reads->warp;
    size_t alone = first_alone(popularity);
    size_t last_alone = alone + (popularity->runs - alone) / warp * warp;
    for (size_t r = 0; r < alone && is_popular(w, &run[r]); r++)
        add_threads(w, &run[r], 0, run[r].count / warp * warp);
    size_t popular_warps = w->threads / warp;
    for (size_t r = alone; r < last_alone; r++) {
        add_threads(w, &run[r], 0, 1);
        add_object(w, run[r].object);
    }
    size_t alone_warps = (last_alone - alone) / warp;
    size_t rest = w->reads->threads - w->threads;
    for (size_t r = 0; r < popularity->runs; r++) {
        size_t from = is_popular(w, &run[r]) ? run[r].count / warp * warp : 0;
        if (r >= alone && r < last_alone)
            continue;
        add_threads(w, &run[r], from, run[r].count);
        if (from < run[r].count)
            add_object(w, run[r].object);
    }
    for (size_t i = 0; i < w->reads->objects; i++)
        add_object(w, i);
    w->arrangement->bound = rs_approximation_bound(w->reads, popular_warps, alone_warps, rest);
}

/* The slots that the threads [begin, end) read. */
static void fill_index(void *context, size_t begin, size_t end)
{
    const work *w = context;
    for (size_t t = begin; t < end; t++)
        w->arrangement->index[t] = w->slot[w->reads->object[w->arrangement->order[t]]];
}

restride_status rs_approximate(rs_arrangement *arrangement, const rs_reads *reads, size_t budget)
{
    (void)budget; /* every object is stored once */
    rs_popularity popularity;
    restride_status status = rs_popularity_create(&popularity, reads);
    if (status != RESTRIDE_OK)
        return status;
    size_t bytes = reads->threads * sizeof(size_t);
    *arrangement = (rs_arrangement){.order = malloc(bytes),
                                    .index = malloc(bytes),
                                    .source = malloc(reads->objects * sizeof(size_t))};
    work w = {reads, &popularity, arrangement, malloc(reads->objects * sizeof(size_t)), 0};
    if (arrangement->order == NULL || arrangement->index == NULL || arrangement->source == NULL ||
        w.slot == NULL) {
        status = rs_fail_memory("the order of data and threads");
        rs_arrangement_free(arrangement);
    } else {
        for (size_t i = 0; i < reads->objects; i++)
            w.slot[i] = RS_EMPTY_SLOT;
        group(&w);
        rs_share_items(reads->processors, reads->threads, fill_index, &w);
    }
    free(w.slot);
    rs_popularity_free(&popularity);
    return status;
}

restride_status rs_follow(rs_arrangement *arrangement, const rs_reads *reads, const size_t *order)
{
    size_t bytes = reads->threads * sizeof(size_t);
    *arrangement =
        (rs_arrangement){.index = malloc(bytes), .source = malloc(reads->objects * sizeof(size_t))};
    work w = {reads, NULL, arrangement, malloc(reads->objects * sizeof(size_t)), 0};
    if (arrangement->index == NULL || arrangement->source == NULL || w.slot == NULL) {
        free(w.slot);
        rs_arrangement_free(arrangement);
        return rs_fail_memory("the order of data");
    }
    for (size_t i = 0; i < reads->objects; i++)
        w.slot[i] = RS_EMPTY_SLOT;
    for (size_t t = 0; t < reads->threads; t++) {
        size_t object = reads->object[order[t]];
        add_object(&w, object);
        arrangement->index[t] = w.slot[object];
    }
    for (size_t i = 0; i < reads->objects; i++)
        add_object(&w, i);
    free(w.slot);
    arrangement->bound = rs_warps(reads) * (rs_segments(reads, 1) + 1) * reads->warp;
    return RESTRIDE_OK;
}
