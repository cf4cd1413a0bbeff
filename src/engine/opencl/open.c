/* An engine with a queue of its own; see engine/open.h. */
#include "engine/open.h"

#include "engine/opencl/error.h"
#include "engine/opencl/find.h"
#include "engine/opencl/marshal.h"
#include "engine/opencl/opencl.h"
#include "restride/opencl.h"

restride_status rs_opencl_open(restride_engine **engine, const char *device)
{
    *engine = NULL;
    const cl_icd_dispatch *api = rs_opencl_api();
    if (api == NULL)
        return RESTRIDE_UNSUPPORTED;
    cl_device_id found = NULL;
    restride_status status = rs_opencl_find_device(api, device, &found);
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
