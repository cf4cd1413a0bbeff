/* See common.h. */
#include "analyze/common.h"

#include "analyze/declared.h"
#include "source/query.h"

#include <stdlib.h>
#include <string.h>

/* ---- the variables of a program ---- */

static enum CXChildVisitResult find_space(CXCursor cursor, CXCursor parent, CXClientData data)
{
    (void)parent;
    enum CXCursorKind kind = clang_getCursorKind(cursor);
    if (kind != CXCursor_CUDASharedAttr && kind != CXCursor_CUDADeviceAttr)
        return CXChildVisit_Continue;
    *(bool *)data = true;
    return CXChildVisit_Break;
}

/* Whether the type of an OpenCL variable has an address space that work-items share: of a pointer
 * its own, not that of what it points to. */
static bool has_space(CXCursor declared, const char *space)
{
    CXString spelling = clang_getTypeSpelling(clang_getCursorType(declared));
    const char *text = clang_getCString(spelling);
    const char *star = text == NULL ? NULL : strrchr(text, '*');
    text = star != NULL ? star : text;
    bool has = text != NULL && strstr(text, space) != NULL;
    clang_disposeString(spelling);
    return has;
}

static bool is_common(const rs_translation_unit *program, CXCursor declared)
{
    CXType type = clang_getCanonicalType(clang_getCursorType(declared));
    bool common = rs_variable_lasts(declared);
    if (rs_kind_is_array(type.kind) || rs_kind_is_reference(type.kind) ||
        rs_variable_is_constant(declared))
        return false;
    if (program->language == RS_LANGUAGE_OPENCL)
        common = common || has_space(declared, "__local") || has_space(declared, "__global");
    else
        clang_visitChildren(declared, find_space, &common);
    return common;
}

static bool is_of_group(const rs_translation_unit *program, CXCursor declared)
{
    return program->language == RS_LANGUAGE_OPENCL ? has_space(declared, "__local")
                                                   : rs_variable_is_shared(declared);
}

bool rs_common_find(const rs_translation_unit *program, rs_common_list *found)
{
    *found = (rs_common_list){NULL, 0};
    for (int i = 1; i < program->tree.node_count && program->language != RS_LANGUAGE_C; i++) {
        CXCursor declared = program->tree.nodes[i].cursor;
        if (program->tree.nodes[i].kind != CXCursor_VarDecl || !is_common(program, declared))
            continue;
        rs_common *grown = realloc(found->list, ((size_t)found->count + 1) * sizeof *grown);
        if (grown == NULL)
            return false;
        found->list = grown;
        CXString spelling = clang_getCursorSpelling(declared);
        char *name = strdup(clang_getCString(spelling));
        clang_disposeString(spelling);
        if (name == NULL)
            return false;
        bool outlives = rs_variable_is_open(declared);
        CXType type = clang_getCanonicalType(clang_getCursorType(declared));
        grown[found->count++] = (rs_common){rs_cursor_key(declared), name, outlives,
                                            !outlives && is_of_group(program, declared),
                                            type.kind >= CXType_Bool && type.kind <= CXType_Int128};
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
