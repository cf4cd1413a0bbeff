/* Pieces of the report's HTML page: see page.h. */
#include "console/page.h"
#include "base/json.h"

#include <stdbool.h>
#include <string.h>

enum { MOST_IN_NAME = 28 };

extern const char rs_page_style[]; /* page.css */

void rs_page_begin(rs_text *page, const char *title, const char *more_style)
{
    rs_text_add_string(page, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                             "<meta name=\"viewport\" content=\"width=device-width\">\n<title>");
    rs_page_escaped(page, title);
    rs_text_format(page, "</title>\n<style>\n%s%s</style></head><body>\n", rs_page_style,
                   more_style != NULL ? more_style : "");
}

void rs_page_end(rs_text *page)
{
    rs_text_add_string(page, "</body></html>\n");
}

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

/* Whether a character of UTF-8 begins there. */
static bool begins_character(char byte)
{
    return ((unsigned char)byte & 0xc0) != 0x80;
}

void rs_page_shorten(rs_text *text, const char *name)
{
    const size_t length = strlen(name);
    size_t head = MOST_IN_NAME / 2, tail = length - (MOST_IN_NAME - MOST_IN_NAME / 2 - 1);
    if (length <= MOST_IN_NAME) {
        rs_text_add_string(text, name);
        return;
    }
    while (head > 0 && !begins_character(name[head]))
        head--;
    while (!begins_character(name[tail]))
        tail++;
    rs_text_add(text, name, head);
    rs_text_add_string(text, "…");
    rs_text_add_string(text, name + tail);
}

void rs_page_bar_name(rs_text *page, int x, int y, const char *name)
{
    rs_text shown = RS_TEXT_EMPTY;
    rs_page_shorten(&shown, name);
    rs_text_format(page, "<text class=\"name\" x=\"%d\" y=\"%d\" text-anchor=\"end\"><title>", x,
                   y);
    rs_page_escaped(page, name);
    rs_text_add_string(page, "</title>");
    rs_page_escaped(page, shown.data);
    rs_text_add_string(page, "</text>\n");
    rs_text_free(&shown);
}

const char *rs_page_string(const json_t *object, const char *key)
{
    const char *string = rs_json_string_of(object, key);
    return string != NULL ? string : "";
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

void rs_page_bytes(rs_text *page, double bytes)
{
    static const struct {
        double bytes;
        const char *name;
        int decimals;
    } units[] = {{1e9, "GB", 2}, {1e6, "MB", 1}, {1e3, "kB", 0}, {1, "bytes", 0}};
    size_t unit = 0;
    while (unit < sizeof units / sizeof units[0] - 1 && bytes < units[unit].bytes)
        unit++;
    rs_text_format(page, "%.*f %s", units[unit].decimals, bytes / units[unit].bytes,
                   units[unit].name);
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
