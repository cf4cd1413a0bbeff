/* Names that a C program may have and its kernels may not. */
#ifndef RS_APPLY_NAMES_H
#define RS_APPLY_NAMES_H

#include <stdbool.h>

/* Of a variable: a word of OpenCL C, or what the kernels that are written call something of theirs.
 */
bool rs_name_is_taken(const char *name);

/* Of a function: one that OpenCL C has, which a source cannot define again. */
bool rs_name_is_built_in(const char *name);

#endif
