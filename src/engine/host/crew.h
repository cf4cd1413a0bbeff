/*
 * The threads behind teams (team.h). They are started when a team first wants them, and sleep
 * between runs: starting 15 threads takes as long as moving 50 MB. Nothing runs before the first
 * team of two members.
 *
 * Callers at the same time have crews of their own. Threads block all signals, so that a program's
 * handlers run on its own threads, and run on the processors that their caller may use. A child
 * after fork() has no crews and starts its own. At exit(), and when the library is unloaded,
 * sleeping threads end.
 */
#ifndef RS_ENGINE_HOST_CREW_H
#define RS_ENGINE_HOST_CREW_H

#include <stddef.h>

enum { RS_HOST_MOST_MEMBERS = 256 };

typedef struct rs_host_crew rs_host_crew;

/* A crew for a run of up to `members` members, 2 and more: the caller is member 0. *count tells how
 * many there are; NULL when the caller is alone. */
rs_host_crew *rs_host_crew_take(size_t members, size_t *count);

/* The other members run work(context, index). */
void rs_host_crew_begin(rs_host_crew *crew, void (*work)(void *context, size_t index),
                        void *context);

/* Waits until they have, and gives the crew back. */
void rs_host_crew_end(rs_host_crew *crew);

/* During a run: a member sleeps until another has called it; calls are counted. */
void rs_host_crew_call(rs_host_crew *crew, size_t index);
void rs_host_crew_sleep(rs_host_crew *crew, size_t index);

#endif
