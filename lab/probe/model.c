/* See model.h. */
#include "lab/probe/model.h"

#include "sim/memory.h"

enum { REQUESTS = 1 << 15, CHAINS = 64, WORD = 4 };

restride_status rs_probe_model_rate(const rs_sim_device *device, size_t bytes, size_t unit,
                                    size_t stride, double *rate)
{
    rs_sim_memory *memory;
    restride_status status = rs_sim_memory_create(&memory, device);
    if (status != RESTRIDE_OK)
        return status;
    uint64_t around = bytes / stride;
    for (uint64_t number = 0; number < REQUESTS; number++) {
        uint64_t address = number % around * stride + number / around * unit;
        if (number % CHAINS == 0)
            rs_sim_start_warp(memory);
        rs_sim_access(memory, &address, 1, WORD, false);
    }
    rs_sim_counts counts = rs_sim_finish(memory);
    *rate = counts.ns > 0 ? REQUESTS / (counts.ns * 1e-9) : 0;
    rs_sim_memory_destroy(memory);
    return RESTRIDE_OK;
}
