/*
 * restride-lab tune: how near the planner's choice comes to the best of all plans, for random
 * matrices or given ones, on the host or a device.
 */
#include "base/json.h"
#include "base/text.h"
#include "console/bench_device.h"
#include "console/engines.h"
#include "console/fail.h"
#include "console/options.h"
#include "console/progress.h"
#include "engine/stage.h"
#include "lab/cli/lab.h"
#include "lab/cli/tune_report.h"
#include "transpose/transpose.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: restride-lab tune [OPTIONS]...\n"
    "\n"
    "Tries the plans that the planner's methods offer for matrices, checks each of them once,\n"
    "element by element, and says how near the planner's own choice comes to the fastest. Times\n"
    "are medians; those near the best run again in turns with the choice. Wisdom counts as the\n"
    "planner's: an empty RESTRIDE_WISDOM leaves it out. A wrong element ends the work with 1.\n"
    "\n"
    "  --exhaustive       tries all plans, several hundred for some matrices\n"
    "  --most N           else those N with the least expected cost, and three of each method\n"
    "                     (default: 24)\n"
    "  --shape LIST       rows x columns, or with the bytes of an element: 7200x1800,720x180x8\n"
    "  --type TYPE        of shapes without those bytes: u8, f32, ... (default: f32)\n"
    "  --count N          random matrices, when no shape is given (default: 100)\n"
    "  --seed N           which ones (default: 1)\n"
    "  --bytes LEAST,MOST of them (default: 20M,800M on a GPU, else 4M,128M)\n"
    "  --engine NAME      host, opencl or cuda (default: host)\n"
    "  --device NAME      gpu, cpu, its number or a part of its name (default: the first GPU)\n"
    "  --threads N        of the host (default: all)\n"
    "  --repeat N         runs of each plan behind the checked one (default: 5)\n"
    "  --seconds N        begins no further matrix after so many seconds\n"
    "  --state FILE       keeps results; the same command goes on with what is missing there\n"
    "  --plot FILE        draws the choice as a part of the best, as SVG\n"
    "  --plot-expected FILE  draws expected against measured times\n"
    "  --goal             ends with 1 unless every choice is within 10 % of the best\n"
    "  --all              prints every plan\n"
    "  --json             prints JSON\n"
    "\n"
    "Example:\n"
    "  restride-lab tune --exhaustive --count 20 --state tune.json --plot choice.svg\n";

enum { MOST_THREADS = 256, MOST_COUNT = 100000, EACH = 3, MOST_SIDES = 3 };

typedef struct {
    const char *engine, *device, *shapes, *state, *plot, *plot_expected;
    rs_cli_type type;
    rs_cli_numbers bytes;
    size_t threads, count, seed, most, repeat, seconds;
    bool exhaustive, goal, all, json;
} tune_options;

typedef struct {
    const tune_options *options;
    restride_engine *engine;
    char *device;
    size_t wanted;
    rs_matrices *problems;
    json_t *known; /* rows by their problem: those of the state's file, and what was measured */
    json_t *rows;
} laboratory;

/* ---- problems ---- */

