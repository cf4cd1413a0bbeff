/* Checked size arithmetic. */
#include "base/arithmetic.h"

#include <stdint.h>

bool rs_size_add(size_t a, size_t b, size_t *result)
{
    if (a > SIZE_MAX - b)
        return false;
    *result = a + b;
    return true;
}

bool rs_size_multiply(size_t a, size_t b, size_t *result)
{
    if (b != 0 && a > SIZE_MAX / b)
        return false;
    *result = a * b;
    return true;
}

bool rs_size_round_up(size_t value, size_t step, size_t *result)
{
    size_t remainder = value % step;
    if (remainder == 0) {
        *result = value;
        return true;
    }
    return rs_size_add(value, step - remainder, result);
}

size_t rs_size_add_capped(size_t a, size_t b)
{
    size_t sum;
    return rs_size_add(a, b, &sum) ? sum : SIZE_MAX;
}

size_t rs_size_multiply_capped(size_t a, size_t b)
{
    size_t product;
    return rs_size_multiply(a, b, &product) ? product : SIZE_MAX;
}

size_t rs_size_gcd(size_t a, size_t b)
{
    while (b != 0) {
        size_t remainder = a % b;
        a = b;
        b = remainder;
    }
    return a;
}
