/*
 * All kinds of kernels: plans of random transpositions and permutations, of matrices of usual
 * sides, and of conversions of records. Making them has their kernels compiled and stored. The
 * build does so with a driver that has no device, restride tune --kernels on the user's.
 */
#ifndef RS_KINDS_H
#define RS_KINDS_H

#include "problems.h"
#include "restride/transpose.h"

/* What the library's kernels are compiled for. */
#define RS_KINDS_COUNT 30000
#define RS_KINDS_LEAST_BYTES 1e6

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

/* Matrices whose sides are to each other as small numbers, which are rare by chance. */
static restride_status plan_quotients(restride_engine *engine)
{
    static const size_t sides[][2] = {{10000, 5000}, {15000, 5000}, {20000, 5000}, {15000, 10000}};
    static const size_t units[] = {1, 2, 4, 8, 12, 16};
    enum { UNITS = sizeof units / sizeof units[0], SHAPES = sizeof sides / sizeof sides[0] };
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; status == RESTRIDE_OK && i < 2 * SHAPES * UNITS; i++) {
        const size_t *shape = sides[i / 2 / UNITS];
        restride_plan *plan = NULL;
        status = restride_plan_transpose(&plan, engine, shape[i % 2], shape[1 - i % 2],
                                         units[i / 2 % UNITS], 1);
        restride_plan_destroy(plan);
    }
    return status;
}

static restride_status plan_random(restride_engine *engine, double least_bytes)
{
    const problem p = random_problem(least_bytes);
    restride_plan *plan = NULL;
    restride_status status =
        restride_plan_permute(&plan, engine, p.rank, p.dims, p.permutation, p.unit);
    restride_plan_destroy(plan);
    return status;
}

#endif
