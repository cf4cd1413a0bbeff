/*
 * The arithmetic of 100!: where each element of a rows x cols matrix goes, and how the cycles of
 * that permutation are cut into chains. Nothing here touches the matrix, so all of it can be tested
 * with sizes that no memory holds.
 *
 * After the transposition position q = j*rows + i holds what was at i*cols + j, which is
 * q*cols mod (rows*cols - 1); the first and the last element stay.
 *
 * Positions that are multiples of `stride` start a chain: it moves elements along its cycle up to
 * the next such position. Whether a chain ends is seen from the position alone, and its number is
 * position / stride, so the chains need no table. Every start is saved before anything moves; then
 * the chains are independent of each other. Cycles without a multiple of `stride` are found when
 * the plan is made; a bit in `leaders` marks one position of each.
 */
#ifndef RS_ENGINE_HOST_CYCLE_H
#define RS_ENGINE_HOST_CYCLE_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Division by a number that stays the same. */
typedef struct {
    size_t divisor;
    uint64_t magic; /* ceil(2^64 / divisor) where that is exact for all positions, else 0 */
} rs_host_divider;

typedef struct {
    size_t rows;
    size_t cols;
    size_t total; /* rows * cols */
    size_t stride;
    size_t starts;     /* chains: the multiples of stride from stride to total - 2 */
    uint64_t *leaders; /* NULL when every cycle has a start */
    size_t leader_words;
    rs_host_divider by_rows;
    rs_host_divider by_stride;
} rs_host_cycles;

/*
 * Finds the cycles. `stride` is a least value: a larger one may be taken. rows * cols must fit in
 * size_t. On success the caller frees it with rs_host_cycles_free().
 */
restride_status rs_host_cycles_create(rs_host_cycles *cycles, size_t rows, size_t cols,
                                      size_t stride);
void rs_host_cycles_free(rs_host_cycles *cycles);

/* The same without looking for cycles that have no start. */
void rs_host_cycles_begin(rs_host_cycles *cycles, size_t rows, size_t cols, size_t stride);

/* `largest` is the largest number that will be divided. */
static inline rs_host_divider rs_host_divider_make(size_t divisor, size_t largest)
{
    /* For numbers and divisors below 2^32 the error of the rounded-up reciprocal stays below
     * 1 / divisor (Granlund and Montgomery 1994). */
    bool exact = divisor > 1 && divisor <= UINT32_MAX && largest <= UINT32_MAX;
    return (rs_host_divider){divisor, exact ? UINT64_MAX / divisor + 1 : 0};
}

static inline size_t rs_host_divide(const rs_host_divider *divider, size_t number)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    if (divider->magic != 0)
        return (size_t)(((wide)number * divider->magic) >> 64);
#endif
    return number / divider->divisor;
}

/* Where the element comes from that belongs at `position`. */
static inline size_t rs_host_source(const rs_host_cycles *cycles, size_t position)
{
    size_t j = rs_host_divide(&cycles->by_rows, position);
    return (position - j * cycles->rows) * cycles->cols + j;
}

/* The number of the chain that starts at `position`, counted from 1; 0 when none does. */
static inline size_t rs_host_chain_at(const rs_host_cycles *cycles, size_t position)
{
    size_t number = rs_host_divide(&cycles->by_stride, position);
    return number * cycles->stride == position ? number : 0;
}

#endif
