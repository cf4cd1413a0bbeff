/* See bench_device.h. */
#include "console/bench_device.h"

#include "console/fail.h"
#include "console/progress.h"
#include "engine/host/team.h"
#include "engine/stage.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLE_BYTES = 256 << 20, MOST_RUNS = 16 };

static size_t all_threads(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (size_t)online : 1;
}

/* ---- options ---- */

bool rs_bench_take_shapes(const char *text, void *field)
{
    *(const char **)field = text;
    size_t rows;
    size_t cols;
    do {
        if (!rs_cli_read_shape(&text, &rows, &cols))
            return false;
    } while (*text != '\0');
    return true;
}

/* ---- a measurement ---- */

int rs_bench_begin(rs_bench *bench, const char *verb, const rs_bench_options *on)
{
    *bench = (rs_bench){.verb = verb, .on = on};
    if (rs_cli_open_engine(&bench->engine, on->engine, on->device, on->threads) != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, verb);
    bench->rows = json_array();
    return RS_EXIT_DONE;
}

int rs_bench_end(rs_bench *bench, restride_status status)
{
    const rs_bench_options *on = bench->on;
    int exit_status = RS_EXIT_DONE;
    if (status != RESTRIDE_OK)
        exit_status = rs_cli_fail_last(RS_EXIT_FAILED, bench->verb);
    else if (on->json)
        exit_status = rs_cli_print_json(
            bench->verb, json_pack("{s:s, s:o*, s:I, s:O}", "engine", on->engine, "device",
                                   bench->engine->operations->describe_device(bench->engine),
                                   "repeat", (json_int_t)on->repeat, "results", bench->rows));
    json_decref(bench->rows);
    restride_engine_destroy(bench->engine);
    return exit_status;
}

double rs_bench_gigabytes(size_t bytes, double seconds)
{
    return seconds > 0 ? 2e-9 * (double)bytes / seconds : 0;
}

json_t *rs_bench_describe(const restride_plan *plan)
{
    char *text = restride_plan_describe(plan);
    json_t *description = text == NULL ? NULL : json_loads(text, 0, NULL);
    free(text);
    return description;
}

/* ---- patterns ---- */

/* Eight bytes of element `element`, from byte `place` of it on. */
static uint64_t pattern(size_t element, size_t place)
{
    uint64_t mixed = (element + 1) * 0x9e3779b97f4a7c15u + place * 0xbf58476d1ce4e5b9u;
    mixed = (mixed ^ (mixed >> 29)) * 0x94d049bb133111ebu;
    return mixed ^ (mixed >> 32);
}

static void write_element(unsigned char *bytes, size_t element, size_t unit)
{
    for (size_t k = 0; k < unit; k += 8) {
        uint64_t value = pattern(element, k);
        memcpy(bytes + k, &value, unit - k < 8 ? unit - k : 8);
    }
}

bool rs_bench_is_element(const unsigned char *bytes, size_t element, size_t unit)
{
    for (size_t k = 0; k < unit; k += 8) {
        uint64_t value = pattern(element, k);
        if (memcmp(bytes + k, &value, unit - k < 8 ? unit - k : 8) != 0)
            return false;
    }
    return true;
}

typedef struct {
    unsigned char *bytes;
    size_t elements;
    size_t unit;
} filling;

static void fill_part(void *context, const rs_host_member *member)
{
    const filling *f = context;
    size_t begin;
    size_t end;
    rs_host_team_share(member, f->elements, &begin, &end);
    for (size_t e = begin; e < end; e++)
        write_element(f->bytes + e * f->unit, e, f->unit);
}

void rs_bench_fill(unsigned char *bytes, size_t elements, size_t unit)
{
    filling f = {bytes, elements, unit};
    rs_host_team_run(all_threads(), fill_part, &f);
}

typedef struct {
    const unsigned char *bytes;
    size_t rows;
    size_t cols;
    size_t unit;
    size_t batch;
    atomic_size_t first_wrong; /* element of the result */
} checking;

static void check_part(void *context, const rs_host_member *member)
{
    checking *c = context;
    size_t begin;
    size_t end;
    rs_host_team_share(member, c->batch * c->cols, &begin, &end);
    for (size_t row = begin; row < end; row++)
        for (size_t i = 0; i < c->rows; i++) {
            size_t source = row / c->cols * c->rows * c->cols + i * c->cols + row % c->cols;
            size_t place = row * c->rows + i;
            if (rs_bench_is_element(c->bytes + place * c->unit, source, c->unit))
                continue;
            size_t known = atomic_load(&c->first_wrong);
            while (place < known && !atomic_compare_exchange_weak(&c->first_wrong, &known, place))
                continue;
            return;
        }
}

