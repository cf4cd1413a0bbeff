/* restride bench marshal: the speed of AoS to ASTA and back on a device, beside that of a copy. */
#include "cli/bench.h"
#include "console/fail.h"
#include "console/options.h"
#include "engine/opencl/measure.h"
#include "layout/layout.h"

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_REPEAT = 9, MOST_REPEAT = 100000, BEST_VARIANTS = 3 };

typedef struct {
    const char *device;
    rs_cli_numbers words;
    const char *record;
    rs_cli_numbers tiles;
    size_t bytes;
    size_t repeat;
    bool verify;
    bool sweep;
    bool json;
} bench_options;

/* ---- options ---- */

static int read_options(int argc, char **argv, bench_options *options)
{
    static const rs_cli_option table[] = {
        {RS_CLI_TEXT("device", bench_options, device)},
        {RS_CLI_OWN("words", bench_options, words, rs_cli_take_numbers)},
        {RS_CLI_TEXT("record", bench_options, record)},
        {RS_CLI_OWN("tile", bench_options, tiles, rs_cli_take_numbers)},
        {RS_CLI_BYTES("bytes", bench_options, bytes, 1, SIZE_MAX)},
        {RS_CLI_COUNT("repeat", bench_options, repeat, 1, MOST_REPEAT)},
        {RS_CLI_FLAG("verify", bench_options, verify)},
        {RS_CLI_FLAG("sweep", bench_options, sweep)},
        {RS_CLI_FLAG("json", bench_options, json)},
        {0},
    };
    *options = (bench_options){
        .words = {7, {5, 8, 16, 19, 20, 32, 64}}, .tiles = {1, {32}}, .repeat = DEFAULT_REPEAT};
    return rs_cli_read_only_options("bench marshal", argc, argv, table, options);
}

/* ---- records ---- */

/* The record of `words` words, or of the members given. The text of it goes to *name, to be freed.
 */
static restride_status make_record(const bench_options *options, size_t words, rs_record *record,
                                   char **name)
{
    *record = (rs_record){0};
    rs_text label = RS_TEXT_EMPTY;
    rs_text dims = RS_TEXT_EMPTY;
    if (options->record != NULL) {
        rs_text_format(&label, "{ %s }", options->record);
        rs_text_format(&dims, "i:1 f{ %s }", options->record);
    } else {
        rs_text_format(&label, "%zu words", words);
        rs_text_format(&dims, "i:1 f{ float x[%zu]; }", words);
    }
    *name = rs_text_take(&label);
    char *text = rs_text_take(&dims);
    restride_layout *layout = NULL;
    restride_status status = RESTRIDE_OK;
    if (*name == NULL || text == NULL)
        status = rs_fail_memory("a record");
    else
        status = restride_layout_parse(&layout, text, "i f");
    if (status == RESTRIDE_OK)
        status = rs_record_copy(record, &layout->dimensions[layout->record].record);
    if (status != RESTRIDE_OK) {
        free(*name);
        *name = NULL;
    }
    restride_layout_destroy(layout);
    free(text);
    return status;
}

/* ---- one measurement ---- */

static double slower_seconds(const rs_marshal_timing *timing)
{
    return timing->to_asta_seconds > timing->to_aos_seconds ? timing->to_asta_seconds
                                                            : timing->to_aos_seconds;
}

static void print_heading(const rs_marshal_bench *bench, const bench_options *options)
{
    printf("%s, %zu bytes, median of %zu%s, GB/s\n", rs_marshal_bench_device(bench),
           rs_marshal_bench_bytes(bench), options->repeat,
           options->verify ? ", every element verified" : "");
    printf("%-12s %5s %9s %9s %9s %6s   %s\n", "record", "tile", "to ASTA", "to AoS", "copy",
           "ratio", "items tiles vector batch row");
}

static void print_row(const char *name, const rs_marshal_timing *timing)
{
    const rs_marshal_shape *shape = &timing->shape;
    printf("%-12s %5zu %9.1f %9.1f %9.1f %6.3f   %5zu %5zu %6zu %5zu %3zu\n", name, shape->tile,
           rs_bench_gigabytes(timing->bytes, timing->to_asta_seconds),
           rs_bench_gigabytes(timing->bytes, timing->to_aos_seconds),
           rs_bench_gigabytes(timing->bytes, timing->copy_seconds),
           timing->copy_seconds / slower_seconds(timing), shape->work_items, shape->tiles,
           shape->components * shape->granule, shape->batch, shape->row);
    fflush(stdout);
}

static json_t *row_json(const char *name, const rs_marshal_timing *timing, bool verified)
{
    const rs_marshal_shape *shape = &timing->shape;
    return json_pack("{s:s, s:I, s:I, s:I, s:f, s:f, s:f, s:b, s:I, s:I, s:I, s:I, s:I}", "record",
                     name, "record_bytes", (json_int_t)shape->record_bytes, "tile",
                     (json_int_t)shape->tile, "bytes", (json_int_t)timing->bytes, "to_asta_seconds",
                     timing->to_asta_seconds, "to_aos_seconds", timing->to_aos_seconds,
                     "copy_seconds", timing->copy_seconds, "verified", verified, "work_items",
                     (json_int_t)shape->work_items, "tiles_per_work_group",
                     (json_int_t)shape->tiles, "vector_bytes",
                     (json_int_t)shape->components * (json_int_t)shape->granule, "batch",
                     (json_int_t)shape->batch, "row_granules", (json_int_t)shape->row);
}

