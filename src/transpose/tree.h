/*
 * What two layouts have in common, and each of them as a tree over that.
 *
 * A dimension is cut into pieces: intervals in which all tiles of both layouts are whole. A region
 * is one piece of each dimension (and one run of equal members of a record); in either layout it is
 * an array without gaps, apart from what lies between its rows. In the tree of a layout a loop
 * repeats what is below it, a row has its children one after the other, and a leaf is what both
 * layouts have in common at their fast ends.
 */
#ifndef RS_TRANSPOSE_TREE_H
#define RS_TRANSPOSE_TREE_H

#include "layout/layout.h"
#include "transpose/arena.h"

#include <stdint.h>

/* A layout as the planner sees it: extents already padded, and terms. */
typedef struct {
    int rank;
    size_t extents[RS_LAYOUT_MAX_RANK];
    bool descending[RS_LAYOUT_MAX_RANK];
    int record; /* a dimension, or -1 */
    const rs_record *members;
    size_t unit; /* bytes of an element where there is no record */
    int term_count;
    const rs_term *terms;
} rs_planned_layout;

typedef enum { RS_TREE_LEAF, RS_TREE_LOOP, RS_TREE_ROW } rs_tree_kind;

typedef struct rs_loop_tree rs_loop_tree;
struct rs_loop_tree {
    rs_tree_kind kind;
    size_t bytes;
    uint64_t regions; /* a sum over the regions below that tells whether two trees have the same */
    size_t count;     /* of a loop, or the children of a row */
    size_t axis;      /* of a loop: its name */
    bool members;     /* of a loop: over members of a record */
    bool padding;     /* of a leaf: it holds nothing */
    const rs_loop_tree **children;
};

typedef enum {
    RS_TREES_MADE,
    RS_TREES_NOT_NESTED,  /* the tiles of dimension `fault` do not divide each other */
    RS_TREES_NOT_ORDERED, /* one layout pads dimension `fault`, and its terms do not descend */
    RS_TREES_TOO_MANY,
    RS_TREES_NO_MEMORY
} rs_trees_result;

rs_trees_result rs_trees_make(rs_arena *arena, const rs_planned_layout *a,
                              const rs_planned_layout *b, const rs_loop_tree *trees[2], int *fault);

const rs_loop_tree *rs_tree_loop(rs_arena *arena, const rs_loop_tree *like, size_t count,
                                 const rs_loop_tree *child);
const rs_loop_tree *rs_tree_row(rs_arena *arena, const rs_loop_tree **children, size_t count);

#endif
