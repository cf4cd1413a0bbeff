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
    for (size_t t = 0; t < reads->threads; t++)
        arrangement->index[t] = t;
    memcpy(arrangement->source, reads->object, bytes);
    arrangement->bound = rs_duplication_bound(reads);
    return RESTRIDE_OK;
}

/* What it takes and gives to store the objects of one warp once more. */
typedef struct {
    size_t warp;
    size_t saved;
    size_t slots; /* with the empty ones that lead to the next border */
} offer;

static size_t warp_end(const rs_reads *reads, size_t warp)
{
    size_t begin = warp * reads->warp;
    return reads->threads - begin < reads->warp ? reads->threads : begin + reads->warp;
}

typedef struct {
    const rs_reads *reads;
    offer *offers;
} offer_list;

/* What each of the warps [begin, end) offers; one that saves nothing takes no slots. */
static void weigh_warps(void *context, size_t begin, size_t end)
{
    const offer_list *list = context;
    const rs_reads *reads = list->reads;
    for (size_t w = begin; w < end; w++) {
        size_t found[RS_MOST_WARP];
        rs_reads one = *reads;
        one.object = reads->object + w * reads->warp;
        one.threads = warp_end(reads, w) - w * reads->warp;
        one.processors = 1;
        size_t now = rs_count_transactions(&one, one.object);
        size_t different = rs_warp_objects(&one, NULL, 0, one.threads, found);
        size_t then = rs_segments(reads, different);
        list->offers[w] = then < now ? (offer){w, now - then, rs_next_border(reads, different)}
                                     : (offer){w, 0, 0};
    }
}

static size_t find_offers(const rs_reads *reads, offer *offers)
{
    offer_list list = {reads, offers};
    rs_share_items(reads->processors, rs_warps(reads), weigh_warps, &list);
    size_t count = 0;
    for (size_t w = 0; w < rs_warps(reads); w++)
        if (offers[w].saved > 0)
            offers[count++] = offers[w];
    return count;
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
static size_t take_offers(offer *offers, size_t count, size_t budget)
{
    if (count > 1)
        qsort(offers, count, sizeof *offers, compare_offers);
    size_t taken = 0;
    for (size_t i = 0; i < count; i++)
        if (offers[i].slots <= budget) {
            budget -= offers[i].slots;
            offers[taken++] = offers[i];
        }
    if (taken > 1)
        qsort(offers, taken, sizeof *offers, compare_warps);
    return taken;
}

/* Stores the objects of a warp from `slot` on and sends its threads there. */
static void place_warp(rs_arrangement *arrangement, const rs_reads *reads, size_t warp, size_t slot)
{
    size_t found[RS_MOST_WARP];
    size_t begin = warp * reads->warp;
    size_t end = warp_end(reads, warp);
    size_t count = rs_warp_objects(reads, NULL, begin, end, found);
    memcpy(arrangement->source + slot, found, count * sizeof *found);
    for (size_t t = begin; t < end; t++) {
        size_t low = 0;
        for (size_t span = count; span > 1; span -= span / 2)
            if (found[low + span / 2] <= reads->object[t])
                low += span / 2;
        arrangement->index[t] = slot + low;
    }
}

static restride_status place_offers(rs_arrangement *arrangement, const rs_reads *reads,
                                    const offer *offers, size_t count)
{
    size_t first = rs_next_border(reads, reads->objects);
    size_t slots = count == 0 ? reads->objects : first;
    for (size_t i = 0; i < count; i++)
        slots += offers[i].slots;
    *arrangement = (rs_arrangement){.index = malloc(reads->threads * sizeof(size_t)),
                                    .source = malloc(slots * sizeof(size_t)),
                                    .slots = slots,
                                    .extra = slots - reads->objects};
    if (arrangement->index == NULL || arrangement->source == NULL) {
        rs_arrangement_free(arrangement);
        return rs_fail_memory("the copies of objects");
    }
    memcpy(arrangement->index, reads->object, reads->threads * sizeof(size_t));
    for (size_t s = 0; s < slots; s++)
        arrangement->source[s] = s < reads->objects ? s : RS_EMPTY_SLOT;
    for (size_t i = 0, slot = first; i < count; slot += offers[i].slots, i++)
        place_warp(arrangement, reads, offers[i].warp, slot);
    return RESTRIDE_OK;
}

restride_status rs_duplicate_part(rs_arrangement *arrangement, const rs_reads *reads, size_t budget)
{
    offer *offers = malloc(rs_warps(reads) * sizeof *offers);
    if (offers == NULL)
        return rs_fail_memory("the choice of warps");
    size_t gap = rs_next_border(reads, reads->objects) - reads->objects;
    size_t count = find_offers(reads, offers);
    size_t taken = take_offers(offers, count, budget > gap ? budget - gap : 0);
    restride_status status = place_offers(arrangement, reads, offers, taken);
    if (status == RESTRIDE_OK) {
        arrangement->bound = rs_count_transactions(reads, reads->object);
        for (size_t i = 0; i < taken; i++)
            arrangement->bound -= offers[i].saved;
    }
    free(offers);
    return status;
}
