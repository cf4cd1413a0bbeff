/*
 * Gives a recorded kernel's accesses to the model of a memory, with arrays in other layouts than
 * the one that they were recorded in.
 */
#ifndef RS_SIM_REPLAY_H
#define RS_SIM_REPLAY_H

#include "restride/layout.h"
#include "sim/memory.h"
#include "sim/trace.h"

/* An array of the recording, and where it lies in the model. */
typedef struct {
    uint64_t address; /* in the recording */
    uint64_t bytes;
    uint64_t base;               /* in the model */
    const restride_layout *from; /* NULL: it stays as it is */
    const restride_layout *to;   /* the same array; may be `from` itself */
    size_t element_bytes;        /* of the layouts' elements; 1 where a record counts bytes */
} rs_sim_array;

/*
 * Replays the work-group. An access of more than 16 bytes is a copy of a whole structure, which a
 * device makes member by member; a smaller one, such as a float4, stays whole where its elements
 * stay side by side. RESTRIDE_INVALID_ARGUMENT: an access to none of the arrays.
 */
restride_status rs_sim_replay(rs_sim_memory *memory, const rs_sim_array arrays[], size_t count,
                              const rs_trace_group *group);

#endif
