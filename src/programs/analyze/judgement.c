/*
 * The judgement of layouts, for whoever sees this program for the first time: for each array of
 * structures what the threads do with it, which layout is expected to gain how much, and why.
 */
#include "base/json.h"
#include "console/page.h"
#include "programs/analyze/report.h"

#include <math.h>
#include <string.h>

enum { WARP = 32, PIECE = 32, MOST_SQUARES = 64, SQUARE = 11, TEXT_BAR = 32 };

static const char assumed[] = "Expected for arrays larger than the caches where the source does "
                              "not tell their size.";

static bool is_change(const json_t *argument)
{
    return strcmp(rs_json_string_of(argument, "layout"), "i f") != 0;
}

/* Why the rewriter keeps an array: {reason, file, line}, or NULL. */
static const json_t *kept_by_rewriter(const json_t *unit, const json_t *argument)
{
    const json_t *array =
        rs_json_named(json_object_get(unit, "arrays"), rs_json_string_of(argument, "array"));
    return is_change(argument) ? json_object_get(array, "kept_advice") : NULL;
}

/* Pieces of 32 bytes for one load or store of a warp. */
static double pieces(const json_t *argument, const char *key)
{
    double requests = rs_json_number_of(argument, "requests");
    return requests > 0 ? rs_json_number_of(argument, key) / requests : 0;
}

static void add_factor(rs_text *text, double gain)
{
    if (fabs(gain - 1) < 0.02)
        rs_text_add_string(text, "no difference");
    else
        rs_text_format(text, "%.1f times as fast", gain);
}

/* The other layouts that were compared, widths of tiles aside. */
static void add_candidates(rs_text *text, const json_t *argument)
{
    size_t i, added = 0;
    json_t *candidate;
    json_array_foreach(json_object_get(argument, "candidates"), i, candidate)
    {
        const char *layout = rs_json_string_of(candidate, "layout");
        if (strcmp(layout, "i f") == 0 ||
            strcmp(layout, rs_json_string_of(argument, "layout")) == 0 ||
            strstr(layout, "i/64 ") == layout || strcmp(layout, "i/128 f i%128") == 0)
            continue;
        const char *meaning = rs_json_string_of(candidate, "meaning");
        rs_text_format(text, "%s%.*s: %.2f", added++ > 0 ? "; " : "", (int)strcspn(meaning, ","),
                       meaning, rs_json_number_of(candidate, "gain"));
    }
}

/* ---- text ---- */

static void add_bar(rs_text *text, const char *label, double count)
{
    int length = (int)fmin(TEXT_BAR, fmax(1, round(count)));
    rs_text_format(text, "      %-5s ", label);
    for (int i = 0; i < length; i++)
        rs_text_add_string(text, "#");
    rs_text_format(text, " %.0f\n", count);
}

/* "name: 48 bytes, 12 of them touched; what the threads do" */
static void add_subject(rs_text *text, const json_t *argument)
{
    int element = (int)rs_json_integer_of(argument, "element"),
        touched = (int)rs_json_integer_of(argument, "touched");
    const bool known = strcmp(rs_json_string_of(argument, "class"), "unknown") != 0;
    rs_text_format(text, "%d bytes an element%s ", element, known ? "," : ";");
    if (known && touched >= element)
        rs_text_add_string(text, "all touched; ");
    else if (known) /* else they may be more than were counted */
        rs_text_format(text, "%d of them touched; ", touched);
    rs_text_add_string(text, rs_json_string_of(argument, "lanes"));
    if (strcmp(rs_json_string_of(argument, "class"), "group") == 0)
        rs_text_format(text, " (%d)", (int)rs_json_integer_of(argument, "group"));
    size_t i;
    json_t *also;
    json_array_foreach(json_object_get(argument, "also"), i, also)
    {
        rs_text_format(text, "; elsewhere %s", json_string_value(also));
    }
}

/* Words in lines of at most WIDTH characters; the first line has `at` of them already. */
static void add_wrapped(rs_text *text, size_t at, const char *words)
{
    enum { WIDTH = 100, INDENT = 6 };
    for (bool first = true; *words != '\0'; first = false) {
        size_t length = strcspn(words, " ");
        bool breaks = !first && at + 1 + length > WIDTH;
        if (breaks)
            rs_text_format(text, "\n%*s", INDENT, "");
        else if (!first)
            rs_text_add_string(text, " ");
        rs_text_format(text, "%.*s", (int)length, words);
        at = (breaks ? INDENT : at + !first) + length;
        words += length;
        words += strspn(words, " ");
    }
    rs_text_add_string(text, "\n");
}

