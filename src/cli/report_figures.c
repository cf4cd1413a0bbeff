/* The figures of the report: what ran when, each kernel before and after, and when the conversions
 * are paid back. */
#include "base/json.h"
#include "cli/run_report.h"
#include "console/page.h"
#include "console/plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the time line ---- */

enum {
    WIDTH = 900,
    LABELS = 220, /* pixels for the names */
    LANE = 26,
    BAR = 16,
    AXIS = 26,
    MARGIN = 30, /* behind the last bar, for a tick's label */
    MOST_LANES = 16,
    TICKS = 5
};

typedef struct {
    rs_text *page;
    const char *names[MOST_LANES];
    size_t lanes;
    double end; /* seconds */
} time_line;

static const char *lane_name(const json_t *bar)
{
    const char *kernel = rs_json_string_of(bar, "label");
    return kernel != NULL ? kernel : "conversions";
}

/* The lane of a bar; MOST_LANES when there are too many kernels. */
static size_t lane_of(time_line *line, const json_t *bar)
{
    const char *name = lane_name(bar);
    size_t lane = 0;
    while (lane < line->lanes && strcmp(line->names[lane], name) != 0)
        lane++;
    if (lane == line->lanes && line->lanes < MOST_LANES)
        line->names[line->lanes++] = name;
    return lane;
}

static const char *kind_of(const json_t *bar)
{
    if (json_object_get(bar, "kernel") == NULL)
        return "cost";
    return rs_json_flag_of(bar, "transformed") ? "asta" : "aos";
}

static double pixel(const time_line *line, double seconds)
{
    return LABELS + seconds / line->end * (WIDTH - LABELS - MARGIN);
}

/* Bars that nobody could tell apart are drawn as one. */
typedef struct {
    const char *kind;
    double start, end; /* pixels */
} pending;

static void draw_pending(const time_line *line, pending *bar, size_t lane)
{
    if (bar->kind != NULL)
        rs_text_format(line->page,
                       "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n",
                       bar->kind, bar->start, (int)lane * LANE + 5,
                       bar->end - bar->start < 0.8 ? 0.8 : bar->end - bar->start, BAR);
    bar->kind = NULL;
}

static void draw_lane(time_line *line, const json_t *bars, size_t lane)
{
    pending last = {NULL, 0, 0};
    size_t i;
    json_t *bar;
    rs_page_bar_name(line->page, LABELS - 10, (int)lane * LANE + 5 + 13, line->names[lane]);
    json_array_foreach((json_t *)bars, i, bar)
    {
        if (lane_of(line, bar) != lane)
            continue;
        double start = rs_json_number_of(bar, "start");
        double from = pixel(line, start),
               to = pixel(line, start + rs_json_number_of(bar, "seconds"));
        const char *kind = kind_of(bar);
        if (last.kind != NULL && (strcmp(last.kind, kind) != 0 || from > last.end + 0.4))
            draw_pending(line, &last, lane);
        if (last.kind == NULL)
            last = (pending){kind, from, to};
        else if (to > last.end)
            last.end = to;
    }
    draw_pending(line, &last, lane);
}

/* The next longer step of 1, 2 or 5 times a power of ten. */
static double round_step(double least)
{
    double power = pow(10, floor(log10(least)));
    return power * (least <= power ? 1 : least <= 2 * power ? 2 : least <= 5 * power ? 5 : 10);
}

static void draw_axis(const time_line *line)
{
    static const struct {
        double seconds;
        const char *name;
    } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "µs"}};
    int bottom = (int)line->lanes * LANE + 2;
    double step = round_step(line->end / TICKS);
    int unit = step >= 0.1 ? 0 : step >= 1e-4 ? 1 : 2;
    for (int tick = 0; tick * step <= line->end; tick++) {
        double seconds = tick * step;
        rs_text_format(line->page,
                       "<line class=\"axis\" x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"%d\"/>\n"
                       "<text class=\"soft\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.6g %s"
                       "</text>\n",
                       pixel(line, seconds), pixel(line, seconds), bottom, pixel(line, seconds),
                       bottom + 16, seconds / units[unit].seconds, units[unit].name);
    }
}

