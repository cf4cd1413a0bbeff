/*
 * What cpp, which reads the source for the rewriter, and the device's own compiler could read
 * differently. Such a source is kept as it is.
 */
#ifndef RS_REWRITE_CPP_DIFFERENCES_H
#define RS_REWRITE_CPP_DIFFERENCES_H

#include <stdbool.h>
#include <stddef.h>

/* Why cpp may read a text differently, with the line: it asks a question that cpp would answer in
 * place of the device's compiler. NULL when it does not. */
const char *rs_cpp_differs_question(const char *text, size_t *line);

/* The line where brackets are nested so deeply that cpp would be busy for minutes, if they are
 * those of macros, and libclang refuses all others. 0: nowhere. */
size_t rs_cpp_differs_nesting(const char *text);

/* Whether a "#pragma pack" or "align" of a flat text has a word that the device's compiler would
 * expand, and cpp did not. */
bool rs_cpp_differs_packing(const char *text, size_t *where);

/*
 * The line of the first macro of this text that may make strings or words of its arguments (# and
 * ##); 0: none does. With such a macro a name that only the device's compiler knows would be taken
 * as it is written, where that compiler takes its value.
 */
size_t rs_cpp_differs_operators(const char *text);

/* The value that OpenCL C fixes for the macro of that name, one of the limits of integers; NULL
 * when it is none. */
const char *rs_fixed_value(const char *name);

/* Whether this is the name of a macro that OpenCL defines as a constant for which libclang can take
 * its own: such a limit, a floating constant or NULL. */
bool rs_names_constant(const char *name);

/* The line of the first place where a text names what compilers of OpenCL C predefine
 * and a macro could take it: not in pragmas and in questions whether a name is defined. 0: none. */
size_t rs_cpp_differs_device_names(const char *text);

#endif
