/* What `restride-lab tune` found of problems, as rows of JSON: the table, the figures, the plots.
 */
#ifndef RS_LAB_CLI_TUNE_REPORT_H
#define RS_LAB_CLI_TUNE_REPORT_H

#include "lab/tune/search.h"

#include <jansson.h>

/* "7200x1800x4": rows, columns and the bytes of an element. */
enum { RS_TUNE_NAME_BYTES = 72 };
void rs_tune_name(char name[RS_TUNE_NAME_BYTES], const rs_matrices *matrices);

/* A row of what was found; with `all` it has every plan. NULL when memory is short. */
json_t *rs_tune_row(const rs_matrices *matrices, const rs_tune_found *found, bool all);

void rs_tune_print_heading(const char *device);
void rs_tune_print_row(const json_t *row);

/* How many rows have an expected time within 25 % of the measured one, and, in the last line, a
 * chosen plan within 10 % of the best; `wanted` problems were asked for. */
void rs_tune_print_summary(const json_t *rows, size_t wanted);
json_t *rs_tune_summary(const json_t *rows, size_t wanted);

/* Whether every choice is that near. */
bool rs_tune_all_near(const json_t *rows);

/* The chosen plans beside the best, and expected times beside the measured ones. */
restride_status rs_tune_draw_choice(const json_t *rows, const char *device, const char *file);
restride_status rs_tune_draw_expected(const json_t *rows, const char *device, const char *file);

#endif
