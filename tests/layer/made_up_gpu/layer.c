/* The layer's entry points, its device, and its launches, which are counted: see made_up_gpu.h. */
#include "made_up_gpu.h"

#include <CL/cl_layer.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

static cl_icd_dispatch ours;
const cl_icd_dispatch *below;

static atomic_size_t launches[2]; /* in queues without profiling and with it */

static bool launches_nothing;

static void write_tally(void)
{
    FILE *file = fopen(getenv("MADE_UP_TALLY"), "w");
    if (file == NULL)
        return;
    fprintf(file, "%zu %zu %zu\n", atomic_load(&launches[true]), atomic_load(&launches[false]),
            count_builds());
    fclose(file);
}

static void count_launch(cl_command_queue queue)
{
    cl_command_queue_properties properties = 0;
    below->clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    atomic_fetch_add(&launches[(properties & CL_QUEUE_PROFILING_ENABLE) != 0], 1);
}

static cl_int CL_API_CALL enqueue(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                  const size_t *offset, const size_t *global, const size_t *local,
                                  cl_uint wait_count, const cl_event *wait_list, cl_event *event)
{
    if (fails("kernel"))
        return CL_OUT_OF_RESOURCES;
    if (launches_nothing && event == NULL)
        return CL_SUCCESS;
    count_launch(queue);
    if (event != NULL && fails("run"))
        return enqueue_failure(queue, wait_count, wait_list, event);
    cl_int error = below->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local,
                                                 wait_count, wait_list, event);
    if (error == CL_SUCCESS)
        take_time(event != NULL ? *event : NULL, kernel);
    return pass_on(error, wait_count, wait_list, event);
}

static cl_int CL_API_CALL get_device_info(cl_device_id device, cl_device_info name,
                                          size_t value_size, void *value, size_t *value_size_ret)
{
    cl_int error = below->clGetDeviceInfo(device, name, value_size, value, value_size_ret);
    if (error == CL_SUCCESS && name == CL_DEVICE_TYPE && value != NULL &&
        getenv("MADE_UP_CPU") == NULL)
        *(cl_device_type *)value = CL_DEVICE_TYPE_GPU;
    return error;
}

EXPORTED cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t value_size, void *value,
                                           size_t *value_size_ret)
{
    static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    if (name != CL_LAYER_API_VERSION || value_size < sizeof version || value == NULL)
        return CL_INVALID_VALUE;
    memcpy(value, &version, sizeof version);
    if (value_size_ret != NULL)
        *value_size_ret = sizeof version;
    return CL_SUCCESS;
}

EXPORTED cl_int CL_API_CALL clInitLayer(cl_uint entry_count, const cl_icd_dispatch *target,
                                        cl_uint *entry_count_ret, const cl_icd_dispatch **table)
{
    size_t given = entry_count * sizeof(void *);
    below = target;
    memcpy(&ours, target, given < sizeof ours ? given : sizeof ours);
    launches_nothing = getenv("MADE_UP_LAUNCHES") != NULL;
    if (getenv("MADE_UP_TALLY") != NULL)
        atexit(write_tally);
    ours.clEnqueueNDRangeKernel = enqueue;
    ours.clGetDeviceInfo = get_device_info;
    add_times(&ours);
    add_faults(&ours);
    add_queues(&ours);
    add_rectangles(&ours);
    add_compiler(&ours);
    *table = &ours;
    *entry_count_ret = (cl_uint)(sizeof ours / sizeof(void *));
    return CL_SUCCESS;
}

/* The Khronos loader asks for this one alone. */
EXPORTED cl_int CL_API_CALL clInitLayerWithProperties(cl_uint entry_count,
                                                      const cl_icd_dispatch *target,
                                                      cl_uint *entry_count_ret,
                                                      const cl_icd_dispatch **table,
                                                      const void *properties);

cl_int CL_API_CALL clInitLayerWithProperties(cl_uint entry_count, const cl_icd_dispatch *target,
                                             cl_uint *entry_count_ret,
                                             const cl_icd_dispatch **table, const void *properties)
{
    (void)properties;
    return clInitLayer(entry_count, target, entry_count_ret, table);
}
