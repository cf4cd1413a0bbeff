/*
 * restride run: runs an unmodified OpenCL or CUDA program with the layer loaded (Sung thesis,
 * chapter 5).
 * Whatever is wrong with Restride's own part, the program runs, in its own layout.
 */
#include "base/folder.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/process.h"
#include "cli/run_report.h"
#include "config/config.h"
#include "console/fail.h"
#include "console/options.h"
#include "console/parts.h"
#include "layout/layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: restride run [OPTIONS] -- PROGRAM [ARGUMENTS]...\n"
    "\n"
    "Runs an OpenCL or CUDA program with its arrays of structures in the ASTA or SoA layout. "
    "Neither\n"
    "the program nor its kernels are changed on disk, and its results stay the same: buffers are\n"
    "converted in place before a launch and back before any other use.\n"
    "\n"
    "  --policy WORD       auto (the default): what is measured to be faster, conversions "
    "counted;\n"
    "                      asta: all that is understood, in tiles; soa: the same as a structure "
    "of\n"
    "                      arrays; off: nothing\n"
    "  --tile T            neighbouring structures in a tile (default " RS_LAYOUT_TILE_TEXT ")\n"
    "  --device WORD       the program gets no device but cpu, gpu, or one with WORD in its name\n"
    "  --config FILE       policies and layouts by kernel and argument; docs/running.md has the "
    "form\n"
    "  --cache-only        take rewritten kernels from earlier runs alone; works without the "
    "rewriter\n"
    "  --report FILE       write a report, FILE.html for people or FILE.json for programs; may be\n"
    "                      given twice; kernel times are then measured\n"
    "  --baseline FILE     compare with FILE.json, the report of an earlier run (with --policy "
    "off)\n"
    "  --verify            run each transformed launch in the program's own form, too, compare "
    "what\n"
    "                      both leave, and go on with the program's; slow, for tests and trust\n"
    "  --quiet             no summary on standard error\n"
    "  --help              this text\n"
    "\n"
    "The exit status is the program's own; 2 for bad usage, 126 or 127 when it cannot be started, "
    "and\n"
    "1 when the program succeeded but a report could not be written, or --verify found a "
    "difference.\n"
    "\n"
    "Examples:\n"
    "  restride run --report report.html -- ./solver --size 64\n"
    "  restride run --policy off --report before.json -- ./solver --size 64\n"
    "  restride run --policy asta --baseline before.json --report after.html -- ./solver --size "
    "64\n";

enum { MAXIMUM_REPORTS = 4 };
static const char policies_text[] = "auto, asta, soa or off";

typedef struct {
    bool help;
    const char *policy; /* NULL: the configuration's, or auto */
    size_t tile;
    json_t *config; /* NULL: none */
    const char *config_path;
    const char *reports[MAXIMUM_REPORTS + 1];
    int report_count;
    const char *baseline_path;
    json_t *baseline; /* NULL: none */
    const char *device;
    bool quiet;
    bool cache_only;
    bool verify;
    char **program;
} run_options;

static bool ends_with(const char *string, const char *end)
{
    size_t length = strlen(string), end_length = strlen(end);
    return length > end_length && strcmp(string + length - end_length, end) == 0;
}

static bool is_policy(const char *word)
{
    static const char *const policies[] = {"auto", "asta", "soa", "off"};
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++)
        if (strcmp(word, policies[i]) == 0)
            return true;
    return false;
}

/* The options of the configuration, where the command line does not say otherwise. */
static int check_config(run_options *options, const char *section, const json_t *values)
{
    const char *key, *where = section != NULL ? section : "";
    const char *in = section != NULL ? ", in the section of " : "";
    json_t *value;
    json_object_foreach((json_t *)values, key, value)
    {
        const char *word = json_string_value(value);
        if (strcmp(key, "policy") != 0 || word == NULL)
            return rs_cli_fail(RS_EXIT_USAGE, "run",
                               "%s%s%s: the option \"%s\" is unknown; policy is the one there is.",
                               options->config_path, in, where, key);
        if (!is_policy(word))
            return rs_cli_fail(RS_EXIT_USAGE, "run", "%s%s%s: policy takes %s, not \"%s\".",
                               options->config_path, in, where, policies_text, word);
        if (section == NULL && options->policy == NULL)
            options->policy = word;
    }
    return RS_EXIT_DONE;
}

/* Reads the files that the command line names. */
static int read_files(run_options *options)
{
    const char *kernel;
    json_t *values;
    if ((options->config_path != NULL &&
         rs_config_read(options->config_path, &options->config) != RESTRIDE_OK) ||
        (options->baseline_path != NULL &&
         rs_run_report_read(&options->baseline, options->baseline_path) != RESTRIDE_OK))
        return rs_cli_fail_last(RS_EXIT_USAGE, "run");
    int exit_status = check_config(options, NULL, json_object_get(options->config, "options"));
    json_object_foreach(json_object_get(options->config, "kernels"), kernel, values)
    {
        if (exit_status == RS_EXIT_DONE)
            exit_status = check_config(options, kernel, values);
    }
    if (options->policy == NULL)
        options->policy = "auto";
    return exit_status;
}

