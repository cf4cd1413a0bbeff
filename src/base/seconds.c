/* See seconds.h. */
#include "base/seconds.h"

#include <stdlib.h>
#include <time.h>

double rs_seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int rs_seconds_compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double rs_seconds_median(double *seconds, size_t count)
{
    qsort(seconds, count, sizeof *seconds, rs_seconds_compare);
    return count % 2 != 0 ? seconds[count / 2]
                          : 0.5 * (seconds[count / 2 - 1] + seconds[count / 2]);
}
