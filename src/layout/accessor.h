/* How the files of accessors share their work; restride_layout_accessor() is the way in. */
#ifndef RS_LAYOUT_ACCESSOR_H
#define RS_LAYOUT_ACCESSOR_H

#include "layout/layout.h"

/* A class `name` whose ref(INDICES) refers to the members of a record, or to an element.
 * RESTRIDE_UNSUPPORTED: a member has no type in C++, or is not aligned. */
restride_status rs_layout_write_class(const restride_layout *layout, bool cuda, const char *name,
                                      rs_text *out);

#endif
