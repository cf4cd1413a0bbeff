/* Engines for whoever has no queue or context yet: the command line. */
#ifndef RS_ENGINE_OPEN_H
#define RS_ENGINE_OPEN_H

#include "restride/engine.h"

/*
 * An engine on a device with a queue, or a context, of its own. `device` is its number or a part of
 * its name; NULL: the first GPU, else the first device. RESTRIDE_UNSUPPORTED when there is none.
 */
restride_status rs_opencl_open(restride_engine **engine, const char *device);

/* The same with the device's primary context, which becomes current in the calling thread and stays
 * for as long as the process, and the default stream. */
restride_status rs_cuda_open(restride_engine **engine, const char *device);

#endif
