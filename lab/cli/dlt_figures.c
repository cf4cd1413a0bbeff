/* restride-lab dlt --figures: figures 6, 7 and 9 of Tseng 2014, on the model of sim/tseng.h. */
#include "base/json.h"
#include "console/fail.h"
#include "console/plot.h"
#include "lab/cli/dlt.h"
#include "lab/sim/tseng.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { USUAL_TILE = 32, MOST_BARS = 3, FIGURES = 3 };

typedef struct {
    const char *name;
    rs_tseng_version version;
    size_t tile;
    size_t delay_cycles;
} bar;

typedef struct {
    const char *name;
    const char *title;
    bar bars[MOST_BARS];
} figure;

static const figure figures[FIGURES] = {
    {"tseng-6",
     "Data layouts, no hardware delays",
     {{"AoS", RS_TSENG_AOS, USUAL_TILE, 0},
      {"ASTA", RS_TSENG_ASTA, USUAL_TILE, 0},
      {"AoS with transformer", RS_TSENG_DLT, USUAL_TILE, 0}}},
    {"tseng-7",
     "Tile lengths, AoS with transformer",
     {{"W = 16", RS_TSENG_DLT, 16, 0},
      {"W = 32", RS_TSENG_DLT, USUAL_TILE, 0},
      {"W = 64", RS_TSENG_DLT, 64, 0}}},
    {"tseng-9",
     "Data layouts, 75 cycles of address translation",
     {{"AoS", RS_TSENG_AOS, USUAL_TILE, 0},
      {"ASTA", RS_TSENG_ASTA, USUAL_TILE, 0},
      {"AoS with transformer", RS_TSENG_DLT, USUAL_TILE, RS_TSENG_DELAY}}}};

/* How many times as fast as AoS, of each bar and kernel. */
typedef struct {
    double speed[MOST_BARS][RS_TSENG_KERNELS];
} measured;

static restride_status time_of(rs_tseng_kernel kernel, const bar *of, double *ns)
{
    const rs_tseng_run run = {kernel, of->version, of->tile, of->delay_cycles};
    rs_tseng_times times;
    restride_status status = rs_tseng_simulate(&run, &times);
    *ns = times.ns;
    return status;
}

static restride_status measure(const figure *of, measured *made)
{
    static const bar aos = {"AoS", RS_TSENG_AOS, USUAL_TILE, 0};
    restride_status status = RESTRIDE_OK;
    for (int k = 0; k < RS_TSENG_KERNELS && status == RESTRIDE_OK; k++) {
        double base;
        status = time_of((rs_tseng_kernel)k, &aos, &base);
        for (int b = 0; b < MOST_BARS && status == RESTRIDE_OK; b++) {
            double ns;
            status = time_of((rs_tseng_kernel)k, &of->bars[b], &ns);
            made->speed[b][k] = status == RESTRIDE_OK ? base / ns : 0;
        }
    }
    return status;
}

static json_t *describe(const figure *of, const measured *made)
{
    json_t *bars = json_array();
    for (int b = 0; b < MOST_BARS; b++) {
        json_t *speeds = json_object();
        for (int k = 0; k < RS_TSENG_KERNELS; k++)
            json_object_set_new(speeds, rs_tseng_kernel_name((rs_tseng_kernel)k),
                                json_real(made->speed[b][k]));
        json_array_append_new(bars, json_pack("{s:s, s:I, s:I, s:o}", "name", of->bars[b].name,
                                              "tile", (json_int_t)of->bars[b].tile, "delay_cycles",
                                              (json_int_t)of->bars[b].delay_cycles,
                                              "speed_over_aos", speeds));
    }
    return json_pack("{s:s, s:s, s:o}", "figure", of->name, "title", of->title, "bars", bars);
}

static void draw(rs_text *svg, const figure *of, const measured *made)
{
    const char *kernels[RS_TSENG_KERNELS];
    rs_plot_series series[MOST_BARS];
    for (int k = 0; k < RS_TSENG_KERNELS; k++)
        kernels[k] = rs_tseng_kernel_name((rs_tseng_kernel)k);
    for (int b = 0; b < MOST_BARS; b++)
        series[b] = (rs_plot_series){
            .name = of->bars[b].name, .count = RS_TSENG_KERNELS, .y = made->speed[b]};
    rs_plot_write(svg, &(rs_plot){.kind = RS_PLOT_BARS,
                                  .title = of->title,
                                  .x_label = "kernel",
                                  .y_label = "times as fast as AoS",
                                  .categories = kernels,
                                  .category_count = RS_TSENG_KERNELS,
                                  .series = series,
                                  .series_count = MOST_BARS});
}

static restride_status write_file(const char *folder, const char *name, const char *ending,
                                  const char *bytes, size_t size)
{
    rs_text path = RS_TEXT_EMPTY;
    rs_text_format(&path, "%s/%s.%s", folder, name, ending);
    restride_status status = path.failed || bytes == NULL
                                 ? rs_fail_memory("a figure")
                                 : rs_text_write_file(path.data, bytes, size);
    rs_text_free(&path);
    return status;
}

static restride_status write_figure(const char *folder, const figure *of, const measured *made)
{
    rs_text svg = RS_TEXT_EMPTY;
    json_t *description = describe(of, made);
    char *json = rs_json_text(description);
    draw(&svg, of, made);
    restride_status status = RESTRIDE_OK;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        status =
            rs_fail(RESTRIDE_IO, "The folder %s could not be made: %s.", folder, strerror(errno));
    if (status == RESTRIDE_OK)
        status = write_file(folder, of->name, "svg", svg.failed ? NULL : svg.data, svg.size);
    if (status == RESTRIDE_OK)
        status = write_file(folder, of->name, "json", json, json != NULL ? strlen(json) : 0);
    rs_text_free(&svg);
    free(json);
    json_decref(description);
    return status;
}

static void print_figure(const figure *of, const measured *made)
{
    printf("%s: %s, times as fast as AoS\n%-24s", of->name, of->title, "");
    for (int k = 0; k < RS_TSENG_KERNELS; k++)
        printf(" %14s", rs_tseng_kernel_name((rs_tseng_kernel)k));
    puts("");
    for (int b = 0; b < MOST_BARS; b++) {
        printf("%-24s", of->bars[b].name);
        for (int k = 0; k < RS_TSENG_KERNELS; k++)
            printf(" %14.2f", made->speed[b][k]);
        puts("");
    }
}

int rs_lab_dlt_figures(const char *folder, bool json)
{
    json_t *all = json_array();
    restride_status status = RESTRIDE_OK;
    for (int f = 0; f < FIGURES && status == RESTRIDE_OK; f++) {
        measured made;
        status = measure(&figures[f], &made);
        if (status == RESTRIDE_OK && folder != NULL)
            status = write_figure(folder, &figures[f], &made);
        if (status == RESTRIDE_OK && json)
            json_array_append_new(all, describe(&figures[f], &made));
        else if (status == RESTRIDE_OK)
            print_figure(&figures[f], &made);
    }
    char *text = json ? rs_json_text(all) : NULL;
    json_decref(all);
    if (status == RESTRIDE_OK && json && (text == NULL || puts(text) < 0))
        status = rs_fail(RESTRIDE_IO, "The JSON could not be written.");
    free(text);
    return status == RESTRIDE_OK ? RS_EXIT_DONE : rs_cli_fail_last(RS_EXIT_FAILED, "dlt");
}
