/* Reports as JSON on standard output, for every verb with --json. */
#ifndef RS_CONSOLE_JSON_H
#define RS_CONSOLE_JSON_H

#include <jansson.h>

/* Prints a report, which it takes over, whole or not at all; the exit status, after a sentence when
 * memory was short (`value` may be NULL then) or nothing could be written. */
int rs_cli_print_json(const char *verb, json_t *value);

#endif
