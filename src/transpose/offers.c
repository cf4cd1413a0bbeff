/*
 * Which tiles are worth a look (Sung thesis, section 4.8.4): long super-elements are better for
 * 100! and 0100!, but m x n must fit on chip for 010! and 0010!, so only the largest factors below
 * that are.
 */
#include "transpose/offers.h"
#include "base/arithmetic.h"
#include "base/number.h"
#include "transpose/cost.h"
#include "transpose/device_methods.h"

#include <stdint.h>

enum {
    DENSE_PARTS = 384,   /* every size up to this one */
    DIVIDED_PARTS = 128, /* and the whole side divided by every number up to this one */
    FACTOR_RANGE = 4096, /* of the factors of a side */
    MOST_DIVISORS = 2048,
    MOST_FACTORS = 16,
    LONGEST_LINES = 64,     /* a super-element beyond gains nothing more */
    SHORT_LINES = 4,        /* and one of these is moved with the least work */
    MOST_CHIPS = 4,         /* of a block on the host */
    LEAST_RUN_BYTES = 1024, /* of a tile's row on the host */
    MOST_WALKED = 1 << 17   /* super-elements whose cycles are walked */
};

/* The side of a matrix that is cut into parts, and the other. */
typedef struct {
    bool by_rows;
    size_t along;
    size_t across;
} cut_side;

/* Blocks near the chip, which a device's must not exceed, short ones in any case, and all that was
 * granted. */
static size_t largest_part(const rs_problem *problem, const cut_side *c)
{
    size_t slim = c->across * problem->matrices->unit;
    size_t chips = rs_cost_is_host(&problem->traits) ? MOST_CHIPS : 1;
    size_t most = rs_size_multiply_capped(chips, problem->traits.chip_bytes) / slim;
    size_t lines = rs_size_multiply_capped(4, problem->traits.line_bytes) / problem->matrices->unit;
    most = most > lines ? most : lines;
    if (problem->granted && problem->scratch_limit / slim > most)
        most = problem->scratch_limit / slim;
    return rs_size_smaller(most > 1 ? most : 1, c->along);
}

/* One for the blocks, one to move them where there are several, and one for what is left over. */
static size_t stages_of(const cut_side *c, size_t part, bool rest)
{
    return 1U + (part <= c->along / 2) + rest;
}

/* If it leaves something over, or does not, as wanted. */
static void offer_part(const rs_method *method, rs_offers *offers, const cut_side *c, size_t part,
                       bool rest)
{
    if (stages_of(c, part, rest) < offers->beaten && (c->along % part != 0) == rest)
        offers->take(offers, method, c->by_rows ? (rs_tiles){part, 0} : (rs_tiles){0, part});
}

/* Factors up to DENSE_PARTS, and what they divide the side into. */
static void offer_divisors(const rs_method *method, rs_offers *offers, const cut_side *c,
                           size_t most)
{
    for (size_t factor = 1; factor <= DENSE_PARTS && factor <= c->along / factor; factor++) {
        size_t other = c->along / factor;
        if (other * factor != c->along)
            continue;
        if (factor > 1 && factor <= most)
            offer_part(method, offers, c, factor, false);
        if (other != factor && other <= most)
            offer_part(method, offers, c, other, false);
    }
}

/* Small parts one by one, larger ones in steps of an eighth that are whole lines, and what small
 * numbers divide the side into. */
static void offer_remainders(const rs_method *method, const rs_problem *problem, rs_offers *offers,
                             const cut_side *c, size_t most)
{
    size_t step = 1;
    for (size_t part = 2; part <= most; part += step) {
        offer_part(method, offers, c, part, true);
        if (part == most) /* the next step may go round */
            break;
        if (part >= DENSE_PARTS)
            step = part / 8 / problem->traits.line_bytes * problem->traits.line_bytes;
        if (part >= DENSE_PARTS && step == 0)
            step = part / 8;
        if (step > most - part)
            step = most - part;
    }
    for (size_t blocks = 1; blocks <= DIVIDED_PARTS && c->along / blocks > DENSE_PARTS; blocks++)
        if (c->along / blocks <= most)
            offer_part(method, offers, c, c->along / blocks, true);
}

static void offer_all_parts(const rs_method *method, const rs_problem *problem, rs_offers *offers,
                            const cut_side *c, bool rest)
{
    size_t most = largest_part(problem, c);
    if (stages_of(c, most, rest) >= offers->beaten) /* no part has fewer */
        return;
    if (rest)
        offer_remainders(method, problem, offers, c, most);
    else
        offer_divisors(method, offers, c, most);
}

/*
 * Super-elements of one to four whole lines; whole lines in blocks that take a third of the chip,
 * two thirds, and all of it; and factors, which leave nothing over.
 */
