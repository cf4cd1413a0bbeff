/* The families of the cycles of 100!; see cycles.h. */
#include "base/cycles.h"
#include "base/arithmetic.h"

#include <stdlib.h>

/* ---- the groups of units ---- */

/* A cyclic group of units: those of an odd prime's powers, or for powers of 2 the group of -1 or
 * that of 5. */
typedef enum { ODD_PRIME, MINUS_ONE, FIVE } group_kind;

/* For each exponent of the prime in a family's modulus: the group's size, and the order in it of
 * the first power of cols that is 1 in the groups before. */
typedef struct {
    size_t prime; /* its number among the factors */
    size_t sizes[RS_NUMBER_MOST_EXPONENT + 1];
    size_t orders[RS_NUMBER_MOST_EXPONENT + 1];
} group;

typedef struct {
    rs_prime_power factors[RS_NUMBER_MOST_PRIMES];
    size_t factor_count;
    group groups[RS_CYCLES_MOST_GENERATORS];
    rs_cycles *cycles;
} builder;

static size_t size_of_group(group_kind kind, size_t prime, size_t power, size_t exponent)
{
    switch (kind) {
    case ODD_PRIME:
        return exponent == 0 ? 1 : power / prime * (prime - 1);
    case MINUS_ONE:
        return exponent < 2 ? 1 : 2;
    default:
        return exponent < 3 ? 1 : power / 4;
    }
}

/* Modulo each power of the prime; the order for one is that for the power before, or `prime` times
 * as much. */
static void find_orders(group *g, group_kind kind, const rs_prime_power *p, size_t number)
{
    rs_prime_power factors[RS_NUMBER_MOST_PRIMES];
    size_t count = rs_number_factor(p->prime - 1, factors);
    size_t power = 1;
    size_t order = 1;
    for (size_t exponent = 0; exponent <= p->exponent; exponent++) {
        if (exponent == 1)
            order = rs_number_order(number, power, p->prime - 1, factors, count);
        else if (exponent > 1 && rs_number_power(number, order, power) != 1)
            order *= p->prime;
        g->sizes[exponent] = size_of_group(kind, p->prime, power, exponent);
        g->orders[exponent] = kind != MINUS_ONE ? order : exponent >= 2 && number % 4 == 3 ? 2 : 1;
        if (exponent < p->exponent)
            power *= p->prime;
    }
}

/* A number that is `root` modulo a prime power of M and 1 modulo the others. */
static size_t generator_for(size_t modulus, size_t power, size_t power_units, size_t root)
{
    size_t others = modulus / power;
    size_t inverse = rs_number_power(others, power_units - 1, power);
    return 1 + others * rs_number_multiply(root - 1, inverse, power);
}

static void add_group(builder *b, size_t prime, group_kind kind)
{
    const rs_prime_power *p = &b->factors[prime];
    rs_cycles *c = b->cycles;
    group *g = &b->groups[c->generator_count];
    g->prime = prime;
    find_orders(g, kind, p, c->factor);
    size_t power = 1;
    for (size_t i = 0; i < p->exponent; i++)
        power *= p->prime;
    size_t root = kind == MINUS_ONE ? power - 1 : kind == FIVE ? 5 : rs_number_primitive_root(p);
    c->generators[c->generator_count++] =
        generator_for(c->modulus, power, power / p->prime * (p->prime - 1), root);
}

static void find_groups(builder *b)
{
    b->factor_count = rs_number_factor(b->cycles->modulus, b->factors);
    for (size_t i = 0; i < b->factor_count; i++) {
        if (b->factors[i].prime != 2) {
            add_group(b, i, ODD_PRIME);
            continue;
        }
        if (b->factors[i].exponent >= 2)
            add_group(b, i, MINUS_ONE);
        if (b->factors[i].exponent >= 3)
            add_group(b, i, FIVE);
    }
}

/* ---- families ---- */

/* Adds the family whose modulus has these exponents, unless its positions stay. */
static void add_family(builder *b, const size_t *exponents)
{
    rs_cycles *c = b->cycles;
    size_t *powers = c->powers + c->family_count * c->generator_count;
    rs_cycle_family family = {c->modulus, 1, 1};
    for (size_t i = 0; i < b->factor_count; i++)
        for (size_t k = 0; k < exponents[i]; k++)
            family.divisor /= b->factors[i].prime;
    for (size_t i = 0; i < c->generator_count; i++) {
        const group *g = &b->groups[i];
        size_t exponent = exponents[g->prime];
        size_t reached = g->orders[exponent] / rs_size_gcd(g->orders[exponent], family.length);
        powers[i] = g->sizes[exponent] / reached;
        family.length *= reached;
        family.count *= powers[i];
    }
    if (family.length > 1)
        c->families[c->family_count++] = family;
}

