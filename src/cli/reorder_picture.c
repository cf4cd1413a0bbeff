/*
 * The picture of a plan: some of the warps, each a row, with a mark for every segment of memory
 * that its reads touch; on the left before, on the right after.
 */
#include "base/text.h"
#include "cli/reorder.h"
#include "irregular/irregular.h"

#include <stdlib.h>

/* Pixels. */
enum {
    WIDTH = 860,
    MARGIN = 24,
    PANEL = 370, /* the width of memory */
    RIGHT_PANEL = 440,
    TOP = 84,
    ROW = 10,
    MARK = 8,
    COUNT = 6, /* from the memory to the number beside it */
    MOST_ROWS = 32
};

static const char style[] =
    "<style>\n"
    "svg { background: #fff; color: #222; font: 13px system-ui, sans-serif; }\n"
    "text { fill: currentColor; } .title { font-size: 16px; font-weight: 600; }\n"
    ".soft { fill-opacity: .65; } .count { font-size: 9px; fill-opacity: .65; }\n"
    ".memory { fill: currentColor; fill-opacity: .06; }\n"
    ".before { fill: #d55e00; } .after { fill: #0072b2; }\n"
    "@media (prefers-color-scheme: dark) { svg { background: #12161c; color: #ddd; }\n"
    "  .before { fill: #ff8a3d; } .after { fill: #56b4e9; } }\n"
    "@media print { svg { background: #fff; color: #000; } }\n"
    "</style>\n";

/* One half of the picture. */
typedef struct {
    const char *kind; /* of its marks */
    size_t left;
    const void *index; /* what each thread reads */
    size_t slots;
    size_t transactions;
} panel;

typedef struct {
    const rs_reorder_place *place;
    rs_reads reads; /* for its rules alone; the objects are the panel's */
    rs_text svg;
    size_t rows;
} drawing;

/* The warp in a row: all of them, or some at equal distances with the first and the last. */
static size_t warp_in_row(const drawing *d, size_t row)
{
    size_t last = rs_warps(&d->reads) - 1;
    if (d->rows == 1)
        return 0;
    size_t steps = d->rows - 1;
    return last / steps * row + last % steps * row / steps;
}

static int compare_slots(const void *a, const void *b)
{
    size_t one = *(const size_t *)a;
    size_t other = *(const size_t *)b;
    return one < other ? -1 : one > other;
}

/* The slots that a warp reads, in ascending order. */
static size_t read_warp(const drawing *d, const panel *p, size_t warp, size_t slots[])
{
    size_t begin = warp * d->reads.warp;
    size_t left = d->reads.threads - begin;
    size_t count = left < d->reads.warp ? left : d->reads.warp;
    for (size_t i = 0; i < count; i++)
        slots[i] = rs_index_read(p->index, d->place->reference.index_bytes, begin + i);
    qsort(slots, count, sizeof *slots, compare_slots);
    return count;
}

static void add_mark(drawing *d, const panel *p, size_t row, size_t first, size_t end)
{
    size_t all = rs_segments(&d->reads, p->slots);
    double scale = (double)PANEL / (double)all;
    double width = (double)(end - first) * scale;
    rs_text_format(&d->svg,
                   "<rect class=\"%s\" x=\"%.1f\" y=\"%zu\" width=\"%.1f\" height=\"%d\"/>\n",
                   p->kind, (double)p->left + (double)first * scale, TOP + row * ROW,
                   width < 1.5 ? 1.5 : width, MARK);
}

/* Marks the segments that a warp touches, neighbours together; returns how many they are. */
static size_t add_marks(drawing *d, const panel *p, size_t row, size_t warp)
{
    size_t slots[RS_MOST_WARP];
    size_t count = read_warp(d, p, warp, slots);
    size_t touched = 0;
    size_t first = 0;
    size_t end = 0;
    for (size_t i = 0; i < count; i++) {
        size_t from = slots[i] * d->reads.object_bytes / d->reads.segment_bytes;
        size_t to = from + rs_segments_from(&d->reads, slots[i], 1);
        if (i > 0 && from > end) {
            add_mark(d, p, row, first, end);
            touched += end - first;
        }
        if (i == 0 || from > end)
            first = from;
        end = to;
    }
    add_mark(d, p, row, first, end);
    return touched + (end - first);
}

