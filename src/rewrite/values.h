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

/* What copies a whole structure in C++ without being seen by the user. */
typedef enum { RS_COPIES_NOTHING, RS_COPIES_TO_NEW, RS_COPIES_BY_ASSIGNMENT } rs_copying;

rs_copying rs_copying_by_call(const rs_tree *tree, int call);

/* Whether a structure, or one inside it, says itself how it is copied: perhaps not as a value. */
bool rs_copying_is_declared(CXType structure);

#endif
