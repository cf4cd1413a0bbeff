/* See simd.h. OpenCL 3.0 has a question for it; before, the vendors have theirs. */
#include "engine/opencl/simd.h"

enum {
    PREFERRED_MULTIPLE = 0x1067, /* CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE */
    WARP_SIZE = 0x4003,          /* CL_DEVICE_WARP_SIZE_NV */
    WAVEFRONT_WIDTH = 0x4043,    /* CL_DEVICE_WAVEFRONT_WIDTH_AMD */
    LEAST_ITEMS = 8,             /* of a processor's vectors; fewer share no memory line */
    MOST_ITEMS = 64,             /* a wavefront */
    USUAL_ITEMS = 32
};

size_t rs_opencl_bound_simd_items(size_t said)
{
    if (said == 0)
        return USUAL_ITEMS;
    size_t items = LEAST_ITEMS;
    while (items < MOST_ITEMS && 2 * items <= said)
        items *= 2;
    return items;
}

cl_int rs_opencl_read_simd_items(const cl_icd_dispatch *api, cl_device_id device, size_t *items)
{
    size_t multiple = 0;
    cl_uint width = 0;
    const struct {
        cl_device_info what;
        size_t size;
        void *value;
    } questions[] = {{PREFERRED_MULTIPLE, sizeof multiple, &multiple},
                     {WARP_SIZE, sizeof width, &width},
                     {WAVEFRONT_WIDTH, sizeof width, &width}};
    /* A device that does not know a question says that the value is invalid. */
    cl_int code = CL_INVALID_VALUE;
    for (size_t i = 0; i < sizeof questions / sizeof questions[0] && code == CL_INVALID_VALUE; i++)
        code = api->clGetDeviceInfo(device, questions[i].what, questions[i].size,
                                    questions[i].value, NULL);
    *items = rs_opencl_bound_simd_items(multiple != 0 ? multiple : width);
    return code == CL_INVALID_VALUE ? CL_SUCCESS : code;
}
