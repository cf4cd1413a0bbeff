/* See plot.h. */
#include "console/plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    WIDTH = 860,
    HEIGHT = 416,
    LEFT = 70,
    TOP = 62,
    RIGHT = 650, /* the legend is beside it */
    BOTTOM = 360,
    LEGEND_STEP = 20,
    LEGEND_TEXT = 42, /* right of RIGHT */
    MOST_LEGEND_BYTES = 30,
    LETTER = 8, /* the width of one, about */
    TICKS = 6,
    COLORS = 8
};

/* Okabe and Ito's colours, which the colour-blind can tell apart, and grey. */
static const char style[] =
    "<style>\n"
    "svg { background: #fff; color: #222; font: 13px system-ui, sans-serif; }\n"
    "text { fill: currentColor; } .title { font-size: 16px; font-weight: 600; }\n"
    ".grid { stroke: currentColor; stroke-opacity: .15; } .axis { stroke: currentColor; }\n"
    ".line { fill: none; stroke-width: 2; } .dashed { stroke-dasharray: 6 4; }\n"
    ".again { stroke-dasharray: 2 3; }\n"
    ".c0 { --c: #0072b2; } .c1 { --c: #d55e00; } .c2 { --c: #009e73; } .c3 { --c: #cc79a7; }\n"
    ".c4 { --c: #e69f00; } .c5 { --c: #56b4e9; } .c6 { --c: #7a6ff0; } .c7 { --c: #888; }\n"
    ".line { stroke: var(--c); } .dot, .bar { fill: var(--c); }\n"
    "@media (prefers-color-scheme: dark) { svg { background: #12161c; color: #ddd; } }\n"
    "@media print { svg { background: #fff; color: #000; } }\n"
    "</style>\n";

typedef struct {
    double low;
    double high;
    double step; /* between ticks */
    bool logarithmic;
} axis;

typedef struct {
    const rs_plot *plot;
    axis x;
    axis y;
    rs_text *svg;
} drawing;

static void add_escaped(rs_text *text, const char *string)
{
    for (; *string != '\0'; string++)
        switch (*string) {
        case '<':
            rs_text_add_string(text, "&lt;");
            break;
        case '>':
            rs_text_add_string(text, "&gt;");
            break;
        case '&':
            rs_text_add_string(text, "&amp;");
            break;
        default:
            rs_text_add(text, string, 1);
        }
}

