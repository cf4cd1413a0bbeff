/* What became of each grid, for a terminal, as `restride rewrite` says it of arguments. */
#include "programs/analyze/report.h"

#include <string.h>

static const char *string_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != NULL ? text : "";
}

static long long number_of(const json_t *object, const char *key)
{
    return (long long)json_integer_value(json_object_get(object, key));
}

void rs_grids_text(rs_text *text, const json_t *reply)
{
    size_t i;
    json_t *grid;
    if (json_array_size(json_object_get(reply, "grids")) == 0)
        rs_text_add_string(text, "No grid is declared as A[n][m] or told by a comment.\n");
    json_array_foreach(json_object_get(reply, "grids"), i, grid)
    {
        const char *state = string_of(grid, "state");
        rs_text_format(text, "%s (line %lld): ", string_of(grid, "name"), number_of(grid, "line"));
        if (strcmp(state, "kept") == 0)
            rs_text_format(text, "kept: %s:%lld: %s\n", string_of(grid, "file"),
                           number_of(grid, "at"), string_of(grid, "reason"));
        else if (strcmp(state, "row-major") == 0)
            rs_text_format(text, "in rows: %s\n", string_of(grid, "reason"));
        else
            rs_text_format(text, "transformed to \"%s\"\n", string_of(grid, "layout"));
    }
}
