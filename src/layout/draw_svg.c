/*
 * A layout drawn as a self-contained SVG, whose texts are names and numbers without a character
 * that XML reserves: on the left the array, each element with its place in memory and a line
 * through them in the order of memory; on the right memory. The card has a background of its own,
 * dark where the reader's screen is, so it can be read on any page.
 */
#include "base/arithmetic.h"
#include "layout/picture.h"

#include <string.h>

/* Sizes in pixels; a character of the font is about CHARACTER wide. */
enum {
    MARGIN = 24,
    CELL_HEIGHT = 24,
    HEADER = 92,
    CHARACTER = 7,
    LINE_CHARACTER = 8, /* what one takes at most */
    LONGEST_LINE = 180,
    GROUP_HEIGHT = 22,
    GAP = 56,
    WIDEST_CELL = 150
};

/* The line through the array is drawn up to this many elements; beyond it hides more than it shows.
 */
enum { MAX_PATH = 160 };

static const char *const fills[RS_PICTURE_COLOURS] = {"#9ecbff", "#ffb3a7", "#a8dba8", "#d8b4f0",
                                                      "#8fdcd8", "#ffd27f", "#b9c3f5", "#e6c6a0"};

static const char padding_fill[] = "#d8dee4";

static const char style[] =
    "<style>\n"
    "  svg { --page: #ffffff; --ink: #1f2328; --soft: #59636e; --line: #8c959f; }\n"
    "  @media (prefers-color-scheme: dark) {\n"
    "    svg { --page: #161b22; --ink: #e6edf3; --soft: #9da7b3; --line: #6e7681; }\n"
    "  }\n"
    "  text { font: 12px ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; }\n"
    "  text { fill: var(--ink); }\n"
    "  .title { font-size: 15px; font-weight: 600; }\n"
    "  .soft { fill: var(--soft); }\n"
    "  .in { fill: #1f2328; text-anchor: middle; font-size: 11px; paint-order: stroke; }\n"
    "  .in { stroke-width: 3px; stroke-linejoin: round; }\n"
    "  .end { text-anchor: end; }\n"
    "  .middle { text-anchor: middle; }\n"
    "  rect.cell { stroke: var(--line); stroke-width: 1; }\n"
    "  .path { fill: none; stroke: #24292f; stroke-opacity: 0.35; stroke-width: 1.5; }\n"
    "</style>\n"
    "<defs>\n"
    "  <pattern id=\"padding\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">\n"
    "    <rect width=\"6\" height=\"6\" fill=\"#d8dee4\"/>\n"
    "    <path d=\"M0 6 L6 0\" stroke=\"#8c959f\" stroke-width=\"1\"/>\n"
    "  </pattern>\n"
    "  <marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"19\" refY=\"4\" markerWidth=\"7\"\n"
    "          markerHeight=\"7\" orient=\"auto\" style=\"overflow: visible\">\n"
    "    <path d=\"M0 0 L8 4 L0 8 z\" fill=\"#24292f\" fill-opacity=\"0.6\"/>\n"
    "  </marker>\n"
    "  <marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"6\" refY=\"4\" markerWidth=\"7\"\n"
    "          markerHeight=\"7\" orient=\"auto\">\n"
    "    <path d=\"M0 0 L8 4 L0 8 z\" style=\"fill: var(--soft)\"/>\n"
    "  </marker>\n"
    "</defs>\n";

typedef struct {
    const rs_picture *picture;
    rs_text out;
    size_t name_width; /* of the rows' names */
    size_t cell_width; /* in the table */
    size_t byte_width; /* in memory; an element without a record counts as one byte */
    size_t address_width;
    size_t memory_left;
    size_t memory_width;
    size_t line_width; /* of the longest sentence */
} drawing;

/* Adds a <text> element and empties `text`. */
static void add_text(drawing *d, size_t x, size_t y, const char *classes, rs_text *text)
{
    d->out.failed = d->out.failed || text->failed;
    rs_text_format(&d->out, "<text x=\"%zu\" y=\"%zu\" class=\"%s\">", x, y, classes);
    rs_text_add_string(&d->out, text->size > 0 ? text->data : "");
    rs_text_add_string(&d->out, "</text>\n");
    rs_text_free(text);
}

/* Adds the words of a cell, with a rim in the cell's colour so that lines below do not touch them.
 */
