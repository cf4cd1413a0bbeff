#include "rewrite/names.h"

#include "base/text.h"
#include "rewrite/model.h"
#include "source/query.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    enum CXCursorKind kind;
    bool is_tag; /* in C a name of its own, behind its keyword */
} kinds[] = {{CXCursor_StructDecl, true},        {CXCursor_UnionDecl, true},
             {CXCursor_EnumDecl, true},          {CXCursor_ClassDecl, true},
             {CXCursor_TypedefDecl, false},      {CXCursor_TypeAliasDecl, false},
             {CXCursor_UsingDeclaration, false}, {CXCursor_VarDecl, false},
             {CXCursor_ParmDecl, false},         {CXCursor_EnumConstantDecl, false},
             {CXCursor_FunctionDecl, false}};

static restride_status add(rs_inner_names *names, const char *blank, const char *name)
{
    if (name[0] == '\0') /* a parameter may have none */
        return RESTRIDE_OK;
    char **grown = rs_model_room(names->items, (int)names->count, sizeof *grown);
    rs_text text = RS_TEXT_EMPTY;
    if (grown != NULL) {
        names->items = grown;
        rs_text_format(&text, "%s%s", blank, name);
        grown[names->count] = rs_text_take(&text);
    }
    if (grown == NULL || grown[names->count] == NULL)
        return rs_fail_memory("the names of a source");
    names->count++;
    return RESTRIDE_OK;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

restride_status rs_inner_names_find(rs_inner_names *names, const rs_tree *tree)
{
    restride_status status = RESTRIDE_OK;
    *names = (rs_inner_names){NULL, 0};
    for (int n = 0; n < tree->node_count && status == RESTRIDE_OK; n++)
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
            if (tree->nodes[n].kind != kinds[i].kind ||
                !rs_node_is_below(tree, n, CXCursor_FunctionDecl))
                continue;
            CXString spelling = clang_getCursorSpelling(tree->nodes[n].cursor);
            status = add(names, "", clang_getCString(spelling));
            if (kinds[i].is_tag && status == RESTRIDE_OK)
                status = add(names, " ", clang_getCString(spelling));
            clang_disposeString(spelling);
        }
    if (names->count > 0)
        qsort(names->items, names->count, sizeof *names->items, compare_names);
    return status;
}

bool rs_inner_names_hide(const rs_inner_names *names, const char *type)
{
    const char *blank = strrchr(type, ' ');
    const char *name = blank != NULL ? blank : type;
    return names->count > 0 &&
           bsearch(&name, names->items, names->count, sizeof *names->items, compare_names) != NULL;
}

void rs_inner_names_free(rs_inner_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
    *names = (rs_inner_names){NULL, 0};
}
