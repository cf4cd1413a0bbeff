/* A group whose processes are threads of this one, for tests. */
#ifndef RS_TESTS_DISTRIBUTED_THREADS_H
#define RS_TESTS_DISTRIBUTED_THREADS_H

#include "restride/distributed.h"

#include <stdbool.h>

/* What one of them does; its group is destroyed for it. */
typedef void process_work(restride_group *group, void *context);

/* Runs `size` processes until all have ended. Messages that were begun and never matched, or whose
 * two sides differ, fail the test. */
void run_processes(int size, process_work *work, void *context);

/* What memory the next groups say that their messages lie in; at first the host's. */
void address_memory(restride_group_memory memory);

/* Whether they may use the memory of other processes' devices; at first they may. */
void use_peer_memory(bool use);

/* Whether local passes run beside messages wherever they can, however small they are. */
void overlap_all(bool all);

/* Groups of another kind, made before the threads begin; `end` follows when the groups are
 * destroyed, and may be NULL. */
void make_groups_with(void (*make)(restride_group *groups[], int size), void (*end)(int size));

/* The next message that process `rank` begins fails after so many; -1: none does. */
void fail_message(int rank, int after);

#endif
