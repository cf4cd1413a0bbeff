/* Bytes that two processes of one host exchange place for place, directly between their devices. */
#ifndef RS_DISTRIBUTED_PEERS_H
#define RS_DISTRIBUTED_PEERS_H

#include "distributed/exchange.h"

enum { RS_PEERS_MOST_PROCESSES = 64 };

/* Whether a group and an engine may exchange so; whether they can, their buffers decide. */
bool rs_peers_may(const restride_group *group, const restride_engine *engine);

/*
 * Carries out those of the moves that are exchanged place for place, when all processes can reach
 * the buffers of their partners; else none: *done tells. Waits for what is on the engine's stream
 * before and afterwards. `work` is for rs_group_agree(). Collective.
 */
restride_status rs_peers_swap(restride_group *group, restride_engine *engine, void *buffer,
                              const rs_message moves[], size_t count, uint64_t work, bool *done);

#endif
