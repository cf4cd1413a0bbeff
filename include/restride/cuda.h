/*
 * The CUDA engine, for programs that have a CUDA context.
 *
 *     restride_engine *engine;
 *     restride_plan *plan = NULL;
 *     restride_status status = restride_engine_create_cuda(&engine, stream);
 *     assert(status == RESTRIDE_OK);
 *     status = restride_plan_transpose(&plan, engine, 2, 3, sizeof(float), 1);
 *     assert(status == RESTRIDE_OK);
 *     status = restride_execute(plan, (void *)pointer);   // a CUdeviceptr; enqueues
 *     assert(status == RESTRIDE_OK);
 *     cuStreamSynchronize(stream);                        // now it is done
 *     restride_plan_destroy(plan);
 *     restride_engine_destroy(engine);
 *
 * The driver and NVRTC are found at run time; nothing of CUDA is needed to build or to load the
 * library. Kernels are compiled when a plan is made and kept in $XDG_CACHE_HOME/restride/kernels
 * (~/.cache/restride/kernels), so the second plan of a kind takes no compiler.
 */
#ifndef RESTRIDE_CUDA_H
#define RESTRIDE_CUDA_H

#include "restride/engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Creates an engine that works on `cu_stream` in the calling thread's current context. The stream
 * is a CUstream or cudaStream_t; NULL is the default stream. Stream and context must outlive the
 * engine. The device needs compute capability 8.0 or newer.
 *
 * restride_execute() enqueues the conversion on the stream and returns before it is done; it
 * allocates nothing. Later work on the stream sees the converted buffer, and the host waits with
 * cuStreamSynchronize(). When a device fails midway, a later call of the driver reports it and the
 * buffer is undefined. The buffer is device or managed memory of that context at a multiple of 16
 * bytes.
 *
 * A plan takes its device memory when it is made; restride_plan_scratch_bytes() says how much. Its
 * runs follow each other on the stream, and destroying it waits for them. The engine keeps a few
 * bytes, and with them 2 MiB of the driver's, for later plans.
 *
 * RESTRIDE_INVALID_ARGUMENT: the stream is CU_STREAM_PER_THREAD, which differs between threads.
 * RESTRIDE_UNSUPPORTED: there is no driver, or the device is older.
 */
RESTRIDE_API restride_status restride_engine_create_cuda(restride_engine **engine, void *cu_stream);

#ifdef __cplusplus
}
#endif
#endif
