/* Finding a CUDA device by its number or name; see engine/open.h. */
#include "engine/open.h"

#include "engine/cuda/api.h"
#include "restride/cuda.h"

#include <stdbool.h>

static bool fits(const rs_cuda_driver *api, rs_cuda_device device, size_t number,
                 const char *wanted)
{
    char name[256] = "";
    return api->cuDeviceGetName(name, (int)sizeof name, device) == 0 &&
           rs_device_fitness(wanted, number, true, name) > 0;
}

restride_status rs_cuda_open(restride_engine **engine, const char *device)
{
    *engine = NULL;
    const rs_cuda_driver *api = rs_cuda_driver_api();
    if (api == NULL)
        return RESTRIDE_UNSUPPORTED;
    int count = 0;
    rs_cuda_result code = api->cuInit(0);
    if (code == 0)
        code = api->cuDeviceGetCount(&count);
    rs_cuda_device found = 0;
    bool is_found = false;
    for (int number = 0; code == 0 && !is_found && number < count; number++) {
        code = api->cuDeviceGet(&found, number);
        is_found = code == 0 && fits(api, found, (size_t)number, device);
    }
    if (code == 0 && !is_found)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "There is no CUDA device%s%s%s; restride doctor lists the devices.",
                       device != NULL ? " called \"" : "", device != NULL ? device : "",
                       device != NULL ? "\"" : "");
    rs_cuda_context context = NULL;
    if (code == 0)
        code = api->cuDevicePrimaryCtxRetain(&context, found);
    if (code == 0)
        code = api->cuCtxSetCurrent(context);
    return code == 0 ? restride_engine_create_cuda(engine, NULL)
                     : rs_cuda_fail(code, "opening a device");
}
