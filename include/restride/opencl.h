/*
 * The OpenCL engine, for programs that have a command queue. Include it after, or instead of,
 * restride/engine.h.
 *
 *     restride_engine *engine;
 *     restride_plan *plan = NULL;
 *     restride_status status = restride_engine_create_opencl(&engine, queue);
 *     assert(status == RESTRIDE_OK);
 *     status = restride_plan_transpose(&plan, engine, 2, 3, sizeof(float), 1);
 *     assert(status == RESTRIDE_OK);
 *     status = restride_execute(plan, buffer);   // a cl_mem of 6 floats
 *     assert(status == RESTRIDE_OK);
 *     restride_plan_destroy(plan);
 *     restride_engine_destroy(engine);
 */
#ifndef RESTRIDE_OPENCL_H
#define RESTRIDE_OPENCL_H

#include "restride/engine.h"

#include <CL/cl.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Creates an engine that works on the device of a queue, with OpenCL 1.2 or newer. It keeps a
 * reference to the queue and enqueues on it. The library finds the OpenCL loader at run time.
 *
 * restride_execute() returns when the conversion is done. In an in-order queue all earlier commands
 * are done then, too. A transposition takes at most 0.25 % of the array and 1 MiB of device memory,
 * unless more is granted. Between runs the engine keeps the scratch memory of one plan.
 */
RESTRIDE_API restride_status restride_engine_create_opencl(restride_engine **engine,
                                                           cl_command_queue queue);

#ifdef __cplusplus
}
#endif
#endif
