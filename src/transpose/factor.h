/* Factoring a permutation of axes into transpositions. */
#ifndef RS_TRANSPOSE_FACTOR_H
#define RS_TRANSPOSE_FACTOR_H

#include "transpose/axes.h"
#include "transpose/sequence.h"

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

/* Adds the transpositions of a path. */
void rs_factor_add_path(rs_sequence *steps, const rs_strided_part *context,
                        const rs_axis_order *arrangement, const rs_path *path);

#endif
