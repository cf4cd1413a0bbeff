/*
 * Memory that processes of one host reach in each other: each names its buffer, the others map it,
 * and exchange bytes with it, place for place, without messages.
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
    uint64_t base;       /* of the allocation */
    uint64_t offset;     /* of the buffer in it */
    uint64_t allocation; /* no other one of the process has had this number; 0: unknown */
    char handle[64];
} rs_peer_name;

/* Numbers of this host and of this process that no others have; false: there are none. */
bool rs_peer_numbers(uint64_t *host, const uint64_t **process);

/* Whether both name the same allocation, for certain. */
bool rs_peer_is_same(const rs_peer_name *a, const rs_peer_name *b);

struct rs_peer_operations {
    restride_status (*name)(restride_engine *engine, void *buffer, rs_peer_name *name);
    /* RESTRIDE_UNSUPPORTED: it is memory of another host, or cannot be reached. What is mapped is
     * unmapped before its owner frees it, unless the caller has promised otherwise. */
    restride_status (*map)(restride_engine *engine, const rs_peer_name *name, void **buffer);
    void (*unmap)(restride_engine *engine, const rs_peer_name *name, void *buffer);
    /* `own` and `other`, in the buffer of that name, change their bytes: enqueued on the engine's
     * stream, or done. */
    restride_status (*swap)(restride_engine *engine, const rs_peer_name *name, void *own,
                            void *other, size_t bytes);
    /* Element (i, j) of `own`, rows x cols, and (j, i) of `other` change places; likewise. Rows of
     * both begin `row_bytes` apart. `own` may be `other`: a square, which is transposed. NULL: this
     * engine does not. */
    restride_status (*mirror)(restride_engine *engine, void *own, void *other, size_t rows,
                              size_t cols, size_t row_bytes, size_t unit);
};

#endif
