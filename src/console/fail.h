/* How a command ends: its exit status, the one form of an error, and a report as JSON. */
#ifndef RS_CONSOLE_FAIL_H
#define RS_CONSOLE_FAIL_H

#include "base/status.h"

#include <jansson.h>

/* Exit statuses: done, the work failed, bad usage. */
enum { RS_EXIT_DONE = 0, RS_EXIT_FAILED = 1, RS_EXIT_USAGE = 2 };

/* Prints "PROGRAM VERB: SENTENCE" on standard error and returns `exit_status`. */
int rs_cli_fail(int exit_status, const char *verb, const char *format, ...) RS_PRINTF(3, 4);

/* The same with the sentence of restride_last_error(). */
int rs_cli_fail_last(int exit_status, const char *verb);

/* The program in these sentences, a literal; "restride" before the first call. */
void rs_cli_name_program(const char *name);
const char *rs_cli_program_name(void);

/* Prints a report, which it takes over, whole or not at all; the exit status, after a sentence when
 * memory was short (`value` may be NULL then) or nothing could be written. */
int rs_cli_print_json(const char *verb, json_t *value);

#endif
