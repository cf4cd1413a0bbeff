/*
 * Calls for a host program, in C that is C++ too: they convert buffers of records between the
 * program's order and another layout, and say where a member lies.
 */
#ifndef RS_LAYOUT_HOST_CALLS_H
#define RS_LAYOUT_HOST_CALLS_H

#include "base/text.h"
#include "layout/record.h"

/* Layouts are read and functions made for any number of records, this one: above every sensible
 * tile. */
enum { RS_SAMPLE_COUNT = 1 << 30 };

/* What all calls share. `file` is the source's name, `use` what the comment at the top ends with,
 * in lines that begin with " * ". */
void rs_host_calls_begin(rs_text *out, const char *file, const char *use);

/*
 * NAME_offset() and NAME_marshal(engine, buffer, count, back) for buffers of the record: from the
 * layout `source` into `layout`, or back. `title` says what they are for. Fails where a layout
 * cannot be parsed.
 */
restride_status rs_host_calls_add(rs_text *out, const char *name, const char *title,
                                  const rs_record *record, const char *source, const char *layout);

#endif
