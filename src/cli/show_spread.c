/* Drawings of layouts over processes: see cli.h. */
#include "base/arithmetic.h"
#include "base/status.h"
#include "base/text.h"
#include "cli/cli.h"
#include "console/fail.h"
#include "distributed/counts.h"

#include <stdio.h>
#include <stdlib.h>

enum { SHOWN_ROWS = 24, SHOWN_COLUMNS = 12, SHOWN_PROCESSES = 16, MOST_PARTS = 1024 };

typedef struct {
    const restride_layout *layout;
    size_t processes;
    restride_layout **parts; /* of each process */
} spread;

static void free_spread(spread *s)
{
    for (size_t p = 0; s->parts != NULL && p < s->processes; p++)
        restride_layout_destroy(s->parts[p]);
    free(s->parts);
}

static restride_status make_spread(spread *s, const restride_layout *layout)
{
    *s = (spread){.layout = layout, .processes = rs_spread_processes(layout)};
    if (s->processes > MOST_PARTS)
        return rs_fail(RESTRIDE_UNSUPPORTED, "More than %d processes are not drawn.", MOST_PARTS);
    s->parts = calloc(s->processes, sizeof(restride_layout *));
    if (s->parts == NULL)
        return rs_fail_memory("the parts of an array");
    restride_status status = RESTRIDE_OK;
    for (size_t p = 0; status == RESTRIDE_OK && p < s->processes; p++)
        status = rs_spread_part(&s->parts[p], layout, p, NULL);
    return status;
}

/* The process that holds an element, and where it lies there. */
static size_t find_element(const spread *s, const size_t index[], size_t *place)
{
    size_t process = 0;
    size_t own[RS_LAYOUT_MAX_RANK];
    for (int d = 0; d < s->layout->rank; d++) {
        const size_t coordinate = rs_spread_owner(s->layout, d, index[d]);
        const rs_axis axis = rs_spread_axis(s->layout, d, coordinate);
        process += rs_spread_share(s->layout, d, coordinate);
        own[d] = rs_axis_below(&axis, index[d]);
    }
    *place = restride_layout_offset(s->parts[process], own);
    return process;
}

/* The array as a table: the last dimension runs to the right, all others down. */
typedef struct {
    size_t rows;
    size_t columns;
    bool is_whole;
} shown_table;

static shown_table table_of(const restride_layout *layout)
{
    const int last = layout->rank - 1;
    size_t rows = 1;
    for (int d = 0; d < last; d++)
        rows = rs_size_multiply_capped(rows, layout->dimensions[d].extent);
    const size_t columns = layout->dimensions[last].extent;
    return (shown_table){rs_size_smaller(rows, SHOWN_ROWS), rs_size_smaller(columns, SHOWN_COLUMNS),
                         rows <= SHOWN_ROWS && columns <= SHOWN_COLUMNS};
}

static void find_index(const restride_layout *layout, size_t row, size_t column, size_t index[])
{
    const int last = layout->rank - 1;
    for (int d = last - 1; d >= 0; d--) {
        index[d] = row % layout->dimensions[d].extent;
        row /= layout->dimensions[d].extent;
    }
    index[last] = column;
}

static void draw_array(const spread *s)
{
    const restride_layout *layout = s->layout;
    const int last = layout->rank - 1;
    const shown_table table = table_of(layout);
    printf("The array, each element with its process and its place there (in %s):\n",
           layout->record >= 0 ? "bytes" : "elements");
    for (size_t row = 0; row < table.rows && table.columns > 0; row++) {
        size_t index[RS_LAYOUT_MAX_RANK] = {0};
        find_index(layout, row, 0, index);
        printf("  ");
        for (int d = 0; d < last; d++)
            printf("%s=%-3zu ", layout->dimensions[d].name, index[d]);
        for (size_t c = 0; c < table.columns; c++) {
            size_t place;
            char cell[64];
            index[last] = c;
            const size_t process = find_element(s, index, &place);
            snprintf(cell, sizeof cell, "%zu:%zu", process, place);
            printf(" %7s", cell);
        }
        printf("\n");
    }
    if (!table.is_whole)
        printf("  (the beginning of it)\n");
}

static void draw_parts(const spread *s)
{
    printf("\nParts (in %s):\n", s->layout->record >= 0 ? "bytes" : "elements");
    for (size_t p = 0; p < s->processes && p < SHOWN_PROCESSES; p++) {
        printf("  process %zu: %zu =", p, s->parts[p]->size);
        for (int d = 0; d < s->layout->rank; d++)
            printf(" %s:%zu", s->layout->dimensions[d].name, s->parts[p]->dimensions[d].extent);
        printf("\n");
    }
    if (s->processes > SHOWN_PROCESSES)
        printf("  and %zu more\n", s->processes - SHOWN_PROCESSES);
}

