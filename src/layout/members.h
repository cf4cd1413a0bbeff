/* C members between braces, as in f{ float x; float v[3]; struct { int a; } inner[2]; }, made into
 * a record. */
#ifndef RS_LAYOUT_MEMBERS_H
#define RS_LAYOUT_MEMBERS_H

#include "layout/cursor.h"

/* Reads from behind the opening brace to behind the closing one; `packed`: without padding. On
 * failure the record is empty. */
restride_status rs_members_parse(rs_cursor *cursor, bool packed, rs_record *record);

/* Whether a word begins a type that a member may have: "unsigned", "float4". */
bool rs_members_is_type(rs_layout_name word);

/* Reads the rest of such a type, as in "unsigned int" or "char[12]", from behind its first word,
 * which begins at `begin`. */
restride_status rs_members_parse_element(rs_cursor *cursor, size_t begin, rs_layout_name first,
                                         rs_leaf *element);

#endif
