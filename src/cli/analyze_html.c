/* The analysis as a page. */
#include "cli/analyzer.h"

void rs_analysis_html(rs_text *text, const json_t *reply)
{
    (void)reply;
    rs_text_add_string(text, "");
}
