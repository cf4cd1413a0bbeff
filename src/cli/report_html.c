/*
 * The report as one HTML page without outside resources: what was done, what it cost and gained,
 * what was left alone and why, and how the structures lie in memory before and after.
 */
#include "base/json.h"
#include "base/text.h"
#include "cli/run_report.h"
#include "console/page.h"
#include "layout/layout.h"
#include "layout/picture.h"
#include "layout/record_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHART_WIDTH = 900, LABEL_WIDTH = 220, BAR_WIDTH = 540, BAR_HEIGHT = 18, BAR_STEP = 24 };

static bool is_transformed(const json_t *argument)
{
    return strcmp(rs_page_string(argument, "status"), "transformed") == 0;
}

/* ---- head ---- */

static void add_head(rs_text *page, const json_t *report)
{
    size_t i;
    json_t *word;
    rs_page_begin(page, "Restride report", NULL);
    rs_text_add_string(page, "<h1>Restride report</h1>\n<p><code>");
    json_array_foreach(json_object_get(report, "program"), i, word)
    {
        rs_text_add_string(page, i > 0 ? " " : "");
        rs_page_escaped(page, json_string_value(word));
    }
    rs_text_format(page, "</code></p>\n<p class=\"soft\">Restride %s, policy %s, tiles of %.0f",
                   rs_page_string(report, "restride"), rs_page_string(report, "policy"),
                   rs_json_number_of(report, "tile"));
    json_array_foreach(json_object_get(report, "devices"), i, word)
    {
        rs_text_add_string(page, i > 0 ? ", " : ", on ");
        rs_page_escaped(page, json_string_value(word));
    }
    int signal = (int)rs_json_number_of(report, "signal");
    if (signal != 0)
        rs_text_format(page, ". The program was ended by signal %d", signal);
    else
        rs_text_format(page, ". The program ended with status %.0f",
                       rs_json_number_of(report, "exit_status"));
    rs_text_add_string(page, ".</p>\n");
}

/* ---- the numbers ---- */

typedef struct {
    rs_run_counts counts;
    double marshal_seconds, marshal_bytes, marshal_count;
    double timed_bytes, timed_count; /* of the conversions that were timed */
    double births, birth_bytes;      /* arrays that took no conversion */
    const json_t *baseline;          /* NULL: none */
} totals;

static totals add_up(const json_t *report)
{
    totals sums = {.counts = rs_run_report_count(report)};
    const json_t *marshal = json_object_get(report, "marshal");
    sums.marshal_seconds = rs_json_number_of(marshal, "seconds");
    sums.marshal_bytes = rs_json_number_of(marshal, "bytes");
    sums.marshal_count = rs_json_number_of(marshal, "count");
    sums.births = rs_json_number_of(marshal, "from_birth");
    sums.birth_bytes = rs_json_number_of(marshal, "from_birth_bytes");
    sums.timed_bytes = rs_run_report_timed(marshal, RS_CONVERTED_BYTES);
    sums.timed_count = rs_run_report_timed(marshal, RS_CONVERSIONS);
    sums.baseline = json_object_get(report, "baseline");
    return sums;
}

/* The seconds of `timed` launches or conversions out of `all`. */
static void add_time_card(rs_text *page, double seconds, const char *label, double timed,
                          double all)
{
    rs_text_add_string(page, "<div class=\"card\"><b>");
    rs_page_time(page, seconds);
    rs_text_format(page, "</b>%s", label);
    rs_run_report_add_share(page, timed, all);
    rs_text_add_string(page, "</div>\n");
}

/* What the kernels gained against the baseline. */
static void add_gain(rs_text *page, const json_t *baseline)
{
    const double gained = rs_json_number_of(baseline, "kernel_seconds") -
                          rs_json_number_of(baseline, "compared_seconds");
    rs_text_add_string(page, gained < 0 ? " Against the baseline the kernels lost "
                                        : " Against the baseline the kernels gained ");
    rs_page_time(page, fabs(gained));
    if (json_object_get(baseline, "paid_back_launches") != NULL)
        rs_text_format(page, "; the conversions were paid back after %.1f launches of %.0f",
                       rs_json_number_of(baseline, "paid_back_launches"),
                       rs_json_number_of(baseline, "compared_launches"));
    rs_text_add_string(page, ".");
}

