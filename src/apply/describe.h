/* The JSON of one nest (apply.h). */
#ifndef RS_APPLY_DESCRIBE_H
#define RS_APPLY_DESCRIBE_H

#include "apply/kernels.h"

#include <jansson.h>

/* NULL when memory is short. */
json_t *rs_describe_nest(const rs_kernels *kernels);

#endif
