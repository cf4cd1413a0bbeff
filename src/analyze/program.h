/*
 * A source file ready for the analysis: preprocessed and parsed, as far as that goes. What is
 * missing is supplied and noted: headers that are not there are taken for empty ones, names that
 * nobody declares get a declaration, and what follows an error is still read.
 */
#ifndef RS_ANALYZE_PROGRAM_H
#define RS_ANALYZE_PROGRAM_H

#include "analyze/translation_unit.h"

/* By the name's ending: .cl, .cu and .cuh; everything else is C. */
rs_language rs_language_of(const char *file);

restride_status rs_program_read(rs_translation_unit *program, const rs_program_request *request,
                                rs_model_set *notes);
void rs_program_free(rs_translation_unit *program);

/* Whether the tree lacks something of a part of the text. */
bool rs_program_is_misread(const rs_translation_unit *program, size_t begin, size_t end);

#endif
