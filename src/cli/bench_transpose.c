/* restride bench transpose: the speed of in-place transposition beside that of a copy. */
#include "base/arithmetic.h"
#include "base/text.h"
#include "cli/bench.h"
#include "cli/cli.h"
#include "cli/numbers.h"
#include "cli/progress.h"
#include "restride/restride.h"

#include <getopt.h>
#include <jansson.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char usage[] =
    "usage: restride bench transpose --shape RxC[,RxC...] [OPTIONS]...\n"
    "\n"
    "Times the transposition of a matrix in its own memory. GB/s are 2 x bytes / time; the copy "
    "is\n"
    "a memcpy of the same bytes on the same threads, timed between the transpositions. Every\n"
    "element is checked. Memory is asked for huge pages, for both sides.\n"
    "\n"
    "  --engine host    the only engine that transposes (default)\n"
    "  --shape LIST     rows x columns, for example 7200x1800,1800x7200\n"
    "  --type TYPE      u8, u16, f32, f64, c128, or a number of bytes (default: f32)\n"
    "  --threads N      threads of both sides (default: all processors)\n"
    "  --repeat N       the median of N runs (default: 9)\n"
    "  --method NAME    one method instead of the planner's choice, by the name that --json "
    "prints\n"
    "  --batch N        matrices one after the other (default: 1)\n"
    "  --json           prints JSON, with the stages of each plan\n"
    "\n"
    "Example:\n"
    "  restride bench transpose --engine host --shape 7200x1800,10000x10000 --type f64\n";

enum { DEFAULT_REPEAT = 9, MOST_REPEAT = 10000, MOST_THREADS = 256, PAGE_BYTES = 2 << 20 };

typedef struct {
    const char *shapes;
    size_t unit;
    const char *type;
    size_t threads;
    size_t repeat;
    size_t batch;
    const char *method; /* NULL: the planner's choice */
    bool json;
} bench_options;

/* ---- options ---- */

static bool read_number(const char *text, const char **end, size_t *number)
{
    if (*text < '0' || *text > '9')
        return false;
    char *after;
    unsigned long long value = strtoull(text, &after, 10);
    *end = after;
    *number = (size_t)value;
    return value != 0 && value < SIZE_MAX;
}

static bool read_one(const char *text, size_t most, size_t *number)
{
    return rs_cli_read_count(text, number) && *number > 0 && *number <= most;
}

/* The next of a list of shapes; *text moves behind it. */
static bool read_shape(const char **text, size_t *rows, size_t *cols)
{
    const char *end;
    if (!read_number(*text, &end, rows) || *end != 'x' || !read_number(end + 1, &end, cols) ||
        (*end != ',' && *end != '\0'))
        return false;
    *text = *end == ',' ? end + 1 : end;
    return true;
}

static bool check_shapes(const char *text)
{
    size_t rows;
    size_t cols;
    do {
        if (!read_shape(&text, &rows, &cols))
            return false;
    } while (*text != '\0');
    return true;
}

static int read_options(int argc, char **argv, bench_options *options)
{
    static const struct option names[] = {
        {"engine", required_argument, NULL, 'e'},
        {"shape", required_argument, NULL, 's'},
        {"type", required_argument, NULL, 't'},
        {"threads", required_argument, NULL, 'p'},
        {"repeat", required_argument, NULL, 'n'},
        {"batch", required_argument, NULL, 'b'},
        {"method", required_argument, NULL, 'm'},
        {"json", no_argument, NULL, 'j'},
        {NULL, 0, NULL, 0},
    };
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    *options = (bench_options){.unit = 4,
                               .type = "f32",
                               .threads = online > 0 ? (size_t)online : 1,
                               .repeat = DEFAULT_REPEAT,
                               .batch = 1};
    if (options->threads > MOST_THREADS)
        options->threads = MOST_THREADS;
    optind = 1;
    int option;
    int index = 0;
    while ((option = getopt_long(argc, argv, "", names, &index)) != -1) {
        bool fine = true;
        switch (option) {
        case 'e':
            fine = strcmp(optarg, "host") == 0;
            break;
        case 's':
            options->shapes = optarg;
            fine = check_shapes(optarg);
            break;
        case 't':
            options->type = optarg;
            fine = rs_cli_read_type(optarg, &options->unit) && options->unit < SIZE_MAX;
            break;
        case 'p':
            fine = read_one(optarg, MOST_THREADS, &options->threads);
            break;
        case 'n':
            fine = read_one(optarg, MOST_REPEAT, &options->repeat);
            break;
        case 'b':
            fine = read_one(optarg, SIZE_MAX - 1, &options->batch);
            break;
        case 'm':
            options->method = optarg;
            break;
        case 'j':
            options->json = true;
            break;
        default:
            return RS_EXIT_USAGE;
        }
        if (!fine)
            return rs_cli_fail(RS_EXIT_USAGE, "bench",
                               "--%s cannot be \"%s\"; see restride bench transpose --help.",
                               names[index].name, optarg);
    }
    if (optind < argc)
        return rs_cli_fail(RS_EXIT_USAGE, "bench", "\"%s\" is one argument too many.",
                           argv[optind]);
    if (options->shapes == NULL)
        return rs_cli_fail(RS_EXIT_USAGE, "bench", "Which shape? For example --shape 7200x1800.");
    return RS_EXIT_DONE;
}

