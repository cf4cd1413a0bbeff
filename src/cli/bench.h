/* The measurements of `restride bench`: each has a file of its own and reads its options from
 * argv[1] on (argv[0] is its name). */
#ifndef RS_CLI_BENCH_H
#define RS_CLI_BENCH_H

/* AoS and ASTA on an OpenCL device; only built with OpenCL. */
int rs_bench_marshal(int argc, char **argv);

/* In-place transposition on any engine beside a copy of the same bytes. */
int rs_bench_transpose(int argc, char **argv);

#endif
