/* A record as JSON, the form in which it travels from the rewriter to the layer and into reports:
 * {size, alignment, leaves: [{name, offset, size}]}. A leaf that wants less than its size would has
 * its `alignment`. */
#ifndef RS_LAYOUT_RECORD_JSON_H
#define RS_LAYOUT_RECORD_JSON_H

#include "layout/record.h"

#include <jansson.h>

/* Reads a record, padding found again; *record is the caller's to free, also on failure. */
restride_status rs_record_from_json(rs_record *record, const json_t *description);

/* Writes it, without padding; NULL without memory. */
json_t *rs_record_to_json(const rs_record *record);

#endif
