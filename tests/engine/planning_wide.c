/* Positions of 64 bits. */
#define POSITION ulong
#define FAMILIES planning_families_wide
#include "planning_kernels.h"

uint64_t planning_multiply(uint64_t a, uint64_t b, uint64_t modulus)
{
    uint shift = (uint)__builtin_clzll(modulus);
    ulong divisor = modulus << shift;
    ulong reciprocal = (ulong)(~(product)0 / divisor);
    return multiply_modulo(a, b, divisor, shift, reciprocal);
}
