/*
 * What a kernel over records does to memory: thread i reads some fields of record i of one array
 * and writes as many of another one, in any layout.
 */
#ifndef RS_SIM_KERNEL_H
#define RS_SIM_KERNEL_H

#include "restride/layout.h"
#include "sim/memory.h"

typedef struct {
    const restride_layout *layout; /* of dimensions "records fields", elements and no record type */
    size_t element_bytes;          /* 1 to 16 */
    size_t fields;                 /* read of each record, the first ones */
    bool writes;                   /* and as many of another array */
    size_t most_bytes;             /* of each array to run through; 0: all */
} rs_sim_kernel;

/* Runs the kernel, or its first warps that touch `most_bytes`. RESTRIDE_INVALID_ARGUMENT: the
 * layout has other dimensions. */
restride_status rs_sim_run_kernel(rs_sim_memory *memory, const rs_sim_kernel *kernel);

#endif
