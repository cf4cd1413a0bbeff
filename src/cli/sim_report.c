/* The report of restride sim; see sim.h. */
#include "base/text.h"
#include "cli/sim.h"
#include "console/fail.h"
#include "console/page.h"
#include "console/plot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

restride_status rs_sim_take_result(rs_sim_result *result, rs_sim_memory *memory)
{
    size_t channels = rs_sim_memory_device(memory)->channels;
    result->counts = rs_sim_finish(memory);
    result->load = malloc(channels * sizeof *result->load);
    if (result->load == NULL)
        return rs_fail_memory("the load of channels");
    for (size_t c = 0; c < channels; c++)
        result->load[c] = (double)rs_sim_channel_requests(memory, c);
    return RESTRIDE_OK;
}

/* ---- numbers ---- */

static double part(size_t a, size_t b)
{
    return b > 0 ? (double)a / (double)b : 0;
}

static double speed(const rs_sim_counts *counts)
{
    return counts->ns > 0 ? (double)counts->useful_bytes / counts->ns : 0;
}

static double moved(const rs_sim_counts *counts)
{
    return part(counts->moved_bytes, counts->useful_bytes);
}

/* How much sooner a layout is done than the first one. */
static double gain(const rs_sim_report *report, size_t which)
{
    double ns = report->results[which].counts.ns;
    return ns > 0 ? report->results[0].counts.ns / ns : 0;
}

static double cycles(const rs_sim_report *report, size_t which)
{
    return report->results[which].counts.ns * report->device->clock_ghz;
}

/* ---- text and JSON ---- */

static void print_table(const rs_sim_report *report)
{
    int width = (int)strlen("layout");
    for (size_t i = 0; i < report->count; i++)
        if ((int)strlen(report->results[i].layout) > width)
            width = (int)strlen(report->results[i].layout);
    printf("%s\n", report->device->name);
    printf("%-*s %12s %7s %8s %6s %10s %10s %8s %7s\n", width, "layout", "lines/access", "moved",
           "balance", "rows", "us", "cycles", "GB/s", "gain");
    for (size_t i = 0; i < report->count; i++) {
        const rs_sim_counts *counts = &report->results[i].counts;
        printf("%-*s %12.2f %7.2f %8.2f %6.2f %10.1f %10.0f %8.0f %7.2f\n", width,
               report->results[i].layout, part(counts->lines, counts->accesses), moved(counts),
               counts->busiest, part(counts->row_hits, counts->requests), counts->ns * 1e-3,
               cycles(report, i), speed(counts), gain(report, i));
    }
}

static int print_json(const rs_sim_report *report)
{
    json_t *layouts = json_array();
    for (size_t i = 0; i < report->count; i++) {
        const rs_sim_counts *c = &report->results[i].counts;
        json_array_append_new(
            layouts,
            json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:f, "
                      "s:f, s:f}",
                      "layout", report->results[i].layout, "warps", (json_int_t)c->warps,
                      "accesses", (json_int_t)c->accesses, "lines", (json_int_t)c->lines, "sectors",
                      (json_int_t)c->sectors, "useful_bytes", (json_int_t)c->useful_bytes,
                      "moved_bytes", (json_int_t)c->moved_bytes, "requests",
                      (json_int_t)c->requests, "row_hits", (json_int_t)c->row_hits, "balance",
                      c->busiest, "access_seconds", c->access_ns * 1e-9, "memory_seconds",
                      c->memory_ns * 1e-9, "latency_seconds", c->latency_ns * 1e-9, "seconds",
                      c->ns * 1e-9, "cycles", cycles(report, i), "gb_per_second", speed(c), "gain",
                      gain(report, i)));
    }
    json_t *object = json_pack("{s:s, s:s, s:o}", "device", report->device->name, report->key,
                               report->subject, "layouts", layouts);
    return rs_cli_print_json("sim", object);
}

/* ---- pictures ---- */

static void draw_channels(rs_text *svg, const rs_sim_report *report)
{
    rs_plot_series series[RS_SIM_MOST_LAYOUTS];
    for (size_t i = 0; i < report->count; i++)
        series[i] = (rs_plot_series){.name = report->results[i].layout,
                                     .count = report->device->channels,
                                     .y = report->results[i].load};
    rs_plot_write(svg, &(rs_plot){.kind = RS_PLOT_LINES,
                                  .title = "Requests to each memory channel",
                                  .x_label = "channel",
                                  .y_label = "requests",
                                  .series = series,
                                  .series_count = report->count});
}

/* What of a moved burst the kernel asked for, and what of a row's visits found it open: in percent.
 * A cache that serves data again makes the first more than 100. */
