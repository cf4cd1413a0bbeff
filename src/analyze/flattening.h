/* Flattening functions of grids as source text (Sung 2013, section 6.2.1). */
#ifndef RS_ANALYZE_FLATTENING_H
#define RS_ANALYZE_FLATTENING_H

#include "base/text.h"
#include "restride/layout.h"

/*
 * Adds PREFIX_offset(extents..., indices...) for a grid of `rank` dimensions, i, j, k, ... from the
 * slowest; `expression` NULL: rows. `narrow`: all arguments are of type int, or of one that it
 * holds. A layout that cannot be parsed gives its status.
 */
restride_status rs_flattening_write(rs_text *out, restride_dialect dialect, int rank,
                                    const char *expression, const char *prefix, bool narrow);

/* Adds PREFIX_rows(extents..., offset): from an offset in rows to the one that PREFIX_offset gives.
 */
void rs_flattening_write_rows(rs_text *out, restride_dialect dialect, int rank, const char *prefix);

/* "i j k" */
void rs_flattening_add_rows(rs_text *text, int rank);

#endif
