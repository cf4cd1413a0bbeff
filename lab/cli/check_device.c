/* See check_device.h. */
#include "lab/cli/check_device.h"

#include "engine/open.h"
#include "engine/opencl/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_ROOM = 4096 };

restride_status rs_check_open(rs_check_device **device, const char *name)
{
    rs_check_device *opened = calloc(1, sizeof *opened);
    *device = NULL;
    if (opened == NULL)
        return rs_fail_memory("a device");
    restride_status status = rs_opencl_open(&opened->engine, name);
    if (status != RESTRIDE_OK) {
        free(opened);
        return status;
    }
    const rs_opencl_engine *engine = (const rs_opencl_engine *)opened->engine;
    opened->api = engine->api;
    opened->queue = engine->queue;
    opened->context = engine->context;
    opened->id = engine->device;
    memcpy(opened->name, engine->device_name, sizeof opened->name);
    opened->track =
        (rs_train_track){.api = opened->api, .context = opened->context, .queue = opened->queue};
    *device = opened;
    return RESTRIDE_OK;
}

void rs_check_close(rs_check_device *device)
{
    if (device == NULL)
        return;
    if (device->program != NULL)
        device->api->clReleaseProgram(device->program);
    rs_train_close(&device->track);
    restride_engine_destroy(device->engine);
    free(device);
}

const char *rs_check_device_name(const rs_check_device *device)
{
    return device->name;
}

/* A kernel that does nothing, behind those of the nests. */
static const char empty_kernel[] = "\n__kernel void restride_empty(void)\n{\n}\n";

restride_status rs_check_build(rs_check_device *device, const char *source)
{
    cl_int code;
    char log[LOG_ROOM] = "";
    const char *parts[] = {source, empty_kernel};
    device->program =
        device->api->clCreateProgramWithSource(device->context, 2, parts, NULL, &code);
    if (code == CL_SUCCESS)
        code = device->api->clBuildProgram(device->program, 1, &device->id, "", NULL, NULL);
    if (code != CL_BUILD_PROGRAM_FAILURE)
        return code == CL_SUCCESS ? RESTRIDE_OK : rs_opencl_fail(code, "building the kernels");
    device->api->clGetProgramBuildInfo(device->program, device->id, CL_PROGRAM_BUILD_LOG,
                                       sizeof log - 1, log, NULL);
    return rs_fail(RESTRIDE_DEVICE_ERROR, "The device's compiler refuses the kernels: %s", log);
}

static restride_status time_nothing(rs_check_device *device, const rs_train_kernel *empty,
                                    double *seconds)
{
    enum { TIMES = 9, LAUNCHES = 64 };
    double times[TIMES];
    restride_status status = RESTRIDE_OK;
    for (int i = 0; i < TIMES && status == RESTRIDE_OK; i++)
        status = rs_train_run(&device->track, empty, 1, LAUNCHES, &times[i]);
    if (status == RESTRIDE_OK)
        *seconds = rs_train_median(times, TIMES);
    return status;
}

restride_status rs_check_time_launch(rs_check_device *device, double *launch, double *group)
{
    enum { GROUP = 128, GROUPS = 65536 };
    cl_int code;
    double many = 0;
    rs_train_kernel empty = {"restride_empty", NULL, {{GROUP, 1, 1}, {GROUP, 1, 1}}};
    empty.kernel = device->api->clCreateKernel(device->program, empty.name, &code);
    restride_status status = code == CL_SUCCESS ? RESTRIDE_OK : rs_opencl_fail(code, empty.name);
    if (status == RESTRIDE_OK)
        status = time_nothing(device, &empty, launch);
    empty.shape.global[0] = (size_t)GROUP * GROUPS;
    if (status == RESTRIDE_OK)
        status = time_nothing(device, &empty, &many);
    if (status == RESTRIDE_OK)
        *group = fmax(0, many - *launch) / GROUPS;
    if (empty.kernel != NULL)
        device->api->clReleaseKernel(empty.kernel);
    return status;
}
