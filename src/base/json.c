/* JSON as text; see json.h. */
#include "base/json.h"
#include "base/text.h"

static int append(const char *bytes, size_t size, void *text)
{
    rs_text_add(text, bytes, size);
    return 0;
}

/* Not json_dumps(): when memory is short jansson 2.14 may leave out the end of a key and go on, and
 * rs_text does not forget that it failed. */
char *rs_json_text(const json_t *value)
{
    rs_text text = RS_TEXT_EMPTY;
    if (value == NULL ||
        json_dump_callback(value, append, &text, JSON_INDENT(2) | JSON_PRESERVE_ORDER) != 0)
        text.failed = true;
    return rs_text_take(&text);
}
