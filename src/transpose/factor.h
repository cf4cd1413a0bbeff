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

/* Adds the cheapest sequence of transpositions to a list: exactly the cheapest for up to 7 groups
 * of axes that move together, beyond that as factor.c says. RESTRIDE_UNSUPPORTED when the scratch
 * memory does not suffice for any. */
restride_status rs_factor_permutation(rs_sequence *steps, const rs_context *context,
                                      const rs_permutation *permutation);

#endif
