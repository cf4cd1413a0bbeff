/* Division by a number that stays the same, without a division. */
#ifndef RS_BASE_DIVIDE_H
#define RS_BASE_DIVIDE_H

#include "base/number.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    size_t divisor;
    uint64_t magic; /* ceil(2^64 / divisor) where that is exact, else 0 */
} rs_divider;

/* `largest` is the largest number that will be divided. */
static inline rs_divider rs_divider_make(size_t divisor, size_t largest)
{
    /* For numbers and divisors below 2^32 the error of the rounded-up reciprocal stays below
     * 1 / divisor (Granlund and Montgomery 1994). */
    bool exact = divisor > 1 && divisor <= UINT32_MAX && largest <= UINT32_MAX;
    return (rs_divider){divisor, exact ? UINT64_MAX / divisor + 1 : 0};
}

static inline size_t rs_divide(const rs_divider *divider, size_t number)
{
#ifdef __SIZEOF_INT128__
    if (divider->magic != 0)
        return (size_t)(((rs_uint128)number * divider->magic) >> 64);
#endif
    return number / divider->divisor;
}

/* The same for a divider made for numbers up to UINT32_MAX, of a number that may be larger. */
static inline uint64_t rs_divide_any(const rs_divider *divider, uint64_t number)
{
    return number <= UINT32_MAX ? rs_divide(divider, number) : number / divider->divisor;
}

#endif
