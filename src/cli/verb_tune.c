/* restride tune: measures which plan of a matrix, a tensor or a conversion is fastest here, and
 * keeps it as wisdom. */
#include "cli/cli.h"
#include "cli/tune_kernels.h"
#include "cli/tune_problem.h"
#include "console/engines.h"
#include "console/fail.h"
#include "console/options.h"
#include "console/progress.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 256 };

typedef struct {
    rs_tune_words words;
    rs_tune_problem problems[RS_TUNE_MOST_PROBLEMS];
    size_t count;
    const char *engine;
    const char *device;
    size_t threads;
    double seconds;
    const char *import;
    const char *export;
    bool forget;
    bool kernels;
    bool calibrate;
    bool json;
} tune_options;

/* ---- options ---- */

static bool take_seconds(const char *text, void *field)
{
    double *seconds = field;
    char *end;
    *seconds = strtod(text, &end);
    return end != text && *end == '\0' && *seconds > 0 && *seconds <= 86400;
}

static int check_problems(tune_options *options)
{
    int status = rs_tune_problems_read(&options->words, options->problems, &options->count);
    if (status != RS_EXIT_DONE)
        return status;
    if (options->count == 0 && options->import == NULL && options->export == NULL &&
        !options->forget && !options->kernels && !options->calibrate)
        return rs_cli_fail(RS_EXIT_USAGE, "tune", "Which shape? For example --shape 7200x1800.");
    if (options->kernels && strcmp(options->engine, "cuda") != 0)
        return rs_cli_fail(RS_EXIT_USAGE, "tune",
                           "--kernels is for CUDA devices; add --engine cuda.");
    return RS_EXIT_DONE;
}

static int read_options(int argc, char **argv, tune_options *options)
{
    static const rs_cli_option table[] = {
        {RS_CLI_TEXT("shape", tune_options, words.shapes)},
        {RS_CLI_TEXT("dims", tune_options, words.dims)},
        {RS_CLI_TEXT("axes", tune_options, words.axes)},
        {RS_CLI_TEXT("from", tune_options, words.from)},
        {RS_CLI_TEXT("to", tune_options, words.to)},
        {RS_CLI_OWN("type", tune_options, words.type, rs_cli_take_type)},
        {RS_CLI_COUNT("batch", tune_options, words.batch, 1, SIZE_MAX)},
        {RS_CLI_OWN("engine", tune_options, engine, rs_cli_take_engine)},
        {RS_CLI_TEXT("device", tune_options, device)},
        {RS_CLI_COUNT("threads", tune_options, threads, 1, MOST_THREADS)},
        {RS_CLI_OWN("seconds", tune_options, seconds, take_seconds)},
        {RS_CLI_FLAG("json", tune_options, json)},
        {RS_CLI_TEXT("import", tune_options, import)},
        {RS_CLI_TEXT("export", tune_options, export)},
        {RS_CLI_FLAG("forget", tune_options, forget)},
        {RS_CLI_FLAG("kernels", tune_options, kernels)},
        {RS_CLI_FLAG("calibrate", tune_options, calibrate)},
        {0},
    };
    int status = rs_cli_read_only_options("tune", argc, argv, table, options);
    if (status != RS_EXIT_DONE)
        return status;
    return check_problems(options);
}

/* ---- results ---- */

static json_t *plan_json(const restride_tuned_plan *plan)
{
    return json_pack("{s:s, s:f}", "plan", plan->name, "seconds", plan->seconds);
}

static json_t *tuning_json(const rs_tune_problem *problem, const restride_tuning *t)
{
    json_t *object = rs_tune_problem_describe(problem);
    json_t *result = json_pack("{s:I, s:I, s:o, s:o, s:f, s:b}", "tried", (json_int_t)t->tried,
                               "runs", (json_int_t)t->runs, "planner", plan_json(&t->planner),
                               "best", plan_json(&t->best), "gain",
                               t->planner.seconds / t->best.seconds, "kept", t->kept);
    json_object_update(object, result);
    json_decref(result);
    return object;
}

