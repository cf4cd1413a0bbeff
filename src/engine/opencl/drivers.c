/*
 * Drivers that the OpenCL loader does not find: a container that has a GPU's driver mounted often
 * lacks the .icd file that names it. A driver's objects begin with its table of functions, so a
 * loader serves them wherever they come from.
 */
#include "engine/opencl/drivers.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
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

enum { MOST = 32 };

typedef struct {
    cl_platform_id ids[MOST];
    cl_uint count;
} platform_list;

static platform_list added;
static bool is_alone; /* the loader knows no platform */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static platform_list list_platforms(get_platform_ids get)
{
    platform_list list = {.count = 0};
    if (get(MOST, list.ids, &list.count) != CL_SUCCESS)
        list.count = 0;
    list.count = list.count < MOST ? list.count : MOST;
    return list;
}

/* None where the library is not here, or is no driver. */
static platform_list load_driver(const char *name)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    void *symbol = library != NULL ? dlsym(library, "clGetExtensionFunctionAddress") : NULL;
    get_address address;
    memcpy(&address, &symbol, sizeof address);
    void *found = symbol != NULL ? address("clIcdGetPlatformIDsKHR") : NULL;
    get_platform_ids platforms;
    memcpy(&platforms, &found, sizeof platforms);
    return found != NULL ? list_platforms(platforms) : (platform_list){.count = 0};
}

static bool contains(const platform_list *list, cl_platform_id platform)
{
    for (cl_uint i = 0; i < list->count; i++)
        if (list->ids[i] == platform)
            return true;
    return false;
}

static bool has_gpu(cl_platform_id platform)
{
    const cl_icd_dispatch *driver;
    cl_uint count = 0;
    memcpy(&driver, platform, sizeof driver);
    return driver->clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 0, NULL, &count) == CL_SUCCESS &&
           count > 0;
}

/* The first GPU's driver that is here, unless the loader knows it. A plain name is looked for as
 * any library is. */
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
    };
    const platform_list known = list_platforms(loader.platforms);
    is_alone = known.count == 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const platform_list found = load_driver(names[i]);
        if (found.count == 0)
            continue;
        if (!contains(&known, found.ids[0]) && (is_alone || has_gpu(found.ids[0])))
            added = found;
        return;
    }
    if (is_alone)
        added = load_driver("libpocl.so.2");
}

/* Whoever set one of these has chosen the drivers. */
static bool are_chosen(void)
{
    static const char *const variables[] = {"OCL_ICD_VENDORS", "OPENCL_VENDOR_PATH"};
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
    if (error != CL_SUCCESS && error != NOT_FOUND)
        return error;
    found = error == CL_SUCCESS ? found : 0;
    pthread_once(&once, find_driver);
    for (cl_uint i = 0; i < added.count && platforms != NULL && found + i < room; i++)
        platforms[found + i] = added.ids[i];
    if (count != NULL)
        *count = found + added.count;
    return added.count > 0 ? CL_SUCCESS : error;
}

/* Without a platform the loader takes its first, where it has one. */
static cl_int CL_API_CALL get_devices(cl_platform_id platform, cl_device_type type, cl_uint room,
                                      cl_device_id *devices, cl_uint *count)
{
    cl_platform_id first = NULL;
    if (platform == NULL && get_platforms(1, &first, NULL) == CL_SUCCESS && is_alone)
        platform = first;
    return loader.devices(platform, type, room, devices, count);
}

bool rs_opencl_has_added(cl_platform_id platform)
{
    return contains(&added, platform);
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
