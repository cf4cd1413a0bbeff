/* Engines for whoever has no queue or context yet: the command line. */
#ifndef RS_ENGINE_OPEN_H
#define RS_ENGINE_OPEN_H

#include "restride/engine.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether a word of a user's means a device: gpu stands for the kind and cpu for all others; any
 * other word is a part of the device's name, in any case of letters. */
bool rs_device_is_called(const char *word, bool is_gpu, const char *name);

/* How well device `number` is what a user wants, 0: not at all. `wanted` is its number or a word as
 * above; NULL: any device, GPUs before others. */
int rs_device_fitness(const char *wanted, size_t number, bool is_gpu, const char *name);

/*
 * An engine on a device with a queue, or a context, of its own: the first of those that fit
 * `device` best (see above). RESTRIDE_UNSUPPORTED when there is none.
 */
restride_status rs_opencl_open(restride_engine **engine, const char *device);

/* The same with the device's primary context, which becomes current in the calling thread and stays
 * for as long as the process, and the default stream. */
restride_status rs_cuda_open(restride_engine **engine, const char *device);

#endif
