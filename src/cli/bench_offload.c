/* restride bench offload: matrices in host memory, transposed in place through a device. */
#include "base/arithmetic.h"
#include "cli/bench.h"
#include "console/bench_device.h"
#include "console/fail.h"
#include "console/options.h"
#include "console/progress.h"
#include "restride/transfer.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUS_RUNS = 5, MOST_SHAPES = 32, MOST_PARTS = 16 };

typedef struct {
    rs_bench_options on;
    size_t shapes[MOST_SHAPES][2];
    size_t shape_count;
    rs_cli_type type;
    size_t parts[MOST_PARTS];
    int parts_count;
    bool pageable;
} offload_options;

static bool take_shape(const char *text, void *into)
{
    offload_options *options = into;
    size_t *sides = options->shapes[options->shape_count];
    int count;
    size_t elements;
    if (options->shape_count == MOST_SHAPES || !rs_cli_read_list(text, 'x', 2, sides, &count) ||
        count != 2 || !rs_size_multiply(sides[0], sides[1], &elements) || elements == 0)
        return false;
    options->shape_count++;
    return true;
}

static bool take_parts(const char *text, void *into)
{
    offload_options *options = into;
    return rs_cli_read_list(text, ',', MOST_PARTS, options->parts, &options->parts_count);
}