static void draw_bursts(rs_text *svg, const rs_sim_report *report)
{
    static const char *const names[] = {"useful bytes", "open rows"};
    enum { KINDS = sizeof names / sizeof names[0] };
    double values[KINDS][RS_SIM_MOST_LAYOUTS];
    const char *layouts[RS_SIM_MOST_LAYOUTS];
    rs_plot_series series[KINDS];
    for (size_t i = 0; i < report->count; i++) {
        const rs_sim_counts *counts = &report->results[i].counts;
        layouts[i] = report->results[i].layout;
        values[0][i] = 100 * part(counts->useful_bytes, counts->moved_bytes);
        values[1][i] = 100 * part(counts->row_hits, counts->requests);
    }
    for (size_t k = 0; k < KINDS; k++)
        series[k] = (rs_plot_series){.name = names[k], .count = report->count, .y = values[k]};
    rs_plot_write(svg, &(rs_plot){.kind = RS_PLOT_BARS,
                                  .title = "Use of memory bursts",
                                  .x_label = "layout",
                                  .y_label = "of bytes moved, of requests: percent",
                                  .categories = layouts,
                                  .category_count = report->count,
                                  .series = series,
                                  .series_count = KINDS});
}

static void add_picture(rs_text *page, const rs_sim_report *report,
                        void (*draw)(rs_text *svg, const rs_sim_report *report),
                        const char *description)
{
    rs_text svg = RS_TEXT_EMPTY;
    draw(&svg, report);
    rs_text_add_string(page, "<div class=\"figure\">\n");
    if (svg.failed)
        page->failed = true;
    else
        rs_page_image(page, svg.data, description);
    rs_text_add_string(page, "</div>\n");
    rs_text_free(&svg);
}

static void add_row(rs_text *page, const rs_sim_report *report, size_t which)
{
    const rs_sim_counts *counts = &report->results[which].counts;
    rs_text_add_string(page, "<tr><td><code>");
    rs_page_escaped(page, report->results[which].layout);
    rs_text_format(page,
                   "</code></td><td class=\"number\">%.2f</td><td class=\"number\">%.2f</td>"
                   "<td class=\"number\">%.2f</td><td class=\"number\">%.2f</td>"
                   "<td class=\"number\">%.1f µs</td><td class=\"number\">%.0f</td>"
                   "<td class=\"number\">%.2f</td></tr>\n",
                   part(counts->lines, counts->accesses), moved(counts), counts->busiest,
                   part(counts->row_hits, counts->requests), counts->ns * 1e-3, speed(counts),
                   gain(report, which));
}

static void make_page(rs_text *page, const rs_sim_report *report)
{
    rs_page_begin(page, "restride sim", NULL);
    rs_text_add_string(page, "<h1>");
    rs_page_escaped(page, report->subject);
    rs_text_add_string(page, "</h1>\n<p class=\"soft\">modelled on ");
    rs_page_escaped(page, report->device->name);
    rs_text_add_string(
        page, "</p>\n<div class=\"figure\"><table><tr><th>layout</th>"
              "<th class=\"number\">lines an access</th><th class=\"number\">moved / used</th>"
              "<th class=\"number\">balance</th><th class=\"number\">rows open</th>"
              "<th class=\"number\">time</th><th class=\"number\">GB/s</th>"
              "<th class=\"number\">gain</th></tr>\n");
    for (size_t i = 0; i < report->count; i++)
        add_row(page, report, i);
    rs_text_add_string(page, "</table></div>\n<h2>Channel balance</h2>\n");
    add_picture(page, report, draw_channels, "Requests to each memory channel, by layout");
    rs_text_add_string(page, "<h2>Burst use</h2>\n");
    add_picture(page, report, draw_bursts,
                "The useful part of the bytes moved, and requests to open rows, by layout");
    rs_page_end(page);
}

/* Writes a file, unless it was not asked for. */
static restride_status write_file(const char *path, const rs_sim_report *report,
                                  void (*make)(rs_text *text, const rs_sim_report *report))
{
    if (path == NULL)
        return RESTRIDE_OK;
    rs_text made = RS_TEXT_EMPTY;
    make(&made, report);
    restride_status status = made.failed ? rs_fail_memory("the picture")
                                         : rs_text_write_file(path, made.data, made.size);
    rs_text_free(&made);
    return status;
}

int rs_sim_write_report(const rs_sim_report *report, const rs_sim_forms *forms)
{
    if (write_file(forms->svg, report, draw_channels) != RESTRIDE_OK ||
        write_file(forms->html, report, make_page) != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, "sim");
    if (forms->json)
        return print_json(report);
    print_table(report);
    return RS_EXIT_DONE;
}
