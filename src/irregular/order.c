/*
 * Positions sorted by key: a stable radix sort from the least digit, on several threads. Each digit
 * is one pass over pairs of key and position; a thread counts and moves its own part, so the parts
 * stay in order. Memory: two pairs an entry.
 */
#include "base/arithmetic.h"
#include "engine/host/team.h"
#include "irregular/irregular.h"

#include <stdlib.h>
#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

typedef struct {
    size_t key;
    size_t position;
} pair;

typedef struct {
    const pair *from;
    pair *to;
    size_t count;
    unsigned shift;
    size_t (*places)[DIGITS]; /* a row for each thread */
} pass;

static size_t digit(const pass *work, size_t i)
{
    return work->from[i].key >> work->shift & (DIGITS - 1);
}

/* Counts become places: first by digit, then by thread. */
static void sum(const pass *work, size_t members)
{
    size_t place = 0;
    for (size_t d = 0; d < DIGITS; d++)
        for (size_t m = 0; m < members; m++) {
            size_t count = work->places[m][d];
            work->places[m][d] = place;
            place += count;
        }
}

static void move(void *context, const rs_host_member *member)
{
    const pass *work = context;
    size_t begin, end;
    rs_host_team_share(member, work->count, &begin, &end);
    size_t *places = work->places[member->index];
    memset(places, 0, sizeof work->places[0]);
    for (size_t i = begin; i < end; i++)
        places[digit(work, i)]++;
    rs_host_team_wait(member);
    if (member->index == 0)
        sum(work, member->count);
    rs_host_team_wait(member);
    for (size_t i = begin; i < end; i++)
        work->to[places[digit(work, i)]++] = work->from[i];
}

/* ---- sharing ---- */

typedef struct {
    size_t items;
    void (*work)(void *context, size_t begin, size_t end);
    void *context;
} shared_items;

/* In parts, for items may differ in their work. */
static void work_on_parts(void *context, const rs_host_member *member)
{
    enum { PARTS = 16 };
    const shared_items *shared = context;
    size_t grain = shared->items / (PARTS * member->count) + 1;
    rs_host_loop loop = rs_host_loop_begin(member, shared->items, grain);
    for (size_t begin, end; rs_host_loop_next(&loop, &begin, &end);)
        shared->work(shared->context, begin, end);
}

void rs_share_items(size_t processors, size_t items,
                    void (*work)(void *context, size_t begin, size_t end), void *context)
{
    shared_items shared = {items, work, context};
    rs_host_team_run(processors, work_on_parts, &shared);
}

/* ---- pairs in and out ---- */

typedef struct {
    pair *pairs;
    const size_t *keys;
    size_t *order;
    size_t *sorted;
} conversion;

static void make_pairs(void *context, size_t begin, size_t end)
{
    const conversion *c = context;
    for (size_t i = begin; i < end; i++)
        c->pairs[i] = (pair){c->keys[i], i};
}

static void split_pairs(void *context, size_t begin, size_t end)
{
    const conversion *c = context;
    for (size_t i = begin; i < end; i++)
        c->order[i] = c->pairs[i].position;
    for (size_t i = begin; c->sorted != NULL && i < end; i++)
        c->sorted[i] = c->pairs[i].key;
}

restride_status rs_order_by_key(size_t order[], size_t sorted[], const size_t keys[], size_t count,
                                size_t most_key, size_t processors)
{
    size_t bytes;
    if (!rs_size_multiply(count, 2 * sizeof(pair), &bytes))
        return rs_fail_memory("sorting the references");
    pair *pairs = malloc(bytes);
    size_t(*places)[DIGITS] = malloc(processors * sizeof *places);
    if (pairs == NULL || places == NULL) {
        free(places);
        free(pairs);
        return rs_fail_memory("sorting the references");
    }
    pair *from = pairs;
    pair *to = pairs + count;
    conversion converted = {from, keys, order, sorted};
    rs_share_items(processors, count, make_pairs, &converted);
    for (unsigned shift = 0; shift < 8 * sizeof most_key && most_key >> shift > 0;
         shift += DIGIT_BITS) {
        pass work = {from, to, count, shift, places};
        rs_host_team_run(processors, move, &work);
        pair *swapped = from;
        from = to;
        to = swapped;
    }
    converted.pairs = from;
    rs_share_items(processors, count, split_pairs, &converted);
    free(places);
    free(pairs);
    return RESTRIDE_OK;
}
