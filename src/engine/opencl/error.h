/* OpenCL error codes as sentences. */
#ifndef RS_ENGINE_OPENCL_ERROR_H
#define RS_ENGINE_OPENCL_ERROR_H

#include "base/status.h"

#include <CL/cl.h>

/* "OpenCL failed while DOING: CL_NAME (code).", as RESTRIDE_DEVICE_ERROR or RESTRIDE_OUT_OF_MEMORY.
 */
restride_status rs_opencl_fail(cl_int code, const char *doing);

#endif
