/* The cheapest paths from an arrangement of few groups of axes to the order wanted. */
#ifndef RS_TRANSPOSE_PATHS_H
#define RS_TRANSPOSE_PATHS_H

#include "transpose/axes.h"
#include "transpose/sequence.h"

/* The matrices of one transposition: what stays in front is the batch, what stays behind the
 * element. */
rs_matrices rs_arrangement_matrices(const rs_axis_order *arrangement, const rs_exchange *exchange);

void rs_arrangement_apply(rs_axis_order *arrangement, const rs_exchange *exchange);

/* Pairs of neighbours that do not belong together, both ends counted; 0: the order is reached. */
size_t rs_arrangement_gaps(const rs_axis_order *arrangement);

/* The next of all exchanges of `count` groups; the first comes after rs_exchange_none. */
bool rs_exchange_next(rs_exchange *exchange, size_t count);
extern const rs_exchange rs_exchange_none;

/*
 * The cheapest path of at most RS_FACTOR_MOST_EXACT groups, and after it others, each the cheapest
 * without one transposition of the first; at most `most`, and *count may be 0: then none costs up
 * to `highest` passes, below RS_COST_IMPOSSIBLE, and keeps within the scratch memory. Only a lack
 * of memory is an error.
 */
restride_status rs_paths_find(rs_path *paths, size_t most, size_t *count, const rs_sequence *steps,
                              const rs_strided_part *context, const rs_axis_order *arrangement,
                              double highest);

#endif
