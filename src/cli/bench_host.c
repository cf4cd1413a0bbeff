/* See bench.h. */
#include "cli/bench.h"

#include "base/arithmetic.h"
#include "base/json.h"
#include "console/progress.h"
#include "engine/host/team.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE_BYTES = 2 << 20 };

size_t rs_bench_all_threads(void)
{
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    size_t threads = online > 0 ? (size_t)online : 1;
    return threads < RS_BENCH_MOST_THREADS ? threads : RS_BENCH_MOST_THREADS;
}

restride_status rs_bench_allocate(unsigned char **memory, size_t bytes, rs_bench_pages pages)
{
    void *begin = NULL;
    size_t whole;
    if (!rs_size_round_up(bytes, PAGE_BYTES, &whole) ||
        posix_memalign(&begin, PAGE_BYTES, whole) != 0)
        return rs_fail_memory("the array and its copy");
    /* a refusal costs speed alone */
    madvise(begin, whole, pages == RS_BENCH_HUGE_PAGES ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    *memory = begin;
    return RESTRIDE_OK;
}

void rs_bench_print_stages(const json_t *plan)
{
    const json_t *stages = json_object_get(plan, "stages");
    for (size_t i = 0; i < json_array_size(stages); i++)
        printf("%s%s", i > 0 ? ", " : "  ", rs_json_string_of(json_array_get(stages, i), "name"));
    putchar('\n');
}

static restride_status time_in_turns(restride_plan *plan, unsigned char *array, unsigned char *copy,
                                     size_t bytes, size_t threads, size_t repeat, double *times)
{
    restride_status status = RESTRIDE_OK;
    rs_host_team_copy(threads, copy, array, bytes);
    for (size_t i = 0; i < repeat && status == RESTRIDE_OK; i++) {
        double start = rs_seconds_now();
        status = restride_execute(plan, array);
        double middle = rs_seconds_now();
        rs_host_team_copy(threads, copy, array, bytes);
        times[i] = middle - start;
        times[repeat + i] = rs_seconds_now() - middle;
    }
    return status;
}

restride_status rs_bench_time_host(restride_plan *plan, unsigned char *array, size_t bytes,
                                   rs_bench_pages pages, size_t threads, size_t repeat,
                                   rs_bench_times *times)
{
    unsigned char *copy = NULL;
    restride_status status = rs_bench_allocate(&copy, bytes, pages);
    if (status != RESTRIDE_OK)
        return status;
    double *seconds = calloc(2 * repeat, sizeof *seconds);
    status = seconds == NULL ? rs_fail_memory("the times")
                             : time_in_turns(plan, array, copy, bytes, threads, repeat, seconds);
    if (status == RESTRIDE_OK)
        *times = (rs_bench_times){rs_seconds_median(seconds, repeat),
                                  rs_seconds_median(seconds + repeat, repeat)};
    free(seconds);
    free(copy);
    return status;
}
