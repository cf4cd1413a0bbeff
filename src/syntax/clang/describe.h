/* For flat.c: cursors of a unit that it parses, in the terms of syntax/nodes.h. */
#ifndef RS_SYNTAX_CLANG_DESCRIBE_H
#define RS_SYNTAX_CLANG_DESCRIBE_H

#include "syntax/nodes.h"

#include <clang-c/Index.h>

/* RS_NODE_UNKNOWN for what has no kind of its own. */
int rs_cursor_kind(enum CXCursorKind kind);
rs_node_group rs_cursor_group(enum CXCursorKind kind);

/* The operator of an expression, "" for none, and "?" for one without a name here. */
const char *rs_cursor_symbol(CXCursor cursor);

/* A tree without nodes, for types and declarations of a unit that outlives it; NULL without memory.
 */
rs_syntax *rs_syntax_describe(CXTranslationUnit unit, rs_syntax_language language);

typedef struct {
    const char *name;                         /* of what it declares or mentions; "" for none */
    const rs_syntax_type *type;               /* never NULL */
    const rs_syntax_declaration *declaration; /* that it is, or mentions; never NULL */
} rs_described;

/* The tree's `out_of_memory` tells of a failure. */
rs_described rs_cursor_describe(rs_syntax *tree, CXCursor cursor);

/* The value of an integer constant expression that fits; the other: its bits. */
bool rs_cursor_evaluate(CXCursor cursor, int64_t *value);
bool rs_cursor_evaluate_bits(CXCursor cursor, long long *value);

#endif
