/*
 * The analysis as one page without outside resources: for each reference its matrix and offset, and
 * a picture of what a few neighbouring threads touch (after figures 4 to 6 of Jang 2011).
 */
#include "base/json.h"
#include "programs/analyze/report.h"

#include "console/page.h"

#include <stdlib.h>
#include <string.h>

extern const char rs_analyze_style[];

/* A picture: a window of elements, four threads, four steps in each. */
enum { THREADS = 4, STEPS = 4, WINDOW_ROWS = 8, WINDOW_COLUMNS = 20, CELL = 18, LARGEST = 5 };

/* ---- matrices ---- */

static void add_cell(rs_text *page, const char *text, const json_t *column)
{
    rs_text_format(page, "<td class=\"%s%s\">",
                   column != NULL && rs_json_flag_of(column, "between") ? "between " : "",
                   column != NULL && rs_json_flag_of(column, "auxiliary") ? "auxiliary" : "");
    rs_page_escaped(page, text);
    rs_text_add_string(page, "</td>");
}

static void add_matrix(rs_text *page, const json_t *matrix, const json_t *columns)
{
    size_t row, i;
    json_t *entries, *entry;
    rs_text_add_string(page, "<span class=\"matrix\"><table>");
    json_array_foreach(matrix, row, entries)
    {
        rs_text_add_string(page, "<tr>");
        json_array_foreach(entries, i, entry)
            add_cell(page, json_string_value(entry), json_array_get(columns, i));
        rs_text_add_string(page, "</tr>");
    }
    rs_text_add_string(page, "</table></span>");
}

static void add_vector(rs_text *page, const json_t *vector)
{
    size_t i;
    json_t *entry;
    rs_text_add_string(page, "<span class=\"matrix\"><table>");
    json_array_foreach(vector, i, entry)
    {
        rs_text_add_string(page, "<tr>");
        add_cell(page, json_string_value(entry), NULL);
        rs_text_add_string(page, "</tr>");
    }
    rs_text_add_string(page, "</table></span>");
}

static void add_equation(rs_text *page, const json_t *reference)
{
    const json_t *columns = json_object_get(reference, "columns");
    size_t i;
    json_t *column;
    rs_text_add_string(page, "<div class=\"equation\">m = ");
    if (json_array_size(columns) > 0) {
        add_matrix(page, json_object_get(reference, "matrix"), columns);
        rs_text_add_string(page, "<span class=\"matrix\"><table>");
        json_array_foreach(columns, i, column)
        {
            rs_text_add_string(page, "<tr>");
            add_cell(page, rs_page_string(column, "name"), column);
            rs_text_add_string(page, "</tr>");
        }
        rs_text_add_string(page, "</table></span> + ");
    }
    add_vector(page, json_object_get(reference, "offset"));
    rs_text_add_string(page, "</div>");
}

/* ---- pictures ---- */

/* A number to draw for an entry: small ones as they are, parameters and large ones as LARGEST. */
static int drawn(const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (*end != '\0' || end == text)
        value = text[0] == '-' ? -LARGEST : LARGEST;
    return value > LARGEST ? LARGEST : value < -LARGEST ? -LARGEST : (int)value;
}

typedef struct {
    int threads[WINDOW_ROWS][WINDOW_COLUMNS]; /* one bit a thread */
    int step[WINDOW_ROWS][WINDOW_COLUMNS];
    int rows, columns;
    int first[2]; /* row and column of the element whose last two subscripts are 0 */
} picture;

static bool column_moves(const json_t *matrix, size_t column)
{
    for (size_t row = 0; row < json_array_size(matrix); row++)
        if (drawn(json_string_value(json_array_get(json_array_get(matrix, row), column))) != 0)
            return true;
    return false;
}

/* Indices of threads before those of groups, x before y before z; of loops, the innermost. */
static int rank_of(const json_t *column, bool moves)
{
    const char *name = rs_page_string(column, "name"), *dot = strrchr(name, '.');
    if (strncmp(name, "group.", 6) == 0 || rs_json_flag_of(column, "auxiliary"))
        return -1;
    bool thread = strncmp(name, "global.", 7) == 0 || strncmp(name, "local.", 6) == 0;
    return thread ? 2 * ('z' - dot[1]) + moves : 100;
}

