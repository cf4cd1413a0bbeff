/* What the judge knows of a device: the shape that src/sim has of it, and rates of its processors
 * and its L2 that were measured. */
#ifndef RS_JUDGE_DEVICE_H
#define RS_JUDGE_DEVICE_H

#include "sim/device.h"

typedef struct {
    rs_sim_device shape;
    double on_chip_bytes;     /* of a processor: its L1 and its local memory share them */
    double issue;             /* instructions of warps that a processor begins in a cycle */
    double line_cycles;       /* of a processor, for each line that a load touches */
    double load_sectors;      /* from the L2 to all processors, in a nanosecond */
    double processor_sectors; /* likewise to one processor, in a cycle */
    double store_sectors;     /* to the L2, likewise */
    double store_lines;       /* likewise, where a request has a few sectors of each */
    double memory_bytes;      /* in a nanosecond, of consecutive ones */
    double sparse_loads;      /* the part of that where only some units of 64 bytes are wanted */
    double sparse_stores;
    double l1_ns, l2_ns, memory_ns; /* that a load waits on a busy device */
    double next_load; /* the part of that by which each further load of a warp comes later */
    double group_ns;  /* to begin a work-group */
    double launch_ns; /* to begin a launch behind others */
} rs_judge_device;

/* "h100", "h200", or another name or file that rs_sim_read_device() takes. */
restride_status rs_judge_read_device(rs_judge_device *device, const char *name);

#endif
