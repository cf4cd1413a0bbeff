/*
 * restride-lab grids: figures 6.6 to 6.14 of Sung's thesis, layouts of structured grids over
 * their sizes. The kernels are in grids.cl beside this file. The discovered layouts are those
 * that restride analyze finds in lab/kernels/grids.cl with --burst 128 --steering 0, for a device
 * whose addresses are hashed; those for eight steering bits with --steering 8 --active 2112.
 */
#include "base/arithmetic.h"
#include "base/json.h"
#include "console/bench_device.h"
#include "console/engines.h"
#include "console/fail.h"
#include "console/options.h"
#include "console/plot.h"
#include "console/progress.h"
#include "engine/device/device.h"
#include "lab/cli/lab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char rs_device_grids_kernels[]; /* grids.cl */

static const char usage[] =
    "usage: restride-lab grids [OPTIONS]...\n"
    "\n"
    "Figures 6.6 to 6.14 of Sung's thesis on this device: LBM, Heat and CFD with their grids in\n"
    "several layouts, one extent varied at a time. Compares the results of all layouts, bit by\n"
    "bit, and writes each figure as JSON and SVG: time by that of the best layout.\n"
    "\n"
    "  --engine ENGINE  opencl (default) or cuda\n"
    "  --device DEVICE  gpu, cpu, its number or a part of its name (default: the first GPU)\n"
    "  --small          small grids\n"
    "  --repeat N       the median of N measurements (default: 5)\n"
    "  --out FOLDER     where thesis-6.6.json, thesis-6.6.svg and so on go (default: nowhere)\n"
    "  --json           prints JSON\n"
    "\n"
    "Example:\n"
    "  restride-lab grids --engine cuda --out figures\n";

enum {
    MOST_LAYOUTS = 5,
    MOST_VALUES = 7,
    SMALL_VALUES = 2,
    SWEEPS = 4, /* of a measurement */
    CHECKED = 4 /* sweeps before results are compared */
};

/* ---- what is measured ---- */

/* Tiles of z, y and x; none: the fields come first. */
typedef struct {
    const char *name;
    const char *expression; /* over i j k (z y x) and l, the fields */
    size_t tiles[3];
} grid_layout;

typedef struct {
    const char *name;
    size_t fields;
    size_t touched; /* words of a cell that a sweep has to read and to write, at least */
    size_t fixed[3], small[3];
    grid_layout layouts[MOST_LAYOUTS]; /* the first one is the discovered one */
} grid_program;

static const grid_program programs[] = {
    {"LBM",
     19,
     38,
     {128, 128, 128},
     {6, 10, 64},
     {{"discovered", "i j k/32 l k%32", {1, 1, 32}},
      {"AoS", "i j k l", {1, 1, 1}},
      {"SoA", "l i j k", {0, 0, 0}},
      {"8 steering bits", "i j/64 k/128 l j%64 k%128", {1, 64, 128}}}},
    {"Heat",
     1,
     2,
     {512, 512, 512},
     {6, 10, 64},
     {{"discovered: rows", "i j k", {1, 1, 1}},
      {"8 steering bits", "i j/64 k/128 j%64 k%128", {1, 64, 128}}}},
    {"CFD",
     4,
     6,
     {256, 256, 256},
     {6, 10, 64},
     {{"discovered", "i j k/32 l k%32", {1, 1, 32}},
      {"rows (AoS)", "i j k l", {1, 1, 1}},
      {"SoA", "l i j k", {0, 0, 0}},
      {"8 steering bits", "i j/64 k/128 l j%64 k%128", {1, 64, 128}}}},
};
enum { PROGRAMS = sizeof programs / sizeof programs[0] };

/* Parts of the fixed extent, in eighths. */
static const size_t eighths[MOST_VALUES] = {4, 5, 6, 7, 8, 10, 12};

typedef struct {
    rs_bench_options on;
    const char *out;
    bool small;
} grid_options;

typedef struct {
    rs_device_engine *engine;
    const grid_options *options;
    char *name;
    rs_device_memory grids[2], rows;
    size_t bytes; /* of each */
    float *first, *other;
} laboratory;

