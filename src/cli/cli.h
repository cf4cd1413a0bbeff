/*
 * The verbs of the command line. Each has a file of its own, verb_NAME.c, and gets the arguments
 * from its own name on (argv[0] is the verb), to be read by a table (console/options.h).
 */
#ifndef RS_CLI_CLI_H
#define RS_CLI_CLI_H

#include "layout/layout.h"

#include <stdbool.h>

/* The exit status. */
typedef int rs_verb(int argc, char **argv);
rs_verb rs_verb_analyze, rs_verb_bench, rs_verb_convert, rs_verb_doctor, rs_verb_file_status,
    rs_verb_nvcc, rs_verb_reorder, rs_verb_rewrite, rs_verb_run, rs_verb_show, rs_verb_sim,
    rs_verb_tune, rs_verb_transpose;

/* Where the word of nvcc stands among the arguments of a launcher, as in `restride ccache
 * /usr/bin/nvcc -c x.cu`; -1: this program has that name itself; 0: this is no such call. */
int rs_nvcc_launched(int argc, char **argv);
int rs_nvcc_launch(int argc, char **argv, int nvcc);

/* Of a layout that is spread over processes: prints who holds what, and with `to` (else NULL) how
 * much each process has for each other when the array goes there; with `svg` (else NULL) in a file
 * of that name. Returns the exit status. */
int rs_show_spread(const char *verb, const restride_layout *layout, const restride_layout *to,
                   const char *svg, bool json);

/* What --help prints: help/NAME.txt. */
extern const char rs_help_bench_marshal[];
extern const char rs_help_bench_offload[];
extern const char rs_help_bench_permute[];
extern const char rs_help_bench_plans[];
extern const char rs_help_bench_transfer[];
extern const char rs_help_bench_transpose[];
extern const char rs_help_convert[];
extern const char rs_help_doctor[];
extern const char rs_help_file_status[];
extern const char rs_help_nvcc[];
extern const char rs_help_reorder[];
extern const char rs_help_show[];
extern const char rs_help_sim[];
extern const char rs_help_sim_kernel[];
extern const char rs_help_transpose[];
extern const char rs_help_tune[];

#endif
