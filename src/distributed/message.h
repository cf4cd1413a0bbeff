/* What a process sends and receives at once. */
#ifndef RS_DISTRIBUTED_MESSAGE_H
#define RS_DISTRIBUTED_MESSAGE_H

#include <stddef.h>

/*
 * `bytes` bytes at `send_at` go to process `to` while as many from process `from` come to
 * `receive_at`, which may be the same place or one before it; -1: nobody. What later messages send
 * lies behind what earlier ones receive.
 */
typedef struct {
    int to;
    int from;
    size_t bytes;
    size_t send_at;
    size_t receive_at;
    size_t partner_at; /* where the partner has what it exchanges with this process, if asked for */
} rs_message;

#endif
