/* Exchange in place: see exchange.h. While one chunk travels, the one before it is copied from the
 * room to the place that a chunk of the same step has left. */
#include "distributed/exchange.h"
#include "base/arithmetic.h"
#include "base/status.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 2, HOST_CHUNK_BYTES = 128 << 10, STAGED_CHUNK_BYTES = 4 << 20 };
enum { DEVICE_CHUNK_BYTES = 16 << 20 };

/* A part of a move. */
typedef struct {
    const rs_message *move;
    size_t at; /* in the move */
    size_t bytes;
    void *operation;
    rs_ticket upload;
} chunk;

typedef struct {
    restride_status (*begin)(rs_message_exchange *e, size_t slot);
    restride_status (*finish)(rs_message_exchange *e, size_t slot);
    size_t chunk_bytes;
    size_t chunks; /* of the room; a staged exchange has one more on the device, to move bytes */
} way_of_exchange;

struct rs_message_exchange {
    const way_of_exchange *way;
    restride_group *group;
    const rs_message *moves;
    size_t move_count;
    size_t chunk_bytes;
    rs_transfer *transfer; /* NULL: host memory */
    rs_pinned pinned;      /* staged: what is sent, then what is received, of each slot */
    unsigned char *room;   /* in the buffer's memory */
    unsigned char *buffer;
    rs_overlap *beside;
    chunk chunks[AT_ONCE];
    size_t begun;
    size_t finished;
    rs_message_exchange *next; /* of those that are left */
};

/* Those of groups that failed, in whose rooms a message may still arrive. */
static _Atomic(rs_message_exchange *) left;

/* ---- copies within the buffer's memory ---- */

static restride_status copy(rs_message_exchange *e, void *to, size_t to_at, void *from,
                            size_t from_at, size_t bytes)
{
    if (e->transfer != NULL)
        return e->transfer->operations->copy(e->transfer, to, to_at, from, from_at, bytes, NULL);
    memcpy((unsigned char *)to + to_at, (unsigned char *)from + from_at, bytes);
    return RESTRIDE_OK;
}

/* To the end of the buffer, so what is last moves first. */
static restride_status move_apart(rs_message_exchange *e, size_t from, size_t to, size_t bytes)
{
    restride_status status = RESTRIDE_OK;
    while (status == RESTRIDE_OK && bytes > 0) {
        const size_t part = rs_size_smaller(bytes, e->chunk_bytes);
        bytes -= part;
        status = copy(e, e->room, 0, e->buffer, from + bytes, part);
        if (status == RESTRIDE_OK)
            status = copy(e, e->buffer, to + bytes, e->room, 0, part);
    }
    return status;
}

/* ---- messages from the buffer's memory ---- */

static unsigned char *receives_at(const rs_message_exchange *e, const chunk *c)
{
    return e->buffer + c->move->receive_at + c->at;
}

static restride_status begin_message(rs_message_exchange *e, chunk *c, const void *send,
                                     void *receive)
{
    const rs_message *m = c->move;
    return rs_group_begin(e->group, m->to < 0 ? NULL : send, m->to < 0 ? 0 : c->bytes, m->to,
                          m->from < 0 ? NULL : receive, m->from < 0 ? 0 : c->bytes, m->from,
                          &c->operation);
}

/* Where nothing leaves, a chunk arrives in its place at once. */
static restride_status begin_direct(rs_message_exchange *e, size_t slot)
{
    chunk *c = &e->chunks[slot];
    return begin_message(e, c, e->buffer + c->move->send_at + c->at,
                         c->move->to < 0 ? receives_at(e, c) : e->room + slot * e->chunk_bytes);
}

static restride_status finish_direct(rs_message_exchange *e, size_t slot)
{
    chunk *c = &e->chunks[slot];
    restride_status status = rs_group_finish(e->group, c->operation);
    if (status == RESTRIDE_OK && c->move->to >= 0 && c->move->from >= 0)
        status = copy(e, e->buffer, c->move->receive_at + c->at, e->room, slot * e->chunk_bytes,
                      c->bytes);
    return status;
}

/* ---- messages from pinned memory ---- */

