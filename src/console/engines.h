/* The engines by the names that verbs take: --engine host|opencl|cuda, --device NUMBER|NAME. */
#ifndef RS_CONSOLE_ENGINES_H
#define RS_CONSOLE_ENGINES_H

#include "restride/engine.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether there is an engine of that name, in this build or in another, and it is not the host. */
bool rs_cli_is_device_engine(const char *name);

/* The same, for tables of options; *field is a const char *. */
bool rs_cli_take_engine(const char *name, void *field);
bool rs_cli_take_device_engine(const char *name, void *field);

/*
 * Opens one. `device` (NULL: the first GPU, else the first device) is for devices, `threads` (0:
 * all) for the host. RESTRIDE_UNSUPPORTED when this build or this machine does not have it.
 */
restride_status rs_cli_open_engine(restride_engine **engine, const char *name, const char *device,
                                   size_t threads);

/* Whether sizes and times that suit a GPU suit the engine's device, as far as its name tells. */
bool rs_cli_engine_is_gpu(const restride_engine *engine);

/* The name of the engine's device, as plans describe it. The caller frees it; NULL when memory is
 * short. */
char *rs_cli_engine_device(const restride_engine *engine);

#endif
