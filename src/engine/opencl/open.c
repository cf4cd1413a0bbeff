/* Finding an OpenCL device by its number or name; see engine/open.h. */
#include "engine/open.h"

#include "engine/opencl/error.h"
#include "engine/opencl/marshal.h"
#include "engine/opencl/opencl.h"
#include "restride/opencl.h"

#include <stdlib.h>
#include <string.h>

enum { MANY = 32 };

/* How well a device fits what was asked for; 0: not at all. */
static int fitness(const cl_icd_dispatch *api, cl_device_id device, size_t number,
                   const char *wanted)
{
    cl_device_type type = 0;
    char name[256] = "";
    if (wanted == NULL) {
        api->clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
        return (type & CL_DEVICE_TYPE_GPU) != 0 ? 2 : 1;
    }
    char *end;
    unsigned long long wanted_number = strtoull(wanted, &end, 10);
    if (*wanted != '\0' && *end == '\0')
        return wanted_number == number;
    api->clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL);
    return strstr(name, wanted) != NULL;
}

static restride_status find_device(const cl_icd_dispatch *api, const char *wanted,
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

restride_status rs_opencl_open(restride_engine **engine, const char *device)
{
    *engine = NULL;
    const cl_icd_dispatch *api = rs_opencl_api();
    if (api == NULL)
        return RESTRIDE_UNSUPPORTED;
    cl_device_id found = NULL;
    restride_status status = find_device(api, device, &found);
    if (status != RESTRIDE_OK)
        return status;
    cl_int code;
    cl_command_queue queue = NULL;
    cl_context context = api->clCreateContext(NULL, 1, &found, NULL, NULL, &code);
    if (code == CL_SUCCESS)
        queue = api->clCreateCommandQueue(context, found, CL_QUEUE_PROFILING_ENABLE, &code);
    status = code == CL_SUCCESS ? restride_engine_create_opencl(engine, queue)
                                : rs_opencl_fail(code, "creating a context and a queue");
    /* The engine holds the queue, and the queue its context. */
    if (queue != NULL)
        api->clReleaseCommandQueue(queue);
    if (context != NULL)
        api->clReleaseContext(context);
    return status;
}
