/* See figure_lab.h. */
#include "lab/cli/figure_lab.h"

#include "console/bench_device.h"
#include "console/engines.h"
#include "console/progress.h"
#include "restride/restride.h"
#include "transpose/plan.h"

#include <stdlib.h>
#include <string.h>

enum {
    WORD_BYTES = 4,
    SMALL_PART = 4,         /* sides are divided by this */
    SMALL_PROBLEM_PART = 16 /* the papers' sparse matrices are */
};
static const size_t full_array = (size_t)64 << 20;
static const size_t small_array = (size_t)1 << 20;
static const size_t full_bytes = (size_t)16384 * 16384 * WORD_BYTES;
static const size_t small_bytes = (size_t)4096 * 4096 * WORD_BYTES;

/* ---- the lab ---- */

static restride_status take_memory(rs_figure_lab *lab)
{
    unsigned char **const arrays[] = {&lab->before, &lab->after};
    restride_status status = RESTRIDE_OK;
    for (int i = 0; i < 2 && status == RESTRIDE_OK; i++) {
        status = restride_host_memory_create(&lab->memories[i], lab->engine, lab->bytes);
        if (status == RESTRIDE_OK)
            *arrays[i] = restride_host_memory_pointer(lab->memories[i]);
    }
    return status;
}

restride_status rs_figure_lab_open(rs_figure_lab *lab, const char *engine, const char *device,
                                   int full, size_t repeat)
{
    *lab = (rs_figure_lab){.repeat = repeat};
    restride_status status = rs_cli_open_engine(&lab->engine, engine, device, 0);
    if (status == RESTRIDE_OK)
        status = restride_engine_create_host(&lab->host, 0);
    if (status == RESTRIDE_OK)
        status = rs_transfer_open(lab->engine, &lab->transfer);
    if (status == RESTRIDE_OK) {
        /* A CPU is no place for the papers' sizes, unless somebody asks. */
        lab->full = full < 0 ? rs_cli_engine_is_gpu(lab->engine) : full != 0;
        lab->array_bytes = lab->full ? full_array : small_array;
        lab->bytes = lab->full ? full_bytes : small_bytes;
        status = take_memory(lab);
    }
#ifdef RESTRIDE_HAVE_OPENCL
    if (status == RESTRIDE_OK && strcmp(engine, "opencl") == 0)
        status = rs_baselines_open(&lab->baselines, lab->engine, 2 * full_array);
#endif
    if (status != RESTRIDE_OK)
        rs_figure_lab_close(lab);
    return status;
}

void rs_figure_lab_close(rs_figure_lab *lab)
{
#ifdef RESTRIDE_HAVE_OPENCL
    rs_baselines_close(lab->baselines);
#endif
    restride_host_memory_destroy(lab->memories[0]);
    restride_host_memory_destroy(lab->memories[1]);
    if (lab->transfer != NULL)
        lab->transfer->operations->close(lab->transfer);
    restride_engine_destroy(lab->host);
    restride_engine_destroy(lab->engine);
    *lab = (rs_figure_lab){0};
}

size_t rs_figure_lab_side(const rs_figure_lab *lab, size_t side)
{
    return lab->full ? side : (side + SMALL_PART - 1) / SMALL_PART;
}

/* ---- baselines ---- */

static restride_status lacks_opencl(void)
{
    return rs_fail(RESTRIDE_UNSUPPORTED, "The papers' kernels run with the OpenCL engine alone.");
}

#ifdef RESTRIDE_HAVE_OPENCL
static bool is_010(rs_baseline_kind kind)
{
    return kind <= RS_BASELINE_CYCLES_010;
}

static rs_baseline_case baseline_case(const rs_figure_lab *lab, const rs_figure_point *p)
{
    rs_baseline_case c = {.kind = p->baseline,
                          .count = 1,
                          .words = 1,
                          .items = p->items,
                          .spreading = p->spreading,
                          .padding = p->padding,
                          .remapping = p->remapping};
    size_t words = lab->array_bytes / WORD_BYTES;
    size_t records = lab->full ? p->records : p->records / SMALL_PROBLEM_PART;
    if (is_010(p->baseline)) {
        size_t width = p->width != 0 ? p->width : 64;
        c.rows = p->tile;
        c.cols = width;
        c.count = (records != 0 ? records : words / width) / p->tile;
        c.count = c.count > 0 ? c.count : 1;
    } else if (p->baseline == RS_BASELINE_OUT_OF_PLACE) {
        c.rows = records / p->tile * p->tile;
        c.cols = p->width;
    } else {
        c.words = p->tile;
        c.rows = p->width != 0 ? p->width : words / p->tile / p->across;
        c.cols = p->across != 0 ? p->across : words / p->tile / c.rows;
        c.cols = c.cols > 0 ? c.cols : 1;
    }
    return c;
}

