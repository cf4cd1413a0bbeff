/* The CUDA driver and NVRTC, found at run time, as tables of functions; error codes in words. */
#include "engine/cuda/api.h"

#include "base/library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>

/* A function whose second version has the 64-bit sizes is exported under a name of its own. */
#define DRIVER(function, name)                                                                     \
    {                                                                                              \
        name, offsetof(rs_cuda_driver, function)                                                   \
    }
static const rs_library_function driver_entries[] = {
    DRIVER(cuGetErrorName, "cuGetErrorName"),
    DRIVER(cuDriverGetVersion, "cuDriverGetVersion"),
    DRIVER(cuInit, "cuInit"),
    DRIVER(cuDeviceGetCount, "cuDeviceGetCount"),
    DRIVER(cuDeviceGet, "cuDeviceGet"),
    DRIVER(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain"),
    DRIVER(cuCtxSetCurrent, "cuCtxSetCurrent"),
    DRIVER(cuCtxGetCurrent, "cuCtxGetCurrent"),
    DRIVER(cuCtxPushCurrent, "cuCtxPushCurrent_v2"),
    DRIVER(cuCtxPopCurrent, "cuCtxPopCurrent_v2"),
    DRIVER(cuCtxGetDevice, "cuCtxGetDevice"),
    DRIVER(cuDeviceGetName, "cuDeviceGetName"),
    DRIVER(cuDeviceGetAttribute, "cuDeviceGetAttribute"),
    DRIVER(cuModuleLoadData, "cuModuleLoadData"),
    DRIVER(cuModuleUnload, "cuModuleUnload"),
    DRIVER(cuModuleGetFunction, "cuModuleGetFunction"),
    DRIVER(cuFuncSetAttribute, "cuFuncSetAttribute"),
    DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor,
           "cuOccupancyMaxActiveBlocksPerMultiprocessor"),
    DRIVER(cuLaunchKernel, "cuLaunchKernel"),
    DRIVER(cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel"),
    DRIVER(cuMemAlloc, "cuMemAlloc_v2"),
    DRIVER(cuMemFree, "cuMemFree_v2"),
    DRIVER(cuMemsetD8Async, "cuMemsetD8Async"),
    DRIVER(cuMemHostAlloc, "cuMemHostAlloc"),
    DRIVER(cuMemFreeHost, "cuMemFreeHost"),
    DRIVER(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2"),
    DRIVER(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2"),
    DRIVER(cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2"),
    DRIVER(cuMemcpy2DAsync, "cuMemcpy2DAsync_v2"),
    DRIVER(cuStreamCreate, "cuStreamCreate"),
    DRIVER(cuStreamDestroy, "cuStreamDestroy_v2"),
    DRIVER(cuStreamSynchronize, "cuStreamSynchronize"),
    DRIVER(cuStreamWaitEvent, "cuStreamWaitEvent"),
    DRIVER(cuStreamGetCtx, "cuStreamGetCtx"),
    DRIVER(cuEventCreate, "cuEventCreate"),
    DRIVER(cuEventRecord, "cuEventRecord"),
    DRIVER(cuEventQuery, "cuEventQuery"),
    DRIVER(cuEventSynchronize, "cuEventSynchronize"),
    DRIVER(cuEventDestroy, "cuEventDestroy_v2"),
    DRIVER(cuMemGetAddressRange, "cuMemGetAddressRange_v2"),
    DRIVER(cuPointerGetAttribute, "cuPointerGetAttribute"),
    DRIVER(cuIpcGetMemHandle, "cuIpcGetMemHandle"),
    DRIVER(cuIpcOpenMemHandle, "cuIpcOpenMemHandle_v2"),
    DRIVER(cuIpcCloseMemHandle, "cuIpcCloseMemHandle"),
};

#define COMPILER(function) RS_LIBRARY_FUNCTION(rs_nvrtc, function)
static const rs_library_function compiler_entries[] = {
    COMPILER(nvrtcCreateProgram),  COMPILER(nvrtcCompileProgram), COMPILER(nvrtcGetProgramLogSize),
    COMPILER(nvrtcGetProgramLog),  COMPILER(nvrtcGetCUBINSize),   COMPILER(nvrtcGetCUBIN),
    COMPILER(nvrtcDestroyProgram), COMPILER(nvrtcGetErrorString),
};

static const char *const driver_names[] = {"libcuda.so.1"};
static const char *const compiler_names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                             "libnvrtc.so"};

/* A library and what became of the search for it. */
typedef struct {
    const char *const *names;
    size_t name_count;
    const rs_library_function *entries;
    size_t entry_count;
    void *table;
    bool found;
    const char *missing; /* function; NULL while no library was found */
} search;

static rs_cuda_driver driver;
static rs_nvrtc compiler;

#define SEARCH(names, entries, table)                                                              \
    {                                                                                              \
        names, sizeof(names) / sizeof(names)[0], entries, sizeof(entries) / sizeof(entries)[0],    \
            table, false, NULL                                                                     \
    }
static search driver_search = SEARCH(driver_names, driver_entries, &driver);
static search compiler_search = SEARCH(compiler_names, compiler_entries, &compiler);

/* Libraries stay loaded: what a driver has allocated is for good. */
static void look(search *s)
{
    void *library = NULL;
    for (size_t i = 0; library == NULL && i < s->name_count; i++)
        library = dlopen(s->names[i], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return;
    s->missing = rs_library_find(library, s->entries, s->entry_count, s->table);
    s->found = s->missing == NULL;
}

static void look_for_driver(void)
{
    look(&driver_search);
}

static void look_for_compiler(void)
{
    look(&compiler_search);
}

const rs_cuda_driver *rs_cuda_driver_api(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look_for_driver);
    if (driver_search.found)
        return &driver;
    if (driver_search.missing != NULL)
        rs_fail(RESTRIDE_UNSUPPORTED,
                "The CUDA driver libcuda.so.1 has no %s; install a driver for CUDA 11.2 or newer.",
                driver_search.missing);
    else
        rs_fail(RESTRIDE_UNSUPPORTED,
                "There is no CUDA driver libcuda.so.1; install NVIDIA's driver, or use the OpenCL "
                "or the host engine.");
    return NULL;
}

const rs_nvrtc *rs_nvrtc_api(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look_for_compiler);
    if (compiler_search.found)
        return &compiler;
    if (compiler_search.missing != NULL)
        rs_fail(RESTRIDE_UNSUPPORTED,
                "The CUDA compiler libnvrtc.so has no %s; install NVRTC of CUDA 11.2 or newer.",
                compiler_search.missing);
    else
        rs_fail(RESTRIDE_UNSUPPORTED,
                "There is no CUDA compiler libnvrtc.so; install NVRTC (a part of the CUDA toolkit) "
                "and have its folder in LD_LIBRARY_PATH.");
    return NULL;
}

restride_status rs_cuda_fail(rs_cuda_result code, const char *doing)
{
    const char *name = NULL;
    if (driver.cuGetErrorName == NULL || driver.cuGetErrorName(code, &name) != 0 || name == NULL)
        name = "an error without a name";
    return rs_fail(code == RS_CUDA_OUT_OF_MEMORY ? RESTRIDE_OUT_OF_MEMORY : RESTRIDE_DEVICE_ERROR,
                   "CUDA failed while %s: %s (%d).", doing, name, code);
}
