/* See copy_banks.h: all that may be chosen is tried out on the first accesses of a group. */
#include "engine/copy_banks.h"

enum {
    LANES = 32,
    BANKS = 32,
    BANK_BYTES = 4,
    LEAST_SHIFT = 3,
    MOST_SHIFT = 10,
    NO_SHIFT = 31,
    VECTOR_COST = 3 /* of finding a vector, in turns of local memory; so is a part of a word's */
};
#define WORD_COST 0.75

static size_t skewed(const rs_copy_banks *b, size_t cell)
{
    return cell + (cell >> b->shift) * b->skew;
}

/* Turns that local memory takes for accesses of `bytes` at these words. */
static double turns(const size_t cells[LANES], size_t word, size_t bytes)
{
    size_t together = bytes > BANK_BYTES ? LANES * BANK_BYTES / bytes : LANES;
    size_t sum = 0;
    for (size_t begin = 0; begin < LANES; begin += together) {
        size_t lines[BANKS][LANES];
        size_t counts[BANKS] = {0};
        size_t most = 0;
        for (size_t lane = begin; lane < begin + together; lane++)
            for (size_t byte = 0; byte < bytes; byte += BANK_BYTES) {
                size_t at = (cells[lane] * word + byte) / BANK_BYTES;
                size_t *count = &counts[at % BANKS];
                size_t known = 0;
                while (known < *count && lines[at % BANKS][known] != at)
                    known++;
                if (known == *count && *count < LANES)
                    lines[at % BANKS][(*count)++] = at;
                most = *count > most ? *count : most;
            }
        sum += most;
    }
    return (double)sum;
}

/* Turns a word takes on the even side. */
static double even_cost(const rs_copy_banks *b, const rs_copy_runs *even, size_t word)
{
    size_t bytes = b->even_vector * word;
    size_t piece = word >= BANK_BYTES ? word : bytes < BANK_BYTES ? bytes : BANK_BYTES;
    double cost = VECTOR_COST + (double)bytes / BANK_BYTES;
    for (size_t part = 0; part < bytes; part += piece) {
        size_t cells[LANES];
        for (size_t lane = 0; lane < LANES; lane++)
            cells[lane] =
                skewed(b, lane * b->even_vector % (even->run * even->row_count * 2)) + part / word;
        cost += turns(cells, word, piece);
    }
    return cost / (double)b->even_vector;
}

static size_t uneven_cell(const rs_copy_runs *uneven, size_t word)
{
    size_t row = word / uneven->run % uneven->row_count;
    size_t x = word % uneven->run;
    return rs_copy_runs_row(uneven, row, 0).cell +
           (size_t)rs_copy_runs_low(uneven, x % uneven->lower) +
           x / uneven->lower * rs_copy_runs_high(uneven).step.cell;
}

static double uneven_cost(const rs_copy_banks *b, const rs_copy_runs *uneven, size_t word)
{
    double cost = VECTOR_COST + (double)(b->uneven_vector * word) / BANK_BYTES;
    for (size_t k = 0; k < b->uneven_vector; k++) {
        size_t cells[LANES];
        for (size_t lane = 0; lane < LANES; lane++)
            cells[lane] = skewed(b, uneven_cell(uneven, lane * b->uneven_vector + k));
        cost += turns(cells, word, word) + WORD_COST;
    }
    return cost / (double)b->uneven_vector;
}

void rs_copy_banks_choose(rs_copy_banks *banks, const rs_copy_runs *even,
                          const rs_copy_runs *uneven, size_t word, size_t most_even,
                          size_t most_uneven)
{
    rs_copy_banks b = {.skew = word < BANK_BYTES ? BANK_BYTES / word : 1};
    double best = -1;
    for (unsigned shift = LEAST_SHIFT; shift <= MOST_SHIFT + 1; shift++) {
        b.shift = shift > MOST_SHIFT ? NO_SHIFT : shift;
        double even_best = -1;
        double uneven_best = -1;
        rs_copy_banks chosen = b;
        for (b.even_vector = 1; b.even_vector <= most_even; b.even_vector *= 2) {
            double cost = even_cost(&b, even, word);
            if ((even_best < 0 || cost < even_best) &&
                b.even_vector <= (size_t)1 << LEAST_SHIFT << (shift - LEAST_SHIFT)) {
                even_best = cost;
                chosen.even_vector = b.even_vector;
            }
        }
        for (b.uneven_vector = 1; b.uneven_vector <= most_uneven; b.uneven_vector *= 2) {
            double cost = uneven_cost(&b, uneven, word);
            if (uneven_best < 0 || cost < uneven_best) {
                uneven_best = cost;
                chosen.uneven_vector = b.uneven_vector;
            }
        }
        if (best < 0 || even_best + uneven_best < best) {
            best = even_best + uneven_best;
            *banks = chosen;
        }
    }
}
