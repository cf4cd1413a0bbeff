/*
 * Inside the evaluation of expressions: expressions.c has the table of all forms, arithmetic.c what
 * operators make of values, assignments.c what is stored.
 */
#ifndef RS_ANALYZE_EVALUATE_H
#define RS_ANALYZE_EVALUATE_H

#include "analyze/walk.h"

/* ---- expressions.c ---- */

bool rs_node_is_integer(const rs_walk *walk, int node);

/* Evaluates all parts of an expression whose value is not followed. */
rs_value rs_walk_parts(rs_walk *walk, int node);

/* ---- arithmetic.c ---- */

/* The same as rs_walk_operate() for numbers of a type. */
rs_value rs_walk_operate_typed(rs_walk *walk, char symbol, const rs_value *a, const rs_value *b,
                               const rs_syntax_type *type);

/* A number that was turned into another type and may be another one there. */
rs_value rs_walk_convert(rs_walk *walk, const rs_value *value, const rs_syntax_type *type);

/* Whether 32 bits surely do not hold an unsigned number, and a node's value in 64 bits. */
bool rs_value_starts_over(const rs_value *value, const rs_syntax_type *type);
rs_value rs_walk_widen(rs_walk *walk, const rs_value *value, int node, const rs_syntax_type *type);

/* ---- assignments.c ---- */

rs_value rs_walk_assign(rs_walk *walk, int left, int right);
rs_value rs_walk_assign_compound(rs_walk *walk, int node);
rs_value rs_walk_assign_step(rs_walk *walk, int operand, char symbol, bool after);

/* Whether nobody uses the value of an expression. */
bool rs_node_is_discarded(const rs_tree *tree, int node);

#endif
