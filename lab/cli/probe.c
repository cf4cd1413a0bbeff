/*
 * restride-lab probe: which bits of an address spread requests over a device's channels and banks,
 * and what it fetches at least (thesis section 6.1).
 */
#include "base/json.h"
#include "console/engines.h"
#include "console/fail.h"
#include "console/options.h"
#include "console/plot.h"
#include "console/progress.h"
#include "engine/device/device.h"
#include "lab/cli/lab.h"
#include "lab/probe/measure.h"
#ifdef RESTRIDE_HAVE_CONFIG
#include "cli/sim.h"
#include "lab/probe/description.h"
#include "lab/probe/model.h"
#endif

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: restride-lab probe [OPTIONS]...\n"
    "\n"
    "Finds which bits of an address steer requests to the channels and banks of a device's "
    "memory:\n"
    "bandwidth of requests that are a stride apart, for strides that are powers of two and those\n"
    "beside them; and what the device fetches at least. restride analyze takes the answer\n"
    "(--steering, --burst), and restride sim the description.\n"
    "\n"
    "  --engine ENGINE      opencl (default) or cuda\n"
    "  --device DEVICE      gpu, cpu, its number or a part of its name (default: the first GPU)\n"
    "  --model NAME         a device of restride sim instead, or a file with its description\n"
    "  --quick              fewer strides and repetitions\n"
    "  --bytes SIZE         of memory that is read, 64K and so on (default: 32G, on CPUs 64M)\n"
    "  --tolerance PERCENT  what a bit must cost to count (default: 10)\n"
    "  --svg FILE           draws bandwidth against stride, the thesis' figure 6.4\n"
    "  --describe FILE      writes a description for restride sim --device\n"
    "  --base NAME          whose numbers it has where nothing was measured (default: h100)\n"
    "  --json               prints JSON\n"
    "\n"
    "Example:\n"
    "  restride-lab probe --engine cuda --svg strides.svg --describe mine.ini\n";

enum {
    FIGURE_STEP = 256, /* 64 words, as in the thesis */
    FIGURE_STRIDES = 192,
    QUICK_PART = 8,    /* of them with --quick */
    UNIT = 64,         /* the smallest stride of the search */
    STREAM_FIRST = 16, /* the smallest stride of streams: fewer bytes are held by processors */
    STREAM_STRIDES = 6,
    MODEL_IN_FLIGHT = 4096,
    GPU_ITEMS = 32,
    WORD = 4,
    TARGETS = 2
};
static const size_t gpu_bytes = (size_t)32 << 30;
static const size_t cpu_bytes = (size_t)64 << 20;
static const size_t most_stride = (size_t)1 << 20;
static const size_t quick_stride = (size_t)64 << 10;

typedef struct {
    const char *engine;
    const char *device;
    const char *model;
    size_t bytes;
    size_t tolerance;
    const char *svg;
    const char *description;
    const char *base;
    bool quick;
    bool json;
} probe_options;

/* What answers: a device, or the model of one. */
typedef struct {
    const probe_options *options;
    restride_engine *engine;
    rs_probe_device *device;
    rs_probe_target target;
    size_t bytes;
    char *name;
#ifdef RESTRIDE_HAVE_CONFIG
    rs_sim_device model;
#endif
    rs_progress_bar bar;
    double done; /* of the whole work, before the part that is measured now */
    double part; /* of the whole work */
} probed;

typedef struct {
    rs_probe_steering steering[TARGETS];
    size_t figure_count;
    double strides[FIGURE_STRIDES]; /* words */
    double rates[TARGETS][FIGURE_STRIDES];
    size_t targets; /* 1: a model has no cache mode */
    size_t coalesced_bytes;
    size_t fetch_bytes;
    double bytes_a_second;
} findings;

static const char *const target_names[TARGETS] = {"memory", "cache"};

/* ---- options ---- */

static int read_options(int argc, char **argv, probe_options *options)
{
    static const rs_cli_option table[] = {
        {RS_CLI_OWN("engine", probe_options, engine, rs_cli_take_device_engine)},
        {RS_CLI_TEXT("device", probe_options, device)},
        {RS_CLI_TEXT("model", probe_options, model)},
        {RS_CLI_BYTES("bytes", probe_options, bytes, 1, SIZE_MAX)},
        {RS_CLI_COUNT("tolerance", probe_options, tolerance, 1, 99)},
        {RS_CLI_TEXT("svg", probe_options, svg)},
        {RS_CLI_TEXT("describe", probe_options, description)},
        {RS_CLI_TEXT("base", probe_options, base)},
        {RS_CLI_FLAG("quick", probe_options, quick)},
        {RS_CLI_FLAG("json", probe_options, json)},
        {0},
    };
    *options = (probe_options){.engine = "opencl", .base = "h100", .tolerance = 10};
    return rs_cli_read_only_options("probe", argc, argv, table, options);
}

