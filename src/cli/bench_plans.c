/* restride bench plans: how long plans for transpositions take to make, beside their runs. */
#include "base/arithmetic.h"
#include "base/json.h"
#include "cli/bench.h"
#include "console/engines.h"
#include "console/fail.h"
#include "console/options.h"
#include "console/progress.h"
#include "restride/restride.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_REPEAT = 50 };

static const char small_shapes[] = "7200x1800,1800x7200,4000x3200,5100x2500,2500x5100,3300x3900";
static const char gpu_shapes[] = "7200x1800,1800x7200,4000x3200,5100x2500,2500x5100,3300x3900,"
                                 "20000x5000,5000x20000,28800x7200,16000x25600,19997x20011,"
                                 "30011x10007,100000000x3,50000000x19";

typedef struct {
    rs_bench_options on;
    const char *shapes; /* NULL: as the device suggests */
    rs_cli_type type;
} plans_options;

static int read_options(int argc, char **argv, plans_options *options)
{
    static const rs_cli_option table[] = {
        {RS_CLI_OWN("engine", plans_options, on.engine, rs_cli_take_engine)},
        {RS_CLI_TEXT("device", plans_options, on.device)},
        {RS_CLI_OWN("shape", plans_options, shapes, rs_bench_take_shapes)},
        {RS_CLI_OWN("type", plans_options, type, rs_cli_take_type)},
        {RS_CLI_COUNT("threads", plans_options, on.threads, 1, RS_BENCH_MOST_THREADS)},
        {RS_CLI_COUNT("repeat", plans_options, on.repeat, 1, RS_BENCH_MOST_REPEAT)},
        {RS_CLI_FLAG("json", plans_options, on.json)},
        {0},
    };
    *options = (plans_options){
        .on = {.engine = "host", .threads = rs_bench_all_threads(), .repeat = DEFAULT_REPEAT},
        .type = {"f32", 4}};
    return rs_cli_read_only_options("bench plans", argc, argv, table, options);
}

/* ---- what is measured ---- */

typedef struct {
    rs_bench bench;
    rs_transfer *transfer; /* NULL: the host */
    size_t repeat;
} laboratory;

typedef struct {
    size_t rows;
    size_t cols;
    size_t unit;
    size_t bytes;
    void *array;
    json_t *plan; /* its description */
    double first_seconds;
    double *plan_seconds; /* of the `repeat` plans behind the first */
    double *run_seconds;
    double plan_median;
    double plan_longest;
    double run_median;
} shape;

static restride_status allocate(const laboratory *lab, shape *s)
{
    if (lab->transfer != NULL)
        return lab->transfer->operations->allocate(lab->transfer, s->bytes, &s->array);
    unsigned char *array;
    restride_status status = rs_bench_allocate(&array, s->bytes, RS_BENCH_HUGE_PAGES);
    if (status == RESTRIDE_OK)
        s->array = memset(array, 0, s->bytes); /* pages that are there */
    return status;
}

static void release(const laboratory *lab, shape *s)
{
    if (lab->transfer == NULL)
        free(s->array);
    else if (s->array != NULL)
        lab->transfer->operations->release(lab->transfer, s->array);
    free(s->plan_seconds);
    free(s->run_seconds);
    json_decref(s->plan);
}

static restride_status finish(const laboratory *lab)
{
    return lab->transfer == NULL ? RESTRIDE_OK : lab->transfer->operations->finish(lab->transfer);
}

/* A plan is made, runs and is destroyed. */
static restride_status time_once(const laboratory *lab, shape *s, double *plan_seconds,
                                 double *run_seconds)
{
    restride_plan *plan;
    double start = rs_seconds_now();
    restride_status status =
        restride_plan_transpose(&plan, lab->bench.engine, s->rows, s->cols, s->unit, 1);
    if (status != RESTRIDE_OK)
        return status;
    status = finish(lab);
    *plan_seconds = rs_seconds_now() - start;
    if (s->plan == NULL)
        s->plan = rs_bench_describe(plan);
    start = rs_seconds_now();
    if (status == RESTRIDE_OK)
        status = restride_execute(plan, s->array);
    if (status == RESTRIDE_OK)
        status = finish(lab);
    *run_seconds = rs_seconds_now() - start;
    restride_plan_destroy(plan);
    return status;
}

