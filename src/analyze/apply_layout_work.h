/*
 * Inside of apply_layout.h: apply_layout.c chooses the layouts and says what was done,
 * apply_layout_output.c writes the source.
 */
#ifndef RS_ANALYZE_APPLY_LAYOUT_WORK_H
#define RS_ANALYZE_APPLY_LAYOUT_WORK_H

#include "analyze/access.h"
#include "analyze/discover.h"
#include "analyze/program.h"
#include "analyze/propagate.h"

#include "source/edits.h"

#include <jansson.h>

typedef struct {
    const json_t *request;
    rs_translation_unit program;
    rs_model_set set;
    rs_propagation found;
    char **wanted;  /* by grid: the layout that a kernel's accesses suggest, or NULL */
    char **reasons; /* by grid: why there is none */
    char **layouts; /* by class: the layout; NULL: rows */
    char **refused; /* by class: why it has none */
    rs_edits edits;
    rs_memory_parallelism launch;
} rs_application;

/* Whether a class stays as it is. */
bool rs_application_keeps(const rs_application *a, int class);

/* An extent as it can be written at an access; NULL when the first one is not told. */
const char *rs_application_extent(const rs_application *a, int grid, int d);

/* Flat pointers in rows are what they are. */
bool rs_application_changes(const rs_application *a, const rs_grid_access *access);

/* Makes the edits, and the source with them, which the caller frees. */
restride_status rs_application_edit(rs_application *a);
restride_status rs_application_write(const rs_application *a, char **source);

#endif
