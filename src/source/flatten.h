/*
 * Preprocesses a program's source into one flat text without macros, includes, conditionals and
 * comments, so that what is parsed is what is written out again. The GNU preprocessor `cpp` does
 * it, as a child process.
 *
 * Macros that only the device's compiler defines (CLK_LOCAL_MEM_FENCE, M_PI_F) stay as identifiers
 * where they are merely expanded. Where they are tested (#ifdef, #if) their value is needed before
 * anything can be said: such names are listed in `unknown`. A macro that is known to be defined,
 * but not as what, is defined as its own name: it stays in the text, and is listed when an #if
 * reads it.
 */
#ifndef RS_SOURCE_FLATTEN_H
#define RS_SOURCE_FLATTEN_H

#include "base/text.h"
#include "source/flat.h"

/* A source that cpp refuses gives RESTRIDE_OK with `failure` set; other statuses mean that nothing
 * could be run. */
restride_status rs_flatten(rs_flat *flat, const rs_flat_request *request);

/* Writes the source for cpp: without a byte order mark, and with paths for headers in quotes. */
restride_status rs_flat_write_source(rs_text *text, const rs_flat_request *request);

/* Writes the line of a header that is left to the compiler, as cpp is to read it. */
void rs_flat_add_include(rs_text *input, const char *name);

#endif
