/*
 * What clang is told to read a source: from the options that the user gives to nvcc, to
 * clBuildProgram() or to cc, the CUDA toolkit of this machine and compile_commands.json, to the
 * arguments and in-memory files of one clang_parseTranslationUnit2() call.
 *
 * Nothing here calls libclang. All functions are reentrant and keep no state; of the environment
 * they read CUDA_PATH and PATH, and of the file system the toolkit, response files ("@FILE",
 * "-optf FILE") and compile_commands.json.
 */
#ifndef RS_SYNTAX_INVOCATION_H
#define RS_SYNTAX_INVOCATION_H

#include "base/status.h"
#include "syntax/language.h"

#include <stdbool.h>
#include <stddef.h>

/* Everything is the caller's and only read. A member that is zero is left to this function. */
typedef struct {
    const char *path; /* the source, absolute or relative to the current folder */
    const char *text; /* its bytes, if they are not those of the file; NULL: the file's */
    size_t size;
    rs_syntax_language language;
    const char *const *options; /* words of a command line, without program and source */
    size_t option_count;
    const char *commands;     /* path of a compile_commands.json whose entry's options come first */
    const char *toolkit;      /* CUDA's folder; NULL: looked for; "": none, own declarations */
    const char *architecture; /* "sm_90"; NULL: that of the options, or else sm_80 */
    unsigned clang;           /* libclang's major version, for what not every version knows */
    unsigned address_bits;    /* of an OpenCL device: 32, or else 64 */
} rs_invocation_request;

/* A file that exists in memory only, or takes the place of one on disk. */
typedef struct {
    char *path; /* absolute */
    char *text;
    size_t size;
} rs_virtual_file;

typedef struct {
    rs_syntax_language language;
    char *path;          /* absolute: the name to give to clang */
    char *toolkit;       /* CUDA's folder, or NULL */
    int toolkit_version; /* 1000 * major + 10 * minor, as CUDART_VERSION; 0: none or unknown */
    char **arguments;    /* clang's, without the source; all folders absolute */
    size_t argument_count;
    rs_virtual_file *files;
    size_t file_count;
    char **notes; /* one sentence each: options that were dropped, what was not found */
    size_t note_count;
} rs_invocation;

/*
 * Fills in `invocation`, which rs_invocation_free() frees. RESTRIDE_INVALID_ARGUMENT for options
 * that cannot be followed (an option without its value, a response file that includes itself),
 * RESTRIDE_IO for files that cannot be read (a toolkit that was named, compile_commands.json or its
 * entry), RESTRIDE_OUT_OF_MEMORY; then it is empty.
 */
restride_status rs_invocation_make(rs_invocation *invocation, const rs_invocation_request *request);
void rs_invocation_free(rs_invocation *invocation);

#endif
