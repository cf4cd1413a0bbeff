/* What became of each loop nest, for a terminal. */
#include "programs/analyze/report.h"

#include <string.h>

static const char *string_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static void print_copies(rs_text *text, const json_t *nest)
{
    size_t i, r;
    json_t *copy, *reference;
    json_array_foreach(json_object_get(nest, "copies"), i, copy)
    {
        const char *layout = string_of(copy, "layout");
        rs_text_format(text, "    %s: %s of", string_of(copy, "name"), string_of(copy, "rule"));
        json_array_foreach(json_object_get(copy, "references"), r, reference)
            rs_text_format(text, "%s %s", r > 0 ? "," : "", json_string_value(reference));
        if (*layout != '\0')
            rs_text_format(text, "; as a layout '%s' (over \"%s\")", layout,
                           string_of(copy, "dims"));
        rs_text_format(text, "; %s\n",
                       json_is_null(json_object_get(copy, "unpack")) ? "packed before"
                                                                     : "packed before and "
                                                                       "unpacked after");
    }
}

static void print_references(rs_text *text, const json_t *nest)
{
    size_t i;
    json_t *reference;
    json_array_foreach(json_object_get(nest, "references"), i, reference)
        rs_text_format(text, "    %-24s %-5s %s\n", string_of(reference, "text"),
                       json_is_true(json_object_get(reference, "write")) ? "write" : "read",
                       string_of(reference, "access"));
}

static void print_arrays(rs_text *text, const json_t *nest)
{
    size_t i, r;
    json_t *array, *extent;
    rs_text_add_string(text, "its arrays\n");
    json_array_foreach(json_object_get(nest, "arrays"), i, array)
    {
        rs_text_format(text, "    %s: %s memory", string_of(array, "name"),
                       string_of(array, "memory"));
        json_array_foreach(json_object_get(array, "tile"), r, extent)
            rs_text_format(text, "%s%lld", r > 0 ? " x " : ", in tiles of ",
                           (long long)json_integer_value(extent));
        if (json_object_get(array, "reason") != NULL)
            rs_text_format(text, "; not in %s memory: %s", string_of(array, "wanted"),
                           string_of(array, "reason"));
        rs_text_add_string(text, "\n");
    }
}

void rs_application_text(rs_text *text, const json_t *reply)
{
    size_t i;
    json_t *nest;
    int width = (int)json_integer_value(json_object_get(reply, "width"));
    rs_text_add(text, "", 0);
    json_array_foreach(json_object_get(reply, "nests"), i, nest)
    {
        rs_text_format(text, "%s, line %d: ", string_of(nest, "function"),
                       (int)json_integer_value(json_object_get(nest, "line")));
        if (!json_is_true(json_object_get(nest, "applied"))) {
            rs_text_format(text, "left as it is: %s (line %d)\n", string_of(nest, "reason"),
                           (int)json_integer_value(json_object_get(nest, "reason_line")));
            continue;
        }
        if (json_object_get(nest, "arrays") != NULL) {
            print_arrays(text, nest);
            continue;
        }
        rs_text_format(text, "vectors of %d along %s%s\n", width, string_of(nest, "along"),
                       json_is_true(json_object_get(nest, "reduction"))
                           ? "; the order of a sum is changed"
                           : "");
        print_references(text, nest);
        print_copies(text, nest);
    }
}
