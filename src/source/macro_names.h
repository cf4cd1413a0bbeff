/*
 * Which of the macros that a source defines or undefines are still mentioned as plain identifiers
 * in its preprocessed text. For those the device's compiler has to be told that they are no macros,
 * in case it predefines one.
 */
#ifndef RS_SOURCE_MACRO_NAMES_H
#define RS_SOURCE_MACRO_NAMES_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    const char *text; /* in the output of cpp */
    size_t length;
    bool mentioned;
} rs_macro_name;

typedef struct {
    rs_macro_name *names; /* sorted */
    size_t count;
} rs_macro_names;

/* The name in a "#define" or "#undef" line of cpp's output; NULL for other lines. */
const char *rs_macro_name_in(const char *line);

/* Reads the output of `cpp -dD`, which must outlive the names. */
restride_status rs_macro_names_read(rs_macro_names *names, const char *output);
bool rs_macro_names_have(const rs_macro_names *names, const char *name, size_t length);
bool rs_macro_names_mentioned(const rs_macro_names *names, const char *name, size_t length);
void rs_macro_names_free(rs_macro_names *names);

#endif
