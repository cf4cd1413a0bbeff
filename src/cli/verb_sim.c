/* restride sim: what layouts would do on a device that need not be here. */
#include "cli/cli.h"
#include "cli/sim.h"
#include "console/fail.h"
#include "console/options.h"
#include "layout/layout.h"
#include "sim/kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_BYTES = 100 << 20 };

typedef struct {
    const char *dims;
    const char *layouts[RS_SIM_MOST_LAYOUTS];
    size_t layout_count;
    rs_sim_forms forms;
    const char *show_device;
    size_t fields;
    size_t element_bytes;
    size_t bytes;
    bool read_only;
    bool list;
} sim_options;

/* ---- options ---- */

static bool take_layout(const char *expression, void *into)
{
    sim_options *options = into;
    if (options->layout_count == RS_SIM_MOST_LAYOUTS)
        return false;
    options->layouts[options->layout_count++] = expression;
    return true;
}

static int read_options(int argc, char **argv, sim_options *options)
{
    static const rs_cli_option table[] = {
        {RS_CLI_TEXT("dims", sim_options, dims)},
        {RS_CLI_WHOLE("layout", take_layout)},
        {RS_CLI_COUNT("fields", sim_options, fields, 1, SIZE_MAX)},
        {RS_CLI_FLAG("read-only", sim_options, read_only)},
        {RS_CLI_COUNT("element", sim_options, element_bytes, 0, SIZE_MAX)},
        {RS_CLI_BYTES("bytes", sim_options, bytes, 1, SIZE_MAX)},
        {RS_CLI_FLAG("devices", sim_options, list)},
        {RS_CLI_TEXT("show-device", sim_options, show_device)},
        RS_SIM_FORM_OPTIONS(sim_options),
        {0},
    };
    *options =
        (sim_options){.forms = {.device = "h100"}, .element_bytes = 4, .bytes = DEFAULT_BYTES};
    int exit_status = rs_cli_read_only_options("sim", argc, argv, table, options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    if (!options->list && options->show_device == NULL &&
        (options->dims == NULL || options->layout_count == 0))
        return rs_cli_fail(RS_EXIT_USAGE, "sim",
                           "Give the array by --dims and at least one --layout; restride sim "
                           "--help has an example.");
    return RS_EXIT_DONE;
}

/* ---- devices ---- */

static int list_devices(void)
{
    for (size_t i = 0; rs_sim_device_name(i) != NULL; i++) {
        rs_sim_device device;
        const char *name = rs_sim_device_name(i);
        if (rs_sim_device_parse(&device, rs_sim_device_text(name), name) != RESTRIDE_OK)
            return rs_cli_fail_last(RS_EXIT_FAILED, "sim");
        printf("%-10s %s\n", name, device.name);
    }
    return RS_EXIT_DONE;
}

static int show_device(const char *name)
{
    const char *text = rs_sim_device_text(name);
    if (text == NULL)
        return rs_cli_fail(RS_EXIT_USAGE, "sim",
                           "There is no device \"%s\"; restride sim --devices lists them.", name);
    fputs(text, stdout);
    return RS_EXIT_DONE;
}

/* ---- runs ---- */

static restride_status run_layout(const sim_options *options, const rs_sim_device *device,
                                  const restride_layout *layout, rs_sim_result *result)
{
    rs_sim_memory *memory;
    restride_status status = rs_sim_memory_create(&memory, device);
    if (status != RESTRIDE_OK)
        return status;
    size_t fields = restride_layout_rank(layout) > 1 ? restride_layout_extent(layout, 1) : 0;
    const rs_sim_kernel kernel = {layout, options->element_bytes,
                                  options->fields > 0 ? options->fields : fields,
                                  !options->read_only, options->bytes};
    status = rs_sim_run_kernel(memory, &kernel);
    if (status == RESTRIDE_OK)
        status = rs_sim_take_result(result, memory);
    rs_sim_memory_destroy(memory);
    return status;
}

static restride_status run_all(const sim_options *options, const rs_sim_device *device,
                               rs_sim_result *results)
{
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; status == RESTRIDE_OK && i < options->layout_count; i++) {
        restride_layout *layout;
        results[i].layout = options->layouts[i];
        status = restride_layout_parse(&layout, options->dims, options->layouts[i]);
        if (status == RESTRIDE_OK)
            status = run_layout(options, device, layout, &results[i]);
        restride_layout_destroy(layout);
    }
    return status;
}

static int compare_layouts(const sim_options *options)
{
    rs_sim_device device;
    rs_sim_result results[RS_SIM_MOST_LAYOUTS] = {{.load = NULL}};
    restride_status status = rs_sim_read_device(&device, options->forms.device);
    if (status == RESTRIDE_OK)
        status = run_all(options, &device, results);
    const rs_sim_report report = {&device, "dims", options->dims, results, options->layout_count};
    int exit_status = status == RESTRIDE_OK ? rs_sim_write_report(&report, &options->forms)
                                            : rs_cli_fail_last(RS_EXIT_FAILED, "sim");
    for (size_t i = 0; i < options->layout_count; i++)
        free(results[i].load);
    return exit_status;
}

int rs_verb_sim(int argc, char **argv)
{
    if (argc > 1 && argv[1][0] != '-')
        return rs_sim_kernel_verb(argc, argv);
    if (rs_cli_helps(argc, argv, rs_help_sim))
        return RS_EXIT_DONE;
    sim_options options;
    int exit_status = read_options(argc, argv, &options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    if (options.list)
        return list_devices();
    if (options.show_device != NULL)
        return show_device(options.show_device);
    return compare_layouts(&options);
}
