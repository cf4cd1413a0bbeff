/* Drawings of layouts over processes: see cli.h. */
#include "base/arithmetic.h"
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

/* The last dimension runs to the right, all others down. */
static void draw_array(const spread *s)
{
    const restride_layout *layout = s->layout;
    const int last = layout->rank - 1;
    const size_t columns = rs_size_smaller(layout->dimensions[last].extent, SHOWN_COLUMNS);
    size_t rows = 1;
    for (int d = 0; d < last; d++)
        rows = rs_size_multiply_capped(rows, layout->dimensions[d].extent);
    const size_t shown = rs_size_smaller(rows, SHOWN_ROWS);
    printf("The array, each element with its process and its place there (in %s):\n",
           layout->record >= 0 ? "bytes" : "elements");
    for (size_t row = 0; row < shown && columns > 0; row++) {
        size_t index[RS_LAYOUT_MAX_RANK] = {0};
        size_t rest = row;
        for (int d = last - 1; d >= 0; d--) {
            index[d] = rest % layout->dimensions[d].extent;
            rest /= layout->dimensions[d].extent;
        }
        printf("  ");
        for (int d = 0; d < last; d++)
            printf("%s=%-3zu ", layout->dimensions[d].name, index[d]);
        for (size_t c = 0; c < columns; c++) {
            size_t place;
            char cell[64];
            index[last] = c;
            const size_t process = find_element(s, index, &place);
            snprintf(cell, sizeof cell, "%zu:%zu", process, place);
            printf(" %7s", cell);
        }
        printf("\n");
    }
    if (shown < rows || columns < layout->dimensions[last].extent)
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
                   bool json)
{
    spread s;
    rs_counts counts = {.rank = 0};
    restride_status status = make_spread(&s, layout);
    if (status == RESTRIDE_OK && to != NULL)
        status = rs_counts_make(&counts, layout, to, layout->unit != 0 ? layout->unit : 1);
    int result = RS_EXIT_DONE;
    if (status != RESTRIDE_OK) {
        result = rs_cli_fail_last(RS_EXIT_FAILED, verb);
    } else if (json) {
        result = rs_cli_print_json(verb, describe(&s, to, &counts));
    } else {
        printf("Layout \"%s\" of \"%s\": %zu process%s.\n\n", layout->expression_text,
               layout->dims_text, s.processes, s.processes == 1 ? "" : "es");
        draw_array(&s);
        draw_parts(&s);
        if (to != NULL)
            draw_messages(layout, to, &counts);
    }
    rs_counts_free(&counts);
    free_spread(&s);
    return result;
}
