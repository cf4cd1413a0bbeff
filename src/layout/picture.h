/*
 * What a drawing of a layout shows, worked out once for text and SVG: the logical array as a table,
 * and the beginning of memory as rows of cells, broken where the layout's slower terms change.
 */
#ifndef RS_LAYOUT_PICTURE_H
#define RS_LAYOUT_PICTURE_H

#include "base/text.h"
#include "layout/layout.h"

enum { RS_PICTURE_COLOURS = 8 };

typedef struct {
    size_t offset;
    size_t size; /* bytes with a record, else 1 */
    size_t index[RS_LAYOUT_MAX_RANK];
    bool outside; /* padding of a tile: no element of the array */
    bool padding; /* padding inside a record */
    int colour;   /* by field; -1 for both kinds of padding */
} rs_cell;

/* One row of cells in memory. */
typedef struct {
    size_t first; /* cell */
    size_t count;
    char *group; /* what begins here, "i/32=3 (ragged: 4 of 32)"; NULL: the group goes on */
} rs_memory_row;

typedef struct {
    const restride_layout *layout;
    int column_dimension; /* -1: the table has one column */
    size_t rows;          /* of the whole table */
    size_t columns;
    size_t shown_rows;
    size_t shown_columns;
    size_t cell_count;
    rs_cell *cells; /* in the order of memory */
    size_t memory_row_count;
    rs_memory_row *memory_rows;
    bool whole_memory; /* the cells are all of it */
} rs_picture;

restride_status rs_picture_create(rs_picture *picture, const restride_layout *layout);
void rs_picture_free(rs_picture *picture);

/* The cell of the table: index, offset, size and colour. */
rs_cell rs_picture_table_cell(const rs_picture *picture, size_t row, size_t column);

/* Short words for a cell ("3.x", "3,1"), a row ("i=3"), a column ("x", "c=1"), and what all of them
 * mean. */
void rs_picture_add_label(const rs_picture *picture, const rs_cell *cell, rs_text *text);
void rs_picture_add_row_name(const rs_picture *picture, size_t row, rs_text *text);
void rs_picture_add_column_name(const rs_picture *picture, size_t column, rs_text *text);
void rs_picture_add_explanation(const rs_picture *picture, rs_text *text);

/* Says which parts of a large array are drawn; nothing when all of it is. */
void rs_picture_add_clipping(const rs_picture *picture, rs_text *text);

/* The drawings. The caller frees *drawing. */
restride_status rs_draw_text(const restride_layout *layout, bool coloured, char **drawing);
restride_status rs_draw_svg(const restride_layout *layout, char **drawing);

#endif
