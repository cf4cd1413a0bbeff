/* See json.h. */
#include "base/json.h"

#include <string.h>

static int append(const char *bytes, size_t size, void *text)
{
    rs_text_add(text, bytes, size);
    return 0;
}

/* Not json_dumps(): when memory is short, that of jansson 2.14 may drop the end of a key and still
 * succeed. rs_text remembers that it failed. */
char *rs_json_text(const json_t *value)
{
    rs_text text = RS_TEXT_EMPTY;
    if (value == NULL ||
        json_dump_callback(value, append, &text, JSON_INDENT(2) | JSON_PRESERVE_ORDER) != 0)
        text.failed = true;
    return rs_text_take(&text);
}

restride_status rs_json_put(json_t *object, const char *key, json_t *value)
{
    return value == NULL || json_object_set_new(object, key, value) != 0 ? rs_fail_memory("a reply")
                                                                         : RESTRIDE_OK;
}

restride_status rs_json_add(json_t *object, json_t *members)
{
    const bool is_added = members != NULL && json_object_update(object, members) == 0;
    json_decref(members);
    return is_added ? RESTRIDE_OK : rs_fail_memory("a reply");
}

restride_status rs_json_explain(json_t *object, const char *reason, const char *file, size_t line)
{
    return rs_json_add(object, json_pack("{s:o, s:o, s:I}", "reason", rs_json_string(reason),
                                         "file", rs_json_string(file), "line", (json_int_t)line));
}

bool rs_json_key_names(const char *key, const char *kernel, const char *argument)
{
    const size_t length = strlen(kernel);
    return strcmp(key, argument) == 0 || (strncmp(key, kernel, length) == 0 && key[length] == '.' &&
                                          strcmp(key + length + 1, argument) == 0);
}

json_t *rs_json_take(rs_text *text)
{
    json_t *value = json_string(text->data != NULL ? text->data : "");
    rs_text_free(text);
    return value;
}

json_t *rs_json_string(const char *text)
{
    json_t *string = json_string(text);
    if (string != NULL || text == NULL)
        return string;
    rs_text ascii = RS_TEXT_EMPTY;
    for (const char *c = text; *c != '\0'; c++)
        if ((unsigned char)*c < 0x80)
            rs_text_add(&ascii, c, 1);
        else
            rs_text_add_string(&ascii, "\xEF\xBF\xBD"); /* U+FFFD */
    string = ascii.failed ? NULL : json_string(ascii.data);
    rs_text_free(&ascii);
    return string;
}

const char *rs_json_string_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

long long rs_json_integer_of(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

double rs_json_number_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

bool rs_json_flag_of(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

void rs_json_add_place(rs_text *text, const json_t *object)
{
    const char *file = rs_json_string_of(object, "file");
    const long long line = rs_json_integer_of(object, "line");
    if (file == NULL)
        return;
    rs_text_add_string(text, file);
    if (line > 0)
        rs_text_format(text, ":%lld", line);
    rs_text_add_string(text, ": ");
}

json_t *rs_json_named(const json_t *array, const char *name)
{
    size_t i;
    json_t *entry;
    json_array_foreach(array, i, entry)
    {
        const char *own = rs_json_string_of(entry, "name");
        if (own != NULL && strcmp(own, name) == 0)
            return entry;
    }
    return NULL;
}

bool rs_json_has(const json_t *array, const json_t *value)
{
    bool found = false;
    for (size_t i = 0; i < json_array_size(array) && !found; i++)
        found = json_equal(json_array_get(array, i), value) != 0;
    return found;
}
