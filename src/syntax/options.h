/* The options of nvcc, clBuildProgram() and C compilers, as clang knows them: one table. */
#ifndef RS_SYNTAX_OPTIONS_H
#define RS_SYNTAX_OPTIONS_H

#include "syntax/arguments.h"
#include "syntax/language.h"

/* What the options of a command line come to. */
typedef struct {
    rs_syntax_language language; /* by "-x"; RS_SYNTAX_BY_NAME: it does not say */
    rs_arguments arguments;      /* clang's, in their order */
    rs_arguments notes;
    char *standard;   /* the value of -std or -cl-std, or NULL */
    char *toolkit;    /* the value of --cuda-path, or NULL; "": none is to be used */
    int architecture; /* 90 for sm_90: the newest that is named; 0: none */
    char feature;     /* the "a" of sm_90a, or zero */
} rs_syntax_options;

/* Whose options they are: those of nvcc and of its host compiler, of a C or C++ compiler (clang
 * reads CUDA too), of clBuildProgram(). */
typedef enum { RS_SYNTAX_NVCC = 1, RS_SYNTAX_CC = 2, RS_SYNTAX_CL = 4 } rs_syntax_dialect;

/* Adds what `words` say; paths in them are relative to `directory`. Later options win. */
restride_status rs_syntax_options_add(rs_syntax_options *options, rs_syntax_dialect dialect,
                                      const char *const words[], size_t count,
                                      const char *directory);

/* Reads "sm_90a" or "compute_90" into the options. False: it names none. */
bool rs_syntax_options_target(rs_syntax_options *options, const char *name);

void rs_syntax_options_free(rs_syntax_options *options);

/* `path` in `directory`, which may be NULL, without "." and ".."; the caller frees. */
char *rs_syntax_absolute(const char *directory, const char *path);

#endif
