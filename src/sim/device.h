/*
 * The description of a device's memory system: a text file of sections and numbers, of which some
 * come with Restride (devices/). docs/simulation.md says where their numbers are from.
 */
#ifndef RS_SIM_DEVICE_H
#define RS_SIM_DEVICE_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum { RS_SIM_MOST_MASKS = 16, RS_SIM_MOST_COSTS = 16, RS_SIM_LINE = 128 };

/* A cache with least recently used lines; 0 bytes: there is none. */
typedef struct {
    size_t bytes;
    size_t ways;
} rs_sim_cache_shape;

/* Time that a processor's memory pipeline is taken by an access that touches `lines` lines;
 * between two rows it is interpolated. */
typedef struct {
    double lines;
    double ns;
} rs_sim_cost;

typedef struct {
    char name[64];
    /* [threads] */
    size_t warp;
    size_t processors;
    double launch_ns; /* a processor starts a warp */
    double clock_ghz; /* of a processor: what a time is in cycles; nothing else depends on it */
    /* [access] */
    size_t cost_count;
    rs_sim_cost cost[RS_SIM_MOST_COSTS];
    double overlap; /* how well the pipeline and the memory hide each other: the power of a norm */
    /* [caches] */
    size_t sector_bytes;
    rs_sim_cache_shape l1; /* of each processor; stores pass it by */
    rs_sim_cache_shape l2; /* of all */
    /* [memory] */
    size_t fetch_bytes; /* what a miss brings and a write-back takes: whole bursts */
    size_t channels;
    size_t banks; /* of a channel */
    size_t row_bytes;
    size_t interleave_bytes; /* neighbours that lie in one channel */
    size_t queue;            /* requests of a channel among which those of an open row go first */
    double fetch_ns;         /* a channel moves fetch_bytes */
    double row_ns;           /* more of it, for a row that is not open */
    /* [latency]: what a read waits, which other warps and other reads of its own fill */
    size_t resident;  /* warps of a processor at a time */
    size_t in_flight; /* reads of a warp before it waits */
    double l1_ns;     /* for what the L1 has */
    double l2_ns;
    double memory_ns;
    /* [steering]: bit k of a channel's number is, besides its own, the parity of these bits of the
     * address; those of a bank likewise */
    size_t channel_masks;
    uint64_t channel_mask[RS_SIM_MOST_MASKS];
    size_t bank_masks;
    uint64_t bank_mask[RS_SIM_MOST_MASKS];
} rs_sim_device;

/* Reads a description; `name` is for sentences. RESTRIDE_SYNTAX: a line that cannot be understood;
 * RESTRIDE_INVALID_ARGUMENT: numbers that contradict each other. */
restride_status rs_sim_device_parse(rs_sim_device *device, const char *text, const char *name);

/* A device that comes with Restride, or a file that describes one. */
restride_status rs_sim_read_device(rs_sim_device *device, const char *name);

/* The text of a description that comes with Restride, or NULL. */
const char *rs_sim_device_text(const char *name);

/* The name of the i-th of those, or NULL. */
const char *rs_sim_device_name(size_t i);

#endif
