/*
 * The values that an integer expression can have where it stands, as far as the source proves them:
 * constants, the numbers of work-items, remainders and masks, types of up to 32 bits, variables
 * that are set once, and variables that count a `for` loop up. What is not proved is not known.
 */
#ifndef RS_REWRITE_RANGES_H
#define RS_REWRITE_RANGES_H

#include "rewrite/linear.h"
#include "rewrite/locals.h"

typedef struct {
    bool is_known;
    long long low, high; /* both included; when known */
} rs_value_range;

/*
 * Whether an index into records of `length` members is proved to be member 0 to length - 1 of the
 * record that its terms count, `*carried` records further on. Then the record is the index's
 * quotient, also where the index is computed in unsigned numbers that could wrap.
 */
bool rs_range_proves_member(rs_locals *locals, const rs_linear *sum, size_t length,
                            long long *carried);

#endif
