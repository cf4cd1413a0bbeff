/* What a declaration tells of the variable that it declares. */
#ifndef RS_ANALYZE_DECLARED_H
#define RS_ANALYZE_DECLARED_H

#include "syntax/nodes.h"

#include <stdbool.h>
#include <stdint.h>

/* The key of a name that is declared outside the user's file. */
uint64_t rs_name_key(const char *name);

/* The same for all mentions of one declaration, and for no other one. */
uint64_t rs_declared_key(const rs_syntax_declaration *declared);

/* Whether a variable outlives its function. */
bool rs_variable_lasts(const rs_syntax_declaration *declared);

/* The same, and functions that are not there may have it: all but a __shared__ one of a function.
 */
bool rs_variable_is_open(const rs_syntax_declaration *declared);

/* Whether no code of a kernel can write it: it is const, or lies in constant memory. */
bool rs_variable_is_constant(const rs_syntax_declaration *declared);

/* Whether a variable is declared __shared__. */
bool rs_variable_is_shared(const rs_syntax_declaration *declared);

#endif