/* One layout of one program. */
typedef struct {
    const grid_program *program;
    const grid_layout *layout;
    rs_device_kernel kernels[3]; /* fill, read, step */
} variant;

enum { FILL, READ, STEP };

/* ---- launches ---- */

/* Extents as kernels take them: z, y, x, and rounded up to tiles. */
typedef struct {
    uint32_t cells[3], padded[3];
} extents;

static size_t words_of(const grid_program *program, const extents *n)
{
    return program->fields * n->padded[0] * n->padded[1] * n->padded[2];
}

static extents make_extents(const grid_layout *layout, const size_t cells[3])
{
    extents n;
    for (int d = 0; d < 3; d++) {
        size_t tile = layout->tiles[d] > 0 ? layout->tiles[d] : 1;
        n.cells[d] = (uint32_t)cells[d];
        n.padded[d] = (uint32_t)((cells[d] + tile - 1) / tile * tile);
    }
    return n;
}

static void launch(rs_device_sequence *sequence, const variant *v, int kernel,
                   const rs_device_argument *arguments, size_t count, const extents *n)
{
    rs_device_launch(sequence, v->kernels[kernel], arguments, count, n->cells[1], n->cells[0],
                     n->cells[2]);
}

static void fill(const laboratory *lab, rs_device_sequence *sequence, const variant *v,
                 const extents *n)
{
    for (int g = 0; g < 2; g++) {
        const rs_device_argument arguments[] = {
            RS_ARGUMENT(lab->grids[g]), RS_ARGUMENT(n->padded[0]), RS_ARGUMENT(n->padded[1]),
            RS_ARGUMENT(n->padded[2])};
        launch(sequence, v, FILL, arguments, 4, n);
    }
}

/* Sweeps in place (CFD) alternate their color, the others their grids. */
static void sweep(const laboratory *lab, rs_device_sequence *sequence, const variant *v,
                  const extents *n, int count)
{
    uint32_t last[3];
    for (int d = 0; d < 3; d++)
        last[d] = n->cells[d] - 1;
    for (int s = 0; s < count; s++) {
        uint32_t color = (uint32_t)s % 2;
        int to = v->program->fields == 4 ? 1 : 1 - s % 2;
        const rs_device_argument arguments[] = {RS_ARGUMENT(lab->grids[1 - to]),
                                                RS_ARGUMENT(lab->grids[to]),
                                                RS_ARGUMENT(n->padded[0]),
                                                RS_ARGUMENT(n->padded[1]),
                                                RS_ARGUMENT(n->padded[2]),
                                                RS_ARGUMENT(last[0]),
                                                RS_ARGUMENT(last[1]),
                                                RS_ARGUMENT(last[2]),
                                                RS_ARGUMENT(color)};
        launch(sequence, v, STEP, arguments, sizeof arguments / sizeof arguments[0], n);
    }
}

static restride_status create_variant(const laboratory *lab, variant *v,
                                      const grid_program *program, const grid_layout *layout)
{
    static const char *const names[] = {"fill_grid", "read_grid", "step_grid"};
    char defines[160];
    *v = (variant){.program = program, .layout = layout};
    int used = snprintf(defines, sizeof defines, "-D FIELDS=%zu", program->fields);
    if (layout->tiles[0] == 0)
        snprintf(defines + used, sizeof defines - (size_t)used, " -D FIELDS_FIRST=1");
    else
        snprintf(defines + used, sizeof defines - (size_t)used,
                 " -D TILE_Z=%zu -D TILE_Y=%zu -D TILE_X=%zu", layout->tiles[0], layout->tiles[1],
                 layout->tiles[2]);
    return rs_device_create_kernels(lab->engine, rs_device_grids_kernels, defines, names, 3,
                                    v->kernels);
}

/* ---- one value of a figure ---- */

