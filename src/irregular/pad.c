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
#include "base/arithmetic.h"
#include "irregular/irregular.h"

#include <stdbool.h>
#include <stdlib.h>

enum { GROWTH = 2 };

/* What the first thread of a warp reads. */
typedef struct {
    size_t run;
    size_t used; /* of its threads, by warps before */
    size_t slot;
} warp_begin;

typedef struct {
    const rs_reads *reads;
    const rs_popularity *popularity;
    rs_arrangement *arrangement;
    size_t capacity;
    warp_begin *begins;
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
        arrangement->empty += border - arrangement->slots;
        while (status == RESTRIDE_OK && arrangement->slots < border)
            status = add_slot(w, RS_EMPTY_SLOT);
    }
    for (size_t r = first + (shared ? 1 : 0); status == RESTRIDE_OK && r < end; r++)
        status = add_slot(w, w->popularity->run[r].object);
    arrangement->bound += fewest;
    return status;
}

/* Places the runs of each warp. */
static restride_status place_read(work *w)
{
    const rs_reads *reads = w->reads;
    const rs_run *run = w->popularity->run;
    restride_status status = RESTRIDE_OK;
    size_t first = 0; /* run of the warp's first thread */
    size_t used = 0;  /* of its threads, by warps before */
    for (size_t warp = 0; status == RESTRIDE_OK && warp < rs_warps(reads); warp++) {
        size_t left = reads->threads - warp * reads->warp;
        size_t threads = left < reads->warp ? left : reads->warp;
        size_t end = first;
        size_t taken = 0;
        size_t past = used; /* of the last run's threads, after this warp */
        while (taken < threads) {
            size_t here = run[end].count - past;
            size_t take = here < threads - taken ? here : threads - taken;
            taken += take;
            past += take;
            if (past == run[end].count) {
                end++;
                past = 0;
            }
        }
        size_t last = end + (past > 0 ? 1 : 0);
        status = place_warp(w, first, last, used > 0);
        w->begins[warp] = (warp_begin){first, used, w->arrangement->slots - (last - first)};
        first = end;
        used = past;
    }
    return status;
}

/* Orders the threads of the warps [begin, end), and sends them to their slots. */
static void send_threads(void *context, size_t begin, size_t end)
{
    const work *w = context;
    const rs_reads *reads = w->reads;
    const rs_run *run = w->popularity->run;
    size_t last = end * reads->warp < reads->threads ? end * reads->warp : reads->threads;
    for (size_t t = begin * reads->warp; t < last;) {
        const warp_begin *from = &w->begins[t / reads->warp];
        size_t after = reads->threads - t < reads->warp ? reads->threads : t + reads->warp;
        size_t r = from->run;
        size_t used = from->used;
        for (size_t slot = from->slot; t < after; t++) {
            w->arrangement->order[t] = w->popularity->thread[run[r].first + used++];
            w->arrangement->index[t] = slot;
            if (used == run[r].count) {
                r++;
                used = 0;
                slot++;
            }
        }
    }
}

typedef struct {
    const rs_popularity *popularity;
    unsigned char *read;
} marking;

static void mark_read(void *context, size_t begin, size_t end)
{
    const marking *m = context;
    for (size_t r = begin; r < end; r++)
        m->read[m->popularity->run[r].object] = 1;
}

static restride_status place_unread(work *w)
{
    marking m = {w->popularity, calloc(w->reads->objects, 1)};
    if (m.read == NULL)
        return rs_fail_memory("the padded array");
    rs_share_items(w->reads->processors, w->popularity->runs, mark_read, &m);
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; status == RESTRIDE_OK && i < w->reads->objects; i++)
        if (m.read[i] == 0)
            status = add_slot(w, i);
    free(m.read);
    return status;
}

static restride_status pad(work *w)
{
    const rs_reads *reads = w->reads;
    size_t bytes;
    if (!rs_size_multiply(rs_warps(reads), sizeof *w->begins, &bytes) ||
        (w->begins = malloc(bytes)) == NULL)
        return rs_fail_memory("the padded array");
    restride_status status = place_read(w);
    if (status == RESTRIDE_OK)
        rs_share_items(reads->processors, rs_warps(reads), send_threads, w);
    free(w->begins);
    return status == RESTRIDE_OK ? place_unread(w) : status;
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
                                    .source = malloc(reads->objects * sizeof(size_t)),
                                    .read = popularity.runs};
    work w = {reads, &popularity, arrangement, reads->objects, NULL};
    if (arrangement->order == NULL || arrangement->index == NULL || arrangement->source == NULL)
        status = rs_fail_memory("the padded array");
    else
        status = pad(&w);
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