static bool take_policy(const char *name, void *field)
{
    *(const char **)field = name;
    return is_policy(name);
}

static bool take_report(const char *path, void *into)
{
    run_options *options = into;
    if (options->report_count <= MAXIMUM_REPORTS) /* one more, to be named */
        options->reports[options->report_count++] = path;
    return ends_with(path, ".html") || ends_with(path, ".json");
}

/* The options before the program; what stands behind its name is the program's own. */
static int read_options(int argc, char **argv, run_options *options)
{
    static const rs_cli_option table[] = {
        {RS_CLI_FLAG("help", run_options, help), .letter = 'h'},
        {RS_CLI_OWN("policy", run_options, policy, take_policy), .takes = policies_text},
        {RS_CLI_COUNT("tile", run_options, tile, 1, RS_LAYOUT_MOST_TILE),
         .takes = "a number from 1 to 1048576"},
        {RS_CLI_TEXT("device", run_options, device)},
        {RS_CLI_TEXT("config", run_options, config_path)},
        {RS_CLI_WHOLE("report", take_report), .takes = "a name that ends in .html or .json"},
        {RS_CLI_TEXT("baseline", run_options, baseline_path)},
        {RS_CLI_FLAG("verify", run_options, verify)},
        {RS_CLI_FLAG("quiet", run_options, quiet)},
        {RS_CLI_FLAG("cache-only", run_options, cache_only)},
        {0},
    };
    *options = (run_options){.tile = RS_LAYOUT_TILE};
    int exit_status = rs_cli_read_first_options("run", argc, argv, table, options);
    if (exit_status != RS_EXIT_DONE || options->help)
        return exit_status;
    if (options->report_count > MAXIMUM_REPORTS)
        return rs_cli_fail(RS_EXIT_USAGE, "run", "--report takes at most %d files; leave out %s.",
                           (int)MAXIMUM_REPORTS, options->reports[MAXIMUM_REPORTS]);
    if (optind >= argc)
        return rs_cli_fail(RS_EXIT_USAGE, "run",
                           "No program was named; write restride run -- PROGRAM.");
    options->program = argv + optind;
    return read_files(options);
}

/* ---- what the program is going to need ---- */

/* Prepares the environment for the layer; a sentence on standard error, and false, when there will
 * be no layer because something is missing. */
static bool prepare_environment(const run_options *options, const char *folder)
{
    char *rewriter = NULL;
    rs_text tile = RS_TEXT_EMPTY;
    bool has_layer = false;
    bool rewrites = rs_cli_part_path(RS_PART_REWRITER, &rewriter) == RESTRIDE_OK;
    if ((!rewrites && !options->cache_only) || rs_process_add_layer() != RESTRIDE_OK) {
        rs_cli_fail(0, "run", "%s The program runs as it is%s.", restride_last_error(),
                    rewrites || options->cache_only
                        ? ""
                        : "; with --cache-only it has the kernels that earlier runs rewrote");
    } else {
        has_layer = true;
        rs_text_format(&tile, "%zu", options->tile);
        setenv("RESTRIDE_POLICY", options->policy, 1);
        setenv("RESTRIDE_TILE", tile.data, 1);
        char *config = options->config != NULL ? json_dumps(options->config, JSON_COMPACT) : NULL;
        if (config != NULL)
            setenv("RESTRIDE_CONFIG", config, 1);
        else if (options->config != NULL)
            rs_cli_fail(0, "run",
                        "There was not enough memory for the configuration. The program "
                        "runs without it.");
        free(config);
        if (options->device != NULL)
            setenv("RESTRIDE_DEVICE", options->device, 1);
        setenv("RESTRIDE_REWRITER", rewrites ? rewriter : "none", 1);
        if (options->verify)
            setenv("RESTRIDE_VERIFY", "1", 1);
        else
            unsetenv("RESTRIDE_VERIFY");
        if (options->cache_only)
            setenv("RESTRIDE_CACHE_ONLY", "1", 1);
        if (folder != NULL)
            setenv("RESTRIDE_REPORT_FOLDER", folder, 1);
        else
            unsetenv("RESTRIDE_REPORT_FOLDER");
        if (options->report_count > 0)
            setenv("RESTRIDE_REPORT_TIMES", "1", 1);
    }
    free(rewriter);
    rs_text_free(&tile);
    return has_layer;
}

/* ---- the report ---- */

/* Whether every report can be written, tried before the program runs for hours; forgets those that
 * cannot. */
