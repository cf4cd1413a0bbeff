/* restride-lab figures: the papers' figures and tables, measured on this machine. */
#include "console/bench_device.h"
#include "console/engines.h"
#include "console/fail.h"
#include "console/options.h"
#include "console/progress.h"
#include "lab/cli/figure_lab.h"
#include "lab/cli/lab.h"

#include <getopt.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: restride-lab figures [NAME...] [OPTIONS]...\n"
    "\n"
    "Measures the figures and tables on transposition of Sung's thesis and of Sung 2014 on this\n"
    "machine, all or those named, checks every element, and writes each as JSON and SVG.\n"
    "lab/docs/reproduction.md explains them and has the papers' numbers.\n"
    "\n"
    "  --list           prints the names\n"
    "  --out FOLDER     where NAME.json and NAME.svg go (default: the current folder)\n"
    "  --engine ENGINE  opencl (default) or cuda, which leaves out the papers' own kernels\n"
    "  --device DEVICE  gpu, cpu, its number or a part of its name (default: the first GPU)\n"
    "  --full           the papers' sizes (default on GPUs)\n"
    "  --small          smaller ones (default on CPUs)\n"
    "  --repeat N       the median of N runs (default: 5)\n"
    "  --json           prints the JSON as well\n"
    "\n"
    "Example:\n"
    "  restride-lab figures thesis-table-4.2 sung-6 --out figures\n";

enum { MOST_CURVES = 16, MOST_STEPS = 256, MOST_TILES = 32 };

typedef struct {
    const char *out;
    rs_bench_options on;
    bool full; /* neither: as the device suggests */
    bool small;
    bool list;
} figure_options;

/* ---- panels: one plot with its values ---- */

typedef struct {
    size_t count;
    double x[MOST_STEPS];
    double y[MOST_STEPS];
    double rate[MOST_STEPS]; /* GB/s where y is something else; else 0 */
} values;

typedef struct {
    const rs_figure *figure;
    size_t tile; /* 0: no panel of several */
    const char *y_label;
    size_t curve_count;
    const char *names[MOST_CURVES];
    bool dashed[MOST_CURVES]; /* the second half, in the colours of the first */
    values *curves;
    const char *const *categories;
    size_t category_count;
} panel;

static json_t *number_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *rates_json(const values *curve)
{
    json_t *rates = json_array();
    for (size_t i = 0; i < curve->count; i++)
        json_array_append_new(rates, number_or_null(curve->rate[i]));
    return rates;
}

static json_t *panel_json(const panel *p)
{
    json_t *series = json_array();
    for (size_t c = 0; c < p->curve_count; c++) {
        json_t *x = json_array();
        json_t *y = json_array();
        for (size_t i = 0; i < p->curves[c].count; i++) {
            json_array_append_new(x, p->categories != NULL ? json_string(p->categories[i])
                                                           : json_real(p->curves[c].x[i]));
            json_array_append_new(y, number_or_null(p->curves[c].y[i]));
        }
        json_t *object = json_pack("{s:s, s:o, s:o}", "name", p->names[c], "x", x, "y", y);
        if (p->figure->x == RS_X_TILES)
            json_object_set_new(object, "gbps", rates_json(&p->curves[c]));
        json_array_append_new(series, object);
    }
    json_t *object =
        json_pack("{s:s, s:s, s:o}", "x", p->figure->x_label, "y", p->y_label, "series", series);
    if (p->tile != 0)
        json_object_set_new(object, "m", json_integer((json_int_t)p->tile));
    return object;
}

/* Writes `text` to FOLDER/NAME[-mTILE].SUFFIX. */
static restride_status write_file(const figure_options *options, const rs_figure *figure,
                                  size_t tile, const char *suffix, const char *text)
{
    if (text == NULL)
        return rs_fail_memory("a figure");
    rs_text path = RS_TEXT_EMPTY;
    rs_text_format(&path, "%s/%s", options->out, figure->name);
    if (tile != 0)
        rs_text_format(&path, "-m%zu", tile);
    rs_text_format(&path, ".%s", suffix);
    restride_status status = path.failed ? rs_fail_memory("a file's name")
                                         : rs_text_write_file(path.data, text, strlen(text));
    rs_text_free(&path);
    return status;
}

