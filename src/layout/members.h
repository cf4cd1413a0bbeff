/* C members between braces, as in f{ float x; float v[3]; struct { int a; } inner[2]; }, made into
 * a record. */
#ifndef RS_LAYOUT_MEMBERS_H
#define RS_LAYOUT_MEMBERS_H

#include "layout/cursor.h"

/* Reads from behind the opening brace to behind the closing one. On failure the record is empty. */
restride_status rs_members_parse(rs_cursor *cursor, rs_record *record);

#endif
