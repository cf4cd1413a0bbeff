/* What conversions in place and from one buffer to another have in common. */
#ifndef RS_TRANSPOSE_CONVERT_H
#define RS_TRANSPOSE_CONVERT_H

#include "layout/layout.h"

/* Whether two layouts are of the same array, and the size of its elements is known; *bytes is that
 * of the larger one. */
restride_status rs_convert_check(const restride_layout *from, const restride_layout *to,
                                 size_t *elem_size, size_t *bytes);

#endif
