/* JSON as text. */
#ifndef RS_BASE_JSON_H
#define RS_BASE_JSON_H

#include <jansson.h>

/* Indented, members in the order they were added. NULL when memory is short or `value` is NULL; the
 * caller frees it. Unlike that of json_dumps(), the text is whole or not there. */
char *rs_json_text(const json_t *value);

#endif
