/*
 * The parts of a place: pointer, index and subscripts. C++17 evaluates them from left to right, but
 * the arguments of the functions that the new code makes of them in any order.
 */
#ifndef RS_REWRITE_ORDER_H
#define RS_REWRITE_ORDER_H

#include "rewrite/model.h"

/* Whether the parts of an access may be evaluated in any order. */
bool rs_parts_have_no_order(rs_purities *purities, const rs_member_access *access);

/* Whether an index is an object of a class, converted to the type that a subscript wants, where
 * (long)(x) may choose another way. */
bool rs_has_conversion(const rs_tree *tree, int node);

#endif