static void print_heading(const tune_options *options)
{
    if (options->count > 0 && !options->json)
        printf("%26s %5s %6s  %13s  %s\n", "array", "type", "tried", "median", "plan");
}

static void print_tuning(const tune_options *options, const rs_tune_problem *problem,
                         const restride_tuning *t)
{
    bool same = strcmp(t->planner.name, t->best.name) == 0;
    const char *type = options->words.type.name != NULL ? options->words.type.name : "f32";
    printf("%26s %5s %6zu  %10.3f ms  %s\n", problem->name, type, t->tried,
           1e3 * t->planner.seconds, t->planner.name);
    if (same)
        printf("%56s%s\n", "", "best as planned");
    else
        printf("%39.2f x  %10.3f ms  %s\n", t->planner.seconds / t->best.seconds,
               1e3 * t->best.seconds, t->best.name);
    fflush(stdout);
}

/* ---- work ---- */

/* What cannot be tuned ends the work; wisdom that cannot be kept does not. */
static restride_status tune(restride_engine *engine, const tune_options *options, json_t *results)
{
    rs_progress_bar bar;
    for (size_t i = 0; i < options->count; i++) {
        restride_tuning tuning;
        const restride_tune_options how = {options->seconds, rs_progress_bar_tell_part, &bar};
        rs_progress_bar_begin(&bar);
        const rs_tune_problem *problem = &options->problems[i];
        restride_status status = rs_tune_problem_measure(problem, engine, &how, &tuning);
        rs_progress_bar_end(&bar);
        if (status != RESTRIDE_OK)
            return status;
        if (!tuning.kept)
            rs_cli_fail_last(RS_EXIT_DONE, "tune");
        if (options->json)
            json_array_append_new(results, tuning_json(problem, &tuning));
        else
            print_tuning(options, problem, &tuning);
    }
    return RESTRIDE_OK;
}

static restride_status calibrate(restride_engine *engine, const tune_options *options)
{
    double seconds = 0;
    restride_status status = restride_tune_rates(engine, &seconds);
    if (status == RESTRIDE_OK && !options->json)
        printf(
            "The costs of stages were measured in %.1f s; plans of 1 MiB and more follow them.\n",
            seconds);
    return status;
}

static restride_status work(restride_engine *engine, const tune_options *options, json_t *results)
{
    restride_status status = RESTRIDE_OK;
    if (options->forget)
        status = restride_wisdom_forget(engine);
    else if (restride_wisdom_check(engine) != RESTRIDE_OK)
        rs_cli_fail_last(RS_EXIT_DONE, "tune");
    if (status == RESTRIDE_OK && options->kernels)
        status = rs_tune_kernels(engine);
    if (status == RESTRIDE_OK && options->import != NULL)
        status = restride_wisdom_import(engine, options->import);
    if (status == RESTRIDE_OK && options->calibrate)
        status = calibrate(engine, options);
    if (status == RESTRIDE_OK) {
        print_heading(options);
        status = tune(engine, options, results);
    }
    if (status == RESTRIDE_OK && options->export != NULL)
        status = restride_wisdom_export(engine, options->export);
    return status;
}

static int tune_all(const tune_options *options)
{
    restride_engine *engine;
    if (rs_cli_open_engine(&engine, options->engine, options->device, options->threads) !=
        RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, "tune");
    int exit_status = RS_EXIT_DONE;
    json_t *results = json_array();
    if (work(engine, options, results) != RESTRIDE_OK)
        exit_status = rs_cli_fail_last(RS_EXIT_FAILED, "tune");
    else if (options->json)
        exit_status = rs_cli_print_json(
            "tune", json_pack("{s:s, s:O}", "engine", options->engine, "results", results));
    json_decref(results);
    restride_engine_destroy(engine);
    return exit_status;
}

int rs_verb_tune(int argc, char **argv)
{
    tune_options options = {.words = {.type = {.bytes = 4}, .batch = 1}, .engine = "host"};
    int exit_status = read_options(argc, argv, &options);
    if (exit_status == RS_EXIT_DONE)
        exit_status = tune_all(&options);
    rs_tune_problems_free(options.problems, options.count);
    return exit_status;
}
