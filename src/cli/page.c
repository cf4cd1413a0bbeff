/* Pieces of the report's HTML page: see page.h. */
#include "cli/page.h"

#include <string.h>

void rs_page_escaped(rs_text *page, const char *string)
{
    for (; string != NULL && *string != '\0'; string++) {
        if (*string == '<')
            rs_text_add_string(page, "&lt;");
        else if (*string == '>')
            rs_text_add_string(page, "&gt;");
        else if (*string == '&')
            rs_text_add_string(page, "&amp;");
        else if (*string == '"')
            rs_text_add_string(page, "&quot;");
        else
            rs_text_add(page, string, 1);
    }
}

const char *rs_page_string(const json_t *object, const char *key)
{
    const char *string = json_string_value(json_object_get(object, key));
    return string != NULL ? string : "";
}

double rs_page_number(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

void rs_page_time(rs_text *page, double seconds)
{
    if (seconds == 0)
        rs_text_add_string(page, "0 s");
    else if (seconds >= 1)
        rs_text_format(page, "%.2f s", seconds);
    else if (seconds >= 1e-3)
        rs_text_format(page, "%.2f ms", seconds * 1e3);
    else
        rs_text_format(page, "%.1f µs", seconds * 1e6);
}

void rs_page_image(rs_text *page, const char *svg, const char *description)
{
    rs_text_add_string(page, "<img alt=\"");
    rs_page_escaped(page, description);
    rs_text_add_string(page, "\" src=\"data:image/svg+xml,");
    for (const char *at = svg; *at != '\0'; at++) {
        if (strchr("%#\"<>\n", *at) != NULL)
            rs_text_format(page, "%%%02X", (unsigned)*at);
        else
            rs_text_add(page, at, 1);
    }
    rs_text_add_string(page, "\">\n");
}
