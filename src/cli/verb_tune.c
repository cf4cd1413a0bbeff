/* restride tune: measures which plan transposes a matrix fastest here, and keeps it as wisdom. */
#include "base/arithmetic.h"
#include "cli/cli.h"
#include "cli/engines.h"
#include "cli/json.h"
#include "cli/numbers.h"
#include "cli/progress.h"
#include "restride/restride.h"

#include <getopt.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: restride tune --shape RxC[,RxC...] [OPTIONS]...\n"
    "       restride tune --import FILE | --export FILE | --forget\n"
    "\n"
    "Measures the most promising plans for the transposition of a matrix in its own memory, "
    "checks\n"
    "each result, and keeps the fastest. Every program that uses Restride on this machine, with "
    "the\n"
    "same number of threads or the same device and driver, transposes such a matrix by that plan\n"
    "from then on.\n"
    "\n"
    "  --shape LIST     rows x columns, for example 7200x1800,1800x7200\n"
    "  --type TYPE      u8, u16, f32, f64, c128, or a number of bytes (default: f32)\n"
    "  --batch N        matrices one after the other (default: 1)\n"
    "  --engine NAME    host, opencl or cuda (default: host)\n"
    "  --device NAME    a device's number, or a part of its name (default: the first GPU)\n"
    "  --threads N      the threads of the programs that will transpose (default: all)\n"
    "  --seconds S      about how long to measure each shape (default: 2)\n"
    "  --json           prints JSON\n"
    "  --import FILE    adds the wisdom of a file; of two for the same problem the faster stays\n"
    "  --export FILE    writes all wisdom to a file, after tuning if a shape is given\n"
    "  --forget         removes all wisdom\n"
    "\n"
    "Wisdom is kept in $RESTRIDE_WISDOM, or else in restride/wisdom.json below $XDG_CACHE_HOME or\n"
    "~/.cache. An empty RESTRIDE_WISDOM switches it off. Leave the machine alone meanwhile.\n"
    "\n"
    "Example:\n"
    "  restride tune --shape 7200x1800,1800x7200 --type f64 --seconds 5\n";

enum { MOST_SHAPES = 64, MOST_THREADS = 256 };

typedef struct {
    size_t count;
    size_t rows[MOST_SHAPES];
    size_t cols[MOST_SHAPES];
    size_t unit;
    const char *type;
    size_t batch;
    const char *engine;
    const char *device;
    size_t threads;
    double seconds;
    const char *import;
    const char *export;
    bool forget;
    bool json;
} tune_options;

/* ---- options ---- */

static bool read_shape(tune_options *options, const char *text)
{
    size_t sides[2];
    int count;
    if (options->count == MOST_SHAPES || !rs_cli_read_list(text, 'x', 2, sides, &count) ||
        count != 2 || sides[0] == 0 || sides[1] == 0)
        return false;
    options->rows[options->count] = sides[0];
    options->cols[options->count++] = sides[1];
    return true;
}

static bool read_shapes(tune_options *options, const char *list)
{
    for (;;) {
        char shape[64];
        size_t length = strcspn(list, ",");
        if (length >= sizeof shape)
            return false;
        memcpy(shape, list, length);
        shape[length] = '\0';
        if (!read_shape(options, shape))
            return false;
        if (list[length] == '\0')
            return true;
        list += length + 1;
    }
}

static bool read_seconds(const char *text, double *seconds)
{
    char *end;
    *seconds = strtod(text, &end);
    return end != text && *end == '\0' && *seconds > 0 && *seconds <= 86400;
}

static bool read_count(const char *text, size_t most, size_t *count)
{
    return rs_cli_read_count(text, count) && *count > 0 && *count <= most;
}

static bool take_option(tune_options *options, int option, const char *value)
{
    switch (option) {
    case 's':
        return read_shapes(options, value);
    case 't':
        options->type = value;
        return rs_cli_read_type(value, &options->unit);
    case 'b':
        return read_count(value, SIZE_MAX, &options->batch);
    case 'e':
        options->engine = value;
        return rs_cli_is_engine(value);
    case 'd':
        options->device = value;
        return true;
    case 'p':
        return read_count(value, MOST_THREADS, &options->threads);
    case 'S':
        return read_seconds(value, &options->seconds);
    case 'j':
        options->json = true;
        return true;
    case 'i':
        options->import = value;
        return true;
    case 'x':
        options->export = value;
        return true;
    default:
        options->forget = true;
        return true;
    }
}

