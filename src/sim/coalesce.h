/*
 * What lines and sectors the lanes of a warp touch with one access. Kernels repeat themselves: most
 * accesses have lanes that lie to each other as in one before, and so do their lines, once the
 * first lane lies in the same way in its line. What was found out for those is kept.
 */
#ifndef RS_SIM_COALESCE_H
#define RS_SIM_COALESCE_H

#include <stddef.h>
#include <stdint.h>

enum { RS_SIM_MOST_LANES = 1024 };

/* A line of an access: by its distance from the first lane's, modulo 2^64; words of 4 bytes that
 * are touched, and all of the touched sectors. */
typedef struct {
    uint64_t distance;
    uint32_t words;
    uint32_t whole_sectors;
} rs_sim_touch;

typedef struct {
    const rs_sim_touch *touches; /* in the order of the lanes */
    size_t count;
    size_t sectors; /* of all lines */
} rs_sim_touched;

typedef struct rs_sim_coalescer rs_sim_coalescer;

/* NULL: there is not enough memory. */
rs_sim_coalescer *rs_sim_coalescer_create(size_t sector_bytes);
void rs_sim_coalescer_destroy(rs_sim_coalescer *coalescer);

/* Lines that 1 to RS_SIM_MOST_LANES lanes touch with `bytes`, 1 to 16, at each of `addresses`. The
 * result stays until the next call. */
rs_sim_touched rs_sim_coalesce(rs_sim_coalescer *coalescer, const uint64_t addresses[],
                               size_t lanes, size_t bytes);

/* Widens bits to whole units of `unit` bytes. */
uint32_t rs_sim_whole_units(uint32_t bits, size_t unit);

#endif
