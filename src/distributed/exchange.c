/*
 * Exchange in place: see redistribution.h. Two chunks are under way. While one travels, the one
 * before it is copied from scratch memory to the place that a chunk of the same step has left.
 */
#include "distributed/redistribution.h"

#include <string.h>

enum { AT_ONCE = 2 };

typedef struct {
    restride_group *group;
    unsigned char *buffer;
    unsigned char *scratch;
    size_t chunk_bytes;
    void *operations[AT_ONCE];
} exchange;

static size_t bytes_of_chunk(const exchange *e, const rs_message *move, size_t chunk)
{
    const size_t rest = move->bytes - chunk * e->chunk_bytes;
    return rest < e->chunk_bytes ? rest : e->chunk_bytes;
}

/* Where a chunk arrives: at once in its place when nothing leaves from there. */
static unsigned char *landing(const exchange *e, const rs_message *move, size_t chunk)
{
    if (move->to < 0)
        return e->buffer + move->receive_at + chunk * e->chunk_bytes;
    return e->scratch + chunk % AT_ONCE * e->chunk_bytes;
}

static restride_status begin_chunk(exchange *e, const rs_message *move, size_t chunk)
{
    const size_t bytes = bytes_of_chunk(e, move, chunk);
    const unsigned char *send = e->buffer + move->send_at + chunk * e->chunk_bytes;
    return rs_group_begin(e->group, move->to < 0 ? NULL : send, move->to < 0 ? 0 : bytes, move->to,
                          move->from < 0 ? NULL : landing(e, move, chunk),
                          move->from < 0 ? 0 : bytes, move->from, &e->operations[chunk % AT_ONCE]);
}

static restride_status finish_chunk(exchange *e, const rs_message *move, size_t chunk)
{
    restride_status status = rs_group_finish(e->group, e->operations[chunk % AT_ONCE]);
    if (status == RESTRIDE_OK && move->to >= 0 && move->from >= 0)
        memcpy(e->buffer + move->receive_at + chunk * e->chunk_bytes, landing(e, move, chunk),
               bytes_of_chunk(e, move, chunk));
    return status;
}

static restride_status carry_out(exchange *e, const rs_message *move)
{
    const size_t chunks = (move->bytes + e->chunk_bytes - 1) / e->chunk_bytes;
    restride_status status = RESTRIDE_OK;
    for (size_t c = 0; status == RESTRIDE_OK && c < chunks + AT_ONCE - 1; c++) {
        if (c < chunks)
            status = begin_chunk(e, move, c);
        if (status == RESTRIDE_OK && c >= AT_ONCE - 1)
            status = finish_chunk(e, move, c - (AT_ONCE - 1));
    }
    return status;
}

restride_status rs_exchange(restride_group *group, unsigned char *buffer, const rs_message moves[],
                            size_t count, unsigned char *scratch, size_t chunk_bytes)
{
    exchange e = {.group = group, .buffer = buffer, .scratch = scratch, .chunk_bytes = chunk_bytes};
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; status == RESTRIDE_OK && i < count; i++)
        status = carry_out(&e, &moves[i]);
    return status;
}