static void add_change(rs_text *text, const json_t *unit, const json_t *argument)
{
    const json_t *kept = kept_by_rewriter(unit, argument);
    rs_text line = RS_TEXT_EMPTY;
    rs_text_format(text, "    layout \"%s\": ", rs_json_string_of(argument, "layout"));
    add_factor(text, rs_json_number_of(argument, "gain"));
    rs_text_format(text, "\n      %s\n", rs_json_string_of(argument, "meaning"));
    rs_text_format(&line, "because %s", rs_json_string_of(argument, "reason"));
    rs_text_add_string(text, "      ");
    add_wrapped(text, 6, line.data != NULL ? line.data : "");
    rs_text_add_string(text,
                       "      32-byte pieces of memory for one load or store of 32 threads:\n");
    add_bar(text, "now", pieces(argument, "sectors_now"));
    add_bar(text, "then", pieces(argument, "sectors_then"));
    rs_text_add_string(text, "      times as fast in others: ");
    add_candidates(text, argument);
    rs_text_add_string(text, "\n");
    rs_text_free(&line);
    if (kept == NULL)
        return;
    rs_text_format(&line, "but restride rewrite keeps it: %s:%lld: %s",
                   rs_json_string_of(kept, "file"), rs_json_integer_of(kept, "line"),
                   rs_json_string_of(kept, "reason"));
    rs_text_add_string(text, "      ");
    add_wrapped(text, 6, line.data != NULL ? line.data : "");
    rs_text_free(&line);
}

static void add_argument(rs_text *text, const json_t *unit, const json_t *argument)
{
    rs_text subject = RS_TEXT_EMPTY;
    rs_text_format(&subject, "%s: ", rs_json_string_of(argument, "array"));
    add_subject(&subject, argument);
    rs_text_add_string(text, "  ");
    add_wrapped(text, 2, subject.data != NULL ? subject.data : "");
    rs_text_free(&subject);
    if (is_change(argument)) {
        add_change(text, unit, argument);
        return;
    }
    rs_text_add_string(text, "    leave it as it is: ");
    add_wrapped(text, 23, rs_json_string_of(argument, "reason"));
}

void rs_judgement_text(rs_text *text, const json_t *reply)
{
    size_t u, k, kernels = 0;
    json_t *unit, *argument;
    json_array_foreach(json_object_get(reply, "units"), u, unit)
    {
        const json_t *judgement = json_object_get(unit, "judgement");
        const json_t *arguments = json_object_get(judgement, "arguments");
        if (judgement == NULL)
            continue;
        if (kernels++ == 0)
            rs_text_format(text, "\nWhich layout? Expected on one %s:\n",
                           rs_json_string_of(judgement, "device"));
        rs_text_format(text, "\n%s (line %d): ", rs_json_string_of(unit, "name"),
                       (int)rs_json_integer_of(unit, "line"));
        if (json_array_size(arguments) == 0)
            rs_text_add_string(text, "has no array of structures");
        else if (rs_json_number_of(judgement, "gain") < 1.02)
            rs_text_add_string(text, "nothing to gain");
        else
            add_factor(text, rs_json_number_of(judgement, "gain"));
        rs_text_add_string(text, "\n");
        json_array_foreach(arguments, k, argument) add_argument(text, unit, argument);
    }
    if (kernels > 0) {
        rs_text_add_string(text, "\n");
        rs_text_add_string(text, assumed);
        rs_text_add_string(text, "\nThe references that this was read from:\n");
    }
}

/* ---- HTML ---- */

/* One square for each piece, as far as it is used filled. */
static void add_squares(rs_text *page, const char *label, double count, double used_bytes,
                        const char *style)
{
    int squares = (int)fmin(MOST_SQUARES, fmax(1, round(count)));
    double part = fmin(1, used_bytes / (fmax(1, count) * PIECE));
    rs_text_format(page,
                   "<div class=\"pieces\"><span>%s</span><svg role=\"img\" width=\"%d\" "
                   "height=\"%d\" aria-label=\"%.0f pieces\">",
                   label, squares * (SQUARE + 2), SQUARE + 2, count);
    for (int i = 0; i < squares; i++) {
        rs_text_format(page,
                       "<rect class=\"piece\" x=\"%d\" y=\"1\" width=\"%d\" height=\"%d\"/>"
                       "<rect class=\"%s\" x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/>",
                       i * (SQUARE + 2) + 1, SQUARE, SQUARE, style, i * (SQUARE + 2) + 1,
                       1 + SQUARE * (1 - part), SQUARE, SQUARE * part);
    }
    rs_text_format(page, "</svg><span>%.0f</span></div>\n", count);
}

