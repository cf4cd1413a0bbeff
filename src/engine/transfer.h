/*
 * Moving bytes between the host and a device, for the rooms above: memory on both sides, and two
 * lanes, one for each direction. The commands of a lane run in order; the lanes and the engine's
 * own queue or stream run beside each other.
 */
#ifndef RS_ENGINE_TRANSFER_H
#define RS_ENGINE_TRANSFER_H

#include "engine/stage.h"

typedef struct rs_transfer rs_transfer;

/* A command that can be waited for; NULL: none. */
typedef void *rs_ticket;

/* `rows` runs of `row_bytes` bytes, `pitch` bytes apart on each side. */
typedef struct {
    unsigned char *host;
    size_t host_pitch;
    void *device; /* what restride_execute() of this engine takes */
    size_t device_offset;
    size_t device_pitch;
    size_t row_bytes;
    size_t rows;
    bool *has_begun; /* NULL, or set when the copy was enqueued, whatever fails after that */
} rs_transfer_block;

/* Whether its bytes follow each other, so that one copy moves it. */
static inline bool rs_transfer_is_dense(const rs_transfer_block *block)
{
    return block->rows == 1 ||
           (block->row_bytes == block->host_pitch && block->row_bytes == block->device_pitch);
}

/* Memory of the host that the device reads and writes at full speed. */
typedef struct {
    void *pointer;
    void *handle; /* the engine's own */
} rs_pinned;

struct rs_transfer_operations {
    restride_status (*open)(restride_engine *engine, rs_transfer **transfer);
    /* Waits for what is under way. */
    void (*close)(rs_transfer *transfer);

    restride_status (*pin)(rs_transfer *transfer, size_t bytes, rs_pinned *pinned);
    void (*unpin)(rs_transfer *transfer, rs_pinned *pinned);

    restride_status (*allocate)(rs_transfer *transfer, size_t bytes, void **buffer);
    void (*release)(rs_transfer *transfer, void *buffer);
    /* A buffer that is a part of another one. It begins at a multiple of `alignment` bytes
     * (rs_transfer) and is released before it. */
    restride_status (*part)(rs_transfer *transfer, void *buffer, size_t offset, size_t bytes,
                            void **part);
    void (*release_part)(rs_transfer *transfer, void *part);

    /* Each enqueues; `ticket` (NULL: not wanted) is waited for exactly once. After an error nothing
     * of that direction is under way. */
    restride_status (*upload)(rs_transfer *transfer, const rs_transfer_block *block,
                              rs_ticket *ticket);
    restride_status (*download)(rs_transfer *transfer, const rs_transfer_block *block,
                                rs_ticket *ticket);
    restride_status (*wait)(rs_transfer *transfer, rs_ticket ticket);

    /* From buffer to buffer on the engine's own queue, before all that is enqueued there later,
     * with `has_begun` as in a block; and waiting for all that is there. */
    restride_status (*copy)(rs_transfer *transfer, void *to, size_t to_offset, void *from,
                            size_t from_offset, size_t bytes, bool *has_begun);
    restride_status (*finish)(rs_transfer *transfer);
};

/* Every engine's structure begins with this one. */
struct rs_transfer {
    const rs_transfer_operations *operations;
    restride_engine *engine;
    size_t alignment; /* of parts of buffers, in bytes */
    size_t chunks;    /* that a large array is best cut into */
    /* Of the device, where allocate() may promise more than there is; SIZE_MAX: it never does. */
    size_t memory_bytes;
};

/* RESTRIDE_UNSUPPORTED for an engine that works in host memory. */
restride_status rs_transfer_open(restride_engine *engine, rs_transfer **transfer);

#endif
