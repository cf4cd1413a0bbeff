/*
 * The host engine's parallel loop: a team of threads that runs one function and meets at barriers.
 *
 * POSIX threads and not OpenMP: a run-time that ends the process when a thread cannot be started
 * has no place in a library, and ThreadSanitizer can follow these barriers. A team that cannot get
 * all of its threads works with those it got.
 */
#ifndef RS_ENGINE_HOST_TEAM_H
#define RS_ENGINE_HOST_TEAM_H

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

#endif
