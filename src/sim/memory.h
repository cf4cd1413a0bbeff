/*
 * A model of a memory system: accesses of warps in, counts and times out.
 *
 * An access is split into sectors and lines of 128 bytes (coalescing); reads look into the
 * processor's L1, then both go to the L2, which keeps what was written until it is evicted. Misses
 * and evictions become requests of fetch_bytes to a channel and a bank, chosen by steering bits;
 * each channel serves a short queue, requests to an open row first. A write-back that does not
 * cover its whole unit reads the rest first.
 *
 * The time is that of the busiest processor's memory pipeline, that of the busiest channel, and
 * that in which a processor waits for reads, joined by a norm: the largest one, and a little more
 * where others are close. A read waits for its farthest line; as many reads wait at once as there
 * are resident warps with their reads in flight (Little's law). Everything is deterministic.
 */
#ifndef RS_SIM_MEMORY_H
#define RS_SIM_MEMORY_H

#include "sim/device.h"

#include <stdbool.h>

typedef struct rs_sim_memory rs_sim_memory;

typedef struct {
    size_t warps;
    size_t accesses;     /* of whole warps */
    size_t useful_bytes; /* that lanes asked for */
    size_t lines;        /* touched, summed over accesses */
    size_t sectors;
    size_t l1_hits; /* sectors */
    size_t l2_hits;
    size_t requests; /* to channels */
    size_t row_hits;
    size_t moved_bytes; /* by channels */
    double busiest;     /* the busiest channel's requests by the mean */
    double access_ns;   /* of the busiest processor */
    double memory_ns;   /* of the busiest channel */
    double latency_ns;  /* that the warps of a processor do not hide for each other */
    double ns;          /* of all */
} rs_sim_counts;

/* The device is kept by reference. The caller destroys the memory. */
restride_status rs_sim_memory_create(rs_sim_memory **memory, const rs_sim_device *device);
void rs_sim_memory_destroy(rs_sim_memory *memory);

const rs_sim_device *rs_sim_memory_device(const rs_sim_memory *memory);

/* A new warp begins, on the next processor. */
void rs_sim_start_warp(rs_sim_memory *memory);

/* Goes on with a warp of `processor` that began before. */
void rs_sim_resume_warp(rs_sim_memory *memory, size_t processor);

/* Addresses must be below this: terabytes, unless a cache has only a few sets. */
uint64_t rs_sim_address_limit(const rs_sim_memory *memory);

/* The present warp accesses `bytes` (at most 16) bytes at each of `lanes` addresses. */
void rs_sim_access(rs_sim_memory *memory, const uint64_t addresses[], size_t lanes, size_t bytes,
                   bool writes);

/* What was counted so far; requests and times are not there yet. */
rs_sim_counts rs_sim_look(rs_sim_memory *memory);

/* The norm of some times: the longest, and more where others are nearly as long. */
double rs_sim_joined(const double times[], size_t count, double power);

/* Writes back what is in the L2 and counts. */
rs_sim_counts rs_sim_finish(rs_sim_memory *memory);

/* Requests that a channel, below device->channels, has served. */
size_t rs_sim_channel_requests(const rs_sim_memory *memory, size_t number);

#endif
