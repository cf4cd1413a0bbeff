/*
 * The build options of an OpenCL program, sorted by who needs them: the preprocessor (-D, -U, -I),
 * the parser (-cl-std) and the device's compiler (everything but the preprocessor's).
 */
#ifndef RS_SOURCE_OPTIONS_H
#define RS_SOURCE_OPTIONS_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    char **preprocessor; /* "-DNAME=1", "-Ifolder", ... in their order */
    size_t preprocessor_count;
    char *rest;     /* the other options as they were written, separated by spaces */
    char *standard; /* the value of the last -cl-std, or "CL1.2" */
    char *refused;  /* the first option that changes how structures or files are read, or NULL */
} rs_options;

/* Splits at white space; "..." and '...' group, a backslash keeps the next character. */
restride_status rs_options_parse(rs_options *options, const char *text);
void rs_options_free(rs_options *options);

/* Whether they ask for an OpenCL C that has no word "static" for functions: 1.0 and 1.1. */
bool rs_options_are_before_static(const rs_options *options);

/* Writes `count` words of a command line as one text that rs_options_parse() splits into the same
 * words again, and behind them, as compilers do, the folder of `file` for what it includes. */
void rs_options_join(rs_text *text, char *const words[], int count, const char *file);

#endif