static restride_status draw(const figure_options *options, const panel *p, const char *device)
{
    rs_plot_series series[MOST_CURVES];
    for (size_t c = 0; c < p->curve_count; c++)
        series[c] = (rs_plot_series){.name = p->names[c],
                                     .count = p->curves[c].count,
                                     .x = p->categories != NULL ? NULL : p->curves[c].x,
                                     .y = p->curves[c].y,
                                     .dashed = p->dashed[c],
                                     .color = p->dashed[c] ? c - p->curve_count / 2 + 1 : 0};
    rs_text title = RS_TEXT_EMPTY;
    rs_text_format(&title, "%s", p->figure->title);
    if (p->tile != 0)
        rs_text_format(&title, ", m = %zu", p->tile);
    const rs_plot plot = {.kind = p->figure->kind,
                          .title = title.failed ? p->figure->title : title.data,
                          .subtitle = device,
                          .x_label = p->figure->x_label,
                          .y_label = p->y_label,
                          .x_logarithmic = p->figure->x_logarithmic,
                          .categories = p->categories,
                          .category_count = p->category_count,
                          .series = series,
                          .series_count = p->curve_count};
    rs_text svg = RS_TEXT_EMPTY;
    rs_plot_write(&svg, &plot);
    rs_text_free(&title);
    char *text = rs_text_take(&svg);
    restride_status status = write_file(options, p->figure, p->tile, "svg", text);
    free(text);
    return status;
}

/* ---- measuring a panel ---- */

/* What a device cannot do is a gap in the figure. */
static restride_status measure_or_leave_out(rs_figure_lab *lab, const rs_figure_point *point,
                                            double *rate)
{
    restride_status status = rs_figure_lab_measure(lab, point, rate);
    if (status == RESTRIDE_OK)
        return status;
    *rate = NAN;
    return status == RESTRIDE_UNSUPPORTED || status == RESTRIDE_DEVICE_LIMIT ? RESTRIDE_OK : status;
}

/* Sets what x says; false: there is no such value at this size. */
static bool place_point(const rs_figure_lab *lab, rs_figure_x x, size_t value,
                        rs_figure_point *point)
{
    switch (x) {
    case RS_X_SPREADING:
        point->spreading = value;
        return true;
    case RS_X_ITEMS:
        point->items = value;
        return true;
    case RS_X_WIDTH:
        point->width = value;
        return true;
    case RS_X_TILE:
        point->tile = value;
        return true;
    case RS_X_SIDE:
        point->rows = value;
        point->cols = value;
        return lab->full || value <= 4096;
    case RS_X_PROBLEM:
        point->records = rs_figure_problems[value - 1].rows;
        point->width = rs_figure_problems[value - 1].width;
        return true;
    case RS_X_SHAPE:
        point->rows = rs_figure_lab_side(lab, rs_figure_shapes[value - 1][0]);
        point->cols = rs_figure_lab_side(lab, rs_figure_shapes[value - 1][1]);
        return true;
    default:
        return false;
    }
}

static restride_status measure_curve(rs_figure_lab *lab, const rs_figure *figure,
                                     const rs_figure_curve *curve, size_t tile, values *found)
{
    restride_status status = RESTRIDE_OK;
    size_t all = figure->x == RS_X_SHAPE ? RS_FIGURE_SHAPES : RS_FIGURE_MOST_VALUES;
    for (size_t i = 0; i < all && status == RESTRIDE_OK; i++) {
        size_t value = figure->x == RS_X_SHAPE ? i + 1 : figure->values[i];
        rs_figure_point point = curve->point;
        if (value == 0)
            break;
        if (tile != 0)
            point.tile = tile;
        if (!place_point(lab, figure->x, value, &point))
            continue;
        found->x[found->count] = (double)value;
        status = measure_or_leave_out(lab, &point, &found->y[found->count]);
        found->count++;
    }
    return status;
}

static restride_status measure_curves(rs_figure_lab *lab, panel *p)
{
    restride_status status = RESTRIDE_OK;
    p->curve_count = p->figure->curve_count;
    for (size_t c = 0; c < p->curve_count && status == RESTRIDE_OK; c++) {
        p->names[c] = p->figure->curves[c].name;
        p->dashed[c] = p->figure->x == RS_X_SPREADING && p->figure->curves[c].point.padding;
        status = measure_curve(lab, p->figure, &p->figure->curves[c], p->tile, &p->curves[c]);
    }
    return status;
}

