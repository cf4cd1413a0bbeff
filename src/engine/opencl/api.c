/* The OpenCL loader, found at run time, as a table of the functions that Restride calls; and its
 * error codes in words. */
#include "base/library.h"
#include "engine/opencl/drivers.h"
#include "engine/opencl/error.h"
#include "engine/opencl/marshal.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

static cl_icd_dispatch table;
static bool table_complete;
static const char *missing_function;
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

#define ENTRY(function) RS_LIBRARY_FUNCTION(cl_icd_dispatch, function)

static const rs_library_function entries[] = {
    ENTRY(clGetPlatformIDs),
    ENTRY(clGetPlatformInfo),
    ENTRY(clGetDeviceIDs),
    ENTRY(clGetDeviceInfo),
    ENTRY(clCreateContext),
    ENTRY(clRetainContext),
    ENTRY(clReleaseContext),
    ENTRY(clGetContextInfo),
    ENTRY(clCreateCommandQueue),
    ENTRY(clRetainCommandQueue),
    ENTRY(clReleaseCommandQueue),
    ENTRY(clGetCommandQueueInfo),
    ENTRY(clCreateBuffer),
    ENTRY(clCreateSubBuffer),
    ENTRY(clCreateImage),
    ENTRY(clReleaseMemObject),
    ENTRY(clGetMemObjectInfo),
    ENTRY(clCreateProgramWithSource),
    ENTRY(clBuildProgram),
    ENTRY(clGetProgramBuildInfo),
    ENTRY(clReleaseProgram),
    ENTRY(clCreateKernel),
    ENTRY(clSetKernelArg),
    ENTRY(clGetKernelWorkGroupInfo),
    ENTRY(clReleaseKernel),
    ENTRY(clEnqueueNDRangeKernel),
    ENTRY(clEnqueueMarkerWithWaitList),
    ENTRY(clEnqueueReadBuffer),
    ENTRY(clEnqueueWriteBuffer),
    ENTRY(clEnqueueReadBufferRect),
    ENTRY(clEnqueueWriteBufferRect),
    ENTRY(clEnqueueCopyBuffer),
    ENTRY(clEnqueueFillBuffer),
    ENTRY(clEnqueueMapBuffer),
    ENTRY(clEnqueueUnmapMemObject),
    ENTRY(clWaitForEvents),
    ENTRY(clGetEventInfo),
    ENTRY(clGetEventProfilingInfo),
    ENTRY(clRetainEvent),
    ENTRY(clReleaseEvent),
    ENTRY(clFlush),
    ENTRY(clFinish),
};

/* What the program itself was linked with, or was preloaded into it (Oclgrind), goes before a
 * second loader. */
static void *find_library(void)
{
    void *program = dlopen(NULL, RTLD_NOW);
    if (program != NULL && dlsym(program, "clGetPlatformIDs") != NULL)
        return program;
    return dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
}

static void fill_table(void)
{
    void *library = find_library();
    if (library == NULL)
        return;
    missing_function =
        rs_library_find(library, entries, sizeof entries / sizeof entries[0], &table);
    if (missing_function != NULL)
        return;
    rs_opencl_add_drivers(&table);
    table_complete = true;
}

const cl_icd_dispatch *rs_opencl_api(void)
{
    pthread_once(&table_once, fill_table);
    if (table_complete)
        return &table;
    if (missing_function != NULL)
        rs_fail(
            RESTRIDE_UNSUPPORTED,
            "The OpenCL loader libOpenCL.so.1 has no %s; install a loader of OpenCL 1.2 or newer, "
            "for example the Debian package ocl-icd-libopencl1.",
            missing_function);
    else
        rs_fail(RESTRIDE_UNSUPPORTED,
                "There is no OpenCL loader libOpenCL.so.1; install the Debian package "
                "ocl-icd-libopencl1 and a driver, for example pocl-opencl-icd.");
    return NULL;
}

#define NAMED(code)                                                                                \
    {                                                                                              \
        code, #code                                                                                \
    }

