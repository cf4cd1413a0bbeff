/* The parts of the reply that describe kernels, and how members are put into it. */
#ifndef RS_REWRITE_REPLY_H
#define RS_REWRITE_REPLY_H

#include "rewrite/model.h"

#include <jansson.h>

/* Puts a member into an object; the object takes the reference over. */
restride_status rs_reply_put(json_t *object, const char *key, json_t *value);

/* Adds an entry for each kernel of the source; `transformed`: some argument is. */
restride_status rs_reply_describe(const rs_model *model, bool transformed, json_t *kernels);

#endif