/* All tiles m x n of 7200 x 1800, by how near they come to the best. */
static restride_status measure_tiles(rs_figure_lab *lab, panel *p)
{
    static const size_t sizes[] = {8,  10, 12, 16, 18, 20, 24,  30,  36,  40,
                                   48, 50, 60, 72, 80, 90, 100, 120, 150, 180};
    static const char *const names[] = {"90 % of the best", "80 to 90 %", "60 to 80 %", "less"};
    static const double bounds[] = {0.9, 0.8, 0.6, 0};
    enum { SIZES = sizeof sizes / sizeof sizes[0], BANDS = 4 };
    double rates[SIZES][SIZES];
    double best = 0;
    rs_figure_point point = p->figure->curves[0].point;
    point.rows = rs_figure_lab_side(lab, 7200);
    point.cols = rs_figure_lab_side(lab, 1800);
    for (int i = 0; i < SIZES; i++)
        for (int j = 0; j < SIZES; j++) {
            rates[i][j] = NAN;
            point.tile_rows = sizes[i];
            point.tile_cols = sizes[j];
            bool skipped = !lab->full && (i % 2 != 0 || j % 2 != 0);
            if (skipped || point.rows % sizes[i] != 0 || point.cols % sizes[j] != 0)
                continue;
            restride_status status = measure_or_leave_out(lab, &point, &rates[i][j]);
            if (status != RESTRIDE_OK)
                return status;
            if (rates[i][j] > best)
                best = rates[i][j];
        }
    p->curve_count = BANDS;
    for (int band = 0; band < BANDS; band++)
        p->names[band] = names[band];
    for (int i = 0; i < SIZES; i++)
        for (int j = 0; j < SIZES; j++) {
            int band = 0;
            while (band < BANDS && !(rates[i][j] >= bounds[band] * best))
                band++;
            if (band == BANDS || p->curves[band].count == MOST_STEPS)
                continue;
            values *found = &p->curves[band];
            found->x[found->count] = (double)sizes[i];
            found->rate[found->count] = rates[i][j];
            found->y[found->count++] = (double)sizes[j];
        }
    p->y_label = "n";
    return RESTRIDE_OK;
}

static restride_status measure_padding(rs_figure_lab *lab, panel *p)
{
    rs_padding_step steps[MOST_STEPS];
    size_t count = 0;
    size_t row_bytes = 0;
    restride_status status = rs_figure_lab_pad(lab, steps, MOST_STEPS, &count, &row_bytes);
    p->curve_count = 2;
    p->names[0] = "GB/s of a step";
    p->names[1] = "rows moved at once";
    for (size_t i = 0; i < count; i++) {
        bool alone = i + 1 == count; /* one after the other */
        p->curves[0].x[i] = (double)(i + 1);
        p->curves[0].y[i] = 2e-9 * (double)(steps[i].rows * row_bytes) / steps[i].seconds;
        p->curves[1].x[i] = (double)(i + 1);
        p->curves[1].y[i] = alone ? 1 : (double)steps[i].rows;
    }
    p->curves[0].count = count;
    p->curves[1].count = count;
    p->y_label = "GB/s, rows";
    return status == RESTRIDE_UNSUPPORTED ? RESTRIDE_OK : status;
}

/* ---- figures ---- */

/* Names for x where it is a shape or a problem. `storage` keeps those of shapes. */
static void name_categories(const rs_figure_lab *lab, panel *p, char storage[][32],
                            const char *names[])
{
    const rs_figure *figure = p->figure;
    size_t count = 0;
    for (size_t i = 0; figure->x == RS_X_SHAPE && i < RS_FIGURE_SHAPES; i++) {
        snprintf(storage[i], 32, "%zux%zu", rs_figure_lab_side(lab, rs_figure_shapes[i][0]),
                 rs_figure_lab_side(lab, rs_figure_shapes[i][1]));
        names[count++] = storage[i];
    }
    for (size_t i = 0; figure->x == RS_X_PROBLEM && figure->values[i] != 0; i++)
        names[count++] = rs_figure_problems[figure->values[i] - 1].name;
    p->categories = count > 0 ? names : NULL;
    p->category_count = count;
}

static restride_status measure_panel(rs_figure_lab *lab, const figure_options *options,
                                     const rs_figure *figure, size_t tile, const char *device,
                                     json_t *panels)
{
    char storage[RS_FIGURE_SHAPES][32];
    const char *names[RS_FIGURE_SHAPES];
    panel p = {.figure = figure, .tile = tile, .y_label = "GB/s"};
    p.curves = calloc(MOST_CURVES, sizeof *p.curves);
    if (p.curves == NULL)
        return rs_fail_memory("a figure");
    name_categories(lab, &p, storage, names);
    restride_status status = figure->x == RS_X_TILES     ? measure_tiles(lab, &p)
                             : figure->x == RS_X_PADDING ? measure_padding(lab, &p)
                                                         : measure_curves(lab, &p);
    if (status == RESTRIDE_OK)
        status = draw(options, &p, device);
    if (status == RESTRIDE_OK)
        json_array_append_new(panels, panel_json(&p));
    free(p.curves);
    return status;
}