/* What a few sweeps in rows make of known numbers, and every layout has to. */
static restride_status read_result(laboratory *lab, const variant *v, const extents *n,
                                   float *result)
{
    rs_device_sequence sequence = {.engine = lab->engine};
    size_t bytes = sizeof *result * v->program->fields * n->cells[0] * n->cells[1] * n->cells[2];
    fill(lab, &sequence, v, n);
    sweep(lab, &sequence, v, n, CHECKED);
    int last = v->program->fields == 4 ? 1 : 0; /* an even number of sweeps */
    const rs_device_argument arguments[] = {
        RS_ARGUMENT(lab->grids[last]), RS_ARGUMENT(lab->rows),    RS_ARGUMENT(n->padded[0]),
        RS_ARGUMENT(n->padded[1]),     RS_ARGUMENT(n->padded[2]), RS_ARGUMENT(n->cells[1])};
    launch(&sequence, v, READ, arguments, 6, n);
    restride_status status = rs_device_finish(&sequence, "sweeping a grid");
    return status == RESTRIDE_OK
               ? lab->engine->device->read(lab->engine, result, lab->rows, bytes, "reading a grid")
               : status;
}

static restride_status compare_results(laboratory *lab, variant *variants, int count,
                                       const size_t cells[3])
{
    restride_status status = RESTRIDE_OK;
    for (int v = 0; v < count && status == RESTRIDE_OK; v++) {
        extents n = make_extents(variants[v].layout, cells);
        size_t words = variants[v].program->fields * cells[0] * cells[1] * cells[2];
        status = read_result(lab, &variants[v], &n, v == 0 ? lab->first : lab->other);
        if (status == RESTRIDE_OK && v > 0 &&
            memcmp(lab->first, lab->other, words * sizeof *lab->first) != 0)
            status = rs_fail(RESTRIDE_DEVICE_ERROR,
                             "%s in the layout \"%s\" gives other results than in \"%s\".",
                             variants[v].program->name, variants[v].layout->expression,
                             variants[0].layout->expression);
    }
    return status;
}

static restride_status time_once(const laboratory *lab, const variant *v, const extents *n,
                                 double *seconds)
{
    rs_device_sequence sequence = {.engine = lab->engine};
    double started = rs_seconds_now();
    sweep(lab, &sequence, v, n, SWEEPS);
    restride_status status = rs_device_finish(&sequence, "sweeping a grid");
    *seconds = (rs_seconds_now() - started) / SWEEPS;
    return status;
}

/* Layouts in turns, so that other work of the device slows all. */
static restride_status time_variants(laboratory *lab, variant *variants, int count,
                                     const size_t cells[3], double seconds[MOST_LAYOUTS])
{
    double times[MOST_LAYOUTS][RS_BENCH_MOST_REPEAT];
    restride_status status = RESTRIDE_OK;
    size_t repeat = lab->options->on.repeat;
    for (size_t r = 0; r < repeat; r++)
        for (int v = 0; v < count && status == RESTRIDE_OK; v++) {
            extents n = make_extents(variants[v].layout, cells);
            rs_device_sequence sequence = {.engine = lab->engine};
            fill(lab, &sequence, &variants[v], &n);
            sweep(lab, &sequence, &variants[v], &n, 2);
            status = rs_device_finish(&sequence, "sweeping a grid");
            if (status == RESTRIDE_OK)
                status = time_once(lab, &variants[v], &n, &times[v][r]);
        }
    for (int v = 0; v < count && status == RESTRIDE_OK; v++)
        seconds[v] = rs_seconds_median(times[v], repeat);
    return status;
}

/* ---- figures ---- */

typedef struct {
    const grid_program *program;
    int number;    /* 6.number */
    int dimension; /* that varies: 2, 1, 0 for x, y, z */
    int layouts, values;
    double extent[MOST_VALUES];
    double seconds[MOST_LAYOUTS][MOST_VALUES];
    double relative[MOST_LAYOUTS][MOST_VALUES]; /* to the best */
    double rate[MOST_VALUES];                   /* GB/s of the discovered layout */
} figure;

