/* Factors, orders and roots against their definitions; and the cycles of 100! against walks over
 * them, and by counting at sizes that nobody could walk. */
#include "base/arithmetic.h"
#include "base/cycles.h"
#include "cmocka_all.h"

#include <stdlib.h>

static bool prime_by_definition(size_t number)
{
    for (size_t factor = 2; factor <= number / factor; factor++)
        if (number % factor == 0)
            return false;
    return number > 1;
}

static size_t product_of(const rs_prime_power *factors, size_t count)
{
    size_t product = 1;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < factors[i].exponent; k++)
            product *= factors[i].prime;
    return product;
}

static void test_factors(void **state)
{
    (void)state;
    rs_prime_power factors[RS_NUMBER_MOST_PRIMES];
    for (size_t number = 1; number < 20000; number++) {
        size_t count = rs_number_factor(number, factors);
        assert_int_equal(product_of(factors, count), number);
        for (size_t i = 0; i < count; i++)
            assert_true(prime_by_definition(factors[i].prime) && factors[i].exponent > 0);
    }
    static const struct {
        size_t number, primes, largest;
    } large[] = {
        {SIZE_MAX, 7, 6700417},
        {18446744073709551557u, 1, 18446744073709551557u}, /* the largest prime below 2^64 */
        {18446744030759878681u, 1, 4294967291u},           /* the square of one below 2^32 */
        {(size_t)4294967291u * 4294967279u, 2, 4294967291u},
        {2305843009213693951u, 1, 2305843009213693951u}, /* 2^61 - 1 */
        {614889782588491410u, 15, 47},                   /* the first 15 primes */
        {(size_t)4099u * 4099u * 4099u * 4111u, 2, 4111},
        {9223372036854775808u, 1, 2},
        {(size_t)10403u * 4294967291u, 3, 4294967291u},
    };
    for (size_t k = 0; k < sizeof large / sizeof large[0]; k++) {
        size_t count = rs_number_factor(large[k].number, factors);
        size_t largest = 0;
        for (size_t i = 0; i < count; i++)
            largest = factors[i].prime > largest ? factors[i].prime : largest;
        if (count != large[k].primes || largest != large[k].largest)
            fail_msg("%zu: %zu primes up to %zu", large[k].number, count, largest);
        assert_int_equal(product_of(factors, count), large[k].number);
    }
}

static void test_divisors(void **state)
{
    (void)state;
    enum { ROOM = 2048 };
    size_t divisors[ROOM];
    for (size_t number = 1; number < 2000; number++)
        for (size_t most = 0; most <= number + 1; most += 1 + most / 3) {
            size_t wanted = 0;
            size_t count = rs_number_divisors(number, most, divisors, ROOM);
            for (size_t d = 1; d <= most && d <= number; d++)
                if (number % d == 0) {
                    assert_true(wanted < count);
                    assert_int_equal(divisors[wanted++], d);
                }
            assert_int_equal(count, wanted);
        }
    assert_int_equal(rs_number_divisors(735134400, SIZE_MAX, divisors, ROOM), 1344);
    assert_int_equal(rs_number_divisors(1000000007, 1000, divisors, ROOM), 1);
    assert_int_equal(rs_number_divisors(12, 12, divisors, 4), 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(12 % divisors[i], 0);
    assert_int_equal(rs_number_divisors(SIZE_MAX, SIZE_MAX, divisors, ROOM), 128);
    assert_int_equal(divisors[127], SIZE_MAX);
}

static size_t order_by_definition(size_t number, size_t modulus)
{
    size_t order = 1;
    for (size_t power = number % modulus; power != 1; power = power * number % modulus)
        order++;
    return order;
}

static void test_orders_and_roots(void **state)
{
    (void)state;
    for (size_t prime = 3; prime < 400; prime += 2) {
        if (!prime_by_definition(prime))
            continue;
        rs_prime_power factors[RS_NUMBER_MOST_PRIMES];
        size_t count = rs_number_factor(prime - 1, factors);
        for (size_t number = 1; number < prime; number++)
            assert_int_equal(rs_number_order(number, prime, prime - 1, factors, count),
                             order_by_definition(number, prime));
        size_t power = prime;
        for (size_t exponent = 1; exponent <= 3; exponent++, power *= prime) {
            const rs_prime_power p = {prime, exponent};
            size_t root = rs_number_primitive_root(&p);
            if (power < 1000000)
                assert_int_equal(order_by_definition(root, power), power / prime * (prime - 1));
        }
    }
    /* 2 alone fails: its order modulo the square is no larger than modulo the prime. */
    const rs_prime_power wieferich = {1093, 2};
    size_t root = rs_number_primitive_root(&wieferich);
    assert_int_equal(order_by_definition(root, 1093 * 1093), 1093 * 1092);
    assert_int_equal(rs_number_power(3, SIZE_MAX - 58, SIZE_MAX - 58), 3);
    assert_int_equal(rs_number_power(5, 0, 1), 0);
}

static void test_inverses(void **state)
{
    (void)state;
    for (size_t modulus = 1; modulus < 300; modulus++)
        for (size_t number = 1; number < 2 * modulus; number++)
            if (rs_size_gcd(number, modulus) == 1)
                assert_int_equal(rs_number_inverse(number, modulus) * number % modulus,
                                 1 % modulus);
    static const size_t large[][2] = {{3, SIZE_MAX - 1},
                                      {SIZE_MAX - 1, SIZE_MAX},
                                      {4294967291, 18446744073709551557u},
                                      {9223372036854775807, 9223372036854775808u}};
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        size_t inverse = rs_number_inverse(large[i][0], large[i][1]);
        assert_int_equal(rs_number_multiply(inverse, large[i][0], large[i][1]), 1);
    }
}

