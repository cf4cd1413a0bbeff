/*
 * The CUDA layer's life: the audit library (loader/cuda.c) loads it when the program first asks for
 * a function of the driver. What it needs of ld.so it does then, for ld.so asks it for more names
 * with a lock of its own.
 */
#include "base/library.h"
#include "base/log.h"
#include "layer/core/life.h"
#include "layer/core/report.h"
#include "layer/core/restore.h"
#include "layer/cuda/driver.h"

#include <dlfcn.h>

rs_cuda_layer rs_cuda;

/* ---- the end of all conversions ---- */

void rs_cuda_freeze(const char *why)
{
    rs_layer_freeze(rs_the_layer(), why);
    if (!atomic_exchange(&rs_cuda.is_frozen, true))
        atomic_store(&rs_cuda.has_frozen, why);
}

/* A program that only ends has lost nothing. */
void rs_cuda_note_frozen(void)
{
    const char *why = atomic_exchange(&rs_cuda.has_frozen, NULL);
    if (why != NULL)
        rs_report_note(rs_the_layer(),
                       "From a call of %s on, all arrays stay in the program's layout.", why);
}

void rs_cuda_look_for_freeze(void)
{
    const char *why = atomic_load(&rs_cuda.must_freeze);
    if (why != NULL && !atomic_load(&rs_cuda.is_frozen))
        rs_cuda_freeze(why);
}

/* From the audit library, which has a lock of ld.so's: the next command sees to it. */
RESTRIDE_API void restride_cuda_blind(const char *file);
void restride_cuda_blind(const char *file)
{
    atomic_store(&rs_cuda.unseen, file);
    atomic_store(&rs_cuda.must_freeze, "functions of the driver by tables, which are not seen");
}

/* ---- the driver ---- */

static bool find_driver(void)
{
#define MORE(function) RS_LIBRARY_FUNCTION(rs_cuda_more, function)
    static const rs_library_function functions[] = {
        {"cuGetProcAddress_v2", offsetof(rs_cuda_more, cuGetProcAddress)},
        MORE(cuEventElapsedTime),
        MORE(cuStreamQuery),
        MORE(cuCtxSynchronize),
        MORE(cuThreadExchangeStreamCaptureMode),
        MORE(cuFuncGetName),
        MORE(cuFuncGetModule),
        MORE(cuFuncGetParamInfo),
        MORE(cuFuncGetAttribute),
        MORE(cuKernelGetFunction),
        MORE(cuPointerGetAttribute),
        MORE(cuLibraryGetModule),
    };
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return false;
    rs_library_find(library, functions, sizeof functions / sizeof functions[0], &rs_cuda.more);
    return rs_cuda.more.cuCtxSynchronize != NULL;
}

__attribute__((constructor)) static void begin(void)
{
    rs_layer *layer = rs_the_layer();
    const bool has_driver = find_driver();
    rs_layer_begin(layer);
    rs_cuda.driver = has_driver ? rs_cuda_driver_api() : NULL;
    rs_log(RS_LOG_INFO, "CUDA layer loaded: policy %s", rs_policy_name(layer->settings.policy));
    rs_layer_begin_report(layer);
}