/* A number from 0 to 1 (splitmix64). */
static double part(uint64_t *state)
{
    uint64_t mixed = *state += UINT64_C(0x9E3779B97F4A7C15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (double)((mixed ^ (mixed >> 31)) >> 11) * 0x1p-53;
}

#define PICK(list, state) ((list)[(size_t)(part(state) * (sizeof(list) / sizeof(list)[0]))])

static size_t side_of(double length, size_t step)
{
    const size_t side = (size_t)length + 2;
    return side < step ? side : side - side % step;
}

/* Number `index` of a seed is the same whatever else is asked for. */
static rs_matrices random_matrix(size_t seed, size_t index, double least, double most)
{
    static const size_t units[] = {1, 2, 4, 4, 4, 8, 8, 12, 16};
    static const size_t steps[] = {1, 1, 4, 10, 64};
    uint64_t state = (uint64_t)seed * 1000003 + index;
    rs_matrices m = {.unit = PICK(units, &state), .batch = 1};
    const double elements = least * pow(most / least, part(&state)) / (double)m.unit;
    const double rows = 2 * pow(elements / 4, 0.1 + 0.8 * part(&state));
    const size_t step = PICK(steps, &state);
    m.rows = side_of(rows, step);
    m.cols = side_of(elements / (double)m.rows, step);
    return m;
}

/* False for what is no list of shapes, or too long a one. */
static bool read_shapes(const tune_options *o, rs_matrices problems[], size_t *count)
{
    *count = 0;
    for (const char *text = o->shapes; *text != '\0'; text += *text == ',') {
        char one[64];
        size_t sides[MOST_SIDES], bytes;
        int read;
        const size_t length = strcspn(text, ",");
        if (length >= sizeof one || *count == MOST_COUNT)
            return false;
        snprintf(one, sizeof one, "%.*s", (int)length, text);
        if (!rs_cli_read_list(one, 'x', MOST_SIDES, sides, &read) || read < 2)
            return false;
        rs_matrices *m = &problems[(*count)++];
        *m = (rs_matrices){sides[0], sides[1], read > 2 ? sides[2] : o->type.bytes, 1, 0};
        if (rs_matrices_check(m, &bytes) != RESTRIDE_OK)
            return false;
        text += length;
    }
    return *count > 0;
}

static int list_problems(laboratory *lab)
{
    static const size_t bytes[][2] = {{4 << 20, 128 << 20}, {20 << 20, 800 << 20}};
    const tune_options *o = lab->options;
    const bool gpu = rs_cli_engine_is_gpu(lab->engine) && strcmp(o->engine, "host") != 0;
    const size_t *given = o->bytes.count > 0 ? o->bytes.values : bytes[gpu];
    lab->problems = calloc(MOST_COUNT, sizeof *lab->problems);
    if (lab->problems == NULL)
        return rs_cli_fail(RS_EXIT_FAILED, "tune", "There is no memory for the problems.");
    if (o->shapes != NULL && !read_shapes(o, lab->problems, &lab->wanted))
        return rs_cli_fail(RS_EXIT_USAGE, "tune",
                           "\"%s\" is no list of shapes like 7200x1800,720x180x8.", o->shapes);
    if (o->shapes != NULL)
        return RS_EXIT_DONE;
    lab->wanted = o->count;
    for (size_t i = 0; i < lab->wanted; i++)
        lab->problems[i] = random_matrix(o->seed, i, (double)given[0], (double)given[1]);
    return RS_EXIT_DONE;
}

/* ---- what is kept ---- */

static int read_state(laboratory *lab)
{
    const char *path = lab->options->state;
    lab->known = json_object();
    FILE *file = path == NULL ? NULL : fopen(path, "r");
    if (file == NULL)
        return RS_EXIT_DONE;
    json_t *state = json_loadf(file, 0, NULL);
    fclose(file);
    json_t *kept = json_object_get(state, "results");
    const char *device = rs_json_string_of(state, "device");
    int exit_status = RS_EXIT_DONE;
    if (!json_is_object(kept) || device == NULL)
        exit_status =
            rs_cli_fail(RS_EXIT_FAILED, "tune", "%s has no results of this program.", path);
    else if (strcmp(device, lab->device) != 0)
        exit_status = rs_cli_fail(RS_EXIT_FAILED, "tune", "%s has results of %s; this is %s.", path,
                                  device, lab->device);
    else
        json_object_update(lab->known, kept);
    json_decref(state);
    return exit_status;
}

static restride_status write_state(const laboratory *lab)
{
    if (lab->options->state == NULL)
        return RESTRIDE_OK;
    json_t *state = json_pack("{s:s, s:O}", "device", lab->device, "results", lab->known);
    char *text = rs_json_text(state);
    json_decref(state);
    restride_status status = text == NULL
                                 ? rs_fail_memory("results")
                                 : rs_text_write_file(lab->options->state, text, strlen(text));
    free(text);
    return status;
}

/* On the host, with the threads; NULL when memory is short. */
static char *name_device(const restride_engine *engine)
{
    rs_text text = RS_TEXT_EMPTY;
    char *name = rs_cli_engine_device(engine);
    if (name == NULL || engine->operations->transfer != NULL)
        return name;
    rs_text_format(&text, "%s, %zu threads", name, engine->operations->traits(engine).workers);
    free(name);
    return rs_text_take(&text);
}

/* ---- work ---- */

static restride_status measure(const laboratory *lab, const rs_matrices *m, json_t **row)
{
    const tune_options *o = lab->options;
    const rs_tune_how how = {o->exhaustive ? SIZE_MAX : o->most, EACH, o->repeat};
    rs_tune_found found;
    *row = NULL;
    restride_status status = rs_tune_search(lab->engine, m, &how, &found);
    if (status == RESTRIDE_OK) {
        *row = rs_tune_row(m, &found, o->all);
        status = *row == NULL ? rs_fail_memory("results") : RESTRIDE_OK;
    }
    rs_tune_found_free(&found);
    return status;
}

static restride_status work(laboratory *lab)
{
    const tune_options *o = lab->options;
    const double end = rs_seconds_now() + (o->seconds > 0 ? (double)o->seconds : INFINITY);
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; i < lab->wanted && status == RESTRIDE_OK; i++) {
        char name[RS_TUNE_NAME_BYTES];
        rs_tune_name(name, &lab->problems[i]);
        json_t *row = json_incref(json_object_get(lab->known, name));
        if (row == NULL && rs_seconds_now() >= end)
            continue;
        if (row == NULL) {
            status = measure(lab, &lab->problems[i], &row);
            if (status == RESTRIDE_OK)
                json_object_set(lab->known, name, row);
            if (status == RESTRIDE_OK)
                status = write_state(lab);
        }
        if (status == RESTRIDE_OK && !o->json)
            rs_tune_print_row(row);
        if (status == RESTRIDE_OK)
            json_array_append(lab->rows, row);
        json_decref(row);
    }
    return status;
}

