/*
 * restride-lab scale: messages and time of a redistribution from blocks of rows to blocks of
 * columns over many GPUs, by a model: each process exchanges with one partner after the other, in
 * chunks of which two are under way, so a chunk takes as long as its bytes, or half as long as its
 * latency and its bytes, whichever is longer. In two levels, processes of the same number in their
 * nodes exchange first, and then those of each node: fewer and larger messages between nodes, for
 * more local passes and an exchange inside the node.
 */
#include "base/json.h"
#include "base/status.h"
#include "base/text.h"
#include "console/fail.h"
#include "console/options.h"
#include "console/plot.h"
#include "lab/cli/lab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
    "usage: restride-lab scale [OPTIONS]...\n"
    "\n"
    "Foretells messages, time and efficiency of a matrix by blocks of rows that becomes one by\n"
    "blocks of columns over many GPUs, directly and in two levels by nodes. Efficiency is what "
    "the\n"
    "direct way would take without latency, as a part of the time.\n"
    "\n"
    "  --bytes LIST       of the matrix on each process, 32G,1G (default)\n"
    "  --processes LIST   (default: powers of two from 8 to 16384)\n"
    "  --node N           processes of a node (default: 8)\n"
    "  --chunk BYTES      of a message at most (default: 16M)\n"
    "  --link N           GB/s of a process inside a node (default: 340)\n"
    "  --network N        GB/s of a process between nodes (default: 45, of 400 Gb/s)\n"
    "  --latency N        microseconds of a message inside a node (default: 7)\n"
    "  --far-latency N    the same between nodes (default: 20)\n"
    "  --copy N           GB/s of a copy on a device, read and written (default: 3984)\n"
    "  --svg FILE         draws efficiency against processes\n"
    "  --json             prints JSON\n"
    "\n"
    "Example:\n"
    "  restride-lab scale --bytes 32G,1G,64M --svg scale.svg\n";

/* Passes over the part at the speed of a copy, as planned on an H100: blocks that come together,
 * and a transposition. In two levels blocks come together three times. */
static const double gather_passes = 1.3;
static const double transpose_passes = 2.2;

enum { MOST_ROWS = 64 * 16, MOST_SERIES = 8 };

typedef struct {
    rs_cli_numbers bytes;
    rs_cli_numbers processes;
    size_t node;
    size_t chunk;
    size_t link;
    size_t network;
    size_t latency;
    size_t far_latency;
    size_t copy;
    const char *svg;
    bool json;
} scale_options;

/* One exchange of a process with `partners` others. */
typedef struct {
    double partners;
    double bytes; /* for each */
    bool far;
} exchange;

typedef struct {
    double messages;
    double sent;    /* bytes */
    double seconds; /* with the local passes */
} outcome;

typedef struct {
    double bytes;
    double processes;
    outcome direct;
    outcome levels;
    double ideal;
} scale_row;

static double speed_of(const scale_options *o, bool far)
{
    return 1e9 * (double)(far ? o->network : o->link);
}

static double latency_of(const scale_options *o, bool far)
{
    return 1e-6 * (double)(far ? o->far_latency : o->latency);
}

static double seconds_of_chunk(const scale_options *o, double bytes, bool far)
{
    const double wire = bytes / speed_of(o, far);
    return fmax(wire, (latency_of(o, far) + wire) / 2);
}

static void add_exchange(const scale_options *o, const exchange *e, outcome *sum)
{
    const double chunk = (double)o->chunk;
    const double whole = floor(e->bytes / chunk);
    const double rest = e->bytes - whole * chunk;
    double seconds = whole * seconds_of_chunk(o, chunk, e->far);
    seconds += rest > 0 ? seconds_of_chunk(o, rest, e->far) : 0;
    sum->messages += e->partners * (whole + (rest > 0));
    sum->sent += e->partners * e->bytes;
    sum->seconds += e->partners * seconds;
}

static double seconds_of_passes(const scale_options *o, double bytes, double passes)
{
    return passes * 2 * bytes / (1e9 * (double)o->copy);
}

