/* restride doctor, CUDA: the driver and the run-time compiler, both only looked up at run time. */
#include "base/library.h"
#include "cli/doctor.h"
#include "cli/nvcc.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>

#ifdef RESTRIDE_HAVE_CUDA
#include "engine/cuda/cuda.h"
#define CUDA_ENGINE ""
#define WITHOUT_IT "; without it there is no CUDA engine"
#else
#define CUDA_ENGINE "; this build has no CUDA engine (-DRESTRIDE_CUDA=ON)"
#define WITHOUT_IT CUDA_ENGINE
#endif

/* The few calls of the CUDA driver API that are used here; all return 0 for success. */
typedef struct {
    int (*cuInit)(unsigned flags);
    int (*cuDriverGetVersion)(int *version);
    int (*cuDeviceGetCount)(int *count);
    int (*cuDeviceGet)(int *device, int ordinal);
    int (*cuDeviceGetName)(char *name, int length, int device);
    int (*cuDeviceGetAttribute)(int *value, int attribute, int device);
} cuda_driver;

#define DRIVER(function) RS_LIBRARY_FUNCTION(cuda_driver, function)
static const rs_library_function driver_functions[] = {
    DRIVER(cuInit),      DRIVER(cuDriverGetVersion), DRIVER(cuDeviceGetCount),
    DRIVER(cuDeviceGet), DRIVER(cuDeviceGetName),    DRIVER(cuDeviceGetAttribute),
};

/* Whether first plans are quick. */
static void check_kernels(json_t *findings, const cuda_driver *cuda, int device)
{
#ifdef RESTRIDE_HAVE_CUDA
    int major = 0;
    int minor = 0;
    if (cuda->cuDeviceGetAttribute(&major, RS_CUDA_ATTRIBUTE_MAJOR, device) != 0 ||
        cuda->cuDeviceGetAttribute(&minor, RS_CUDA_ATTRIBUTE_MINOR, device) != 0)
        return;
    const size_t count = rs_cuda_count_installed(10 * major + minor);
    if (count > 0)
        rs_doctor_add(findings, "CUDA kernels", RS_DOCTOR_WORKS, NULL,
                      "%zu were compiled with the library for compute capability %d.%d", count,
                      major, minor);
    else
        rs_doctor_add(findings, "CUDA kernels", RS_DOCTOR_OPTIONAL,
                      "restride tune --engine cuda --kernels compiles all, in a minute or two",
                      "none were compiled with the library for compute capability %d.%d: first "
                      "plans take 0.2 to 2 s, and are kept",
                      major, minor);
#else
    (void)findings;
    (void)cuda;
    (void)device;
#endif
}

static void check_devices(json_t *findings, void *library)
{
    cuda_driver cuda;
    int version = 0;
    int count = 0;
    if (rs_library_find(library, driver_functions,
                        sizeof driver_functions / sizeof driver_functions[0], &cuda) != NULL) {
        rs_doctor_add(findings, "CUDA driver", RS_DOCTOR_FAILS, NULL,
                      "libcuda.so.1 lacks a function");
        return;
    }
    const int code = cuda.cuInit(0);
    if (code != 0 || cuda.cuDriverGetVersion(&version) != 0 || cuda.cuDeviceGetCount(&count) != 0) {
        rs_doctor_add(findings, "CUDA driver", RS_DOCTOR_FAILS, NULL, "cuInit failed with error %d",
                      code);
        return;
    }
    rs_doctor_add(findings, "CUDA driver", RS_DOCTOR_WORKS, NULL,
                  "CUDA %d.%d, %d device%s" CUDA_ENGINE, version / 1000, version % 1000 / 10, count,
                  count == 1 ? "" : "s");
    for (int ordinal = 0; ordinal < count; ordinal++) {
        int device;
        char name[256] = "";
        if (cuda.cuDeviceGet(&device, ordinal) == 0 &&
            cuda.cuDeviceGetName(name, (int)sizeof name, device) == 0) {
            rs_doctor_add(findings, "CUDA device", RS_DOCTOR_WORKS, NULL, "%s", name);
            check_kernels(findings, &cuda, device);
        }
    }
}

/* The first of some names that can be loaded. It stays loaded, like everything that drivers
 * allocated for good. */
static const char *first_library(const char *const names[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (dlopen(names[i], RTLD_LAZY | RTLD_LOCAL))
            return names[i];
    return NULL;
}

#ifdef RESTRIDE_HAVE_REWRITE
static void check_nvcc(json_t *findings)
{
    char *nvcc = rs_nvcc_find();
    if (nvcc != NULL)
        rs_doctor_add(findings, "nvcc", RS_DOCTOR_WORKS, NULL, "%s, for restride nvcc", nvcc);
    else
        rs_doctor_add(findings, "nvcc", RS_DOCTOR_OPTIONAL, "install NVIDIA's CUDA toolkit",
                      "nvcc is not here; without it restride nvcc builds no CUDA programs");
    free(nvcc);
}
#endif

void rs_doctor_check_cuda(json_t *findings)
{
    static const char *const compilers[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                            "libnvrtc.so"};
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (library)
        check_devices(findings, library);
    else
        rs_doctor_add(findings, "CUDA driver", RS_DOCTOR_OPTIONAL, NULL,
                      "libcuda.so.1 is not here" WITHOUT_IT);
    const char *compiler = first_library(compilers, sizeof compilers / sizeof compilers[0]);
    if (compiler)
        rs_doctor_add(findings, "CUDA compiler", RS_DOCTOR_WORKS, NULL, "%s" CUDA_ENGINE, compiler);
    else
        rs_doctor_add(findings, "CUDA compiler", RS_DOCTOR_OPTIONAL, NULL,
                      "libnvrtc.so is not here" WITHOUT_IT);
#ifdef RESTRIDE_HAVE_REWRITE
    check_nvcc(findings);
#endif
}
