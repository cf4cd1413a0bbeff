/* restride bench permute: the speed of permutations of a tensor's axes beside that of a copy. */
#include "base/arithmetic.h"
#include "cli/bench.h"
#include "console/fail.h"
#include "console/options.h"
#include "console/progress.h"
#include "restride/restride.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEFAULT_REPEAT = 9, MOST_REPEAT = 10000, MOST_RANK = 10 };

typedef struct {
    int rank;
    size_t dims[MOST_RANK];
    char reversed[MOST_RANK + 1];
    const char *orders;
    rs_cli_type type;
    rs_bench_options on;
} bench_options;

/* ---- options ---- */

static bool take_dims(const char *text, void *into)
{
    bench_options *options = into;
    if (!rs_cli_read_list(text, 'x', MOST_RANK, options->dims, &options->rank))
        return false;
    for (int axis = 0; axis < options->rank; axis++) {
        if (options->dims[axis] == 0)
            return false;
        options->reversed[axis] = (char)('0' + options->rank - 1 - axis);
    }
    options->reversed[options->rank] = '\0';
    return true;
}

static bool check_orders(const bench_options *options)
{
    int permutation[MOST_RANK];
    for (const char *text = options->orders; *text != '\0';)
        if (!rs_cli_read_axes(&text, options->rank, permutation))
            return false;
    return true;
}

static int check_options(bench_options *options)
{
    if (options->rank == 0)
        return rs_cli_fail(RS_EXIT_USAGE, "bench", "Which sizes? For example --dims 64x56x56x64.");
    if (options->orders == NULL)
        options->orders = options->reversed;
    if (check_orders(options))
        return RS_EXIT_DONE;
    return rs_cli_fail(RS_EXIT_USAGE, "bench",
                       "--axes cannot be \"%s\": each order names each of the %d axes once, as a "
                       "digit; see restride bench permute --help.",
                       options->orders, options->rank);
}

