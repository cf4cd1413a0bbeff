/* The JSON of one nest (apply.h). */
#ifndef RS_APPLY_DESCRIBE_H
#define RS_APPLY_DESCRIBE_H

#include "apply/spaces.h"

#include <jansson.h>

/* `spaces`: the arrays that were placed, or NULL. Returns NULL when memory is short. */
json_t *rs_describe_nest(const rs_kernels *kernels, const rs_spaces *spaces);

#endif
