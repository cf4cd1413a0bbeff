/* The header that a host program uses beside rewritten kernels: where members lie, and the calls
 * that convert buffers. */
#ifndef RS_REWRITE_HEADER_H
#define RS_REWRITE_HEADER_H

#include "base/text.h"
#include "rewrite/model.h"

/* Refuses the second of two arguments whose functions would have one name. */
restride_status rs_header_refuse_twins(const rs_model *model);

/* Writes C for all transformed arguments of kernels; `file` is named in its first line. */
restride_status rs_header_write(const rs_model *model, const char *file, rs_text *out);

#endif
