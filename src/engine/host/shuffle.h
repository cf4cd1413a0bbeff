/*
 * C2R, and R2C, its inverse (Catanzaro, Keller and Garland, "A decomposition for in-place matrix
 * transposition", 2014): a transposition of any rows x cols matrix by permutations of single rows
 * and of single columns. With c the greatest common divisor of the sides, a = rows / c, b = cols /
 * c:
 *
 *     rotate     new[i][j] = old[i + j / b][j]                    nothing to do when c is 1
 *     rows       new[i][((i + j / b) mod rows + j * rows) mod cols] = old[i][j]
 *     columns    new[i][j] = old[j + i * cols - i / a][j]
 *
 * with row numbers modulo `rows`. Read in order, the result is the cols x rows transpose. R2C
 * undoes the three in the opposite order, so it makes rows x cols of a cols x rows matrix.
 */
#ifndef RS_ENGINE_HOST_SHUFFLE_H
#define RS_ENGINE_HOST_SHUFFLE_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    size_t rows;
    size_t cols;
    size_t a;
    size_t b;
} rs_host_shuffle;

rs_host_shuffle rs_host_shuffle_make(size_t rows, size_t cols);

/*
 * The skew of a strip of 64 bytes of each row: byte t of row q of the result is byte t of row
 * q + d[t] of the source (forward) or q - d[t] (backward), 0 <= d[t] < 64. Rows stream through a
 * barrel shifter: six blends choose between a row and one that came 1, 2, 4, 8, 16 or 32 before.
 */
enum { RS_HOST_STRIP = 64, RS_HOST_NEAR = 16, RS_HOST_FAR = 64 };

typedef uint64_t rs_host_strip __attribute__((vector_size(RS_HOST_STRIP)));

/* The same at any address. */
typedef uint64_t rs_host_loose_strip
    __attribute__((vector_size(RS_HOST_STRIP), aligned(1), may_alias));

typedef struct {
    rs_host_strip masks[6];
    rs_host_strip kept1[1];
    rs_host_strip kept2[2];
    rs_host_strip kept4[4];
    rs_host_strip kept8[8];
    rs_host_strip kept16[16];
    rs_host_strip kept32[32];
    size_t step;
    size_t width;     /* bytes of the strip that exist */
    size_t prelude;   /* steps before the first row of the result: NEAR or FAR */
    size_t in_ahead;  /* bytes from a row that is read to the one to ask for meanwhile; 0: none */
    int first;        /* no strip of this panel is before it */
    size_t out_ahead; /* the same for rows that are written */
} rs_host_skew;

/* Rows `stride` bytes apart that are read round and round. */
typedef struct {
    const unsigned char *begin;
    const unsigned char *end;
    const unsigned char *next;
    size_t stride;
} rs_host_ring;

void rs_host_skew_begin(rs_host_skew *skew, const unsigned char shifts[RS_HOST_STRIP], size_t width,
                        int backward);

/*
 * Takes `steps` rows of `in` and writes as many rows `out_stride` bytes apart. The first `prelude`
 * rows written mean nothing. `in` begins at the row that precedes row 0 of the result (forward), or
 * `prelude` rows before row 0 (backward). All calls but the last take a multiple of 8 steps.
 */
typedef void rs_host_skew_run(rs_host_skew *skew, rs_host_ring *in, unsigned char *out,
                              size_t out_stride, size_t steps);

rs_host_skew_run *rs_host_skew_choose(void);

#endif
