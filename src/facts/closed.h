/* Which memory a kernel can reach. */
#ifndef RS_FACTS_CLOSED_H
#define RS_FACTS_CLOSED_H

#include "syntax/tree.h"

/*
 * Whether a kernel of CUDA reaches memory that a program allocates by its parameters alone: by
 * those that are pointers, and by pointers in structures that are passed by value. *why is a
 * sentence part if not, "it loads pointers from memory", and lives as long as the program.
 *
 * The argument is by types. A pointer comes from a parameter, or from memory, from a number or from
 * another kind of object (a texture). So there is none where nothing that pointers lead to, and no
 * variable outside of functions, holds pointers; where no number becomes one, and no pointer leads
 * to pointers by a cast. Functions of the toolkit get no more than they are given; those of the
 * program are read, and all must be there. Unknown errs to open.
 */
bool rs_fact_is_closed(rs_syntax *tree, const rs_syntax_declaration *kernel, const char **why);

#endif
