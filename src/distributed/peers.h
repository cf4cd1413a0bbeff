/* Bytes that two processes of one host exchange place for place, directly in each other's memory.
 */
#ifndef RS_DISTRIBUTED_PEERS_H
#define RS_DISTRIBUTED_PEERS_H

#include "distributed/exchange.h"

enum { RS_PEERS_MOST_PROCESSES = 64 };

/* Whether a group and an engine may exchange so; whether they can, their buffers decide. */
bool rs_peers_may(const restride_group *group, const restride_engine *engine);

/* What a plan needs for it. One run at a time. */
typedef struct rs_peers rs_peers;

restride_status rs_peers_open(rs_peers **peers, restride_engine *engine,
                              const restride_group *group);

/* NULL is allowed. */
void rs_peers_close(rs_peers *peers);

/*
 * Maps the buffers of all partners, if each process reaches those of its own; else none stays
 * mapped: *mapped tells. Each move is exchanged place for place. Returns when all processes are
 * through with what was enqueued on their engines before. Collective; rs_peers_unmap() follows.
 */
restride_status rs_peers_map(rs_peers *peers, restride_group *group, void *buffer,
                             const rs_message moves[], size_t count, bool *mapped);

/* The buffer of a partner, while it is mapped. */
void *rs_peers_buffer(const rs_peers *peers, int process);

/* Carries out the moves. `work` is for rs_group_agree(). Collective. */
restride_status rs_peers_swap(rs_peers *peers, restride_group *group, void *buffer,
                              const rs_message moves[], size_t count, uint64_t work);

/* Waits until what this process and all others have enqueued is done; all get the first failure.
 * Collective. */
restride_status rs_peers_settle(rs_peers *peers, restride_group *group, restride_status status,
                                uint64_t work);

/* Before this returns no process may free its buffer: it comes before the last word of a run. Maps
 * that are kept stay (RESTRIDE_PEER_MEMORY_KEPT). */
void rs_peers_unmap(rs_peers *peers);

#endif