static scale_row foretell(const scale_options *o, double bytes, double processes)
{
    const double node = fmin((double)o->node, processes);
    const double nodes = processes / node;
    const double share = bytes / processes; /* for each process */
    scale_row row = {.bytes = bytes, .processes = processes};
    add_exchange(o, &(exchange){node - 1, share, false}, &row.direct);
    add_exchange(o, &(exchange){processes - node, share, true}, &row.direct);
    const double local = seconds_of_passes(o, bytes, gather_passes + transpose_passes);
    row.direct.seconds += local;
    add_exchange(o, &(exchange){nodes - 1, bytes / nodes, true}, &row.levels);
    add_exchange(o, &(exchange){node - 1, bytes / node, false}, &row.levels);
    row.levels.seconds += seconds_of_passes(o, bytes, 3 * gather_passes + transpose_passes);
    row.ideal = local + (node - 1) * share / speed_of(o, false) +
                (processes - node) * share / speed_of(o, true);
    return row;
}

/* From how many processes on a message between nodes takes longer by its latency than by its bytes.
 */
static double latency_rules(const scale_options *o, double bytes)
{
    return bytes / (latency_of(o, true) * speed_of(o, true));
}

static int print_json(const scale_options *o, const scale_row rows[], size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        const outcome *both[] = {&rows[i].direct, &rows[i].levels};
        json_t *row =
            json_pack("{s:f, s:f}", "bytes", rows[i].bytes, "processes", rows[i].processes);
        for (int k = 0; k < 2; k++)
            json_object_set_new(row, k == 0 ? "direct" : "two_levels",
                                json_pack("{s:f, s:f, s:f, s:f}", "messages", both[k]->messages,
                                          "bytes_sent", both[k]->sent, "seconds", both[k]->seconds,
                                          "efficiency", rows[i].ideal / both[k]->seconds));
        json_array_append_new(list, row);
    }
    return rs_cli_print_json("scale", json_pack("{s:I, s:I, s:o}", "node", (json_int_t)o->node,
                                                "chunk_bytes", (json_int_t)o->chunk, "rows", list));
}

static void print_table(const scale_options *o, const scale_row rows[], size_t count)
{
    printf("%9s %8s | %10s %10s %9s %5s | %10s %9s %5s\n", "GiB each", "procs", "message",
           "messages", "ms", "eff.", "two levels", "ms", "eff.");
    for (size_t i = 0; i < count; i++) {
        const scale_row *r = &rows[i];
        const double message = fmin((double)o->chunk, r->bytes / r->processes);
        if (i > 0 && r->bytes != rows[i - 1].bytes)
            printf("\n");
        printf("%9.3f %8.0f | %6.0f KiB %10.0f %9.1f %5.2f | %10.0f %9.1f %5.2f\n",
               r->bytes / (1 << 30), r->processes, message / 1024, r->direct.messages,
               1e3 * r->direct.seconds, r->ideal / r->direct.seconds, r->levels.messages,
               1e3 * r->levels.seconds, r->ideal / r->levels.seconds);
    }
    for (size_t i = 0; i < o->bytes.count; i++)
        printf("%.3f GiB each: latency rules from %.0f processes on\n",
               (double)o->bytes.values[i] / (1 << 30),
               latency_rules(o, (double)o->bytes.values[i]));
}

