/* What became of each grid, for a terminal, as `restride rewrite` says it of arguments. */
#include "base/json.h"
#include "console/page.h"
#include "programs/analyze/report.h"

#include <string.h>

void rs_grids_text(rs_text *text, const json_t *reply)
{
    size_t i;
    json_t *grid;
    if (json_array_size(json_object_get(reply, "grids")) == 0)
        rs_text_add_string(text, "No grid is declared as A[n][m] or told by a comment.\n");
    json_array_foreach(json_object_get(reply, "grids"), i, grid)
    {
        const char *state = rs_page_string(grid, "state");
        rs_text_format(text, "%s (line %lld): ", rs_page_string(grid, "name"),
                       rs_json_integer_of(grid, "line"));
        if (strcmp(state, "kept") == 0)
            rs_text_format(text, "kept: %s:%lld: %s\n", rs_page_string(grid, "file"),
                           rs_json_integer_of(grid, "at"), rs_page_string(grid, "reason"));
        else if (strcmp(state, "row-major") == 0)
            rs_text_format(text, "in rows: %s\n", rs_page_string(grid, "reason"));
        else
            rs_text_format(text, "transformed to \"%s\"\n", rs_page_string(grid, "layout"));
    }
}