/* The column of neighbouring threads, or of the steps in a thread; -1 for none. */
static int moving_column(const json_t *reference, bool between)
{
    const json_t *columns = json_object_get(reference, "columns");
    const json_t *matrix = json_object_get(reference, "matrix");
    int found = -1, best = -1;
    for (size_t i = 0; i < json_array_size(columns); i++) {
        const json_t *column = json_array_get(columns, i);
        int rank = rank_of(column, column_moves(matrix, i));
        if (rs_json_flag_of(column, "between") == between && rank >= best && rank >= 0) {
            best = rank;
            found = (int)i;
        }
    }
    return found;
}

static int entry_at(const json_t *reference, size_t row, int column)
{
    const json_t *entries = json_array_get(json_object_get(reference, "matrix"), row);
    const json_t *entry = column < 0 ? NULL : json_array_get(entries, (size_t)column);
    return entry == NULL ? 0 : drawn(json_string_value(entry));
}

static void mark(picture *p, int row, int column, int thread, int step)
{
    if (row < 0 || row >= WINDOW_ROWS || column < 0 || column >= WINDOW_COLUMNS)
        return;
    if (p->threads[row][column] == 0)
        p->step[row][column] = step;
    p->threads[row][column] |= 1 << thread;
    p->rows = row >= p->rows ? row + 1 : p->rows;
    p->columns = column >= p->columns ? column + 1 : p->columns;
}

/* The first element that is touched decides where the window starts. */
static void draw(picture *p, const json_t *reference)
{
    const json_t *offset = json_object_get(reference, "offset");
    size_t rows = json_array_size(offset);
    int between = moving_column(reference, true), within = moving_column(reference, false);
    bool random = strstr(rs_page_string(reference, "classes"), "random") != NULL;
    memset(p, 0, sizeof *p);
    p->rows = rows > 1 ? 5 : 1;
    p->columns = 12;
    for (int pass = 0, least[2] = {0, 0}; pass < 2; pass++)
        for (int thread = 0; thread < (between < 0 ? 1 : THREADS); thread++)
            for (int step = 0; step < (within < 0 ? 1 : STEPS); step++) {
                int at[2] = {0, 0};
                for (size_t d = 0; d < 2 && d < rows; d++) {
                    size_t row = rows - 1 - d;
                    at[d] = entry_at(reference, row, between) * thread +
                            entry_at(reference, row, within) * step +
                            drawn(json_string_value(json_array_get(offset, row)));
                    if (random)
                        at[d] = (7 * thread + 5 * step * step + 3 * (int)d * thread + 2) % 11;
                    if (pass == 0 && at[d] < least[d])
                        least[d] = at[d];
                }
                if (pass == 1)
                    mark(p, at[1] - least[1], at[0] - least[0], thread, step);
                p->first[0] = random ? WINDOW_ROWS : -least[1];
                p->first[1] = -least[0];
            }
}

static void add_picture(rs_text *page, const json_t *reference)
{
    static const char *const classes[] = {"t0", "t1", "t2", "t3"};
    picture p;
    draw(&p, reference);
    rs_text_format(page,
                   "<svg class=\"pattern\" role=\"img\" width=\"%d\" height=\"%d\" viewBox=\"0 0 "
                   "%d %d\"><title>",
                   p.columns * CELL + 2, p.rows * CELL + 2, p.columns * CELL + 2,
                   p.rows * CELL + 2);
    rs_page_escaped(page, rs_page_string(reference, "classes"));
    rs_text_add_string(page, "</title>");
    for (int row = 0; row < p.rows; row++)
        for (int column = 0; column < p.columns; column++) {
            int threads = p.threads[row][column];
            const char *class = "cell";
            for (int t = THREADS - 1; t >= 0; t--)
                class = (threads & 1 << t) != 0 ? classes[t] : class;
            if ((threads & (threads - 1)) != 0)
                class = "all";
            int x = column * CELL + 1, y = row * CELL + 1;
            rs_text_format(page,
                           "<rect class=\"cell\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>", x,
                           y, CELL, CELL);
            if (threads != 0)
                rs_text_format(page,
                               "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
                               "rx=\"2\"/><text x=\"%d\" y=\"%d\">%d</text>",
                               class, x + 1, y + 1, CELL - 2, CELL - 2, x + CELL / 2,
                               y + CELL / 2 + 4, p.step[row][column]);
        }
    if (p.first[0] < p.rows && p.first[1] < p.columns)
        rs_text_format(page, "<rect class=\"first\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>",
                       p.first[1] * CELL + 1, p.first[0] * CELL + 1, CELL, CELL);
    rs_text_add_string(page, "</svg>");
}