static void add_label(rs_text *svg, double x, double y, const char *attributes, const char *label)
{
    rs_text_format(svg, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
    add_escaped(svg, label);
    rs_text_add_string(svg, "</text>\n");
}

/* ---- axes ---- */

static double series_x(const rs_plot_series *series, size_t i)
{
    return series->x != NULL ? series->x[i] : (double)i;
}

static axis empty_axis(void)
{
    return (axis){INFINITY, -INFINITY, 1, false};
}

static void include(axis *a, double value)
{
    a->low = value < a->low ? value : a->low;
    a->high = value > a->high ? value : a->high;
}

/* Ends at round numbers, a few of which lie between. */
static void round_axis(axis *a)
{
    if (!(a->high > a->low))
        a->high = a->low + 1;
    double raw = (a->high - a->low) / TICKS;
    double power = pow(10, floor(log10(raw)));
    static const double steps[] = {1, 2, 2.5, 5, 10};
    int i = 0;
    while (i < 4 && steps[i] * power < raw * 0.999)
        i++;
    a->step = steps[i] * power;
    a->low = floor(a->low / a->step + 1e-9) * a->step;
    a->high = ceil(a->high / a->step - 1e-9) * a->step;
}

static void find_axes(drawing *d)
{
    const rs_plot *plot = d->plot;
    d->x = empty_axis();
    d->y = empty_axis();
    include(&d->y, 0);
    for (size_t s = 0; s < plot->series_count; s++)
        for (size_t i = 0; i < plot->series[s].count; i++)
            if (isfinite(plot->series[s].y[i])) {
                include(&d->x, series_x(&plot->series[s], i));
                include(&d->y, plot->series[s].y[i]);
            }
    if (!isfinite(d->x.low))
        include(&d->x, 0);
    round_axis(&d->y);
    if (plot->categories != NULL) {
        d->x = (axis){-0.5, (double)plot->category_count - 0.5, 1, false};
    } else if (plot->x_logarithmic) {
        d->x.logarithmic = true;
        d->x.low = floor(log2(d->x.low) + 1e-9);
        d->x.high = ceil(log2(d->x.high) - 1e-9);
        if (!(d->x.high > d->x.low))
            d->x.high = d->x.low + 1;
    } else {
        round_axis(&d->x);
    }
}

static double place_x(const drawing *d, double value)
{
    if (d->x.logarithmic)
        value = log2(value);
    return LEFT + (value - d->x.low) / (d->x.high - d->x.low) * (RIGHT - LEFT);
}

static double place_y(const drawing *d, double value)
{
    return BOTTOM - (value - d->y.low) / (d->y.high - d->y.low) * (BOTTOM - TOP);
}

static void draw_y_axis(const drawing *d)
{
    char label[32];
    size_t ticks = (size_t)((d->y.high - d->y.low) / d->y.step + 0.5);
    for (size_t i = 0; i <= ticks; i++) {
        double value = d->y.low + (double)i * d->y.step;
        double y = place_y(d, value);
        rs_text_format(d->svg,
                       "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n", LEFT,
                       RIGHT, y, y);
        snprintf(label, sizeof label, "%.6g", value);
        add_label(d->svg, LEFT - 8, y + 4, "text-anchor=\"end\"", label);
    }
    rs_text_format(d->svg, "<g transform=\"translate(18 %d) rotate(-90)\">", (TOP + BOTTOM) / 2);
    add_label(d->svg, 0, 0, "text-anchor=\"middle\"", d->plot->y_label);
    rs_text_add_string(d->svg, "</g>\n");
}

static size_t longest_category(const rs_plot *plot)
{
    size_t longest = 0;
    for (size_t i = 0; plot->categories != NULL && i < plot->category_count; i++) {
        size_t length = strlen(plot->categories[i]);
        longest = length > longest ? length : longest;
    }
    return longest;
}

/* Whether names would run into each other. */
static bool is_slanted(const rs_plot *plot)
{
    return plot->categories != NULL &&
           (double)longest_category(plot) * 7.5 * (double)plot->category_count > RIGHT - LEFT;
}

/* Slanted names take more room below the axis, by half of their length. */
static int plot_height(const rs_plot *plot)
{
    return is_slanted(plot) ? HEIGHT + (int)longest_category(plot) * LETTER * 2 / 5 : HEIGHT;
}

/* As wide as the legend's longest name wants it. */
static int plot_width(const rs_plot *plot)
{
    size_t longest = 0;
    for (size_t s = 0; s < plot->series_count; s++) {
        size_t length = strnlen(plot->series[s].name, MOST_LEGEND_BYTES);
        longest = length > longest ? length : longest;
    }
    int width = RIGHT + LEGEND_TEXT + (int)longest * LETTER;
    return width > WIDTH ? width : WIDTH;
}

static void draw_categories(const drawing *d)
{
    bool slanted = is_slanted(d->plot);
    for (size_t i = 0; i < d->plot->category_count; i++) {
        double x = place_x(d, (double)i);
        rs_text_format(d->svg, "<g transform=\"translate(%.1f %d)%s\">", x, BOTTOM + 16,
                       slanted ? " rotate(-30)" : "");
        add_label(d->svg, 0, 0, slanted ? "text-anchor=\"end\"" : "text-anchor=\"middle\"",
                  d->plot->categories[i]);
        rs_text_add_string(d->svg, "</g>\n");
    }
}

static void draw_x_numbers(const drawing *d)
{
    char label[32];
    double step = d->x.logarithmic ? 1 : d->x.step;
    size_t ticks = (size_t)((d->x.high - d->x.low) / step + 0.5);
    for (size_t i = 0; i <= ticks; i++) {
        double value = d->x.low + (double)i * step;
        value = d->x.logarithmic ? exp2(value) : value;
        double x = place_x(d, value);
        rs_text_format(d->svg,
                       "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>\n", x, x,
                       TOP, BOTTOM);
        snprintf(label, sizeof label, "%.6g", value);
        add_label(d->svg, x, BOTTOM + 18, "text-anchor=\"middle\"", label);
    }
}

static void draw_axes(const drawing *d)
{
    draw_y_axis(d);
    if (d->plot->categories != NULL)
        draw_categories(d);
    else
        draw_x_numbers(d);
    rs_text_format(d->svg, "<line class=\"axis\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/>\n", LEFT,
                   RIGHT, BOTTOM, BOTTOM);
    add_label(d->svg, (LEFT + RIGHT) / 2.0, plot_height(d->plot) - 12, "text-anchor=\"middle\"",
              d->plot->x_label);
}

/* ---- data ---- */

static size_t color_of(const drawing *d, size_t s)
{
    size_t color = d->plot->series[s].color;
    return (color != 0 ? color - 1 : s) % COLORS;
}

/* Lines whose colour another has by order already are dotted. */
static const char *line_style(const drawing *d, size_t s)
{
    const rs_plot_series *series = &d->plot->series[s];
    return series->dashed ? " dashed" : series->color == 0 && s >= COLORS ? " again" : "";
}

/* Among points a line of reference is one, too. */
static bool is_line(const drawing *d, size_t s)
{
    return d->plot->kind == RS_PLOT_LINES ||
           (d->plot->kind == RS_PLOT_POINTS && d->plot->series[s].dashed);
}

static void draw_line(const drawing *d, size_t s)
{
    const rs_plot_series *series = &d->plot->series[s];
    rs_text_format(d->svg, "<path class=\"line c%zu%s\" d=\"", color_of(d, s), line_style(d, s));
    bool drawn = false; /* the value before */
    for (size_t i = 0; i < series->count; i++) {
        bool finite = isfinite(series->y[i]);
        if (finite)
            rs_text_format(d->svg, "%s%.1f %.1f", drawn ? " L" : " M",
                           place_x(d, series_x(series, i)), place_y(d, series->y[i]));
        drawn = finite;
    }
    rs_text_add_string(d->svg, "\"/>\n");
}

static void draw_dots(const drawing *d, size_t s, double radius)
{
    const rs_plot_series *series = &d->plot->series[s];
    for (size_t i = 0; i < series->count; i++)
        if (isfinite(series->y[i]))
            rs_text_format(
                d->svg, "<circle class=\"dot c%zu\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>\n",
                color_of(d, s), place_x(d, series_x(series, i)), place_y(d, series->y[i]), radius);
}

static void draw_bars(const drawing *d, size_t s)
{
    const rs_plot_series *series = &d->plot->series[s];
    double group = place_x(d, 1) - place_x(d, 0);
    double width = 0.8 * group / (double)d->plot->series_count;
    for (size_t i = 0; i < series->count; i++) {
        if (!isfinite(series->y[i]))
            continue;
        double y = place_y(d, series->y[i]);
        double x = place_x(d, (double)i) - 0.4 * group + (double)s * width;
        rs_text_format(d->svg,
                       "<rect class=\"bar c%zu\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                       "height=\"%.1f\"><title>%.4g</title></rect>\n",
                       color_of(d, s), x, y, 0.94 * width, place_y(d, 0) - y, series->y[i]);
    }
}

static void draw_series(const drawing *d, size_t s)
{
    enum { FEW = 40 };
    const rs_plot_series *series = &d->plot->series[s];
    if (d->plot->kind == RS_PLOT_BARS)
        draw_bars(d, s);
    if (is_line(d, s))
        draw_line(d, s);
    else if (d->plot->kind == RS_PLOT_POINTS)
        draw_dots(d, s, 4);
    if (d->plot->kind == RS_PLOT_LINES && !series->dashed && series->count <= FEW)
        draw_dots(d, s, 3);
}

static void draw_legend(const drawing *d)
{
    for (size_t s = 0; s < d->plot->series_count; s++) {
        const rs_plot_series *series = &d->plot->series[s];
        double y = TOP + 10 + LEGEND_STEP * (double)s;
        if (is_line(d, s))
            rs_text_format(d->svg, "<path class=\"line c%zu%s\" d=\"M%d %.1f h22\"/>\n",
                           color_of(d, s), line_style(d, s), RIGHT + 14, y - 4);
        else
            rs_text_format(d->svg,
                           "<rect class=\"bar c%zu\" x=\"%d\" y=\"%.1f\" width=\"12\" "
                           "height=\"12\"/>\n",
                           color_of(d, s), RIGHT + 19, y - 10);
        char name[MOST_LEGEND_BYTES + 1];
        snprintf(name, sizeof name, "%s", series->name);
        add_label(d->svg, RIGHT + LEGEND_TEXT, y, "", name);
    }
}

void rs_plot_write(rs_text *svg, const rs_plot *plot)
{
    drawing d = {.plot = plot, .svg = svg};
    find_axes(&d);
    const int width = plot_width(plot);
    double legend_end = TOP + 20 + LEGEND_STEP * (double)plot->series_count;
    double height = plot_height(plot);
    height = legend_end > height ? legend_end : height;
    rs_text_format(svg,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %.0f\" "
                   "width=\"%d\" height=\"%.0f\" role=\"img\">\n<title>",
                   width, height, width, height);
    add_escaped(svg, plot->title);
    rs_text_add_string(svg, "</title>\n");
    rs_text_add_string(svg, style);
    add_label(svg, LEFT, 24, "class=\"title\"", plot->title);
    if (plot->subtitle != NULL)
        add_label(svg, LEFT, 43, "", plot->subtitle);
    draw_axes(&d);
    for (size_t s = 0; s < plot->series_count; s++)
        draw_series(&d, s);
    draw_legend(&d);
    rs_text_add_string(svg, "</svg>\n");
}
