/* JSON as text, and text as JSON. */
#ifndef RS_BASE_JSON_H
#define RS_BASE_JSON_H

#include "base/text.h"

#include <jansson.h>
#include <stdbool.h>

/* Indented, members in the order they were added. NULL when memory is short or `value` is NULL; the
 * caller frees it. Unlike that of json_dumps(), the text is whole or not there. */
char *rs_json_text(const json_t *value);

/* A text of the user's or of the system's, such as a file name: where it is not UTF-8, everything
 * but ASCII is replaced. NULL when memory is short or `text` is NULL. */
json_t *rs_json_string(const char *text);

/* Adds "FILE:LINE: " from the members `file` and `line` of an object: "FILE: " where the line is
 * 0, for something that has none, and nothing without a file. */
void rs_json_add_place(rs_text *text, const json_t *object);

/* Whether an array has an equal value. */
bool rs_json_has(const json_t *array, const json_t *value);

#endif
