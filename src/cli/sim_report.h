/* What `restride sim` reports of each layout: a table, JSON, a picture or a page. */
#ifndef RS_CLI_SIM_REPORT_H
#define RS_CLI_SIM_REPORT_H

#include "sim/memory.h"

#include <jansson.h>

/* What one layout did. */
typedef struct {
    const char *layout;
    rs_sim_counts counts;
    double *load; /* of each channel: requests */
} rs_sim_result;

typedef struct {
    const rs_sim_device *device;
    const char *key; /* of what was simulated, in JSON: "dims" or "kernel" */
    const char *subject;
    rs_sim_result *results;
    size_t count; /* 1 to RS_SIM_MOST_LAYOUTS */
} rs_sim_report;

enum { RS_SIM_MOST_LAYOUTS = 16 };

/* The device and the forms of the report that the user asked for; NULL and false: not that one. */
typedef struct {
    const char *device; /* a name or a file */
    const char *svg;
    const char *html;
    bool json;
} rs_sim_forms;

/* The rows of a table of options for them, which lie in the member `forms` of `structure`. */
#define RS_SIM_FORM_OPTIONS(structure)                                                             \
    {RS_CLI_TEXT("device", structure, forms.device)}, {RS_CLI_TEXT("svg", structure, forms.svg)},  \
        {RS_CLI_TEXT("html", structure, forms.html)},                                              \
    {                                                                                              \
        RS_CLI_FLAG("json", structure, forms.json)                                                 \
    }

/* Finishes the memory's run and takes its counts; the caller frees result->load. */
restride_status rs_sim_take_result(rs_sim_result *result, rs_sim_memory *memory);

/* Writes the files, then prints the table or JSON; the exit status. */
int rs_sim_write_report(const rs_sim_report *report, const rs_sim_forms *forms);

#endif
