/* What a drawing of a layout shows. */
#include "layout/picture.h"
#include "base/arithmetic.h"

#include <stdlib.h>
#include <string.h>

/* Of a large array only this much is drawn. A row in memory that is shorter than SHORT_ROW takes in
 * slower terms. */
enum { MAX_TABLE_ROWS = 24, MAX_COLUMNS = 16, MAX_MEMORY_ROWS = 36, MAX_ROW = 16, SHORT_ROW = 4 };

static const rs_dimension *record_dimension(const restride_layout *layout)
{
    return layout->record >= 0 ? &layout->dimensions[layout->record] : NULL;
}

static const rs_leaf *leaf_of(const restride_layout *layout, const size_t index[])
{
    const rs_dimension *dimension = record_dimension(layout);
    return dimension == NULL ? NULL : &dimension->record.leaves[index[layout->record]];
}

/* Completes a cell whose index and offset are known. */
static void describe_cell(const rs_picture *picture, rs_cell *cell)
{
    const restride_layout *layout = picture->layout;
    const rs_leaf *leaf = leaf_of(layout, cell->index);
    cell->size = leaf == NULL ? 1 : leaf->size;
    cell->padding = leaf != NULL && leaf->padding;
    cell->outside = false;
    for (int d = 0; d < layout->rank; d++)
        if (cell->index[d] >= layout->dimensions[d].extent)
            cell->outside = true;
    size_t field = picture->column_dimension < 0 ? 0 : cell->index[picture->column_dimension];
    if (leaf != NULL) /* padding takes no colour away from the fields behind it */
        for (size_t l = field; l-- > 0;)
            field -= record_dimension(layout)->record.leaves[l].padding ? 1 : 0;
    cell->colour = cell->padding || cell->outside ? -1 : (int)(field % RS_PICTURE_COLOURS);
}

/* The index vector of a cell of the table. */
static void table_index(const rs_picture *picture, size_t row, size_t column, size_t index[])
{
    const restride_layout *layout = picture->layout;
    for (int d = layout->rank - 1; d >= 0; d--) {
        if (d == picture->column_dimension) {
            index[d] = column;
        } else {
            index[d] = row % layout->dimensions[d].extent;
            row /= layout->dimensions[d].extent;
        }
    }
}

rs_cell rs_picture_table_cell(const rs_picture *picture, size_t row, size_t column)
{
    rs_cell cell = {.offset = 0};
    table_index(picture, row, column, cell.index);
    cell.offset = restride_layout_offset(picture->layout, cell.index);
    describe_cell(picture, &cell);
    return cell;
}

/* The number of values of a term, at most. */
static size_t value_count(const restride_layout *layout, const rs_term *term)
{
    const rs_dimension *dimension = &layout->dimensions[term->dimension];
    size_t above = rs_size_divide_up(dimension->padded_extent, term->divisor);
    return term->modulus != 0 && term->modulus < above ? term->modulus : above;
}

/* The first term whose values run along a row of memory. */
static int first_row_term(const restride_layout *layout)
{
    int first = layout->term_count - 1;
    size_t length = value_count(layout, &layout->terms[first]);
    while (first > 0 && length < SHORT_ROW) {
        size_t values = value_count(layout, &layout->terms[first - 1]);
        if (values > MAX_ROW / length)
            break;
        length *= values;
        first--;
    }
    return first;
}

/* Whether two elements differ in one of the terms before `end`. */
static bool differ(const restride_layout *layout, int end, const rs_cell *a, const rs_cell *b)
{
    for (int t = 0; t < end; t++) {
        const rs_term *term = &layout->terms[t];
        size_t x = a->index[term->dimension] / term->divisor;
        size_t y = b->index[term->dimension] / term->divisor;
        if (term->modulus != 0) {
            x %= term->modulus;
            y %= term->modulus;
        }
        if (x != y)
            return true;
    }
    return false;
}

/* Names the group that begins with `cell`: the values of its first terms, and which tiles are
 * ragged. */
