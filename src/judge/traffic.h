/* What the accesses of a warp to one argument touch in a layout. */
#ifndef RS_JUDGE_TRAFFIC_H
#define RS_JUDGE_TRAFFIC_H

#include "judge/kernel.h"

#include <stddef.h>

enum { RS_JUDGE_LANES = 32, RS_JUDGE_SECTOR = 32, RS_JUDGE_FETCH = 64 };

/* Sums over the requests (instructions of a warp) of one visit: that of the lanes to one element
 * each, or to a group. Averages over some visits of neighbouring warps. */
typedef struct {
    double requests;
    double lines, sectors; /* of 128 and 32 bytes, counted for each request */
    double conflicts;      /* the most words of one bank of the L1, likewise */
    double fresh;       /* sectors that neither this visit nor the warp's last one touched before */
    double misses;      /* the part of visits that touch fresh sectors */
    double fetches;     /* units of 64 bytes that no visit of these warps touched before */
    double whole;       /* the part of fresh sectors of which every byte is touched */
    double reuse_lines; /* that the warp touches between two requests for one sector, on average */
    double dense;       /* units of 64 bytes for each element, if every element is visited */
} rs_judge_traffic;

/* The number of different units of `unit` bytes that lanes touch with `bytes` at each address. */
size_t rs_judge_units(const uint64_t addresses[], size_t lanes, size_t bytes, size_t unit);

/* The most different words of 4 bytes among these that lie in one of 32 banks. */
size_t rs_judge_conflicts(const uint64_t addresses[], size_t lanes, size_t bytes);

/* The address of a field from the array's begin, which is aligned. */
uint64_t rs_judge_address(const rs_judge_argument *argument, const rs_judge_layout *layout,
                          int64_t element, int field);

/* False: there is not enough memory. */
bool rs_judge_count(rs_judge_traffic *traffic, const rs_judge_argument *argument,
                    const rs_judge_layout *layout);

#endif
