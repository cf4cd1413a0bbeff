/* Engines: who moves the bytes. An engine is made for one device (or the host) and shared by any
 * number of plans. */
#ifndef RESTRIDE_ENGINE_H
#define RESTRIDE_ENGINE_H

#include "restride/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct restride_engine restride_engine;

/*
 * An engine that works in host memory with up to `threads` threads, the calling one among them; 0:
 * as many as there are processors. It starts them for each run and keeps none. At most 256.
 */
RESTRIDE_API restride_status restride_engine_create_host(restride_engine **engine, int threads);

/* Frees an engine after all of its plans; NULL is allowed. */
RESTRIDE_API void restride_engine_destroy(restride_engine *engine);

#ifdef __cplusplus
}
#endif
#endif
