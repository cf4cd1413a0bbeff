/* The table of the methods of in-place transposition (method.h). */
#ifndef RS_TRANSPOSE_METHODS_H
#define RS_TRANSPOSE_METHODS_H

#include "transpose/method.h"

size_t rs_methods_count(void);
const rs_method *rs_methods_at(size_t index);

/* NULL when there is none of that name. */
const rs_method *rs_methods_find(const char *name);

#endif
