/*
 * Reads what the recorder writes down (trace_format.h) and puts together which accesses a warp
 * makes at once: those of one instruction, of its n-th execution in each work-item. Work-items that
 * took another way through the kernel are left out of them, as on a device.
 */
#ifndef RS_SIM_TRACE_H
#define RS_SIM_TRACE_H

#include "base/status.h"
#include "sim/trace_format.h"

#include <stddef.h>
#include <stdio.h>

typedef struct rs_trace rs_trace;

typedef struct {
    size_t first;
    size_t count;
} rs_trace_slice;

/* One work-group. */
typedef struct {
    rs_trace_access *accesses;
    rs_trace_slice *together; /* of the accesses: what a warp accesses at once, in its order */
    rs_trace_slice *warps;    /* of `together` */
    size_t warp_count;
} rs_trace_group;

/* Warps of `warp` work-items. The stream stays the caller's. */
restride_status rs_trace_create(rs_trace **trace, FILE *stream, size_t warp);
void rs_trace_destroy(rs_trace *trace);

/* Reads on to the next work-group, which stays until the next call; NULL: the launch is complete.
 * RESTRIDE_IO: the stream ended before that. */
restride_status rs_trace_next(rs_trace *trace, const rs_trace_group **group);

/* The buffers in device memory, oldest first; none before the first rs_trace_next(). */
const rs_trace_buffer *rs_trace_buffers(const rs_trace *trace, size_t *count);

#endif
