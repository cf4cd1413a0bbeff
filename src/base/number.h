/* Numbers modulo another one: products, powers, orders; and their prime factors. */
#ifndef RS_BASE_NUMBER_H
#define RS_BASE_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 rs_uint128;
#endif

/* a * b modulo `modulus`; a and b are below it. */
static inline size_t rs_number_multiply(size_t a, size_t b, size_t modulus)
{
    if (modulus <= UINT32_MAX)
        return a * b % modulus;
#ifdef __SIZEOF_INT128__
    return (size_t)((rs_uint128)a * b % modulus);
#else
    size_t product = 0;
    for (; b != 0; b >>= 1) {
        if ((b & 1) != 0)
            product = product >= modulus - a ? product - (modulus - a) : product + a;
        a = a >= modulus - a ? a - (modulus - a) : a + a;
    }
    return product;
#endif
}

/* base^exponent modulo `modulus`; 0^0 is 1 modulo it. */
size_t rs_number_power(size_t base, size_t exponent, size_t modulus);

/* The number whose product with `number` is 1 modulo `modulus`; they have no common divisor. 0 for
 * a modulus of 1. */
size_t rs_number_inverse(size_t number, size_t modulus);

typedef struct {
    size_t prime;
    size_t exponent;
} rs_prime_power;

enum { RS_NUMBER_MOST_PRIMES = 15, RS_NUMBER_MOST_EXPONENT = 63 };

/* The prime factors of a number that is not 0, none for 1; returns how many there are. */
size_t rs_number_factor(size_t number, rs_prime_power factors[RS_NUMBER_MOST_PRIMES]);

/* The divisors of a number that is not 0 up to `most`, in ascending order; returns how many there
 * are. Some are missing where there are more than `room`; 1344 is room for any number below 10^9.
 */
size_t rs_number_divisors(size_t number, size_t most, size_t *divisors, size_t room);

/*
 * The least power of `number` that is 1 modulo `modulus`, with which it has no common divisor.
 * `multiple` is a multiple of the result, and `factors` are its prime factors.
 */
size_t rs_number_order(size_t number, size_t modulus, size_t multiple,
                       const rs_prime_power *factors, size_t factor_count);

/* A primitive root: its powers modulo a power of an odd prime are all numbers that the prime does
 * not divide. */
size_t rs_number_primitive_root(const rs_prime_power *power);

#endif