static void compare_times(figure *f, const size_t cells[3], int value)
{
    double best = f->seconds[0][value];
    for (int v = 1; v < f->layouts; v++)
        best = f->seconds[v][value] < best ? f->seconds[v][value] : best;
    for (int v = 0; v < f->layouts; v++)
        f->relative[v][value] = f->seconds[v][value] / best;
    f->rate[value] = 1e-9 * 4 * (double)(f->program->touched * cells[0] * cells[1] * cells[2]) /
                     f->seconds[0][value];
}

static int count_values(const laboratory *lab)
{
    return lab->options->small ? SMALL_VALUES : MOST_VALUES;
}

static void choose_cells(const laboratory *lab, const figure *f, int value, size_t cells[3])
{
    const size_t *fixed = lab->options->small ? f->program->small : f->program->fixed;
    memcpy(cells, fixed, 3 * sizeof *cells);
    size_t extent = fixed[f->dimension] * eighths[value] / 8;
    /* Rows are work-groups. */
    if (f->dimension == 2 && extent > lab->engine->work_items)
        extent = lab->engine->work_items;
    cells[f->dimension] = extent > 3 ? extent : 3;
}

static restride_status measure_figure(laboratory *lab, figure *f, variant *variants)
{
    restride_status status = RESTRIDE_OK;
    for (int i = 0; i < count_values(lab) && status == RESTRIDE_OK; i++) {
        size_t cells[3];
        choose_cells(lab, f, i, cells);
        double seconds[MOST_LAYOUTS];
        if (i == 0)
            status = compare_results(lab, variants, f->layouts, cells);
        if (status == RESTRIDE_OK)
            status = time_variants(lab, variants, f->layouts, cells, seconds);
        if (status != RESTRIDE_OK)
            break;
        f->extent[i] = (double)cells[f->dimension];
        for (int v = 0; v < f->layouts; v++)
            f->seconds[v][i] = seconds[v];
        compare_times(f, cells, i);
        f->values++;
    }
    return status;
}

static const char dimension_names[] = "ZYX";

static json_t *figure_json(const figure *f)
{
    json_t *series = json_array();
    for (int v = 0; v < f->layouts; v++) {
        json_t *x = json_array(), *y = json_array(), *seconds = json_array();
        for (int i = 0; i < f->values; i++) {
            json_array_append_new(x, json_real(f->extent[i]));
            json_array_append_new(y, json_real(f->relative[v][i]));
            json_array_append_new(seconds, json_real(f->seconds[v][i]));
        }
        json_array_append_new(series, json_pack("{s:s, s:s, s:o, s:o, s:o}", "name",
                                                f->program->layouts[v].name, "layout",
                                                f->program->layouts[v].expression, "x", x, "y", y,
                                                "seconds", seconds));
    }
    char name[16], label[16];
    snprintf(name, sizeof name, "thesis-6.%d", f->number);
    snprintf(label, sizeof label, "%c, cells", dimension_names[f->dimension]);
    return json_pack("{s:s, s:s, s:s, s:s, s:o}", "figure", name, "program", f->program->name, "x",
                     label, "y", "time by the best layout's", "series", series);
}

static restride_status write_file(const laboratory *lab, const figure *f, const char *ending,
                                  const char *text)
{
    char path[4096];
    if (text == NULL)
        return rs_fail_memory("a figure");
    snprintf(path, sizeof path, "%s/thesis-6.%d.%s", lab->options->out, f->number, ending);
    return rs_text_write_file(path, text, strlen(text));
}

