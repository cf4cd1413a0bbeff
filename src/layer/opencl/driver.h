/*
 * OpenCL's side of the layer: the driver's dispatch table, and what the files of this folder share.
 */
#ifndef RS_LAYER_DRIVER_H
#define RS_LAYER_DRIVER_H

#include "layer/core/state.h"

#include <CL/cl_icd.h>

/* What the program allows itself: the driver refuses its other transfers, whatever they are on. */
enum { RS_HOST_ACCESS = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS };

/* What the loader made when it loaded the layer, once in a process. The functions of a dispatch
 * table have no other way to it. */
typedef struct {
    rs_layer layer;
    cl_icd_dispatch driver; /* the functions below: the next layer's or the loader's own */
    cl_icd_dispatch own;    /* the layer's */
    /* Events that the program has instead of those of launches (profiled_launch.c). They are held
     * until it has released them, so that none of them can become another's handle. */
    struct {
        cl_event *events;
        size_t count;
    } standing_in;
    rs_map programs;
    unsigned program_count;
    rs_map user_events; /* those without a status, which hold commands back */
    atomic_bool has_user_events;
    rs_map released;  /* queues that hid their profiling, whose events may live on */
    int native_count; /* native kernels that the driver has not answered to */
} rs_opencl_layer;

/* The record of a queue. */
typedef struct {
    rs_queue core;
    unsigned references;                    /* the program's */
    cl_command_queue_properties properties; /* what the program asked for */
    cl_queue_properties *list;              /* the same as a list, or NULL */
    size_t list_bytes;
    bool profiling_added;             /* by the layer, for the report */
    cl_command_queue profiling_queue; /* the layer's (profiled_launch.h); NULL: not made yet, or */
    bool has_no_profiling_queue;      /* it cannot be made */
} rs_layer_queue;

/* The record of a buffer. */
typedef struct {
    rs_buffer core;
    cl_mem_flags flags; /* that the program asked for */
} rs_layer_buffer;

extern rs_opencl_layer rs_opencl;

static inline const cl_icd_dispatch *rs_driver(void)
{
    return &rs_opencl.driver;
}

static inline rs_layer *rs_the_layer(void)
{
    return &rs_opencl.layer;
}

static inline rs_layer_buffer *rs_layer_buffer_find(cl_mem handle) RS_LOCKED
{
    return (rs_layer_buffer *)rs_buffer_find(rs_the_layer(), handle);
}

/* The record of a context, made if new; NULL when memory is short or the handle is none. */
rs_context *rs_context_of(cl_context handle) RS_LOCKED;

/* Makes the record of a new context (NULL: nothing) and returns it. */
cl_context rs_new_context(cl_context handle) RS_UNLOCKED;

/* Frees what the layer holds in a context once the program has released it and its buffers. */
void rs_context_trim(rs_context *context) RS_LOCKED;

/* Each file puts its functions into the dispatch table; those of devices after the contexts. */
typedef void rs_layer_add(cl_icd_dispatch *table);
rs_layer_add rs_layer_add_contexts, rs_layer_add_devices, rs_layer_add_buffers,
    rs_layer_add_transfers, rs_layer_add_binaries, rs_layer_add_programs, rs_layer_add_builds,
    rs_layer_add_kernels, rs_layer_add_launches;

#endif
