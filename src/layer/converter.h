/*
 * Conversions of buffers between the program's layout and that of its rewritten kernels, on one
 * device of a context: the marshaling kernel where "i f" becomes "i/T f i%T" (engine/opencl/
 * marshal.h), and plans of the OpenCL engine for everything else (restride/plan.h), made for each
 * number of records. Both work in place; an array that is no larger than the scratch memory that a
 * plan may take is copied out and back instead, for plans take longer to make than it does.
 *
 * What a buffer needs on its way there and back is its route. It has it from before the first
 * command until it is back, so that no way back fails for want of memory.
 *
 * All functions are called with the layer's lock, but rs_converter_create() and rs_plans_make(),
 * which need none.
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
    size_t number; /* equal ones have the same; 0: not numbered */
} rs_relayout;

/* Gives it its number, for launches compare relayouts many times, and records can be long. */
void rs_relayout_give_number(rs_relayout *relayout);

/* Whether an array that is in one of them is in the other too. */
bool rs_relayout_equal(const rs_relayout *a, const rs_relayout *b);

/* Whether buffers of so many bytes are converted by plans. */
bool rs_relayout_needs_plans(const rs_relayout *relayout, size_t bytes);

typedef enum { RS_THERE, RS_BACK } rs_direction;

typedef struct rs_converter rs_converter;

/* The relayout must outlive the converter. */
restride_status rs_converter_create(rs_converter **converter, cl_context context,
                                    cl_device_id device, const rs_relayout *relayout);
void rs_converter_destroy(rs_converter *converter);

/* Plans for buffers of one length, there and back, or why there are none. */
typedef struct rs_plans rs_plans;

/* Whether buffers of so many bytes need plans that are not made yet. */
bool rs_converter_lacks_plans(const rs_converter *converter, size_t bytes);

/* Makes them, while others may use the converter but make no plans; NULL when memory is short. They
 * are the converter's once they are added. */
rs_plans *rs_plans_make(rs_converter *converter, size_t bytes);
void rs_converter_add_plans(rs_converter *converter, rs_plans *plans);
void rs_plans_destroy(rs_plans *plans);

/* All zero: there is nothing to be had. */
typedef struct {
    rs_plans *plans;
    cl_mem scratch;
} rs_route;

/* Takes the route for a buffer of so many bytes, whose plans were made. A device may give memory
 * with the first command that uses it alone, so one is enqueued: its event, NULL if there is none,
 * is the caller's to release and comes before all conversions by the route. */
restride_status rs_route_take(rs_converter *converter, cl_command_queue queue, size_t bytes,
                              rs_route *route, cl_event *placed);

/* Commands that are under way keep what they use. */
void rs_route_leave(rs_route *route);

/* One command, or several that follow each other. */
typedef struct {
    cl_event began; /* its start is that of the conversion */
    cl_event event; /* its end; both are the caller's to release */
    bool is_torn; /* after an error: the buffer may lie between the layouts; else it is as it was */
} rs_conversion;

/* Whether the kernels of a conversion have been launched before: a driver may compile them then. */
bool rs_converter_has_run(const rs_converter *converter, const rs_route *route,
                          rs_direction direction);

/* Enqueues the conversion of a whole buffer on a queue of the device. */
restride_status rs_converter_enqueue(rs_converter *converter, const rs_route *route,
                                     cl_command_queue queue, cl_mem buffer, size_t bytes,
                                     rs_direction direction, cl_uint wait_count,
                                     const cl_event *wait_list, rs_conversion *conversion);

/* Bytes of a buffer in the program's layout, in a buffer of their own. */
typedef struct {
    cl_mem scratch;
    size_t first, end; /* of the buffer */
} rs_converter_part;

/* The multiple of bytes that parts begin at, and end at unless it is behind all records; 0: there
 * are no parts. */
size_t rs_converter_granule(const rs_converter *converter);

/* Enqueues the copy of a part: out of a converted buffer (RS_BACK) or into it (RS_THERE); and
 * whether that has been done before. */
bool rs_converter_has_copied(const rs_converter *converter, rs_direction direction);
restride_status rs_converter_copy_part(rs_converter *converter, cl_command_queue queue,
                                       cl_mem buffer, size_t bytes, const rs_converter_part *part,
                                       rs_direction direction, cl_uint wait_count,
                                       const cl_event *wait_list, cl_event *event);

#endif