/* ---- memory and time ---- */

static restride_status allocate(unsigned char **memory, size_t bytes)
{
    void *pages = NULL;
    size_t whole;
    if (!rs_size_round_up(bytes, PAGE_BYTES, &whole) ||
        posix_memalign(&pages, PAGE_BYTES, whole) != 0)
        return rs_fail_memory("the matrix and its copy");
    madvise(pages, whole, MADV_HUGEPAGE); /* a refusal costs speed alone */
    *memory = pages;
    return RESTRIDE_OK;
}

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, size_t count)
{
    qsort(times, count, sizeof *times, compare_times);
    return times[count / 2];
}

typedef struct {
    unsigned char *target;
    const unsigned char *source;
    size_t bytes;
} copy_part;

static void *copy_one(void *argument)
{
    const copy_part *part = argument;
    memcpy(part->target, part->source, part->bytes);
    return NULL;
}

/* A memcpy in equal parts; a thread that cannot be started leaves its part to the caller. */
static void copy_all(unsigned char *target, const unsigned char *source, size_t bytes,
                     size_t threads)
{
    copy_part parts[MOST_THREADS];
    pthread_t started[MOST_THREADS];
    bool running[MOST_THREADS] = {false};
    for (size_t i = threads; i-- > 0;) {
        size_t begin = bytes / threads * i;
        size_t end = i + 1 == threads ? bytes : bytes / threads * (i + 1);
        parts[i] = (copy_part){target + begin, source + begin, end - begin};
        running[i] = i > 0 && pthread_create(&started[i], NULL, copy_one, &parts[i]) == 0;
        if (!running[i])
            copy_one(&parts[i]);
    }
    for (size_t i = 1; i < threads; i++)
        if (running[i])
            pthread_join(started[i], NULL);
}

/* ---- one measurement ---- */

typedef struct {
    size_t rows;
    size_t cols;
    size_t bytes;
    double seconds;
    double copy_seconds;
    double plan_seconds;
    size_t scratch_bytes;
    json_t *plan;
} bench_result;

/* Byte k of the element that starts at row i and column j of the matrix before. */
static unsigned char element_byte(size_t element, size_t k)
{
    uint64_t mixed = (element + 1) * 0x9E3779B97F4A7C15u;
    return (unsigned char)((mixed ^ (mixed >> 29)) >> (8 * (k % 8)));
}

static void fill(unsigned char *matrix, size_t elements, size_t unit)
{
    for (size_t e = 0; e < elements; e++)
        for (size_t k = 0; k < unit; k++)
            matrix[e * unit + k] = element_byte(e, k);
}

static restride_status verify(const unsigned char *matrix, const bench_result *result,
                              const bench_options *options)
{
    size_t area = result->rows * result->cols;
    const unsigned char *byte = matrix;
    for (size_t b = 0; b < options->batch; b++)
        for (size_t j = 0; j < result->cols; j++)
            for (size_t i = 0; i < result->rows; i++)
                for (size_t k = 0; k < options->unit; k++)
                    if (*byte++ != element_byte(b * area + i * result->cols + j, k))
                        return rs_fail(RESTRIDE_DEVICE_ERROR,
                                       "After transposing %zu x %zu, row %zu, column %zu is wrong; "
                                       "please report this shape.",
                                       result->rows, result->cols, j, i);
    return RESTRIDE_OK;
}

/* The first run is checked and not timed; then the matrix goes on as if it had the old shape again,
 * which takes the same time. */
static restride_status time_runs(bench_result *result, const bench_options *options,
                                 restride_plan *plan, unsigned char *matrix, unsigned char *copy)
{
    double *times = calloc(2 * options->repeat, sizeof *times);
    if (times == NULL)
        return rs_fail_memory("the times");
    fill(matrix, result->bytes / options->unit, options->unit);
    restride_status status = restride_execute(plan, matrix);
    if (status == RESTRIDE_OK)
        status = verify(matrix, result, options);
    copy_all(copy, matrix, result->bytes, options->threads);
    for (size_t i = 0; i < options->repeat && status == RESTRIDE_OK; i++) {
        double start = rs_cli_now();
        status = restride_execute(plan, matrix);
        double middle = rs_cli_now();
        copy_all(copy, matrix, result->bytes, options->threads);
        times[i] = middle - start;
        times[options->repeat + i] = rs_cli_now() - middle;
    }
    result->seconds = median(times, options->repeat);
    result->copy_seconds = median(times + options->repeat, options->repeat);
    free(times);
    return status;
}

