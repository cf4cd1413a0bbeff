/* restride bench transfer: arrays of structures that become ASTA on the way to a device, and AoS on
 * the way back, beside plain copies of the same bytes. */
#include "cli/bench.h"
#include "console/bench_device.h"
#include "console/fail.h"
#include "console/options.h"
#include "console/progress.h"
#include "layout/layout.h"
#include "restride/transfer.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 32, WORD_BYTES = 4 };

typedef struct {
    rs_bench_options on;
    size_t words[MOST_WORDS];
    int word_count;
    size_t tile;
    size_t bytes;
    size_t chunk;
    bool pageable;
} transfer_options;

static bool take_words(const char *value, void *into)
{
    transfer_options *options = into;
    if (!rs_cli_read_list(value, ',', MOST_WORDS, options->words, &options->word_count))
        return false;
    for (int i = 0; i < options->word_count; i++)
        if (options->words[i] == 0)
            return false;
    return true;
}

static int read_options(int argc, char **argv, transfer_options *options)
{
    static const rs_cli_option table[] = {
        RS_BENCH_DEVICE_OPTIONS(transfer_options),
        {RS_CLI_WHOLE("words", take_words)},
        {RS_CLI_COUNT("tile", transfer_options, tile, 1, SIZE_MAX)},
        {RS_CLI_BYTES("bytes", transfer_options, bytes, 1, SIZE_MAX)},
        {RS_CLI_BYTES("chunk", transfer_options, chunk, 0, SIZE_MAX)},
        {RS_CLI_FLAG("pageable", transfer_options, pageable)},
        {0},
    };
    *options = (transfer_options){.on = RS_BENCH_DEVICE_DEFAULTS,
                                  .words = {8},
                                  .word_count = 1,
                                  .tile = RS_LAYOUT_TILE,
                                  .bytes = (size_t)64 << 20};
    return rs_cli_read_only_options("bench transfer", argc, argv, table, options);
}

/* ---- measuring ---- */

/* A way: with the conversion, and plainly. */
typedef struct {
    double *seconds;
    double *plain_seconds;
} way_times;

typedef struct {
    const transfer_options *options;
    restride_engine *engine;
    rs_transfer *lanes;
    restride_transfer *transfer;
    size_t words;
    size_t count; /* of records */
    size_t bytes;
    unsigned char *array;
    unsigned char *other;
    void *buffer;
} words_bench;

static restride_status verify(const words_bench *b)
{
    size_t tile = b->options->tile;
    rs_bench_fill(b->array, b->count * b->words, WORD_BYTES);
    restride_status status = restride_transfer_upload(b->transfer, b->buffer, b->array);
    if (status == RESTRIDE_OK)
        status = rs_bench_download(b->lanes, b->other, b->buffer, b->bytes);
    /* A tile of AoS is a matrix, and that of ASTA the same matrix transposed. */
    if (status == RESTRIDE_OK)
        status = rs_bench_verify(b->other, tile, b->words, WORD_BYTES, b->count / tile);
    if (status == RESTRIDE_OK)
        status = restride_transfer_download(b->transfer, b->other, b->buffer);
    if (status == RESTRIDE_OK && memcmp(b->array, b->other, b->bytes) != 0)
        status = rs_fail(RESTRIDE_DEVICE_ERROR,
                         "An array of %zu words a record came back changed; please report this.",
                         b->words);
    return status;
}

static restride_status time_ways(const words_bench *b, way_times ways[2])
{
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; i < b->options->on.repeat && status == RESTRIDE_OK; i++) {
        double times[5] = {rs_seconds_now()};
        status = restride_transfer_upload(b->transfer, b->buffer, b->array);
        times[1] = rs_seconds_now();
        if (status == RESTRIDE_OK)
            status = rs_bench_upload(b->lanes, b->buffer, b->array, b->bytes);
        times[2] = rs_seconds_now();
        if (status == RESTRIDE_OK)
            status = restride_transfer_download(b->transfer, b->other, b->buffer);
        times[3] = rs_seconds_now();
        if (status == RESTRIDE_OK)
            status = rs_bench_download(b->lanes, b->other, b->buffer, b->bytes);
        times[4] = rs_seconds_now();
        for (int w = 0; w < 2; w++) {
            ways[w].seconds[i] = times[2 * w + 1] - times[2 * w];
            ways[w].plain_seconds[i] = times[2 * w + 2] - times[2 * w + 1];
        }
    }
    return status;
}

