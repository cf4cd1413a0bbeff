/* See calls.h. */
#include "calls.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

driver_functions cu;
bool says;

#define FUNCTION(name, asked)                                                                      \
    {                                                                                              \
#name, asked, offsetof(driver_functions, name)                                             \
    }
static const struct {
    const char *name, *asked; /* of cuGetProcAddress(); NULL: by dlsym() */
    size_t place;
} functions[] = {
    FUNCTION(cuMemAlloc_v2, "cuMemAlloc"),
    FUNCTION(cuMemFree_v2, "cuMemFree"),
    FUNCTION(cuMemAllocAsync, "cuMemAllocAsync"),
    FUNCTION(cuMemAllocFromPoolAsync, NULL),
    FUNCTION(cuMemFreeAsync, "cuMemFreeAsync"),
    FUNCTION(cuMemcpyHtoD_v2, NULL),
    FUNCTION(cuMemcpyDtoH_v2, "cuMemcpyDtoH"),
    FUNCTION(cuMemcpyDtoD_v2, NULL),
    FUNCTION(cuMemcpyHtoDAsync_v2, "cuMemcpyHtoDAsync"),
    FUNCTION(cuMemcpyDtoHAsync_v2, NULL),
    FUNCTION(cuMemcpyDtoDAsync_v2, "cuMemcpyDtoDAsync"),
    FUNCTION(cuMemcpy2DAsync_v2, NULL),
    FUNCTION(cuMemcpy2D_v2, NULL),
    FUNCTION(cuMemcpyPeer, "cuMemcpyPeer"),
    FUNCTION(cuMemcpyPeerAsync, NULL),
    FUNCTION(cuMemcpy3DPeerAsync, "cuMemcpy3DPeerAsync"),
    FUNCTION(cuMemsetD8Async, "cuMemsetD8Async"),
    FUNCTION(cuLaunchKernel, "cuLaunchKernel"),
    FUNCTION(cuLaunchKernelEx, "cuLaunchKernelEx"),
    FUNCTION(cuLaunchCooperativeKernel, NULL),
    FUNCTION(cuEventRecord, "cuEventRecord"),
    FUNCTION(cuStreamWaitEvent, "cuStreamWaitEvent"),
    FUNCTION(cuStreamSynchronize, "cuStreamSynchronize"),
    FUNCTION(cuCtxSynchronize, NULL),
    FUNCTION(cuStreamBeginCapture_v2, NULL),
    FUNCTION(cuStreamEndCapture, "cuStreamEndCapture"),
    FUNCTION(cuGraphInstantiateWithFlags, NULL),
    FUNCTION(cuGraphLaunch, "cuGraphLaunch"),
    FUNCTION(cuGraphDestroy, NULL),
    FUNCTION(cuGraphExecDestroy, NULL),
    FUNCTION(cuMadeUpFunction, "cuMadeUpFunction"),
};

void fail(const char *what, int code)
{
    printf("%s: error %d\n", what, code);
    exit(1);
}

static void *find_symbol(void *library, const char *name, bool by_thread)
{
    static const char *const forms[] = {"_ptsz", "_ptds", ""};
    char symbol[128];
    void *function = NULL;
    for (int i = by_thread ? 0 : 2; i < 3 && function == NULL; i++) {
        snprintf(symbol, sizeof symbol, "%s%s", name, forms[i]);
        function = dlsym(library, symbol);
    }
    return function;
}

void find_functions(bool by_thread)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *function = NULL;
        int status;
        if (functions[i].asked != NULL)
            cuGetProcAddress_v2(functions[i].asked, &function, 13000, by_thread ? 2 : 1, &status);
        else
            function = find_symbol(library, functions[i].name, by_thread);
        if (function == NULL && strcmp(functions[i].name, "cuMadeUpFunction") != 0)
            fail(functions[i].name, 0);
        memcpy((char *)&cu + functions[i].place, &function, sizeof function);
    }
}
