/*
 * restride-lab apps: the applications of lab/apps in arrays of structures, in layouts written
 * by hand, and as they are under `restride run`, with the conversions counted (Sung thesis, section
 * 5.6, figures 5.2 to 5.6 and tables 5.1 and 5.3).
 */
#include "base/child.h"
#include "base/folder.h"
#include "base/json.h"
#include "base/text.h"
#include "console/fail.h"
#include "console/options.h"
#include "console/parts.h"
#include "console/progress.h"
#include "lab/cli/apps_report.h"
#include "lab/cli/lab.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: restride-lab apps [OPTIONS]...\n"
    "\n"
    "Runs lbm, SpMV in ELL, Black-Scholes and kernels that use whole structures: in arrays of\n"
    "structures, in SoA and ASTA written by hand, and unchanged under restride run, where the\n"
    "conversions count. Compares all results byte by byte.\n"
    "\n"
    "  --device WORD      cpu, gpu or any (default: any)\n"
    "  --only WORD        only cases with this word in their names\n"
    "  --small            small arrays, to try it on a CPU\n"
    "  --data FOLDER      where bcsstk18.mtx lies; without it that case is made up too\n"
    "  --iterations N     launches of each program (default: 30)\n"
    "  --runs N           processes in turn without restride run, under it for the first time and\n"
    "                     again; their medians are compared, of the loop of launches and of the\n"
    "                     whole process (default: 5)\n"
    "  --tile LIST        tile sizes T of the layer; the first counts (default: 32,16,64)\n"
    "  --svg FOLDER       writes the figures into this folder\n"
    "  --json             prints JSON\n"
    "\n"
    "Example:\n"
    "  restride-lab apps --device gpu --data matrices --svg docs/images\n";

enum { MOST_TILES = 8, MOST_WORDS = 32, MOST_RUNS = 1000 };

typedef struct {
    const char *name, *program;
    const char *arguments[8]; /* up to NULL */
    const char *small[8];
    const char *input; /* a file in the folder of data, instead of the arguments */
} app_case;

#define MATRIX(rows, width)                                                                        \
    .program = "spmv", .arguments = {"--count", rows, "--width", width},                           \
    .small = {"--count", "2048", "--width", width}
#define SUMS(width)                                                                                \
    .program = "sums", .arguments = {"--count", "8388608", "--width", width},                      \
    .small = {"--count", "65536", "--width", width}

/* The matrices are made up, with the sizes of table 5.1; all but bcsstk18 when it is there. */
static const app_case cases[] = {
    {.name = "lbm", .program = "lbm", .small = {"--width", "4"}},
    {.name = "bcsstk18", MATRIX("11948", "49"), .input = "bcsstk18.mtx"},
    {.name = "like e40r000", MATRIX("17281", "62")},
    {.name = "like bcsstk31", MATRIX("35588", "197")},
    {.name = "like bcsstk32", MATRIX("44609", "215")},
    {.name = "like s3dkq4m2", MATRIX("90449", "59")},
    {.name = "like conf6.0-00l8x8-8000", MATRIX("49152", "39")},
    {.name = "Black-Scholes",
     .program = "blackscholes",
     .arguments = {"--count", "33554432"},
     .small = {"--count", "65536"}},
    {.name = "sums of 4 floats", SUMS("4")},
    {.name = "sums of 8 floats", SUMS("8")},
    {.name = "sums of 16 floats", SUMS("16")},
    {.name = "sums of 20 floats", SUMS("20")},
    {.name = "sums of 32 floats", SUMS("32")},
};
enum { CASES = sizeof cases / sizeof cases[0] };
_Static_assert((int)CASES <= RS_LAB_APPS_MOST_CASES, "a report has room for all cases");

typedef struct {
    const char *device, *only, *data, *svg, *iterations;
    bool small, json;
    size_t runs;
    size_t tiles[MOST_TILES];
    int tile_count;
} apps_options;

/* ---- running ---- */

/* A command line that is put together. */
typedef struct {
    char *words[MOST_WORDS];
    size_t count;
} command_line;

static void add_word(command_line *line, const char *word)
{
    if (line->count + 1 < MOST_WORDS)
        line->words[line->count++] = (char *)word;
    line->words[line->count] = NULL;
}

