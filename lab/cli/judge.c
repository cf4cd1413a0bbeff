/*
 * restride-lab judge: what the judge foretells of layouts beside what a device measures, for small
 * kernels (judge.cl) over arrays of structures.
 */
#include "lab/cli/judge.h"
#include "base/arithmetic.h"
#include "console/bench_device.h"
#include "console/engines.h"
#include "console/fail.h"
#include "console/options.h"
#include "console/progress.h"
#include "engine/device/device.h"
#include "lab/cli/lab.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char rs_device_judge_kernels[]; /* judge.cl */

static const char usage[] =
    "usage: restride-lab judge [OPTIONS]...\n"
    "\n"
    "Runs kernels over arrays of structures in several layouts, compares their results, and "
    "prints\n"
    "how much faster each layout is beside what the judge of restride analyze foretells.\n"
    "\n"
    "  --engine ENGINE  opencl (default) or cuda\n"
    "  --device DEVICE  gpu, cpu, its number or a part of its name (default: the first GPU)\n"
    "  --model NAME     the judge's device (default: h200)\n"
    "  --rows N         random kernels beside those of programs (default: 40)\n"
    "  --seed N         which ones (default: 1)\n"
    "  --shrink N       arrays and threads are so many times smaller (default: 1)\n"
    "  --part K/N       every N-th row, from the K-th\n"
    "  --repeat N       the median of N measurements (default: 5)\n"
    "  --out FILE       keeps the measured times\n"
    "  --from FILE      takes times that were kept, and measures nothing\n"
    "  --svg FILE       draws foretold against measured\n"
    "  --markdown       the table as documents have it\n"
    "\n"
    "Example:\n"
    "  restride-lab judge --engine cuda --seed 7 --out times.json --svg judge.svg\n";

typedef struct {
    rs_bench_options on;
    const char *model;
    size_t rows, seed, shrink;
    const char *part, *out, *from, *svg;
    bool markdown;
} judge_options;

typedef struct {
    rs_device_engine *engine;
    const judge_options *options;
    rs_device_memory elements, out, chosen;
    size_t bytes, most_threads, most_elements;
    uint32_t *first, *other; /* the bits of results of the first layout, and of another */
} laboratory;

enum { VISIT, FILL, SUM, KERNELS, RUNS = 4, CHECKED = 1 << 20 };

/* ---- one layout of a row ---- */

typedef struct {
    const rs_judge_row *row;
    rs_device_kernel kernels[KERNELS];
    int n, threads;
} variant;

static restride_status create_variant(const laboratory *lab, variant *v, const rs_judge_row *row,
                                      const rs_judge_layout *layout)
{
    static const char *const names[] = {"visit_elements", "fill_elements", "sum_elements"};
    char defines[240];
    *v = (variant){
        .row = row, .n = rs_judge_row_elements(row), .threads = rs_judge_row_threads(row)};
    snprintf(defines, sizeof defines,
             "-D CLASS=%d -D WORDS=%d -D USED=%d -D GROUP=%d -D RANGE=%d -D WORK=%d -D WRITES=%d "
             "-D TILE=%d -D TILE_GROUP=%d -D SPLIT=%d",
             (int)row->lanes, row->words, row->used, row->group,
             row->lanes == RS_LANES_WALK ? row->visits : 1, row->work, row->writes, layout->tile,
             layout->group, layout->split);
    return rs_device_create_kernels(lab->engine, rs_device_judge_kernels, defines, names, KERNELS,
                                    v->kernels);
}

static size_t groups_of(int items)
{
    return ((size_t)items + RS_JUDGE_GROUP_ITEMS - 1) / RS_JUDGE_GROUP_ITEMS;
}

static void visit(const laboratory *lab, rs_device_sequence *sequence, const variant *v)
{
    int visits = v->row->visits;
    size_t local = v->row->local > 0 ? (size_t)v->row->local : 16;
    const rs_device_argument arguments[] = {RS_ARGUMENT(lab->elements), RS_ARGUMENT(lab->out),
                                            RS_ARGUMENT(lab->chosen),   RS_ARGUMENT(v->n),
                                            RS_ARGUMENT(v->threads),    RS_ARGUMENT(visits),
                                            RS_LOCAL_MEMORY(local)};
    rs_device_launch(sequence, v->kernels[VISIT], arguments, 7, groups_of(v->threads), 1,
                     RS_JUDGE_GROUP_ITEMS);
}

