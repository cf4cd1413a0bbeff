/* Reading a text from left to right, with failures that point at a character of it. */
#ifndef RS_LAYOUT_CURSOR_H
#define RS_LAYOUT_CURSOR_H

#include "layout/layout.h"

typedef struct {
    const char *text;
    size_t position;
    bool in_dims; /* a dimension list; else a layout */
    rs_layout_fault *fault;
} rs_cursor;

/* A name in the text: not zero-terminated. Print it with "%.*s" and RS_NAME_ARGUMENTS. */
typedef struct {
    const char *begin;
    size_t length;
} rs_layout_name;

#define RS_NAME_ARGUMENTS(name) (int)((name).length < 100 ? (name).length : 100), (name).begin

void rs_cursor_skip_blanks(rs_cursor *cursor);

/* The next character is `wanted`: steps over it. */
bool rs_cursor_accept(rs_cursor *cursor, char wanted);

/* The next word is a C identifier: steps over it. */
bool rs_cursor_name(rs_cursor *cursor, rs_layout_name *name);

/* Reads a decimal number; `purpose` completes "a number is expected, ...". */
restride_status rs_cursor_number(rs_cursor *cursor, const char *purpose, size_t *number);

/* Fails with "At character N of the layout "...": " before the given sentence. */
restride_status rs_cursor_fail(const rs_cursor *cursor, restride_status status, size_t position,
                               const char *format, ...) RS_PRINTF(4, 5);

bool rs_name_equal(rs_layout_name name, const char *string);
char *rs_name_copy(rs_layout_name name);

#endif
