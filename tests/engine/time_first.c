/*
 * How long the first plan of a kind takes on a device, and the next one.
 *
 *     time_first opencl|cuda KIND     milliseconds of the first plan, a second one and the median
 * of fifty; KIND is a number from 0; 77: there is no such kind, or no device
 *
 * Each kind wants a process of its own and a cache without kernels: tools/gpu_plans.sh sees to
 * that.
 */
#include "lab.h"
#include "restride/restride.h"

#include <stdio.h>
#include <stdlib.h>

enum { PLANS = 50, MOST_RANK = 5 };

/* A permutation of axes, or a conversion between two layouts of `dims`. */
typedef struct {
    const char *name;
    int rank;
    size_t extents[MOST_RANK];
    int axes[MOST_RANK];
    size_t unit;
    const char *dims, *from, *to;
} kind;

static const kind kinds[] = {
    {"matrix f32 16384 x 16384", 2, {16384, 16384}, {1, 0}, 4, NULL, NULL, NULL},
    {"matrix f32 20000 x 5000", 2, {20000, 5000}, {1, 0}, 4, NULL, NULL, NULL},
    {"matrix f32 12345 x 23456", 2, {12345, 23456}, {1, 0}, 4, NULL, NULL, NULL},
    {"matrix u8 20000 x 30000", 2, {20000, 30000}, {1, 0}, 1, NULL, NULL, NULL},
    {"matrix f64 12347 x 17011", 2, {12347, 17011}, {1, 0}, 8, NULL, NULL, NULL},
    {"matrix 16 bytes 20000 x 5000", 2, {20000, 5000}, {1, 0}, 16, NULL, NULL, NULL},
    {"AoS to SoA", 0, {0}, {0}, 0, "i:4000000 f:19 float", "i f", "f i"},
    {"AoS to ASTA", 0, {0}, {0}, 0, "i:4000000 f:19 float", "i f", "i/32 f i%32"},
    {"tensor 0213", 4, {128, 1024, 16, 64}, {0, 2, 1, 3}, 2, NULL, NULL, NULL},
    {"tensor 210", 3, {512, 600, 700}, {2, 1, 0}, 4, NULL, NULL, NULL},
    {"tensor 41302", 5, {30, 40, 20, 50, 33}, {4, 1, 3, 0, 2}, 4, NULL, NULL, NULL},
    {"batch of 16 x 7200 x 1800", 3, {16, 7200, 1800}, {0, 2, 1}, 4, NULL, NULL, NULL},
    {"records to ASTA",
     0,
     {0},
     {0},
     0,
     "i:4000000 f{ double t; float x; char k[4]; short n; }",
     "i f",
     "i/32 f i%32"},
};

static restride_status plan_kind(const kind *k, restride_engine *engine, restride_plan **plan)
{
    restride_layout *from = NULL;
    restride_layout *to = NULL;
    if (k->dims == NULL)
        return restride_plan_permute(plan, engine, k->rank, k->extents, k->axes, k->unit);
    restride_status status = restride_layout_parse(&from, k->dims, k->from);
    if (status == RESTRIDE_OK)
        status = restride_layout_parse(&to, k->dims, k->to);
    if (status == RESTRIDE_OK)
        status = restride_plan_convert(plan, engine, from, to);
    restride_layout_destroy(from);
    restride_layout_destroy(to);
    return status;
}

int main(int count, char **arguments)
{
    restride_engine *engine = NULL;
    size_t number = count == 3 ? strtoul(arguments[2], NULL, 10) : 0;
    if (count != 3)
        return 2;
    if (number >= sizeof kinds / sizeof kinds[0] || lab_open(&engine, arguments[1]) != RESTRIDE_OK)
        return 77;
    double times[PLANS + 1];
    for (int i = 0; i <= PLANS; i++) {
        restride_plan *plan = NULL;
        double start = lab_now();
        restride_status status = plan_kind(&kinds[number], engine, &plan);
        times[i] = lab_now() - start;
        if (status != RESTRIDE_OK) {
            printf("%s: %s\n", kinds[number].name, restride_last_error());
            return 1;
        }
        restride_plan_destroy(plan);
    }
    double first = times[0];
    double second = times[1];
    printf("%-30s %8.1f ms, again %7.3f, median %7.3f\n", kinds[number].name, first, second,
           lab_median(times + 1, PLANS));
    restride_engine_destroy(engine);
    return 0;
}