static restride_status write_figure(const laboratory *lab, const figure *f)
{
    rs_plot_series series[MOST_LAYOUTS];
    for (int v = 0; v < f->layouts; v++)
        series[v] = (rs_plot_series){.name = f->program->layouts[v].name,
                                     .count = (size_t)f->values,
                                     .x = f->extent,
                                     .y = f->relative[v]};
    char title[48], label[16];
    snprintf(title, sizeof title, "%s, varying %c", f->program->name,
             dimension_names[f->dimension]);
    snprintf(label, sizeof label, "%c, cells", dimension_names[f->dimension]);
    const rs_plot plot = {.kind = RS_PLOT_LINES,
                          .title = title,
                          .subtitle = lab->name,
                          .x_label = label,
                          .y_label = "time by the best layout's",
                          .series = series,
                          .series_count = (size_t)f->layouts};
    rs_text svg = RS_TEXT_EMPTY;
    rs_plot_write(&svg, &plot);
    char *picture = rs_text_take(&svg);
    json_t *object = figure_json(f);
    char *text = json_dumps(object, JSON_INDENT(2));
    restride_status status = write_file(lab, f, "svg", picture);
    if (status == RESTRIDE_OK)
        status = write_file(lab, f, "json", text);
    json_decref(object);
    free(text);
    free(picture);
    return status;
}

static void print_figure(const figure *f)
{
    printf("figure 6.%d: %s, varying %c\n%8s", f->number, f->program->name,
           dimension_names[f->dimension], "");
    for (int v = 0; v < f->layouts; v++)
        printf("  %15s", f->program->layouts[v].name);
    printf("  %8s\n", "GB/s");
    for (int i = 0; i < f->values; i++) {
        printf("%8.0f", f->extent[i]);
        for (int v = 0; v < f->layouts; v++)
            printf("  %15.3f", f->relative[v][i]);
        printf("  %8.0f\n", f->rate[i]);
    }
}

/* ---- the discovered layout against those without tiles: AoS, SoA and rows ---- */

static const double slower = 1.03;

/* The discovered layout's time over that of the best one without tiles, which for Heat may be
 * itself. */
static double behind_plain(const json_t *series, size_t size)
{
    size_t v;
    json_t *layout;
    double best = INFINITY;
    json_array_foreach(series, v, layout)
    {
        double seconds =
            json_number_value(json_array_get(json_object_get(layout, "seconds"), size));
        if (strchr(rs_json_string_of(layout, "layout"), '/') == NULL)
            best = fmin(best, seconds);
    }
    json_t *own = json_object_get(json_array_get(series, 0), "seconds");
    return json_number_value(json_array_get(own, size)) / best;
}

static void print_verdict(const json_t *figures)
{
    size_t f, sizes = 0, faster = 0, late = 0;
    double worst = 0;
    json_t *figure_entry;
    rs_text slow = RS_TEXT_EMPTY;
    json_array_foreach(figures, f, figure_entry)
    {
        const json_t *series = json_object_get(figure_entry, "series");
        json_t *x = json_object_get(json_array_get(series, 0), "x");
        for (size_t i = 0; i < json_array_size(x); i++, sizes++) {
            double behind = behind_plain(series, i);
            worst = fmax(worst, behind);
            faster += behind < 1;
            if (behind <= slower)
                continue;
            late++;
            rs_text_format(&slow, "    %s, %s = %.0f: %.3f\n",
                           rs_json_string_of(figure_entry, "figure"),
                           rs_json_string_of(figure_entry, "x"),
                           json_number_value(json_array_get(x, i)), behind);
        }
    }
    printf(
        "The discovered layout's time by that of the best of AoS, SoA and rows, in %zu sizes: %.3f "
        "at most,\nbelow 1 in %zu, above %.2f in %zu%s\n%s",
        sizes, worst, faster, slower, late, late > 0 ? ":" : ".",
        slow.data != NULL ? slow.data : "");
    rs_text_free(&slow);
}

/* ---- all of them ---- */

/* The largest padded grid of all figures. */
static size_t most_bytes(const laboratory *lab)
{
    size_t most = 0;
    for (int p = 0; p < PROGRAMS; p++)
        for (int d = 0; d < 3; d++)
            for (int i = 0; i < MOST_VALUES; i++)
                for (int v = 0; v < MOST_LAYOUTS && programs[p].layouts[v].name != NULL; v++) {
                    figure f = {.program = &programs[p], .dimension = d};
                    size_t cells[3];
                    choose_cells(lab, &f, i, cells);
                    extents n = make_extents(&programs[p].layouts[v], cells);
                    size_t bytes = sizeof(float) * words_of(&programs[p], &n);
                    most = bytes > most ? bytes : most;
                }
    return most;
}

