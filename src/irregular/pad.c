/*
 * Padding (Zhang, Li, Shen: the padding approach): threads sorted by object, objects by popularity.
 *
 * The threads of a warp then read a run of objects, of which the first may have been read by the
 * warp before. The run goes on where that warp's ended if that makes it touch no more segments than
 * it must; otherwise it begins at the next border, after empty slots, with a copy of the first
 * object. So every warp touches the fewest segments that its objects fit in.
 *
 * Objects that nobody reads come last: nothing is lost.
 */
#include "irregular/irregular.h"

#include <stdbool.h>
#include <stdlib.h>

enum { GROWTH = 2 };

typedef struct {
    const rs_reads *reads;
    const rs_popularity *popularity;
    rs_arrangement *arrangement;
    size_t capacity;
} work;

static restride_status add_slot(work *w, size_t object)
{
    rs_arrangement *arrangement = w->arrangement;
    if (arrangement->slots == w->capacity) {
        size_t capacity = w->capacity * GROWTH;
        size_t *source = realloc(arrangement->source, capacity * sizeof *source);
        if (source == NULL)
            return rs_fail_memory("the padded array");
        arrangement->source = source;
        w->capacity = capacity;
    }
    arrangement->source[arrangement->slots++] = object;
    return RESTRIDE_OK;
}

/* The runs [first, end) of one warp; `shared`: the first object is in the last slot already. */
static restride_status place_warp(work *w, size_t first, size_t end, bool shared)
{
    const rs_reads *reads = w->reads;
    rs_arrangement *arrangement = w->arrangement;
    size_t start = arrangement->slots - (shared ? 1 : 0);
    size_t fewest = rs_segments(reads, end - first);
    restride_status status = RESTRIDE_OK;
    if (rs_segments_from(reads, start, end - first) > fewest) {
        shared = false;
        size_t border = rs_next_border(reads, arrangement->slots);
        while (status == RESTRIDE_OK && arrangement->slots < border)
            status = add_slot(w, RS_EMPTY_SLOT);
    }
    for (size_t r = first + (shared ? 1 : 0); status == RESTRIDE_OK && r < end; r++)
        status = add_slot(w, w->popularity->run[r].object);
    arrangement->bound += fewest;
    return status;
}

/* Sends the threads of a warp, whose first run is `first`, to its slots, which are the last. */
static void send_threads(work *w, size_t begin, size_t end, size_t first, size_t last_run)
{
    rs_arrangement *arrangement = w->arrangement;
    size_t first_slot = arrangement->slots - (last_run - first);
    size_t run = first;
    for (size_t t = begin; t < end; t++) {
        size_t object = w->reads->object[arrangement->order[t]];
        run += object != w->popularity->run[run].object;
        arrangement->index[t] = first_slot + (run - first);
    }
}

static void order_threads(size_t *order, const rs_popularity *popularity)
{
    size_t t = 0;
    for (size_t r = 0; r < popularity->runs; r++)
        for (size_t i = 0; i < popularity->run[r].count; i++)
            order[t++] = popularity->thread[popularity->run[r].first + i];
}

static restride_status place_read(work *w)
{
    const rs_reads *reads = w->reads;
    const rs_run *run = w->popularity->run;
    restride_status status = RESTRIDE_OK;
    size_t first = 0; /* run of the warp's first thread */
    size_t used = 0;  /* of its threads, by warps before */
    for (size_t begin = 0; status == RESTRIDE_OK && begin < reads->threads; begin += reads->warp) {
        size_t left = reads->threads - begin;
        size_t threads = left < reads->warp ? left : reads->warp;
        size_t end = first;
        size_t taken = 0;
        size_t past = used; /* of the last run's threads, after this warp */
        while (taken < threads) {
            size_t here = run[end].count - past;
            size_t take = here < threads - taken ? here : threads - taken;
            taken += take;
            past += take;
            if (taken < threads || past == run[end].count) {
                end++;
                past = 0;
            }
        }
        size_t last = end + (past > 0 ? 1 : 0);
        status = place_warp(w, first, last, used > 0);
        if (status == RESTRIDE_OK)
            send_threads(w, begin, begin + threads, first, last);
        first = end;
        used = past;
    }
    return status;
}

static restride_status place_unread(work *w)
{
    unsigned char *read = calloc(w->reads->objects, 1);
    if (read == NULL)
        return rs_fail_memory("the padded array");
    for (size_t r = 0; r < w->popularity->runs; r++)
        read[w->popularity->run[r].object] = 1;
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; status == RESTRIDE_OK && i < w->reads->objects; i++)
        if (read[i] == 0)
            status = add_slot(w, i);
    free(read);
    return status;
}

restride_status rs_pad(rs_arrangement *arrangement, const rs_reads *reads, size_t budget)
{
    rs_popularity popularity;
    restride_status status = rs_popularity_create(&popularity, reads);
    if (status != RESTRIDE_OK)
        return status;
    size_t bytes = reads->threads * sizeof(size_t);
    *arrangement = (rs_arrangement){.order = malloc(bytes),
                                    .index = malloc(bytes),
                                    .source = malloc(reads->objects * sizeof(size_t))};
    work w = {reads, &popularity, arrangement, reads->objects};
    if (arrangement->order == NULL || arrangement->index == NULL || arrangement->source == NULL) {
        status = rs_fail_memory("the padded array");
    } else {
        order_threads(arrangement->order, &popularity);
        status = place_read(&w);
    }
    if (status == RESTRIDE_OK)
        status = place_unread(&w);
    rs_popularity_free(&popularity);
    arrangement->extra = arrangement->slots - reads->objects;
    if (status == RESTRIDE_OK && arrangement->extra > budget)
        status = rs_fail(RESTRIDE_UNSUPPORTED,
                         "Padding needs %zu slots more than there are objects, but the budget "
                         "allows %zu; grant more or choose another method.",
                         arrangement->extra, budget);
    if (status != RESTRIDE_OK)
        rs_arrangement_free(arrangement);
    return status;
}
