/* Permutations of axes, and paths of transpositions from one order of axes to another. */
#ifndef RS_TRANSPOSE_AXES_H
#define RS_TRANSPOSE_AXES_H

#include <stddef.h>

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

/* The bytes of `outer` arrays with these axes. */
size_t rs_axis_order_bytes(const rs_axis_order *arrangement, size_t outer);

#endif
