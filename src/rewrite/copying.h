/*
 * What copies a whole structure in C++: calls of constructors and of operator=, which the user does
 * not see. The rewritten code copies bytes, and what it copies from is no longer the same kind of
 * expression; so all of them must be the compiler's own, and none may take the place of another.
 */
#ifndef RS_REWRITE_COPYING_H
#define RS_REWRITE_COPYING_H

#include "source/tree.h"

typedef enum { RS_COPIES_NOTHING, RS_COPIES_TO_NEW, RS_COPIES_BY_ASSIGNMENT } rs_copying;

rs_copying rs_copying_by_call(const rs_tree *tree, int call);

/* Why a structure cannot be copied as a value, or (`assigns`) cannot be assigned one, or NULL: it,
 * or something inside it, says itself how it is copied, assigned to or destroyed. */
const char *rs_copying_trouble(CXType structure, bool assigns);

/* The same where a call of a constructor or of operator= does not copy it. */
const char *rs_copying_trouble_of_call(const rs_tree *tree, int call, CXType structure);

/* Visits what a class declares; one that comes from a template shows nothing of its own. */
void rs_class_visit(CXType type, CXCursorVisitor visitor, CXClientData data);

/* What the innermost elements of an array are, or the type itself; canonical. */
CXType rs_element_type(CXType type);

#endif