/* ---- what answers ---- */

static restride_status open_model(probed *p)
{
#ifdef RESTRIDE_HAVE_CONFIG
    restride_status status = rs_sim_read_device(&p->model, p->options->model);
    p->bytes = p->options->bytes > 0 ? p->options->bytes : gpu_bytes;
    p->name = strdup(p->model.name);
    return status;
#else
    (void)p;
    return rs_fail(RESTRIDE_UNSUPPORTED, "This build has no models of devices.");
#endif
}

static restride_status open_device(probed *p)
{
    const probe_options *options = p->options;
    restride_status status = rs_cli_open_engine(&p->engine, options->engine, options->device, 0);
    if (status != RESTRIDE_OK)
        return status;
    p->name = rs_cli_engine_device(p->engine);
    if (p->name == NULL)
        return rs_fail_memory("the name of a device");
    bool cpu = !rs_cli_engine_is_gpu(p->engine);
    size_t bytes = cpu ? cpu_bytes : gpu_bytes;
    const rs_probe_options how = {.bytes = options->bytes > 0 ? options->bytes : bytes,
                                  .groups = cpu ? 4 : 0,
                                  .items = cpu ? 1 : GPU_ITEMS,
                                  .seconds = cpu ? 5e-3 : (options->quick ? 0.2e-3 : 1e-3),
                                  .repeat = options->quick ? 3 : 7,
                                  .unit_bytes = UNIT};
    status = rs_probe_device_open(&p->device, p->engine, &how);
    if (status == RESTRIDE_OK)
        p->bytes = rs_probe_device_bytes(p->device);
    return status;
}

static void close_probed(probed *p)
{
    rs_probe_device_close(p->device);
    restride_engine_destroy(p->engine);
    free(p->name);
}

static restride_status measure_rate(void *context, size_t stride, double *rate)
{
    probed *p = context;
#ifdef RESTRIDE_HAVE_CONFIG
    if (p->device == NULL)
        return rs_probe_model_rate(&p->model, p->bytes, UNIT, stride, rate);
#endif
    return rs_probe_device_rate(p->device, p->target, stride, rate);
}

static void tell(void *context, double part)
{
    probed *p = context;
    rs_progress_bar_tell_part(&p->bar, p->done + part * p->part);
}

/* ---- measuring ---- */

/* Requests that are under way at once, five times the largest power apart, must fit: those that
 * come round differ in low bits. */
static size_t choose_most(const probed *p)
{
    size_t most = p->options->quick ? quick_stride : most_stride;
    size_t together = p->device != NULL ? rs_probe_device_in_flight(p->device) : MODEL_IN_FLIGHT;
    while (most > UNIT && most * 5 > p->bytes / together)
        most /= 2;
    return most;
}

static restride_status search(probed *p, findings *found, size_t target)
{
    const rs_probe_source source = {measure_rate, p, tell, p};
    p->target = (rs_probe_target)target;
    return rs_probe_find_steering(&found->steering[target], &source, UNIT, choose_most(p),
                                  (double)p->options->tolerance / 100);
}

static restride_status sweep(probed *p, findings *found, size_t target)
{
    size_t every = p->options->quick ? QUICK_PART : 1;
    restride_status status = RESTRIDE_OK;
    p->target = (rs_probe_target)target;
    found->figure_count = 0;
    for (size_t i = 0; status == RESTRIDE_OK && i < FIGURE_STRIDES; i += every) {
        size_t stride = (i + every) * FIGURE_STEP;
        if (stride * 8 > p->bytes)
            break;
        found->strides[found->figure_count] = (double)(stride / WORD);
        status = measure_rate(p, stride, &found->rates[target][found->figure_count++]);
        tell(p, (double)i / FIGURE_STRIDES);
    }
    return status;
}

static restride_status find_unit(probed *p, rs_probe_target target, size_t *unit)
{
    size_t strides[STREAM_STRIDES];
    double seconds[STREAM_STRIDES];
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; status == RESTRIDE_OK && i < STREAM_STRIDES; i++) {
        strides[i] = (size_t)STREAM_FIRST << i;
        status = rs_probe_device_stream(p->device, target, strides[i], &seconds[i]);
    }
    if (status == RESTRIDE_OK)
        *unit = rs_probe_find_unit(strides, seconds, STREAM_STRIDES);
    return status;
}

