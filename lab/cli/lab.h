/*
 * The verbs of restride-lab. Each has a file of its own and reads its options from argv[1] on
 * (argv[0] is its name); each returns the exit status.
 */
#ifndef RS_LAB_CLI_LAB_H
#define RS_LAB_CLI_LAB_H

/* The applications of lab/apps under each layout; only built with OpenCL. */
int rs_lab_apps(int argc, char **argv);

/* What restride analyze --apply writes, run beside the nests as they were; only built with OpenCL
 * and the analyzer. */
int rs_lab_check(int argc, char **argv);

/* The data layout transformer of Tseng 2014; only built with configuration files. */
int rs_lab_dlt(int argc, char **argv);

/* The papers' figures and tables on transposition. */
int rs_lab_figures(int argc, char **argv);

/* Layouts of structured grids over their sizes, on a device. */
int rs_lab_grids(int argc, char **argv);

/* What the judge foretells of layouts beside what a device measures; built with configuration files
 * and an engine of a device. */
int rs_lab_judge(int argc, char **argv);

/* Published tables of access patterns beside what the analyzer finds; only built with it. */
int rs_lab_patterns(int argc, char **argv);

/* Which bits of an address steer a device's memory. */
int rs_lab_probe(int argc, char **argv);

/* Messages and time of redistributions over many GPUs, by a model. */
int rs_lab_scale(int argc, char **argv);

/* The speed of the model behind restride sim; only built with configuration files. */
int rs_lab_sim(int argc, char **argv);

/* The planner's choice beside the best of all plans, on the host or a device. */
int rs_lab_tune(int argc, char **argv);

#endif
