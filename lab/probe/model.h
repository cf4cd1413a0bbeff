/* The same requests on the model of a device (sim/memory.h): what the search finds where the answer
 * is known. */
#ifndef RS_LAB_PROBE_MODEL_H
#define RS_LAB_PROBE_MODEL_H

#include "lab/probe/steering.h"
#include "sim/device.h"

/* Requests a second, by the model's clock, through `bytes` of memory; `unit` as in measure.h. */
restride_status rs_probe_model_rate(const rs_sim_device *device, size_t bytes, size_t unit,
                                    size_t stride, double *rate);

#endif
