/*
 * What a source was read from besides itself, so that whoever keeps the rewriter's answer can tell
 * whether it would be the same today: the included files, and the places where another file of the
 * same name would have been found before them.
 */
#ifndef RS_REWRITE_INCLUDES_H
#define RS_REWRITE_INCLUDES_H

#include "source/flatten.h"

#include <jansson.h>

/*
 * {"files": {PATH: signature (rs_file_signature())}, "absent": [PATH]}; paths are as cpp writes
 * them, relative to the working directory. *includes is NULL when that cannot be told.
 */
restride_status rs_includes_describe(const rs_flat *flat, const rs_options *options,
                                     json_t **includes);

#endif