static restride_status measure(bench_result *result, const bench_options *options,
                               restride_engine *engine)
{
    unsigned char *matrix = NULL;
    unsigned char *copy = NULL;
    restride_plan *plan = NULL;
    const restride_plan_options wanted = {.method = options->method};
    double start = rs_cli_now();
    restride_status status = restride_plan_transpose_with(&plan, engine, result->rows, result->cols,
                                                          options->unit, options->batch, &wanted);
    if (status != RESTRIDE_OK)
        return status;
    result->plan_seconds = rs_cli_now() - start;
    result->bytes = result->rows * result->cols * options->unit * options->batch;
    result->scratch_bytes = restride_plan_scratch_bytes(plan);
    char *text = restride_plan_describe(plan);
    result->plan = text == NULL ? NULL : json_loads(text, 0, NULL);
    free(text);
    status = allocate(&matrix, result->bytes);
    if (status == RESTRIDE_OK)
        status = allocate(&copy, result->bytes);
    if (status == RESTRIDE_OK)
        status = time_runs(result, options, plan, matrix, copy);
    free(matrix);
    free(copy);
    restride_plan_destroy(plan);
    return status;
}

/* ---- results ---- */

static double gigabytes_a_second(const bench_result *result, double seconds)
{
    return seconds > 0 ? 2.0 * (double)result->bytes / seconds * 1e-9 : 0;
}

static json_t *result_json(const bench_result *result, const bench_options *options)
{
    return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:I, s:b, s:O?}",
                     "type", options->type, "rows", (json_int_t)result->rows, "cols",
                     (json_int_t)result->cols, "batch", (json_int_t)options->batch, "bytes",
                     (json_int_t)result->bytes, "threads", (json_int_t)options->threads, "seconds",
                     result->seconds, "gbps", gigabytes_a_second(result, result->seconds),
                     "copy_gbps", gigabytes_a_second(result, result->copy_seconds), "ratio",
                     result->copy_seconds / result->seconds, "plan_seconds", result->plan_seconds,
                     "scratch_bytes", (json_int_t)result->scratch_bytes, "verified", 1, "plan",
                     result->plan);
}

static void print_stages(const bench_result *result)
{
    const json_t *stages = json_object_get(result->plan, "stages");
    for (size_t i = 0; i < json_array_size(stages); i++)
        printf("%s%s", i > 0 ? ", " : "  ",
               json_string_value(json_object_get(json_array_get(stages, i), "name")));
    putchar('\n');
}

static void print_row(const bench_result *result, const bench_options *options)
{
    printf("%10zu x %-10zu %5s %8.2f %8.2f %7.3f %9.2f %12zu", result->rows, result->cols,
           options->type, gigabytes_a_second(result, result->seconds),
           gigabytes_a_second(result, result->copy_seconds), result->copy_seconds / result->seconds,
           1e3 * result->plan_seconds, result->scratch_bytes);
    print_stages(result);
    fflush(stdout);
}

int rs_bench_transpose(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            fputs(usage, stdout);
            return RS_EXIT_DONE;
        }
    bench_options options;
    int exit_status = read_options(argc, argv, &options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    restride_engine *engine;
    if (restride_engine_create_host(&engine, (int)options.threads) != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, "bench");
    json_t *rows = json_array();
    if (!options.json)
        printf("host, %zu threads, median of %zu, every element verified, GB/s\n"
               "%23s %5s %8s %8s %7s %9s %12s  stages\n",
               options.threads, options.repeat, "shape", "type", "in place", "copy", "ratio",
               "plan ms", "scratch");
    restride_status status = RESTRIDE_OK;
    for (const char *text = options.shapes; *text != '\0' && status == RESTRIDE_OK;) {
        bench_result result = {0};
        read_shape(&text, &result.rows, &result.cols);
        status = measure(&result, &options, engine);
        if (status == RESTRIDE_OK && options.json)
            json_array_append_new(rows, result_json(&result, &options));
        else if (status == RESTRIDE_OK)
            print_row(&result, &options);
        json_decref(result.plan);
    }
    restride_engine_destroy(engine);
    if (status != RESTRIDE_OK) {
        exit_status = rs_cli_fail_last(RS_EXIT_FAILED, "bench");
    } else if (options.json) {
        json_t *report = json_pack("{s:s, s:I, s:O}", "engine", "host", "repeat",
                                   (json_int_t)options.repeat, "results", rows);
        json_dumpf(report, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
        putchar('\n');
        json_decref(report);
    }
    json_decref(rows);
    return exit_status;
}