static char *name_group(const restride_layout *layout, int end, const rs_cell *cell)
{
    rs_text name = RS_TEXT_EMPTY;
    for (int t = 0; t < end; t++) {
        const rs_term *term = &layout->terms[t];
        const rs_dimension *dimension = &layout->dimensions[term->dimension];
        size_t index = cell->index[term->dimension], value = index / term->divisor;
        rs_text_format(&name, "%s%s", t > 0 ? "  " : "", dimension->name);
        if (dimension->is_record) {
            const rs_leaf *leaf = &dimension->record.leaves[value];
            rs_text_format(&name, ".%s", leaf->padding ? "(padding)" : leaf->name);
            continue;
        }
        if (term->divisor > 1)
            rs_text_format(&name, "/%zu", term->divisor);
        if (term->modulus != 0)
            rs_text_format(&name, "%%%zu", term->modulus);
        rs_text_format(&name, "=%zu", term->modulus != 0 ? value % term->modulus : value);
        size_t left = dimension->padded_extent - (index - index % term->divisor);
        if (left < term->divisor)
            rs_text_format(&name, " (ragged: %zu of %zu)", left, term->divisor);
    }
    return rs_text_take(&name);
}

/* Fills the cells and rows of memory from its beginning. */
static restride_status fill_memory(rs_picture *picture)
{
    const restride_layout *layout = picture->layout;
    picture->whole_memory = true;
    if (layout->size == 0)
        return RESTRIDE_OK;
    int row_term = first_row_term(layout);
    int group_end = row_term > 1 ? row_term - 1 : 0;
    const rs_cell *previous = NULL;
    size_t offset = 0;
    while (offset < layout->size) {
        rs_cell cell = {.offset = offset};
        rs_layout_index(layout, offset, cell.index);
        describe_cell(picture, &cell);
        rs_memory_row *row = picture->memory_row_count == 0
                                 ? NULL
                                 : &picture->memory_rows[picture->memory_row_count - 1];
        if (row == NULL || row->count == MAX_ROW || differ(layout, row_term, previous, &cell)) {
            if (picture->memory_row_count == MAX_MEMORY_ROWS)
                break;
            bool new_group =
                group_end > 0 && (row == NULL || differ(layout, group_end, previous, &cell));
            row = &picture->memory_rows[picture->memory_row_count++];
            *row = (rs_memory_row){.first = picture->cell_count};
            if (new_group && (row->group = name_group(layout, group_end, &cell)) == NULL)
                return rs_fail_memory("a drawing");
        }
        row->count++;
        previous = &picture->cells[picture->cell_count];
        picture->cells[picture->cell_count++] = cell;
        offset += cell.size;
    }
    picture->whole_memory = offset >= layout->size;
    return RESTRIDE_OK;
}

restride_status rs_picture_create(rs_picture *picture, const restride_layout *layout)
{
    *picture = (rs_picture){.layout = layout, .rows = 1, .columns = 1};
    picture->column_dimension = layout->record >= 0 ? layout->record : layout->rank - 1;
    if (layout->rank == 1 && layout->record < 0)
        picture->column_dimension = -1;
    for (int d = 0; d < layout->rank; d++)
        if (d == picture->column_dimension)
            picture->columns = layout->dimensions[d].extent;
        else
            picture->rows *= layout->dimensions[d].extent;
    picture->shown_rows = picture->rows < MAX_TABLE_ROWS ? picture->rows : MAX_TABLE_ROWS;
    picture->shown_columns = picture->columns < MAX_COLUMNS ? picture->columns : MAX_COLUMNS;
    picture->cells = calloc((size_t)MAX_MEMORY_ROWS * MAX_ROW, sizeof *picture->cells);
    picture->memory_rows = calloc(MAX_MEMORY_ROWS, sizeof *picture->memory_rows);
    restride_status status = picture->cells == NULL || picture->memory_rows == NULL
                                 ? rs_fail_memory("a drawing")
                                 : fill_memory(picture);
    if (status != RESTRIDE_OK)
        rs_picture_free(picture);
    return status;
}

