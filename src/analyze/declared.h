/* What a declaration tells of the variable or constructor that it declares. */
#ifndef RS_ANALYZE_DECLARED_H
#define RS_ANALYZE_DECLARED_H

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stdint.h>

enum { RS_CURSOR_NAME_ROOM = 128 };

/* The name of what a cursor declares or mentions, cut to the room; false: it has none. */
bool rs_cursor_copy_name(char name[RS_CURSOR_NAME_ROOM], CXCursor cursor);

/* The key of a name that is declared outside the user's file. */
uint64_t rs_name_key(const char *name);

/* The same for all mentions of one declaration, and for no other one. */
uint64_t rs_cursor_key(CXCursor cursor);

/* Whether it is a variable outside all functions. */
bool rs_cursor_is_global(CXCursor declared);

/* Whether a variable outlives its function. */
bool rs_variable_lasts(CXCursor declared);

/* The same, and functions that are not there may have it: all but a __shared__ one of a function.
 */
bool rs_variable_is_open(CXCursor declared);

/* Whether no code of a kernel can write it: it is const, or lies in constant memory. */
bool rs_variable_is_constant(CXCursor declared);

/* Whether a variable is declared __shared__. */
bool rs_variable_is_shared(CXCursor declared);

/* Whether the source has the constructor: the compiler makes the others. */
bool rs_constructor_is_written(CXCursor constructor);

#endif
