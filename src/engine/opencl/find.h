/* Finding the OpenCL device that a user means. */
#ifndef RS_ENGINE_OPENCL_FIND_H
#define RS_ENGINE_OPENCL_FIND_H

#include "base/status.h"

#include <CL/cl_icd.h>
#include <stdbool.h>

/* The first of the devices of all platforms that fit `wanted` best (rs_device_fitness() in
 * engine/open.h; numbers count from platform to platform). RESTRIDE_UNSUPPORTED: there is none. */
restride_status rs_opencl_find_device(const cl_icd_dispatch *api, const char *wanted,
                                      cl_device_id *found);

bool rs_opencl_is_gpu(const cl_icd_dispatch *api, cl_device_id device);

#endif
