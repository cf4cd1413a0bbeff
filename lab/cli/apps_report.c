/* See apps_report.h. */
#include "lab/cli/apps_report.h"

#include "base/json.h"
#include "base/text.h"
#include "console/plot.h"

#include <stdio.h>

enum { MOST_ITERATIONS_DRAWN = 30 };

static double number_of(const json_t *object, const char *key)
{
    return rs_json_number_of(object, key);
}

void rs_lab_apps_print_head(void)
{
    printf("%-26s %9s %6s %6s %6s %6s %9s %7s %6s %9s | %6s %6s %6s | %6s %6s | %s\n", "", "AoS",
           "SoA", "ASTA", "layer", "layer/", "convert", "break-", "layer", "convert", "loop",
           "first", "spread", "whole", "first", "same");
    printf("%-26s %9s %6s %6s %6s %6s %9s %7s %6s %9s | %6s %6s %6s | %6s %6s | %s\n", "", "ms",
           "x", "x", "x", "hand", "GB/s", "even", "SoA x", "GB/s", "auto x", "auto x", "of AoS",
           "auto x", "auto x", "result");
}

void rs_lab_apps_print_case(const json_t *m)
{
    const json_t *aos = json_object_get(m, "aos");
    printf(
        "%-26s %9.4f %6.2f %6.2f %6.2f %6.3f %9.0f %7.2f %6.2f %9.0f | %6.2f %6.2f %6.2f | %6.2f "
        "%6.2f | %s\n",
        rs_json_string_of(m, "name"), 1e3 * number_of(aos, "median_seconds"),
        number_of(m, "speedup_soa"), number_of(m, "speedup_asta"), number_of(m, "speedup_layer"),
        number_of(m, "layer_of_hand"), number_of(m, "conversion_gigabytes_per_second"),
        number_of(m, "break_even_iterations"), number_of(m, "speedup_layer_soa"),
        number_of(m, "conversion_gigabytes_per_second_soa"), number_of(m, "elapsed_auto"),
        number_of(m, "elapsed_first"), number_of(m, "elapsed_spread"), number_of(m, "process_auto"),
        number_of(m, "process_first"), rs_json_flag_of(m, "same_results") ? "yes" : "NO");
    fflush(stdout);
}

static restride_status write_figure(const char *folder, const char *name, const rs_plot *plot)
{
    rs_text path = RS_TEXT_EMPTY, svg = RS_TEXT_EMPTY;
    rs_text_format(&path, "%s/%s.svg", folder, name);
    rs_plot_write(&svg, plot);
    restride_status status = svg.failed || path.failed
                                 ? rs_fail_memory("a figure")
                                 : rs_text_write_file(path.data, svg.data, svg.size);
    rs_text_free(&path);
    rs_text_free(&svg);
    return status;
}

/* Figures 5.2 and 5.3: the speedup of each layout, marshaling not counted. */
static restride_status draw_speedups(const char *folder, const json_t *all)
{
    double soa[RS_LAB_APPS_MOST_CASES], asta[RS_LAB_APPS_MOST_CASES], layer[RS_LAB_APPS_MOST_CASES];
    const char *names[RS_LAB_APPS_MOST_CASES];
    size_t count = json_array_size(all);
    for (size_t i = 0; i < count; i++) {
        const json_t *m = json_array_get(all, i);
        names[i] = rs_json_string_of(m, "name");
        soa[i] = number_of(m, "speedup_soa");
        asta[i] = number_of(m, "speedup_asta");
        layer[i] = number_of(m, "speedup_layer");
    }
    const rs_plot_series series[] = {
        {.name = "SoA by hand", .count = count, .y = soa},
        {.name = "ASTA by hand", .count = count, .y = asta},
        {.name = "restride run", .count = count, .y = layer},
    };
    const rs_plot plot = {.kind = RS_PLOT_BARS,
                          .title = "Speedup of kernels over arrays of structures",
                          .x_label = "application",
                          .y_label = "times faster",
                          .categories = names,
                          .category_count = count,
                          .series = series,
                          .series_count = 3};
    return write_figure(folder, "apps-speedup", &plot);
}

/* Figures 5.4 to 5.6: net of the conversions, there and back. */
static restride_status draw_net(const char *folder, const json_t *all)
{
    static double x[MOST_ITERATIONS_DRAWN], one[MOST_ITERATIONS_DRAWN];
    static double y[RS_LAB_APPS_MOST_CASES][MOST_ITERATIONS_DRAWN];
    rs_plot_series series[RS_LAB_APPS_MOST_CASES + 1];
    size_t count = json_array_size(all);
    for (int n = 0; n < MOST_ITERATIONS_DRAWN; n++) {
        x[n] = n + 1;
        one[n] = 1;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *m = json_array_get(all, i);
        double own = number_of(json_object_get(m, "aos"), "median_seconds");
        double moved = number_of(json_object_get(m, "layer"), "median_seconds");
        for (int n = 0; n < MOST_ITERATIONS_DRAWN; n++)
            y[i][n] = x[n] * own / (x[n] * moved + number_of(m, "conversion_seconds"));
        series[i] = (rs_plot_series){.name = rs_json_string_of(m, "name"),
                                     .count = MOST_ITERATIONS_DRAWN,
                                     .x = x,
                                     .y = y[i]};
    }
    series[count] = (rs_plot_series){
        .name = "break-even", .count = MOST_ITERATIONS_DRAWN, .x = x, .y = one, .dashed = true};
    const rs_plot plot = {.kind = RS_PLOT_LINES,
                          .title = "Net speedup with the conversions there and back",
                          .x_label = "iterations",
                          .y_label = "times faster",
                          .series = series,
                          .series_count = count + 1};
    return write_figure(folder, "apps-net", &plot);
}

restride_status rs_lab_apps_draw(const json_t *all, const char *folder)
{
    restride_status status = draw_speedups(folder, all);
    return status == RESTRIDE_OK ? draw_net(folder, all) : status;
}