static void fill(const laboratory *lab, rs_device_sequence *sequence, const variant *v)
{
    const rs_device_argument arguments[] = {RS_ARGUMENT(lab->elements), RS_ARGUMENT(lab->chosen),
                                            RS_ARGUMENT(v->n)};
    rs_device_launch(sequence, v->kernels[FILL], arguments, 3, groups_of(v->n), 1,
                     RS_JUDGE_GROUP_ITEMS);
}

/* What one launch gave each thread, and left in each element: the same in every layout. */
static restride_status read_results(const laboratory *lab, const variant *v, uint32_t *results)
{
    rs_device_sequence sequence = {.engine = lab->engine};
    const rs_device_argument arguments[] = {RS_ARGUMENT(lab->elements), RS_ARGUMENT(lab->out),
                                            RS_ARGUMENT(v->n)};
    size_t threads = (size_t)(v->threads < CHECKED ? v->threads : CHECKED);
    size_t elements = (size_t)(v->n < CHECKED ? v->n : CHECKED);
    fill(lab, &sequence, v);
    visit(lab, &sequence, v);
    restride_status status = rs_device_finish(&sequence, "visiting elements");
    if (status == RESTRIDE_OK)
        status = lab->engine->device->read(lab->engine, results, lab->out,
                                           threads * sizeof *results, "reading results");
    sequence = (rs_device_sequence){.engine = lab->engine};
    rs_device_launch(&sequence, v->kernels[SUM], arguments, 3, groups_of(v->n), 1,
                     RS_JUDGE_GROUP_ITEMS);
    if (status == RESTRIDE_OK)
        status = rs_device_finish(&sequence, "adding elements");
    return status == RESTRIDE_OK
               ? lab->engine->device->read(lab->engine, results + CHECKED, lab->out,
                                           elements * sizeof *results, "reading results")
               : status;
}

static restride_status compare(const laboratory *lab, const variant *v, bool first)
{
    uint32_t *results = first ? lab->first : lab->other;
    memset(results, 0, 2 * sizeof *results * CHECKED);
    restride_status status = read_results(lab, v, results);
    if (status == RESTRIDE_OK && !first &&
        memcmp(lab->first, lab->other, 2 * sizeof *results * CHECKED) != 0)
        status = rs_fail(RESTRIDE_DEVICE_ERROR, "A layout gives other results than AoS.");
    return status;
}

static restride_status time_once(const laboratory *lab, const variant *v, double *seconds)
{
    rs_device_sequence sequence = {.engine = lab->engine};
    visit(lab, &sequence, v);
    restride_status status = rs_device_finish(&sequence, "visiting elements");
    double started = rs_seconds_now();
    for (int i = 0; i < RUNS; i++)
        visit(lab, &sequence, v);
    if (status == RESTRIDE_OK)
        status = rs_device_finish(&sequence, "visiting elements");
    *seconds = (rs_seconds_now() - started) / RUNS;
    return status;
}

/* ---- rows ---- */

/* Layouts in turns, so that other work of the device slows all. */
static restride_status measure_row(laboratory *lab, const rs_judge_row *row, json_t *measured)
{
    rs_judge_layout layouts[RS_JUDGE_MOST_LAYOUTS];
    variant variants[RS_JUDGE_MOST_LAYOUTS];
    double times[RS_JUDGE_MOST_LAYOUTS][RS_BENCH_MOST_REPEAT];
    int count = rs_judge_row_layouts(row, layouts);
    restride_status status = RESTRIDE_OK;
    for (int i = 0; i < count && status == RESTRIDE_OK; i++) {
        status = create_variant(lab, &variants[i], row, &layouts[i]);
        if (status == RESTRIDE_OK)
            status = compare(lab, &variants[i], i == 0);
    }
    for (size_t r = 0; r < lab->options->on.repeat; r++)
        for (int i = 0; i < count && status == RESTRIDE_OK; i++)
            status = time_once(lab, &variants[i], &times[i][r]);
    if (status != RESTRIDE_OK)
        return status;
    json_t *entry = rs_judge_row_json(row), *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(
            list, json_pack("{s:i, s:i, s:b, s:f}", "tile", layouts[i].tile, "group",
                            layouts[i].group, "split", (int)layouts[i].split, "ns",
                            1e9 * rs_seconds_median(times[i], lab->options->on.repeat)));
    json_object_set_new(entry, "layouts", list);
    json_array_append_new(measured, entry);
    return RESTRIDE_OK;
}

static bool is_mine(const judge_options *options, size_t i)
{
    unsigned k = 0, n = 1;
    if (options->part != NULL && sscanf(options->part, "%u/%u", &k, &n) != 2)
        n = 1;
    return n > 0 && i % n == k % n;
}

