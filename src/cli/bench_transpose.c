/* restride bench transpose: the speed of in-place transposition beside that of a copy. */
#include "base/text.h"
#include "cli/bench.h"
#include "console/engines.h"
#include "console/fail.h"
#include "console/options.h"
#include "console/progress.h"
#include "restride/restride.h"

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_REPEAT = 9, MOST_REPEAT = 10000 };

typedef struct {
    rs_bench_options on;
    const char *shapes;
    rs_cli_type type;
    size_t batch;
    const char *method; /* NULL: the planner's choice */
    bool small_pages;
} bench_options;

static rs_bench_pages pages_of(const bench_options *options)
{
    return options->small_pages ? RS_BENCH_SMALL_PAGES : RS_BENCH_HUGE_PAGES;
}

/* ---- options ---- */

/* A size that can still be multiplied. */
static bool take_type(const char *text, void *field)
{
    rs_cli_type *type = field;
    return rs_cli_take_type(text, type) && type->bytes < SIZE_MAX;
}

static int read_options(int argc, char **argv, bench_options *options)
{
    static const rs_cli_option table[] = {
        {RS_CLI_OWN("engine", bench_options, on.engine, rs_cli_take_engine)},
        {RS_CLI_TEXT("device", bench_options, on.device)},
        {RS_CLI_OWN("shape", bench_options, shapes, rs_bench_take_shapes)},
        {RS_CLI_OWN("type", bench_options, type, take_type)},
        {RS_CLI_COUNT("threads", bench_options, on.threads, 1, RS_BENCH_MOST_THREADS)},
        {RS_CLI_COUNT("repeat", bench_options, on.repeat, 1, MOST_REPEAT)},
        {RS_CLI_COUNT("batch", bench_options, batch, 1, SIZE_MAX - 1)},
        {RS_CLI_TEXT("method", bench_options, method)},
        {RS_CLI_FLAG("small-pages", bench_options, small_pages)},
        {RS_CLI_FLAG("json", bench_options, on.json)},
        {0},
    };
    *options = (bench_options){
        .on = {.engine = "host", .threads = rs_bench_all_threads(), .repeat = DEFAULT_REPEAT},
        .type = {"f32", 4},
        .batch = 1};
    int exit_status = rs_cli_read_only_options("bench transpose", argc, argv, table, options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    if (options->shapes == NULL)
        return rs_cli_fail(RS_EXIT_USAGE, "bench", "Which shape? For example --shape 7200x1800.");
    return RS_EXIT_DONE;
}

/* ---- one measurement ---- */

typedef struct {
    size_t rows;
    size_t cols;
    size_t bytes;
    double seconds;
    double copy_seconds;
    double handover_seconds[2]; /* before the measurement and after it; 0: not measured */
    double plan_seconds;
    size_t scratch_bytes;
    json_t *plan;
} bench_result;

/* The first run is checked and not timed. */
static restride_status time_on_host(bench_result *result, const bench_options *options,
                                    restride_plan *plan, unsigned char *matrix)
{
    rs_bench_times times = {0};
    rs_bench_fill(matrix, result->bytes / options->type.bytes, options->type.bytes);
    restride_status status = restride_execute(plan, matrix);
    if (status == RESTRIDE_OK)
        status = rs_bench_verify(matrix, result->rows, result->cols, options->type.bytes,
                                 options->batch);
    if (options->on.threads > 1)
        result->handover_seconds[0] = rs_bench_handover();
    if (status == RESTRIDE_OK)
        status = rs_bench_time_host(plan, matrix, result->bytes, pages_of(options),
                                    options->on.threads, options->on.repeat, &times);
    if (options->on.threads > 1)
        result->handover_seconds[1] = rs_bench_handover();
    result->seconds = times.seconds;
    result->copy_seconds = times.copy_seconds;
    return status;
}

static restride_status run_on_device(const bench_result *result, const bench_options *options,
                                     rs_transfer *transfer, restride_plan *plan,
                                     unsigned char *matrix, void *buffer)
{
    rs_bench_fill(matrix, result->bytes / options->type.bytes, options->type.bytes);
    restride_status status = rs_bench_upload(transfer, buffer, matrix, result->bytes);
    if (status == RESTRIDE_OK)
        status = restride_execute(plan, buffer);
    if (status == RESTRIDE_OK)
        status = transfer->operations->finish(transfer);
    if (status == RESTRIDE_OK)
        status = rs_bench_download(transfer, matrix, buffer, result->bytes);
    if (status == RESTRIDE_OK)
        status = rs_bench_verify(matrix, result->rows, result->cols, options->type.bytes,
                                 options->batch);
    return status;
}

static restride_status time_on_device(bench_result *result, const bench_options *options,
                                      restride_engine *engine, restride_plan *plan,
                                      unsigned char *matrix)
{
    rs_transfer *transfer = NULL;
    void *buffer = NULL;
    rs_bench_times times = {0};
    restride_status status = rs_transfer_open(engine, &transfer);
    if (status != RESTRIDE_OK)
        return status;
    status = transfer->operations->allocate(transfer, result->bytes, &buffer);
    if (status == RESTRIDE_OK)
        status = run_on_device(result, options, transfer, plan, matrix, buffer);
    if (status == RESTRIDE_OK)
        status =
            rs_bench_time_plan(transfer, plan, buffer, result->bytes, options->on.repeat, &times);
    result->seconds = times.seconds;
    result->copy_seconds = times.copy_seconds;
    transfer->operations->release(transfer, buffer);
    transfer->operations->close(transfer);
    return status;
}

static restride_status measure(bench_result *result, const bench_options *options,
                               restride_engine *engine)
{
    unsigned char *matrix = NULL;
    restride_plan *plan = NULL;
    const restride_plan_options wanted = {.method = options->method};
    double start = rs_seconds_now();
    restride_status status = restride_plan_transpose_with(
        &plan, engine, result->rows, result->cols, options->type.bytes, options->batch, &wanted);
    if (status != RESTRIDE_OK)
        return status;
    result->plan_seconds = rs_seconds_now() - start;
    result->bytes = result->rows * result->cols * options->type.bytes * options->batch;
    result->scratch_bytes = restride_plan_scratch_bytes(plan);
    result->plan = rs_bench_describe(plan);
    status = rs_bench_allocate(&matrix, result->bytes, pages_of(options));
    if (status == RESTRIDE_OK && strcmp(options->on.engine, "host") == 0)
        status = time_on_host(result, options, plan, matrix);
    else if (status == RESTRIDE_OK)
        status = time_on_device(result, options, engine, plan, matrix);
    free(matrix);
    restride_plan_destroy(plan);
    return status;
}

/* ---- results ---- */

/* NULL where no other thread took part. */
static json_t *handover_json(const bench_result *result)
{
    const double *seconds = result->handover_seconds;
    return seconds[0] > 0 && seconds[1] > 0
               ? json_pack("[f, f]", 1e9 * seconds[0], 1e9 * seconds[1])
               : NULL;
}

static json_t *result_json(const bench_result *result, const bench_options *options)
{
    return json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:o*, s:f, s:I, s:b, s:O?}", "type",
        options->type.name, "rows", (json_int_t)result->rows, "cols", (json_int_t)result->cols,
        "batch", (json_int_t)options->batch, "bytes", (json_int_t)result->bytes, "threads",
        (json_int_t)options->on.threads, "seconds", result->seconds, "gbps",
        rs_bench_gigabytes(result->bytes, result->seconds), "copy_gbps",
        rs_bench_gigabytes(result->bytes, result->copy_seconds), "ratio",
        result->copy_seconds / result->seconds, "handover_ns", handover_json(result),
        "plan_seconds", result->plan_seconds, "scratch_bytes", (json_int_t)result->scratch_bytes,
        "verified", 1, "plan", result->plan);
}

