/*
 * Groups of processes that talk through NCCL, for redistributions of CUDA memory
 * (restride/distributed.h).
 *
 *     restride_group *group;
 *     restride_engine *engine;
 *     restride_status status = restride_group_create_nccl(&group, communicator, stream);
 *     assert(status == RESTRIDE_OK);
 *     status = restride_engine_create_cuda(&engine, stream);
 *     assert(status == RESTRIDE_OK && restride_group_size(group) >= 1);
 *     // restride_plan_redistribute(&plan, group, engine, ...)
 *     restride_engine_destroy(engine);
 *     restride_group_destroy(group);
 *     ncclCommDestroy(communicator);
 *
 * libnccl.so.2 is found at run time: the one that the program has loaded, else the one that the
 * loader finds. Nothing of NCCL is needed to build or to load the library.
 */
#ifndef RESTRIDE_NCCL_H
#define RESTRIDE_NCCL_H

#include "restride/distributed.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Creates a group of the processes of an ncclComm_t, in its order; one of a single process will do.
 * `cu_stream` is the stream of the engines of its plans, in the calling thread's current context.
 * Messages go on a stream of the group's own, behind what is on that one, and take no memory of the
 * host. Both streams and the communicator must outlive the group.
 *
 * When another process does not answer within the time-out, or NCCL reports an error, the group
 * calls ncclCommAbort(), so that nothing waits on the device for ever. The communicator is gone
 * then: do not destroy it.
 *
 * RESTRIDE_UNSUPPORTED: there is no NCCL, or no CUDA driver. RESTRIDE_INVALID_ARGUMENT: the
 * communicator is NULL or not ready, or no context is current. RESTRIDE_OUT_OF_MEMORY. Not
 * collective. Since 0.1.
 */
RESTRIDE_API restride_status restride_group_create_nccl(restride_group **group, void *communicator,
                                                        void *cu_stream);

#ifdef __cplusplus
}
#endif
#endif