/* What one case needs. */
typedef struct {
    const app_case *one;
    const apps_options *options;
    const char *restride; /* the program */
    char *program;
    char *input;  /* NULL: none */
    char *folder; /* temporary, and the files in it */
    char *report;
    char *wisdom;
} setting;

static void add_case(command_line *line, const setting *s, const char *times)
{
    const char *const *arguments = s->options->small ? s->one->small : s->one->arguments;
    const char *const words[] = {
        s->program, "--device", s->options->device, "--iterations", s->options->iterations,
        "--times",  times};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        add_word(line, words[i]);
    if (s->input != NULL) {
        add_word(line, "--input");
        add_word(line, s->input);
    }
    for (size_t i = 0; s->input == NULL && arguments[i] != NULL; i++)
        add_word(line, arguments[i]);
}

/* The line of JSON that an application prints; NULL, with a sentence, when it failed. */
static json_t *run_line(const command_line *line)
{
    rs_text output = RS_TEXT_EMPTY, errors = RS_TEXT_EMPTY;
    int exit_status = 0;
    json_t *result = NULL;
    if (rs_child_run(line->words, "", 0, &output, &errors, &exit_status) == RESTRIDE_OK) {
        result = exit_status == 0 && output.data != NULL
                     ? json_loadb(output.data, output.size, 0, NULL)
                     : NULL;
        if (result == NULL)
            rs_fail(RESTRIDE_IO, "%s failed (status %d): %s", line->words[0], exit_status,
                    errors.data != NULL ? errors.data : "it said nothing.");
    }
    rs_text_free(&output);
    rs_text_free(&errors);
    return result;
}

static json_t *run_by_hand(const setting *s, const char *layout, const char *times)
{
    command_line line = {.count = 0};
    add_case(&line, s, times);
    add_word(&line, "--layout");
    add_word(&line, layout);
    return run_line(&line);
}

/* The application unchanged under the layer; it measures its launches only for a report. */
static json_t *run_layer(const setting *s, const char *policy, size_t tile, const char *report)
{
    char tile_word[24];
    command_line line = {.count = 0};
    snprintf(tile_word, sizeof tile_word, "%zu", tile);
    const char *const words[] = {s->restride, "run",    "--quiet", "--policy",
                                 policy,      "--tile", tile_word};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        add_word(&line, words[i]);
    if (report != NULL) {
        add_word(&line, "--report");
        add_word(&line, report);
    }
    add_word(&line, "--");
    add_case(&line, s, report != NULL ? "yes" : "no");
    return run_line(&line);
}

/* With a policy that is forced: the application's own line, with the report's sums. */
static json_t *run_forced(const setting *s, const char *policy, size_t tile)
{
    json_t *result = run_layer(s, policy, tile, s->report);
    json_t *report = result != NULL ? json_load_file(s->report, 0, NULL) : NULL;
    if (report != NULL) {
        json_object_set(result, "conversions", json_object_get(report, "marshal"));
        json_object_set(result, "kernel", json_array_get(json_object_get(report, "kernels"), 0));
    }
    json_decref(report);
    return result;
}

static double number_of(const json_t *object, const char *key)
{
    return rs_json_number_of(object, key);
}

/* Seconds of all conversions of a run, there and back. */
static double conversion_seconds(const json_t *run)
{
    return number_of(json_object_get(run, "conversions"), "seconds");
}

static double conversion_speed(const json_t *run)
{
    const json_t *conversions = json_object_get(run, "conversions");
    double seconds = number_of(conversions, "seconds");
    return seconds > 0 ? 2e-9 * number_of(conversions, "timed_bytes") / seconds : 0;
}

static bool same_result(const json_t *a, const json_t *b)
{
    return json_equal(json_object_get(a, "result"), json_object_get(b, "result"));
}