static restride_status find_units(probed *p, findings *found)
{
    double seconds = 0;
    restride_status status = find_unit(p, RS_PROBE_CACHE, &found->coalesced_bytes);
    if (status == RESTRIDE_OK)
        status = find_unit(p, RS_PROBE_MEMORY, &found->fetch_bytes);
    if (status == RESTRIDE_OK)
        status = rs_probe_device_stream(p->device, RS_PROBE_MEMORY, WORD, &seconds);
    if (status == RESTRIDE_OK)
        found->bytes_a_second = (double)p->bytes / seconds;
    return status;
}

static restride_status measure(probed *p, findings *found)
{
    restride_status status = RESTRIDE_OK;
    found->targets = p->device != NULL ? TARGETS : 1;
    if (p->device != NULL)
        status = find_units(p, found);
    p->part = 0.5 / (double)found->targets;
    for (size_t t = 0; status == RESTRIDE_OK && t < found->targets; t++) {
        status = search(p, found, t);
        p->done += p->part;
        if (status == RESTRIDE_OK)
            status = sweep(p, found, t);
        p->done += p->part;
    }
    return status;
}

/* ---- report ---- */

static json_t *steering_json(const rs_probe_steering *steering)
{
    json_t *bits = json_array();
    for (int b = 0; b < 64; b++)
        if ((steering->bits >> b & 1) != 0)
            json_array_append_new(bits, json_integer(b));
    json_t *powers = json_array();
    for (size_t i = 0; i < steering->power_count; i++)
        json_array_append_new(powers, json_pack("{s:I, s:f, s:f}", "stride",
                                                (json_int_t)steering->powers[i].stride, "rate",
                                                steering->powers[i].rate, "level",
                                                steering->powers[i].level));
    json_t *object = json_pack("{s:o, s:f, s:f, s:o}", "bits", bits, "worst_level", steering->worst,
                               "scatter", steering->scatter, "powers", powers);
    int low, high;
    if (rs_probe_steering_range(steering, &low, &high))
        json_object_set_new(object, "range", json_pack("[i, i]", low, high));
    return object;
}

/* As `restride-lab figures` writes its own. */
static json_t *figure_json(const findings *found)
{
    json_t *series = json_array();
    for (size_t t = 0; t < found->targets; t++) {
        json_t *x = json_array();
        json_t *y = json_array();
        for (size_t i = 0; i < found->figure_count; i++) {
            json_array_append_new(x, json_real(found->strides[i]));
            json_array_append_new(y, json_real(found->rates[t][i] * 1e-6));
        }
        json_array_append_new(
            series, json_pack("{s:s, s:o, s:o}", "name", target_names[t], "x", x, "y", y));
    }
    return json_pack("{s:s, s:s, s:s, s:o}", "figure", "thesis-6.4", "x", "stride, words", "y",
                     "million requests a second", "series", series);
}

static int print_json(const probed *p, const findings *found)
{
    json_t *steering = json_object();
    for (size_t t = 0; t < found->targets; t++)
        json_object_set_new(steering, target_names[t], steering_json(&found->steering[t]));
    json_t *report =
        json_pack("{s:s, s:s, s:I, s:o, s:o}", "device", p->name, "engine",
                  p->device != NULL ? p->options->engine : "model", "bytes", (json_int_t)p->bytes,
                  "steering", steering, "figure", figure_json(found));
    if (p->device != NULL)
        json_object_set_new(report, "fetches",
                            json_pack("{s:I, s:I, s:f}", "coalesced_bytes",
                                      (json_int_t)found->coalesced_bytes, "memory_bytes",
                                      (json_int_t)found->fetch_bytes, "gb_per_second",
                                      found->bytes_a_second * 1e-9));
    return rs_cli_print_json("probe", report);
}

static void print_verdict(const rs_probe_steering *steering, const char *target)
{
    int low, high;
    if (!rs_probe_steering_range(steering, &low, &high)) {
        printf("%s: no power of two stands out (the worst is at %.0f %% of the strides beside it): "
               "addresses are hashed, and no layout need care which bits vary.\n",
               target, 100 * steering->worst);
        return;
    }
    printf("%s: bits %d to %d of an address steer; those whose loss was seen:", target, low, high);
    for (int b = low; b <= high; b++)
        if ((steering->bits >> b & 1) != 0)
            printf(" %d", b);
    printf(". The worst stride leaves %.0f %% of the bandwidth.\n", 100 * steering->worst);
}

