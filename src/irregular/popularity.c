/* Who reads which object, the most popular object first (step 1 of padding and of approximation).
 */
#include "base/arithmetic.h"
#include "engine/host/team.h"
#include "irregular/irregular.h"

#include <stdbool.h>
#include <stdlib.h>

/* The search for runs among what the threads read, sorted. */
typedef struct {
    const size_t *object;
    size_t threads;
    rs_run *run; /* room for all that there may be */
    size_t runs;
    size_t place[RS_MOST_PROCESSORS]; /* of each member's first run; before, how many it has */
    size_t longest[RS_MOST_PROCESSORS];
} search;

static bool begins_run(const search *s, size_t t)
{
    return t == 0 || s->object[t] != s->object[t - 1];
}

static void sum_places(search *s, size_t members)
{
    for (size_t m = 0; m < members; m++) {
        size_t count = s->place[m];
        s->place[m] = s->runs;
        s->runs += count;
    }
}

/* Measures a part of the runs; returns the length of the longest. */
static size_t measure(const search *s, size_t begin, size_t end)
{
    size_t longest = 0;
    for (size_t r = begin; r < end; r++) {
        size_t next = r + 1 < s->runs ? s->run[r + 1].first : s->threads;
        s->run[r].count = next - s->run[r].first;
        longest = s->run[r].count > longest ? s->run[r].count : longest;
    }
    return longest;
}

static void find_runs(void *context, const rs_host_member *member)
{
    search *s = context;
    size_t begin, end;
    rs_host_team_share(member, s->threads, &begin, &end);
    size_t count = 0;
    for (size_t t = begin; t < end; t++)
        count += begins_run(s, t);
    s->place[member->index] = count;
    rs_host_team_wait(member);
    if (member->index == 0)
        sum_places(s, member->count);
    rs_host_team_wait(member);
    size_t place = s->place[member->index];
    for (size_t t = begin; t < end; t++)
        if (begins_run(s, t))
            s->run[place++] = (rs_run){s->object[t], t, 0};
    rs_host_team_wait(member);
    rs_host_team_share(member, s->runs, &begin, &end);
    s->longest[member->index] = measure(s, begin, end);
}

/* ---- by popularity ---- */

typedef struct {
    const rs_run *from;
    rs_run *to;
    size_t *keys;
    const size_t *order;
    size_t longest;
} ranking;

static void make_keys(void *context, size_t begin, size_t end)
{
    const ranking *r = context;
    for (size_t i = begin; i < end; i++)
        r->keys[i] = r->longest - r->from[i].count;
}

static void move_runs(void *context, size_t begin, size_t end)
{
    const ranking *r = context;
    for (size_t i = begin; i < end; i++)
        r->to[i] = r->from[r->order[i]];
}

/* `run`: in the order of their objects. */
static restride_status sort_runs(rs_popularity *popularity, const rs_run *run, size_t longest,
                                 size_t processors)
{
    size_t runs = popularity->runs;
    size_t *keys = malloc(runs * sizeof *keys);
    size_t *order = malloc(runs * sizeof *order);
    popularity->run = malloc(runs * sizeof *popularity->run);
    restride_status status = RESTRIDE_OK;
    if (keys == NULL || order == NULL || popularity->run == NULL)
        status = rs_fail_memory("the popularity of objects");
    if (status == RESTRIDE_OK) {
        ranking ranked = {run, popularity->run, keys, order, longest};
        rs_share_items(processors, runs, make_keys, &ranked);
        status = rs_order_by_key(order, NULL, keys, runs, longest, processors);
        if (status == RESTRIDE_OK)
            rs_share_items(processors, runs, move_runs, &ranked);
    }
    free(order);
    free(keys);
    return status;
}

/* `object`: what the threads read, sorted. */
static restride_status rank(rs_popularity *popularity, const rs_reads *reads, const size_t *object)
{
    size_t most = reads->threads < reads->objects ? reads->threads : reads->objects;
    size_t bytes;
    search s = {.object = object, .threads = reads->threads};
    if (!rs_size_multiply(most, sizeof *s.run, &bytes) || (s.run = malloc(bytes)) == NULL)
        return rs_fail_memory("the popularity of objects");
    rs_host_team_run(reads->processors, find_runs, &s);
    size_t longest = 0;
    for (size_t m = 0; m < RS_MOST_PROCESSORS; m++)
        longest = s.longest[m] > longest ? s.longest[m] : longest;
    popularity->runs = s.runs;
    restride_status status = sort_runs(popularity, s.run, longest, reads->processors);
    free(s.run);
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
    if (status == RESTRIDE_OK)
        status = rank(popularity, reads, object);
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
