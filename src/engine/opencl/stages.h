/*
 * Stages between a program's own commands: an engine with another table of functions than the
 * loader's, and its stages on the queues of the program, without waiting. For the OpenCL layer.
 */
#ifndef RS_ENGINE_OPENCL_STAGES_H
#define RS_ENGINE_OPENCL_STAGES_H

#include "engine/stage.h"

#include <CL/cl_icd.h>
#include <stdbool.h>

/* As restride_engine_create_opencl(); `api` must outlive the engine. On its queue, plans are
 * prepared. */
restride_status rs_opencl_engine_create(restride_engine **engine, const cl_icd_dispatch *api,
                                        cl_command_queue queue);

/* The stages of a plan of such an engine; all but those of marshal.h, which are enqueued there. */
typedef struct {
    restride_engine *engine;
    rs_stage *const *stages;
    size_t count;
    cl_mem scratch; /* as much as the stages of a run share; NULL: none */
} rs_opencl_stages;

/*
 * Enqueues the stages on a queue of the engine's device, behind the events of the list. *began and
 * *event are the caller's to release: of the first command of the first stage (a marker has no
 * times with NVIDIA's driver when the queue is idle), and of the last. After an error *is_torn says
 * whether commands were enqueued (one that only reads the buffer counts too): it may lie between
 * the two layouts then, and is as it was otherwise. A command that fails while it runs is not seen
 * here.
 */
restride_status rs_opencl_enqueue_stages(const rs_opencl_stages *stages, cl_command_queue queue,
                                         cl_mem buffer, cl_uint wait_count,
                                         const cl_event *wait_list, cl_event *began,
                                         cl_event *event, bool *is_torn);

#endif
