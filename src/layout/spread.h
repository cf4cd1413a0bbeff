/*
 * Layouts that spread an array over processes: terms behind "@".
 *
 *     @r/1000 r%1000 c       matrix by blocks of 1000 rows
 *     @c/500 c%500 r         by blocks of columns, each transposed
 *     @x/64 @y/64 x%64 y%64  a grid of processes
 *     r/64 @r/16%4 r%16 c    block-cyclic: blocks of 16 rows, dealt out to 4 processes in turn
 *     @f i                   the members of a record, one a process
 *
 * The values of the spread terms, the first one slowest, are the number of the process. What it
 * holds lies in its memory in the order of the other terms. In each dimension these are the indices
 * whose spread terms have its values: its `coordinate`, numbered in the order of those terms. An
 * index grows with the number of indices before it that the coordinate has, so a process holds an
 * array without gaps whose extents are these numbers: its part. Without any "@" process 0 holds
 * everything.
 */
#ifndef RS_LAYOUT_SPREAD_H
#define RS_LAYOUT_SPREAD_H

#include "layout/layout.h"

/* A dimension as one coordinate of it sees it. */
typedef struct {
    size_t extent; /* of the whole dimension */
    int count;
    struct {
        size_t divisor;
        size_t modulus; /* 0: none */
        size_t below;   /* indices of the part that agree in this term and those above */
        size_t digit;   /* of a spread term: the coordinate's */
        bool spread;
    } terms[64 + 1]; /* the highest first; each is at least twice as large as the next */
} rs_axis;

/* How many processes a layout needs; SIZE_MAX when more than fit in size_t. */
size_t rs_spread_processes(const restride_layout *layout);

/* How many coordinates a dimension has, that of a process, and what one contributes to the number
 * of the process: the sum over all dimensions is that number. */
size_t rs_spread_coordinates(const restride_layout *layout, int d);
size_t rs_spread_coordinate(const restride_layout *layout, int d, size_t process);
size_t rs_spread_share(const restride_layout *layout, int d, size_t coordinate);

/* The coordinate that holds an index, and the next index, or the extent, where another may. */
size_t rs_spread_owner(const restride_layout *layout, int d, size_t index);
size_t rs_spread_border(const restride_layout *layout, int d, size_t index);

rs_axis rs_spread_axis(const restride_layout *layout, int d, size_t coordinate);

/* How many indices below `index` a coordinate has; with the extent, all of them. */
size_t rs_axis_below(const rs_axis *axis, size_t index);

/* The index with so many before it. */
size_t rs_axis_index(const rs_axis *axis, size_t before);

/* The part of a process as a layout of its own, which is empty for a process that holds nothing.
 * With `order` (the dimensions, slowest first; NULL: none) it lies by that and no tiles. */
restride_status rs_spread_part(restride_layout **part, const restride_layout *layout,
                               size_t process, const int order[]);

#endif
