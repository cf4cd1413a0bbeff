/* What flows one way: bytes that a process has for another one in excess of what it gets from it.
 */
#ifndef RS_DISTRIBUTED_FLOW_H
#define RS_DISTRIBUTED_FLOW_H

#include "distributed/counts.h"

/* One step of a process: it sends so many bytes to `to` and receives as many from `from`; -1:
 * nobody. */
typedef struct {
    int to;
    int from;
    size_t bytes;
} rs_flow_step;

/*
 * The steps of process `rank`, in their order; the caller frees them. All processes work out the
 * same steps. What a process holds before and afterwards, and in between, is never more than the
 * larger of its parts (restride/distributed.h says why).
 */
restride_status rs_flow_plan(const rs_counts *counts, size_t size, size_t rank,
                             rs_flow_step **steps, size_t *count);

#endif