static restride_status measure_figure(rs_figure_lab *lab, const figure_options *options,
                                      const rs_figure *figure, json_t *all)
{
    char *device = rs_cli_engine_device(lab->engine);
    const char *name = device != NULL ? device : options->on.engine;
    json_t *panels = json_array();
    double start = rs_seconds_now();
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; i < RS_FIGURE_MOST_PANELS && status == RESTRIDE_OK; i++)
        if (i == 0 || figure->tiles[i] != 0)
            status = measure_panel(lab, options, figure, figure->tiles[i], name, panels);
    json_t *report =
        json_pack("{s:s, s:s*, s:s, s:s, s:s, s:b, s:I, s:b, s:s, s:o}", "figure", figure->name,
                  "also", figure->alias, "title", figure->title, "engine", options->on.engine,
                  "device", name, "full_size", lab->full, "repeat", (json_int_t)options->on.repeat,
                  "verified", 1, "paper", figure->paper, "panels", panels);
    char *text = json_dumps(report, JSON_INDENT(1) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(5));
    if (status == RESTRIDE_OK)
        status = write_file(options, figure, 0, "json", text);
    free(text);
    if (status == RESTRIDE_OK && !options->on.json)
        printf("%-17s %6.1f s  %s\n", figure->name, rs_seconds_now() - start, figure->title);
    fflush(stdout);
    if (status == RESTRIDE_OK)
        json_array_append(all, report);
    json_decref(report);
    free(device);
    return status;
}

/* Whether a figure is called so, by its name or one of its others. */
static bool is_called(const rs_figure *figure, const char *name)
{
    size_t length = strlen(name);
    if (strcmp(figure->name, name) == 0)
        return true;
    const char *place = figure->alias;
    while (length > 0 && place != NULL && (place = strstr(place, name)) != NULL) {
        bool begins = place == figure->alias || place[-1] == ' ';
        if (begins && (place[length] == ' ' || place[length] == '\0'))
            return true;
        place++;
    }
    return false;
}

static const rs_figure *find_figure(const char *name)
{
    for (size_t i = 0; i < rs_figure_count; i++)
        if (is_called(&rs_figures[i], name))
            return &rs_figures[i];
    return NULL;
}

static void list_figures(void)
{
    for (size_t i = 0; i < rs_figure_count; i++)
        printf("%-17s %-24s %s\n", rs_figures[i].name,
               rs_figures[i].alias != NULL ? rs_figures[i].alias : "", rs_figures[i].title);
}

/* ---- the verb ---- */

static bool take_folder(const char *value, void *field)
{
    *(const char **)field = value;
    return *value != '\0';
}

static int read_options(int argc, char **argv, figure_options *options)
{
    static const rs_cli_option table[] = {
        {RS_CLI_OWN("out", figure_options, out, take_folder)},
        RS_BENCH_DEVICE_OPTIONS(figure_options),
        {RS_CLI_FLAG("full", figure_options, full)},
        {RS_CLI_FLAG("small", figure_options, small)},
        {RS_CLI_FLAG("list", figure_options, list)},
        {0},
    };
    *options = (figure_options){.out = ".", .on = RS_BENCH_DEVICE_DEFAULTS};
    int exit_status = rs_cli_read_options("figures", argc, argv, table, options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    for (int i = optind; i < argc; i++)
        if (find_figure(argv[i]) == NULL)
            return rs_cli_fail(RS_EXIT_USAGE, "figures",
                               "There is no figure \"%s\"; restride-lab figures --list has them.",
                               argv[i]);
    return RS_EXIT_DONE;
}

static restride_status measure_all(rs_figure_lab *lab, const figure_options *options, char **names,
                                   json_t *all)
{
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; i < rs_figure_count && status == RESTRIDE_OK; i++) {
        bool wanted = *names == NULL;
        for (char **name = names; *name != NULL; name++)
            wanted = wanted || is_called(&rs_figures[i], *name);
        if (wanted)
            status = measure_figure(lab, options, &rs_figures[i], all);
    }
    return status;
}

int rs_lab_figures(int argc, char **argv)
{
    if (rs_cli_helps(argc, argv, usage))
        return RS_EXIT_DONE;
    figure_options options;
    int exit_status = read_options(argc, argv, &options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    if (options.list) {
        list_figures();
        return RS_EXIT_DONE;
    }
    if (rs_cli_make_folder("figures", options.out) != RS_EXIT_DONE)
        return RS_EXIT_FAILED;
    rs_figure_lab lab;
    int full = options.full ? 1 : options.small ? 0 : -1;
    if (rs_figure_lab_open(&lab, options.on.engine, options.on.device, full, options.on.repeat) !=
        RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, "figures");
    json_t *all = json_array();
    if (measure_all(&lab, &options, argv + optind, all) != RESTRIDE_OK)
        exit_status = rs_cli_fail_last(RS_EXIT_FAILED, "figures");
    if (exit_status == RS_EXIT_DONE && options.on.json)
        exit_status = rs_cli_print_json("figures", json_incref(all));
    json_decref(all);
    rs_figure_lab_close(&lab);
    return exit_status;
}
