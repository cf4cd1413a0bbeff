/*
 * Conversions of buffers between the program's layout and that of its rewritten kernels, on one
 * device of a group. An API supplies them (layer/opencl/converter.c): a kernel where "i f" becomes
 * "i/T f i%T", and plans of the engine (restride/plan.h) for everything else, made for each number
 * of records. Both work in place; an array that is no larger than the scratch memory that a plan
 * may take is copied out and back instead, for plans take longer to make than it does.
 *
 * What a buffer needs for its conversions forward (to the kernels' layout) and inverse (back) is
 * its workspace. It has it from before the first until it is back, so that none fails for want of
 * memory.
 *
 * All functions are called with the layer's lock, but rs_converter_create() and rs_plans_make(),
 * which need none. Wait lists are arrays of the API's events.
 */
#ifndef RS_LAYER_CONVERTER_H
#define RS_LAYER_CONVERTER_H

#include "base/status.h"
#include "layer/core/api.h"
#include "layer/core/relayout.h"

typedef enum { RS_FORWARD, RS_INVERSE } rs_direction;

typedef struct rs_converter rs_converter;

/* The relayout must outlive the converter. */
restride_status rs_converter_create(rs_converter **converter, rs_group context, rs_device device,
                                    const rs_relayout *relayout);
void rs_converter_destroy(rs_converter *converter);

/* Plans for buffers of one length, in both directions, or why there are none. */
typedef struct rs_plans rs_plans;

/* Whether buffers of so many bytes need plans that are not made yet. */
bool rs_converter_lacks_plans(const rs_converter *converter, size_t bytes);

/* Makes them, while others may use the converter but make no plans; NULL when memory is short. They
 * are the converter's once they are added. */
rs_plans *rs_plans_make(rs_converter *converter, size_t bytes);
void rs_converter_add_plans(rs_converter *converter, rs_plans *plans) RS_LOCKED;
void rs_plans_destroy(rs_plans *plans);

/* All zero: there is nothing to be had. */
typedef struct {
    rs_plans *plans;
    rs_allocation scratch;
} rs_workspace;

/* Takes the workspace for a buffer of so many bytes, whose plans were made. A device may give
 * memory with the first command that uses it alone, so one is enqueued: its event, NULL if there is
 * none, is the caller's to release and comes before all conversions in the workspace. */
restride_status rs_workspace_take(rs_converter *converter, rs_stream queue, size_t bytes,
                                  rs_workspace *workspace, rs_event *placed) RS_LOCKED;

/* Commands that are under way keep what they use. */
void rs_workspace_release(rs_workspace *workspace) RS_LOCKED;

/* One command, or several that follow each other. */
typedef struct {
    rs_event began; /* its start is that of the conversion */
    rs_event event; /* its end; both are the caller's to release */
    bool is_torn; /* after an error: the buffer may lie between the layouts; else it is as it was */
} rs_conversion;

/* Whether the kernels of a conversion have been launched before: a driver may compile them then. */
bool rs_converter_has_run(const rs_converter *converter, const rs_workspace *workspace,
                          rs_direction direction) RS_LOCKED;

/* Enqueues the conversion of a whole buffer on a queue of the device. */
restride_status rs_converter_enqueue(rs_converter *converter, const rs_workspace *workspace,
                                     rs_stream queue, rs_allocation buffer, size_t bytes,
                                     rs_direction direction, unsigned wait_count,
                                     const void *wait_list, rs_conversion *conversion) RS_LOCKED;

/* Bytes of a buffer in the program's layout, in a buffer of their own. */
typedef struct {
    rs_allocation scratch;
    size_t first, end; /* of the buffer */
} rs_converter_part;

/* The multiple of bytes that parts begin at, and end at unless it is behind all records; 0: there
 * are no parts. */
size_t rs_converter_granule(const rs_converter *converter);

/* Enqueues the copy of a part: out of a converted buffer (RS_INVERSE) or into it (RS_FORWARD); and
 * whether that has been done before. */
bool rs_converter_has_copied(const rs_converter *converter, rs_direction direction) RS_LOCKED;
restride_status rs_converter_copy_part(rs_converter *converter, rs_stream queue,
                                       rs_allocation buffer, size_t bytes,
                                       const rs_converter_part *part, rs_direction direction,
                                       unsigned wait_count, const void *wait_list,
                                       rs_event *event) RS_LOCKED;

#endif