static void print_table(const probed *p, const findings *found)
{
    printf("%s\n", p->name);
    if (p->device != NULL)
        printf(
            "neighbours' words are read together within %zu bytes; memory brings %zu at least, and "
            "streams %.0f GB/s\n",
            found->coalesced_bytes, found->fetch_bytes, found->bytes_a_second * 1e-9);
    printf("%10s", "stride");
    for (size_t t = 0; t < found->targets; t++)
        printf("  %8s M/s  level", target_names[t]);
    printf("\n");
    for (size_t i = 0; i < found->steering[0].power_count; i++) {
        printf("%10zu", found->steering[0].powers[i].stride);
        for (size_t t = 0; t < found->targets; t++)
            printf("  %12.1f  %5.2f", found->steering[t].powers[i].rate * 1e-6,
                   found->steering[t].powers[i].level);
        printf("\n");
    }
    for (size_t t = 0; t < found->targets; t++) {
        print_verdict(&found->steering[t], target_names[t]);
        if (found->steering[t].scatter * 100 > (double)p->options->tolerance)
            printf("%s: the same stride was measured with differences of %.0f %%; leave the device "
                   "alone and try again before you believe this.\n",
                   target_names[t], 100 * found->steering[t].scatter);
    }
}

static restride_status draw(const probed *p, const findings *found)
{
    rs_plot_series series[TARGETS];
    for (size_t t = 0; t < found->targets; t++)
        series[t] = (rs_plot_series){.name = target_names[t],
                                     .count = found->figure_count,
                                     .x = found->strides,
                                     .y = found->rates[t]};
    double *scaled = malloc(TARGETS * FIGURE_STRIDES * sizeof *scaled);
    if (scaled == NULL)
        return rs_fail_memory("a figure");
    for (size_t t = 0; t < found->targets; t++) {
        for (size_t i = 0; i < found->figure_count; i++)
            scaled[t * FIGURE_STRIDES + i] = found->rates[t][i] * 1e-6;
        series[t].y = scaled + t * FIGURE_STRIDES;
    }
    const rs_plot plot = {.kind = RS_PLOT_LINES,
                          .title = "Bandwidth against stride",
                          .subtitle = p->name,
                          .x_label = "stride, words",
                          .y_label = "million requests a second",
                          .series = series,
                          .series_count = found->targets};
    rs_text svg = RS_TEXT_EMPTY;
    rs_plot_write(&svg, &plot);
    restride_status status = svg.failed ? rs_fail_memory("a figure")
                                        : rs_text_write_file(p->options->svg, svg.data, svg.size);
    rs_text_free(&svg);
    free(scaled);
    return status;
}

static restride_status describe(const probed *p, const findings *found)
{
#ifdef RESTRIDE_HAVE_CONFIG
    const char *base = rs_sim_device_text(p->options->base);
    if (base == NULL)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT,
                       "There is no device \"%s\"; restride sim --devices lists them.",
                       p->options->base);
    const rs_probe_findings facts = {
        .name = p->name,
        .processors = p->engine != NULL ? ((rs_device_engine *)p->engine)->units : 0,
        .fetch_bytes = found->fetch_bytes,
        .bytes_a_second = found->bytes_a_second,
        .steering = &found->steering[0]};
    rs_text text = RS_TEXT_EMPTY;
    restride_status status = rs_probe_describe(&text, &facts, base, p->options->base);
    if (status == RESTRIDE_OK)
        status = rs_text_write_file(p->options->description, text.data, text.size);
    rs_text_free(&text);
    return status;
#else
    (void)p;
    (void)found;
    return rs_fail(RESTRIDE_UNSUPPORTED, "This build has no descriptions of devices.");
#endif
}

int rs_lab_probe(int argc, char **argv)
{
    if (rs_cli_helps(argc, argv, usage))
        return RS_EXIT_DONE;
    probe_options options;
    int exit_status = read_options(argc, argv, &options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    probed p = {.options = &options};
    findings *found = calloc(1, sizeof *found);
    restride_status status = found == NULL
                                 ? rs_fail_memory("what a probe finds")
                                 : (options.model != NULL ? open_model(&p) : open_device(&p));
    if (status == RESTRIDE_OK) {
        rs_progress_bar_begin(&p.bar);
        status = measure(&p, found);
        rs_progress_bar_end(&p.bar);
    }
    if (status == RESTRIDE_OK && options.svg != NULL)
        status = draw(&p, found);
    if (status == RESTRIDE_OK && options.description != NULL)
        status = describe(&p, found);
    if (status != RESTRIDE_OK)
        exit_status = rs_cli_fail_last(RS_EXIT_FAILED, "probe");
    else if (options.json)
        exit_status = print_json(&p, found);
    else
        print_table(&p, found);
    free(found);
    close_probed(&p);
    return exit_status;
}
