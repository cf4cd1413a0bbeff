/* The description of a device (sim/device.h) with what was measured in place of what a description
 * that comes with Restride says. */
#ifndef RS_LAB_PROBE_DESCRIPTION_H
#define RS_LAB_PROBE_DESCRIPTION_H

#include "base/text.h"
#include "lab/probe/steering.h"

typedef struct {
    const char *name;
    size_t processors;
    size_t fetch_bytes; /* fetched at least from memory; 0: not measured */
    double bytes_a_second;
    const rs_probe_steering *steering;
} rs_probe_findings;

/* Adds the text of `base` (a valid description) with the fields that were measured replaced and
 * marked so; whatever is not marked is the base's. */
restride_status rs_probe_describe(rs_text *text, const rs_probe_findings *findings,
                                  const char *base, const char *base_name);

#endif