/* ---- sections ---- */

static void add_reference(rs_text *page, const json_t *r)
{
    bool read = rs_json_flag_of(r, "read"), write = rs_json_flag_of(r, "write");
    rs_text_add_string(page, "<div class=\"reference\"><div><b class=\"mono\">");
    rs_page_escaped(page, rs_page_string(r, "text"));
    rs_text_format(page, "</b> <span class=\"soft\">line %lld, %s%s</span>",
                   rs_json_integer_of(r, "line"), rs_json_flag_of(r, "atomic") ? "atomic " : "",
                   read && write ? "read and written"
                   : write       ? "written"
                                 : "read");
    add_equation(page, r);
    rs_page_escaped(page, rs_page_string(r, "classes"));
    rs_text_format(
        page, "%s%s<br><span class=\"soft\">%s%lld transaction%s a warp</span>",
        rs_json_flag_of(r, "approximated") ? " <span class=\"chip kept\">approximated</span>" : "",
        rs_json_flag_of(r, "divided") ? " <span class=\"chip\">flat subscript</span>" : "",
        rs_json_flag_of(r, "exact") ? "" : "up to ", rs_json_integer_of(r, "transactions"),
        rs_json_integer_of(r, "transactions") == 1 ? "" : "s");
    rs_text_add_string(page, "</div><div>");
    add_picture(page, r);
    rs_text_add_string(page, "</div></div>\n");
}

static void add_loops(rs_text *page, const json_t *loops)
{
    size_t i;
    json_t *loop;
    if (json_array_size(loops) == 0)
        return;
    rs_text_add_string(page, "<table><tr><th>loop</th><th class=\"number\">line</th><th>its "
                             "iterations</th><th>carries</th></tr>\n");
    json_array_foreach(loops, i, loop)
    {
        rs_text_add_string(page, "<tr><td class=\"mono\">");
        rs_page_escaped(page, rs_page_string(loop, "name"));
        rs_text_format(page, "</td><td class=\"number\">%lld</td><td>%s</td><td>",
                       rs_json_integer_of(loop, "line"),
                       rs_json_flag_of(loop, "thread") ? "are threads" : "are within a thread");
        rs_page_escaped(page, rs_page_string(loop, "carried"));
        if (json_object_get(loop, "what") != NULL) {
            rs_text_add_string(page, " through <code>");
            rs_page_escaped(page, rs_page_string(loop, "what"));
            rs_text_add_string(page,
                               rs_json_flag_of(loop, "certain") ? "</code>" : "</code>, perhaps");
        }
        rs_text_add_string(page, "</td></tr>\n");
    }
    rs_text_add_string(page, "</table>\n");
}

