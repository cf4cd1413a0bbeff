/* Taking rows of unequal parts apart. */
#ifndef RS_TRANSPOSE_SEPARATE_H
#define RS_TRANSPOSE_SEPARATE_H

#include "transpose/sequence.h"
#include "transpose/tree.h"

/*
 * `tree` is a loop, or several, over a row. Adds the steps after which the parts of the row lie one
 * after the other, each within loops of its own, and gives the row that they form then. Members of
 * a record that have one size come to lie outside the loops.
 */
restride_status rs_separate(rs_sequence *sequence, const rs_strided_part *context,
                            const rs_loop_tree *tree, const rs_loop_tree **row);

#endif