/* All of OpenCL 1.2, and what the loader adds. */
static const struct {
    cl_int code;
    const char *name;
} error_names[] = {
    NAMED(CL_DEVICE_NOT_FOUND),
    NAMED(CL_DEVICE_NOT_AVAILABLE),
    NAMED(CL_COMPILER_NOT_AVAILABLE),
    NAMED(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    NAMED(CL_OUT_OF_RESOURCES),
    NAMED(CL_OUT_OF_HOST_MEMORY),
    NAMED(CL_PROFILING_INFO_NOT_AVAILABLE),
    NAMED(CL_MEM_COPY_OVERLAP),
    NAMED(CL_IMAGE_FORMAT_MISMATCH),
    NAMED(CL_IMAGE_FORMAT_NOT_SUPPORTED),
    NAMED(CL_BUILD_PROGRAM_FAILURE),
    NAMED(CL_MAP_FAILURE),
    NAMED(CL_MISALIGNED_SUB_BUFFER_OFFSET),
    NAMED(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    NAMED(CL_COMPILE_PROGRAM_FAILURE),
    NAMED(CL_LINKER_NOT_AVAILABLE),
    NAMED(CL_LINK_PROGRAM_FAILURE),
    NAMED(CL_DEVICE_PARTITION_FAILED),
    NAMED(CL_KERNEL_ARG_INFO_NOT_AVAILABLE),
    NAMED(CL_INVALID_VALUE),
    NAMED(CL_INVALID_DEVICE_TYPE),
    NAMED(CL_INVALID_PLATFORM),
    NAMED(CL_INVALID_DEVICE),
    NAMED(CL_INVALID_CONTEXT),
    NAMED(CL_INVALID_QUEUE_PROPERTIES),
    NAMED(CL_INVALID_COMMAND_QUEUE),
    NAMED(CL_INVALID_HOST_PTR),
    NAMED(CL_INVALID_MEM_OBJECT),
    NAMED(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR),
    NAMED(CL_INVALID_IMAGE_SIZE),
    NAMED(CL_INVALID_SAMPLER),
    NAMED(CL_INVALID_BINARY),
    NAMED(CL_INVALID_BUILD_OPTIONS),
    NAMED(CL_INVALID_PROGRAM),
    NAMED(CL_INVALID_PROGRAM_EXECUTABLE),
    NAMED(CL_INVALID_KERNEL_NAME),
    NAMED(CL_INVALID_KERNEL_DEFINITION),
    NAMED(CL_INVALID_KERNEL),
    NAMED(CL_INVALID_ARG_INDEX),
    NAMED(CL_INVALID_ARG_VALUE),
    NAMED(CL_INVALID_ARG_SIZE),
    NAMED(CL_INVALID_KERNEL_ARGS),
    NAMED(CL_INVALID_WORK_DIMENSION),
    NAMED(CL_INVALID_WORK_GROUP_SIZE),
    NAMED(CL_INVALID_WORK_ITEM_SIZE),
    NAMED(CL_INVALID_GLOBAL_OFFSET),
    NAMED(CL_INVALID_EVENT_WAIT_LIST),
    NAMED(CL_INVALID_EVENT),
    NAMED(CL_INVALID_OPERATION),
    NAMED(CL_INVALID_GL_OBJECT),
    NAMED(CL_INVALID_BUFFER_SIZE),
    NAMED(CL_INVALID_MIP_LEVEL),
    NAMED(CL_INVALID_GLOBAL_WORK_SIZE),
    NAMED(CL_INVALID_PROPERTY),
    NAMED(CL_INVALID_IMAGE_DESCRIPTOR),
    NAMED(CL_INVALID_COMPILER_OPTIONS),
    NAMED(CL_INVALID_LINKER_OPTIONS),
    NAMED(CL_INVALID_DEVICE_PARTITION_COUNT),
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
};

#undef NAMED

restride_status rs_opencl_fail(cl_int code, const char *doing)
{
    const char *name = "an error of the driver's own";
    for (size_t i = 0; i < sizeof error_names / sizeof error_names[0]; i++)
        if (error_names[i].code == code)
            name = error_names[i].name;
    /* Only a buffer that is larger than the device gives has a size that is invalid. */
    bool no_memory = code == CL_OUT_OF_HOST_MEMORY || code == CL_MEM_OBJECT_ALLOCATION_FAILURE ||
                     code == CL_INVALID_BUFFER_SIZE;
    restride_status status = no_memory ? RESTRIDE_OUT_OF_MEMORY : RESTRIDE_DEVICE_ERROR;
    return rs_fail(status, "OpenCL failed while %s: %s (%d).", doing, name, (int)code);
}
