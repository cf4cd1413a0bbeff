/* Transposition by its definition, out of place, and buffers with canaries around them. */
#ifndef RS_TESTS_TRANSPOSE_REFERENCE_H
#define RS_TESTS_TRANSPOSE_REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A generator of numbers below `bound`, the same on every machine (splitmix64). */
size_t test_random(uint64_t *state, size_t bound);

/* target[b][j][i] = source[b][i][j]. */
void reference_transpose(unsigned char *target, const unsigned char *source, size_t batch,
                         size_t rows, size_t cols, size_t unit);

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
