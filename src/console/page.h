/* Pieces of the report's HTML page and its summary, and the words and numbers of its JSON. */
#ifndef RS_CONSOLE_PAGE_H
#define RS_CONSOLE_PAGE_H

#include "base/text.h"

#include <jansson.h>

/* What is around the contents of a page; `more_style` NULL: no style sheet besides the common one.
 */
void rs_page_begin(rs_text *page, const char *title, const char *more_style);
void rs_page_end(rs_text *page);

/* Text with the characters that HTML has a meaning for as entities; nothing for NULL. */
void rs_page_escaped(rs_text *page, const char *string);

/* A name, without its middle where it is too long for a figure. */
void rs_page_shorten(rs_text *text, const char *name);

/* A name beside a bar of a figure, which ends at `x`; the whole of it is seen with the pointer. */
void rs_page_bar_name(rs_text *page, int x, int y, const char *name);

/* Seconds with a fitting unit. */
void rs_page_time(rs_text *page, double seconds);

/* "8.4 MB": an amount with a fitting unit. */
void rs_page_bytes(rs_text *page, double bytes);

/* A whole SVG document as an image of its own, so that its style stays its own. */
void rs_page_image(rs_text *page, const char *svg, const char *description);

/* A member of an object; "" where it has none. */
const char *rs_page_string(const json_t *object, const char *key);

#endif