static void add_argument_card(rs_text *page, const json_t *unit, const json_t *argument)
{
    const json_t *kept = kept_by_rewriter(unit, argument);
    double requests = fmax(1, rs_json_number_of(argument, "requests"));
    double width = (int)rs_json_integer_of(argument, "touched") / requests *
                   fmax(1, (int)rs_json_integer_of(argument, "group") * 1.0);
    bool changes = is_change(argument);
    bool same = strcmp(rs_json_string_of(argument, "class"), "same") == 0;
    width = strcmp(rs_json_string_of(argument, "class"), "walk") == 0 ||
                    strcmp(rs_json_string_of(argument, "class"), "within") == 0
                ? 4
                : width;
    rs_text_add_string(page, "<div class=\"card judged\"><h3><code>");
    rs_page_escaped(page, rs_json_string_of(argument, "array"));
    rs_text_format(page, "</code> <span class=\"chip %s\">", changes ? "transformed" : "possible");
    if (changes)
        add_factor(page, rs_json_number_of(argument, "gain"));
    else
        rs_text_add_string(page, "leave it as it is");
    rs_text_add_string(page, "</span></h3>\n<p class=\"soft\">");
    add_subject(page, argument);
    rs_text_add_string(page, ".</p>\n");
    add_squares(page, "now", pieces(argument, "sectors_now"), same ? width : WARP * width, "aos");
    if (changes) {
        add_squares(page, "then", pieces(argument, "sectors_then"), same ? width : WARP * width,
                    "asta");
        rs_text_add_string(page, "<p>Layout <code>");
        rs_page_escaped(page, rs_json_string_of(argument, "layout"));
        rs_text_format(page, "</code>, %s, because ", rs_json_string_of(argument, "meaning"));
    } else {
        rs_text_add_string(page, "<p>Because ");
    }
    rs_page_escaped(page, rs_json_string_of(argument, "reason"));
    rs_text_add_string(page, ".</p>\n");
    if (json_array_size(json_object_get(argument, "candidates")) > 1) {
        rs_text_format(page, "<p class=\"soft\">%s layouts, times as fast: ",
                       changes ? "Other" : "What was compared of other");
        add_candidates(page, argument);
        rs_text_add_string(page, ".</p>\n");
    }
    if (kept != NULL) {
        rs_text_add_string(page, "<p class=\"kept\"><code>restride rewrite</code> keeps it: ");
        rs_page_escaped(page, rs_json_string_of(kept, "reason"));
        rs_text_format(page, " (line %d).</p>\n", (int)rs_json_integer_of(kept, "line"));
    }
    rs_text_add_string(page, "</div>\n");
}

void rs_judgement_html(rs_text *page, const json_t *reply)
{
    size_t u, k, kernels = 0;
    json_t *unit, *argument;
    json_array_foreach(json_object_get(reply, "units"), u, unit)
    {
        const json_t *judgement = json_object_get(unit, "judgement");
        const json_t *arguments = json_object_get(judgement, "arguments");
        if (judgement == NULL)
            continue;
        if (kernels++ == 0)
            rs_text_format(page,
                           "<p>Which layout do its arrays of structures gain from, on one %s? Each "
                           "square is a piece of 32 bytes that one load or store of 32 threads "
                           "moves; the filled part is what they asked for.</p>\n",
                           rs_json_string_of(judgement, "device"));
        rs_text_format(page, "<h2><code>");
        rs_page_escaped(page, rs_json_string_of(unit, "name"));
        rs_text_format(
            page, "</code> <span class=\"soft\">line %d: ", (int)rs_json_integer_of(unit, "line"));
        if (json_array_size(arguments) == 0)
            rs_text_add_string(page, "no array of structures");
        else if (rs_json_number_of(judgement, "gain") < 1.02)
            rs_text_add_string(page, "nothing to gain");
        else
            add_factor(page, rs_json_number_of(judgement, "gain"));
        rs_text_add_string(page, "</span></h2>\n");
        json_array_foreach(arguments, k, argument) add_argument_card(page, unit, argument);
    }
    if (kernels > 0)
        rs_text_format(page, "<p class=\"soft\">%s</p>\n", assumed);
}
