/* See common.h. */
#include "analyze/common.h"

#include "analyze/declared.h"
#include "base/list.h"
#include "source/query.h"

#include <stdlib.h>
#include <string.h>

/* ---- the variables of a program ---- */

static bool is_common(const rs_syntax_declaration *declared)
{
    const rs_syntax_type *type = rs_declared_type(declared);
    if (type->kind == RS_TYPE_ARRAY || type->kind == RS_TYPE_REFERENCE ||
        rs_variable_is_constant(declared))
        return false;
    return rs_variable_lasts(declared) || declared->space == RS_SYNTAX_SPACE_SHARED ||
           declared->space == RS_SYNTAX_SPACE_GLOBAL;
}

bool rs_common_find(const rs_translation_unit *program, rs_common_list *found)
{
    *found = (rs_common_list){NULL, 0};
    for (int i = 1; i < program->tree.node_count && program->language != RS_LANGUAGE_C; i++) {
        const rs_syntax_declaration *declared = program->tree.nodes[i].declaration;
        if (program->tree.nodes[i].is != RS_NODE_VARIABLE || !is_common(declared))
            continue;
        char *name = RS_LIST_GROW(found->list, found->count) ? strdup(declared->name) : NULL;
        if (name == NULL)
            return false;
        bool outlives = rs_variable_is_open(declared);
        found->list[found->count++] =
            (rs_common){rs_declared_key(declared), name, outlives,
                        !outlives && declared->space == RS_SYNTAX_SPACE_SHARED,
                        rs_type_is_integer(rs_declared_type(declared))};
    }
    return true;
}

void rs_common_free(rs_common_list *list)
{
    for (int i = 0; i < list->count; i++)
        free(list->list[i].name);
    free(list->list);
    *list = (rs_common_list){NULL, 0};
}
