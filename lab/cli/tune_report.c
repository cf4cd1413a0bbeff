/* See tune_report.h. */
#include "lab/cli/tune_report.h"

#include "base/json.h"
#include "base/text.h"
#include "console/plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double within_choice = 0.9;    /* of the speed of the best: within 10 % */
static const double within_expected = 0.25; /* of the measured time */

/* ---- rows ---- */

void rs_tune_name(char name[RS_TUNE_NAME_BYTES], const rs_matrices *matrices)
{
    snprintf(name, RS_TUNE_NAME_BYTES, "%zux%zux%zu", matrices->rows, matrices->cols,
             matrices->unit);
}

static json_t *plan_json(const rs_tune_plan *plan)
{
    json_t *object =
        json_pack("{s:s, s:I, s:I, s:f, s:f}", "method", plan->method, "tile_rows",
                  (json_int_t)plan->tiles.rows, "tile_cols", (json_int_t)plan->tiles.cols,
                  "expected_passes", plan->passes, "seconds", plan->seconds);
    if (plan->turns > 0)
        json_object_set_new(object, "seconds_in_turns", json_real(plan->turns));
    return object;
}

json_t *rs_tune_row(const rs_matrices *matrices, const rs_tune_found *found, bool all)
{
    char name[RS_TUNE_NAME_BYTES];
    rs_tune_name(name, matrices);
    const rs_tune_plan *own = &found->plans[0];
    const rs_tune_plan *best = &found->plans[found->best];
    json_t *row =
        json_pack("{s:s, s:I, s:I, s:I, s:o, s:o, s:f, s:f, s:f}", "problem", name, "offered",
                  (json_int_t)found->offered, "tried", (json_int_t)found->count, "refused",
                  (json_int_t)found->refused, "chosen", plan_json(own), "best", plan_json(best),
                  "ratio", best->turns / own->turns, "copy_seconds", found->copy_seconds,
                  "expected", own->passes * found->copy_seconds / own->turns);
    json_t *plans = all ? json_array() : NULL;
    for (size_t i = 0; all && i < found->count; i++)
        json_array_append_new(plans, plan_json(&found->plans[i]));
    if (all)
        json_object_set_new(row, "plans", plans);
    return row;
}

static double time_of(const json_t *row, const char *plan)
{
    return rs_json_number_of(json_object_get(row, plan), "seconds_in_turns");
}

static void print_plan(const json_t *plan)
{
    printf("%s, %lld x %lld", rs_json_string_of(plan, "method"),
           rs_json_integer_of(plan, "tile_rows"), rs_json_integer_of(plan, "tile_cols"));
}

void rs_tune_print_heading(const char *device)
{
    printf("%s: the planner's choice beside the best of all plans tried, every element verified\n"
           "%22s %6s %10s %10s %7s %8s  %s\n",
           device, "problem", "tried", "chosen ms", "best ms", "ratio", "expected", "chosen; best");
}

void rs_tune_print_row(const json_t *row)
{
    size_t i;
    json_t *plan;
    printf("%22s %6lld %10.3f %10.3f %7.3f %8.2f  ", rs_json_string_of(row, "problem"),
           rs_json_integer_of(row, "tried"), 1e3 * time_of(row, "chosen"),
           1e3 * time_of(row, "best"), rs_json_number_of(row, "ratio"),
           rs_json_number_of(row, "expected"));
    print_plan(json_object_get(row, "chosen"));
    if (rs_json_number_of(row, "ratio") < 1) {
        printf("; ");
        print_plan(json_object_get(row, "best"));
    }
    printf("\n");
    json_array_foreach(json_object_get(row, "plans"), i, plan)
    {
        printf("%22s %6s %10.3f  ", "", "", 1e3 * rs_json_number_of(plan, "seconds"));
        print_plan(plan);
        printf(" (%.2f passes expected)\n", rs_json_number_of(plan, "expected_passes"));
    }
    fflush(stdout);
}

/* ---- the figures ---- */

typedef struct {
    size_t near;     /* chosen within 10 % of the best */
    size_t expected; /* within 25 % */
    double worst;
} counts;

static counts count(const json_t *rows)
{
    size_t i;
    json_t *row;
    counts c = {.worst = 1};
    json_array_foreach(rows, i, row)
    {
        const double ratio = rs_json_number_of(row, "ratio");
        const double expected = rs_json_number_of(row, "expected");
        c.near += ratio >= within_choice;
        c.expected += fabs(expected - 1) <= within_expected;
        c.worst = ratio < c.worst ? ratio : c.worst;
    }
    return c;
}

