/* The OpenCL device of the tests. */
#include "device.h"

#include "engine/device/device.h"
#include "restride/opencl.h"

#include "engine/opencl/marshal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 16 };

static bool chosen(const cl_icd_dispatch *api, cl_device_id device)
{
    const char *wanted = getenv("RESTRIDE_TEST_DEVICE");
    char name[256] = "";
    api->clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL);
    return wanted == NULL || strstr(name, wanted) != NULL;
}

static cl_device_id find_device(const cl_icd_dispatch *api)
{
    cl_platform_id platforms[MANY];
    cl_device_id devices[MANY];
    cl_uint platform_count = 0;
    if (api->clGetPlatformIDs(MANY, platforms, &platform_count) != CL_SUCCESS)
        return NULL;
    for (cl_uint p = 0; p < platform_count && p < MANY; p++) {
        cl_uint device_count = 0;
        if (api->clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, MANY, devices, &device_count) !=
            CL_SUCCESS)
            continue;
        for (cl_uint d = 0; d < device_count && d < MANY; d++)
            if (chosen(api, devices[d]))
                return devices[d];
    }
    return NULL;
}

bool test_device_open(test_device *opened)
{
    *opened = (test_device){.api = rs_opencl_api()};
    if (opened->api == NULL) {
        printf("%s\n", restride_last_error());
        return false;
    }
    opened->device = find_device(opened->api);
    if (opened->device == NULL) {
        printf("No OpenCL device, or none that RESTRIDE_TEST_DEVICE names.\n");
        return false;
    }
    cl_int code;
    opened->context = opened->api->clCreateContext(NULL, 1, &opened->device, NULL, NULL, &code);
    if (code == CL_SUCCESS)
        opened->queue =
            opened->api->clCreateCommandQueue(opened->context, opened->device, 0, &code);
    if (code != CL_SUCCESS) {
        printf("The OpenCL device has no context or queue: error %d.\n", (int)code);
        test_device_close(opened);
        return false;
    }
    return true;
}

void test_device_close(test_device *opened)
{
    if (opened->queue != NULL)
        opened->api->clReleaseCommandQueue(opened->queue);
    if (opened->context != NULL)
        opened->api->clReleaseContext(opened->context);
    *opened = (test_device){0};
}

restride_status test_device_engine(const test_device *opened, restride_engine **engine)
{
    const char *simd_items = getenv("RESTRIDE_TEST_SIMD");
    restride_status status = restride_engine_create_opencl(engine, opened->queue);
    if (status == RESTRIDE_OK && simd_items != NULL)
        ((rs_device_engine *)*engine)->simd_items = strtoul(simd_items, NULL, 10);
    return status;
}
