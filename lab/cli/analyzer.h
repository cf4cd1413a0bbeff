/* The analyzer as another process: its libclang must not meet the LLVM of an OpenCL driver. */
#ifndef RS_LAB_CLI_ANALYZER_H
#define RS_LAB_CLI_ANALYZER_H

#include <jansson.h>

/*
 * Runs restride-analyze with the arguments behind arguments[0], which becomes its path; they end
 * with NULL and contain --json. Its exit status, or RS_EXIT_FAILED with a sentence where it did not
 * run. The caller releases *reply: the JSON, NULL unless the status is RS_EXIT_DONE.
 */
int rs_lab_run_analyzer(const char *verb, char **arguments, json_t **reply);

#endif
