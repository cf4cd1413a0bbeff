/* The measurements of `restride bench`: each has a file of its own and reads its options from
 * argv[1] on (argv[0] is its name). */
#ifndef RS_CLI_BENCH_H
#define RS_CLI_BENCH_H

#include "console/bench_device.h"

/* AoS and ASTA on an OpenCL device; only built with OpenCL. */
int rs_bench_marshal(int argc, char **argv);

/* In-place transposition on any engine beside a copy of the same bytes. */
int rs_bench_transpose(int argc, char **argv);

/* How long plans take to make, beside their runs, on any engine. */
int rs_bench_plans(int argc, char **argv);

/* Permutations of a tensor's axes in host memory beside a copy of the same bytes. */
int rs_bench_permute(int argc, char **argv);

/* Matrices in host memory, transposed in place through a device. */
int rs_bench_offload(int argc, char **argv);

/* AoS in host memory that becomes ASTA on the way to a device, and back. */
int rs_bench_transfer(int argc, char **argv);

/* ---- in host memory ---- */

/* Arrays lie in huge pages unless it is asked for small ones; times are beside a memcpy of the same
 * bytes on the same threads. */
enum { RS_BENCH_MOST_THREADS = 256 };

/* All processors, up to the most threads of a copy. */
size_t rs_bench_all_threads(void);

/* Ends a line with the names of a plan's stages. */
void rs_bench_print_stages(const json_t *plan);

/* The pages that memory asks the system for. */
typedef enum { RS_BENCH_HUGE_PAGES, RS_BENCH_SMALL_PAGES } rs_bench_pages;

/* The caller frees the memory. */
restride_status rs_bench_allocate(unsigned char **memory, size_t bytes, rs_bench_pages pages);

/* Medians of `repeat` runs of the plan on `bytes` bytes and of as many copies to other memory with
 * such pages, in turns. A plan may run on what it made before, which takes the same time. */
restride_status rs_bench_time_host(restride_plan *plan, unsigned char *array, size_t bytes,
                                   rs_bench_pages pages, size_t threads, size_t repeat,
                                   rs_bench_times *times);

/* Seconds until a cache line that one thread wrote is another's, the least of several groups of
 * turns; 0 when no second thread can be started. It tells where the threads run: processors that
 * share a cache take some 40 ns, others 140. */
double rs_bench_handover(void);

#endif