/* What each table and figure needs of one case. */
static void add_sums(json_t *measured)
{
    const json_t *aos = json_object_get(measured, "aos"), *soa = json_object_get(measured, "soa");
    const json_t *asta = json_object_get(measured, "asta");
    const json_t *layer = json_object_get(measured, "layer");
    const json_t *in_soa = json_object_get(measured, "layer_soa");
    double own = number_of(aos, "median_seconds"), moved = number_of(layer, "median_seconds");
    double conversions = conversion_seconds(layer);
    json_object_set_new(measured, "speedup_soa", json_real(own / number_of(soa, "median_seconds")));
    json_object_set_new(measured, "speedup_asta",
                        json_real(own / number_of(asta, "median_seconds")));
    json_object_set_new(measured, "speedup_layer", json_real(own / moved));
    json_object_set_new(measured, "speedup_layer_soa",
                        json_real(own / number_of(in_soa, "median_seconds")));
    json_object_set_new(measured, "conversion_seconds_soa", json_real(conversion_seconds(in_soa)));
    json_object_set_new(measured, "conversion_gigabytes_per_second_soa",
                        json_real(conversion_speed(in_soa)));
    json_object_set_new(measured, "layer_of_hand",
                        json_real(number_of(asta, "median_seconds") / moved));
    json_object_set_new(measured, "conversion_seconds", json_real(conversions));
    json_object_set_new(measured, "conversion_gigabytes_per_second",
                        json_real(conversion_speed(layer)));
    json_object_set_new(measured, "break_even_iterations",
                        own > moved ? json_real(conversions / (own - moved)) : json_null());
    json_object_set_new(measured, "same_results",
                        json_boolean(same_result(aos, soa) && same_result(aos, asta) &&
                                     same_result(aos, layer) && same_result(aos, in_soa)));
}

static bool keep(json_t *measured, const char *key, json_t *run)
{
    return run != NULL && json_object_set_new(measured, key, run) == 0;
}

/* Drivers keep what they have compiled: the first runs are not the ones that count. */
static bool warm_up(const setting *s)
{
    json_t *runs[] = {run_by_hand(s, "aos", "yes"), run_forced(s, "asta", s->options->tiles[0]),
                      run_forced(s, "soa", s->options->tiles[0])};
    bool done = true;
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        done = done && runs[i] != NULL;
        json_decref(runs[i]);
    }
    return done;
}

/* ---- policy auto ---- */

typedef enum { OWN, FIRST, KNOWN, WAYS } way; /* without the layer; policy auto learns; it knows */
static const char *const way_keys[WAYS] = {"elapsed_own_seconds", "elapsed_first_seconds",
                                           "elapsed_auto_seconds"};
static const char *const process_keys[WAYS] = {"process_own_seconds", "process_first_seconds",
                                               "process_auto_seconds"};

/* Without a report and without profiling, as most programs run: asking for times takes time. */
static json_t *run_way(const setting *s, way w)
{
    if (w == OWN)
        return run_by_hand(s, "aos", "no");
    if (w == FIRST && unlink(s->wisdom) != 0 && errno != ENOENT) {
        rs_fail(RESTRIDE_IO, "%s could not be removed.", s->wisdom);
        return NULL;
    }
    return run_layer(s, "auto", s->options->tiles[0], NULL);
}

