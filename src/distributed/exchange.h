/*
 * The messages of a plan, carried out one behind the other, with at most two chunks under way. What
 * arrives where something leaves passes through a room for chunks.
 *
 *     host     the buffer and the room are the host's
 *     staged   the buffer is a device's, and the group addresses the host alone: chunks are copied
 *              to pinned memory, sent from there, received there, and copied back
 *     device   the group addresses the device: the room is the device's, and copies between it and
 *              the buffer are enqueued on the engine's stream
 */
#ifndef RS_DISTRIBUTED_EXCHANGE_H
#define RS_DISTRIBUTED_EXCHANGE_H

#include "distributed/group.h"
#include "distributed/message.h"
#include "distributed/overlap.h"
#include "engine/transfer.h"

typedef enum { RS_EXCHANGE_HOST, RS_EXCHANGE_STAGED, RS_EXCHANGE_DEVICE } rs_exchange_way;

/* How a group and an engine exchange. RESTRIDE_UNSUPPORTED: the group addresses other memory. */
restride_status rs_exchange_choose(const restride_group *group, const restride_engine *engine,
                                   rs_exchange_way *way);

/* How large chunks are unless scratch memory is short, and how many a room has. */
size_t rs_exchange_chunk_bytes(rs_exchange_way way);
size_t rs_exchange_chunks(rs_exchange_way way);

typedef struct rs_message_exchange rs_message_exchange;

/* Takes the room. `moves` must outlive the exchange. */
restride_status rs_exchange_open(rs_message_exchange **exchange, rs_exchange_way way,
                                 restride_group *group, restride_engine *engine,
                                 const rs_message *moves, size_t count, size_t chunk_bytes);

/* Moves `bytes` bytes of the buffer at `from` to the end of `to`, which may overlap, and waits for
 * what must be done before messages can be sent. */
restride_status rs_exchange_prepare(rs_message_exchange *exchange, void *buffer, size_t from,
                                    size_t to, size_t bytes);

/* Carries all moves out but the first `done`, while stages run beside them, if any. After an error
 * messages may be under way. */
restride_status rs_exchange_run(rs_message_exchange *exchange, void *buffer, size_t done,
                                rs_overlap *beside);

/* Gives the room back, unless the group failed: a message may still arrive there then. NULL is
 * allowed. */
void rs_exchange_close(rs_message_exchange *exchange);

#endif
