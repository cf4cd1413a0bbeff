/* Division by numbers that many quotients share, for the kernels of both dialects (prelude.cl). */
/* ceil(2^32 / divisor), and 0 for a divisor of 1. */
FUNCTION uint small_magic(uint divisor)
{
    return 0xFFFFFFFFu / divisor + 1;
}

/* number / divisor for numbers and divisors below 2^16. */
FUNCTION uint divide_small(uint number, uint magic)
{
    return magic == 0 ? number : MULTIPLY_HIGH_32(number, magic);
}
