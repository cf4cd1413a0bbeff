/* Transpositions and conversions by their definition, out of place, and buffers with canaries
 * around them. */
#ifndef RS_TESTS_TRANSPOSE_REFERENCE_H
#define RS_TESTS_TRANSPOSE_REFERENCE_H

#include "restride/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A generator of numbers below `bound`, the same on every machine (splitmix64). */
size_t test_random(uint64_t *state, size_t bound);

/* target[b][j][i] = source[b][i][j]. */
void reference_transpose(unsigned char *target, const unsigned char *source, size_t batch,
                         size_t rows, size_t cols, size_t unit);

/* Axis k of the target is axis axes[k] of the source, whose extents are `dims`. */
void reference_permute(unsigned char *target, const unsigned char *source, int rank,
                       const size_t dims[], const int axes[], size_t unit);

/* Whether each element has the bytes in `after` that it had in `before`. Those of no record have
 * `unit` bytes. */
bool reference_converted(const restride_layout *from, const restride_layout *to, size_t unit,
                         const unsigned char *before, const unsigned char *after);

/* `size` random bytes at `misalignment` bytes behind a multiple of 64, between two canaries. */
typedef struct {
    unsigned char *bytes;
    size_t size;
    void *allocation;
} guarded_buffer;

guarded_buffer guarded_create(size_t size, size_t misalignment, uint64_t seed);
bool guarded_intact(const guarded_buffer *buffer); /* the canaries */
void guarded_free(guarded_buffer *buffer);

#endif
