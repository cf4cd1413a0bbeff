/*
 * See peers.h. All name their buffers, and each maps those of its partners for the time of a run,
 * because an owner may free its buffer afterwards. Mapping and unmapping keep the host busy, some
 * milliseconds each: the first runs beside the local passes before the exchange, the second beside
 * those after it. Of two partners each exchanges one half, so both directions of the link are busy.
 */
#include "distributed/peers.h"
#include "base/arithmetic.h"
#include "base/status.h"
#include "engine/peer.h"

#include <stdlib.h>

enum { PART_BYTES = 256 }; /* halves meet at a multiple of so many */

struct rs_peers {
    restride_engine *engine;
    rs_transfer *transfer; /* to wait with, also where memory is short by then */
    size_t count;
    rs_peer_name *names;
    void **buffers; /* as this process maps them; NULL: not mapped */
};

bool rs_peers_may(const restride_group *group, const restride_engine *engine)
{
    return engine->operations->peer != NULL && !group->no_peer_memory && group->size > 1 &&
           group->size <= RS_PEERS_MOST_PROCESSES;
}

/* The buffers of all partners; false when one is out of reach. */
static bool map_partners(rs_peers *peers, const rs_message moves[], size_t count)
{
    const rs_peer_operations *operations = peers->engine->operations->peer;
    bool mapped = true;
    for (size_t i = 0; mapped && i < count; i++) {
        const rs_peer_name *name = &peers->names[moves[i].to];
        mapped = name->host != 0 &&
                 operations->map(peers->engine, name, &peers->buffers[moves[i].to]) == RESTRIDE_OK;
    }
    return mapped;
}

restride_status rs_peers_map(rs_peers *peers, restride_group *group, void *buffer,
                             const rs_message moves[], size_t count, bool *mapped)
{
    rs_peer_name own = {0};
    if (buffer != NULL &&
        peers->engine->operations->peer->name(peers->engine, buffer, &own) != RESTRIDE_OK)
        own.host = 0;
    *mapped = false;
    restride_status status = rs_group_gather(group, &own, sizeof own, peers->names);
    if (status != RESTRIDE_OK)
        return status;
    double failures = !map_partners(peers, moves, count) ||
                      peers->transfer->operations->finish(peers->transfer) != RESTRIDE_OK;
    status = rs_group_sum(group, &failures, 1);
    *mapped = status == RESTRIDE_OK && failures == 0;
    if (!*mapped)
        rs_peers_unmap(peers);
    return status;
}

void *rs_peers_buffer(const rs_peers *peers, int process)
{
    return peers->buffers[process];
}

static restride_status swap_half(const rs_peers *peers, void *buffer, const rs_message *move,
                                 int rank)
{
    unsigned char *other = peers->buffers[move->to];
    const size_t half = move->bytes / 2 / PART_BYTES * PART_BYTES;
    const size_t from = rank < move->to ? 0 : half;
    const size_t bytes = rank < move->to ? half : move->bytes - half;
    return peers->engine->operations->peer->swap(peers->engine,
                                                 (unsigned char *)buffer + move->send_at + from,
                                                 other + move->partner_at + from, bytes);
}

restride_status rs_peers_settle(rs_peers *peers, restride_group *group, restride_status status,
                                uint64_t work)
{
    restride_status finished = peers->transfer->operations->finish(peers->transfer);
    return rs_group_agree(group, finished == RESTRIDE_OK ? status : finished, work);
}

restride_status rs_peers_swap(rs_peers *peers, restride_group *group, void *buffer,
                              const rs_message moves[], size_t count, uint64_t work)
{
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; status == RESTRIDE_OK && i < count; i++)
        status = swap_half(peers, buffer, &moves[i], group->rank);
    return rs_peers_settle(peers, group, status, work);
}

restride_status rs_peers_open(rs_peers **peers, restride_engine *engine, size_t processes)
{
    *peers = calloc(1, sizeof **peers);
    if (*peers != NULL) {
        **peers = (rs_peers){.engine = engine,
                             .count = processes,
                             .names = calloc(processes, sizeof(rs_peer_name)),
                             .buffers = calloc(processes, sizeof(void *))};
    }
    restride_status status = *peers != NULL && (*peers)->names != NULL && (*peers)->buffers != NULL
                                 ? rs_transfer_open(engine, &(*peers)->transfer)
                                 : rs_fail_memory("the buffers of other processes");
    if (status == RESTRIDE_OK)
        return RESTRIDE_OK;
    rs_peers_close(*peers);
    *peers = NULL;
    return status;
}

void rs_peers_unmap(rs_peers *peers)
{
    for (size_t p = 0; peers != NULL && p < peers->count; p++) {
        if (peers->buffers[p] != NULL)
            peers->engine->operations->peer->unmap(peers->engine, &peers->names[p],
                                                   peers->buffers[p]);
        peers->buffers[p] = NULL;
    }
}

void rs_peers_close(rs_peers *peers)
{
    if (peers == NULL)
        return;
    if (peers->transfer != NULL)
        peers->transfer->operations->close(peers->transfer);
    free(peers->names);
    free(peers->buffers);
    free(peers);
}