static void add_row(drawing *d, const panel *p, size_t row)
{
    size_t warp = warp_in_row(d, row);
    rs_text_format(&d->svg,
                   "<g><rect class=\"memory\" x=\"%zu\" y=\"%zu\" width=\"%d\" height=\"%d\"/>\n",
                   p->left, TOP + row * ROW, PANEL, MARK);
    size_t touched = add_marks(d, p, row, warp);
    rs_text_format(&d->svg,
                   "<title>warp %zu %s: %zu segments</title></g>\n"
                   "<text class=\"count\" x=\"%zu\" y=\"%zu\">%zu</text>\n",
                   warp, p->kind, touched, p->left + PANEL + COUNT, TOP + row * ROW + MARK,
                   touched);
}

static void add_panel(drawing *d, const panel *p)
{
    double warps = (double)rs_warps(&d->reads);
    rs_text_format(&d->svg,
                   "<text x=\"%zu\" y=\"%d\">%s: %zu transactions, %.2f a warp</text>\n"
                   "<text class=\"soft\" x=\"%zu\" y=\"%d\">memory, %zu segments of %zu bytes"
                   "</text>\n",
                   p->left, TOP - 26, p->kind, p->transactions, (double)p->transactions / warps,
                   p->left, TOP - 8, rs_segments(&d->reads, p->slots), d->reads.segment_bytes);
    for (size_t row = 0; row < d->rows; row++)
        add_row(d, p, row);
}

static void add_picture(drawing *d, const panel panels[2])
{
    size_t height = TOP + d->rows * ROW + MARGIN;
    rs_text_format(&d->svg,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%zu\" "
                   "viewBox=\"0 0 %d %zu\" role=\"img\">\n%s"
                   "<text class=\"title\" x=\"%d\" y=\"30\">The memory that warps of %zu threads "
                   "touch: %zu of %zu warps, a row each</text>\n",
                   WIDTH, height, WIDTH, height, style, MARGIN, d->reads.warp, d->rows,
                   rs_warps(&d->reads));
    add_panel(d, &panels[0]);
    add_panel(d, &panels[1]);
    rs_text_add_string(&d->svg, "</svg>\n");
}

restride_status rs_reorder_draw(const rs_reorder_plan *plan, const char *path)
{
    const rs_reorder_place *place = plan->place;
    void *index = malloc(place->launch.threads * place->reference.index_bytes);
    if (index == NULL)
        return rs_fail_memory("the picture");
    restride_status status = rs_reorder_index(plan, index);
    if (status == RESTRIDE_OK) {
        drawing d = {.place = place,
                     .reads = {.threads = place->launch.threads,
                               .objects = place->reference.objects,
                               .object_bytes = place->reference.object_bytes,
                               .warp = place->launch.warp,
                               .segment_bytes = place->launch.segment_bytes},
                     .svg = RS_TEXT_EMPTY};
        size_t warps = rs_warps(&d.reads);
        d.rows = warps < MOST_ROWS ? warps : MOST_ROWS;
        const panel panels[] = {
            {"before", MARGIN, place->reference.index, place->reference.objects,
             plan->facts.transactions_before},
            {"after", RIGHT_PANEL, index, plan->slots, plan->facts.transactions_after}};
        add_picture(&d, panels);
        status = d.svg.failed ? rs_fail_memory("the picture")
                              : rs_text_write_file(path, d.svg.data, d.svg.size);
        rs_text_free(&d.svg);
    }
    free(index);
    return status;
}
