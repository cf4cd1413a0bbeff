/*
 * Source-to-source change of the layouts of grids (Sung 2013, section 6.3): a C, OpenCL C or CUDA C
 * source whose grids are declared as variable-length arrays in, the same source with flat pointers
 * and inline flattening functions out.
 *
 * Request: as for rs_analyze(), and
 *   layouts   object   grid's name: a layout over i, j, k, ... (its dimensions, slowest first), in
 *                      place of the one that would be found
 * Reply
 *   source    string   preprocessed, with comments; system headers are included as before
 *   grids     array, one for each declaration: {name, line, extents, class (the name of one grid of
 *             those that have one layout), state: "transformed" | "row-major" | "kept", layout,
 *             dims, handed_over (a parameter whose callers are not in this source), reason: why it
 *             is kept or not transformed, with file and at (line) when it is kept}
 *   accesses  array of {text, line, grid}: each subscript that was changed
 *   notes     as of rs_analyze()
 *
 * All grids lie as many bytes as before: tiles that do not divide an extent are shorter at its end.
 */
#ifndef RS_ANALYZE_APPLY_LAYOUT_H
#define RS_ANALYZE_APPLY_LAYOUT_H

#include "base/status.h"

#include <jansson.h>

/* On success *reply is the caller's. */
restride_status rs_apply_layout(const json_t *request, json_t **reply);

#endif
