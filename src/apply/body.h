/* The body of a loop for several of its iterations at once, in OpenCL C's vector types. */
#ifndef RS_APPLY_BODY_H
#define RS_APPLY_BODY_H

#include "apply/kernels.h"

/*
 * Adds the body of the vectors' loop to `text`: the loop's variable stands for the first of the
 * vector's iterations there. Sums that the loop gathers come into accumulators: `before` gets their
 * declarations, `after` the statements that add them up. RESTRIDE_OK with a refusal in the nest for
 * what has no vector form.
 */
restride_status rs_body_write(const rs_kernels *kernels, rs_text *text, rs_text *before,
                              rs_text *after);

#endif