bool rs_tune_all_near(const json_t *rows)
{
    return count(rows).near == json_array_size(rows);
}

json_t *rs_tune_summary(const json_t *rows, size_t wanted)
{
    const counts c = count(rows);
    return json_pack("{s:I, s:I, s:I, s:I, s:f}", "problems", (json_int_t)wanted, "measured",
                     (json_int_t)json_array_size(rows), "choice_within_10_percent",
                     (json_int_t)c.near, "expected_within_25_percent", (json_int_t)c.expected,
                     "worst_ratio", c.worst);
}

void rs_tune_print_summary(const json_t *rows, size_t wanted)
{
    const counts c = count(rows);
    const size_t measured = json_array_size(rows);
    if (measured < wanted)
        printf("%zu of %zu problems were measured\n", measured, wanted);
    printf("expected time within 25 %% of the measured one: %zu of %zu\n", c.expected, measured);
    printf("%zu of %zu choices within 10 %% of the best plan tried; the worst %.3f\n", c.near,
           measured, c.worst);
}

/* ---- plots ---- */

static restride_status draw(const rs_plot *plot, const char *file)
{
    rs_text svg = RS_TEXT_EMPTY;
    rs_plot_write(&svg, plot);
    restride_status status =
        svg.failed ? rs_fail_memory("a figure") : rs_text_write_file(file, svg.data, svg.size);
    rs_text_free(&svg);
    return status;
}

static int descending(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x < y) - (x > y);
}

restride_status rs_tune_draw_choice(const json_t *rows, const char *device, const char *file)
{
    const size_t measured = json_array_size(rows);
    double *ratios = calloc(measured + 1, sizeof *ratios);
    if (ratios == NULL)
        return rs_fail_memory("a figure");
    for (size_t i = 0; i < measured; i++)
        ratios[i] = rs_json_number_of(json_array_get(rows, i), "ratio");
    qsort(ratios, measured, sizeof *ratios, descending);
    const double ends[] = {0, (double)measured};
    const double limit[] = {within_choice, within_choice};
    const rs_plot_series series[] = {
        {.name = "the planner's choice", .count = measured, .y = ratios},
        {.name = "within 10 %", .count = 2, .x = ends, .y = limit, .dashed = true}};
    const rs_plot plot = {.kind = RS_PLOT_LINES,
                          .title = "The planner's choice beside the best of all plans tried",
                          .subtitle = device,
                          .x_label = "problems, the best first",
                          .y_label = "speed, as a part of the best plan's",
                          .series = series,
                          .series_count = 2};
    restride_status status = draw(&plot, file);
    free(ratios);
    return status;
}

/* Passes and not milliseconds: problems differ more in size than in anything else. */
restride_status rs_tune_draw_expected(const json_t *rows, const char *device, const char *file)
{
    const size_t measured = json_array_size(rows);
    double *x = calloc(2 * measured + 1, sizeof *x);
    if (x == NULL)
        return rs_fail_memory("a figure");
    double *y = x + measured;
    double most = 1;
    for (size_t i = 0; i < measured; i++) {
        const json_t *row = json_array_get(rows, i);
        x[i] = time_of(row, "chosen") / rs_json_number_of(row, "copy_seconds");
        y[i] = x[i] * rs_json_number_of(row, "expected");
        most = fmax(most, x[i]);
    }
    const double ends[] = {0, most};
    const double high[] = {0, most * (1 + within_expected)};
    const double low[] = {0, most * (1 - within_expected)};
    const rs_plot_series series[] = {
        {.name = "random matrices", .count = measured, .x = x, .y = y},
        {.name = "as measured", .count = 2, .x = ends, .y = ends, .dashed = true},
        {.name = "25 % more", .count = 2, .x = ends, .y = high, .dashed = true, .color = 3},
        {.name = "25 % less", .count = 2, .x = ends, .y = low, .dashed = true, .color = 3}};
    const rs_plot plot = {.kind = RS_PLOT_POINTS,
                          .title = "Expected beside measured time, in copies of the array",
                          .subtitle = device,
                          .x_label = "measured",
                          .y_label = "expected",
                          .series = series,
                          .series_count = 4};
    restride_status status = draw(&plot, file);
    free(x);
    return status;
}
