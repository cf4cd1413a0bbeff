/* What became of each loop nest, for a terminal. */
#include "base/json.h"
#include "console/page.h"
#include "programs/analyze/report.h"

static void print_copies(rs_text *text, const json_t *nest)
{
    size_t i, r;
    json_t *copy, *reference;
    json_array_foreach(json_object_get(nest, "copies"), i, copy)
    {
        const char *layout = rs_page_string(copy, "layout");
        rs_text_format(text, "    %s: %s of", rs_page_string(copy, "name"),
                       rs_page_string(copy, "rule"));
        json_array_foreach(json_object_get(copy, "references"), r, reference)
            rs_text_format(text, "%s %s", r > 0 ? "," : "", json_string_value(reference));
        if (*layout != '\0')
            rs_text_format(text, "; as a layout '%s' (over \"%s\")", layout,
                           rs_page_string(copy, "dims"));
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
        rs_text_format(text, "    %-24s %-5s %s\n", rs_page_string(reference, "text"),
                       rs_json_flag_of(reference, "write") ? "write" : "read",
                       rs_page_string(reference, "access"));
}

static void print_arrays(rs_text *text, const json_t *nest)
{
    size_t i, r;
    json_t *array, *extent;
    rs_text_add_string(text, "its arrays\n");
    json_array_foreach(json_object_get(nest, "arrays"), i, array)
    {
        rs_text_format(text, "    %s: %s memory", rs_page_string(array, "name"),
                       rs_page_string(array, "memory"));
        json_array_foreach(json_object_get(array, "tile"), r, extent)
            rs_text_format(text, "%s%lld", r > 0 ? " x " : ", in tiles of ",
                           (long long)json_integer_value(extent));
        if (json_object_get(array, "reason") != NULL)
            rs_text_format(text, "; not in %s memory: %s", rs_page_string(array, "wanted"),
                           rs_page_string(array, "reason"));
        rs_text_add_string(text, "\n");
    }
}

void rs_application_text(rs_text *text, const json_t *reply)
{
    size_t i;
    json_t *nest;
    int width = (int)rs_json_integer_of(reply, "width");
    rs_text_add(text, "", 0);
    json_array_foreach(json_object_get(reply, "nests"), i, nest)
    {
        rs_text_format(text, "%s, line %d: ", rs_page_string(nest, "function"),
                       (int)rs_json_integer_of(nest, "line"));
        if (!rs_json_flag_of(nest, "applied")) {
            rs_text_format(text, "left as it is: %s (line %d)\n", rs_page_string(nest, "reason"),
                           (int)rs_json_integer_of(nest, "reason_line"));
            continue;
        }
        if (json_object_get(nest, "arrays") != NULL) {
            print_arrays(text, nest);
            continue;
        }
        rs_text_format(text, "vectors of %d along %s%s\n", width, rs_page_string(nest, "along"),
                       rs_json_flag_of(nest, "reduction") ? "; the order of a sum is changed" : "");
        print_references(text, nest);
        print_copies(text, nest);
    }
}
