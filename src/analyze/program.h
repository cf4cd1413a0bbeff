/*
 * A source file ready for the analysis: preprocessed and parsed, as far as that goes. What is
 * missing is supplied and noted: headers that are not there are taken for empty ones, names that
 * nobody declares get a declaration, and what follows an error is still read.
 */
#ifndef RS_ANALYZE_PROGRAM_H
#define RS_ANALYZE_PROGRAM_H

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

/* By the name's ending: .cl, .cu and .cuh; everything else is C. */
rs_language rs_language_of(const char *file);

restride_status rs_program_read(rs_translation_unit *program, const rs_program_request *request,
                                rs_model_set *notes);
void rs_program_free(rs_translation_unit *program);

/* Whether the tree lacks something of a part of the text. */
bool rs_program_is_misread(const rs_translation_unit *program, size_t begin, size_t end);

#endif