static unsigned char *stage_of(const rs_message_exchange *e, size_t slot, bool received)
{
    return (unsigned char *)e->pinned.pointer + (2 * slot + received) * e->chunk_bytes;
}

static rs_transfer_block block_of(const rs_message_exchange *e, size_t slot, bool received)
{
    const chunk *c = &e->chunks[slot];
    return (rs_transfer_block){.host = stage_of(e, slot, received),
                               .host_pitch = c->bytes,
                               .device = e->buffer,
                               .device_offset =
                                   (received ? c->move->receive_at : c->move->send_at) + c->at,
                               .device_pitch = c->bytes,
                               .row_bytes = c->bytes,
                               .rows = 1};
}

static restride_status wait_for_upload(rs_message_exchange *e, chunk *c)
{
    rs_ticket ticket = c->upload;
    c->upload = NULL;
    return ticket == NULL ? RESTRIDE_OK : e->transfer->operations->wait(e->transfer, ticket);
}

static restride_status begin_staged(rs_message_exchange *e, size_t slot)
{
    chunk *c = &e->chunks[slot];
    rs_ticket download = NULL;
    restride_status status = wait_for_upload(e, c);
    if (status == RESTRIDE_OK && c->move->to >= 0) {
        const rs_transfer_block block = block_of(e, slot, false);
        status = e->transfer->operations->download(e->transfer, &block, &download);
        if (status == RESTRIDE_OK)
            status = e->transfer->operations->wait(e->transfer, download);
    }
    return status == RESTRIDE_OK
               ? begin_message(e, c, stage_of(e, slot, false), stage_of(e, slot, true))
               : status;
}

static restride_status finish_staged(rs_message_exchange *e, size_t slot)
{
    chunk *c = &e->chunks[slot];
    restride_status status = rs_group_finish(e->group, c->operation);
    if (status == RESTRIDE_OK && c->move->from >= 0) {
        const rs_transfer_block block = block_of(e, slot, true);
        status = e->transfer->operations->upload(e->transfer, &block, &c->upload);
    }
    return status;
}

static const way_of_exchange ways[] = {
    [RS_EXCHANGE_HOST] = {begin_direct, finish_direct, HOST_CHUNK_BYTES, AT_ONCE},
    [RS_EXCHANGE_STAGED] = {begin_staged, finish_staged, STAGED_CHUNK_BYTES, 2 * AT_ONCE + 1},
    [RS_EXCHANGE_DEVICE] = {begin_direct, finish_direct, DEVICE_CHUNK_BYTES, AT_ONCE},
};

/* ---- all of them ---- */

restride_status rs_exchange_choose(const restride_group *group, const restride_engine *engine,
                                   rs_exchange_way *way)
{
    const bool in_host_memory = engine->operations->transfer == NULL;
    const bool group_has_cuda = group->size > 1 && group->functions.memory == RESTRIDE_GROUP_CUDA;
    *way = in_host_memory ? RS_EXCHANGE_HOST : RS_EXCHANGE_STAGED;
    if (!group_has_cuda)
        return RESTRIDE_OK;
    *way = RS_EXCHANGE_DEVICE;
    if (strcmp(engine->operations->name, "cuda") == 0)
        return RESTRIDE_OK;
    return rs_fail(RESTRIDE_UNSUPPORTED,
                   "The messages of this group lie in CUDA memory, and the engine is the %s one; "
                   "give a CUDA engine, or a group of MPI.",
                   engine->operations->name);
}

size_t rs_exchange_chunk_bytes(rs_exchange_way way)
{
    return ways[way].chunk_bytes;
}

size_t rs_exchange_chunks(rs_exchange_way way)
{
    return ways[way].chunks;
}

/* The oldest chunk. */
static restride_status finish_one(rs_message_exchange *e)
{
    const size_t slot = e->finished++ % AT_ONCE;
    const chunk *c = &e->chunks[slot];
    restride_status status = e->way->finish(e, slot);
    if (status == RESTRIDE_OK && c->at + c->bytes == c->move->bytes)
        rs_overlap_tell(e->beside, (size_t)(c->move - e->moves) + 1);
    return status;
}

