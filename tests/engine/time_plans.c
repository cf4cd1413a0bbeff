/*
 * How long plans take: random problems, each planned once and then again.
 *
 *     time_plans host|opencl|cuda|device COUNT LEAST_BYTES
 *
 * The time is that of the second plan on this thread's own clock where nothing waits for a device,
 * and else by the wall. "device" is made up: what an OpenCL device has, which takes every stage, so
 * it is the search alone. "cuda" runs with precompile's driver without a device, too.
 */
#include "../../src/engine/cuda/precompile/problems.h"
#include "engine/host/host.h"
#include "lab.h"
#include "restride/restride.h"
#ifdef RESTRIDE_HAVE_CUDA
#include "restride/cuda.h"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 4, KEPT_BYTES = 1 << 20 };

/* ---- a device that takes every stage ---- */

static restride_status create_transpose(restride_engine *engine, const rs_transpose_task *task,
                                        size_t scratch_limit, rs_stage **stage)
{
    (void)task;
    (void)scratch_limit;
    *stage = malloc(sizeof **stage);
    if (*stage == NULL)
        return RESTRIDE_OUT_OF_MEMORY;
    **stage = (rs_stage){engine};
    return RESTRIDE_OK;
}

static size_t scratch_bytes(const rs_stage *stage, size_t *kept)
{
    (void)stage;
    *kept = 0;
    return 0;
}

static void destroy_stage(rs_stage *stage)
{
    free(stage);
}

static void destroy(restride_engine *engine)
{
    (void)engine;
}

static rs_engine_traits device_traits(const restride_engine *engine)
{
    (void)engine;
    return (rs_engine_traits){.chip_bytes = (size_t)48 << 10,
                              .group_bytes = (size_t)48 << 10,
                              .box_bytes = (size_t)48 << 10,
                              .line_bytes = 128,
                              .workers = 132,
                              .chip_only = true,
                              .scratch_parts = 458,
                              .scratch_bytes = 7 << 17};
}

static const rs_engine_operations device = {.name = "device",
                                            .traits = device_traits,
                                            .create_transpose = create_transpose,
                                            .scratch_bytes = scratch_bytes,
                                            .destroy_stage = destroy_stage,
                                            .destroy = destroy};

/* ---- times ---- */

static clockid_t clock_used = CLOCK_THREAD_CPUTIME_ID;

static double now(void)
{
    struct timespec t;
    clock_gettime(clock_used, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static restride_status open_engine(restride_engine **engine, const char *name)
{
    static restride_engine made_up = {.operations = &device};
    if (strcmp(name, "host") == 0)
        return rs_host_engine_create(engine, THREADS, KEPT_BYTES);
    *engine = &made_up;
    if (strcmp(name, "device") == 0)
        return RESTRIDE_OK;
    restride_status status = lab_open(engine, name);
    if (status == RESTRIDE_OK)
        clock_used = CLOCK_MONOTONIC;
#ifdef RESTRIDE_HAVE_CUDA
    else if (strcmp(name, "cuda") == 0)
        status = restride_engine_create_cuda(engine, NULL);
#endif
    return status;
}

/* Milliseconds; negative after a failure. */
static double plan_once(restride_engine *engine, const problem *p)
{
    restride_plan *plan = NULL;
    double start = now();
    restride_status status =
        restride_plan_permute(&plan, engine, p->rank, p->dims, p->permutation, p->unit);
    double end = now();
    restride_plan_destroy(plan);
    return status == RESTRIDE_OK ? end - start : -1;
}

static int compare(const void *a, const void *b)
{
    const double *left = a;
    const double *right = b;
    return (*left > *right) - (*left < *right);
}

/* How many plans take up to some times, and the time of some parts of them. */
static void show(double *times, size_t count)
{
    static const double steps[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10};
    qsort(times, count, sizeof *times, compare);
    size_t within = 0;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        while (within < count && times[within] <= steps[i])
            within++;
        printf("%6.2f %% within %5.2f ms\n", 100 * (double)within / (double)count, steps[i]);
    }
    printf("%zu plans: half within %.3f ms, 99 %% within %.3f, the longest %.3f\n", count,
           times[count / 2], times[count * 99 / 100], times[count - 1]);
}

int main(int argc, char **argv)
{
    restride_engine *engine = NULL;
    if (argc != 4) {
        fprintf(stderr, "usage: time_plans host|opencl|cuda|device COUNT LEAST_BYTES\n");
        return 2;
    }
    const size_t count = strtoul(argv[2], NULL, 10);
    double *times = calloc(count + 1, sizeof *times);
    bool failed = times == NULL || count == 0 || open_engine(&engine, argv[1]) != RESTRIDE_OK;
    for (size_t i = 0; !failed && i < count; i++) {
        const problem p = random_problem(strtod(argv[3], NULL));
        failed = plan_once(engine, &p) < 0 || (times[i] = plan_once(engine, &p)) < 0;
    }
    if (failed)
        fprintf(stderr, "time_plans: %s\n", restride_last_error());
    else
        show(times, count);
    restride_engine_destroy(strcmp(argv[1], "device") == 0 ? NULL : engine);
    free(times);
    return failed;
}
