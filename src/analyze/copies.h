/*
 * Copies and fills of grids: in a layout other than rows the first bytes of a grid are other
 * elements, so only those of whole grids are right.
 */
#ifndef RS_ANALYZE_COPIES_H
#define RS_ANALYZE_COPIES_H

#include "analyze/propagate.h"

/* Keeps the grids that have a layout (by class; NULL: rows) and of which a part is copied. What a
 * variable without an initializer says of a size is taken for the whole. */
restride_status rs_copies_check(rs_propagation *found, const rs_translation_unit *program,
                                char *const *layouts);

#endif