/* A chunk that arrives in its place at once might meet one that is still being sent from there. */
static restride_status begin_one(rs_message_exchange *e, const rs_message *move, size_t at)
{
    const size_t most = move->to < 0 && at == 0 ? 0 : AT_ONCE - 1;
    restride_status status = RESTRIDE_OK;
    while (status == RESTRIDE_OK && e->begun - e->finished > most)
        status = finish_one(e);
    if (status != RESTRIDE_OK)
        return status;
    if (at == 0)
        rs_overlap_wait(e->beside, (size_t)(move - e->moves));
    const size_t slot = e->begun++ % AT_ONCE;
    chunk *c = &e->chunks[slot];
    c->move = move;
    c->at = at;
    c->bytes = rs_size_smaller(move->bytes - at, e->chunk_bytes);
    return e->way->begin(e, slot);
}

restride_status rs_exchange_run(rs_message_exchange *e, void *buffer, size_t done,
                                rs_overlap *beside)
{
    restride_status status = RESTRIDE_OK;
    e->buffer = buffer;
    e->beside = beside;
    e->begun = e->finished = 0;
    for (size_t i = done; status == RESTRIDE_OK && i < e->move_count; i++)
        for (size_t at = 0; status == RESTRIDE_OK && at < e->moves[i].bytes; at += e->chunk_bytes)
            status = begin_one(e, &e->moves[i], at);
    while (status == RESTRIDE_OK && e->finished < e->begun)
        status = finish_one(e);
    for (size_t slot = 0; slot < AT_ONCE; slot++) {
        restride_status waited = wait_for_upload(e, &e->chunks[slot]);
        status = status == RESTRIDE_OK ? waited : status;
    }
    return status;
}

restride_status rs_exchange_prepare(rs_message_exchange *e, void *buffer, size_t from, size_t to,
                                    size_t bytes)
{
    e->buffer = buffer;
    restride_status status = from == to ? RESTRIDE_OK : move_apart(e, from, to, bytes);
    if (status == RESTRIDE_OK && e->way == &ways[RS_EXCHANGE_STAGED])
        status = e->transfer->operations->finish(e->transfer);
    return status;
}

static restride_status take_room(rs_message_exchange *e, restride_engine *engine)
{
    size_t bytes = e->way->chunks * e->chunk_bytes;
    if (engine->operations->transfer == NULL) {
        e->room = malloc(bytes);
        return e->room == NULL ? rs_fail_memory("the chunks of messages") : RESTRIDE_OK;
    }
    restride_status status = rs_transfer_open(engine, &e->transfer);
    if (status == RESTRIDE_OK && e->way == &ways[RS_EXCHANGE_STAGED]) {
        bytes = e->chunk_bytes; /* the others are pinned */
        status = e->transfer->operations->pin(e->transfer, 2 * AT_ONCE * bytes, &e->pinned);
    }
    void *room = NULL;
    if (status == RESTRIDE_OK)
        status = e->transfer->operations->allocate(e->transfer, bytes, &room);
    e->room = room;
    return status;
}

restride_status rs_exchange_open(rs_message_exchange **exchange, rs_exchange_way way,
                                 restride_group *group, restride_engine *engine,
                                 const rs_message *moves, size_t count, size_t chunk_bytes)
{
    *exchange = NULL;
    rs_message_exchange *e = calloc(1, sizeof *e);
    if (e == NULL)
        return rs_fail_memory("the exchange of a plan");
    *e = (rs_message_exchange){.way = &ways[way],
                               .group = group,
                               .moves = moves,
                               .move_count = count,
                               .chunk_bytes = chunk_bytes};
    restride_status status = take_room(e, engine);
    if (status == RESTRIDE_OK)
        *exchange = e;
    else
        rs_exchange_close(e);
    return status;
}

void rs_exchange_close(rs_message_exchange *e)
{
    if (e == NULL)
        return;
    if (e->transfer == NULL && e->group->broken) {
        e->next = atomic_exchange(&left, e);
        return;
    }
    if (e->transfer != NULL) {
        if (!e->group->broken) {
            e->transfer->operations->release(e->transfer, e->room);
            e->transfer->operations->unpin(e->transfer, &e->pinned);
        }
        e->transfer->operations->close(e->transfer);
    } else {
        free(e->room);
    }
    free(e);
}
