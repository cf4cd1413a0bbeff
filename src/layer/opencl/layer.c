/*
 * The OpenCL layer's entry points (Sung thesis 5.5.2, as a layer in place of library
 * interposition): the loader asks for the layer's version, hands over its own dispatch table and
 * gets ours, in which the functions of the files beside this one stand before the loader's.
 */
#include "base/log.h"
#include "engine/opencl/drivers.h"
#include "layer/core/life.h"
#include "layer/opencl/driver.h"

#include <CL/cl_layer.h>
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

/* The second form of the entry point, for loaders newer than the headers. */
cl_int CL_API_CALL clInitLayerWithProperties(cl_uint entry_count, const cl_icd_dispatch *target,
                                             cl_uint *entry_count_ret,
                                             const cl_icd_dispatch **table, const void *properties);

rs_opencl_layer rs_opencl;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_layer(void)
{
    rs_layer_begin(rs_the_layer());
}

static const cl_icd_dispatch *make_table(cl_uint entry_count, const cl_icd_dispatch *target)
{
    size_t known = sizeof rs_opencl.own / sizeof(void *);
    size_t given = entry_count < known ? entry_count : known;
    pthread_once(&once, make_layer);
    memcpy(&rs_opencl.driver, target, given * sizeof(void *));
    rs_opencl_add_drivers(&rs_opencl.driver);
    rs_layer_add_contexts(&rs_opencl.own);
    rs_layer_add_devices(&rs_opencl.own);
    rs_layer_add_buffers(&rs_opencl.own);
    rs_layer_add_transfers(&rs_opencl.own);
    rs_layer_add_binaries(&rs_opencl.own);
    rs_layer_add_programs(&rs_opencl.own);
    rs_layer_add_builds(&rs_opencl.own);
    rs_layer_add_kernels(&rs_opencl.own);
    rs_layer_add_launches(&rs_opencl.own);

    /* What the layer does not wrap, or the loader does not have, stays the loader's. */
    void **ours = (void **)&rs_opencl.own;
    void *const *theirs = (void *const *)&rs_opencl.driver;
    for (size_t i = 0; i < known; i++)
        if (ours[i] == NULL || theirs[i] == NULL)
            ours[i] = theirs[i];
    rs_log(RS_LOG_INFO, "layer loaded: policy %s, tile %zu",
           rs_policy_name(rs_the_layer()->settings.policy), rs_the_layer()->settings.tile);
    /* The report asks the driver for times at the end: the loader stays, also if the program closes
     * it. */
    if (rs_layer_begin_report(rs_the_layer()) &&
        dlopen("libOpenCL.so.1", RTLD_NOLOAD | RTLD_LAZY) == NULL)
        rs_log(RS_LOG_WARNING, "the OpenCL loader has an unusual name");
    return &rs_opencl.own;
}

RESTRIDE_API cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, size_t value_size, void *value,
                                               size_t *value_size_ret)
{
    static const char layer_name[] = "Restride";
    static const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    const void *answer = name == CL_LAYER_NAME ? (const void *)layer_name : (const void *)&version;
    size_t size = name == CL_LAYER_NAME ? sizeof layer_name : sizeof version;
    if (name != CL_LAYER_NAME && name != CL_LAYER_API_VERSION)
        return CL_INVALID_VALUE;
    if (value != NULL && value_size < size)
        return CL_INVALID_VALUE;
    if (value != NULL)
        memcpy(value, answer, size);
    if (value_size_ret != NULL)
        *value_size_ret = size;
    return CL_SUCCESS;
}

RESTRIDE_API cl_int CL_API_CALL clInitLayer(cl_uint entry_count, const cl_icd_dispatch *target,
                                            cl_uint *entry_count_ret, const cl_icd_dispatch **table)
{
    if (target == NULL || entry_count_ret == NULL || table == NULL)
        return CL_INVALID_VALUE;
    *table = make_table(entry_count, target);
    *entry_count_ret = (cl_uint)(sizeof rs_opencl.own / sizeof(void *));
    return CL_SUCCESS;
}

RESTRIDE_API cl_int CL_API_CALL clInitLayerWithProperties(cl_uint entry_count,
                                                          const cl_icd_dispatch *target,
                                                          cl_uint *entry_count_ret,
                                                          const cl_icd_dispatch **table,
                                                          const void *properties)
{
    (void)properties;
    return clInitLayer(entry_count, target, entry_count_ret, table);
}