void rs_page_add_time_line(rs_text *page, const json_t *report)
{
    const json_t *bars = json_object_get(report, "timeline");
    time_line line = {.page = page};
    size_t i;
    json_t *bar;
    json_array_foreach((json_t *)bars, i, bar)
    {
        double end = rs_json_number_of(bar, "start") + rs_json_number_of(bar, "seconds");
        line.end = end > line.end ? end : line.end;
        lane_of(&line, bar);
    }
    if (line.end <= 0)
        return;
    int height = (int)line.lanes * LANE + AXIS;
    rs_text_format(page,
                   "<h2>What ran when</h2>\n<p class=\"soft\">Launches in the program's own "
                   "layout <span class=\"kept\">■</span>, in the other <span "
                   "class=\"transformed\">■</span>, and conversions <span "
                   "class=\"converted\">■</span>; the first %zu of them.</p>\n"
                   "<div class=\"figure\"><svg id=\"time-line\" role=\"img\" aria-label=\"Time "
                   "line\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n",
                   json_array_size(bars), WIDTH, height, WIDTH, height);
    draw_axis(&line);
    for (size_t lane = 0; lane < line.lanes; lane++)
        draw_lane(&line, bars, lane);
    rs_text_add_string(page, "</svg></div>\n");
}

/* ---- before and after ---- */

/* Seconds of a launch in each layout, by policy auto's measurements or by this run's means; 0 where
 * they are not known. */
static void launch_seconds(const json_t *kernel, double *own, double *rewritten)
{
    const json_t *policy = json_object_get(kernel, "policy");
    const double launches = rs_run_report_timed(kernel, RS_LAUNCHES);
    const double moved = rs_run_report_timed(kernel, RS_MOVED_LAUNCHES);
    const double stayed = launches - moved;
    double moved_seconds = rs_json_number_of(kernel, "transformed_seconds");
    *own = rs_json_number_of(policy, "own_seconds");
    *rewritten = rs_json_number_of(policy, "rewritten_seconds");
    if (*own <= 0 && stayed > 0)
        *own = (rs_json_number_of(kernel, "seconds") - moved_seconds) / stayed;
    if (*own <= 0 && launches > 0)
        *own = rs_json_number_of(kernel, "baseline_seconds") / launches;
    if (*rewritten <= 0 && moved > 0)
        *rewritten = moved_seconds / moved;
}

static void add_optional_time(rs_text *page, double seconds)
{
    rs_text_add_string(page, "<td class=\"number\">");
    if (seconds > 0)
        rs_page_time(page, seconds);
    else
        rs_text_add_string(page, "–");
    rs_text_add_string(page, "</td>");
}

static void add_reason(rs_text *page, const json_t *kernel)
{
    const json_t *policy = json_object_get(kernel, "policy");
    const char *reason = rs_page_string(policy, "reason");
    if (policy == NULL || rs_json_number_of(kernel, "launches") <= 0)
        reason = rs_json_number_of(kernel, "transformed_launches") > 0
                     ? "transformed, as the policy says"
                     : rs_page_string(kernel, "held_reason");
    if (*reason == '\0')
        reason = "none of its arguments has another layout";
    rs_page_escaped(page, reason);
    double predicted = rs_json_number_of(policy, "predicted_ratio");
    if (predicted > 1)
        rs_text_format(page, " <span class=\"soft\">(predicted %.1f×)</span>", predicted);
    if (rs_json_flag_of(policy, "from_wisdom"))
        rs_text_add_string(page, " <span class=\"soft\">(from wisdom)</span>");
}

void rs_page_add_before_and_after(rs_text *page, const json_t *report)
{
    size_t i;
    json_t *kernel;
    if (json_array_size(json_object_get(report, "kernels")) == 0)
        return;
    rs_text_add_string(page,
                       "<h2>Each kernel before and after</h2>\n<table id=\"before-and-after\">"
                       "<thead><tr><th>Kernel</th><th class=\"number\">own layout</th><th "
                       "class=\"number\">the other</th><th class=\"number\">speed-up</th>"
                       "<th>Choice</th></tr></thead>\n<tbody>");
    json_array_foreach(json_object_get(report, "kernels"), i, kernel)
    {
        double own, rewritten;
        launch_seconds(kernel, &own, &rewritten);
        rs_text_add_string(page, "<tr><td><code>");
        rs_page_escaped(page, rs_page_string(kernel, "label"));
        rs_text_add_string(page, "</code></td>");
        add_optional_time(page, own);
        add_optional_time(page, rewritten);
        if (own > 0 && rewritten > 0)
            rs_text_format(page, "<td class=\"number\">%.2f×</td><td>", own / rewritten);
        else
            rs_text_add_string(page, "<td class=\"number\">–</td><td>");
        add_reason(page, kernel);
        rs_text_add_string(page, "</td></tr>\n");
    }
    rs_text_add_string(page, "</tbody></table>\n");
}

