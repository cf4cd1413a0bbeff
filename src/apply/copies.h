/*
 * Which of a nest's references become vectors, and over which data (Jang 2011, algorithm 2): in
 * place, or in a copy of the array whose last dimension is the iterations of the vector's loop.
 *
 * An element of a copy is given by the other rows of M and by the iteration p of the loop: row r of
 * the array is
 *     stride * (first + p) + sum of slope[o] * row o + shift.
 */
#ifndef RS_APPLY_COPIES_H
#define RS_APPLY_COPIES_H

#include "analyze/vector.h"
#include "apply/range.h"

typedef enum {
    RS_PLACED_UNIFORM,   /* the same element for all of a vector */
    RS_PLACED_ALIGNED,   /* in place, at a multiple of the vector's size */
    RS_PLACED_UNALIGNED, /* in place */
    RS_PLACED_COPY,
    RS_PLACED_ELEMENTS /* one after the other */
} rs_placed;

typedef struct {
    int array, access; /* the first that uses it */
    int row, rows;     /* `row` is what the vector's loop moves */
    rs_polynomial stride, shift, slope[RS_SUBSCRIPT_LIMIT];
    rs_polynomial least[RS_SUBSCRIPT_LIMIT], most[RS_SUBSCRIPT_LIMIT]; /* of every row */
    bool written;
    unsigned kinds; /* bits of rs_rule_kind */
} rs_copy;

typedef struct {
    rs_placed *placed; /* for each reference of the unit */
    int *copy_of;      /* the copy, or -1 */
    rs_copy *copies;
    int copy_count;
} rs_copies;

/* Decides for all references of the nest; a refusal is kept in the nest. */
restride_status rs_copies_find(rs_copies *copies, rs_nest *nest, int width);
void rs_copies_free(rs_copies *copies);

/* The row of the array that is dimension `position` of the copy; all but the last. */
int rs_copy_row(const rs_copy *copy, int position);

const char *rs_placed_text(rs_placed placed);

#endif
