/* Checked size arithmetic: each function returns false, and leaves *result alone, when the result
 * does not fit. */
#ifndef RS_BASE_ARITHMETIC_H
#define RS_BASE_ARITHMETIC_H

#include <stdbool.h>
#include <stddef.h>

bool rs_size_add(size_t a, size_t b, size_t *result);
bool rs_size_multiply(size_t a, size_t b, size_t *result);

/* The smallest multiple of `step` (not 0) that is at least `value`. */
bool rs_size_round_up(size_t value, size_t step, size_t *result);

/* For bounds and limits: SIZE_MAX when the result does not fit. */
size_t rs_size_add_capped(size_t a, size_t b);
size_t rs_size_multiply_capped(size_t a, size_t b);

static inline size_t rs_size_smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t rs_size_larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* How many parts of `part` (not 0) hold `whole`. */
static inline size_t rs_size_divide_up(size_t whole, size_t part)
{
    return whole / part + (whole % part != 0);
}

/* The greatest common divisor; gcd(0, b) is b. */
size_t rs_size_gcd(size_t a, size_t b);

#endif
