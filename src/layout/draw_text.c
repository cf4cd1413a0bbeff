/* A layout drawn as text: the table of the array with places in memory, and memory with the
 * elements it holds. */
#include "layout/picture.h"

#include <string.h>

/* Terminal colours of the fields, and of padding. */
static const char *const colours[RS_PICTURE_COLOURS] = {
    "\033[34m", "\033[31m", "\033[32m", "\033[35m", "\033[36m", "\033[33m", "\033[94m", "\033[91m"};
static const char padding_colour[] = "\033[2m";
static const char plain[] = "\033[0m";

typedef struct {
    rs_text out;
    bool coloured;
} drawing;

/* Adds `text`, which is emptied, right-aligned in `width` columns. */
static void add_cell(drawing *d, rs_text *text, size_t width, const rs_cell *cell)
{
    d->out.failed = d->out.failed || text->failed;
    if (d->coloured && cell != NULL)
        rs_text_add_string(&d->out, cell->colour < 0 ? padding_colour : colours[cell->colour]);
    rs_text_format(&d->out, "%*s", (int)width, text->size > 0 ? text->data : "");
    if (d->coloured && cell != NULL)
        rs_text_add_string(&d->out, plain);
    rs_text_free(text);
}

static void widen(size_t *width, rs_text *text)
{
    if (text->size > *width)
        *width = text->size;
    rs_text_free(text);
}

static void draw_table(drawing *d, const rs_picture *picture)
{
    size_t name_width = 0, width = 0;
    rs_text text = RS_TEXT_EMPTY;
    for (size_t row = 0; row < picture->shown_rows; row++) {
        rs_picture_add_row_name(picture, row, &text);
        widen(&name_width, &text);
    }
    for (size_t column = 0; column < picture->shown_columns; column++) {
        rs_picture_add_column_name(picture, column, &text);
        widen(&width, &text);
        for (size_t row = 0; row < picture->shown_rows; row++) {
            rs_text_format(&text, "%zu", rs_picture_table_cell(picture, row, column).offset);
            widen(&width, &text);
        }
    }
    rs_text_format(&d->out, "%*s", (int)name_width + 2, "");
    for (size_t column = 0; column < picture->shown_columns; column++) {
        rs_picture_add_column_name(picture, column, &text);
        add_cell(d, &text, width + 2, NULL);
    }
    rs_text_add_string(&d->out, "\n");
    for (size_t row = 0; row < picture->shown_rows; row++) {
        rs_picture_add_row_name(picture, row, &text);
        add_cell(d, &text, name_width + 2, NULL);
        for (size_t column = 0; column < picture->shown_columns; column++) {
            rs_cell cell = rs_picture_table_cell(picture, row, column);
            rs_text_format(&text, "%zu", cell.offset);
            add_cell(d, &text, width + 2, &cell);
        }
        rs_text_add_string(&d->out, "\n");
    }
}

static void draw_memory(drawing *d, const rs_picture *picture)
{
    size_t width = 0, address_width = 0;
    rs_text text = RS_TEXT_EMPTY;
    for (size_t i = 0; i < picture->cell_count; i++) {
        rs_picture_add_label(picture, &picture->cells[i], &text);
        widen(&width, &text);
        rs_text_format(&text, "%zu", picture->cells[i].offset);
        widen(&address_width, &text);
    }
    for (size_t r = 0; r < picture->memory_row_count; r++) {
        const rs_memory_row *row = &picture->memory_rows[r];
        if (row->group != NULL)
            rs_text_format(&d->out, "  %s\n", row->group);
        rs_text_format(&text, "%zu", picture->cells[row->first].offset);
        add_cell(d, &text, address_width + 4, NULL);
        rs_text_add_string(&d->out, " |");
        for (size_t i = row->first; i < row->first + row->count; i++) {
            rs_picture_add_label(picture, &picture->cells[i], &text);
            add_cell(d, &text, width + 1, &picture->cells[i]);
        }
        rs_text_add_string(&d->out, "\n");
    }
}

restride_status rs_draw_text(const restride_layout *layout, bool coloured, char **result)
{
    *result = NULL;
    rs_picture picture;
    restride_status status = rs_picture_create(&picture, layout);
    if (status != RESTRIDE_OK)
        return status;
    const char *unit = layout->record >= 0 ? "bytes" : "elements";
    drawing d = {.out = RS_TEXT_EMPTY, .coloured = coloured};
    rs_text_format(&d.out, "Layout \"%s\" of \"%s\": %zu %s.\n\n", layout->expression_text,
                   layout->dims_text, layout->size, unit);
    rs_text_format(&d.out, "The array, each element with its place in memory (in %s):\n", unit);
    draw_table(&d, &picture);
    rs_text_add_string(&d.out, "\nMemory, from left to right, then down. ");
    rs_picture_add_explanation(&picture, &d.out);
    rs_text_add_string(&d.out, "\n");
    draw_memory(&d, &picture);
    rs_text clipping = RS_TEXT_EMPTY;
    rs_picture_add_clipping(&picture, &clipping);
    if (clipping.size > 0)
        rs_text_format(&d.out, "\n%s\n", clipping.data);
    d.out.failed = d.out.failed || clipping.failed;
    rs_text_free(&clipping);
    rs_picture_free(&picture);
    *result = rs_text_take(&d.out);
    return *result != NULL ? RESTRIDE_OK : rs_fail_memory("a drawing");
}
