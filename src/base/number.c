/*
 * Factors: trial division up to TRIAL_BOUND. What is left is prime by the Miller-Rabin test, or is
 * factored by Pollard's rho method with Brent's cycle finding (1980). Multiplicative orders: prime
 * factors are divided out of a known multiple of the order.
 */
#include "base/number.h"
#include "base/arithmetic.h"

#include <stdbool.h>
#include <stdlib.h>

enum { TRIAL_BOUND = 4096 };

size_t rs_number_power(size_t base, size_t exponent, size_t modulus)
{
    size_t power = 1 % modulus;
    base %= modulus;
    for (; exponent != 0; exponent >>= 1) {
        if ((exponent & 1) != 0)
            power = rs_number_multiply(power, base, modulus);
        base = rs_number_multiply(base, base, modulus);
    }
    return power;
}

size_t rs_number_inverse(size_t number, size_t modulus)
{
    size_t a = modulus;
    size_t b = number % modulus;
    size_t x = 0; /* a = x number and b = y number, modulo `modulus` */
    size_t y = 1 % modulus;
    while (b > 1) {
        size_t quotient = a / b;
        size_t rest = a % b;
        size_t product = rs_number_multiply(quotient % modulus, y, modulus);
        size_t z = x >= product ? x - product : x + (modulus - product);
        a = b;
        b = rest;
        x = y;
        y = z;
    }
    return y;
}

/* Whether an odd number passes the Miller-Rabin test with one base. */
static bool passes_miller_rabin(size_t number, size_t base)
{
    size_t odd = number - 1;
    int twos = 0;
    for (; odd % 2 == 0; odd /= 2)
        twos++;
    size_t power = rs_number_power(base, odd, number);
    if (power == 1 || power == number - 1)
        return true;
    for (int i = 1; i < twos; i++) {
        power = rs_number_multiply(power, power, number);
        if (power == number - 1)
            return true;
    }
    return false;
}

/* `number` has no factor below TRIAL_BOUND. These bases decide the test below 2^64 (Sorenson and
 * Webster 2015). */
static bool is_prime(size_t number)
{
    static const size_t bases[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37};
    if (number / TRIAL_BOUND < TRIAL_BOUND)
        return true;
    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++)
        if (!passes_miller_rabin(number, bases[i]))
            return false;
    return true;
}

static size_t next_value(size_t value, size_t added, size_t number)
{
    size_t square = rs_number_multiply(value, value, number);
    return square >= number - added ? square - (number - added) : square + added;
}

/* A factor of an odd composite number by the sequence x -> x^2 + added; the number itself when this
 * sequence finds none. */
static size_t find_factor_with(size_t number, size_t added)
{
    enum { BATCH = 64 };
    size_t ahead = 2;
    size_t behind = ahead;
    size_t saved = ahead;
    size_t divisor = 1;
    for (size_t round = 1; divisor == 1; round *= 2) {
        behind = ahead;
        for (size_t done = 0; done < round && divisor == 1; done += BATCH) {
            size_t product = 1;
            saved = ahead;
            for (size_t i = 0; i < BATCH && i < round - done; i++) {
                ahead = next_value(ahead, added, number);
                size_t apart = ahead > behind ? ahead - behind : behind - ahead;
                product = rs_number_multiply(product, apart, number);
            }
            divisor = rs_size_gcd(product, number);
        }
    }
    if (divisor != number)
        return divisor;
    do { /* the batch holds several factors: repeat it step by step */
        saved = next_value(saved, added, number);
        divisor = rs_size_gcd(saved > behind ? saved - behind : behind - saved, number);
    } while (divisor == 1);
    return divisor;
}

static size_t find_factor(size_t number)
{
    size_t factor = number;
    for (size_t added = 1; factor == number; added++)
        factor = find_factor_with(number, added);
    return factor;
}

typedef struct {
    rs_prime_power *factors;
    size_t count;
} factor_list;

static void add_prime(factor_list *list, size_t prime, size_t exponent)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->factors[i].prime == prime) {
            list->factors[i].exponent += exponent;
            return;
        }
    list->factors[list->count++] = (rs_prime_power){prime, exponent};
}

/* A number without factors below TRIAL_BOUND has at most five prime factors: that bounds the
 * depth. */
static void add_large(factor_list *list, size_t number) /* NOLINT(misc-no-recursion) */
{
    if (number == 1)
        return;
    if (is_prime(number)) {
        add_prime(list, number, 1);
        return;
    }
    size_t factor = find_factor(number);
    add_large(list, factor);
    add_large(list, number / factor);
}

size_t rs_number_factor(size_t number, rs_prime_power factors[RS_NUMBER_MOST_PRIMES])
{
    factor_list list = {factors, 0};
    for (size_t prime = 2; prime < TRIAL_BOUND && prime <= number / prime;
         prime += prime == 2 ? 1 : 2) {
        size_t exponent = 0;
        for (; number % prime == 0; number /= prime)
            exponent++;
        if (exponent > 0)
            add_prime(&list, prime, exponent);
    }
    add_large(&list, number);
    return list.count;
}

static int compare(const void *a, const void *b)
{
    const size_t *left = a;
    const size_t *right = b;
    return (*left > *right) - (*left < *right);
}

size_t rs_number_divisors(size_t number, size_t most, size_t *divisors, size_t room)
{
    if (most == 0 || room == 0)
        return 0;
    rs_prime_power factors[RS_NUMBER_MOST_PRIMES];
    size_t factor_count = rs_number_factor(number, factors);
    size_t count = 1;
    divisors[0] = 1;
    for (size_t i = 0; i < factor_count; i++) {
        size_t begin = 0; /* each round multiplies the divisors of the round before by the prime */
        size_t end = count;
        for (size_t e = 0; e < factors[i].exponent; e++) {
            const size_t first = count;
            for (size_t k = begin; k < end && count < room; k++)
                if (divisors[k] <= most / factors[i].prime)
                    divisors[count++] = divisors[k] * factors[i].prime;
            begin = first;
            end = count;
        }
    }
    qsort(divisors, count, sizeof *divisors, compare);
    return count;
}

size_t rs_number_order(size_t number, size_t modulus, size_t multiple,
                       const rs_prime_power *factors, size_t factor_count)
{
    size_t order = multiple;
    for (size_t i = 0; i < factor_count; i++)
        while (order % factors[i].prime == 0 &&
               rs_number_power(number, order / factors[i].prime, modulus) == 1 % modulus)
            order /= factors[i].prime;
    return order;
}

/* A primitive root of p^2 is one of every power of p. A primitive root g of p is one of p^2 unless
 * g^(p-1) = 1 modulo p^2. */
size_t rs_number_primitive_root(const rs_prime_power *power)
{
    rs_prime_power factors[RS_NUMBER_MOST_PRIMES];
    size_t prime = power->prime;
    size_t count = rs_number_factor(prime - 1, factors);
    size_t root = 2;
    for (;; root++) {
        if (root % prime == 0 ||
            rs_number_order(root, prime, prime - 1, factors, count) != prime - 1)
            continue;
        if (power->exponent == 1 || rs_number_power(root, prime - 1, prime * prime) != 1)
            return root;
    }
}
