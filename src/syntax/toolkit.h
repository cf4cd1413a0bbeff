/* Where this machine has the CUDA toolkit, and which one it is. */
#ifndef RS_SYNTAX_TOOLKIT_H
#define RS_SYNTAX_TOOLKIT_H

#include "base/status.h"
#include "syntax/arguments.h"

typedef struct {
    char *folder;  /* NULL: there is none */
    char *include; /* the folder of the headers of its runtime */
    int version;   /* CUDART_VERSION; 0: its headers do not say */
} rs_toolkit;

/*
 * Looks in `named`, and without one in CUDA_PATH, in the folder of PATH's nvcc before and behind
 * its symbolic links, and in /usr/local/cuda. A named one without headers is RESTRIDE_IO. The
 * caller frees.
 */
restride_status rs_toolkit_find(rs_toolkit *toolkit, const char *named);
void rs_toolkit_free(rs_toolkit *toolkit);

/* Adds the folder of the newest gcc's own headers: OpenMP's, and the language's where clang's are
 * missing. */
void rs_toolkit_add_gcc(rs_arguments *arguments, const char *root);

#endif
