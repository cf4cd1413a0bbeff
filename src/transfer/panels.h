/*
 * How a matrix of rows x cols is cut into panels of columns: panel k has the columns from `width` k
 * on. Transposed, it is a contiguous part of the result. Arithmetic only.
 */
#ifndef RS_TRANSFER_PANELS_H
#define RS_TRANSFER_PANELS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct {
    size_t rows;
    size_t cols;
    size_t unit; /* bytes of an element */
    size_t width;
    size_t count;
} rs_panels;

/* About as many panels as `wanted`, 0: what a model of the bus finds best. Rows of a panel are
 * whole lines where the matrix is wide enough. */
rs_panels rs_panels_cut(size_t rows, size_t cols, size_t unit, size_t wanted);

/*
 * Panels of the same width that begin at multiples of `alignment` bytes of the result; as near as
 * there is to the number wanted, more than one. False when there are none.
 */
bool rs_panels_cut_evenly(rs_panels *panels, size_t rows, size_t cols, size_t unit, size_t wanted,
                          size_t alignment);

/* The columns of panel k. */
size_t rs_panels_begin(const rs_panels *panels, size_t k);
size_t rs_panels_end(const rs_panels *panels, size_t k);

/* How many rows of the matrix lie, whole or in part, where the results of panels 0 to k go. */
size_t rs_panels_rows_below(const rs_panels *panels, size_t k);

#endif
