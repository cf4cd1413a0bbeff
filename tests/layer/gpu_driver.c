/* A driver of OpenCL with one GPU that can only be listed. */
#include <CL/cl_icd.h>

#include <string.h>

struct _cl_platform_id {
    const cl_icd_dispatch *dispatch;
};
struct _cl_device_id {
    const cl_icd_dispatch *dispatch;
};

static const cl_icd_dispatch dispatch;
static struct _cl_platform_id platform = {&dispatch};
static struct _cl_device_id device = {&dispatch};

static cl_int CL_API_CALL get_platforms(cl_uint room, cl_platform_id *platforms, cl_uint *count)
{
    if (platforms != NULL && room > 0)
        platforms[0] = &platform;
    if (count != NULL)
        *count = 1;
    return CL_SUCCESS;
}

static cl_int CL_API_CALL get_devices(cl_platform_id which, cl_device_type type, cl_uint room,
                                      cl_device_id *devices, cl_uint *count)
{
    (void)which;
    if ((type & CL_DEVICE_TYPE_GPU) == 0)
        return CL_DEVICE_NOT_FOUND;
    if (devices != NULL && room > 0)
        devices[0] = &device;
    if (count != NULL)
        *count = 1;
    return CL_SUCCESS;
}

static const cl_icd_dispatch dispatch = {.clGetPlatformIDs = get_platforms,
                                         .clGetDeviceIDs = get_devices};

__attribute__((visibility("default"))) void *CL_API_CALL
clGetExtensionFunctionAddress(const char *name)
{
    cl_int(CL_API_CALL * function)(cl_uint, cl_platform_id *, cl_uint *) = get_platforms;
    void *address = NULL;
    if (strcmp(name, "clIcdGetPlatformIDsKHR") == 0)
        memcpy(&address, &function, sizeof address);
    return address;
}
