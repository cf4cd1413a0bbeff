/* A source file as the analysis has it (program.h reads it): flat text, grids and tree. */
#ifndef RS_ANALYZE_TRANSLATION_UNIT_H
#define RS_ANALYZE_TRANSLATION_UNIT_H

#include "analyze/grids.h"
#include "analyze/model.h"
#include "source/flatten.h"
#include "source/tree.h"

typedef enum { RS_LANGUAGE_C, RS_LANGUAGE_OPENCL, RS_LANGUAGE_CUDA } rs_language;

typedef struct {
    const char *source, *file, *options; /* options: the compiler's, as one line */
    rs_language language;
    bool output; /* flat.shown will be written out: it keeps comments and system headers */
} rs_program_request;

typedef struct {
    rs_language language;
    rs_flat flat;
    rs_grids grids;
    rs_tree tree;
    char *missing;  /* the first header of the user's that was not found, with its line, or NULL */
    char *declared; /* what headers that stay have for the compiler of this machine, or NULL */
    char *differs; /* why the flat text is not the source for that compiler, with a line, or NULL */
    bool readable; /* false: nothing could be parsed, and a note says why */
    char *supplied; /* declarations of names that nobody declares: sizes are perhaps others */
    size_t *errors; /* where the compiler found one: what depends on that is not in the tree */
    size_t error_count;
} rs_translation_unit;

#endif