static void add_cards(rs_text *page, const totals *sums)
{
    const rs_run_counts *counts = &sums->counts;
    const size_t *arguments = counts->arguments;
    size_t all = 0;
    for (int i = 0; i < RS_ARGUMENT_STATUSES; i++)
        all += arguments[i];
    rs_text_format(page,
                   "<div class=\"cards\">\n<div class=\"card\"><b>%zu of %zu</b>pointer arguments "
                   "in %s</div>\n",
                   arguments[RS_TRANSFORMED], all, counts->layout);
    if (arguments[RS_TRIED] > 0)
        rs_text_format(page, "<div class=\"card\"><b>%zu</b>tried there, not kept</div>\n",
                       arguments[RS_TRIED]);
    add_time_card(page, counts->seconds, "in kernels", counts->timed, counts->launches);
    add_time_card(page, sums->marshal_seconds, "in conversions", sums->timed_count,
                  sums->marshal_count);
    if (json_object_get(sums->baseline, "speedup") != NULL)
        rs_text_format(page, "<div class=\"card\"><b>%.2f×</b>kernels against the baseline</div>\n",
                       rs_json_number_of(sums->baseline, "speedup"));
    rs_text_add_string(page, "</div>\n");
    if (sums->marshal_count == 0) {
        rs_text_add_string(page, "<p>Nothing was converted");
    } else {
        rs_text_format(page, "<p>%.0f conversion%s moved ", sums->marshal_count,
                       sums->marshal_count == 1 ? "" : "s");
        rs_page_bytes(page, sums->marshal_bytes);
        rs_text_add_string(page, " in place");
    }
    if (sums->marshal_seconds > 0)
        rs_text_format(page, ", %.1f GB/s read and written",
                       2e-9 * sums->timed_bytes / sums->marshal_seconds);
    if (sums->births > 0) {
        rs_text_format(page, "; %.0f array%s of ", sums->births, sums->births == 1 ? "" : "s");
        rs_page_bytes(page, sums->birth_bytes);
        rs_text_add_string(page, " took none: in their layout from birth");
    }
    rs_text_add_string(page, ".");
    if (json_object_get(sums->baseline, "speedup") != NULL) {
        add_gain(page, sums->baseline);
    } else if (arguments[RS_TRANSFORMED] > 0) {
        rs_text_add_string(page, " What was gained can be seen with <code>--baseline</code> and "
                                 "the report of a run with <code>--policy off</code>.");
    }
    rs_text_add_string(page, "</p>\n");
}

static void add_notes(rs_text *page, const json_t *report)
{
    size_t i;
    json_t *note;
    json_array_foreach(json_object_get(report, "notes"), i, note)
    {
        rs_text_add_string(page, "<p>");
        rs_page_escaped(page, json_string_value(note));
        rs_text_add_string(page, "</p>\n");
    }
}

/* ---- where the time went ---- */

typedef struct {
    rs_text *page;
    double longest;
    int y;
} chart;

static double bar_width(const chart *drawing, double seconds)
{
    double width = drawing->longest > 0 ? seconds / drawing->longest * BAR_WIDTH : 0;
    return width < 1 && seconds > 0 ? 1 : width;
}

