/*
 * precompile COUNT LEAST_BYTES [random|times]: plans so many random transpositions and permutations
 * of arrays of at least so many bytes on the CUDA device, so that their kernels are compiled and
 * stored, and conversions of records. The build runs it with a driver that has no device (driver.c)
 * and a store of its own. With "random" no records are planned. With "times" each is planned twice,
 * and the time of the second plans is shown.
 */
#include "engine/open.h"
#include "restride/cuda.h"
#include "restride/transpose.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_RANK = 5, TILE = 64 };

static uint64_t state = UINT64_C(88172645463325252);

static uint64_t next_random(void) /* xorshift */
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

/* Evenly in the logarithm; half of them round, as people's sides are. */
static size_t random_side(double least, double most)
{
    static const size_t steps[] = {1, 1, 1, 1, 1, 16, 64, 256, 10, 100};
    double part = (double)(next_random() >> 11) * 0x1p-53;
    size_t side = (size_t)(least * pow(most / least, part));
    size_t step = steps[next_random() % (sizeof steps / sizeof steps[0])];
    return side < step ? side : side / step * step;
}

typedef struct {
    int rank;
    size_t dims[MOST_RANK];
    int permutation[MOST_RANK];
    size_t unit;
} problem;

static double bytes_of(const problem *p)
{
    double bytes = (double)p->unit;
    for (int i = 0; i < p->rank; i++)
        bytes *= (double)p->dims[i];
    return bytes;
}

/* Half of them matrices, some of which are squares; elements of the usual sizes are frequent. */
static problem random_problem(double least_bytes)
{
    static const size_t units[] = {1,  2,  4, 4, 4,  4,  8,  8,  8,  16,
                                   12, 24, 3, 6, 20, 48, 36, 64, 32, 5};
    static const double most_sides[] = {0, 0, 1e5, 1200, 300, 100};
    static const double most_bytes = 8e9;
    problem p = {.rank = next_random() % 2 == 0 ? 2 : 3 + (int)(next_random() % 3)};
    p.unit = units[next_random() % (sizeof units / sizeof units[0])];
    const bool is_square = next_random() % 8 == 0;
    const bool is_round = p.rank < 4 && next_random() % 8 == 0; /* else too many are too large */
    do
        for (int i = 0; i < p.rank; i++) {
            size_t side = random_side(2, most_sides[p.rank]);
            side = is_round ? side / TILE * TILE + TILE : side;
            p.dims[i] = is_square && i > 0 ? p.dims[0] : side;
        }
    while (bytes_of(&p) < least_bytes || bytes_of(&p) > most_bytes);
    for (int i = 0; i < p.rank; i++)
        p.permutation[i] = p.rank - 1 - i;
    for (int i = p.rank - 1; p.rank > 2 && i > 0; i--) {
        int k = (int)(next_random() % (uint64_t)(i + 1));
        int other = p.permutation[i];
        p.permutation[i] = p.permutation[k];
        p.permutation[k] = other;
    }
    return p;
}

/* Records whose members are of 1, 2, 4 and 8 bytes at least, to tiles and back. */
static restride_status plan_records(restride_engine *engine)
{
    static const char *const dims[] = {
        "i:100000 f{ double t; char k; }", "i:100000 f{ double t; short k[4]; }",
        "i:100000 f{ double t; float x[2]; }", "i:100000 f{ double t; char[16] k; }"};
    static const char *const layouts[][2] = {{"i f", "i/32 f i%32"}, {"i/32 f i%32", "i f"}};
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; status == RESTRIDE_OK && i < 2 * sizeof dims / sizeof dims[0]; i++) {
        restride_layout *from = NULL;
        restride_layout *to = NULL;
        restride_plan *plan = NULL;
        status = restride_layout_parse(&from, dims[i / 2], layouts[i % 2][0]);
        if (status == RESTRIDE_OK)
            status = restride_layout_parse(&to, dims[i / 2], layouts[i % 2][1]);
        if (status == RESTRIDE_OK)
            status = restride_plan_convert(&plan, engine, from, to);
        restride_plan_destroy(plan);
        restride_layout_destroy(to);
        restride_layout_destroy(from);
    }
    return status;
}

/* Milliseconds; negative after a failure. */
static double plan_once(restride_engine *engine, const problem *p)
{
    struct timespec start;
    struct timespec end;
    restride_plan *plan = NULL;
    clock_gettime(CLOCK_MONOTONIC, &start);
    restride_status status =
        restride_plan_permute(&plan, engine, p->rank, p->dims, p->permutation, p->unit);
    clock_gettime(CLOCK_MONOTONIC, &end);
    restride_plan_destroy(plan);
    return status == RESTRIDE_OK ? 1e3 * (double)(end.tv_sec - start.tv_sec) +
                                       1e-6 * (double)(end.tv_nsec - start.tv_nsec)
                                 : -1;
}

static int compare(const void *a, const void *b)
{
    const double *left = a;
    const double *right = b;
    return (*left > *right) - (*left < *right);
}

static void show_times(double *times, size_t count)
{
    qsort(times, count, sizeof *times, compare);
    size_t within = 0;
    while (within < count && times[within] <= 1)
        within++;
    printf("%zu plans: half within %.3f ms, 99 %% within %.3f, the longest %.3f; %.2f %% within 1 "
           "ms\n",
           count, times[count / 2], times[count / 100 * 99], times[count - 1],
           100 * (double)within / (double)count);
}

int main(int argc, char **argv)
{
    restride_engine *engine = NULL;
    const bool shows_times = argc == 4 && strcmp(argv[3], "times") == 0;
    const bool only_random = argc == 4 && strcmp(argv[3], "random") == 0;
    if (argc != 3 && !shows_times && !only_random) {
        fprintf(stderr, "usage: precompile COUNT LEAST_BYTES [random|times]\n");
        return 2;
    }
    const size_t count = strtoul(argv[1], NULL, 10);
    double *times = calloc(count + 1, sizeof *times);
    /* The driver without a device has a context, but nothing to be found. */
    bool failed =
        times == NULL || (shows_times ? rs_cuda_open(&engine, NULL)
                                      : restride_engine_create_cuda(&engine, NULL)) != RESTRIDE_OK;
    for (size_t i = 0; !failed && i < count; i++) {
        const problem p = random_problem(strtod(argv[2], NULL));
        times[i] = plan_once(engine, &p);
        if (shows_times && times[i] >= 0)
            times[i] = plan_once(engine, &p);
        failed = times[i] < 0;
    }
    if (shows_times && !failed)
        show_times(times, count);
    failed = failed || (!only_random && plan_records(engine) != RESTRIDE_OK);
    if (failed)
        fprintf(stderr, "precompile: %s\n", restride_last_error());
    restride_engine_destroy(engine);
    free(times);
    return failed;
}
