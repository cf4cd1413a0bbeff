/* What restride-lab apps prints and draws of its measurements (apps.c), which are JSON. */
#ifndef RS_LAB_CLI_APPS_REPORT_H
#define RS_LAB_CLI_APPS_REPORT_H

#include "base/status.h"

#include <jansson.h>

enum { RS_LAB_APPS_MOST_CASES = 16 };

/* The heads of the table's columns, and a row. */
void rs_lab_apps_print_head(void);
void rs_lab_apps_print_case(const json_t *measured);

/* Writes apps-speedup.svg and apps-net.svg into the folder, from an array of up to
 * RS_LAB_APPS_MOST_CASES measurements. */
restride_status rs_lab_apps_draw(const json_t *all, const char *folder);

#endif