/* A bar of `seconds`, of which the last `moved` are launches in another layout. */
static void add_bar(chart *drawing, const char *label, const char *kind, double seconds,
                    double moved)
{
    const double width = bar_width(drawing, seconds), second = bar_width(drawing, moved);
    rs_page_bar_name(drawing->page, LABEL_WIDTH - 10, drawing->y + 14, label);
    rs_text_format(drawing->page,
                   "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" "
                   "height=\"%d\"/><rect class=\"asta\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" "
                   "height=\"%d\"/><text class=\"soft\" x=\"%.1f\" y=\"%d\">",
                   kind, LABEL_WIDTH, drawing->y, width - second, BAR_HEIGHT,
                   LABEL_WIDTH + width - second, drawing->y, second, BAR_HEIGHT,
                   LABEL_WIDTH + width + 8, drawing->y + 14);
    rs_page_time(drawing->page, seconds);
    rs_text_add_string(drawing->page, "</text>\n");
    drawing->y += BAR_STEP;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static void add_chart(rs_text *page, const json_t *report, const totals *sums)
{
    const json_t *kernels = json_object_get(report, "kernels");
    chart drawing = {page, sums->marshal_seconds, 4};
    size_t i, bars = 1;
    json_t *kernel;
    json_array_foreach((json_t *)kernels, i, kernel)
    {
        drawing.longest = larger(drawing.longest, rs_json_number_of(kernel, "seconds"));
        drawing.longest = larger(drawing.longest, rs_json_number_of(kernel, "baseline_seconds"));
        bars += json_object_get(kernel, "baseline_seconds") != NULL ? 2 : 1;
    }
    if (drawing.longest <= 0)
        return;
    int height = (int)bars * BAR_STEP + 8;
    rs_text_format(page,
                   "<h2>Where the time went</h2>\n<div class=\"figure\"><svg role=\"img\" "
                   "aria-label=\"Seconds of each kernel and of the conversions\" width=\"%d\" "
                   "height=\"%d\" viewBox=\"0 0 %d %d\">\n",
                   CHART_WIDTH, height, CHART_WIDTH, height);
    json_array_foreach((json_t *)kernels, i, kernel)
    {
        if (json_object_get(kernel, "baseline_seconds") != NULL) {
            rs_text label = RS_TEXT_EMPTY;
            rs_text_format(&label, "%s, baseline", rs_page_string(kernel, "label"));
            add_bar(&drawing, label.data != NULL ? label.data : "", "aos",
                    rs_json_number_of(kernel, "baseline_seconds"), 0);
            rs_text_free(&label);
        }
        add_bar(&drawing, rs_page_string(kernel, "label"), "aos",
                rs_json_number_of(kernel, "seconds"),
                rs_json_number_of(kernel, "transformed_seconds"));
    }
    add_bar(&drawing, "conversions", "cost", sums->marshal_seconds, 0);
    rs_text_add_string(page, "</svg></div>\n");
}

/* ---- what was done ---- */

static void add_layout_of(rs_text *page, const json_t *argument)
{
    const char *source = rs_page_string(argument, "source_layout");
    rs_text_add_string(page, "<code>");
    rs_page_escaped(page, source);
    rs_text_add_string(page, *source != '\0' ? " → " : "");
    rs_page_escaped(page, rs_page_string(argument, "layout"));
    rs_text_format(page, "</code>, structures of %.0f bytes",
                   rs_json_number_of(json_object_get(argument, "record"), "size"));
}

static void add_reason_of(rs_text *page, const json_t *argument)
{
    rs_page_escaped(page, rs_page_string(argument, "reason"));
    if (json_object_get(argument, "line") != NULL) {
        rs_text_add_string(page, " <span class=\"soft mono\">");
        rs_page_escaped(page, rs_page_string(argument, "file"));
        rs_text_format(page, ":%.0f</span>", rs_json_number_of(argument, "line"));
    }
    if (json_object_get(argument, "source_line") != NULL) {
        rs_text_add_string(page, "<pre>");
        rs_page_escaped(page, rs_page_string(argument, "source_line"));
        rs_text_add_string(page, "</pre>");
    }
}

static void add_argument(rs_text *page, const json_t *argument)
{
    const char *status = rs_page_string(argument, "status");
    const bool is_kept = strcmp(status, "kept") == 0;
    rs_text_add_string(page, "<tr><td></td><td><code>");
    rs_page_escaped(page, rs_page_string(argument, "name"));
    rs_text_add_string(page, "</code> <span class=\"soft mono\">");
    rs_page_escaped(page, rs_page_string(argument, "type"));
    rs_text_format(page, "</span></td><td><span class=\"chip %s\">%s</span></td><td>", status,
                   status);
    if (!is_kept)
        add_layout_of(page, argument);
    if (!is_kept && !is_transformed(argument))
        rs_text_add_string(page, "; ");
    if (!is_transformed(argument))
        add_reason_of(page, argument);
    rs_text_add_string(page, "</td><td></td></tr>\n");
}

/* "600, 1.20 ms"; how many of them were timed, and how many had another layout, where that is
 * neither all nor none. */
static void add_launches(rs_text *page, const json_t *kernel)
{
    const double launches = rs_json_number_of(kernel, "launches");
    const double moved = rs_json_number_of(kernel, "transformed_launches");
    if (json_object_get(kernel, "launches") == NULL) {
        rs_text_add_string(page, "not known");
        return;
    }
    rs_text_format(page, "%.0f, ", launches);
    rs_page_time(page, rs_json_number_of(kernel, "seconds"));
    rs_run_report_add_share(page, rs_run_report_timed(kernel, RS_LAUNCHES), launches);
    if (moved > 0 && moved < launches)
        rs_text_format(page, "<br><span class=\"soft\">%.0f in the other layout</span>", moved);
}

static void add_kernels(rs_text *page, const json_t *report)
{
    size_t i, j;
    json_t *kernel, *argument;
    rs_text_add_string(page, "<h2>Kernels and their arguments</h2>\n<table><thead><tr><th>Kernel"
                             "</th><th>Argument</th><th>Status</th><th>Layout, or the reason"
                             "</th><th class=\"number\">Launches, time</th></tr></thead>\n<tbody>");
    json_array_foreach(json_object_get(report, "kernels"), i, kernel)
    {
        rs_text_add_string(page, "<tr><td colspan=\"3\"><code><b>");
        rs_page_escaped(page, rs_page_string(kernel, "label"));
        rs_text_add_string(page, "</b></code></td><td>");
        if (json_array_size(json_object_get(kernel, "arguments")) == 0)
            rs_page_escaped(page, rs_page_string(kernel, "held_reason"));
        rs_text_add_string(page, "</td><td class=\"number\">");
        add_launches(page, kernel);
        rs_text_add_string(page, "</td></tr>\n");
        json_array_foreach(json_object_get(kernel, "arguments"), j, argument)
        {
            add_argument(page, argument);
        }
    }
    rs_text_add_string(page, "</tbody></table>\n");
}

/* ---- how the structures lie in memory ---- */

enum { DRAWN_TILE = 4, DRAWN_RECORDS = 8 };

static void add_layout(rs_text *page, const rs_record *record, const char *expression)
{
    restride_layout *layout = NULL;
    char *drawing = NULL;
    if (rs_layout_of_record(&layout, record, DRAWN_RECORDS, expression) == RESTRIDE_OK &&
        rs_draw_svg(layout, &drawing) == RESTRIDE_OK)
        rs_page_image(page, drawing, expression);
    free(drawing);
    restride_layout_destroy(layout);
}

static void add_picture(rs_text *page, const json_t *argument)
{
    const json_t *description = json_object_get(argument, "record");
    const char *source = rs_page_string(argument, "source_layout");
    bool tiled = rs_json_number_of(argument, "tile") > 0;
    rs_record record;
    if (rs_record_from_json(&record, description) == RESTRIDE_OK) {
        rs_text_add_string(page, "<details open><summary>Structures <code>");
        rs_page_escaped(page, rs_page_string(description, "name"));
        rs_text_add_string(page, "</code> before and after");
        if (tiled)
            rs_text_format(page, ", drawn with tiles of %d", DRAWN_TILE);
        rs_text_add_string(page, "</summary>\n<div class=\"figure\">");
        add_layout(page, &record, *source != '\0' ? source : "i f");
        add_layout(page, &record, tiled ? "i/4 f i%4" : "f i");
        rs_text_add_string(page, "</div></details>\n");
    }
    rs_record_free(&record);
}

/* What is drawn once: a structure in a pair of layouts. NULL when memory is short. */
static char *key_of_picture(const json_t *argument)
{
    rs_text key = RS_TEXT_EMPTY;
    rs_text_format(&key, "%s: %s to %s",
                   rs_page_string(json_object_get(argument, "record"), "name"),
                   rs_page_string(argument, "source_layout"), rs_page_string(argument, "layout"));
    return rs_text_take(&key);
}

/* One pair of drawings for each structure that was transformed. */
static void add_pictures(rs_text *page, const json_t *report)
{
    size_t i, j;
    json_t *kernel, *argument, *drawn = json_object();
    json_array_foreach(json_object_get(report, "kernels"), i, kernel)
    {
        json_array_foreach(json_object_get(kernel, "arguments"), j, argument)
        {
            char *key = is_transformed(argument) ? key_of_picture(argument) : NULL;
            if (key != NULL && json_object_get(drawn, key) == NULL) {
                if (json_object_size(drawn) == 0)
                    rs_text_add_string(page, "<h2>How the structures lie in memory</h2>\n");
                json_object_set_new(drawn, key, json_true());
                add_picture(page, argument);
            }
            free(key);
        }
    }
    json_decref(drawn);
}

char *rs_run_report_html(const json_t *report)
{
    rs_text page = RS_TEXT_EMPTY;
    totals sums = add_up(report);
    add_head(&page, report);
    if (rs_run_report_is_counted(report))
        add_cards(&page, &sums);
    add_notes(&page, report);
    add_chart(&page, report, &sums);
    rs_page_add_before_and_after(&page, report);
    rs_page_add_break_even(&page, report);
    rs_page_add_time_line(&page, report);
    add_kernels(&page, report);
    add_pictures(&page, report);
    rs_page_end(&page);
    return rs_text_take(&page);
}
