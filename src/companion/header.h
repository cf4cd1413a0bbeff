/* The header beside a companion, for host programs in C++: calls that convert the buffers of each
 * kernel's arguments, and macros that choose a second form for a launch. */
#ifndef RS_COMPANION_HEADER_H
#define RS_COMPANION_HEADER_H

#include "companion/companion.h"

restride_status rs_companion_header_write(rs_text *out, const rs_syntax *tree,
                                          const rs_companion *companion, const char *file,
                                          const rs_companion_layout *layout);

#endif