/* Walks every cycle of every family: all that moves is reached, and only once. */
static void check_walks(const rs_cycles *cycles, size_t rows, size_t cols)
{
    unsigned char *reached = calloc(cycles->modulus + 1, 1);
    assert_non_null(reached);
    for (size_t f = 0; f < cycles->family_count; f++) {
        const rs_cycle_family *family = &cycles->families[f];
        rs_cycle_cursor cursor;
        rs_cycle_cursor_begin(&cursor, cycles, f, 0);
        size_t first = cursor.position;
        for (size_t i = 0; i < family->count; i++, rs_cycle_cursor_next(&cursor)) {
            rs_cycle_cursor again;
            rs_cycle_cursor_begin(&again, cycles, f, i);
            assert_int_equal(again.position, cursor.position);
            size_t position = cursor.position;
            assert_int_equal(rs_size_gcd(position, cycles->modulus), family->divisor);
            for (size_t k = 0; k < family->length; k++) {
                assert_int_equal(reached[position]++, 0);
                position = position * cycles->factor % cycles->modulus;
            }
            assert_int_equal(position, cursor.position);
        }
        assert_int_equal(cursor.position, first);
    }
    for (size_t q = 0; q < cycles->modulus; q++) {
        bool stays = q * cycles->factor % cycles->modulus == q;
        if (reached[q] != !stays)
            fail_msg("%zu x %zu: position %zu is reached %d times", rows, cols, q, reached[q]);
    }
    free(reached);
}

static void check_families(size_t rows, size_t cols)
{
    rs_cycles cycles;
    assert_int_equal(rs_cycles_create(&cycles, rows, cols), RESTRIDE_OK);
    assert_true(rs_cycles_bytes(&cycles) <= rs_cycles_most_bytes(rows * cols));
    check_walks(&cycles, rows, cols);
    rs_cycles_free(&cycles);
}

/* Of any multiplication; the sides in a message are the modulus and the factor. */
static void test_multiplications(void **state)
{
    (void)state;
    for (size_t modulus = 1; modulus <= 400; modulus++)
        for (size_t factor = 1; factor < 2 * modulus; factor += 1 + modulus / 100) {
            rs_cycles cycles;
            if (rs_size_gcd(factor, modulus) != 1)
                continue;
            assert_int_equal(rs_cycles_create_modulo(&cycles, modulus, factor), RESTRIDE_OK);
            check_walks(&cycles, modulus, factor);
            rs_cycles_free(&cycles);
        }
}

static void test_families(void **state)
{
    (void)state;
    for (size_t rows = 1; rows <= 90; rows++)
        for (size_t cols = 1; cols <= 90; cols++)
            check_families(rows, cols);
    static const size_t shapes[][2] = {{450, 1800},  {450, 450},   {3, 33331},  {65521, 2},
                                       {50, 2500},   {625, 1000},  {225, 1800}, {1025, 1023},
                                       {2187, 6},    {4096, 64},   {255, 257},  {1001, 999},
                                       {3125, 1875}, {1093, 1094}, {511, 513}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        check_families(shapes[i][0], shapes[i][1]);
}

/* The sizes of the families add up to all that moves; cycles close, and not before their length. */
static void check_large(size_t rows, size_t cols)
{
    rs_cycles cycles;
    assert_int_equal(rs_cycles_create(&cycles, rows, cols), RESTRIDE_OK);
    assert_true(rs_cycles_bytes(&cycles) <= rs_cycles_most_bytes(rows * cols));
    size_t sum = rs_size_gcd(cols - 1, cycles.modulus); /* those that stay, but the last */
    for (size_t f = 0; f < cycles.family_count; f++) {
        const rs_cycle_family *family = &cycles.families[f];
        size_t m = cycles.modulus / family->divisor;
        sum += family->length * family->count;
        assert_int_equal(rs_number_power(cols, family->length, m), 1 % m);
        rs_prime_power factors[RS_NUMBER_MOST_PRIMES];
        size_t count = rs_number_factor(family->length, factors);
        assert_int_equal(rs_number_order(cols % m, m, family->length, factors, count),
                         family->length);
        rs_cycle_cursor cursor;
        rs_cycle_cursor_begin(&cursor, &cycles, f, family->count - 1);
        assert_int_equal(rs_size_gcd(cursor.position, cycles.modulus), family->divisor);
    }
    if (sum != cycles.modulus)
        fail_msg("%zu x %zu: %zu positions are known of %zu", rows, cols, sum, cycles.modulus);
    rs_cycles_free(&cycles);
}

static void test_large(void **state)
{
    (void)state;
    static const size_t shapes[][2] = {{65536, 65535},           {65536, 65537},
                                       {4294967291, 4294967279}, {3, 6148914691236517},
                                       {19, 4000000000000001},   {1000003, 1000033},
                                       {9223372036854775, 2},    {4294967295, 4294967297},
                                       {100000, 1000000},        {18446744073709551615u / 3, 3}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        check_large(shapes[i][0], shapes[i][1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_factors),
        cmocka_unit_test(test_divisors),
        cmocka_unit_test(test_orders_and_roots),
        cmocka_unit_test(test_inverses),
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_multiplications),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