static int compare_seconds(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* The median of an array of numbers, and how far its ends lie apart. */
static double median_of(const json_t *numbers, double *spread)
{
    double sorted[MOST_RUNS];
    size_t count = json_array_size(numbers);
    for (size_t i = 0; i < count; i++)
        sorted[i] = json_number_value(json_array_get(numbers, i));
    qsort(sorted, count, sizeof *sorted, compare_seconds);
    *spread = sorted[count - 1] - sorted[0];
    return (sorted[(count - 1) / 2] + sorted[count / 2]) / 2;
}

static void set_ratio(json_t *measured, const char *key, const json_t *own, const json_t *other)
{
    double spread;
    json_object_set_new(measured, key,
                        json_real(median_of(own, &spread) / median_of(other, &spread)));
}

/* Runs processes in turn, another one first each time, so that other work and what a process leaves
 * behind slow all three ways alike. Times each one's loop of launches by its own clock, and the
 * whole process here. */
static bool run_in_turn(const setting *s, json_t *measured)
{
    json_t *elapsed[WAYS], *process[WAYS];
    double spread;
    bool same = true, done = true;
    for (int w = 0; w < WAYS; w++) {
        elapsed[w] = json_array();
        process[w] = json_array();
        json_object_set_new(measured, way_keys[w], elapsed[w]);
        json_object_set_new(measured, process_keys[w], process[w]);
    }
    for (size_t run = 0; done && run < s->options->runs; run++)
        for (size_t turn = 0; done && turn < WAYS; turn++) {
            const way w = (way)((run + turn) % WAYS);
            double start = rs_seconds_now();
            json_t *line = run_way(s, w);
            json_array_append_new(process[w], json_real(rs_seconds_now() - start));
            done = line != NULL;
            same = same && same_result(line, json_object_get(measured, "aos"));
            json_array_append_new(elapsed[w], json_real(number_of(line, "elapsed_seconds")));
            json_decref(line);
        }
    if (!done)
        return false;
    set_ratio(measured, "elapsed_first", elapsed[OWN], elapsed[FIRST]);
    set_ratio(measured, "elapsed_auto", elapsed[OWN], elapsed[KNOWN]);
    set_ratio(measured, "process_first", process[OWN], process[FIRST]);
    set_ratio(measured, "process_auto", process[OWN], process[KNOWN]);
    double median = median_of(elapsed[OWN], &spread);
    json_object_set_new(measured, "elapsed_spread", json_real(spread / median));
    if (!same)
        json_object_set_new(measured, "same_results", json_false());
    return true;
}

static bool run_forms(const setting *s, json_t *measured)
{
    const apps_options *options = s->options;
    bool done = warm_up(s) && keep(measured, "aos", run_by_hand(s, "aos", "yes")) &&
                keep(measured, "soa", run_by_hand(s, "soa", "yes")) &&
                keep(measured, "asta", run_by_hand(s, "asta", "yes")) &&
                keep(measured, "layer", run_forced(s, "asta", options->tiles[0])) &&
                keep(measured, "layer_soa", run_forced(s, "soa", options->tiles[0]));
    if (done)
        add_sums(measured);
    done = done && run_in_turn(s, measured);
    json_t *tiles = json_object();
    for (int i = 0; done && i < options->tile_count; i++) {
        char name[24];
        snprintf(name, sizeof name, "%zu", options->tiles[i]);
        json_t *run = i == 0 ? json_incref(json_object_get(measured, "layer"))
                             : run_forced(s, "asta", options->tiles[i]);
        done = run != NULL;
        json_object_set_new(tiles, name, json_real(conversion_speed(run)));
        json_decref(run);
    }
    json_object_set_new(measured, "tile_gigabytes_per_second", tiles);
    return done;
}

static char *input_of(const app_case *one, const apps_options *options)
{
    rs_text path = RS_TEXT_EMPTY;
    if (one->input == NULL || options->data == NULL || options->small)
        return NULL;
    rs_text_format(&path, "%s/%s", options->data, one->input);
    return rs_text_take(&path);
}

static void close_setting(setting *s)
{
    free(s->program);
    free(s->input);
    free(s->report);
    free(s->wisdom);
    rs_folder_remove(s->folder);
}

static char *file_in(const char *folder, const char *name)
{
    rs_text path = RS_TEXT_EMPTY;
    rs_text_format(&path, "%s/%s", folder, name);
    return rs_text_take(&path);
}

static restride_status open_setting(setting *s)
{
    char part[64];
    snprintf(part, sizeof part, "apps/%s", s->one->program);
    restride_status status = rs_cli_part_path(part, &s->program);
    if (status == RESTRIDE_OK)
        status = rs_folder_create(&s->folder);
    if (status != RESTRIDE_OK)
        return status;
    s->input = input_of(s->one, s->options);
    s->report = file_in(s->folder, "report.json");
    s->wisdom = file_in(s->folder, "wisdom.json");
    if (s->report == NULL || s->wisdom == NULL)
        return rs_fail_memory("the names of temporary files");
    setenv("RESTRIDE_WISDOM", s->wisdom, 1);
    return RESTRIDE_OK;
}

static json_t *measure(const app_case *one, const apps_options *options, const char *restride)
{
    setting s = {.one = one, .options = options, .restride = restride};
    json_t *measured = NULL;
    if (open_setting(&s) == RESTRIDE_OK) {
        measured = json_pack("{s:s, s:b}", "name", one->name, "made_up",
                             (int)(strcmp(one->program, "spmv") == 0 && s.input == NULL));
        if (!run_forms(&s, measured)) {
            json_decref(measured);
            measured = NULL;
        }
    }
    close_setting(&s);
    return measured;
}

/* ---- the verb ---- */

static bool take_iterations(const char *value, void *field)
{
    size_t iterations;
    *(const char **)field = value;
    return rs_cli_read_count(value, &iterations) && iterations >= 1 && iterations <= 1000000;
}

static bool take_tiles(const char *value, void *into)
{
    apps_options *options = into;
    bool right = rs_cli_read_list(value, ',', MOST_TILES, options->tiles, &options->tile_count);
    for (int i = 0; right && i < options->tile_count; i++)
        right = options->tiles[i] >= 1;
    return right;
}

static bool is_wanted(const apps_options *options, const app_case *one)
{
    return options->only == NULL || strstr(one->name, options->only) != NULL;
}

static bool is_any_wanted(const apps_options *options)
{
    for (size_t i = 0; i < CASES; i++)
        if (is_wanted(options, &cases[i]))
            return true;
    return false;
}

static int read_options(int argc, char **argv, apps_options *options)
{
    static const rs_cli_option table[] = {
        {RS_CLI_TEXT("device", apps_options, device)},
        {RS_CLI_TEXT("only", apps_options, only)},
        {RS_CLI_FLAG("small", apps_options, small)},
        {RS_CLI_TEXT("data", apps_options, data)},
        {RS_CLI_OWN("iterations", apps_options, iterations, take_iterations)},
        {RS_CLI_COUNT("runs", apps_options, runs, 1, MOST_RUNS)},
        {RS_CLI_WHOLE("tile", take_tiles)},
        {RS_CLI_TEXT("svg", apps_options, svg)},
        {RS_CLI_FLAG("json", apps_options, json)},
        {0},
    };
    *options = (apps_options){
        .device = "any", .iterations = "30", .runs = 5, .tiles = {32, 16, 64}, .tile_count = 3};
    int exit_status = rs_cli_read_only_options("apps", argc, argv, table, options);
    if (exit_status == RS_EXIT_DONE && !is_any_wanted(options))
        return rs_cli_fail(
            RS_EXIT_USAGE, "apps",
            "No case has \"%s\" in its name; without --only the table lists them all.",
            options->only);
    if (exit_status == RS_EXIT_DONE && options->svg != NULL)
        exit_status = rs_cli_make_folder("apps", options->svg);
    return exit_status;
}

static json_t *measure_all(const apps_options *options, const char *restride)
{
    json_t *all = json_array();
    for (size_t i = 0; i < CASES; i++) {
        if (!is_wanted(options, &cases[i]))
            continue;
        json_t *measured = measure(&cases[i], options, restride);
        if (measured == NULL) {
            json_decref(all);
            return NULL;
        }
        if (!options->json && json_array_size(all) == 0)
            rs_lab_apps_print_head();
        if (!options->json)
            rs_lab_apps_print_case(measured);
        json_array_append_new(all, measured);
    }
    return all;
}

static bool all_same(const json_t *all)
{
    for (size_t i = 0; i < json_array_size(all); i++)
        if (!rs_json_flag_of(json_array_get(all, i), "same_results"))
            return false;
    return true;
}

int rs_lab_apps(int argc, char **argv)
{
    apps_options options;
    char *restride = NULL;
    if (rs_cli_helps(argc, argv, usage))
        return RS_EXIT_DONE;
    int exit_status = read_options(argc, argv, &options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    json_t *all = NULL;
    if (rs_cli_part_path(RS_PART_PROGRAM, &restride) == RESTRIDE_OK)
        all = measure_all(&options, restride);
    free(restride);
    if (all == NULL)
        return rs_cli_fail_last(RS_EXIT_FAILED, "apps");
    bool same = all_same(all);
    bool drawn = options.svg == NULL || rs_lab_apps_draw(all, options.svg) == RESTRIDE_OK;
    if (options.json) {
        char *text = rs_json_text(all);
        puts(text != NULL ? text : "[]");
        free(text);
    }
    json_decref(all);
    if (!drawn)
        return rs_cli_fail_last(RS_EXIT_FAILED, "apps");
    return same ? RS_EXIT_DONE
                : rs_cli_fail(RS_EXIT_FAILED, "apps", "Results differ between layouts.");
}