static void add_arrays(rs_text *page, const json_t *arrays)
{
    size_t i;
    json_t *array;
    rs_text_add_string(page, "<h3>Arrays</h3><table><tr><th>array</th><th>elements</th><th>use</th>"
                             "<th>memory space</th><th>layout</th></tr>\n");
    json_array_foreach(arrays, i, array)
    {
        const json_t *advice = json_object_get(array, "advice");
        rs_text_add_string(page, "<tr><td class=\"mono\">");
        rs_page_escaped(page, rs_page_string(array, "name"));
        rs_text_add_string(page, "</td><td class=\"mono\">");
        rs_page_escaped(page, rs_page_string(array, "type"));
        rs_text_format(page, ", %lld bytes each", rs_json_integer_of(array, "element"));
        if (rs_json_integer_of(array, "bytes") > 0)
            rs_text_format(page, ", %lld in all", rs_json_integer_of(array, "bytes"));
        rs_text_format(page, "</td><td>%s%s%s%s%s</td><td>",
                       rs_json_flag_of(array, "written") ? "written" : "read-only",
                       rs_json_flag_of(array, "reused") ? ", reused" : ", not reused",
                       rs_json_flag_of(array, "chunkable") ? ", chunkable" : "",
                       rs_json_flag_of(array, "same_address") ? ", same address" : "",
                       rs_json_flag_of(array, "coalesced") ? ", coalesced" : ", not coalesced");
        bool placed = json_object_get(array, "memory") != NULL;
        rs_page_escaped(page, rs_page_string(array, placed ? "memory" : "space"));
        rs_text_add_string(page, placed ? "</td><td>" : " (as in the source)</td><td>");
        if (advice != NULL) {
            rs_text_add_string(page, "<code>");
            rs_page_escaped(page, rs_page_string(advice, "layout"));
            rs_text_format(page, "</code>: %lld transactions instead of %lld",
                           rs_json_integer_of(advice, "then"), rs_json_integer_of(advice, "now"));
        }
        const json_t *kept = json_object_get(array, "kept_advice");
        if (kept != NULL) {
            rs_text_add_string(page, "as it is: ");
            rs_page_escaped(page, rs_page_string(kept, "reason"));
            rs_text_format(page, " (line %lld)", rs_json_integer_of(kept, "line"));
        }
        if (json_object_get(json_object_get(array, "parallel"), "layout") != NULL) {
            rs_text_add_string(page, advice != NULL || kept != NULL ? "; <code>" : "<code>");
            rs_page_escaped(page, rs_page_string(json_object_get(array, "parallel"), "layout"));
            rs_text_add_string(page, "</code> for concurrent accesses");
        }
        rs_text_add_string(page, "</td></tr>\n");
    }
    rs_text_add_string(page, "</table>\n");
}

static void add_group(rs_text *page, const json_t *unit, const json_t *group)
{
    size_t i;
    json_t *rule;
    rs_text_format(page, "<p>Line %lld: vectors <b>%s</b>", rs_json_integer_of(group, "line"),
                   rs_page_string(group, "verdict"));
    if (json_is_string(json_object_get(group, "target"))) {
        rs_text_add_string(page, ", along <code>");
        rs_page_escaped(page, rs_page_string(group, "target"));
        rs_text_add_string(page, "</code>");
    }
    rs_text_format(page, "; Q<sub>V</sub> = %.1f %% (%lld of %lld). ",
                   json_real_value(json_object_get(group, "qv")),
                   rs_json_integer_of(group, "vectorizable"),
                   rs_json_integer_of(group, "instances"));
    rs_page_escaped(page, rs_page_string(group, "reason"));
    rs_text_add_string(page, "</p>\n");
    if (json_array_size(json_object_get(group, "rules")) == 0)
        return;
    rs_text_add_string(page, "<table><tr><th>reference</th><th>rule</th><th>T<sub>m</sub></th>"
                             "<th>t<sub>v</sub></th></tr>\n");
    json_array_foreach(json_object_get(group, "rules"), i, rule)
    {
        const json_t *r = json_array_get(json_object_get(unit, "references"),
                                         (size_t)rs_json_integer_of(rule, "reference"));
        rs_text_add_string(page, "<tr><td class=\"mono\">");
        rs_page_escaped(page, rs_page_string(r, "text"));
        rs_text_format(page, "</td><td>%s</td><td>", rs_page_string(rule, "rule"));
        add_matrix(page, json_object_get(rule, "matrix"), NULL);
        rs_text_add_string(page, "</td><td>");
        add_vector(page, json_object_get(rule, "shift"));
        rs_text_add_string(page, "</td></tr>\n");
    }
    rs_text_add_string(page, "</table>\n");
}

static void add_verdicts(rs_text *page, const json_t *groups)
{
    size_t i;
    json_t *group;
    json_array_foreach(groups, i, group)
    {
        rs_text_format(page, "%sline %lld: %s", i > 0 ? "<br>" : "",
                       rs_json_integer_of(group, "line"), rs_page_string(group, "verdict"));
    }
}

