/* Creates a CUDA engine for a stream of the current context, and reads the device's limits. */
#include "engine/cuda/cuda.h"
#include "restride/cuda.h"

#include <stdlib.h>
#include <string.h>

enum {
    LEAST_ARCHITECTURE = 80, /* asynchronous copies into shared memory */
    ANCHOR_BYTES = 16,
    STREAM_PER_THREAD = 2,
    LOCAL_BYTES = 47 << 10, /* of a work-group, for the kernels shared with OpenCL */
    MOST_ITEMS = 1024,
    WARP_ITEMS = 32 /* on every CUDA device */
};

static restride_status read_device(rs_cuda_engine *engine)
{
    rs_cuda_device device;
    int major = 0;
    int minor = 0;
    int multiprocessors = 0;
    int shared = 0;
    int shared_a_block = 0;
    int cooperative = 0;
    int cache = 0;
    const struct {
        int attribute;
        int *value;
    } attributes[] = {
        {RS_CUDA_ATTRIBUTE_MAJOR, &major},
        {RS_CUDA_ATTRIBUTE_MINOR, &minor},
        {RS_CUDA_ATTRIBUTE_MULTIPROCESSORS, &multiprocessors},
        {RS_CUDA_ATTRIBUTE_SHARED_BYTES, &shared},
        {RS_CUDA_ATTRIBUTE_SHARED_BYTES_A_BLOCK, &shared_a_block},
        {RS_CUDA_ATTRIBUTE_COOPERATIVE, &cooperative},
        {RS_CUDA_ATTRIBUTE_CACHE_BYTES, &cache},
    };
    rs_cuda_result code = engine->api->cuCtxGetDevice(&device);
    if (code == 0)
        code = engine->api->cuDeviceGetName(engine->name, (int)sizeof engine->name, device);
    if (code == 0)
        code = engine->api->cuDriverGetVersion(&engine->driver_version);
    for (size_t i = 0; code == 0 && i < sizeof attributes / sizeof attributes[0]; i++)
        code =
            engine->api->cuDeviceGetAttribute(attributes[i].value, attributes[i].attribute, device);
    if (code != 0)
        return rs_cuda_fail(code, "asking for the device's limits");
    engine->architecture = 10 * major + minor;
    engine->multiprocessors = (size_t)multiprocessors;
    engine->shared_bytes = (size_t)shared;
    engine->cache_bytes = (size_t)cache;
    engine->shared_bytes_a_block = (size_t)shared_a_block;
    engine->common.local_bytes = LOCAL_BYTES;
    engine->common.box_bytes = engine->shared_bytes / 2 - 2 * RS_CUDA_RESERVED_BYTES;
    engine->common.work_items = MOST_ITEMS;
    engine->common.units = engine->multiprocessors;
    engine->common.simd_items = WARP_ITEMS;
    if (engine->architecture < LEAST_ARCHITECTURE || !cooperative)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "%s has compute capability %d.%d; the CUDA engine needs 8.0 or newer: use "
                       "the OpenCL engine there.",
                       engine->name, major, minor);
    return RESTRIDE_OK;
}

restride_status restride_engine_create_cuda(restride_engine **engine, void *cu_stream)
{
    if (engine != NULL)
        *engine = NULL;
    if (engine == NULL || (uintptr_t)cu_stream == STREAM_PER_THREAD)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "restride_engine_create_cuda needs a place for the engine and a stream that "
                       "is the same for all threads.");
    const rs_cuda_driver *api = rs_cuda_driver_api();
    if (api == NULL)
        return RESTRIDE_UNSUPPORTED;
    rs_cuda_context context = NULL;
    rs_cuda_result code = api->cuCtxGetCurrent(&context);
    if (code != 0)
        return rs_cuda_fail(code, "asking for the current context");
    if (context == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "No CUDA context is current in this thread; make one current (cuCtxCreate, "
                       "or any call of the CUDA runtime) before the engine.");
    rs_cuda_stream stream;
    rs_cuda_context stream_context = context;
    memcpy(&stream, &cu_stream, sizeof stream);
    if (stream != NULL)
        code = api->cuStreamGetCtx(stream, &stream_context);
    if (code != 0)
        return rs_cuda_fail(code, "asking a stream for its context");
    if (stream_context != context)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "The stream belongs to another context than the one that is current in this "
                       "thread; make its context current before the engine.");
    rs_cuda_engine *created = calloc(1, sizeof *created);
    rs_cuda_shared *shared = calloc(1, sizeof *shared);
    if (created == NULL || shared == NULL || pthread_mutex_init(&shared->mutex, NULL) != 0) {
        free(created);
        free(shared);
        return rs_fail_memory("an engine");
    }
    created->common.base.operations = &rs_cuda_operations;
    created->common.device = &rs_cuda_device_operations;
    created->api = api;
    created->context = context;
    created->shared = shared;
    created->stream = stream;
    restride_status status = read_device(created);
    if (status == RESTRIDE_OK) {
        code = api->cuMemAlloc(&created->anchor, ANCHOR_BYTES);
        if (code != 0)
            status = rs_cuda_fail(code, "allocating the engine's memory");
    }
    if (status != RESTRIDE_OK) {
        pthread_mutex_destroy(&shared->mutex);
        free(shared);
        free(created);
        return status;
    }
    *engine = &created->common.base;
    return RESTRIDE_OK;
}
