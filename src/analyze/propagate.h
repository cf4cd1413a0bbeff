/*
 * Which grid each subscript of a program touches, and which grids must have one layout: Sung 2013,
 * section 6.3.4, layouts as extended types of pointers, propagated by a monotone dataflow analysis
 * over host and device code.
 *
 * A pointer's extended type is one of
 *
 *     untransformed     memory that lies in rows, or is not known to be a grid
 *     a grid            declared with its dimension vector (grids.h); it may be laid out anew
 *     incompatible      now the one, now the other
 *
 * and changes as tables 6.1 and 6.2 say: `p = q` hands it over, pointer arithmetic on a grid and
 * the meet of a grid with untransformed memory make it incompatible. There is one difference. The
 * thesis knows each grid's layout before; here it is chosen afterwards, so the meet of two grids of
 * equal dimension vectors does not compare their layouts but makes them equal: the two are one
 * class from then on. Grids that are swapped in a time loop become one class in that way.
 *
 * What makes a grid incompatible, or cannot be expressed by a flattening function (the address of a
 * row, a cast to a flat pointer), keeps its whole class as it is, with the line that is the reason.
 *
 * Functions are walked where they are called, each call with its own arguments; those that nobody
 * calls are where the walk begins, and whoever calls them must hand over grids in their layout.
 */
#ifndef RS_ANALYZE_PROPAGATE_H
#define RS_ANALYZE_PROPAGATE_H

#include "analyze/propagation.h"

restride_status rs_propagate(rs_propagation *found, const rs_translation_unit *program);
#endif