static restride_status measure_baseline(rs_figure_lab *lab, const rs_figure_point *p, double *rate)
{
    if (lab->baselines == NULL)
        return lacks_opencl();
    rs_baseline_case c = baseline_case(lab, p);
    size_t bytes = rs_baseline_bytes(&c);
    double seconds = 0;
    if (bytes > lab->bytes)
        return rs_fail(RESTRIDE_DEVICE_LIMIT, "The array is larger than this lab's memory.");
    rs_bench_fill(lab->before, c.count * c.rows * c.cols, c.words * WORD_BYTES);
    restride_status status =
        rs_baselines_run(lab->baselines, &c, lab->repeat, lab->before, lab->after, &seconds);
    if (status == RESTRIDE_OK)
        status = rs_bench_verify(lab->after, c.rows, c.cols, c.words * WORD_BYTES, c.count);
    *rate = 2 * (double)bytes / seconds * 1e-9;
    return status;
}

restride_status rs_figure_lab_pad(rs_figure_lab *lab, rs_padding_step *steps, size_t most,
                                  size_t *count, size_t *row_bytes)
{
    if (lab->baselines == NULL)
        return lacks_opencl();
    size_t rows = rs_figure_lab_side(lab, 5000);
    size_t cols = rs_figure_lab_side(lab, 4000);
    *row_bytes = cols * WORD_BYTES;
    rs_bench_fill(lab->before, rows * cols, WORD_BYTES);
    memcpy(lab->after, lab->before, rows * cols * WORD_BYTES);
    restride_status status =
        rs_baselines_pad(lab->baselines, rows, cols, rows, lab->after, steps, most, count);
    for (size_t i = 0; i < rows && status == RESTRIDE_OK; i++)
        if (memcmp(lab->after + i * rows * WORD_BYTES, lab->before + i * *row_bytes, *row_bytes) !=
            0)
            status = rs_fail(RESTRIDE_DEVICE_ERROR, "Padding left a wrong row %zu.", i);
    return status;
}
#else
static restride_status measure_baseline(rs_figure_lab *lab, const rs_figure_point *p, double *rate)
{
    (void)lab;
    (void)p;
    (void)rate;
    return lacks_opencl();
}

restride_status rs_figure_lab_pad(rs_figure_lab *lab, rs_padding_step *steps, size_t most,
                                  size_t *count, size_t *row_bytes)
{
    (void)lab;
    (void)steps;
    (void)most;
    (void)count;
    (void)row_bytes;
    return lacks_opencl();
}
#endif

/* ---- plans ---- */

/* R.C'.n to C'.R'.m.n to C'.R'.n.m to C'.n.R'.m (Sung 2014, section 4.2), with as much scratch
 * memory as its stages like. */
static restride_status plan_3_stage(restride_plan **plan, restride_engine *engine,
                                    const rs_figure_point *p)
{
    enum { SCRATCH_PART = 10, LEAST_SCRATCH = 8 << 20 };
    size_t m = p->tile_rows;
    size_t n = p->tile_cols;
    size_t across = p->cols / n;
    const rs_transpose_task tasks[] = {
        {.method = RS_TRANSPOSE_CHAINS,
         .outer = 1,
         .count = 1,
         .rows = p->rows,
         .cols = across,
         .unit = n * WORD_BYTES},
        {.method = RS_TRANSPOSE_PANELS,
         .outer = 1,
         .count = across * (p->rows / m),
         .rows = m,
         .cols = n,
         .unit = WORD_BYTES},
        {.method = RS_TRANSPOSE_CHAINS,
         .outer = across,
         .pitch = p->rows * n * WORD_BYTES,
         .count = 1,
         .rows = p->rows / m,
         .cols = n,
         .unit = m * WORD_BYTES},
    };
    size_t bytes = p->rows * p->cols * WORD_BYTES;
    restride_status status = rs_plan_create(plan, engine, bytes, "rows cols", "cols rows");
    if (status == RESTRIDE_OK)
        status = rs_plan_add_transposes(*plan, tasks, sizeof tasks / sizeof tasks[0],
                                        bytes / SCRATCH_PART + LEAST_SCRATCH);
    return status;
}

static restride_status make_plan(restride_plan **plan, restride_engine *engine,
                                 const rs_figure_point *p)
{
    const restride_plan_options options = {.method = p->method};
    *plan = NULL;
    if (p->kind == RS_FIGURE_3_STAGE)
        return plan_3_stage(plan, engine, p);
    return restride_plan_transpose_with(plan, engine, p->rows, p->cols, WORD_BYTES, 1, &options);
}