static size_t count_divisors(const builder *b)
{
    size_t count = 1;
    for (size_t i = 0; i < b->factor_count; i++)
        count *= b->factors[i].exponent + 1;
    return count;
}

static bool next_exponents(const builder *b, size_t *exponents)
{
    for (size_t i = 0; i < b->factor_count; i++) {
        if (exponents[i]++ < b->factors[i].exponent)
            return true;
        exponents[i] = 0;
    }
    return false;
}

restride_status rs_cycles_create(rs_cycles *cycles, size_t rows, size_t cols)
{
    *cycles = (rs_cycles){.factor = cols};
    if (rows < 2 || cols < 2)
        return RESTRIDE_OK;
    return rs_cycles_create_modulo(cycles, rows * cols - 1, cols);
}

restride_status rs_cycles_create_modulo(rs_cycles *cycles, size_t modulus, size_t factor)
{
    *cycles = (rs_cycles){.modulus = modulus, .factor = factor};
    builder b = {.cycles = cycles};
    find_groups(&b);
    cycles->capacity = count_divisors(&b);
    cycles->families = malloc(cycles->capacity * sizeof *cycles->families);
    cycles->powers = malloc(cycles->capacity * (cycles->generator_count + 1) * sizeof(size_t));
    if (cycles->families == NULL || cycles->powers == NULL) {
        rs_cycles_free(cycles);
        return rs_fail_memory("the cycles of a transposition");
    }
    size_t exponents[RS_NUMBER_MOST_PRIMES] = {0};
    while (next_exponents(&b, exponents))
        add_family(&b, exponents);
    return RESTRIDE_OK;
}

void rs_cycles_free(rs_cycles *cycles)
{
    free(cycles->families);
    free(cycles->powers);
    *cycles = (rs_cycles){0};
}

size_t rs_cycles_bytes(const rs_cycles *cycles)
{
    size_t numbers = cycles->families == NULL ? 0 : cycles->generator_count + 1;
    return cycles->capacity * (sizeof *cycles->families + numbers * sizeof *cycles->powers);
}

/* The most divisors and generators that numbers below a power of two have (Ramanujan 1915). */
size_t rs_cycles_most_bytes(size_t elements)
{
    static const struct {
        unsigned bits;
        size_t divisors;
        size_t generators;
    } most[] = {{4, 6, 3},      {8, 20, 4},      {12, 48, 5},     {16, 128, 6},
                {20, 240, 7},   {24, 504, 8},    {28, 1008, 9},   {32, 1920, 10},
                {40, 6720, 12}, {48, 26880, 14}, {64, 184320, 16}};
    size_t i = 0;
    while (most[i].bits < 64 && elements >> most[i].bits != 0)
        i++;
    return most[i].divisors * (sizeof(rs_cycle_family) + (most[i].generators + 1) * sizeof(size_t));
}

/* ---- positions ---- */

/* Works out the products from generator `changed` down; those behind it are right already. */
static void carry_down(rs_cycle_cursor *cursor, size_t changed)
{
    for (size_t i = changed; i-- > 0;)
        cursor->products[i] = cursor->products[changed];
    cursor->position = cursor->products[0];
}

void rs_cycle_cursor_begin(rs_cycle_cursor *cursor, const rs_cycles *cycles, size_t family,
                           size_t index)
{
    size_t count = cycles->generator_count;
    cursor->cycles = cycles;
    cursor->powers = cycles->powers + family * count;
    size_t product = cycles->families[family].divisor;
    for (size_t i = 0; i < count; i++) {
        cursor->digits[i] = index % cursor->powers[i];
        index /= cursor->powers[i];
    }
    for (size_t i = count; i-- > 0;) {
        if (cursor->digits[i] != 0)
            product = rs_number_multiply(
                product, rs_number_power(cycles->generators[i], cursor->digits[i], cycles->modulus),
                cycles->modulus);
        cursor->products[i] = product;
    }
    cursor->position = product;
}

void rs_cycle_cursor_next(rs_cycle_cursor *cursor)
{
    const rs_cycles *c = cursor->cycles;
    for (size_t i = 0; i < c->generator_count; i++) {
        if (++cursor->digits[i] < cursor->powers[i]) {
            cursor->products[i] =
                rs_number_multiply(cursor->products[i], c->generators[i], c->modulus);
            carry_down(cursor, i);
            return;
        }
        cursor->digits[i] = 0;
    }
    rs_cycle_cursor_begin(cursor, c, (size_t)(cursor->powers - c->powers) / c->generator_count, 0);
}
