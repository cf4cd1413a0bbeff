/* Reading a verb's options. */
#ifndef RS_CLI_OPTIONS_H
#define RS_CLI_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>

/* Prints `usage` and is true when --help or -h is among the arguments. */
bool rs_cli_helps(int argc, char **argv, const char *usage);

/* getopt_long(), whose own sentences begin with "restride VERB:" as all others do. */
int rs_cli_next_option(const char *verb, int argc, char **argv, const char *letters,
                       const struct option *names, int *which);

/*
 * Gives each option to take(options, code, value), which is false for a value that the option
 * cannot have: then, and for an unknown option, a sentence is printed and the status is
 * RS_EXIT_USAGE, else RS_EXIT_DONE. Afterwards argv[optind] is the first argument that is no
 * option.
 */
int rs_cli_read_options(const char *verb, int argc, char **argv, const struct option *names,
                        bool (*take)(void *options, int code, const char *value), void *options);

/* The same, for verbs that take options alone. */
int rs_cli_read_only_options(const char *verb, int argc, char **argv, const struct option *names,
                             bool (*take)(void *options, int code, const char *value),
                             void *options);

/* Makes the folder that an option names, unless it is there; whatever is wrong with it is told
 * before the work begins. RS_EXIT_DONE or RS_EXIT_FAILED. */
int rs_cli_make_folder(const char *verb, const char *path);

#endif