static int report(const laboratory *lab)
{
    const tune_options *o = lab->options;
    restride_status status = RESTRIDE_OK;
    if (o->plot != NULL)
        status = rs_tune_draw_choice(lab->rows, lab->device, o->plot);
    if (status == RESTRIDE_OK && o->plot_expected != NULL)
        status = rs_tune_draw_expected(lab->rows, lab->device, o->plot_expected);
    if (status != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, "tune");
    const int exit_status = o->goal && !rs_tune_all_near(lab->rows) ? RS_EXIT_FAILED : RS_EXIT_DONE;
    int printed = RS_EXIT_DONE;
    if (o->json)
        printed = rs_cli_print_json("tune", json_pack("{s:s, s:s, s:o, s:O}", "engine", o->engine,
                                                      "device", lab->device, "summary",
                                                      rs_tune_summary(lab->rows, lab->wanted),
                                                      "results", lab->rows));
    else
        rs_tune_print_summary(lab->rows, lab->wanted);
    return printed != RS_EXIT_DONE ? printed : exit_status;
}

static int run(laboratory *lab)
{
    int exit_status = list_problems(lab);
    if (exit_status == RS_EXIT_DONE)
        exit_status = read_state(lab);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    if (!lab->options->json)
        rs_tune_print_heading(lab->device);
    if (work(lab) != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, "tune");
    return report(lab);
}

static bool take_bytes(const char *text, void *field)
{
    const rs_cli_numbers *bytes = field;
    return rs_cli_take_numbers(text, field) && bytes->count == 2 && bytes->values[0] >= 64 &&
           bytes->values[0] <= bytes->values[1];
}

static int read_options(int argc, char **argv, tune_options *options)
{
    static const rs_cli_option table[] = {
        {RS_CLI_OWN("engine", tune_options, engine, rs_cli_take_engine)},
        {RS_CLI_TEXT("device", tune_options, device)},
        {RS_CLI_COUNT("threads", tune_options, threads, 1, MOST_THREADS)},
        {RS_CLI_TEXT("shape", tune_options, shapes)},
        {RS_CLI_OWN("type", tune_options, type, rs_cli_take_type)},
        {RS_CLI_COUNT("count", tune_options, count, 1, MOST_COUNT)},
        {RS_CLI_COUNT("seed", tune_options, seed, 0, SIZE_MAX)},
        {RS_CLI_COUNT("most", tune_options, most, 0, SIZE_MAX)},
        {RS_CLI_OWN("bytes", tune_options, bytes, take_bytes)},
        {RS_CLI_COUNT("repeat", tune_options, repeat, 1, 100)},
        {RS_CLI_COUNT("seconds", tune_options, seconds, 1, 86400)},
        {RS_CLI_TEXT("state", tune_options, state)},
        {RS_CLI_TEXT("plot", tune_options, plot)},
        {RS_CLI_TEXT("plot-expected", tune_options, plot_expected)},
        {RS_CLI_FLAG("exhaustive", tune_options, exhaustive)},
        {RS_CLI_FLAG("goal", tune_options, goal)},
        {RS_CLI_FLAG("all", tune_options, all)},
        {RS_CLI_FLAG("json", tune_options, json)},
        {0},
    };
    return rs_cli_read_only_options("tune", argc, argv, table, options);
}

int rs_lab_tune(int argc, char **argv)
{
    tune_options options = {
        .engine = "host", .type = {"f32", 4}, .count = 100, .seed = 1, .most = 24, .repeat = 5};
    if (rs_cli_helps(argc, argv, usage))
        return RS_EXIT_DONE;
    int exit_status = read_options(argc, argv, &options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    laboratory lab = {.options = &options};
    if (rs_cli_open_engine(&lab.engine, options.engine, options.device, options.threads) !=
        RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, "tune");
    lab.device = name_device(lab.engine);
    lab.rows = json_array();
    exit_status = lab.device == NULL
                      ? rs_cli_fail(RS_EXIT_FAILED, "tune", "There is no memory for a name.")
                      : run(&lab);
    json_decref(lab.rows);
    json_decref(lab.known);
    free(lab.problems);
    free(lab.device);
    restride_engine_destroy(lab.engine);
    return exit_status;
}
