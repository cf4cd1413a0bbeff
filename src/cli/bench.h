/* The measurements of `restride bench`: each has a file of its own and reads its options from
 * argv[1] on (argv[0] is its name). */
#ifndef RS_CLI_BENCH_H
#define RS_CLI_BENCH_H

#include <stdbool.h>

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

#endif