static restride_status run_and_verify(rs_figure_lab *lab, restride_plan *plan,
                                      const rs_figure_point *p, void *buffer)
{
    size_t bytes = p->rows * p->cols * WORD_BYTES;
    rs_bench_fill(lab->before, p->rows * p->cols, WORD_BYTES);
    restride_status status = rs_bench_upload(lab->transfer, buffer, lab->before, bytes);
    if (status == RESTRIDE_OK)
        status = restride_execute(plan, buffer);
    if (status == RESTRIDE_OK)
        status = lab->transfer->operations->finish(lab->transfer);
    if (status == RESTRIDE_OK)
        status = rs_bench_download(lab->transfer, lab->after, buffer, bytes);
    if (status == RESTRIDE_OK)
        status = rs_bench_verify(lab->after, p->rows, p->cols, WORD_BYTES, 1);
    return status;
}

static restride_status measure_plan(rs_figure_lab *lab, const rs_figure_point *p, double *rate)
{
    size_t bytes = p->rows * p->cols * WORD_BYTES;
    restride_plan *plan;
    void *buffer = NULL;
    rs_bench_times times = {0};
    restride_status status = make_plan(&plan, lab->engine, p);
    if (status == RESTRIDE_OK)
        status = lab->transfer->operations->allocate(lab->transfer, bytes, &buffer);
    if (status == RESTRIDE_OK)
        status = run_and_verify(lab, plan, p, buffer);
    if (status == RESTRIDE_OK)
        status = rs_bench_time_plan(lab->transfer, plan, buffer, bytes, lab->repeat, &times);
    lab->transfer->operations->release(lab->transfer, buffer);
    restride_plan_destroy(plan);
    *rate =
        2 * (double)bytes * 1e-9 / (p->kind == RS_FIGURE_COPY ? times.copy_seconds : times.seconds);
    return status;
}

/* ---- matrices in host memory ---- */

typedef struct {
    restride_plan *plan;
    restride_offload *offload;
} host_way;

static restride_status run_way(const host_way *way, void *matrix)
{
    return way->plan != NULL ? restride_execute(way->plan, matrix)
                             : restride_offload_run(way->offload, matrix);
}

static restride_status time_way(rs_figure_lab *lab, const host_way *way, const rs_figure_point *p,
                                double *rate)
{
    double *times = calloc(lab->repeat, sizeof *times);
    if (times == NULL)
        return rs_fail_memory("the times of a figure");
    rs_bench_fill(lab->before, p->rows * p->cols, WORD_BYTES);
    restride_status status = run_way(way, lab->before);
    if (status == RESTRIDE_OK)
        status = rs_bench_verify(lab->before, p->rows, p->cols, WORD_BYTES, 1);
    for (size_t i = 0; i < lab->repeat && status == RESTRIDE_OK; i++) {
        double start = rs_seconds_now();
        status = run_way(way, lab->before);
        times[i] = rs_seconds_now() - start;
    }
    *rate =
        2 * (double)(p->rows * p->cols * WORD_BYTES) * 1e-9 / rs_seconds_median(times, lab->repeat);
    free(times);
    return status;
}

static restride_status measure_host(rs_figure_lab *lab, const rs_figure_point *p, double *rate)
{
    const restride_offload_options options = {.overlap = p->overlap};
    host_way way = {NULL, NULL};
    restride_status status =
        p->kind == RS_FIGURE_HOST
            ? restride_plan_transpose(&way.plan, lab->host, p->rows, p->cols, WORD_BYTES, 1)
            : restride_offload_transpose(&way.offload, lab->engine, p->rows, p->cols, WORD_BYTES,
                                         &options);
    if (status == RESTRIDE_OK)
        status = time_way(lab, &way, p, rate);
    restride_plan_destroy(way.plan);
    restride_offload_destroy(way.offload);
    return status;
}

restride_status rs_figure_lab_measure(rs_figure_lab *lab, const rs_figure_point *point,
                                      double *rate)
{
    static restride_status (*const measures[])(rs_figure_lab *, const rs_figure_point *,
                                               double *) = {
        [RS_FIGURE_BASELINE] = measure_baseline, [RS_FIGURE_METHOD] = measure_plan,
        [RS_FIGURE_3_STAGE] = measure_plan,      [RS_FIGURE_HOST] = measure_host,
        [RS_FIGURE_OFFLOAD] = measure_host,      [RS_FIGURE_COPY] = measure_plan,
    };
    return measures[point->kind](lab, point, rate);
}
