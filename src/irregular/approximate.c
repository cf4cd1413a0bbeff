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
#include <string.h>

/* Where the threads of a run go that has several. */
typedef struct {
    size_t full; /* the first of those that fill warps */
    size_t rest; /* the first of the others */
    size_t slot; /* of the object, if there are others */
} way;

typedef struct {
    const rs_reads *reads;
    const rs_popularity *popularity;
    rs_arrangement *arrangement;
    size_t *slot; /* of each object, or RS_EMPTY_SLOT */
    way *ways;    /* of the runs before the first of a thread alone */
    size_t alone; /* the first of those */
    size_t last_alone;
    size_t rest;     /* the first thread of the third group */
    size_t leftover; /* where, in it, the runs from last_alone on begin */
    size_t leftover_slot;
} work;

static bool is_popular(const rs_reads *reads, const rs_run *run)
{
    return run->count >= reads->warp && run->count > 1;
}

/* Threads of a run that fill warps. */
static size_t full_threads(const rs_reads *reads, const rs_run *run)
{
    return is_popular(reads, run) ? run->count / reads->warp * reads->warp : 0;
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

/* Gives the groups, and the runs in them, their places. */
static void group(work *w)
{
    const rs_reads *reads = w->reads;
    const rs_popularity *popularity = w->popularity;
    size_t popular = 0;
    for (size_t r = 0; r < w->alone; r++)
        popular += full_threads(reads, &popularity->run[r]);
    size_t alone = w->last_alone - w->alone;
    w->rest = popular + alone;
    size_t full = 0;
    size_t rest = w->rest;
    size_t slot = alone;
    for (size_t r = 0; r < w->alone; r++) {
        const rs_run *run = &popularity->run[r];
        size_t filled = full_threads(reads, run);
        w->ways[r] = (way){full, rest, slot};
        full += filled;
        rest += run->count - filled;
        slot += filled < run->count;
    }
    w->leftover = rest;
    w->leftover_slot = slot;
    w->arrangement->slots = slot + (popularity->runs - w->last_alone);
    w->arrangement->bound = rs_approximation_bound(reads, popular / reads->warp,
                                                   alone / reads->warp, reads->threads - w->rest);
}

/* Where the one thread of a run goes, and its object. */
static way way_alone(const work *w, size_t r)
{
    size_t popular = w->rest - (w->last_alone - w->alone);
    if (r < w->last_alone)
        return (way){0, popular + (r - w->alone), r - w->alone};
    return (way){0, w->leftover + (r - w->last_alone), w->leftover_slot + (r - w->last_alone)};
}

static void clear_slots(void *context, size_t begin, size_t end)
{
    const work *w = context;
    for (size_t i = begin; i < end; i++)
        w->slot[i] = RS_EMPTY_SLOT;
}

/* Orders the threads of the runs [begin, end), and stores the objects that do not fill warps. */
static void place_runs(void *context, size_t begin, size_t end)
{
    const work *w = context;
    size_t *order = w->arrangement->order;
    for (size_t r = begin; r < end; r++) {
        const rs_run *run = &w->popularity->run[r];
        const size_t *thread = &w->popularity->thread[run->first];
        const way to = r < w->alone ? w->ways[r] : way_alone(w, r);
        size_t full = full_threads(w->reads, run);
        memcpy(&order[to.full], thread, full * sizeof *order);
        memcpy(&order[to.rest], thread + full, (run->count - full) * sizeof *order);
        if (full < run->count) {
            w->slot[run->object] = to.slot;
            w->arrangement->source[to.slot] = run->object;
        }
    }
}

/* The slots that the threads of the runs [begin, end) read. */
static void fill_index(void *context, size_t begin, size_t end)
{
    const work *w = context;
    size_t *index = w->arrangement->index;
    for (size_t r = begin; r < end; r++) {
        const rs_run *run = &w->popularity->run[r];
        const way to = r < w->alone ? w->ways[r] : way_alone(w, r);
        size_t full = full_threads(w->reads, run);
        size_t slot = w->slot[run->object];
        for (size_t i = 0; i < full; i++)
            index[to.full + i] = slot;
        for (size_t i = full; i < run->count; i++)
            index[to.rest + (i - full)] = slot;
    }
}

static void approximate(work *w)
{
    const rs_reads *reads = w->reads;
    group(w);
    rs_share_items(reads->processors, reads->objects, clear_slots, w);
    rs_share_items(reads->processors, w->popularity->runs, place_runs, w);
    for (size_t i = 0; i < reads->objects; i++)
        add_object(w, i);
    rs_share_items(reads->processors, w->popularity->runs, fill_index, w);
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
                                    .source = malloc(reads->objects * sizeof(size_t)),
                                    .read = popularity.runs};
    work w = {.reads = reads, .popularity = &popularity, .arrangement = arrangement};
    w.alone = first_alone(&popularity);
    w.last_alone = w.alone + (popularity.runs - w.alone) / reads->warp * reads->warp;
    w.slot = malloc(reads->objects * sizeof *w.slot);
    /* One more: none is no failure. Each has two threads or more, so this is no overflow. */
    w.ways = malloc((w.alone + 1) * sizeof *w.ways);
    if (arrangement->order == NULL || arrangement->index == NULL || arrangement->source == NULL ||
        w.slot == NULL || w.ways == NULL) {
        status = rs_fail_memory("the order of data and threads");
        rs_arrangement_free(arrangement);
    } else {
        approximate(&w);
    }
    free(w.ways);
    free(w.slot);
    rs_popularity_free(&popularity);
    return status;
}

restride_status rs_follow(rs_arrangement *arrangement, const rs_reads *reads, const size_t *order)
{
    size_t bytes = reads->threads * sizeof(size_t);
    *arrangement =
        (rs_arrangement){.index = malloc(bytes), .source = malloc(reads->objects * sizeof(size_t))};
    work w = {.reads = reads, .arrangement = arrangement};
    w.slot = malloc(reads->objects * sizeof *w.slot);
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
    arrangement->read = arrangement->slots;
    for (size_t i = 0; i < reads->objects; i++)
        add_object(&w, i);
    free(w.slot);
    arrangement->bound = rs_warps(reads) * (rs_segments(reads, 1) + 1) * reads->warp;
    return RESTRIDE_OK;
}
