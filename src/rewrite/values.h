/*
 * In C++ an assignment, ++, a comma, ?:, a cast or braces can stand for the very place that they
 * are written with, whose address can be taken or bound to a reference. Only where nothing but the
 * value of a place is used, all that is done with it is seen.
 */
#ifndef RS_REWRITE_VALUES_H
#define RS_REWRITE_VALUES_H

#include "source/tree.h"

/* Whether the place that a node of C++ stands for is at most assigned to once, directly, and its
 * value is then read, copied or dropped. False for what is not known. */
bool rs_is_used_as_value(const rs_tree *tree, int node);

#endif