void rs_picture_free(rs_picture *picture)
{
    for (size_t i = 0; i < picture->memory_row_count; i++)
        free(picture->memory_rows[i].group);
    free(picture->memory_rows);
    free(picture->cells);
    *picture = (rs_picture){.layout = NULL};
}

void rs_picture_add_label(const rs_picture *picture, const rs_cell *cell, rs_text *text)
{
    const restride_layout *layout = picture->layout;
    if (cell->outside) {
        rs_text_add_string(text, "pad");
        return;
    }
    const char *separator = "";
    for (int d = 0; d < layout->rank; d++)
        if (d != layout->record) {
            rs_text_format(text, "%s%zu", separator, cell->index[d]);
            separator = ",";
        }
    const rs_leaf *leaf = leaf_of(layout, cell->index);
    if (leaf != NULL)
        rs_text_format(text, ".%s", leaf->padding ? "-" : leaf->name);
}

void rs_picture_add_row_name(const rs_picture *picture, size_t row, rs_text *text)
{
    const restride_layout *layout = picture->layout;
    size_t index[RS_LAYOUT_MAX_RANK];
    table_index(picture, row, 0, index);
    const char *separator = "";
    for (int d = 0; d < layout->rank; d++)
        if (d != picture->column_dimension) {
            rs_text_format(text, "%s%s=%zu", separator, layout->dimensions[d].name, index[d]);
            separator = " ";
        }
}

void rs_picture_add_column_name(const rs_picture *picture, size_t column, rs_text *text)
{
    if (picture->column_dimension < 0)
        return;
    const rs_dimension *dimension = &picture->layout->dimensions[picture->column_dimension];
    if (!dimension->is_record)
        rs_text_format(text, "%s=%zu", dimension->name, column);
    else if (dimension->record.leaves[column].padding)
        rs_text_add_string(text, "-");
    else
        rs_text_add_string(text, dimension->record.leaves[column].name);
}

void rs_picture_add_explanation(const rs_picture *picture, rs_text *text)
{
    const restride_layout *layout = picture->layout;
    const char *separator = "";
    rs_text_add_string(text, "A cell of memory names the element: ");
    for (int d = 0; d < layout->rank; d++)
        if (d != layout->record) {
            rs_text_format(text, "%s%s", separator, layout->dimensions[d].name);
            separator = ",";
        }
    rs_text_add_string(text, layout->record >= 0 ? ".member (- is padding)." : ".");
}

void rs_picture_add_clipping(const rs_picture *picture, rs_text *text)
{
    bool whole_table =
        picture->shown_rows == picture->rows && picture->shown_columns == picture->columns;
    if (whole_table && picture->whole_memory)
        return;
    rs_text_add_string(text, "Only the beginning is drawn: ");
    if (!whole_table)
        rs_text_format(text, "%zu of %zu rows and %zu of %zu columns of the array%s",
                       picture->shown_rows, picture->rows, picture->shown_columns, picture->columns,
                       picture->whole_memory ? "." : "; ");
    if (!picture->whole_memory) {
        const rs_cell *last = &picture->cells[picture->cell_count - 1];
        rs_text_format(text, "%zu of %zu %s of memory.", last->offset + last->size,
                       picture->layout->size, picture->layout->record >= 0 ? "bytes" : "elements");
    }
}

restride_status restride_layout_draw(const restride_layout *layout, restride_drawing form,
                                     char **drawing)
{
    if (drawing != NULL)
        *drawing = NULL;
    if (layout == NULL || drawing == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "A drawing needs a layout and a place for its text.");
    switch (form) {
    case RESTRIDE_DRAWING_TEXT:
        return rs_draw_text(layout, false, drawing);
    case RESTRIDE_DRAWING_SVG:
        return rs_draw_svg(layout, drawing);
    }
    return rs_fail(RESTRIDE_INVALID_ARGUMENT, "Drawing %d is unknown; use one of restride_drawing.",
                   (int)form);
}