static bool reports_writable(run_options *options)
{
    int asked = options->report_count;
    options->report_count = 0;
    for (int i = 0; i < asked; i++)
        if (rs_text_try_file(options->reports[i]) == RESTRIDE_OK)
            options->reports[options->report_count++] = options->reports[i];
        else
            rs_cli_fail_last(0, "run");
    return options->report_count == asked;
}

static bool write_reports(const run_options *options, json_t *report)
{
    bool written = true;
    for (int i = 0; i < options->report_count; i++) {
        char *text = ends_with(options->reports[i], ".json") ? rs_json_text(report)
                                                             : rs_run_report_html(report);
        if (text == NULL)
            rs_fail_memory("the report");
        if (text == NULL ||
            rs_text_write_file(options->reports[i], text, strlen(text)) != RESTRIDE_OK) {
            rs_cli_fail_last(0, "run");
            written = false;
        }
        free(text);
    }
    return written;
}

/* Why the report has nothing to tell, or NULL. */
static const char *reason_for_nothing(const json_t *report, const char *folder, bool has_layer,
                                      const rs_process_result *result)
{
    if (!has_layer)
        return "A part of Restride was missing: the program ran as it is, and was not followed.";
    if (folder == NULL)
        return "The program ran; what was transformed is not known without a temporary folder.";
    if (rs_json_integer_of(report, "processes") > 0)
        return NULL;
    if (result->signal != 0)
        return "The program was ended by a signal before it used OpenCL or CUDA: nothing was "
               "transformed.";
    return "The program used no OpenCL through libOpenCL.so and no CUDA through libcuda.so, or "
           "ld.so did not follow LD_AUDIT there (a static or set-user-ID program): nothing was "
           "transformed.";
}

static bool tell(const run_options *options, const char *folder, bool has_layer,
                 const rs_process_result *result)
{
    json_t *report =
        rs_run_report_gather(folder, options->program, options->policy, options->tile, result);
    bool told = report != NULL;
    if (report == NULL)
        rs_cli_fail(0, "run", "There was not enough memory for the report.");
    if (report != NULL && options->baseline != NULL)
        rs_run_report_compare(report, options->baseline, options->baseline_path);
    if (report != NULL)
        rs_run_report_check_names(report, options->config);
    if (report != NULL)
        rs_run_report_add_causes(report);
    const char *nothing = reason_for_nothing(report, folder, has_layer, result);
    if (nothing != NULL)
        json_array_append_new(json_object_get(report, "notes"), json_string(nothing));
    if (report != NULL && has_layer && !options->quiet) /* what is missing has been told */
        rs_run_report_summary(report, options->report_count > 0, stderr);
    if (report != NULL && !write_reports(options, report))
        told = false;
    const json_t *verified = json_object_get(report, "verified");
    const json_int_t different = rs_json_integer_of(verified, "different");
    if (different > 0)
        rs_cli_fail(0, "run",
                    "%lld of %lld verified launches left other bytes than the program's own form; "
                    "the report's notes name them.",
                    (long long)different, (long long)rs_json_integer_of(verified, "launches"));
    told = told && different == 0;
    json_decref(report);
    return told;
}

/* The end of a sentence on a program that could not be started. */
static const char *advice_for_start(const rs_process_result *result, const char *program)
{
    if (result->start_error == ENOENT && strchr(program, '/') == NULL)
        return "; write its folder too, as in ./NAME";
    return result->start_error == EACCES ? "; chmod +x makes a program executable" : "";
}

static int run(run_options *options)
{
    bool told = reports_writable(options);
    char *folder;
    if (rs_folder_create(&folder) != RESTRIDE_OK) {
        told = told && options->report_count == 0;
        rs_cli_fail_last(0, "run");
    }
    const bool has_layer = prepare_environment(options, folder);

    rs_process_result result;
    int exit_status = RS_EXIT_FAILED;
    if (rs_process_run(options->program, &result) != RESTRIDE_OK) {
        rs_cli_fail_last(0, "run");
    } else if (!result.started) {
        exit_status = result.start_error == ENOENT ? 127 : 126;
        rs_cli_fail(0, "run", "%s could not be started: %s%s.", options->program[0],
                    strerror(result.start_error), advice_for_start(&result, options->program[0]));
    } else {
        told = tell(options, folder, has_layer, &result) && told;
        rs_folder_remove(folder);
        exit_status = rs_process_end_alike(&result);
        return exit_status == 0 && !told ? RS_EXIT_FAILED : exit_status;
    }
    rs_folder_remove(folder);
    return exit_status;
}

int rs_verb_run(int argc, char **argv)
{
    run_options options;
    int exit_status = read_options(argc, argv, &options);
    if (exit_status == RS_EXIT_DONE && options.help)
        fputs(help, stdout);
    else if (exit_status == RS_EXIT_DONE)
        exit_status = run(&options);
    json_decref(options.config);
    json_decref(options.baseline);
    return exit_status;
}
