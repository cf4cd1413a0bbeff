/*
 * Drivers that the OpenCL loader does not find: a container that has a GPU's driver mounted often
 * lacks the .icd file that names it. A driver's objects begin with its table of functions, so a
 * loader serves them wherever they come from.
 */
#include "engine/opencl/drivers.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef cl_int(CL_API_CALL *get_platform_ids)(cl_uint room, cl_platform_id *platforms,
                                              cl_uint *count);
typedef cl_int(CL_API_CALL *get_device_ids)(cl_platform_id platform, cl_device_type type,
                                            cl_uint room, cl_device_id *devices, cl_uint *count);
typedef void *(CL_API_CALL *get_address)(const char *name);

static struct {
    get_platform_ids platforms;
    get_device_ids devices;
} loader;

static get_platform_ids driver; /* NULL: none */
static pthread_once_t driver_once = PTHREAD_ONCE_INIT;

/* Of such a library, its platforms; NULL when it is not here or has none. */
static get_platform_ids load_driver(const char *name)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    void *symbol = library != NULL ? dlsym(library, "clGetExtensionFunctionAddress") : NULL;
    get_address address;
    memcpy(&address, &symbol, sizeof address);
    void *found = symbol != NULL ? address("clIcdGetPlatformIDsKHR") : NULL;
    get_platform_ids platforms;
    cl_uint count = 0;
    memcpy(&platforms, &found, sizeof platforms);
    return found != NULL && platforms(0, NULL, &count) == CL_SUCCESS && count > 0 ? platforms
                                                                                  : NULL;
}

/* GPUs first; a plain name is looked for as any library is. */
static void find_driver(void)
{
    static const char *const names[] = {
        "libnvidia-opencl.so.1",
        "/usr/local/nvidia/lib64/libnvidia-opencl.so.1",
        "/usr/local/nvidia/lib/libnvidia-opencl.so.1",
        "/usr/lib/wsl/lib/libnvidia-opencl.so.1",
        "libamdocl64.so",
        "/opt/rocm/lib/libamdocl64.so",
        "/opt/rocm/opencl/lib/libamdocl64.so",
        "libigdrcl.so",
        "/usr/lib/x86_64-linux-gnu/intel-opencl/libigdrcl.so",
        "/usr/lib64/intel-opencl/libigdrcl.so",
        "libpocl.so.2",
    };
    for (size_t i = 0; driver == NULL && i < sizeof names / sizeof names[0]; i++)
        driver = load_driver(names[i]);
}

/* Whoever set one of these has chosen the drivers. */
static bool are_chosen(void)
{
    static const char *const variables[] = {"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH",
                                            "OCL_ICD_FILENAMES"};
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        if (getenv(variables[i]) != NULL)
            return true;
    return false;
}

static cl_int CL_API_CALL get_platforms(cl_uint room, cl_platform_id *platforms, cl_uint *count)
{
    enum { NOT_FOUND = -1001 }; /* CL_PLATFORM_NOT_FOUND_KHR */
    cl_uint found = 0;
    if (platforms == NULL && count == NULL)
        return loader.platforms(room, platforms, count);
    cl_int error = loader.platforms(room, platforms, &found);
    if ((error == CL_SUCCESS && found == 0) || error == NOT_FOUND) {
        pthread_once(&driver_once, find_driver);
        if (driver != NULL)
            return driver(room, platforms, count);
    }
    if (count != NULL)
        *count = found;
    return error;
}

/* Without a platform the loader takes its first, where it has one. */
static cl_int CL_API_CALL get_devices(cl_platform_id platform, cl_device_type type, cl_uint room,
                                      cl_device_id *devices, cl_uint *count)
{
    cl_platform_id first = NULL;
    if (platform == NULL && get_platforms(1, &first, NULL) == CL_SUCCESS && driver != NULL)
        platform = first;
    return loader.devices(platform, type, room, devices, count);
}

bool rs_opencl_has_added_driver(void)
{
    return driver != NULL;
}

void rs_opencl_add_drivers(cl_icd_dispatch *table)
{
    if (loader.platforms != NULL || table->clGetPlatformIDs == NULL || are_chosen())
        return;
    loader.platforms = table->clGetPlatformIDs;
    loader.devices = table->clGetDeviceIDs;
    table->clGetPlatformIDs = get_platforms;
    if (loader.devices != NULL)
        table->clGetDeviceIDs = get_devices;
}
