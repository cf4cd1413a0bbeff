/*
 * See peers.h. All name their buffers, and each maps those of its partners for the time of a run,
 * because an owner may free its buffer afterwards. On a device, mapping and unmapping keep the host
 * busy, some milliseconds each: the first runs beside the local passes before the exchange, the
 * second beside those after it. Where all promise to free later, maps are kept; the number of an
 * allocation still tells one that broke the promise. Of two partners each exchanges one half, so
 * both directions of the link are busy.
 */
#include "distributed/peers.h"
#include "base/arithmetic.h"
#include "base/status.h"
#include "engine/peer.h"

#include <stdlib.h>

enum { PART_BYTES = 256 }; /* halves meet at a multiple of so many */

struct rs_peers {
    restride_engine *engine;
    rs_transfer *transfer; /* to wait with, also where memory is short by then; NULL: of the host */
    size_t count;
    rs_peer_name *names;
    rs_peer_name *mapped; /* the names by which the buffers were mapped */
    void **buffers;       /* as this process maps them; NULL: not mapped */
    bool kept;            /* maps outlast a run */
};

bool rs_peers_may(const restride_group *group, const restride_engine *engine)
{
    const bool on_host = engine->operations->transfer == NULL;
    return engine->operations->peer != NULL && group->peer_memory != 0 &&
           !(on_host && group->peer_memory == RS_PEER_MEMORY_OF_DEVICES) && group->size > 1 &&
           group->size <= RS_PEERS_MOST_PROCESSES;
}

static restride_status wait_for_stream(const rs_peers *peers)
{
    return peers->transfer == NULL ? RESTRIDE_OK
                                   : peers->transfer->operations->finish(peers->transfer);
}

static void unmap_one(rs_peers *peers, size_t p)
{
    if (peers->buffers[p] != NULL)
        peers->engine->operations->peer->unmap(peers->engine, &peers->mapped[p], peers->buffers[p]);
    peers->buffers[p] = NULL;
}

static void unmap_all(rs_peers *peers)
{
    for (size_t p = 0; p < peers->count; p++)
        unmap_one(peers, p);
}

/* A buffer that is mapped already may begin elsewhere in its allocation. */
static restride_status map_one(rs_peers *peers, size_t p)
{
    const rs_peer_name *name = &peers->names[p];
    if (peers->buffers[p] != NULL && rs_peer_is_same(&peers->mapped[p], name)) {
        unsigned char *start = (unsigned char *)peers->buffers[p] - peers->mapped[p].offset;
        peers->buffers[p] = start + name->offset;
    } else {
        unmap_one(peers, p);
        restride_status status =
            peers->engine->operations->peer->map(peers->engine, name, &peers->buffers[p]);
        if (status != RESTRIDE_OK)
            return status;
    }
    peers->mapped[p] = *name;
    return RESTRIDE_OK;
}

/* The buffers of all partners; false when one is out of reach. */
static bool map_partners(rs_peers *peers, const rs_message moves[], size_t count)
{
    bool mapped = true;
    for (size_t i = 0; mapped && i < count; i++) {
        const size_t p = (size_t)moves[i].to;
        mapped = peers->names[p].host != 0 && map_one(peers, p) == RESTRIDE_OK;
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
    double failures = !map_partners(peers, moves, count) || wait_for_stream(peers) != RESTRIDE_OK;
    status = rs_group_sum(group, &failures, 1);
    *mapped = status == RESTRIDE_OK && failures == 0;
    if (!*mapped)
        unmap_all(peers);
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
    return peers->engine->operations->peer->swap(peers->engine, &peers->mapped[move->to],
                                                 (unsigned char *)buffer + move->send_at + from,
                                                 other + move->partner_at + from, bytes);
}

restride_status rs_peers_settle(rs_peers *peers, restride_group *group, restride_status status,
                                uint64_t work)
{
    restride_status finished = wait_for_stream(peers);
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

restride_status rs_peers_open(rs_peers **peers, restride_engine *engine,
                              const restride_group *group)
{
    const size_t processes = (size_t)group->size;
    *peers = calloc(1, sizeof **peers);
    if (*peers != NULL) {
        **peers = (rs_peers){.engine = engine,
                             .count = processes,
                             .names = calloc(processes, sizeof(rs_peer_name)),
                             .mapped = calloc(processes, sizeof(rs_peer_name)),
                             .buffers = calloc(processes, sizeof(void *)),
                             .kept = group->peer_memory == RESTRIDE_PEER_MEMORY_KEPT};
    }
    const bool complete = *peers != NULL && (*peers)->names != NULL && (*peers)->mapped != NULL &&
                          (*peers)->buffers != NULL;
    restride_status status =
        complete ? RESTRIDE_OK : rs_fail_memory("the buffers of other processes");
    if (complete && engine->operations->transfer != NULL)
        status = rs_transfer_open(engine, &(*peers)->transfer);
    if (status == RESTRIDE_OK)
        return RESTRIDE_OK;
    rs_peers_close(*peers);
    *peers = NULL;
    return status;
}

void rs_peers_unmap(rs_peers *peers)
{
    if (peers != NULL && !peers->kept)
        unmap_all(peers);
}

void rs_peers_close(rs_peers *peers)
{
    if (peers == NULL)
        return;
    if (peers->buffers != NULL)
        unmap_all(peers);
    if (peers->transfer != NULL)
        peers->transfer->operations->close(peers->transfer);
    free(peers->names);
    free(peers->mapped);
    free(peers->buffers);
    free(peers);
}
