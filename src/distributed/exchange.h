/* Messages of a redistribution, in bounded chunks. */
#ifndef RS_DISTRIBUTED_EXCHANGE_H
#define RS_DISTRIBUTED_EXCHANGE_H

#include "distributed/group.h"

/*
 * `bytes` bytes at `send_at` go to process `to` while as many from process `from` come to
 * `receive_at`, which may be the same place or one before it; -1: nobody.
 */
typedef struct {
    int to;
    int from;
    size_t bytes;
    size_t send_at;
    size_t receive_at;
} rs_message;

/* Carries the moves out, one after the other. What arrives while something leaves passes through
 * `scratch`, which holds two chunks. After an error messages may be under way. */
restride_status rs_exchange(restride_group *group, unsigned char *buffer, const rs_message moves[],
                            size_t count, unsigned char *scratch, size_t chunk_bytes);

#endif