static restride_status time_all(const laboratory *lab, shape *s)
{
    double first_run;
    restride_status status = time_once(lab, s, &s->first_seconds, &first_run);
    for (size_t i = 0; i < lab->repeat && status == RESTRIDE_OK; i++)
        status = time_once(lab, s, &s->plan_seconds[i], &s->run_seconds[i]);
    if (status != RESTRIDE_OK)
        return status;
    s->run_median = rs_seconds_median(s->run_seconds, lab->repeat);
    s->plan_median = rs_seconds_median(s->plan_seconds, lab->repeat);
    s->plan_longest = s->plan_seconds[lab->repeat - 1]; /* the median has sorted them */
    return RESTRIDE_OK;
}

static restride_status measure(const laboratory *lab, shape *s)
{
    size_t elements;
    if (!rs_size_multiply(s->rows, s->cols, &elements) ||
        !rs_size_multiply(elements, s->unit, &s->bytes))
        return rs_fail(RESTRIDE_OVERFLOW, "%zu x %zu elements of %zu bytes are too many.", s->rows,
                       s->cols, s->unit);
    s->plan_seconds = calloc(lab->repeat, sizeof *s->plan_seconds);
    s->run_seconds = calloc(lab->repeat, sizeof *s->run_seconds);
    if (s->plan_seconds == NULL || s->run_seconds == NULL)
        return rs_fail_memory("the times of plans");
    restride_status status = allocate(lab, s);
    return status == RESTRIDE_OK ? time_all(lab, s) : status;
}

/* ---- results ---- */

static json_t *shape_json(const shape *s, const plans_options *options)
{
    return json_pack("{s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:O?}", "type", options->type.name,
                     "rows", (json_int_t)s->rows, "cols", (json_int_t)s->cols, "first_plan_seconds",
                     s->first_seconds, "plan_seconds", s->plan_median, "longest_plan_seconds",
                     s->plan_longest, "run_seconds", s->run_median, "plan", s->plan);
}

static void print_heading(const laboratory *lab, const plans_options *options)
{
    char *device = rs_cli_engine_device(lab->bench.engine);
    printf("%s, %s, medians of %zu, microseconds\n"
           "%23s %5s %10s %8s %8s %9s %8s  method\n",
           options->on.engine, device != NULL ? device : "a device", options->on.repeat, "shape",
           "type", "first plan", "plan", "longest", "run", "plan/run");
    free(device);
}

static void print_row(const shape *s, const plans_options *options)
{
    const char *method = rs_json_string_of(s->plan, "method");
    printf("%10zu x %-10zu %5s %10.0f %8.1f %8.1f %9.1f %8.2f  %s\n", s->rows, s->cols,
           options->type.name, 1e6 * s->first_seconds, 1e6 * s->plan_median, 1e6 * s->plan_longest,
           1e6 * s->run_median, s->plan_median / s->run_median, method != NULL ? method : "");
    fflush(stdout);
}

static restride_status measure_all(const laboratory *lab, const plans_options *options)
{
    const char *text = options->shapes;
    if (text == NULL)
        text = rs_cli_engine_is_gpu(lab->bench.engine) ? gpu_shapes : small_shapes;
    restride_status status = RESTRIDE_OK;
    while (*text != '\0' && status == RESTRIDE_OK) {
        shape s = {.unit = options->type.bytes};
        rs_cli_read_shape(&text, &s.rows, &s.cols);
        status = measure(lab, &s);
        if (status == RESTRIDE_OK && options->on.json)
            json_array_append_new(lab->bench.rows, shape_json(&s, options));
        else if (status == RESTRIDE_OK)
            print_row(&s, options);
        release(lab, &s);
    }
    return status;
}

int rs_bench_plans(int argc, char **argv)
{
    plans_options options;
    int exit_status = read_options(argc, argv, &options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    laboratory lab = {.repeat = options.on.repeat};
    exit_status = rs_bench_begin(&lab.bench, "bench plans", &options.on);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    restride_status status = RESTRIDE_OK;
    if (rs_cli_is_device_engine(options.on.engine))
        status = rs_transfer_open(lab.bench.engine, &lab.transfer);
    if (status == RESTRIDE_OK && !options.on.json)
        print_heading(&lab, &options);
    if (status == RESTRIDE_OK)
        status = measure_all(&lab, &options);
    if (lab.transfer != NULL)
        lab.transfer->operations->close(lab.transfer);
    return rs_bench_end(&lab.bench, status);
}