restride_status rs_bench_verify(const unsigned char *bytes, size_t rows, size_t cols, size_t unit,
                                size_t batch)
{
    checking c = {bytes, rows, cols, unit, batch, SIZE_MAX};
    rs_host_team_run(all_threads(), check_part, &c);
    size_t wrong = atomic_load(&c.first_wrong);
    if (wrong == SIZE_MAX)
        return RESTRIDE_OK;
    return rs_fail(RESTRIDE_DEVICE_ERROR,
                   "After transposing %zu x %zu, row %zu, column %zu is wrong; please report this "
                   "shape.",
                   rows, cols, wrong / rows, wrong % rows);
}

/* ---- bytes ---- */

restride_status rs_bench_upload(rs_transfer *transfer, void *buffer, const void *bytes,
                                size_t count)
{
    /* Only downloads write to the host. */
    const rs_transfer_block block = {
        .host = (unsigned char *)(uintptr_t)bytes, .device = buffer, .row_bytes = count, .rows = 1};
    rs_ticket ticket = NULL;
    restride_status status = transfer->operations->upload(transfer, &block, &ticket);
    return status == RESTRIDE_OK ? transfer->operations->wait(transfer, ticket) : status;
}

restride_status rs_bench_download(rs_transfer *transfer, void *bytes, void *buffer, size_t count)
{
    const rs_transfer_block block = {
        .host = bytes, .device = buffer, .row_bytes = count, .rows = 1};
    rs_ticket ticket = NULL;
    restride_status status = transfer->operations->download(transfer, &block, &ticket);
    return status == RESTRIDE_OK ? transfer->operations->wait(transfer, ticket) : status;
}

/* ---- times ---- */

typedef struct {
    rs_transfer *transfer;
    restride_plan *plan;
    void *buffer;
    void *copy;
    size_t bytes;
    size_t runs; /* of a sample */
} sampling;

static restride_status sample_plan(const sampling *s, double *seconds)
{
    restride_status status = RESTRIDE_OK;
    double start = rs_seconds_now();
    for (size_t i = 0; i < s->runs && status == RESTRIDE_OK; i++)
        status = restride_execute(s->plan, s->buffer);
    if (status == RESTRIDE_OK)
        status = s->transfer->operations->finish(s->transfer);
    *seconds = (rs_seconds_now() - start) / (double)s->runs;
    return status;
}

static restride_status sample_copy(const sampling *s, double *seconds)
{
    restride_status status = RESTRIDE_OK;
    double start = rs_seconds_now();
    for (size_t i = 0; i < s->runs && status == RESTRIDE_OK; i++)
        status =
            s->transfer->operations->copy(s->transfer, s->copy, 0, s->buffer, 0, s->bytes, NULL);
    if (status == RESTRIDE_OK)
        status = s->transfer->operations->finish(s->transfer);
    *seconds = (rs_seconds_now() - start) / (double)s->runs;
    return status;
}

/* The first sample of each only warms up. */
static restride_status take_samples(const sampling *s, size_t repeat, double *runs, double *copies)
{
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; i <= repeat && status == RESTRIDE_OK; i++) {
        size_t place = i == 0 ? 0 : i - 1;
        status = sample_plan(s, &runs[place]);
        if (status == RESTRIDE_OK)
            status = sample_copy(s, &copies[place]);
    }
    return status;
}

restride_status rs_bench_time_plan(rs_transfer *transfer, restride_plan *plan, void *buffer,
                                   size_t bytes, size_t repeat, rs_bench_times *times)
{
    size_t runs = SAMPLE_BYTES / (bytes + 1) + 1;
    sampling s = {.transfer = transfer,
                  .plan = plan,
                  .buffer = buffer,
                  .bytes = bytes,
                  .runs = runs < MOST_RUNS ? runs : MOST_RUNS};
    double *samples = calloc(2 * repeat, sizeof *samples);
    if (samples == NULL)
        return rs_fail_memory("the times of a benchmark");
    restride_status status = transfer->operations->allocate(transfer, bytes, &s.copy);
    if (status == RESTRIDE_OK) {
        status = take_samples(&s, repeat, samples, samples + repeat);
        times->seconds = rs_seconds_median(samples, repeat);
        times->copy_seconds = rs_seconds_median(samples + repeat, repeat);
        transfer->operations->release(transfer, s.copy);
    }
    free(samples);
    return status;
}
