/*
 * Copies of objects, for threads that stay where they are (Zhang, Li, Shen: the duplication
 * approach).
 *
 * In full, slot t holds what thread t reads: a warp reads neighbours. In part, the array stays and
 * the different objects of some warps are stored once more behind it, from a segment's border on,
 * so those warps need rs_segments(their objects), the fewest there can be. Which warps: those
 * that save most transactions a slot come first. The result saves at least as much as the best
 * choice for the budget less the warp that no longer fitted (the greedy bound of the knapsack
 * problem).
 */
#include "base/arithmetic.h"
#include "irregular/irregular.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void rs_arrangement_free(rs_arrangement *arrangement)
{
    free(arrangement->order);
    free(arrangement->index);
    free(arrangement->source);
    *arrangement = (rs_arrangement){0};
}

size_t rs_duplication_bound(const rs_reads *reads)
{
    bool borders = rs_next_border(reads, reads->warp) == reads->warp;
    return rs_warps(reads) * (rs_segments(reads, reads->warp) + (borders ? 0 : 1));
}

/* Thread t reads slot t, which holds what it read. */
typedef struct {
    rs_arrangement *arrangement;
    const rs_reads *reads;
} duplication;

static void duplicate(void *context, size_t begin, size_t end)
{
    const duplication *d = context;
    for (size_t t = begin; t < end; t++) {
        d->arrangement->index[t] = t;
        d->arrangement->source[t] = d->reads->object[t];
    }
}

restride_status rs_duplicate(rs_arrangement *arrangement, const rs_reads *reads, size_t budget)
{
    if (reads->threads > budget)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "Duplication needs %zu slots, one for each thread, but the budget allows "
                       "%zu; grant more or choose another method.",
                       reads->threads, budget);
    size_t bytes = reads->threads * sizeof(size_t);
    *arrangement = (rs_arrangement){.index = malloc(bytes),
                                    .source = malloc(bytes),
                                    .slots = reads->threads,
                                    .extra = reads->threads};
    if (arrangement->index == NULL || arrangement->source == NULL) {
        rs_arrangement_free(arrangement);
        return rs_fail_memory("the copies of objects");
    }
    duplication duplicated = {arrangement, reads};
    rs_share_items(reads->processors, reads->threads, duplicate, &duplicated);
    arrangement->bound = rs_duplication_bound(reads);
    return RESTRIDE_OK;
}

/* What it takes and gives to store the objects of one warp once more. */
typedef struct {
    size_t warp;
    size_t now; /* transactions */
    size_t saved;
    size_t slots; /* with the empty ones that lead to the next border */
    size_t objects;
    size_t slot; /* the first, once it is taken */
} offer;

typedef struct {
    const rs_reads *reads;
    rs_arrangement *arrangement;
    offer *offers;
    size_t count;
    size_t before; /* transactions */
} offer_list;

static size_t warp_end(const rs_reads *reads, size_t warp)
{
    size_t begin = warp * reads->warp;
    return reads->threads - begin < reads->warp ? reads->threads : begin + reads->warp;
}

/* The different objects that a warp reads. */
static size_t find_objects(const rs_reads *reads, size_t warp, size_t found[])
{
    return rs_warp_objects(reads, NULL, warp * reads->warp, warp_end(reads, warp), found);
}

/* What each of the warps [begin, end) offers. */
static void weigh_warps(void *context, size_t begin, size_t end)
{
    const offer_list *list = context;
    const rs_reads *reads = list->reads;
    for (size_t w = begin; w < end; w++) {
        size_t found[RS_MOST_WARP];
        size_t different = find_objects(reads, w, found);
        size_t now = rs_touched(reads, found, different);
        size_t then = rs_segments(reads, different);
        list->offers[w] = (offer){
            w, now, then < now ? now - then : 0, rs_next_border(reads, different), different, 0};
    }
}

static void find_offers(offer_list *list)
{
    const rs_reads *reads = list->reads;
    rs_share_items(reads->processors, rs_warps(reads), weigh_warps, list);
    for (size_t w = 0; w < rs_warps(reads); w++) {
        list->before += list->offers[w].now;
        if (list->offers[w].saved > 0)
            list->offers[list->count++] = list->offers[w];
    }
}

/* The most saved a slot first; of equals the earlier warp. */
static int compare_offers(const void *a, const void *b)
{
    const offer *one = a;
    const offer *other = b;
    size_t gain = one->saved * other->slots;
    size_t against = other->saved * one->slots;
    if (gain != against)
        return gain > against ? -1 : 1;
    return one->warp < other->warp ? -1 : 1;
}

