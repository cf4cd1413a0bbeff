/* A source as one flat text, with headers that are missing supplied or left to the compiler. */
#ifndef RS_ANALYZE_PREPROCESS_H
#define RS_ANALYZE_PREPROCESS_H

#include "analyze/headers.h"
#include "analyze/translation_unit.h"

/* Fills in the program's flat text, and what it says of headers and macros. `options` gets a folder
 * of headers that are supplied. */
restride_status rs_preprocess(rs_translation_unit *program, const rs_program_request *request,
                              rs_options *options, rs_headers *headers, rs_model_set *notes);

#endif
