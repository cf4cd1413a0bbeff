/* A plan on a device, as the file that makes it (arrange.c) and the one that applies it (device.c)
 * know it. */
#ifndef RS_IRREGULAR_DEVICE_H
#define RS_IRREGULAR_DEVICE_H

#include "engine/device/device.h"
#include "irregular/irregular.h"
#include "restride/irregular_device.h"

enum { RS_APPLY_KERNELS = 2, RS_APPLY_ITEMS = 256 };

struct restride_irregular_device {
    rs_device_engine *engine;
    restride_irregular_method method;
    rs_reads reads;     /* without the objects */
    size_t index_bytes; /* of the reference's index array */
    size_t slots;
    restride_irregular_facts facts;
    rs_device_memory index;  /* slot of each new thread */
    rs_device_memory order;  /* old thread of each new one; NULL: they stay */
    rs_device_memory source; /* object of each slot */
    rs_device_kernel kernels[RS_APPLY_KERNELS];
    size_t word; /* bytes that a work-item of gather moves */
};

/* Everything but the kernels and the word, for plan->method, APPROXIMATION or DUPLICATION. Inside
 * the engine. After an error the plan has what its destruction must free. */
restride_status rs_arrange_on_device(restride_irregular_device *plan, void *index);

#endif
