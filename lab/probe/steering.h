/*
 * Which bits of an address steer requests to channels and banks: the search of section 6.1 of I-J.
 * Sung's thesis, apart from what measures (a device, or a model of one).
 *
 * Requests that are in flight together lie a stride apart. A stride of 2^k leaves the bits below k
 * the same in all of them; if bandwidth falls from 2^k to 2^(k+1), bit k was what spread them.
 * Bandwidth also falls for reasons that have nothing to do with powers of two (pages, rows), so
 * each power, and its multiples by 3 and 5, is compared with strides beside it in which all bits
 * vary.
 */
#ifndef RS_LAB_PROBE_STEERING_H
#define RS_LAB_PROBE_STEERING_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Requests a second when those in flight together are `stride` bytes apart. */
typedef struct {
    restride_status (*rate)(void *context, size_t stride, double *rate);
    void *context;
    void (*tell)(void *context, double part); /* how far the search is, 0 to 1; NULL: nobody asks */
    void *tell_context;
} rs_probe_source;

enum { RS_PROBE_MOST_POWERS = 40 };

typedef struct {
    size_t stride;
    double rate;
    double
        level; /* by the lowest rate beside it: 1, or a little more, when it does not stand out */
} rs_probe_power;

typedef struct {
    size_t unit; /* the smallest stride, a power of two: bits below it are not looked at */
    size_t power_count;
    rs_probe_power powers[RS_PROBE_MOST_POWERS];
    uint64_t bits;  /* those whose loss costs bandwidth */
    double worst;   /* the lowest level */
    double scatter; /* of the rate of one stride, measured again and again: 0.1 for a tenth */
} rs_probe_steering;

/*
 * Searches the bits from that of `unit` to below that of `most`, both powers of two. A level that
 * falls by less than `tolerance` (0.1: a tenth) is noise.
 */
restride_status rs_probe_find_steering(rs_probe_steering *found, const rs_probe_source *source,
                                       size_t unit, size_t most, double tolerance);

/* The lowest and the highest bit that steers: from that of the unit to the last one found, since a
 * bit may be one of several that do the same. False when there is none. */
bool rs_probe_steering_range(const rs_probe_steering *found, int *low, int *high);

/*
 * What a device fetches at least, from the times of reading the same memory with growing strides
 * (each twice the one before, in bytes): up to the unit all of it is fetched and the time stays,
 * beyond it half of it is left out. The stride where the time begins to fall; the last one when
 * it never does.
 */
size_t rs_probe_find_unit(const size_t strides[], const double seconds[], size_t count);

#endif
