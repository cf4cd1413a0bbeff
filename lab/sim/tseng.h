/*
 * The experiments of Tseng et al. (2014), section 4: three kernels on a GTX 480 with their arrays
 * of structures as they are, in ASTA with indices to match, and as they are behind load and store
 * units that translate addresses to ASTA. The paper ran a simulator of a whole GPU; here the
 * accesses of all resident warps go to the model of memory.h, in turns, and instructions, memory
 * pipelines, channels and latency are four times of which the longest counts most.
 * lab/docs/simulation.md says where the numbers are from.
 */
#ifndef RS_LAB_SIM_TSENG_H
#define RS_LAB_SIM_TSENG_H

#include "sim/memory.h"

typedef enum {
    RS_TSENG_BLACK_SCHOLES,
    RS_TSENG_LBM,
    RS_TSENG_SPMV,
    RS_TSENG_KERNELS
} rs_tseng_kernel;

typedef enum { RS_TSENG_AOS, RS_TSENG_ASTA, RS_TSENG_DLT } rs_tseng_version;

enum { RS_TSENG_DELAY = 75 }; /* cycles of a load and store unit (section 4.4) */

typedef struct {
    rs_tseng_kernel kernel;
    rs_tseng_version version;
    size_t tile;         /* W */
    size_t delay_cycles; /* of each access in RS_TSENG_DLT */
} rs_tseng_run;

typedef struct {
    double issue_ns;   /* instructions of the busiest processor */
    double latency_ns; /* that its resident warps cannot hide for each other */
    rs_sim_counts counts;
    double ns; /* of all */
} rs_tseng_times;

const char *rs_tseng_kernel_name(rs_tseng_kernel kernel);

restride_status rs_tseng_simulate(const rs_tseng_run *run, rs_tseng_times *times);

#endif