static restride_status open_laboratory(laboratory *lab)
{
    restride_engine *engine = NULL;
    const grid_options *options = lab->options;
    restride_status status = rs_cli_open_engine(&engine, options->on.engine, options->on.device, 0);
    lab->engine = (rs_device_engine *)engine;
    if (status != RESTRIDE_OK)
        return status;
    lab->name = rs_cli_engine_device(engine);
    lab->bytes = most_bytes(lab);
    lab->first = malloc(lab->bytes);
    lab->other = malloc(lab->bytes);
    if (lab->name == NULL || lab->first == NULL || lab->other == NULL)
        return rs_fail_memory("grids");
    rs_device_memory *const memories[] = {&lab->grids[0], &lab->grids[1], &lab->rows};
    for (int m = 0; m < 3 && status == RESTRIDE_OK; m++)
        status = lab->engine->device->allocate(lab->engine, lab->bytes, memories[m]);
    return status;
}

static void close_laboratory(laboratory *lab)
{
    const rs_device_memory memories[] = {lab->grids[0], lab->grids[1], lab->rows};
    for (int m = 0; m < 3; m++)
        if (memories[m] != NULL)
            lab->engine->device->release(lab->engine, memories[m]);
    free(lab->first);
    free(lab->other);
    free(lab->name);
    restride_engine_destroy((restride_engine *)lab->engine);
}

static restride_status measure_program(laboratory *lab, const grid_program *program, json_t *all)
{
    variant variants[MOST_LAYOUTS];
    restride_status status = RESTRIDE_OK;
    int count = 0;
    for (; count < MOST_LAYOUTS && program->layouts[count].name != NULL && status == RESTRIDE_OK;
         count++)
        status = create_variant(lab, &variants[count], program, &program->layouts[count]);
    for (int d = 2; d >= 0 && status == RESTRIDE_OK; d--) {
        figure f = {.program = program,
                    .number = 6 + 3 * (int)(program - programs) + (2 - d),
                    .dimension = d,
                    .layouts = count};
        status = measure_figure(lab, &f, variants);
        if (status == RESTRIDE_OK && lab->options->out != NULL)
            status = write_figure(lab, &f);
        if (status == RESTRIDE_OK && !lab->options->on.json)
            print_figure(&f);
        if (status == RESTRIDE_OK)
            json_array_append_new(all, figure_json(&f));
    }
    return status;
}

/* ---- options ---- */

int rs_lab_grids(int argc, char **argv)
{
    static const rs_cli_option table[] = {
        RS_BENCH_DEVICE_OPTIONS(grid_options),
        {RS_CLI_TEXT("out", grid_options, out)},
        {RS_CLI_FLAG("small", grid_options, small)},
        {0},
    };
    if (rs_cli_helps(argc, argv, usage))
        return RS_EXIT_DONE;
    grid_options options = {.on = RS_BENCH_DEVICE_DEFAULTS};
    int exit_status = rs_cli_read_options("grids", argc, argv, table, &options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    if (optind < argc)
        return rs_cli_fail(RS_EXIT_USAGE, "grids", "\"%s\" is one argument too many.",
                           argv[optind]);
    if (options.out != NULL && rs_cli_make_folder("grids", options.out) != RS_EXIT_DONE)
        return RS_EXIT_FAILED;
    laboratory lab = {.options = &options};
    json_t *all = json_array();
    restride_status status = open_laboratory(&lab);
    for (int p = 0; p < PROGRAMS && status == RESTRIDE_OK; p++)
        status = measure_program(&lab, &programs[p], all);
    if (status != RESTRIDE_OK)
        exit_status = rs_cli_fail_last(RS_EXIT_FAILED, "grids");
    else if (options.on.json)
        exit_status =
            rs_cli_print_json("grids", json_pack("{s:s, s:s, s:O}", "device", lab.name, "engine",
                                                 options.on.engine, "figures", all));
    else
        print_verdict(all);
    json_decref(all);
    close_laboratory(&lab);
    return exit_status;
}
