/* The parts of the reply that describe kernels. */
#ifndef RS_REWRITE_REPLY_H
#define RS_REWRITE_REPLY_H

#include "rewrite/model.h"

#include <jansson.h>

/* Says why something stays as it is, with its place. */
restride_status rs_reply_explain_at(json_t *object, const char *reason, const rs_flat *flat,
                                    size_t offset);

/* Adds an entry for each kernel of the source. */
restride_status rs_reply_describe(const rs_model *model, json_t *kernels);

#endif
