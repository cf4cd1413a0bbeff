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
    size_t count;
    rs_peer_name *names;
    void **buffers; /* as this process maps them; NULL: not mapped */
};

bool rs_peers_may(const restride_group *group, const restride_engine *engine)
{
    return engine->operations->peer != NULL && !group->no_peer_memory && group->size > 1 &&
           group->size <= RS_PEERS_MOST_PROCESSES;
}

static bool is_swap(const rs_message *move)
{
    return move->to >= 0 && move->to == move->from;
}

static restride_status wait_for_engine(restride_engine *engine)
{
    rs_transfer *transfer;
    restride_status status = rs_transfer_open(engine, &transfer);
    if (status != RESTRIDE_OK)
        return status;
    status = transfer->operations->finish(transfer);
    transfer->operations->close(transfer);
    return status;
}

/* The buffers of all partners; false when one is out of reach. */
static bool map_partners(restride_engine *engine, const rs_message moves[], size_t count,
                         const rs_peer_name names[], void *buffers[])
{
    bool mapped = true;
    for (size_t i = 0; mapped && i < count; i++)
        if (is_swap(&moves[i]))
            mapped = names[moves[i].to].host != 0 &&
                     engine->operations->peer->map(engine, &names[moves[i].to],
                                                   &buffers[moves[i].to]) == RESTRIDE_OK;
    return mapped;
}

static restride_status swap_half(restride_engine *engine, void *buffer, const rs_message *move,
                                 int rank, void *other)
{
    const size_t half = move->bytes / 2 / PART_BYTES * PART_BYTES;
    const size_t from = rank < move->to ? 0 : half;
    const size_t bytes = rank < move->to ? half : move->bytes - half;
    return engine->operations->peer->swap(engine, (unsigned char *)buffer + move->send_at + from,
                                          (unsigned char *)other + move->partner_at + from, bytes);
}

static restride_status swap_all(restride_group *group, restride_engine *engine, void *buffer,
                                const rs_message moves[], size_t count, void *buffers[])
{
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; status == RESTRIDE_OK && i < count; i++)
        if (is_swap(&moves[i]))
            status = swap_half(engine, buffer, &moves[i], group->rank, buffers[moves[i].to]);
    return status;
}

restride_status rs_peers_swap(rs_peers *peers, restride_group *group, void *buffer,
                              const rs_message moves[], size_t count, uint64_t work, bool *done)
{
    restride_engine *engine = peers->engine;
    rs_peer_name own = {0};
    if (buffer != NULL && engine->operations->peer->name(engine, buffer, &own) != RESTRIDE_OK)
        own.host = 0;
    *done = false;
    restride_status status = rs_group_gather(group, &own, sizeof own, peers->names);
    if (status != RESTRIDE_OK)
        return status;
    double failures = !map_partners(engine, moves, count, peers->names, peers->buffers) ||
                      wait_for_engine(engine) != RESTRIDE_OK;
    status = rs_group_sum(group, &failures, 1);
    *done = status == RESTRIDE_OK && failures == 0;
    if (!*done)
        return status;
    status = swap_all(group, engine, buffer, moves, count, peers->buffers);
    restride_status waited = wait_for_engine(engine);
    return rs_group_agree(group, status == RESTRIDE_OK ? waited : status, work);
}

restride_status rs_peers_open(rs_peers **peers, restride_engine *engine, size_t processes)
{
    *peers = calloc(1, sizeof **peers);
    if (*peers != NULL) {
        **peers = (rs_peers){.engine = engine,
                             .count = processes,
                             .names = calloc(processes, sizeof(rs_peer_name)),
                             .buffers = calloc(processes, sizeof(void *))};
        if ((*peers)->names != NULL && (*peers)->buffers != NULL)
            return RESTRIDE_OK;
    }
    rs_peers_close(*peers);
    *peers = NULL;
    return rs_fail_memory("the buffers of other processes");
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
    free(peers->names);
    free(peers->buffers);
    free(peers);
}
