/*
 * What a form does to a memory system: the addresses of some thousand of its warps, round by round
 * as they run together, go through the caches of a part of the device (sim/memory.h).
 */
#ifndef RS_APPLY_TRAFFIC_H
#define RS_APPLY_TRAFFIC_H

#include "apply/form.h"
#include "sim/device.h"

typedef struct {
    bool cached;          /* the arrays stay in the cache of all from one launch to the next */
    double groups, warps; /* of the launch; of a group */
    double resident;      /* groups that a processor runs at once */
    double rounds;        /* of a warp: iterations of the innermost loop */
    /* Of a warp and round, by mean: */
    double cycles;     /* of the processor's memory pipeline */
    double sectors;    /* that its cache did not have, and written ones */
    double channel_ns; /* of the memory's channels, all together */
    double
        waits[RS_FORM_LIMIT]; /* for each move of the form: nanoseconds until its data are there */
} rs_traffic;

restride_status rs_traffic_find(rs_traffic *traffic, const rs_nest_form *form,
                                const rs_sim_device *device);

#endif
