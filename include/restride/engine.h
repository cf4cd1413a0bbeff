/*
 * Engines: who moves the bytes. An engine is made for one device (or the host) and shared by any
 * number of plans.
 *
 *     restride_engine *engine;
 *     restride_status status = restride_engine_create_host(&engine, 2);   // at most two threads
 *     assert(status == RESTRIDE_OK);
 *     float a[6] = {1, 2, 3, 4, 5, 6};
 *     status = restride_transpose_with(engine, a, sizeof a, 2, 3, sizeof a[0], 1);
 *     assert(status == RESTRIDE_OK && a[1] == 4);
 *     restride_engine_destroy(engine);
 */
#ifndef RESTRIDE_ENGINE_H
#define RESTRIDE_ENGINE_H

#include "restride/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct restride_engine restride_engine;

/*
 * Creates an engine for host memory with up to `threads` threads, the calling one included. 0: as
 * many as there are processors; at most 256. The others start with the first run that wants them
 * and sleep between runs, until the process ends or the library is unloaded. Callers at the same
 * time have threads of their own. They take no signals, run on the processors of their caller, and
 * start anew in a child after fork(). The engine keeps up to 8 MiB of scratch memory between runs.
 */
RESTRIDE_API restride_status restride_engine_create_host(restride_engine **engine, int threads);

/*
 * Frees the plans that an engine keeps. It keeps the last few of restride_convert_with(),
 * restride_transpose_with() and restride_permute_with(), so that the same call again need not plan.
 * A plan that is running is freed later. Thread-safe.
 */
RESTRIDE_API void restride_engine_forget_plans(restride_engine *engine);

/* Frees an engine, whose plans must be destroyed before; NULL is allowed. */
RESTRIDE_API void restride_engine_destroy(restride_engine *engine);

#ifdef __cplusplus
}
#endif
#endif
