/* How many work-items a device runs together. */
#ifndef RS_ENGINE_OPENCL_SIMD_H
#define RS_ENGINE_OPENCL_SIMD_H

#include <CL/cl_icd.h>
#include <stddef.h>

/* The multiple of work-items that the device prefers, between 8 and 64, a power of two; 32 where it
 * does not say. Speed alone depends on it: what work-items share passes through barriers. */
cl_int rs_opencl_read_simd_items(const cl_icd_dispatch *api, cl_device_id device, size_t *items);

/* The same of what a device has said; 0: nothing. */
size_t rs_opencl_bound_simd_items(size_t said);

#endif
