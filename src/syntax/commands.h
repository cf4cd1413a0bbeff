/* compile_commands.json, as CMake and others write it (clang's "JSON Compilation Database"). */
#ifndef RS_SYNTAX_COMMANDS_H
#define RS_SYNTAX_COMMANDS_H

#include "syntax/arguments.h"

#include <stdbool.h>

/* The first entry for one source. */
typedef struct {
    char *directory;    /* absolute: what relative paths begin at */
    rs_arguments words; /* the compiler's options, without compiler and sources */
    bool nvcc;          /* the compiler is called so */
} rs_commands;

/* RESTRIDE_IO if the file cannot be read, is no such file or has no entry for `source`, an absolute
 * path. The caller frees. */
restride_status rs_commands_read(rs_commands *commands, const char *file, const char *source);
/* The same of a text that is the content of `file`. */
restride_status rs_commands_parse(rs_commands *commands, const char *text, size_t size,
                                  const char *file, const char *source);
void rs_commands_free(rs_commands *commands);

#endif
