/* What cpp wrote, made into a flat text. */
#ifndef RS_SOURCE_OUTPUT_H
#define RS_SOURCE_OUTPUT_H

#include "base/text.h"
#include "source/flat.h"

/* Stands for "#pragma unroll" while cpp runs, because device compilers expand macros there and cpp
 * does not. */
#define RS_UNROLL_MARK "restride_pragma_unroll"

/* Stands for "#include" before a "<header>" that is left to the compiler. */
#define RS_INCLUDE_MARK "restride_include"

/* Stands before the source; what cpp wrote above it are the macros that are predefined. */
#define RS_SOURCE_MARK "restride_source"

/* Stands before the text that is read behind the source. */
#define RS_APPENDIX_MARK "restride_appendix"

/* Writes the name of a file with quotes around it, as #line and cpp's markers have it. */
void rs_quote_file(rs_text *text, const char *file);

/* The name of the file in a marker, where cpp has quotes, backslashes and some bytes escaped. */
void rs_unquote_file(rs_text *name, const char *quoted, size_t length);

/* Turns all comments into blanks; line ends stay. */
void rs_comments_blank(char *text);

/* Fills in the texts and places from cpp's output. `shown` is the same output with its comments. */
restride_status rs_flat_read_output(rs_flat *flat, const char *output, const char *shown);

/* Whether two texts are the same but for white space that means nothing. */
bool rs_flat_same_words(const char *a, const char *b);

#endif