static rs_judge_row row_at(const judge_options *options, size_t i)
{
    return rs_judge_row_at(i, (uint32_t)options->seed, (int)options->shrink);
}

static restride_status open_laboratory(laboratory *lab)
{
    restride_engine *engine = NULL;
    const judge_options *options = lab->options;
    restride_status status = rs_cli_open_engine(&engine, options->on.engine, options->on.device, 0);
    lab->engine = (rs_device_engine *)engine;
    if (status != RESTRIDE_OK)
        return status;
    size_t bytes = 1, items = CHECKED;
    for (size_t i = 0; i < rs_judge_rows(options->rows); i++) {
        rs_judge_row row = row_at(options, i);
        size_t n = (size_t)rs_judge_row_elements(&row),
               threads = (size_t)rs_judge_row_threads(&row);
        bytes = n * 4 * (size_t)row.words > bytes ? n * 4 * (size_t)row.words : bytes;
        items = threads > items ? threads : items;
        items = n > items ? n : items;
    }
    lab->first = malloc(2 * sizeof *lab->first * CHECKED);
    lab->other = malloc(2 * sizeof *lab->other * CHECKED);
    if (lab->first == NULL || lab->other == NULL)
        return rs_fail_memory("results");
    const struct {
        rs_device_memory *memory;
        size_t bytes;
    } wanted[] = {{&lab->elements, bytes},
                  {&lab->out, items * sizeof(float)},
                  {&lab->chosen, items * sizeof(int)}};
    for (int i = 0; i < 3 && status == RESTRIDE_OK; i++)
        status = lab->engine->device->allocate(lab->engine, wanted[i].bytes, wanted[i].memory);
    return status;
}

static void close_laboratory(laboratory *lab)
{
    const rs_device_memory memories[] = {lab->elements, lab->out, lab->chosen};
    for (int i = 0; i < 3; i++)
        if (memories[i] != NULL)
            lab->engine->device->release(lab->engine, memories[i]);
    free(lab->first);
    free(lab->other);
    restride_engine_destroy((restride_engine *)lab->engine);
}

static restride_status measure(const judge_options *options, json_t *measured)
{
    laboratory lab = {.options = options};
    restride_status status = open_laboratory(&lab);
    for (size_t i = 0; i < rs_judge_rows(options->rows) && status == RESTRIDE_OK; i++) {
        rs_judge_row row = row_at(options, i);
        if (is_mine(options, i))
            status = measure_row(&lab, &row, measured);
    }
    close_laboratory(&lab);
    return status;
}

/* ---- options ---- */

int rs_lab_judge(int argc, char **argv)
{
    static const rs_cli_option table[] = {
        RS_BENCH_DEVICE_OPTIONS(judge_options),
        {RS_CLI_TEXT("model", judge_options, model)},
        {RS_CLI_COUNT("rows", judge_options, rows, 0, 100000)},
        {RS_CLI_COUNT("seed", judge_options, seed, 0, 100000)},
        {RS_CLI_COUNT("shrink", judge_options, shrink, 1, 1024)},
        {RS_CLI_TEXT("part", judge_options, part)},
        {RS_CLI_TEXT("out", judge_options, out)},
        {RS_CLI_TEXT("from", judge_options, from)},
        {RS_CLI_TEXT("svg", judge_options, svg)},
        {RS_CLI_FLAG("markdown", judge_options, markdown)},
        {0},
    };
    if (rs_cli_helps(argc, argv, usage))
        return RS_EXIT_DONE;
    judge_options options = {
        .on = RS_BENCH_DEVICE_DEFAULTS, .model = "h200", .rows = 40, .seed = 1, .shrink = 1};
    int exit_status = rs_cli_read_only_options("judge", argc, argv, table, &options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    json_t *measured = options.from != NULL ? json_load_file(options.from, 0, NULL) : json_array();
    restride_status status = RESTRIDE_OK;
    if (!json_is_array(measured))
        status =
            rs_fail(RESTRIDE_INVALID_ARGUMENT, "%s has no times of this program.", options.from);
    else if (options.from == NULL)
        status = measure(&options, measured);
    if (status == RESTRIDE_OK && options.out != NULL &&
        json_dump_file(measured, options.out, JSON_INDENT(1)) != 0)
        status = rs_fail(RESTRIDE_IO, "%s could not be written.", options.out);
    if (status == RESTRIDE_OK)
        status = rs_judge_report(measured, options.model, options.svg, options.markdown);
    json_decref(measured);
    return status == RESTRIDE_OK ? RS_EXIT_DONE : rs_cli_fail_last(RS_EXIT_FAILED, "judge");
}