static void draw_messages(const restride_layout *layout, const restride_layout *to,
                          const rs_counts *counts)
{
    const bool bytes = layout->unit != 0 || layout->record >= 0;
    printf("\nTo \"%s\": %s that each process has for each, itself included:\n",
           to->expression_text, bytes ? "bytes" : "elements");
    const size_t columns = rs_size_smaller(counts->processes[1], SHOWN_PROCESSES);
    printf("  %8s", "");
    for (size_t q = 0; q < columns; q++) {
        char name[32];
        snprintf(name, sizeof name, "to %zu", q);
        printf(" %9s", name);
    }
    printf("\n");
    for (size_t p = 0; p < counts->processes[0] && p < SHOWN_PROCESSES; p++) {
        printf("  from %-3zu", p);
        for (size_t q = 0; q < columns; q++)
            printf(" %9zu", rs_counts_bytes(counts, p, q));
        printf("\n");
    }
}

/* ---- SVG ---- */

enum { CELL = 28, LEFT = 24, TOP = 76, GAP = 76, MESSAGE = 64, COLOURS = 8, LEAST_WIDTH = 620 };

static const char style[] =
    "<style>\n"
    "svg { background: #fff; color: #222; font: 13px system-ui, sans-serif; }\n"
    "text { fill: currentColor; } .name { font-weight: 600; }\n"
    ".cell { stroke: #fff; } .in { fill: #fff; text-anchor: middle; }\n"
    ".to { text-anchor: middle; } .stays { fill: none; stroke: currentColor; "
    "stroke-opacity: .35; }\n"
    ".c0 { fill: #0072b2; } .c1 { fill: #b34d00; } .c2 { fill: #00795a; } .c3 { fill: #a8558a; }\n"
    ".c4 { fill: #8a6200; } .c5 { fill: #2a7fae; } .c6 { fill: #6a60e0; } .c7 { fill: #666; }\n"
    "@media (prefers-color-scheme: dark) { svg { background: #12161c; color: #ddd; } .cell { "
    "stroke: #12161c; } }\n"
    "</style>\n";

static void add_words(rs_text *svg, size_t x, size_t y, const char *kind, const char *words)
{
    rs_text_format(svg, "<text x=\"%zu\" y=\"%zu\" class=\"%s\">%s</text>\n", x, y, kind, words);
}

static void add_cell(rs_text *svg, size_t x, size_t y, size_t width, size_t process,
                     const char *words)
{
    rs_text_format(svg,
                   "<rect x=\"%zu\" y=\"%zu\" width=\"%zu\" height=\"%d\" class=\"cell c%zu\"/>\n",
                   x, y, width, CELL, process % COLOURS);
    add_words(svg, x + width / 2, y + CELL / 2 + 5, "in", words);
}

/* Each element with the number of the process that holds it. */
static void add_owners(rs_text *svg, const spread *s, size_t left)
{
    const shown_table table = table_of(s->layout);
    add_words(svg, left, TOP - 14, "name", s->layout->expression_text);
    for (size_t row = 0; row < table.rows; row++)
        for (size_t column = 0; column < table.columns; column++) {
            size_t index[RS_LAYOUT_MAX_RANK] = {0};
            size_t place;
            char words[32];
            find_index(s->layout, row, column, index);
            const size_t process = find_element(s, index, &place);
            snprintf(words, sizeof words, "%zu", process);
            add_cell(svg, left + column * CELL, TOP + row * CELL, CELL, process, words);
        }
}

/* A row for each process that sends, in the colours of those that receive. */
static void add_messages(rs_text *svg, const rs_counts *counts, size_t left)
{
    const size_t senders = rs_size_smaller(counts->processes[0], SHOWN_PROCESSES);
    const size_t receivers = rs_size_smaller(counts->processes[1], SHOWN_PROCESSES);
    char words[48];
    for (size_t q = 0; q < receivers; q++) {
        snprintf(words, sizeof words, "to %zu", q);
        add_words(svg, left + q * MESSAGE + MESSAGE / 2, TOP - 14, "to", words);
    }
    for (size_t p = 0; p < senders; p++) {
        const size_t y = TOP + p * CELL;
        snprintf(words, sizeof words, "from %zu", p);
        add_words(svg, left - GAP + 12, y + CELL / 2 + 5, "from", words);
        for (size_t q = 0; q < receivers; q++) {
            const size_t bytes = rs_counts_bytes(counts, p, q);
            const size_t x = left + q * MESSAGE;
            snprintf(words, sizeof words, p == q ? "%zu stay" : "%zu", bytes);
            if (bytes > 0 && p != q)
                add_cell(svg, x, y, MESSAGE, q, words);
            else if (bytes > 0)
                add_words(svg, x + MESSAGE / 2, y + CELL / 2 + 5, "to", words);
        }
    }
}

