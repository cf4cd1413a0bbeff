/*
 * What a copy in another order costs on a device (copy_cut.h), fitted to measurements on one H200:
 * lab/docs/performance.md, "From one buffer to another on a GPU".
 */
#include "engine/copy_cut.h"

#include <math.h>
#include <stdlib.h>

/* Of one side: accesses of few bytes keep the load and store units busy longer than the memory. */
static double side_cost(size_t access_bytes)
{
    return access_bytes >= 16  ? 0.57
           : access_bytes >= 8 ? 0.63
           : access_bytes >= 4 ? 0.87
           : access_bytes >= 2 ? 1.2
                               : 1.6;
}

static double cut_cost(const rs_copy_cut *cut)
{
    double narrow = cut->word == 1 ? 0.25 : cut->word == 2 ? 0.12 : 0;
    return side_cost(cut->banks.even_vector * cut->word) +
           side_cost(cut->banks.uneven_vector * cut->word) + narrow;
}

double rs_copy_cost(const rs_copy_task *task, size_t local_bytes)
{
    double sum = 0;
    double all = 0;
    for (size_t g = 0; g < task->group_count; g++) {
        const rs_copy_group *group = &task->groups[g];
        const rs_copy_part *parts = task->parts + group->first;
        rs_copy_cut cut;
        if (rs_copy_cut_group(&cut, parts, group, local_bytes) != RS_COPY_CUT)
            return INFINITY;
        free(cut.numbers);
        double bytes = 0;
        for (size_t p = 0; p < group->count; p++)
            bytes += (double)rs_copy_part_bytes(&parts[p]);
        sum += bytes * cut_cost(&cut);
        all += bytes;
    }
    return all > 0 ? sum / all : INFINITY;
}
