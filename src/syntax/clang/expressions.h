/* What the files about expressions share. */
#ifndef RS_SYNTAX_CLANG_EXPRESSIONS_H
#define RS_SYNTAX_CLANG_EXPRESSIONS_H

#include "syntax/clang/reader.h"

/* Reads each as a value, or as a statement where it is one; false without memory. */
bool rs_read_children(rs_syntax_reader *reader, rs_syntax_node *node, const rs_cursors *below);

/* The object of a member that is named without one. */
rs_syntax_node *rs_read_this(rs_syntax_reader *reader, CXCursor cursor);

/* The object before a dot, or the pointer before an arrow. */
rs_syntax_node *rs_read_object(rs_syntax_reader *reader, CXCursor cursor);

/* --- conversions.c --- */

/* How a value of a type becomes one of another, both without qualifiers. */
rs_syntax_conversion rs_find_conversion(const rs_syntax_type *from, const rs_syntax_type *to);
rs_syntax_node *rs_read_unexposed(rs_syntax_reader *reader, CXCursor cursor,
                                  const rs_cursors *below, bool is_bound);

/* Asks clang for a value where all parts of a node are constant. */
void rs_read_constant(rs_syntax_reader *reader, rs_syntax_node *node, CXCursor cursor);

/* --- calls.c --- */

rs_syntax_node *rs_read_call(rs_syntax_reader *reader, CXCursor cursor, const rs_cursors *below);

#endif
