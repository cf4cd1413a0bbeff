/*
 * Conversions of buffers between the program's layout and that of its rewritten kernels, on one
 * device of a context: the marshaling kernel where "i f" becomes "i/T f i%T" (engine/opencl/
 * marshal.h), and plans of the OpenCL engine for everything else (restride/plan.h), made for each
 * number of records. Both work in place; an array that is no larger than the scratch memory that a
 * plan may take is copied out and back instead, for plans take longer to make than it does.
 *
 * All functions but rs_converter_create() are called with the layer's lock.
 */
#ifndef RS_LAYER_CONVERTER_H
#define RS_LAYER_CONVERTER_H

#include "base/status.h"
#include "layout/record.h"

#include <CL/cl_icd.h>

/* A change of layout of an array of records. */
typedef struct {
    rs_record record;
    bool from_soa; /* the program keeps the array in "f i", not in "i f" */
    size_t tile;   /* the kernels want "i/T f i%T"; 0: "f i" */
} rs_relayout;

/* Whether an array that is in one of them is in the other too. */
bool rs_relayout_equal(const rs_relayout *a, const rs_relayout *b);

typedef enum { RS_THERE, RS_BACK } rs_direction;

typedef struct rs_converter rs_converter;

/* Takes no lock and needs none. The relayout must outlive the converter. */
restride_status rs_converter_create(rs_converter **converter, cl_context context,
                                    cl_device_id device, const rs_relayout *relayout);
void rs_converter_destroy(rs_converter *converter);

/* Makes what buffers of so many bytes need, if it is new; the conversions that follow fail for want
 * of memory or by the driver alone. */
restride_status rs_converter_prepare(rs_converter *converter, size_t bytes);

/* One command, or several that follow each other. */
typedef struct {
    cl_event began; /* its start is that of the conversion */
    cl_event event; /* its end; both are the caller's to release */
} rs_conversion;

/* Enqueues the conversion of a whole buffer on a queue of the device. */
restride_status rs_converter_enqueue(rs_converter *converter, cl_command_queue queue, cl_mem buffer,
                                     size_t bytes, rs_direction direction, cl_uint wait_count,
                                     const cl_event *wait_list, rs_conversion *conversion);

/* Bytes of a buffer in the program's layout, in a buffer of their own. */
typedef struct {
    cl_mem scratch;
    size_t first, end; /* of the buffer */
} rs_converter_part;

/* The multiple of bytes that parts begin at, and end at unless it is behind all records; 0: there
 * are no parts. */
size_t rs_converter_granule(const rs_converter *converter);

/* Enqueues the copy of a part: out of a converted buffer (RS_BACK) or into it (RS_THERE). */
restride_status rs_converter_copy_part(const rs_converter *converter, cl_command_queue queue,
                                       cl_mem buffer, size_t bytes, const rs_converter_part *part,
                                       rs_direction direction, cl_uint wait_count,
                                       const cl_event *wait_list, cl_event *event);

#endif
