/* Random layouts with a definition of their own, from which the tests work out offsets the slow
 * way. */
#ifndef RS_TESTS_LAYOUT_GENERATE_H
#define RS_TESTS_LAYOUT_GENERATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MADE_RANK = 4, MADE_TERMS = 12, MADE_LEAVES = 24 };

typedef struct {
    int dimension;
    size_t divisor;
    size_t modulus; /* 0: none */
    bool padded;
} made_term;

typedef struct {
    int rank;
    size_t extent[MADE_RANK]; /* the number of leaves, of a record */
    size_t padded[MADE_RANK];
    int term_count;
    made_term terms[MADE_TERMS];
    int record; /* dimension, or -1 */
    size_t leaf_count;
    size_t leaf_offset[MADE_LEAVES]; /* padding included */
    size_t leaf_size[MADE_LEAVES];
    size_t record_size;
    char dims[400];
    char expression[400];
} made_layout;

/* A generator of numbers below `bound`, the same on every machine (splitmix64). */
size_t made_random(uint64_t *state, size_t bound);

void make_layout(made_layout *made, uint64_t *state);

/* Another layout of the same array. */
void make_another(made_layout *made, const made_layout *like, uint64_t *state);

/* All index vectors of the padded array, in the order of memory, with their offsets; the caller
 * frees both. */
size_t sort_elements(const made_layout *made, size_t (**indices)[MADE_RANK], size_t **offsets);

/* Whether an index vector lies inside the array, not in its padding. */
bool is_inside(const made_layout *made, const size_t index[]);

/* The offset of an element in row-major order of its dimensions. */
size_t row_major_offset(const made_layout *made, const size_t index[]);

#endif
