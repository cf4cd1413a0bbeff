/* A program of verbs: "PROGRAM VERB ...", --help and --version. */
#ifndef RS_CONSOLE_PROGRAM_H
#define RS_CONSOLE_PROGRAM_H

#include <stddef.h>

/* `run` gets the arguments from its own name on: argv[0] is the verb. Returns the exit status.
 * A verb that the build leaves out has no `run`, and `summary` names what the build lacks. */
typedef struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *summary;
    const char *help; /* what --help anywhere behind it prints; NULL: `run` sees to that */
} rs_cli_verb;

/* The first thing that a program does: no file that it opens takes the number of a standard stream
 * that is closed, and gets what is printed. Programs that it starts find the stream closed. */
void rs_cli_occupy_streams(void);

/* Finds the verb that argv[1] names and runs it; the exit status, which is RS_EXIT_FAILED where
 * what the verb printed could not be written. */
int rs_cli_run_program(const char *program, const rs_cli_verb *verbs, size_t count, int argc,
                       char **argv);

#endif