static int read_options(int argc, char **argv, tune_options *options)
{
    static const struct option names[] = {
        {"shape", required_argument, NULL, 's'},   {"type", required_argument, NULL, 't'},
        {"batch", required_argument, NULL, 'b'},   {"engine", required_argument, NULL, 'e'},
        {"device", required_argument, NULL, 'd'},  {"threads", required_argument, NULL, 'p'},
        {"seconds", required_argument, NULL, 'S'}, {"json", no_argument, NULL, 'j'},
        {"import", required_argument, NULL, 'i'},  {"export", required_argument, NULL, 'x'},
        {"forget", no_argument, NULL, 'f'},        {NULL, 0, NULL, 0},
    };
    *options = (tune_options){.unit = 4, .type = "f32", .batch = 1, .engine = "host"};
    optind = 1;
    int option;
    int index = 0;
    while ((option = getopt_long(argc, argv, "", names, &index)) != -1) {
        if (option == '?')
            return RS_EXIT_USAGE;
        if (!take_option(options, option, optarg))
            return rs_cli_fail(RS_EXIT_USAGE, "tune",
                               "--%s cannot be \"%s\"; see restride tune --help.",
                               names[index].name, optarg);
    }
    if (optind < argc)
        return rs_cli_fail(RS_EXIT_USAGE, "tune", "\"%s\" is one argument too many.", argv[optind]);
    if (options->count == 0 && options->import == NULL && options->export == NULL &&
        !options->forget)
        return rs_cli_fail(RS_EXIT_USAGE, "tune", "Which shape? For example --shape 7200x1800.");
    return RS_EXIT_DONE;
}

/* ---- results ---- */

static json_t *plan_json(const restride_tuned_plan *plan)
{
    return json_pack("{s:s, s:f}", "plan", plan->name, "seconds", plan->seconds);
}

static json_t *tuning_json(const tune_options *options, size_t i, const restride_tuning *t)
{
    return json_pack("{s:I, s:I, s:s, s:I, s:I, s:I, s:o, s:o, s:f, s:b}", "rows",
                     (json_int_t)options->rows[i], "cols", (json_int_t)options->cols[i], "type",
                     options->type, "batch", (json_int_t)options->batch, "tried",
                     (json_int_t)t->tried, "runs", (json_int_t)t->runs, "planner",
                     plan_json(&t->planner), "best", plan_json(&t->best), "gain",
                     t->planner.seconds / t->best.seconds, "kept", t->kept);
}

static void print_tuning(const tune_options *options, size_t i, const restride_tuning *t)
{
    bool same = strcmp(t->planner.name, t->best.name) == 0;
    printf("%10zu x %-10zu %5s %6zu  %10.3f ms  %s\n", options->rows[i], options->cols[i],
           options->type, t->tried, 1e3 * t->planner.seconds, t->planner.name);
    if (same)
        printf("%53s%s\n", "", "best as planned");
    else
        printf("%38.2f x  %10.3f ms  %s\n", t->planner.seconds / t->best.seconds,
               1e3 * t->best.seconds, t->best.name);
    fflush(stdout);
}

/* ---- work ---- */

/* A shape that cannot be tuned ends the work; wisdom that cannot be kept does not. */
static restride_status tune(restride_engine *engine, const tune_options *options, json_t *results)
{
    rs_progress_bar bar;
    for (size_t i = 0; i < options->count; i++) {
        restride_tuning tuning;
        const restride_tune_options how = {options->seconds, rs_progress_bar_tell_part, &bar};
        rs_progress_bar_begin(&bar);
        restride_status status =
            restride_tune_transpose(engine, options->rows[i], options->cols[i], options->unit,
                                    options->batch, &how, &tuning);
        rs_progress_bar_end(&bar);
        if (status != RESTRIDE_OK)
            return status;
        if (!tuning.kept)
            rs_cli_fail_last(RS_EXIT_DONE, "tune");
        if (options->json)
            json_array_append_new(results, tuning_json(options, i, &tuning));
        else
            print_tuning(options, i, &tuning);
    }
    return RESTRIDE_OK;
}

static restride_status work(restride_engine *engine, const tune_options *options, json_t *results)
{
    restride_status status = RESTRIDE_OK;
    if (options->forget)
        status = restride_wisdom_forget(engine);
    else if (restride_wisdom_check(engine) != RESTRIDE_OK)
        rs_cli_fail_last(RS_EXIT_DONE, "tune");
    if (status == RESTRIDE_OK && options->import != NULL)
        status = restride_wisdom_import(engine, options->import);
    if (status == RESTRIDE_OK && options->count > 0 && !options->json)
        printf("%23s %5s %6s  %13s  %s\n", "shape", "type", "tried", "median", "plan");
    if (status == RESTRIDE_OK)
        status = tune(engine, options, results);
    if (status == RESTRIDE_OK && options->export != NULL)
        status = restride_wisdom_export(engine, options->export);
    return status;
}

int rs_verb_tune(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(usage, stdout);
            return RS_EXIT_DONE;
        }
    tune_options options;
    int exit_status = read_options(argc, argv, &options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    restride_engine *engine;
    if (rs_cli_open_engine(&engine, options.engine, options.device, options.threads) != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, "tune");
    json_t *results = json_array();
    restride_status status = work(engine, &options, results);
    if (status != RESTRIDE_OK) {
        exit_status = rs_cli_fail_last(RS_EXIT_FAILED, "tune");
    } else if (options.json) {
        exit_status = rs_cli_print_json(
            "tune", json_pack("{s:s, s:O}", "engine", options.engine, "results", results));
    }
    json_decref(results);
    restride_engine_destroy(engine);
    return exit_status;
}
