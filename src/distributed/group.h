/* Groups of processes, and how they agree. The public half is restride/distributed.h. */
#ifndef RS_DISTRIBUTED_GROUP_H
#define RS_DISTRIBUTED_GROUP_H

#include "restride/distributed.h"

#include <stdbool.h>
#include <stdint.h>

/* Until the caller says something: for a run, and not that of the host. */
enum { RS_PEER_MEMORY_OF_DEVICES = -1 };

/* That a call waits at most, in seconds, unless the program says otherwise. */
enum { RS_GROUP_SECONDS = 300 };

struct restride_group {
    restride_group_functions functions;
    void *context;
    int rank;
    int size;
    double seconds;      /* that a call waits at most */
    bool broken;         /* a call failed midway: messages may be under way */
    int peer_memory;     /* restride_peer_memory, or RS_PEER_MEMORY_OF_DEVICES */
    size_t overlap_from; /* bytes of local stages that run beside messages; 0: wherever they can */
    void *words;         /* of all processes, while they agree */
};

/* A message is no larger. */
enum { RS_GROUP_MESSAGE_BYTES = 1 << 30, RS_GROUP_NUMBERS = 8 };

/*
 * Tells all how this process fared, and what it works on: all get the first failure, with its
 * sentence. RESTRIDE_INVALID_ARGUMENT: the processes work on different things. RESTRIDE_IO: one
 * does not answer. Collective.
 */
restride_status rs_group_agree(restride_group *group, restride_status own, uint64_t work);

/* Every process gives `count` numbers, RS_GROUP_NUMBERS at most, and gets the sums of all.
 * Collective. */
restride_status rs_group_sum(restride_group *group, double *numbers, size_t count);

/* Every process gives `bytes` bytes and gets those of all. Collective. */
restride_status rs_group_gather(restride_group *group, const void *mine, size_t bytes, void *all);

restride_status rs_group_begin(restride_group *group, const void *send, size_t send_bytes, int to,
                               void *receive, size_t receive_bytes, int from, void **operation);
restride_status rs_group_finish(restride_group *group, void *operation);

#endif
