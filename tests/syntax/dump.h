/* A tree as text, for its tests. */
#ifndef RS_TESTS_SYNTAX_DUMP_H
#define RS_TESTS_SYNTAX_DUMP_H

#include "syntax/tree.h"

void dump_declaration(rs_text *text, const rs_syntax *tree, const rs_syntax_declaration *of);
const char *node_word(rs_syntax_node_kind kind);

#endif
