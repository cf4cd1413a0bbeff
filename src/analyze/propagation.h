/* What the propagation of layouts (propagate.h) finds: classes of grids, and where they are used.
 */
#ifndef RS_ANALYZE_PROPAGATION_H
#define RS_ANALYZE_PROPAGATION_H

#include "analyze/translation_unit.h"

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

/* What a pointer with one declaration may point to is kept together; called again when more is. */
restride_status rs_propagation_close(rs_propagation *found);

/* A class stays as it is, for a reason that the first call gives; false when memory is short. */
bool rs_propagation_keep(rs_propagation *found, const rs_translation_unit *program, int class,
                         size_t offset, const char *sentence);

void rs_propagation_free(rs_propagation *found);

/* The class of a grid: the number of one of its grids. */
int rs_grid_class(const rs_propagation *found, int grid);

#endif
