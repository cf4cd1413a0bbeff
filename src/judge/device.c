/* Devices; see device.h. */
#include "judge/device.h"

/*
 * Of Hopper's processors and L2. on_chip_bytes is the vendor's. group_ns is that of
 * apply/predict.c. Everything else was fitted to 130 kernels on an H200 (restride-lab judge, seed
 * 1), of which lab/docs/judge.md says how; the kernels of the other seeds there were not used.
 */
static const rs_judge_device hopper = {.on_chip_bytes = 256 << 10,
                                       .issue = 3.3,
                                       .line_cycles = 0.40,
                                       .load_sectors = 188,
                                       .processor_sectors = 1,
                                       .store_sectors = 162,
                                       .store_lines = 62,
                                       .sparse_loads = 0.56,
                                       .sparse_stores = 0.225,
                                       .l1_ns = 5,
                                       .l2_ns = 197,
                                       .memory_ns = 674,
                                       .next_load = 0.032,
                                       .group_ns = 0.6,
                                       .launch_ns = 3700};

restride_status rs_judge_read_device(rs_judge_device *device, const char *name)
{
    *device = hopper;
    restride_status status = rs_sim_read_device(&device->shape, name);
    const rs_sim_device *shape = &device->shape;
    if (status == RESTRIDE_OK)
        device->memory_bytes = (double)(shape->channels * shape->fetch_bytes) / shape->fetch_ns;
    return status;
}
