/*
 * Random transpositions and permutations, the same in every run: the library's kernels are those
 * that they ask for, and tests/engine/time_plans.c times their plans.
 */
#ifndef RS_RANDOM_PROBLEMS_H
#define RS_RANDOM_PROBLEMS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_RANK = 5, TILE = 64 };

static uint64_t state = UINT64_C(88172645463325252);

static uint64_t next_random(void) /* xorshift */
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Evenly in the logarithm; half of them round, as people's sides are. */
static size_t random_side(double least, double most)
{
    static const size_t steps[] = {1, 1, 1, 1, 1, 16, 64, 256, 10, 100};
    double part = (double)(next_random() >> 11) * 0x1p-53;
    size_t side = (size_t)(least * pow(most / least, part));
    size_t step = steps[next_random() % (sizeof steps / sizeof steps[0])];
    return side < step ? side : side / step * step;
}

typedef struct {
    int rank;
    size_t dims[MOST_RANK];
    int permutation[MOST_RANK];
    size_t unit;
} problem;

static double bytes_of(const problem *p)
{
    double bytes = (double)p->unit;
    for (int i = 0; i < p->rank; i++)
        bytes *= (double)p->dims[i];
    return bytes;
}

/* Half of them matrices, some of which are squares; elements of the usual sizes are frequent. */
static problem random_problem(double least_bytes)
{
    static const size_t units[] = {1,  2,  4, 4, 4,  4,  8,  8,  8,  16,
                                   12, 24, 3, 6, 20, 48, 36, 64, 32, 5};
    static const double most_sides[] = {0, 0, 1e5, 1200, 300, 100};
    static const double most_bytes = 8e9;
    problem p = {.rank = next_random() % 2 == 0 ? 2 : 3 + (int)(next_random() % 3)};
    p.unit = units[next_random() % (sizeof units / sizeof units[0])];
    const bool is_square = next_random() % 8 == 0;
    const bool is_round = p.rank < 4 && next_random() % 8 == 0; /* else too many are too large */
    do
        for (int i = 0; i < p.rank; i++) {
            size_t side = random_side(2, most_sides[p.rank]);
            side = is_round ? side / TILE * TILE + TILE : side;
            p.dims[i] = is_square && i > 0 ? p.dims[0] : side;
        }
    while (bytes_of(&p) < least_bytes || bytes_of(&p) > most_bytes);
    for (int i = 0; i < p.rank; i++)
        p.permutation[i] = p.rank - 1 - i;
    for (int i = p.rank - 1; p.rank > 2 && i > 0; i--) {
        int k = (int)(next_random() % (uint64_t)(i + 1));
        int other = p.permutation[i];
        p.permutation[i] = p.permutation[k];
        p.permutation[k] = other;
    }
    return p;
}

#endif
