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
 * An engine that works on `cu_stream` (a CUstream or cudaStream_t; NULL: the default stream) in the
 * calling thread's current context. Both must outlive the engine. Compute capability 8.0 and newer.
 *
 * With this engine restride_execute() is ordered by the stream: it enqueues the conversion, returns
 * before it is done, and allocates nothing. Work that is enqueued later on the same stream sees the
 * converted buffer; the host waits with cuStreamSynchronize(). A device that fails in the middle is
 * reported by the driver at a later call, and the buffer is undefined then. A plan's device memory
 * is allocated when it is made (restride_plan_scratch_bytes() says how much), and its runs follow
 * each other on the stream; destroying a plan waits for them. The engine itself keeps a few bytes
 * of device memory, and with them a block of the driver's (2 MiB), for plans to come. The buffer is
 * device memory of that context at a multiple of 16 bytes; managed memory works too.
 *
 * The stream may not be CU_STREAM_PER_THREAD, which is another stream in each thread
 * (RESTRIDE_INVALID_ARGUMENT). RESTRIDE_UNSUPPORTED when there is no driver or the device is older.
 */
RESTRIDE_API restride_status restride_engine_create_cuda(restride_engine **engine, void *cu_stream);

#ifdef __cplusplus
}
#endif
#endif
