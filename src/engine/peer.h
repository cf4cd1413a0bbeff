/*
 * Memory of devices of one host that processes share: each names its buffer, the others map it, and
 * a kernel exchanges bytes between the two, place for place, without any memory between them.
 */
#ifndef RS_ENGINE_PEER_H
#define RS_ENGINE_PEER_H

#include "engine/stage.h"

#include <stdint.h>

/* A buffer, in words that another process of the host understands. */
typedef struct {
    uint64_t host;    /* nobody else's */
    uint64_t process; /* likewise */
    uint64_t context;
    uint64_t base;   /* of the allocation */
    uint64_t offset; /* of the buffer in it */
    char handle[64];
} rs_peer_name;

struct rs_peer_operations {
    restride_status (*name)(restride_engine *engine, void *buffer, rs_peer_name *name);
    /* RESTRIDE_UNSUPPORTED: it is memory of another host, or this device cannot reach it. What is
     * mapped is unmapped before its owner frees it. */
    restride_status (*map)(restride_engine *engine, const rs_peer_name *name, void **buffer);
    void (*unmap)(restride_engine *engine, const rs_peer_name *name, void *buffer);
    /* `own` and `other` change their bytes: enqueued on the engine's stream. */
    restride_status (*swap)(restride_engine *engine, void *own, void *other, size_t bytes);
    /* Element (i, j) of `own`, rows x cols, and (j, i) of `other` change places; likewise. Rows of
     * both begin `row_bytes` apart. `own` may be `other`: a square, which is transposed. */
    restride_status (*mirror)(restride_engine *engine, void *own, void *other, size_t rows,
                              size_t cols, size_t row_bytes, size_t unit);
};

#endif