/* All functions with what becomes of them, for sources with several. */
static void add_overview(rs_text *page, const json_t *units)
{
    size_t u, i;
    json_t *unit, *r;
    if (json_array_size(units) < 2)
        return;
    rs_text_add_string(page,
                       "<table><tr><th>function</th><th class=\"number\">line</th>"
                       "<th class=\"number\">references</th><th class=\"number\">transactions "
                       "a warp</th><th>short vectors</th></tr>\n");
    json_array_foreach(units, u, unit)
    {
        const json_t *references = json_object_get(unit, "references");
        long long transactions = 0;
        bool exact = true;
        json_array_foreach(references, i, r)
        {
            transactions += rs_json_integer_of(r, "transactions");
            exact = exact && rs_json_flag_of(r, "exact");
        }
        rs_text_format(page, "<tr><td class=\"mono\"><a href=\"#unit-%zu\">", u);
        rs_page_escaped(page, rs_page_string(unit, "name"));
        rs_text_format(page,
                       "</a></td><td class=\"number\">%lld</td><td class=\"number\">%zu</td>"
                       "<td class=\"number\">%s%lld</td><td>",
                       rs_json_integer_of(unit, "line"), json_array_size(references),
                       exact ? "" : "up to ", transactions);
        add_verdicts(page, json_object_get(unit, "groups"));
        rs_text_add_string(page, "</td></tr>\n");
    }
    rs_text_add_string(page, "</table>\n");
}

static void add_unit(rs_text *page, const json_t *unit, size_t number)
{
    size_t i;
    json_t *value;
    rs_text_format(page, "<h2 id=\"unit-%zu\">%s <code>", number,
                   rs_json_flag_of(unit, "kernel") ? "Kernel" : "Function");
    rs_page_escaped(page, rs_page_string(unit, "name"));
    rs_text_format(page, "</code> <span class=\"soft\">line %lld</span></h2>\n",
                   rs_json_integer_of(unit, "line"));
    add_loops(page, json_object_get(unit, "loops"));
    rs_text_add_string(page, "<h3>References</h3>\n");
    json_array_foreach(json_object_get(unit, "references"), i, value) add_reference(page, value);
    add_arrays(page, json_object_get(unit, "arrays"));
    if (json_array_size(json_object_get(unit, "groups")) > 0)
        rs_text_add_string(page, "<h3>Short vectors</h3>\n");
    json_array_foreach(json_object_get(unit, "groups"), i, value) add_group(page, unit, value);
}

static void add_notes(rs_text *page, const json_t *notes)
{
    size_t i;
    json_t *note;
    if (json_array_size(notes) == 0)
        return;
    rs_text_add_string(page, "<h2>What could not be read</h2><ul>\n");
    json_array_foreach(notes, i, note)
    {
        rs_text_add_string(page, "<li><code>");
        rs_page_escaped(page, rs_page_string(note, "file"));
        rs_text_format(page, ":%lld</code> ", rs_json_integer_of(note, "line"));
        rs_page_escaped(page, rs_page_string(note, "sentence"));
        rs_text_add_string(page, "</li>\n");
    }
    rs_text_add_string(page, "</ul>\n");
}

void rs_analysis_html(rs_text *page, const json_t *reply)
{
    size_t i;
    json_t *value;
    rs_text title = RS_TEXT_EMPTY;
    rs_text_format(&title, "%s: access patterns", rs_page_string(reply, "file"));
    rs_page_begin(page, title.data, rs_analyze_style);
    rs_text_free(&title);
    rs_text_add_string(page, "<h1>");
    rs_page_escaped(page, rs_page_string(reply, "file"));
    rs_text_add_string(page, "</h1>\n");
    rs_judgement_html(page, reply);
    rs_text_format(
        page,
        "<h1>Access patterns</h1>\n<p class=\"soft\">%s. Columns of M that are between threads are "
        "shaded, "
        "auxiliary terms slanted. The pictures show the last two dimensions near the "
        "first element touched: <span class=\"legend\">thread "
        "<span style=\"background:#14746f\"></span>0<span "
        "style=\"background:#c2571a\"></span>1<span style=\"background:#5b62b5\"></span>2"
        "<span style=\"background:#a3467a\"></span>3<span "
        "style=\"background:#5b6676\"></span>several</span>; the number is the step "
        "within the thread. Where the last two subscripts are 0 is a frame. Parameters and "
        "strides above %d are drawn as %d.</p>\n",
        rs_page_string(reply, "language"), LARGEST, LARGEST);
    if (json_array_size(json_object_get(reply, "units")) == 0)
        rs_text_add_string(page, "<p>No kernel and no loop that touches an array was found.</p>\n");
    add_overview(page, json_object_get(reply, "units"));
    json_array_foreach(json_object_get(reply, "units"), i, value) add_unit(page, value, i);
    add_notes(page, json_object_get(reply, "notes"));
    rs_page_end(page);
}
