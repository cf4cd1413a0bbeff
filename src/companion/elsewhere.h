/* A companion that is compiled in another folder than its source. */
#ifndef RS_COMPANION_ELSEWHERE_H
#define RS_COMPANION_ELSEWHERE_H

#include "base/text.h"

/*
 * Inserts `folder`, which ends with a slash, before the names of headers in quotes that are there:
 * the compiler looks for these in the source's folder first, and no option does the same for the
 * text of one file alone. Where the text cannot be moved *why is a sentence part, and the text as
 * it was.
 */
restride_status rs_companion_move(rs_text *text, const char *folder, const char **why);

#endif
