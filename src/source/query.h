/* Questions about the nodes of a described tree. */
#ifndef RS_SOURCE_QUERY_H
#define RS_SOURCE_QUERY_H

#include "source/tree.h"

/* Whether the bytes [begin, end) of the text are `word`, white space aside. */
bool rs_text_is(const rs_tree *tree, size_t begin, size_t end, const char *word);

/* Whether a text stands somewhere in the bytes [begin, end). */
bool rs_text_has(const rs_tree *tree, size_t begin, size_t end, const char *word);

/* Child number `which` of a node; -1 when there is none. */
int rs_node_child(const rs_tree *tree, int node, int which);
int rs_node_child_count(const rs_tree *tree, int node);

/* The body of a function, or -1: it is declared here, and defined elsewhere. */
int rs_node_body(const rs_tree *tree, int function);

/* The last child of a node, and the one that initializes a variable; -1 when there is none. */
int rs_node_last(const rs_tree *tree, int node);
int rs_node_initializer(const rs_tree *tree, int node);

/* The other child of a parent with exactly two children; -1 otherwise. */
int rs_node_sibling(const rs_tree *tree, int node);

/* Whether a node is an operator of two operands, or of one, that is among `symbols`, which blanks
 * part. Overloaded ones are calls. */
bool rs_node_is_binary(const rs_tree *tree, int node, const char *symbols);
bool rs_node_is_unary(const rs_tree *tree, int node, const char *symbols);

bool rs_node_is_step(const rs_tree *tree, int node);       /* ++ or -- */
bool rs_node_is_postfix(const rs_tree *tree, int node);    /* the operator is behind its operand */
bool rs_node_is_assignment(const rs_tree *tree, int node); /* of any kind, steps too */

/* The node that names an operator of a class among the children of its call; -1 for none. */
int rs_node_operator(const rs_tree *tree, int call);

/* The first argument of a call, whose first child is the function, or an operator's operand. */
int rs_node_argument(const rs_tree *tree, int call);

/* Whether an operand of inline assembly is one that it writes. */
bool rs_node_is_output(const rs_tree *tree, int node);

/* Whether a node is the value of `.member = value`, or `[number] = value`, in braces. */
bool rs_node_is_designated(const rs_tree *tree, int node);

/* Whether an expression makes an object of a class of what stands in braces: {a, b}, T{a, b},
 * (T){a, b}. One thing of the same type there may be the object itself. */
bool rs_node_is_list(const rs_tree *tree, int node);

bool rs_node_same_bytes(const rs_tree *tree, int a, int b);

/* Whether some node around this one is of a kind. */
bool rs_node_is_in(const rs_tree *tree, int node, int kind); /* RS_NODE_... */

/* Whether this node or some node below it is of a kind. */
bool rs_node_has(const rs_tree *tree, int node, int kind);

/* The expression inside brackets and implicit conversions. */
int rs_node_inner(const rs_tree *tree, int node);

const rs_syntax_type *rs_type_of(const rs_tree *tree, int node);

/* Whether an expression is a pointer, or an array as a parameter, which is one too. */
bool rs_node_is_pointer(const rs_tree *tree, int node);

/* The first node behind a node and all that is below it. */
int rs_node_behind(const rs_tree *tree, int node);

#endif
