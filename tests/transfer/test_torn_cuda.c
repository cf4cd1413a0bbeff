/* What is left of buffers and arrays after failures of the CUDA driver, on the emulated device. */
#include "../engine/lab.h"
#include "torn.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static torn_device device;
static bool (*emulated_has_failed)(void);

static void fail_at(const char *function, size_t n)
{
    char value[96];
    snprintf(value, sizeof value, "%s:%zu", function == NULL ? "" : function, n);
    setenv("EMULATED_FAIL", value, 1);
}

static bool has_failed(void)
{
    return emulated_has_failed();
}

int main(void)
{
    static const char *const functions[] = {
        "cuLaunchKernel",       "cuCtxPushCurrent_v2",       "cuMemGetAddressRange_v2",
        "cuMemAlloc_v2",        "cuLaunchCooperativeKernel", "cuMemsetD8Async",
        "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2",      "cuMemcpyDtoDAsync_v2",
        "cuMemcpy2DAsync_v2",   "cuStreamSynchronize",       "cuEventCreate",
        "cuEventRecord",        "cuEventSynchronize",        NULL};
    if (lab_open(&device.engine, "cuda") != RESTRIDE_OK)
        return 1;
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    void *function = library == NULL ? NULL : dlsym(library, "emulated_has_failed");
    if (function == NULL)
        return 1;
    memcpy(&emulated_has_failed, &function, sizeof function);
    device.functions = functions;
    device.launch = functions[0];
    device.build = "cuModuleLoadData";
    device.fail_at = fail_at;
    device.has_failed = has_failed;
    return torn_run(&device);
}
