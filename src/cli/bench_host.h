/* What the measurements in host memory have in common: arrays in huge pages, and times beside a
 * memcpy of the same bytes on the same threads. */
#ifndef RS_CLI_BENCH_HOST_H
#define RS_CLI_BENCH_HOST_H

#include "console/bench_device.h"

enum { RS_BENCH_MOST_THREADS = 256 };

/* All processors, up to the most threads of a copy. */
size_t rs_bench_all_threads(void);

/* Memory that asks for huge pages; the caller frees it. */
restride_status rs_bench_allocate(unsigned char **memory, size_t bytes);

/* Medians of `repeat` runs of the plan on `bytes` bytes and of as many copies, in turns. A plan
 * that ran before goes on with what it made, which takes the same time. */
restride_status rs_bench_time_host(restride_plan *plan, unsigned char *array, size_t bytes,
                                   size_t threads, size_t repeat, rs_bench_times *times);

/* Seconds until a cache line that one thread wrote is another's, the least of several groups of
 * turns; 0 when no second thread can be started. It tells where the threads run: processors that
 * share a cache take some 40 ns, others 140. */
double rs_bench_handover(void);

#endif
