/* Engines: who moves the bytes. An engine is made for one device (or the host) and shared by any
 * number of plans. */
#ifndef RESTRIDE_ENGINE_H
#define RESTRIDE_ENGINE_H

#include "restride/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct restride_engine restride_engine;

/* Frees an engine after all of its plans; NULL is allowed. */
RESTRIDE_API void restride_engine_destroy(restride_engine *engine);

#ifdef __cplusplus
}
#endif
#endif
