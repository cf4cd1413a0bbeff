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

/* Puts a member into an object, or all members of another one, and takes the reference over. NULL:
 * memory was short. */
restride_status rs_json_put(json_t *object, const char *key, json_t *value);
restride_status rs_json_add(json_t *object, json_t *members);

/* Adds why something stays as it is, as members `reason`, `file` and `line`. */
restride_status rs_json_explain(json_t *object, const char *reason, const char *file, size_t line);

/* Whether a key is "ARGUMENT" or "KERNEL.ARGUMENT". */
bool rs_json_key_names(const char *key, const char *kernel, const char *argument);

/* What was written to a text, which is freed; "" where memory was short. */
json_t *rs_json_take(rs_text *text);

/* Adds "FILE:LINE: " from the members `file` and `line` of an object: "FILE: " where the line is
 * 0, for something that has none, and nothing without a file. */
void rs_json_add_place(rs_text *text, const json_t *object);

/* A member of an object: NULL, 0 and false where it has none of that kind. */
const char *rs_json_string_of(const json_t *object, const char *key);
long long rs_json_integer_of(const json_t *object, const char *key);
double rs_json_number_of(const json_t *object, const char *key);
bool rs_json_flag_of(const json_t *object, const char *key);

/* The object of an array whose member `name` is that; NULL. */
json_t *rs_json_named(const json_t *array, const char *name);

/* Whether an array has an equal value. */
bool rs_json_has(const json_t *array, const json_t *value);

#endif
