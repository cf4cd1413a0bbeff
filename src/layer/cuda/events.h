/*
 * Events of the core: marks in streams. A mark may have a beginning, for the time of what lies
 * between. Those that are released are used again, for the driver takes long to make one.
 */
#ifndef RS_LAYER_CUDA_EVENTS_H
#define RS_LAYER_CUDA_EVENTS_H

#include "layer/cuda/driver.h"

typedef struct rs_cuda_mark {
    atomic_uint references;
    atomic_bool is_over;
    bool is_timed;
    rs_cuda_event begin; /* NULL: it has none */
    rs_cuda_event end;
    rs_cuda_context context;
    uint64_t stream; /* the number of its stream */
    struct rs_cuda_mark *next;
} rs_cuda_mark;

/* A mark behind everything given to the stream so far, in its context. That of another thread's
 * default stream waits for the whole device. */
rs_cuda_result rs_cuda_mark_make(rs_cuda_queue *queue, bool is_timed, rs_cuda_mark **mark);

/* In two steps: the mark, with a beginning that is recorded now if there is to be one; then its
 * end. */
rs_cuda_result rs_cuda_mark_begin(rs_cuda_queue *queue, bool is_timed, bool has_beginning,
                                  rs_cuda_mark **mark);
rs_cuda_result rs_cuda_mark_end(rs_cuda_queue *queue, rs_cuda_mark *mark);

void rs_cuda_mark_free(rs_cuda_mark *mark);

/* An event before all others that have times; NULL: there is none. */
rs_cuda_event rs_cuda_mark_zero(void);

/* The stream waits for a mark of another one. */
rs_cuda_result rs_cuda_mark_await(const rs_cuda_queue *queue, const rs_cuda_mark *mark);

/* The core's handle of a device is its number, from 1 on. */
static inline rs_cuda_device rs_cuda_device_of(rs_device device)
{
    return (rs_cuda_device)((intptr_t)device - 1);
}
static inline rs_device rs_cuda_device_handle(rs_cuda_device device)
{
    return (rs_device)((intptr_t)device + 1);
}

#endif
