/* Rectangles are refused as NVIDIA's driver does. */
#include "made_up_gpu.h"

typedef struct {
    const size_t *origin, *region;
    size_t row, slice;
} rectangle;

/* NVIDIA's driver refuses what PoCL takes: rows that go on in the next line, and a last slice that
 * is not in the buffer as a whole. */
static bool is_refused(cl_mem buffer, rectangle r)
{
    size_t size = 0;
    if (r.origin == NULL || r.region == NULL ||
        below->clGetMemObjectInfo(buffer, CL_MEM_SIZE, sizeof size, &size, NULL) != CL_SUCCESS)
        return false;
    const size_t row = r.row != 0 ? r.row : r.region[0];
    const size_t slice = r.slice != 0 ? r.slice : row * r.region[1];
    return r.origin[0] + r.region[0] > row ||
           r.origin[0] + r.origin[1] * row + (r.origin[2] + r.region[2]) * slice > size;
}

static cl_int CL_API_CALL read_rectangle(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                         const size_t *origin, const size_t *host_origin,
                                         const size_t *region, size_t row, size_t slice,
                                         size_t host_row, size_t host_slice, void *data,
                                         cl_uint wait_count, const cl_event *wait_list,
                                         cl_event *event)
{
    if (is_refused(buffer, (rectangle){origin, region, row, slice}))
        return CL_INVALID_VALUE;
    return below->clEnqueueReadBufferRect(queue, buffer, blocking, origin, host_origin, region, row,
                                          slice, host_row, host_slice, data, wait_count, wait_list,
                                          event);
}

static cl_int CL_API_CALL write_rectangle(cl_command_queue queue, cl_mem buffer, cl_bool blocking,
                                          const size_t *origin, const size_t *host_origin,
                                          const size_t *region, size_t row, size_t slice,
                                          size_t host_row, size_t host_slice, const void *data,
                                          cl_uint wait_count, const cl_event *wait_list,
                                          cl_event *event)
{
    if (is_refused(buffer, (rectangle){origin, region, row, slice}))
        return CL_INVALID_VALUE;
    return below->clEnqueueWriteBufferRect(queue, buffer, blocking, origin, host_origin, region,
                                           row, slice, host_row, host_slice, data, wait_count,
                                           wait_list, event);
}

static cl_int CL_API_CALL copy_rectangle(cl_command_queue queue, cl_mem from, cl_mem to,
                                         const size_t *from_origin, const size_t *to_origin,
                                         const size_t *region, size_t from_row, size_t from_slice,
                                         size_t to_row, size_t to_slice, cl_uint wait_count,
                                         const cl_event *wait_list, cl_event *event)
{
    if (is_refused(from, (rectangle){from_origin, region, from_row, from_slice}) ||
        is_refused(to, (rectangle){to_origin, region, to_row, to_slice}))
        return CL_INVALID_VALUE;
    return below->clEnqueueCopyBufferRect(queue, from, to, from_origin, to_origin, region, from_row,
                                          from_slice, to_row, to_slice, wait_count, wait_list,
                                          event);
}

void add_rectangles(cl_icd_dispatch *table)
{
    table->clEnqueueReadBufferRect = read_rectangle;
    table->clEnqueueWriteBufferRect = write_rectangle;
    table->clEnqueueCopyBufferRect = copy_rectangle;
}