static int draw(const scale_options *o, const scale_row rows[])
{
    static char names[MOST_SERIES][64];
    static double x[MOST_SERIES][64];
    static double y[MOST_SERIES][64];
    rs_plot_series series[MOST_SERIES];
    const size_t sizes = o->bytes.count < MOST_SERIES / 2 ? o->bytes.count : MOST_SERIES / 2;
    const size_t points = o->processes.count;
    for (size_t s = 0; s < 2 * sizes; s++) {
        const double mib = (double)o->bytes.values[s / 2] / (1 << 20);
        snprintf(names[s], sizeof names[s], "%g %s, %s", mib < 1024 ? mib : mib / 1024,
                 mib < 1024 ? "MiB" : "GiB", s % 2 == 0 ? "directly" : "two levels");
        for (size_t i = 0; i < points; i++) {
            const scale_row *r = &rows[s / 2 * points + i];
            x[s][i] = r->processes;
            y[s][i] = r->ideal / (s % 2 == 0 ? r->direct : r->levels).seconds;
        }
        series[s] = (rs_plot_series){.name = names[s],
                                     .count = points,
                                     .x = x[s],
                                     .y = y[s],
                                     .dashed = s % 2 != 0,
                                     .color = s / 2 + 1};
    }
    const rs_plot plot = {.kind = RS_PLOT_LINES,
                          .title = "Rows to columns over many GPUs: a model",
                          .subtitle = "NVLink inside nodes, 400 Gb/s a GPU between them; nothing "
                                      "here was measured",
                          .x_label = "processes",
                          .y_label = "efficiency",
                          .x_logarithmic = true,
                          .series = series,
                          .series_count = 2 * sizes};
    rs_text svg = RS_TEXT_EMPTY;
    rs_plot_write(&svg, &plot);
    restride_status status =
        svg.failed ? rs_fail_memory("a figure") : rs_text_write_file(o->svg, svg.data, svg.size);
    rs_text_free(&svg);
    return status == RESTRIDE_OK ? RS_EXIT_DONE : rs_cli_fail_last(RS_EXIT_FAILED, "scale");
}

int rs_lab_scale(int argc, char **argv)
{
    static const rs_cli_option table[] = {
        {RS_CLI_OWN("bytes", scale_options, bytes, rs_cli_take_numbers)},
        {RS_CLI_OWN("processes", scale_options, processes, rs_cli_take_numbers)},
        {RS_CLI_COUNT("node", scale_options, node, 1, 1024)},
        {RS_CLI_BYTES("chunk", scale_options, chunk, 1, 1 << 30)},
        {RS_CLI_COUNT("link", scale_options, link, 1, 100000)},
        {RS_CLI_COUNT("network", scale_options, network, 1, 100000)},
        {RS_CLI_COUNT("latency", scale_options, latency, 0, 1000000)},
        {RS_CLI_COUNT("far-latency", scale_options, far_latency, 0, 1000000)},
        {RS_CLI_COUNT("copy", scale_options, copy, 1, 100000)},
        {RS_CLI_TEXT("svg", scale_options, svg)},
        {RS_CLI_FLAG("json", scale_options, json)},
        {0},
    };
    if (rs_cli_helps(argc, argv, usage))
        return RS_EXIT_DONE;
    scale_options o = {.bytes = {2, {(size_t)32 << 30, (size_t)1 << 30}},
                       .node = 8,
                       .chunk = 16 << 20,
                       .link = 340,
                       .network = 45,
                       .latency = 7,
                       .far_latency = 20,
                       .copy = 3984};
    for (size_t p = 8; p <= 16384; p *= 2)
        o.processes.values[o.processes.count++] = p;
    const int exit_status = rs_cli_read_only_options("scale", argc, argv, table, &o);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    for (size_t i = 0; i < o.processes.count; i++)
        if (o.processes.values[i] > o.node && o.processes.values[i] % o.node != 0)
            return rs_cli_fail(RS_EXIT_USAGE, "scale",
                               "%zu processes are not whole nodes of %zu; give a multiple.",
                               o.processes.values[i], o.node);
    scale_row *rows = calloc(o.bytes.count * o.processes.count, sizeof *rows);
    if (rows == NULL)
        return rs_cli_fail(RS_EXIT_FAILED, "scale", "There is no memory for the table.");
    size_t count = 0;
    for (size_t b = 0; b < o.bytes.count; b++)
        for (size_t p = 0; p < o.processes.count; p++)
            rows[count++] = foretell(&o, (double)o.bytes.values[b], (double)o.processes.values[p]);
    int done = o.svg == NULL ? RS_EXIT_DONE : draw(&o, rows);
    if (done == RS_EXIT_DONE && o.json)
        done = print_json(&o, rows, count);
    else if (done == RS_EXIT_DONE)
        print_table(&o, rows, count);
    free(rows);
    return done;
}
