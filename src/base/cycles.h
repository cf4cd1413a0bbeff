/*
 * The cycles of 100!, and of any multiplication modulo a number, by arithmetic: nothing is walked,
 * so they are known for any size at once.
 *
 * After the transposition of rows x cols elements, position q holds what was at q * cols modulo
 * M = rows * cols - 1; the first and the last element stay. Multiplying by cols, which is prime to
 * M, keeps the greatest common divisor d of a position with M. The positions with one d are d times
 * the units modulo m = M / d, so all their cycles have the same length, the order of cols modulo m,
 * and there are as many as the units have cosets of the powers of cols (Cate and Twigg 1977 count
 * them). They are a family here.
 *
 * A position of each cycle is had without walking, too. The units modulo m are a product of cyclic
 * groups, one for each prime power of m and one more for 8, 16 and so on, with generators g1, g2
 * and so on. The powers of cols reach a subgroup of the first group, of t1 elements say; the first
 * t1-th powers of cols are 1 there and reach t2 elements of the second group, and so on. So the
 * products of g1^a1, g2^a2 and so on with ai below the size of a group divided by ti are in cosets
 * of their own, and in all of them.
 */
#ifndef RS_BASE_CYCLES_H
#define RS_BASE_CYCLES_H

#include "base/number.h"
#include "base/status.h"

enum { RS_CYCLES_MOST_GENERATORS = RS_NUMBER_MOST_PRIMES + 1 };

typedef struct {
    size_t divisor; /* of all its positions and M */
    size_t length;  /* of each of its cycles, at least 2 */
    size_t count;   /* cycles */
} rs_cycle_family;

typedef struct {
    size_t modulus; /* M; 0 when nothing moves */
    size_t factor;  /* cols, or what else is multiplied with */
    size_t generator_count;
    size_t generators[RS_CYCLES_MOST_GENERATORS];
    size_t family_count;
    size_t capacity; /* for families */
    rs_cycle_family *families;
    size_t *powers; /* generator_count for each family: so many powers of each generator */
} rs_cycles;

/* rows * cols must fit in size_t. On success the caller frees it with rs_cycles_free(). */
restride_status rs_cycles_create(rs_cycles *cycles, size_t rows, size_t cols);
void rs_cycles_free(rs_cycles *cycles);

/* The same where position q receives from q * factor modulo `modulus`, which is not 0 and has no
 * divisor in common with `factor`. */
restride_status rs_cycles_create_modulo(rs_cycles *cycles, size_t modulus, size_t factor);

/* The bytes that `families` and `powers` take, and a bound on them for `elements` = rows * cols. */
size_t rs_cycles_bytes(const rs_cycles *cycles);
size_t rs_cycles_most_bytes(size_t elements);

/* The positions that stand for the cycles of a family, one after the other. */
typedef struct {
    const rs_cycles *cycles;
    const size_t *powers;
    size_t position;
    size_t digits[RS_CYCLES_MOST_GENERATORS];
    size_t products[RS_CYCLES_MOST_GENERATORS]; /* of the powers of this generator and the later */
} rs_cycle_cursor;

/* Cycle `index` of a family. */
void rs_cycle_cursor_begin(rs_cycle_cursor *cursor, const rs_cycles *cycles, size_t family,
                           size_t index);

/* The next cycle; behind the last one comes the first. */
void rs_cycle_cursor_next(rs_cycle_cursor *cursor);

#endif
