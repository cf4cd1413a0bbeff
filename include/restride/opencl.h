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
 * An engine that works on the queue's device. It keeps a reference to the queue and enqueues on it;
 * a call to restride_execute() returns when the work is done, and with it all that was enqueued
 * before, unless the queue runs commands out of order. OpenCL 1.2 and newer. The OpenCL loader is
 * found at run time, so the library itself does not depend on it.
 *
 * Plans of transposition take at most 0.25 % of the array and 1 MiB of the device's memory, unless
 * more is granted. Between runs the engine keeps the scratch memory of one of them.
 */
RESTRIDE_API restride_status restride_engine_create_opencl(restride_engine **engine,
                                                           cl_command_queue queue);

#ifdef __cplusplus
}
#endif
#endif