static int compare_warps(const void *a, const void *b)
{
    return ((const offer *)a)->warp < ((const offer *)b)->warp ? -1 : 1;
}

/* Moves the offers that fit to the front, in the order of their warps. */
static void take_offers(offer_list *list, size_t budget)
{
    offer *offers = list->offers;
    size_t wanted = 0;
    for (size_t i = 0; i < list->count; i++)
        wanted += offers[i].slots;
    if (wanted <= budget)
        return;
    qsort(offers, list->count, sizeof *offers, compare_offers);
    size_t taken = 0;
    for (size_t i = 0; i < list->count; i++)
        if (offers[i].slots <= budget) {
            budget -= offers[i].slots;
            offers[taken++] = offers[i];
        }
    list->count = taken;
    if (taken > 1)
        qsort(offers, taken, sizeof *offers, compare_warps);
}

static void keep_index(void *context, size_t begin, size_t end)
{
    const offer_list *list = context;
    memcpy(list->arrangement->index + begin, list->reads->object + begin,
           (end - begin) * sizeof(size_t));
}

/* The array itself comes first. */
static void keep_objects(void *context, size_t begin, size_t end)
{
    const offer_list *list = context;
    for (size_t s = begin; s < end; s++)
        list->arrangement->source[s] = s < list->reads->objects ? s : RS_EMPTY_SLOT;
}

/* Stores the objects of the warps once more and sends their threads there. */
static void place_warps(void *context, size_t begin, size_t end)
{
    const offer_list *list = context;
    const rs_reads *reads = list->reads;
    for (const offer *taken = list->offers + begin; taken < list->offers + end; taken++) {
        size_t found[RS_MOST_WARP];
        size_t count = find_objects(reads, taken->warp, found);
        memcpy(list->arrangement->source + taken->slot, found, count * sizeof *found);
        for (size_t t = taken->warp * reads->warp; t < warp_end(reads, taken->warp); t++) {
            size_t low = 0;
            for (size_t span = count; span > 1; span -= span / 2)
                if (found[low + span / 2] <= reads->object[t])
                    low += span / 2;
            list->arrangement->index[t] = taken->slot + low;
        }
    }
}

/* Gives the offers their slots behind the array. */
static void lay_out(offer_list *list)
{
    rs_arrangement *arrangement = list->arrangement;
    size_t objects = list->reads->objects;
    arrangement->slots = objects;
    arrangement->bound = list->before;
    if (list->count > 0)
        arrangement->slots = rs_next_border(list->reads, objects);
    arrangement->empty = arrangement->slots - objects;
    for (size_t i = 0; i < list->count; i++) {
        offer *taken = &list->offers[i];
        taken->slot = arrangement->slots;
        arrangement->slots += taken->slots;
        arrangement->empty += taken->slots - taken->objects;
        arrangement->bound -= taken->saved;
    }
    arrangement->extra = arrangement->slots - objects;
}

static restride_status place_offers(offer_list *list)
{
    const rs_reads *reads = list->reads;
    rs_arrangement *arrangement = list->arrangement;
    lay_out(list);
    arrangement->index = malloc(reads->threads * sizeof(size_t));
    arrangement->source = malloc(arrangement->slots * sizeof(size_t));
    if (arrangement->index == NULL || arrangement->source == NULL) {
        rs_arrangement_free(arrangement);
        return rs_fail_memory("the copies of objects");
    }
    rs_share_items(reads->processors, reads->threads, keep_index, list);
    rs_share_items(reads->processors, arrangement->slots, keep_objects, list);
    rs_share_items(reads->processors, list->count, place_warps, list);
    return RESTRIDE_OK;
}

restride_status rs_duplicate_part(rs_arrangement *arrangement, const rs_reads *reads, size_t budget)
{
    *arrangement = (rs_arrangement){0};
    offer_list list = {.reads = reads, .arrangement = arrangement};
    size_t bytes;
    if (!rs_size_multiply(rs_warps(reads), sizeof *list.offers, &bytes) ||
        (list.offers = malloc(bytes)) == NULL)
        return rs_fail_memory("the choice of warps");
    size_t gap = rs_next_border(reads, reads->objects) - reads->objects;
    find_offers(&list);
    take_offers(&list, budget > gap ? budget - gap : 0);
    restride_status status = place_offers(&list);
    free(list.offers);
    return status;
}
