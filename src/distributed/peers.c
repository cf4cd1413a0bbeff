/*
 * See peers.h. All name their buffers, and each maps those of its partners for the time of a run,
 * because an owner may free its buffer afterwards. Of two partners each exchanges one half, so both
 * directions of the link are busy.
 */
#include "distributed/peers.h"
#include "base/arithmetic.h"
#include "base/status.h"
#include "engine/peer.h"

#include <stdlib.h>

enum { PART_BYTES = 256 }; /* halves meet at a multiple of so many */

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

restride_status rs_peers_swap(restride_group *group, restride_engine *engine, void *buffer,
                              const rs_message moves[], size_t count, uint64_t work, bool *done)
{
    const rs_peer_operations *peer = engine->operations->peer;
    rs_peer_name own = {0};
    rs_peer_name *names = calloc((size_t)group->size, sizeof *names);
    void **buffers = calloc((size_t)group->size, sizeof *buffers);
    const bool ready = names != NULL && buffers != NULL;
    double failures = !ready || wait_for_engine(engine) != RESTRIDE_OK ||
                      (buffer != NULL && peer->name(engine, buffer, &own) != RESTRIDE_OK);
    restride_status status = rs_group_sum(group, &failures, 1);
    *done = status == RESTRIDE_OK && failures == 0;
    if (*done) {
        status = rs_group_gather(group, &own, sizeof own, names);
        failures = status != RESTRIDE_OK || !map_partners(engine, moves, count, names, buffers);
        if (status == RESTRIDE_OK)
            status = rs_group_sum(group, &failures, 1);
        *done = status == RESTRIDE_OK && failures == 0;
    }
    if (*done) {
        status = swap_all(group, engine, buffer, moves, count, buffers);
        restride_status waited = wait_for_engine(engine);
        status = rs_group_agree(group, status == RESTRIDE_OK ? waited : status, work);
    }
    for (int p = 0; ready && p < group->size; p++)
        if (buffers[p] != NULL)
            peer->unmap(engine, &names[p], buffers[p]);
    free(names);
    free(buffers);
    return status;
}