static void add_cell_text(drawing *d, size_t x, size_t y, const rs_cell *cell, rs_text *text)
{
    rs_text_format(&d->out, "<g stroke=\"%s\">",
                   cell->colour < 0 ? padding_fill : fills[cell->colour]);
    add_text(d, x, y, "in", text);
    rs_text_add_string(&d->out, "</g>\n");
}

static void add_string(drawing *d, size_t x, size_t y, const char *classes, const char *string)
{
    rs_text text = RS_TEXT_EMPTY;
    rs_text_add_string(&text, string);
    add_text(d, x, y, classes, &text);
}

static void add_box(drawing *d, size_t x, size_t y, size_t width, const rs_cell *cell)
{
    rs_text_format(&d->out, "<rect class=\"cell\" x=\"%zu\" y=\"%zu\" width=\"%zu\" height=\"%d\" ",
                   x, y, width, CELL_HEIGHT);
    rs_text_format(&d->out, "fill=\"%s\">",
                   cell->colour < 0 ? "url(#padding)" : fills[cell->colour]);
    rs_text title = RS_TEXT_EMPTY;
    rs_picture_add_label(d->picture, cell, &title);
    rs_text_format(&title, " at %zu", cell->offset);
    rs_text_add_string(&d->out, "<title>");
    rs_text_add_string(&d->out, title.failed ? "" : title.data);
    rs_text_add_string(&d->out, "</title></rect>\n");
    rs_text_free(&title);
}

static size_t text_width(rs_text *text)
{
    size_t width = text->size * CHARACTER;
    rs_text_free(text);
    return width;
}

/* The pixels of one byte: enough for the label of a member of usual size. */
static size_t choose_byte_width(const rs_picture *picture)
{
    size_t widest = 0, largest = 1;
    for (size_t i = 0; i < picture->cell_count; i++) {
        rs_text label = RS_TEXT_EMPTY;
        rs_picture_add_label(picture, &picture->cells[i], &label);
        widest = rs_size_larger(widest, text_width(&label));
        largest = rs_size_larger(largest, picture->cells[i].size);
    }
    size_t wanted = rs_size_larger(widest > 90 ? 90 : widest, 36) + 10;
    size_t byte_width = rs_size_divide_up(wanted, largest);
    return rs_size_larger(byte_width, largest > 4 ? 9 : 12);
}

/* The width of a cell of memory: by its bytes, but long vectors are cut short. */
static size_t memory_cell_width(const drawing *d, const rs_cell *cell)
{
    size_t width = cell->size * d->byte_width;
    return width < WIDEST_CELL ? width : WIDEST_CELL;
}

static void measure(drawing *d)
{
    const rs_picture *picture = d->picture;
    rs_text text = RS_TEXT_EMPTY;
    d->cell_width = 40;
    for (size_t row = 0; row < picture->shown_rows; row++) {
        rs_picture_add_row_name(picture, row, &text);
        d->name_width = rs_size_larger(d->name_width, text_width(&text) + 10);
        for (size_t column = 0; column < picture->shown_columns; column++) {
            rs_text_format(&text, "%zu", rs_picture_table_cell(picture, row, column).offset);
            d->cell_width = rs_size_larger(d->cell_width, text_width(&text) + 10);
        }
    }
    for (size_t column = 0; column < picture->shown_columns; column++) {
        rs_picture_add_column_name(picture, column, &text);
        d->cell_width = rs_size_larger(d->cell_width, text_width(&text) + 10);
    }
    d->byte_width = choose_byte_width(picture);
    rs_text_format(&text, "%zu", picture->layout->size);
    d->address_width = text_width(&text) + 10;
    size_t table_width = d->name_width + picture->shown_columns * d->cell_width;
    d->memory_left = MARGIN + rs_size_larger(table_width, 26 * CHARACTER) + GAP + d->address_width;
    d->memory_width = 40 * CHARACTER;
    for (size_t r = 0; r < picture->memory_row_count; r++) {
        const rs_memory_row *row = &picture->memory_rows[r];
        size_t width = 0;
        for (size_t i = row->first; i < row->first + row->count; i++)
            width += memory_cell_width(d, &picture->cells[i]);
        d->memory_width = rs_size_larger(d->memory_width, width);
        if (row->group != NULL)
            d->memory_width = rs_size_larger(d->memory_width, strlen(row->group) * CHARACTER);
    }
}