static int read_options(int argc, char **argv, offload_options *options)
{
    static const rs_cli_option table[] = {
        RS_BENCH_DEVICE_OPTIONS(offload_options),
        {RS_CLI_WHOLE("shape", take_shape)},
        {RS_CLI_OWN("type", offload_options, type, rs_cli_take_type)},
        {RS_CLI_WHOLE("parts", take_parts)},
        {RS_CLI_FLAG("pageable", offload_options, pageable)},
        {0},
    };
    *options =
        (offload_options){.on = RS_BENCH_DEVICE_DEFAULTS, .type = {"f32", 4}, .parts_count = 1};
    int exit_status = rs_cli_read_only_options("bench offload", argc, argv, table, options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    if (options->shape_count == 0)
        return rs_cli_fail(RS_EXIT_USAGE, "bench", "Which shape? For example --shape 7200x1800.");
    return RS_EXIT_DONE;
}

/* ---- measuring ---- */

typedef struct {
    const offload_options *options;
    restride_engine *engine;
    size_t rows;
    size_t cols;
    size_t bytes;
    unsigned char *matrix;
    double up_seconds; /* of a plain copy */
    double down_seconds;
    double none_seconds; /* without overlap: what the others are compared with */
    json_t *results;
} shape_bench;

static const char *const overlap_names[] = {"chosen", "none", "back", "both"};

/* Plain copies of the same bytes, both ways. */
static restride_status time_bus(shape_bench *b)
{
    rs_transfer *transfer;
    void *buffer = NULL;
    double up[BUS_RUNS];
    double down[BUS_RUNS];
    restride_status status = rs_transfer_open(b->engine, &transfer);
    if (status != RESTRIDE_OK)
        return status;
    status = transfer->operations->allocate(transfer, b->bytes, &buffer);
    for (int i = -1; i < BUS_RUNS && status == RESTRIDE_OK; i++) {
        int place = i < 0 ? 0 : i; /* the first warms up */
        double start = rs_seconds_now();
        status = rs_bench_upload(transfer, buffer, b->matrix, b->bytes);
        double middle = rs_seconds_now();
        if (status == RESTRIDE_OK)
            status = rs_bench_download(transfer, b->matrix, buffer, b->bytes);
        up[place] = middle - start;
        down[place] = rs_seconds_now() - middle;
    }
    b->up_seconds = rs_seconds_median(up, BUS_RUNS);
    b->down_seconds = rs_seconds_median(down, BUS_RUNS);
    transfer->operations->release(transfer, buffer);
    transfer->operations->close(transfer);
    return status;
}

static restride_status time_offload(const shape_bench *b, restride_offload *offload,
                                    double *seconds)
{
    size_t unit = b->options->type.bytes;
    double *times = calloc(b->options->on.repeat, sizeof *times);
    if (times == NULL)
        return rs_fail_memory("the times of a benchmark");
    rs_bench_fill(b->matrix, b->rows * b->cols, unit);
    restride_status status = restride_offload_run(offload, b->matrix);
    if (status == RESTRIDE_OK)
        status = rs_bench_verify(b->matrix, b->rows, b->cols, unit, 1);
    for (size_t i = 0; i < b->options->on.repeat && status == RESTRIDE_OK; i++) {
        double start = rs_seconds_now();
        status = restride_offload_run(offload, b->matrix);
        times[i] = rs_seconds_now() - start;
    }
    *seconds = rs_seconds_median(times, b->options->on.repeat);
    free(times);
    return status;
}

static double gigabytes_a_second(double bytes, double seconds)
{
    return seconds > 0 ? bytes / seconds * 1e-9 : 0;
}

static void report(const shape_bench *b, const restride_offload *offload, double seconds)
{
    const char *overlap = overlap_names[restride_offload_overlap(offload)];
    size_t parts = restride_offload_parts(offload);
    double bytes = (double)b->bytes;
    double rate = gigabytes_a_second(2 * bytes, seconds);
    double speedup = b->none_seconds / seconds;
    if (b->options->on.json) {
        json_array_append_new(
            b->results,
            json_pack(
                "{s:I, s:I, s:s, s:I, s:b, s:s, s:I, s:f, s:f, s:f, s:f, s:f, s:b}", "rows",
                (json_int_t)b->rows, "cols", (json_int_t)b->cols, "type", b->options->type.name,
                "bytes", (json_int_t)b->bytes, "pinned", !b->options->pageable, "overlap", overlap,
                "parts", (json_int_t)parts, "seconds", seconds, "gbps", rate, "up_gbps",
                gigabytes_a_second(bytes, b->up_seconds), "down_gbps",
                gigabytes_a_second(bytes, b->down_seconds), "speedup", speedup, "verified", 1));
        return;
    }
    printf("%10zu x %-10zu %5s %8s %6zu %9.2f %9.2f %9.2f %9.2f %8.2f\n", b->rows, b->cols,
           b->options->type.name, overlap, parts, 1e3 * seconds, rate,
           gigabytes_a_second(bytes, b->up_seconds), gigabytes_a_second(bytes, b->down_seconds),
           speedup);
    fflush(stdout);
}

/* An overlap that does not suit the shape is left out. */
static restride_status measure(shape_bench *b, restride_overlap overlap, size_t parts)
{
    const restride_offload_options wanted = {overlap, parts};
    restride_offload *offload;
    double seconds = 0;
    restride_status status = restride_offload_transpose(&offload, b->engine, b->rows, b->cols,
                                                        b->options->type.bytes, &wanted);
    if (status == RESTRIDE_UNSUPPORTED && overlap != RESTRIDE_OVERLAP_NONE)
        return RESTRIDE_OK;
    if (status != RESTRIDE_OK)
        return status;
    status = time_offload(b, offload, &seconds);
    if (overlap == RESTRIDE_OVERLAP_NONE)
        b->none_seconds = seconds;
    if (status == RESTRIDE_OK)
        report(b, offload, seconds);
    restride_offload_destroy(offload);
    return status;
}

static restride_status measure_overlaps(shape_bench *b)
{
    restride_status status = time_bus(b);
    if (status == RESTRIDE_OK)
        status = measure(b, RESTRIDE_OVERLAP_NONE, 0);
    for (int overlap = RESTRIDE_OVERLAP_BACK; overlap <= RESTRIDE_OVERLAP_BOTH; overlap++)
        for (int q = 0; q < b->options->parts_count && status == RESTRIDE_OK; q++)
            status = measure(b, (restride_overlap)overlap, b->options->parts[q]);
    return status;
}

static restride_status measure_shape(const offload_options *options, restride_engine *engine,
                                     const size_t sides[2], json_t *results)
{
    shape_bench b = {.options = options,
                     .engine = engine,
                     .rows = sides[0],
                     .cols = sides[1],
                     .results = results};
    if (!rs_size_multiply(sides[0] * sides[1], options->type.bytes, &b.bytes))
        return rs_fail(RESTRIDE_OVERFLOW, "%zu x %zu elements are more than memory.", sides[0],
                       sides[1]);
    restride_host_memory *memory = NULL;
    restride_status status = RESTRIDE_OK;
    if (options->pageable) {
        b.matrix = malloc(b.bytes);
        status = b.matrix != NULL ? RESTRIDE_OK : rs_fail_memory("the matrix");
    } else {
        status = restride_host_memory_create(&memory, engine, b.bytes);
        b.matrix = status == RESTRIDE_OK ? restride_host_memory_pointer(memory) : NULL;
    }
    if (status == RESTRIDE_OK)
        status = measure_overlaps(&b);
    if (options->pageable)
        free(b.matrix);
    restride_host_memory_destroy(memory);
    return status;
}

int rs_bench_offload(int argc, char **argv)
{
    offload_options options;
    int exit_status = read_options(argc, argv, &options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    rs_bench bench;
    exit_status = rs_bench_begin(&bench, "bench", &options.on);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    if (!options.on.json)
        printf("%23s %5s %8s %6s %9s %9s %9s %9s %8s\n", "shape", "type", "overlap", "parts", "ms",
               "GB/s", "up GB/s", "down GB/s", "speed-up");
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; i < options.shape_count && status == RESTRIDE_OK; i++)
        status = measure_shape(&options, bench.engine, options.shapes[i], bench.rows);
    return rs_bench_end(&bench, status);
}