static void print_row(const bench_result *result, const bench_options *options)
{
    printf("%10zu x %-10zu %5s %8.2f %8.2f %7.3f %9.2f %12zu", result->rows, result->cols,
           options->type.name, rs_bench_gigabytes(result->bytes, result->seconds),
           rs_bench_gigabytes(result->bytes, result->copy_seconds),
           result->copy_seconds / result->seconds, 1e3 * result->plan_seconds,
           result->scratch_bytes);
    rs_bench_print_stages(result->plan);
    fflush(stdout);
}

static void print_heading(const restride_engine *engine, const bench_options *options)
{
    char *device = rs_cli_engine_device(engine);
    if (strcmp(options->on.engine, "host") == 0)
        printf("host, %zu threads", options->on.threads);
    else
        printf("%s, %s", options->on.engine, device != NULL ? device : "a device");
    printf(", median of %zu, every element verified, GB/s\n"
           "%23s %5s %8s %8s %7s %9s %12s  stages\n",
           options->on.repeat, "shape", "type", "in place", "copy", "ratio", "plan ms", "scratch");
    free(device);
}

int rs_bench_transpose(int argc, char **argv)
{
    bench_options options;
    int exit_status = read_options(argc, argv, &options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    rs_bench bench;
    exit_status = rs_bench_begin(&bench, "bench", &options.on);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    if (!options.on.json)
        print_heading(bench.engine, &options);
    restride_status status = RESTRIDE_OK;
    for (const char *text = options.shapes; *text != '\0' && status == RESTRIDE_OK;) {
        bench_result result = {0};
        rs_cli_read_shape(&text, &result.rows, &result.cols);
        status = measure(&result, &options, bench.engine);
        if (status == RESTRIDE_OK && options.on.json)
            json_array_append_new(bench.rows, result_json(&result, &options));
        else if (status == RESTRIDE_OK)
            print_row(&result, &options);
        json_decref(result.plan);
    }
    return rs_bench_end(&bench, status);
}
