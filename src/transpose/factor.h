/* Factoring a permutation of axes into transpositions. */
#ifndef RS_TRANSPOSE_FACTOR_H
#define RS_TRANSPOSE_FACTOR_H

#include "transpose/sequence.h"

/* `order[k]` is the axis that comes k-th afterwards. */
typedef struct {
    size_t rank;
    const size_t *counts; /* slowest first; all at least 1 */
    const size_t *order;
    size_t unit; /* bytes of an element */
} rs_permutation;

enum { RS_FACTOR_MOST_AXES = 64, RS_FACTOR_MOST_EXACT = 7, RS_FACTOR_MOST_EXCHANGES = 32 };

/* Groups of axes that move together, in the order of memory; each is named by its place in the
 * order to reach, from 0. */
typedef struct {
    size_t count;
    size_t names[RS_FACTOR_MOST_AXES];
    size_t sizes[RS_FACTOR_MOST_AXES]; /* by name */
    size_t unit;
} rs_axis_order;

/* A transposition: the groups [begin, middle) and [middle, end) change places. */
typedef struct {
    size_t begin;
    size_t middle;
    size_t end;
} rs_exchange;

/* One transposition after the other, from an arrangement to the order to reach. */
typedef struct {
    size_t count;
    rs_exchange exchanges[RS_FACTOR_MOST_EXCHANGES];
} rs_path;

/* Adds the cheapest sequence of transpositions to a list: exactly the cheapest for up to 7 groups
 * of axes that move together, beyond that as factor.c says; or the one that wisdom has, where that
 * is asked. RESTRIDE_UNSUPPORTED when the scratch memory does not suffice for any. */
restride_status rs_factor_permutation(rs_sequence *steps, const rs_strided_part *context,
                                      const rs_permutation *permutation);

/* ---- for tuning ---- */

/* A permutation in a conversion that has a choice of paths; the list is in the sequence's arena. */
typedef struct rs_permuted rs_permuted;
struct rs_permuted {
    rs_permuted *next;
    size_t outer;
    rs_axis_order arrangement;
};

/* The bytes of `outer` of them. */
size_t rs_factor_bytes(const rs_axis_order *arrangement, size_t outer);

/* Adds the transpositions of a path. */
void rs_factor_add_path(rs_sequence *steps, const rs_strided_part *context,
                        const rs_axis_order *arrangement, const rs_path *path);

#endif