/* Where an element of the array is drawn: the middle of its cell; false when it is clipped. */
static bool locate(const drawing *d, const rs_cell *cell, size_t *x, size_t *y)
{
    const rs_picture *picture = d->picture;
    const restride_layout *layout = picture->layout;
    size_t row = 0, column = 0;
    for (int i = 0; i < layout->rank; i++)
        if (i == picture->column_dimension)
            column = cell->index[i];
        else
            row = row * layout->dimensions[i].extent + cell->index[i];
    *x = MARGIN + d->name_width + column * d->cell_width + d->cell_width / 2;
    *y = HEADER + CELL_HEIGHT + row * CELL_HEIGHT + CELL_HEIGHT / 2;
    return row < picture->shown_rows && column < picture->shown_columns;
}

static bool has_path(const rs_picture *picture)
{
    return picture->whole_memory && picture->rows == picture->shown_rows &&
           picture->columns == picture->shown_columns && picture->cell_count <= MAX_PATH &&
           picture->cell_count > 1;
}

/* The line through the elements in the order of memory. */
static void draw_path(drawing *d)
{
    const rs_picture *picture = d->picture;
    if (!has_path(picture))
        return;
    rs_text_add_string(&d->out, "<polyline class=\"path\" marker-end=\"url(#tip)\" points=\"");
    for (size_t i = 0; i < picture->cell_count; i++) {
        size_t x, y;
        if (!picture->cells[i].outside && locate(d, &picture->cells[i], &x, &y))
            rs_text_format(&d->out, "%zu,%zu ", x, y);
    }
    rs_text_add_string(&d->out, "\"/>\n");
}

static void draw_table(drawing *d)
{
    const rs_picture *picture = d->picture;
    rs_text text = RS_TEXT_EMPTY;
    size_t left = MARGIN + d->name_width;
    add_string(d, MARGIN, HEADER - 14, "", "array (place in memory)");
    for (size_t column = 0; column < picture->shown_columns; column++) {
        rs_picture_add_column_name(picture, column, &text);
        add_text(d, left + column * d->cell_width + d->cell_width / 2, HEADER + 16, "soft middle",
                 &text);
    }
    for (size_t row = 0; row < picture->shown_rows; row++) {
        size_t y = HEADER + CELL_HEIGHT + row * CELL_HEIGHT;
        rs_picture_add_row_name(picture, row, &text);
        add_text(d, left - 8, y + 16, "soft end", &text);
        for (size_t column = 0; column < picture->shown_columns; column++) {
            rs_cell cell = rs_picture_table_cell(picture, row, column);
            add_box(d, left + column * d->cell_width, y, d->cell_width, &cell);
        }
    }
    draw_path(d);
    for (size_t row = 0; row < picture->shown_rows; row++)
        for (size_t column = 0; column < picture->shown_columns; column++) {
            rs_cell cell = rs_picture_table_cell(picture, row, column);
            size_t x, y;
            locate(d, &cell, &x, &y);
            rs_text_format(&text, "%zu", cell.offset);
            add_cell_text(d, x, y + 4, &cell, &text);
        }
}

/* Draws the rows of memory; the result is where they end. */
static size_t draw_memory(drawing *d)
{
    const rs_picture *picture = d->picture;
    rs_text text = RS_TEXT_EMPTY;
    add_string(d, d->memory_left, HEADER - 14, "", "memory");
    rs_text_format(&d->out,
                   "<path d=\"M%zu %d h%d\" style=\"stroke: var(--soft)\" stroke-width=\"1.5\" "
                   "marker-end=\"url(#arrow)\"/>\n",
                   d->memory_left + 56, HEADER - 18, 44);
    add_string(d, d->memory_left + 108, HEADER - 14, "soft", "then down");
    size_t y = HEADER + CELL_HEIGHT;
    for (size_t r = 0; r < picture->memory_row_count; r++) {
        const rs_memory_row *row = &picture->memory_rows[r];
        if (row->group != NULL) {
            y += r > 0 ? GROUP_HEIGHT : 0;
            add_string(d, d->memory_left, y - 7, "soft", row->group);
        }
        rs_text_format(&text, "%zu", picture->cells[row->first].offset);
        add_text(d, d->memory_left - 8, y + 16, "soft end", &text);
        size_t x = d->memory_left;
        for (size_t i = row->first; i < row->first + row->count; i++) {
            size_t width = memory_cell_width(d, &picture->cells[i]);
            add_box(d, x, y, width, &picture->cells[i]);
            rs_picture_add_label(picture, &picture->cells[i], &text);
            if (text.size * CHARACTER <= width + 2)
                add_cell_text(d, x + width / 2, y + 16, &picture->cells[i], &text);
            rs_text_free(&text);
            x += width;
        }
        y += CELL_HEIGHT;
    }
    return y;
}