static void offer_few_parts(const rs_method *method, const rs_problem *problem, rs_offers *offers,
                            const cut_side *c, bool rest)
{
    size_t most = largest_part(problem, c);
    size_t unit = problem->matrices->unit;
    size_t line = problem->traits.line_bytes / rs_size_gcd(problem->traits.line_bytes, unit);
    size_t third = problem->traits.chip_bytes / 3 / (c->across * unit);
    size_t longest = rs_size_multiply_capped(LONGEST_LINES, problem->traits.line_bytes) / unit;
    for (size_t lines = 1; lines <= SHORT_LINES && lines * line <= most; lines++)
        offer_part(method, offers, c, lines * line, rest);
    for (size_t thirds = 1; thirds <= 3; thirds++) {
        size_t part = thirds * third - thirds * third % line;
        if (part > SHORT_LINES * line && part <= most)
            offer_part(method, offers, c, part, rest);
    }
    if (!rest)
        offer_divisors(method, offers, c, rs_size_smaller(most, longest));
    for (size_t blocks = 2; blocks <= DIVIDED_PARTS && c->along / blocks > DENSE_PARTS; blocks++)
        if (c->along % blocks == 0 && c->along / blocks <= most)
            offer_part(method, offers, c, c->along / blocks, rest);
}

static void offer_parts(const rs_method *method, const rs_problem *problem, rs_offers *offers,
                        bool by_rows)
{
    const rs_matrices *m = problem->matrices;
    const cut_side c = {by_rows, by_rows ? m->rows : m->cols, by_rows ? m->cols : m->rows};
    for (int rest = 0; rest < 2; rest++)
        if (problem->roughly)
            offer_few_parts(method, problem, offers, &c, rest != 0);
        else
            offer_all_parts(method, problem, offers, &c, rest != 0);
}

void rs_offer_row_blocks(const rs_method *method, const rs_problem *problem, rs_offers *offers)
{
    offer_parts(method, problem, offers, true);
}

void rs_offer_column_blocks(const rs_method *method, const rs_problem *problem, rs_offers *offers)
{
    offer_parts(method, problem, offers, false);
}

/* The largest factors of a side up to `longest`: those not far below it, and small ones. */
static size_t find_factors(size_t side, size_t longest, size_t *factors)
{
    size_t divisors[MOST_DIVISORS];
    const size_t most = rs_size_smaller(longest, side / 2);
    size_t count = 0;
    for (size_t i = rs_number_divisors(side, most, divisors, MOST_DIVISORS);
         i-- > 1 && count < MOST_FACTORS;)
        if (most - divisors[i] < FACTOR_RANGE || divisors[i] <= MOST_FACTORS)
            factors[count++] = divisors[i];
    return count;
}

/* Tiles with sides up to `longest` and an area up to `most`. */
static void offer_factors(const rs_method *method, const rs_problem *problem, rs_offers *offers,
                          size_t longest, size_t most)
{
    const rs_matrices *m = problem->matrices;
    size_t rows[MOST_FACTORS];
    size_t cols[MOST_FACTORS];
    size_t row_count = find_factors(m->rows, longest, rows);
    size_t col_count = find_factors(m->cols, longest, cols);
    for (size_t i = 0; i < row_count; i++)
        for (size_t j = 0; j < col_count; j++)
            if (rows[i] <= most / cols[j])
                offers->take(offers, method, (rs_tiles){rows[i], cols[j]});
}

/* The largest ones; not as large as a whole side, whose super-elements need no walk. */
static void offer_host_tiles(const rs_method *method, const rs_problem *problem, rs_offers *offers)
{
    const rs_matrices *m = problem->matrices;
    size_t divisors[MOST_DIVISORS];
    const size_t divisor = rs_size_gcd(m->rows, m->cols);
    const size_t most = divisor == rs_size_smaller(m->rows, m->cols) ? divisor / 2 : divisor;
    size_t count = rs_number_divisors(divisor, most, divisors, MOST_DIVISORS);
    for (size_t taken = 0; count-- > 0 && taken < MOST_FACTORS; taken++) {
        const size_t tile = divisors[count];
        if (tile * m->unit < LEAST_RUN_BYTES || m->rows / tile > MOST_WALKED / m->cols)
            break;
        offers->take(offers, method, (rs_tiles){tile, tile});
    }
}

void rs_offer_tiles(const rs_method *method, const rs_problem *problem, rs_offers *offers)
{
    if (!rs_cost_is_host(&problem->traits))
        rs_device_offer_tiles(method, problem, offers);
    else if (offers->beaten > 2)
        offer_host_tiles(method, problem, offers);
}

/* Super-elements have no more than LONGEST_LINES lines. */
void rs_offer_grids(const rs_method *method, const rs_problem *problem, rs_offers *offers)
{
    size_t longest = rs_size_multiply_capped(LONGEST_LINES, problem->traits.line_bytes) /
                     problem->matrices->unit;
    offer_factors(method, problem, offers, longest, SIZE_MAX);
}

/* Two tiles fit into what one group of a device has on chip, and no side is longer than twice that
 * of the largest square (thesis, section 4.8.4: m and n near each other). */
void rs_offer_small_grids(const rs_method *method, const rs_problem *problem, rs_offers *offers)
{
    size_t most = problem->traits.group_bytes / 2 / problem->matrices->unit;
    size_t longest = 1;
    while (longest * longest < 4 * most)
        longest++;
    if (problem->traits.group_bytes == 0)
        rs_offer_grids(method, problem, offers);
    else
        offer_factors(method, problem, offers, longest, most);
}

void rs_offer_once(const rs_method *method, const rs_problem *problem, rs_offers *offers)
{
    (void)problem;
    offers->take(offers, method, (rs_tiles){0, 0});
}