/* ---- break-even ---- */

enum { POINTS = 41, MOST_DRAWN_LAUNCHES = 100000 };

/* Whether launches of the kernel had another layout and the policy kept that. */
static bool is_transformed(const json_t *kernel)
{
    size_t i;
    json_t *argument;
    json_array_foreach(json_object_get(kernel, "arguments"), i, argument)
    {
        if (strcmp(rs_page_string(argument, "status"), "transformed") == 0)
            return true;
    }
    return false;
}

/* One kernel's curve: the seconds of n launches in both layouts, conversions there and back. */
static void add_curve(rs_text *page, const json_t *kernel, double conversions)
{
    double own, rewritten, x[POINTS], stays[POINTS], moves[POINTS];
    launch_seconds(kernel, &own, &rewritten);
    if (!is_transformed(kernel) || own <= rewritten || rewritten <= 0 || conversions <= 0)
        return;
    double even = conversions / (own - rewritten);
    double last = fmax(10, 3 * ceil(even));
    if (last > MOST_DRAWN_LAUNCHES)
        return;
    for (int i = 0; i < POINTS; i++) {
        x[i] = last * i / (POINTS - 1);
        stays[i] = 1e3 * own * x[i];
        moves[i] = 1e3 * (conversions + rewritten * x[i]);
    }
    rs_text title = RS_TEXT_EMPTY;
    rs_page_shorten(&title, rs_page_string(kernel, "label"));
    const rs_plot_series series[] = {
        {.name = "own layout", .count = POINTS, .x = x, .y = stays},
        {.name = "other, with conversions", .count = POINTS, .x = x, .y = moves},
    };
    const rs_plot plot = {.kind = RS_PLOT_LINES,
                          .title = title.data,
                          .x_label = "launches",
                          .y_label = "ms",
                          .series = series,
                          .series_count = 2};
    rs_text svg = RS_TEXT_EMPTY, description = RS_TEXT_EMPTY;
    rs_plot_write(&svg, &plot);
    rs_text_format(&description, "%s: the conversions are paid back after %.1f launches",
                   rs_page_string(kernel, "label"), even);
    if (svg.data != NULL && !svg.failed && description.data != NULL) {
        rs_text_add_string(page, "<p>");
        rs_page_escaped(page, description.data);
        rs_text_add_string(page, ".</p>\n<div class=\"figure\">");
        rs_page_image(page, svg.data, description.data);
        rs_text_add_string(page, "</div>\n");
    }
    rs_text_free(&title);
    rs_text_free(&svg);
    rs_text_free(&description);
}

void rs_page_add_break_even(rs_text *page, const json_t *report)
{
    const json_t *sums = json_object_get(report, "marshal");
    const double seconds = rs_json_number_of(sums, "seconds");
    const double bytes = rs_run_report_timed(sums, RS_CONVERTED_BYTES);
    rs_text curves = RS_TEXT_EMPTY;
    size_t i;
    json_t *kernel;
    if (seconds <= 0 || bytes <= 0)
        return;
    json_array_foreach(json_object_get(report, "kernels"), i, kernel)
    {
        const json_t *policy = json_object_get(kernel, "policy");
        double wanted = rs_json_number_of(policy, "bytes_to_convert");
        add_curve(&curves, kernel, wanted > 0 ? 2 * wanted * seconds / bytes : seconds);
    }
    if (curves.data != NULL) {
        rs_text_add_string(page, "<h2>When the conversions are paid back</h2>\n<div "
                                 "id=\"break-even\">\n");
        rs_text_add(page, curves.data, curves.size);
        rs_text_add_string(page, "</div>\n");
    }
    rs_text_free(&curves);
}
