/* Running programs under the layer, from outside, and what is told of them afterwards. */
#ifndef RS_TESTS_RUNS_H
#define RS_TESTS_RUNS_H

#include "cmocka_all.h"

#include <jansson.h>
#include <stdbool.h>

/* In the folder of this process, where the program's working folder is not. */
extern char report_path[128], config_path[128];

/* Ends what hangs, and no program of a slow machine. */
#define LIMITED "timeout 300"

/* Between `restride run --report` and a program: times are not wanted, which would be those of
 * every launch, so that none could repeat the one before. */
#define UNTIMED "env -u RESTRIDE_REPORT_TIMES"

/* For cmocka_run_group_tests(). */
int make_folder(void **state);
int remove_folder(void **state);

/* The path of a file in that folder; valid until the next call. */
const char *in_folder(const char *name);

void write_file(const char *path, const char *text);
void write_config(const char *text);

/* Runs a command of the shell without the report before, and with standard error kept; returns its
 * wait status. */
int run(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Of a wait status; 1000 more than the signal that ended it. */
int exit_status(int status);

/* What the last command said on standard error. */
const char *errors(void);

/* The report, and what is in it. */
json_t *report(void);
json_t *kernel_of(json_t *loaded, const char *name);
long number_of(const json_t *object, const char *key);
const char *argument_word(const json_t *kernel, size_t index, const char *key);

/* Of all kernels in the report. */
long transformed_launches(void);

#endif
