/* See find.h. */
#include "engine/opencl/find.h"

#include "engine/open.h"

enum { MANY = 32 };

bool rs_opencl_is_gpu(const cl_icd_dispatch *api, cl_device_id device)
{
    cl_device_type type = 0;
    api->clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    return (type & CL_DEVICE_TYPE_GPU) != 0;
}

static int fitness(const cl_icd_dispatch *api, cl_device_id device, size_t number,
                   const char *wanted)
{
    char name[256] = "";
    api->clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
    return rs_device_fitness(wanted, number, rs_opencl_is_gpu(api, device), name);
}

restride_status rs_opencl_find_device(const cl_icd_dispatch *api, const char *wanted,
                                      cl_device_id *found)
{
    cl_platform_id platforms[MANY];
    cl_device_id devices[MANY];
    cl_uint platform_count = 0;
    size_t number = 0;
    int best = 0;
    if (api->clGetPlatformIDs(MANY, platforms, &platform_count) != CL_SUCCESS)
        platform_count = 0;
    for (cl_uint p = 0; p < platform_count && p < MANY; p++) {
        cl_uint count = 0;
        if (api->clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MANY, devices, &count) !=
            CL_SUCCESS)
            continue;
        for (cl_uint d = 0; d < count && d < MANY; d++, number++) {
            int fits = fitness(api, devices[d], number, wanted);
            if (fits > best) {
                best = fits;
                *found = devices[d];
            }
        }
    }
    if (best > 0)
        return RESTRIDE_OK;
    if (wanted != NULL)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "No OpenCL device is called \"%s\"; restride doctor lists the devices.",
                       wanted);
    return rs_fail(RESTRIDE_UNSUPPORTED, "There is no OpenCL device; install a driver, for example "
                                         "the Debian package pocl-opencl-icd.");
}
