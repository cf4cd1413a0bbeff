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

#include "analyze/program.h"

/* A subscript of a grid with an index for each dimension. */
typedef struct {
    int node;  /* the outermost subscript */
    int grid;  /* the declaration whose extents hold here */
    int class; /* the grid that it may touch; see rs_grid_class() */
} rs_grid_access;

/* sizeof of a grid's name behind a number of subscripts or stars. */
typedef struct {
    int node, grid, depth;
} rs_grid_measure;

/* So many bytes of a grid, from its first on, are copied, filled or allocated. */
typedef struct {
    int size; /* the node of the number; of an allocation: the call, -1: it is not known */
    int grid, class;
    bool allocation;
    int via; /* of an allocation: the call of the function in which it is, or 0 */
} rs_grid_copy;

/* A declared pointer may point to a grid of a class. */
typedef struct {
    int grid, class;
} rs_grid_link;

typedef struct {
    int grid_count;
    int *parents;     /* of the classes' trees, by grid */
    rs_note *kept;    /* by class: why it stays as it is; no sentence: it does not */
    bool *outside;    /* by grid: a parameter of a function that nobody here calls */
    char **outer;     /* by grid: what its first extent is, learned from a call; NULL: not told */
    long long *sizes; /* by grid: bytes of an element */
    rs_grid_access *accesses;
    int access_count;
    rs_grid_measure *measures;
    int measure_count;
    rs_grid_copy *copies;
    int copy_count;
    rs_grid_link *links;
    int link_count;
} rs_propagation;

restride_status rs_propagate(rs_propagation *found, const rs_translation_unit *program);
/* What a pointer with one declaration may point to is kept together; called again when more is. */
restride_status rs_propagation_close(rs_propagation *found);

/* A class stays as it is, for a reason that the first call gives; false when memory is short. */
bool rs_propagation_keep(rs_propagation *found, const rs_translation_unit *program, int class,
                         size_t offset, const char *sentence);

void rs_propagation_free(rs_propagation *found);

/* The class of a grid: the number of one of its grids. */
int rs_grid_class(const rs_propagation *found, int grid);

#endif