static restride_status write_svg(const char *path, const spread *from, const spread *to,
                                 const rs_counts *counts)
{
    const shown_table table = table_of(from->layout);
    const size_t senders = rs_size_smaller(counts->processes[0], SHOWN_PROCESSES);
    const size_t receivers = rs_size_smaller(counts->processes[1], SHOWN_PROCESSES);
    const size_t grid = rs_size_larger(table.columns * CELL, 170) + GAP / 2;
    const size_t messages = LEFT + (to == NULL ? 1 : 2) * grid + GAP;
    const size_t width =
        rs_size_larger(LEAST_WIDTH, to == NULL ? messages : messages + receivers * MESSAGE + LEFT);
    const size_t height = TOP + rs_size_larger(table.rows, senders) * CELL + LEFT;
    rs_text svg = RS_TEXT_EMPTY;
    rs_text_format(
        &svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %zu %zu\" width=\"%zu\" "
        "height=\"%zu\">\n%s",
        width, height, width, height, style);
    const bool bytes = from->layout->unit != 0 || from->layout->record >= 0;
    rs_text_format(&svg,
                   "<text x=\"%d\" y=\"28\" class=\"name\">%s%s: the process of each element%s%s",
                   LEFT, from->layout->dims_text, table.is_whole ? "" : " (its beginning)",
                   to == NULL ? "" : ", and who sends how many ",
                   to == NULL ? "</text>\n"
                   : bytes    ? "bytes to whom</text>\n"
                              : "elements to whom</text>\n");
    add_owners(&svg, from, LEFT);
    if (to != NULL) {
        add_owners(&svg, to, LEFT + grid);
        add_messages(&svg, counts, messages);
    }
    rs_text_add_string(&svg, "</svg>\n");
    restride_status status =
        svg.failed ? rs_fail_memory("a drawing") : rs_text_write_file(path, svg.data, svg.size);
    rs_text_free(&svg);
    return status;
}

static json_t *describe(const spread *s, const restride_layout *to, const rs_counts *counts)
{
    json_t *parts = json_array();
    json_t *messages = to == NULL ? NULL : json_array();
    for (size_t p = 0; p < s->processes; p++)
        json_array_append_new(parts, json_integer((json_int_t)s->parts[p]->size));
    for (size_t p = 0; to != NULL && p < s->processes; p++) {
        json_t *row = json_array();
        for (size_t q = 0; q < counts->processes[1]; q++)
            json_array_append_new(row, json_integer((json_int_t)rs_counts_bytes(counts, p, q)));
        json_array_append_new(messages, row);
    }
    return json_pack("{s:s, s:s, s:I, s:o, s:s*, s:o*}", "layout", s->layout->expression_text,
                     "dims", s->layout->dims_text, "processes", (json_int_t)s->processes, "parts",
                     parts, "to", to == NULL ? NULL : to->expression_text, "messages", messages);
}

int rs_show_spread(const char *verb, const restride_layout *layout, const restride_layout *to,
                   const char *svg, bool json)
{
    spread s;
    spread target = {.processes = 0};
    rs_counts counts = {.rank = 0};
    restride_status status = make_spread(&s, layout);
    if (status == RESTRIDE_OK && to != NULL)
        status = make_spread(&target, to);
    if (status == RESTRIDE_OK && to != NULL)
        status = rs_counts_make(&counts, layout, to, layout->unit != 0 ? layout->unit : 1);
    if (status == RESTRIDE_OK && svg != NULL)
        status = write_svg(svg, &s, to == NULL ? NULL : &target, &counts);
    int result = RS_EXIT_DONE;
    if (status != RESTRIDE_OK) {
        result = rs_cli_fail_last(RS_EXIT_FAILED, verb);
    } else if (json) {
        result = rs_cli_print_json(verb, describe(&s, to, &counts));
    } else if (svg == NULL) {
        printf("Layout \"%s\" of \"%s\": %zu process%s.\n\n", layout->expression_text,
               layout->dims_text, s.processes, s.processes == 1 ? "" : "es");
        draw_array(&s);
        draw_parts(&s);
        if (to != NULL)
            draw_messages(layout, to, &counts);
    }
    rs_counts_free(&counts);
    free_spread(&target);
    free_spread(&s);
    return result;
}
