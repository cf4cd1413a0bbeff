/*
 * The marshaling stage on an OpenCL device: 010! by barrier synchronisation between AoS and ASTA,
 * in place, for one record and one tile size. Used by plans (restride_execute) and by the OpenCL
 * layer, which enqueues it between a program's own commands.
 *
 * Calls go through a dispatch table, not through the loader: the layer hands in its target table,
 * everybody else the one of rs_opencl_api().
 */
#ifndef RS_ENGINE_OPENCL_MARSHAL_H
#define RS_ENGINE_OPENCL_MARSHAL_H

#include "engine/opencl/shape.h"
#include "engine/stage.h"
#include "layout/record.h"

#include <CL/cl_icd.h>

/* The functions of the OpenCL loader, found with dlopen once; NULL, with a sentence, when there is
 * none. */
const cl_icd_dispatch *rs_opencl_api(void);

typedef struct rs_opencl_marshal rs_opencl_marshal;

/*
 * Builds both directions for `device` of `context`. RESTRIDE_DEVICE_LIMIT when a tile (tile *
 * record->size bytes) does not fit into local memory. The record is copied; `api` must outlive the
 * object.
 */
restride_status rs_opencl_marshal_create(rs_opencl_marshal **marshal, const cl_icd_dispatch *api,
                                         cl_context context, cl_device_id device,
                                         const rs_record *record, size_t tile);

/* The same with some choices forced, for measurements; NULL forces none. */
restride_status rs_opencl_marshal_create_variant(rs_opencl_marshal **marshal,
                                                 const cl_icd_dispatch *api, cl_context context,
                                                 cl_device_id device, const rs_record *record,
                                                 size_t tile, const rs_marshal_variant *variant);

/* What was chosen; valid as long as the object. */
const rs_marshal_shape *rs_opencl_marshal_shape(const rs_opencl_marshal *marshal);

/*
 * Enqueues the conversion of the first `count` records of `buffer` on a queue of that device; bytes
 * behind them are not touched. Waits for the events of the list first; *event (not NULL) is the
 * caller's to release. Thread-safe.
 */
restride_status rs_opencl_marshal_enqueue(rs_opencl_marshal *marshal, cl_command_queue queue,
                                          cl_mem buffer, size_t count,
                                          rs_marshal_direction direction, cl_uint wait_count,
                                          const cl_event *wait_list, cl_event *event);

void rs_opencl_marshal_destroy(rs_opencl_marshal *marshal);

#endif