static void report(const words_bench *b, const way_times ways[2], json_t *results)
{
    double rates[4];
    size_t repeat = b->options->on.repeat;
    for (int w = 0; w < 2; w++) {
        rates[2 * w] = (double)b->bytes * 1e-9 / rs_seconds_median(ways[w].seconds, repeat);
        rates[2 * w + 1] =
            (double)b->bytes * 1e-9 / rs_seconds_median(ways[w].plain_seconds, repeat);
    }
    if (b->options->on.json)
        json_array_append_new(
            results,
            json_pack("{s:I, s:I, s:I, s:b, s:f, s:f, s:f, s:f, s:f, s:f, s:I, s:b}", "words",
                      (json_int_t)b->words, "tile", (json_int_t)b->options->tile, "bytes",
                      (json_int_t)b->bytes, "pinned", !b->options->pageable, "up_gbps", rates[0],
                      "up_plain_gbps", rates[1], "up_ratio", rates[0] / rates[1], "down_gbps",
                      rates[2], "down_plain_gbps", rates[3], "down_ratio", rates[2] / rates[3],
                      "staging_bytes", (json_int_t)restride_transfer_staging_bytes(b->transfer),
                      "verified", 1));
    else
        printf("%5zu %5zu %12zu %8.2f %8.2f %6.3f %8.2f %8.2f %6.3f\n", b->words, b->options->tile,
               b->bytes, rates[0], rates[1], rates[0] / rates[1], rates[2], rates[3],
               rates[2] / rates[3]);
    fflush(stdout);
}

static restride_status verify_and_time(const words_bench *b, json_t *results)
{
    restride_status status = verify(b);
    if (status != RESTRIDE_OK)
        return status;
    double *times = calloc(4 * b->options->on.repeat, sizeof *times);
    if (times == NULL)
        return rs_fail_memory("the times of a benchmark");
    way_times ways[2];
    for (size_t w = 0; w < 2; w++)
        ways[w] = (way_times){times + 2 * w * b->options->on.repeat,
                              times + (2 * w + 1) * b->options->on.repeat};
    status = time_ways(b, ways);
    if (status == RESTRIDE_OK)
        report(b, ways, results);
    free(times);
    return status;
}

static restride_status create_transfer(words_bench *b)
{
    char dims[96];
    char asta[64];
    restride_layout *host = NULL;
    restride_layout *device = NULL;
    const restride_transfer_options wanted = {!b->options->pageable, b->options->chunk};
    snprintf(dims, sizeof dims, "i:%zu f{ float x[%zu]; }", b->count, b->words);
    snprintf(asta, sizeof asta, "i/%zu f i%%%zu", b->options->tile, b->options->tile);
    restride_status status = restride_layout_parse(&host, dims, "i f");
    if (status == RESTRIDE_OK)
        status = restride_layout_parse(&device, dims, asta);
    if (status == RESTRIDE_OK)
        status = restride_transfer_create(&b->transfer, b->engine, host, device, 0, &wanted);
    restride_layout_destroy(host);
    restride_layout_destroy(device);
    return status;
}

/* Two arrays on the host: what goes up and what comes back. */
static restride_status allocate(words_bench *b, restride_host_memory *memories[2])
{
    unsigned char **arrays[] = {&b->array, &b->other};
    for (int i = 0; i < 2; i++) {
        if (b->options->pageable) {
            *arrays[i] = malloc(b->bytes);
            if (*arrays[i] == NULL)
                return rs_fail_memory("two arrays");
            continue;
        }
        restride_status status = restride_host_memory_create(&memories[i], b->engine, b->bytes);
        if (status != RESTRIDE_OK)
            return status;
        *arrays[i] = restride_host_memory_pointer(memories[i]);
    }
    return b->lanes->operations->allocate(b->lanes, b->bytes, &b->buffer);
}

static restride_status measure(const transfer_options *options, restride_engine *engine,
                               size_t words, json_t *results)
{
    size_t tile_bytes = words * options->tile * WORD_BYTES;
    size_t tiles = options->bytes / tile_bytes > 0 ? options->bytes / tile_bytes : 1;
    words_bench b = {.options = options,
                     .engine = engine,
                     .words = words,
                     .count = tiles * options->tile,
                     .bytes = tiles * tile_bytes};
    restride_host_memory *memories[2] = {NULL, NULL};
    restride_status status = rs_transfer_open(engine, &b.lanes);
    if (status != RESTRIDE_OK)
        return status;
    status = create_transfer(&b);
    if (status == RESTRIDE_OK)
        status = allocate(&b, memories);
    if (status == RESTRIDE_OK)
        status = verify_and_time(&b, results);
    restride_transfer_destroy(b.transfer);
    b.lanes->operations->release(b.lanes, b.buffer);
    b.lanes->operations->close(b.lanes);
    if (options->pageable) {
        free(b.array);
        free(b.other);
    }
    restride_host_memory_destroy(memories[0]);
    restride_host_memory_destroy(memories[1]);
    return status;
}

int rs_bench_transfer(int argc, char **argv)
{
    transfer_options options;
    int exit_status = read_options(argc, argv, &options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    rs_bench bench;
    exit_status = rs_bench_begin(&bench, "bench", &options.on);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    if (!options.on.json)
        printf("%5s %5s %12s %8s %8s %6s %8s %8s %6s\n", "words", "tile", "bytes", "up GB/s",
               "plain", "ratio", "down", "plain", "ratio");
    restride_status status = RESTRIDE_OK;
    for (int i = 0; i < options.word_count && status == RESTRIDE_OK; i++)
        status = measure(&options, bench.engine, options.words[i], bench.rows);
    return rs_bench_end(&bench, status);
}