/* What the colours mean. */
static void draw_legend(drawing *d, size_t y)
{
    const rs_picture *picture = d->picture;
    rs_text text = RS_TEXT_EMPTY;
    size_t x = MARGIN;
    bool padding = false;
    for (size_t i = 0; i < picture->cell_count; i++)
        padding = padding || picture->cells[i].colour < 0;
    for (size_t column = 0; column <= picture->shown_columns; column++) {
        bool last = column == picture->shown_columns;
        rs_cell cell = {.colour = -1, .outside = true};
        if (last ? !padding : picture->column_dimension < 0 || picture->rows == 0)
            continue;
        if (!last)
            cell = rs_picture_table_cell(picture, 0, column);
        if (!last && cell.colour < 0)
            continue;
        rs_text_format(&d->out,
                       "<rect class=\"cell\" x=\"%zu\" y=\"%zu\" width=\"14\" height=\"14\" "
                       "fill=\"%s\"/>\n",
                       x, y, last ? "url(#padding)" : fills[cell.colour]);
        if (last)
            rs_text_add_string(&text, "padding");
        else
            rs_picture_add_column_name(picture, column, &text);
        size_t width = text.size * CHARACTER;
        add_text(d, x + 20, y + 11, "", &text);
        x += width + 40;
    }
}

/* A line of its own, cut where it is very long, and the width that it takes. */
static void add_line(drawing *d, size_t y, const char *classes, rs_text *text)
{
    if (text->size > LONGEST_LINE)
        memcpy(text->data + LONGEST_LINE - 3, "...", 4);
    size_t length = text->size < LONGEST_LINE ? text->size : LONGEST_LINE;
    d->line_width = rs_size_larger(d->line_width, length * LINE_CHARACTER);
    add_text(d, MARGIN, y, classes, text);
}

static void draw_title(drawing *d)
{
    const restride_layout *layout = d->picture->layout;
    rs_text text = RS_TEXT_EMPTY;
    rs_text_add_string(&text, layout->expression_text);
    add_line(d, 34, "title", &text);
    rs_text_format(&text, "%s: %zu %s", layout->dims_text, layout->size,
                   layout->record >= 0 ? "bytes" : "elements");
    add_line(d, 54, "soft", &text);
}

restride_status rs_draw_svg(const restride_layout *layout, char **result)
{
    *result = NULL;
    rs_picture picture;
    restride_status status = rs_picture_create(&picture, layout);
    if (status != RESTRIDE_OK)
        return status;
    drawing d = {.picture = &picture, .out = RS_TEXT_EMPTY};
    measure(&d);
    draw_title(&d);
    draw_table(&d);
    size_t bottom =
        rs_size_larger(draw_memory(&d), HEADER + CELL_HEIGHT * (picture.shown_rows + 1)) + 24;
    draw_legend(&d, bottom);
    rs_text text = RS_TEXT_EMPTY;
    rs_picture_add_explanation(&picture, &text);
    if (has_path(&picture))
        rs_text_add_string(&text, " The line follows memory.");
    add_line(&d, bottom + 36, "soft", &text);
    rs_picture_add_clipping(&picture, &text);
    size_t height = bottom + 36 + MARGIN;
    if (text.size > 0) {
        add_line(&d, bottom + 56, "", &text);
        height += 20;
    }
    size_t width = MARGIN + rs_size_larger(d.memory_left + d.memory_width, MARGIN + d.line_width);
    rs_text whole = RS_TEXT_EMPTY;
    rs_text_format(&whole,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\" "
                   "viewBox=\"0 0 %zu %zu\">\n%s<rect width=\"100%%\" height=\"100%%\" rx=\"8\" "
                   "style=\"fill: var(--page)\"/>\n",
                   width, height, width, height, style);
    if (d.out.failed)
        whole.failed = true;
    else
        rs_text_add(&whole, d.out.data, d.out.size);
    rs_text_add_string(&whole, "</svg>\n");
    rs_text_free(&d.out);
    rs_picture_free(&picture);
    *result = rs_text_take(&whole);
    return *result != NULL ? RESTRIDE_OK : rs_fail_memory("a drawing");
}
