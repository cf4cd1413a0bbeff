/* How far the loops of a nest bring a polynomial, and its text in OpenCL C. */
#ifndef RS_APPLY_RANGE_H
#define RS_APPLY_RANGE_H

#include "apply/nest.h"

/* A polynomial divided by a number and rounded down. */
typedef struct {
    rs_polynomial above;
    int64_t divisor;
} rs_quantity;

/*
 * The least and the most that `p` is in the loops of the nest that are around `loop` of the unit,
 * itself included, in terms of the parameters; false when that is not known.
 */
bool rs_range_of(const rs_nest *nest, const rs_polynomial *p, int loop, rs_polynomial *least,
                 rs_polynomial *most);

/* The same where parameters are not negative; to choose values, and not to prove anything. */
bool rs_range_supposed(const rs_nest *nest, const rs_polynomial *p, int loop, rs_polynomial *least,
                       rs_polynomial *most);

/* The iterations of a loop, in terms of the loops around it; and at most. */
rs_quantity rs_range_count(const rs_nest *nest, const rs_nest_loop *loop);
bool rs_range_count_most(const rs_nest *nest, const rs_nest_loop *loop, rs_quantity *count);

/* C text of type long; false when a symbol has no name in the kernel. */
bool rs_range_write(const rs_nest *nest, rs_text *text, const rs_polynomial *p);
bool rs_quantity_write(const rs_nest *nest, rs_text *text, const rs_quantity *q);

#endif
