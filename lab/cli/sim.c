/* restride-lab sim: how many accesses of warps a second the model of a memory takes. */
#include "cli/sim.h"
#include "console/fail.h"
#include "console/options.h"
#include "console/progress.h"
#include "lab/cli/lab.h"
#include "restride/layout.h"
#include "sim/kernel.h"

#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
    "usage: restride-lab sim [--device DEVICE] [--bytes BYTES] [--json]\n"
    "\n"
    "The speed of the model behind restride sim, on one core: accesses of whole warps a second,\n"
    "in a kernel that reads and writes all fields of structures of 8 words. The fastest of five\n"
    "runs.\n"
    "\n"
    "  --device DEVICE  h100 (default), k20, gtx480, t10, or a file that describes one\n"
    "  --bytes BYTES    of the array to run through (default: 96M)\n"
    "  --json           prints JSON\n";

enum { REPEAT = 5, DEFAULT_BYTES = 96 << 20 };

static const struct {
    const char *name;
    const char *layout;
} rows[] = {{"side by side, whole lines", "f i"},
            {"side by side, tiles of 32", "i/32 f i%32"},
            {"structures, 8 words apart", "i f"}};
enum { ROWS = sizeof rows / sizeof rows[0] };

typedef struct {
    const char *device;
    size_t bytes;
    bool json;
} sim_options;

typedef struct {
    double accesses; /* a second */
    double lines;    /* likewise */
} rate;

static restride_status run_once(const rs_sim_device *device, const restride_layout *layout,
                                size_t bytes, rate *best)
{
    rs_sim_memory *memory;
    restride_status status = rs_sim_memory_create(&memory, device);
    const rs_sim_kernel kernel = {layout, 4, restride_layout_extent(layout, 1), true, bytes};
    double begin = rs_seconds_now();
    if (status == RESTRIDE_OK)
        status = rs_sim_run_kernel(memory, &kernel);
    if (status == RESTRIDE_OK) {
        const rs_sim_counts counts = rs_sim_finish(memory);
        double seconds = rs_seconds_now() - begin;
        if ((double)counts.accesses > best->accesses * seconds)
            *best = (rate){(double)counts.accesses / seconds, (double)counts.lines / seconds};
    }
    rs_sim_memory_destroy(memory);
    return status;
}

static restride_status measure(const rs_sim_device *device, const char *expression, size_t bytes,
                               rate *best)
{
    restride_layout *layout;
    restride_status status = restride_layout_parse(&layout, "i:50000000 f:8", expression);
    for (int n = 0; n < REPEAT && status == RESTRIDE_OK; n++)
        status = run_once(device, layout, bytes, best);
    restride_layout_destroy(layout);
    return status;
}

static int print_json(const rs_sim_device *device, const rate rates[])
{
    json_t *list = json_array();
    for (size_t i = 0; i < ROWS; i++)
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:f, s:f}", "accesses", rows[i].name, "layout",
                                        rows[i].layout, "per_second", rates[i].accesses,
                                        "lines_per_second", rates[i].lines));
    json_t *report = json_pack("{s:s, s:o}", "device", device->name, "rates", list);
    return rs_cli_print_json("sim", report);
}

int rs_lab_sim(int argc, char **argv)
{
    static const rs_cli_option table[] = {
        {RS_CLI_TEXT("device", sim_options, device)},
        {RS_CLI_BYTES("bytes", sim_options, bytes, 1, SIZE_MAX)},
        {RS_CLI_FLAG("json", sim_options, json)},
        {0},
    };
    if (rs_cli_helps(argc, argv, usage))
        return RS_EXIT_DONE;
    sim_options options = {.device = "h100", .bytes = DEFAULT_BYTES};
    int exit_status = rs_cli_read_only_options("sim", argc, argv, table, &options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    rs_sim_device device;
    rate rates[ROWS] = {{0, 0}};
    restride_status status = rs_sim_read_device(&device, options.device);
    for (size_t i = 0; i < ROWS && status == RESTRIDE_OK; i++)
        status = measure(&device, rows[i].layout, options.bytes, &rates[i]);
    if (status != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, "sim");
    if (options.json)
        return print_json(&device, rates);
    printf("%s\n%-28s %14s %14s\n", device.name, "accesses", "a second", "lines a second");
    for (size_t i = 0; i < ROWS; i++)
        printf("%-28s %12.1f M %12.1f M\n", rows[i].name, rates[i].accesses * 1e-6,
               rates[i].lines * 1e-6);
    return RS_EXIT_DONE;
}