static int read_options(int argc, char **argv, bench_options *options)
{
    static const rs_cli_option table[] = {
        {RS_CLI_WHOLE("dims", take_dims)},
        {RS_CLI_TEXT("axes", bench_options, orders)},
        {RS_CLI_OWN("type", bench_options, type, rs_cli_take_type)},
        {RS_CLI_COUNT("threads", bench_options, on.threads, 1, RS_BENCH_MOST_THREADS)},
        {RS_CLI_COUNT("repeat", bench_options, on.repeat, 1, MOST_REPEAT)},
        {RS_CLI_FLAG("json", bench_options, on.json)},
        {0},
    };
    *options = (bench_options){
        .type = {"f32", 4},
        .on = {.engine = "host", .threads = rs_bench_all_threads(), .repeat = DEFAULT_REPEAT}};
    int exit_status = rs_cli_read_only_options("bench permute", argc, argv, table, options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    return check_options(options);
}

/* ---- one measurement ---- */

typedef struct {
    int permutation[MOST_RANK];
    size_t elements;
    size_t bytes;
    rs_bench_times times;
    double plan_seconds;
    size_t scratch_bytes;
    json_t *plan;
} bench_result;

static restride_status count_bytes(bench_result *result, const bench_options *options)
{
    result->elements = 1;
    bool fits = true;
    for (int axis = 0; axis < options->rank; axis++)
        fits = fits && rs_size_multiply(result->elements, options->dims[axis], &result->elements);
    if (fits && rs_size_multiply(result->elements, options->type.bytes, &result->bytes))
        return RESTRIDE_OK;
    return rs_fail(RESTRIDE_OVERFLOW, "The tensor has more bytes than a size can hold.");
}

/* Reads the result in order; `index` and `from`, the place before, advance with it. */
static restride_status verify(const unsigned char *bytes, const bench_result *result,
                              const bench_options *options)
{
    size_t strides[MOST_RANK];
    size_t stride = 1;
    for (int axis = options->rank - 1; axis >= 0; axis--) {
        strides[axis] = stride;
        stride *= options->dims[axis];
    }
    size_t index[MOST_RANK] = {0};
    size_t from = 0;
    for (size_t e = 0; e < result->elements; e++) {
        if (!rs_bench_is_element(bytes + e * options->type.bytes, from, options->type.bytes))
            return rs_fail(RESTRIDE_DEVICE_ERROR,
                           "Element %zu of the permuted tensor is wrong; please report these sizes "
                           "and axes.",
                           e);
        for (int k = options->rank - 1; k >= 0; k--) {
            int axis = result->permutation[k];
            from += strides[axis];
            if (++index[k] < options->dims[axis])
                break;
            from -= index[k] * strides[axis];
            index[k] = 0;
        }
    }
    return RESTRIDE_OK;
}

/* The first run is checked and not timed. */
static restride_status time_plan(bench_result *result, const bench_options *options,
                                 restride_plan *plan)
{
    unsigned char *tensor = NULL;
    restride_status status = rs_bench_allocate(&tensor, result->bytes, RS_BENCH_HUGE_PAGES);
    if (status != RESTRIDE_OK)
        return status;
    rs_bench_fill(tensor, result->elements, options->type.bytes);
    status = restride_execute(plan, tensor);
    if (status == RESTRIDE_OK)
        status = verify(tensor, result, options);
    if (status == RESTRIDE_OK)
        status = rs_bench_time_host(plan, tensor, result->bytes, RS_BENCH_HUGE_PAGES,
                                    options->on.threads, options->on.repeat, &result->times);
    free(tensor);
    return status;
}

static restride_status measure(bench_result *result, const bench_options *options,
                               restride_engine *engine)
{
    restride_plan *plan = NULL;
    restride_status status = count_bytes(result, options);
    if (status != RESTRIDE_OK)
        return status;
    double start = rs_seconds_now();
    status = restride_plan_permute(&plan, engine, options->rank, options->dims, result->permutation,
                                   options->type.bytes);
    if (status != RESTRIDE_OK)
        return status;
    result->plan_seconds = rs_seconds_now() - start;
    result->scratch_bytes = restride_plan_scratch_bytes(plan);
    result->plan = rs_bench_describe(plan);
    status = time_plan(result, options, plan);
    restride_plan_destroy(plan);
    return status;
}

/* ---- results ---- */

static json_t *numbers_json(int rank, const size_t numbers[])
{
    json_t *array = json_array();
    for (int i = 0; i < rank; i++)
        json_array_append_new(array, json_integer((json_int_t)numbers[i]));
    return array;
}

static json_t *result_json(const bench_result *result, const bench_options *options)
{
    size_t axes[MOST_RANK];
    for (int k = 0; k < options->rank; k++)
        axes[k] = (size_t)result->permutation[k];
    return json_pack("{s:s, s:o, s:o, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:I, s:b, s:O?}", "type",
                     options->type.name, "dims", numbers_json(options->rank, options->dims), "axes",
                     numbers_json(options->rank, axes), "bytes", (json_int_t)result->bytes,
                     "threads", (json_int_t)options->on.threads, "seconds", result->times.seconds,
                     "gbps", rs_bench_gigabytes(result->bytes, result->times.seconds), "copy_gbps",
                     rs_bench_gigabytes(result->bytes, result->times.copy_seconds), "ratio",
                     result->times.copy_seconds / result->times.seconds, "plan_seconds",
                     result->plan_seconds, "scratch_bytes", (json_int_t)result->scratch_bytes,
                     "verified", 1, "plan", result->plan);
}

static void print_heading(const bench_options *options)
{
    printf("host, %zu threads, ", options->on.threads);
    for (int axis = 0; axis < options->rank; axis++)
        printf("%s%zu", axis > 0 ? " x " : "", options->dims[axis]);
    printf(" %s, median of %zu, every element verified, GB/s\n"
           "%10s %8s %8s %7s %9s %12s  stages\n",
           options->type.name, options->on.repeat, "axes", "in place", "copy", "ratio", "plan ms",
           "scratch");
}

static void print_row(const bench_result *result, const bench_options *options)
{
    char order[MOST_RANK + 1] = "";
    for (int k = 0; k < options->rank; k++)
        order[k] = (char)('0' + result->permutation[k]);
    printf("%10s %8.2f %8.2f %7.3f %9.2f %12zu", order,
           rs_bench_gigabytes(result->bytes, result->times.seconds),
           rs_bench_gigabytes(result->bytes, result->times.copy_seconds),
           result->times.copy_seconds / result->times.seconds, 1e3 * result->plan_seconds,
           result->scratch_bytes);
    rs_bench_print_stages(result->plan);
    fflush(stdout);
}

int rs_bench_permute(int argc, char **argv)
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
        print_heading(&options);
    restride_status status = RESTRIDE_OK;
    for (const char *text = options.orders; *text != '\0' && status == RESTRIDE_OK;) {
        bench_result result = {0};
        rs_cli_read_axes(&text, options.rank, result.permutation);
        status = measure(&result, &options, bench.engine);
        if (status == RESTRIDE_OK && options.on.json)
            json_array_append_new(bench.rows, result_json(&result, &options));
        else if (status == RESTRIDE_OK)
            print_row(&result, &options);
        json_decref(result.plan);
    }
    return rs_bench_end(&bench, status);
}
