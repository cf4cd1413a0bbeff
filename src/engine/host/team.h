/*
 * The host engine's parallel loop: a team of threads that runs one function and meets at barriers.
 *
 * POSIX threads and not OpenMP: a run-time that ends the process when a thread cannot be started
 * has no place in a library, and ThreadSanitizer can follow these barriers. A team that cannot get
 * all of its threads works with those it got. They sleep between teams (crew.h).
 */
#ifndef RS_ENGINE_HOST_TEAM_H
#define RS_ENGINE_HOST_TEAM_H

#include <stdbool.h>
#include <stddef.h>

typedef struct rs_host_team rs_host_team;

/* One thread of a team, as its function sees it. */
typedef struct {
    rs_host_team *team;
    size_t index;
    size_t count;
} rs_host_member;

/* Runs work(context, member) on up to `threads` threads, the caller among them, and returns when
 * all are done. */
void rs_host_team_run(size_t threads, void (*work)(void *context, const rs_host_member *member),
                      void *context);

/* Waits until every member has come here. All members call it equally often. */
void rs_host_team_wait(const rs_host_member *member);

/* The half-open part of [0, items) that belongs to a member. */
void rs_host_team_share(const rs_host_member *member, size_t items, size_t *begin, size_t *end);

/* A memcpy by so many threads, each of which has whole cache lines. */
void rs_host_team_copy(size_t threads, void *to, const void *from, size_t bytes);

/*
 * A loop over [0, items) of which a member takes `grain` items at a time: those of its own share
 * first, so that from one run to the next it meets what its own caches and its own memory hold, and
 * then what is left of the others' shares, so that nobody waits for a slow one.
 */
typedef struct {
    const rs_host_member *member;
    size_t items;
    size_t grain;
    size_t passed; /* shares that are used up, its own first */
} rs_host_loop;

rs_host_loop rs_host_loop_begin(const rs_host_member *member, size_t items, size_t grain);

/* False when all items are taken; otherwise [*begin, *end) is the caller's. */
bool rs_host_loop_next(rs_host_loop *loop, size_t *begin, size_t *end);

/* Before a team's next loop. All members call it, between two barriers. */
void rs_host_loop_again(const rs_host_member *member);

#endif