typedef struct {
    rs_marshal_bench *bench;
    const bench_options *options;
    const char *name;
    const rs_record *record;
    size_t tile;
    json_t *rows;
} measurement;

static void report(const measurement *m, const rs_marshal_timing *timing)
{
    if (m->options->json)
        json_array_append_new(m->rows, row_json(m->name, timing, m->options->verify));
    else
        print_row(m->name, timing);
}

static restride_status measure_once(const measurement *m)
{
    rs_marshal_timing timing;
    restride_status status = RESTRIDE_OK;
    if (m->options->verify)
        status = rs_marshal_bench_verify(m->bench, m->record, m->tile, NULL);
    if (status == RESTRIDE_OK)
        status =
            rs_marshal_bench_run(m->bench, m->record, m->tile, NULL, m->options->repeat, &timing);
    if (status == RESTRIDE_OK)
        report(m, &timing);
    return status;
}

/* ---- the sweep ---- */

static bool same_shape(const rs_marshal_shape *a, const rs_marshal_shape *b)
{
    return a->work_items == b->work_items && a->tiles == b->tiles && a->batch == b->batch &&
           a->row == b->row;
}

/* Keeps the best few, fastest first; a shape that is known already is not added again. */
static void keep_best(rs_marshal_timing *best, size_t *count, const rs_marshal_timing *timing)
{
    size_t place = *count;
    for (size_t i = *count; i-- > 0;) {
        if (same_shape(&best[i].shape, &timing->shape))
            return;
        if (slower_seconds(timing) < slower_seconds(&best[i]))
            place = i;
    }
    if (place == BEST_VARIANTS)
        return;
    if (*count < BEST_VARIANTS)
        (*count)++;
    memmove(&best[place + 1], &best[place], (*count - place - 1) * sizeof *best);
    best[place] = *timing;
}

/* Tries every combination; the default comes first, then the best of all. */
static restride_status sweep(const measurement *m)
{
    static const size_t work_items[] = {64, 128, 256, 512};
    static const size_t chunk_bytes[] = {4096, 8192, 12288, 16384, 24576, 40960};
    static const size_t batches[] = {2, 4, 8, 16};
    static const size_t paddings[] = {1, 2};
    rs_marshal_timing best[BEST_VARIANTS];
    size_t count = 0;
    restride_status status = measure_once(m);
    for (size_t w = 0; w < sizeof work_items / sizeof work_items[0]; w++)
        for (size_t c = 0; c < sizeof chunk_bytes / sizeof chunk_bytes[0]; c++)
            for (size_t b = 0; b < sizeof batches / sizeof batches[0]; b++)
                for (size_t p = 0; p < sizeof paddings / sizeof paddings[0]; p++) {
                    size_t tiles = chunk_bytes[c] / (m->tile * m->record->size);
                    size_t trips = (chunk_bytes[c] / 16 + work_items[w] - 1) / work_items[w];
                    bool seen_before = b > 0 && batches[b - 1] >= trips;
                    if (status != RESTRIDE_OK || tiles == 0 || seen_before)
                        continue;
                    const rs_marshal_variant variant = {work_items[w], tiles, 0, batches[b],
                                                        paddings[p]};
                    rs_marshal_timing timing;
                    status = rs_marshal_bench_run(m->bench, m->record, m->tile, &variant,
                                                  m->options->repeat, &timing);
                    if (status == RESTRIDE_OK)
                        keep_best(best, &count, &timing);
                }
    for (size_t i = 0; i < count && status == RESTRIDE_OK; i++)
        report(m, &best[i]);
    return status;
}

/* ---- the verb ---- */

static restride_status measure_all(rs_marshal_bench *bench, const bench_options *options,
                                   json_t *rows)
{
    restride_status status = RESTRIDE_OK;
    size_t records = options->record != NULL ? 1 : options->words.count;
    for (size_t w = 0; w < records && status == RESTRIDE_OK; w++) {
        rs_record record;
        char *name;
        status = make_record(options, options->words.values[w], &record, &name);
        for (size_t t = 0; t < options->tiles.count && status == RESTRIDE_OK; t++) {
            const measurement m = {bench, options, name, &record, options->tiles.values[t], rows};
            status = options->sweep ? sweep(&m) : measure_once(&m);
        }
        rs_record_free(&record);
        free(name);
    }
    return status;
}

int rs_bench_marshal(int argc, char **argv)
{
    bench_options options;
    int exit_status = read_options(argc, argv, &options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    rs_marshal_bench *bench;
    if (rs_marshal_bench_open(&bench, options.device, options.bytes) != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, "bench");
    json_t *rows = json_array();
    if (!options.json)
        print_heading(bench, &options);
    restride_status status = measure_all(bench, &options, rows);
    if (status != RESTRIDE_OK) {
        exit_status = rs_cli_fail_last(RS_EXIT_FAILED, "bench");
    } else if (options.json) {
        exit_status = rs_cli_print_json(
            "bench", json_pack("{s:s, s:I, s:O}", "device", rs_marshal_bench_device(bench),
                               "repeat", (json_int_t)options.repeat, "results", rows));
    }
    json_decref(rows);
    rs_marshal_bench_close(bench);
    return exit_status;
}
