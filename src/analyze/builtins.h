/* See builtins.c. */
#ifndef RS_ANALYZE_BUILTINS_H
#define RS_ANALYZE_BUILTINS_H

#include "analyze/walk.h"

/* The value of a call by its meaning, with the references that it makes; false for all others. */
bool rs_walk_builtin(rs_walk *walk, const char *name, int node, const rs_value *values, int count,
                     rs_value *result);

/* Functions of the host that touch nothing that a loop's pattern is made of. */
bool rs_function_is_housekeeping(const char *name);

/* Functions of the host that read what they are handed. */
bool rs_function_only_reads(const char *name);
bool rs_function_fills(const char *name, int which);

/* Whether a function computes something from its arguments alone. Every other one may ask which
 * work-item it runs in. */
bool rs_function_is_arithmetic(const char *name);

bool rs_name_starts_with(const char *text, const char *prefix);

/*
 * Whether a function that nobody in the source wrote does nothing but with its own arguments: it
 * waits for no other work-item, and what others did does not come to light by it.
 */
bool rs_function_is_apart(const char *name);
bool rs_function_is_of_opencl(const char *name);

#endif
