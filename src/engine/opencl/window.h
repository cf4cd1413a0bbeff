/*
 * Windows: a run of an array's bytes as the program sees them, copied out of the layout that the
 * array is in, and back into it (the on-demand marshaling of Sung's thesis, section 5.5.3, for any
 * of the layouts). The array itself stays as it is.
 *
 * Calls go through a dispatch table, as in marshal.h.
 */
#ifndef RS_ENGINE_OPENCL_WINDOW_H
#define RS_ENGINE_OPENCL_WINDOW_H

#include "layout/record.h"

#include <CL/cl_icd.h>

typedef struct {
    const rs_record *record;
    bool from_soa; /* the program sees "f i", of members that are alike; else "i f" */
    size_t tile;   /* the array is in "i/T f i%T"; 0: in "f i" */
} rs_window_shape;

typedef struct rs_opencl_window rs_opencl_window;

typedef enum { RS_WINDOW_OUT, RS_WINDOW_IN } rs_window_direction;

/* Bytes [first, end) of an array of `count` records, with whatever lies behind them. */
typedef struct {
    cl_mem array;
    size_t count;
    cl_mem window;
    size_t first, end; /* `first` is a multiple of the granule */
} rs_window_part;

/* RESTRIDE_UNSUPPORTED for records of members that differ in size and are very many. `api` must
 * outlive the object; the record is not kept. */
restride_status rs_opencl_window_create(rs_opencl_window **window, const cl_icd_dispatch *api,
                                        cl_context context, cl_device_id device,
                                        const rs_window_shape *shape);

/* Parts begin and end at multiples of so many bytes, 1 to 16, or behind all records. */
size_t rs_opencl_window_granule(const rs_opencl_window *window);

/* Enqueues the copy on a queue of that device; *event is the caller's to release. Not thread-safe.
 */
restride_status rs_opencl_window_enqueue(const rs_opencl_window *window, cl_command_queue queue,
                                         const rs_window_part *part, rs_window_direction direction,
                                         cl_uint wait_count, const cl_event *wait_list,
                                         cl_event *event);

void rs_opencl_window_destroy(rs_opencl_window *window);

#endif
