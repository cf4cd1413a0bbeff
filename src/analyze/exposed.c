/* See exposed.h. */
#include "analyze/exposed.h"

#include "analyze/walk.h"
#include "source/query.h"

#include <stdlib.h>

rs_stored rs_stored_of(CXType type)
{
    type = clang_getCanonicalType(type);
    if (rs_kind_is_reference(type.kind))
        type = clang_getCanonicalType(clang_getPointeeType(type));
    if (type.kind == CXType_Pointer)
        return RS_STORED_POINTER;
    if ((type.kind >= CXType_Float && type.kind <= CXType_LongDouble) || type.kind == CXType_Half)
        return RS_STORED_FLOATING;
    bool character = clang_Type_getSizeOf(type) == 1;
    bool integer =
        (type.kind >= CXType_Bool && type.kind <= CXType_Int128) || type.kind == CXType_Enum;
    return integer && !character ? RS_STORED_INTEGER : RS_STORED_ANYTHING;
}

bool rs_stored_may_change(rs_stored stored, rs_stored variable)
{
    return stored == variable || stored == RS_STORED_ANYTHING || variable == RS_STORED_ANYTHING;
}

bool rs_variable_lasts(CXCursor declared)
{
    enum CX_StorageClass storage = clang_Cursor_getStorageClass(declared);
    return clang_getCursorKind(declared) == CXCursor_VarDecl &&
           (storage == CX_SC_Static || storage == CX_SC_Extern || rs_cursor_is_global(declared));
}

int rs_root_name(const rs_tree *tree, int node)
{
    node = rs_node_inner(tree, node);
    while (node >= 0 && tree->nodes[node].kind != CXCursor_DeclRefExpr) {
        enum CXCursorKind kind = tree->nodes[node].kind;
        int base = rs_node_child(tree, node, 0);
        bool part = kind == CXCursor_MemberRefExpr || kind == CXCursor_ArraySubscriptExpr ||
                    kind == CXCursor_UnexposedExpr;
        if (!part || base < 0 || rs_node_type(tree, base).kind == CXType_Pointer)
            return -1;
        node = rs_node_inner(tree, base);
    }
    return node;
}

static bool add(const rs_tree *tree, rs_exposed_list *found, int node, bool lasts)
{
    CXCursor declared = clang_getCursorReferenced(tree->nodes[node].cursor);
    enum CXCursorKind kind = clang_getCursorKind(declared);
    if (kind != CXCursor_VarDecl && kind != CXCursor_ParmDecl)
        return true;
    CXType type = clang_getCanonicalType(clang_getCursorType(declared));
    uint64_t key = rs_cursor_key(NULL, declared);
    if (rs_kind_is_array(type.kind))
        return true;
    for (int i = 0; i < found->count; i++)
        if (found->list[i].key == key)
            return true;
    if (found->count == found->capacity) {
        int wanted = found->capacity == 0 ? 16 : found->capacity * 2;
        rs_exposed *grown = realloc(found->list, (size_t)wanted * sizeof *grown);
        if (grown == NULL)
            return false;
        found->list = grown;
        found->capacity = wanted;
    }
    found->list[found->count++] = (rs_exposed){key, node, rs_stored_of(type), lasts};
    return true;
}

static bool add_root(const rs_tree *tree, rs_exposed_list *found, int node)
{
    int root = node < 0 ? -1 : rs_root_name(tree, node);
    return root < 0 || add(tree, found, root, false);
}

static enum CXChildVisitResult find_constant(CXCursor cursor, CXCursor parent, CXClientData data)
{
    (void)parent;
    if (clang_getCursorKind(cursor) != CXCursor_CUDAConstantAttr)
        return CXChildVisit_Continue;
    *(bool *)data = true;
    return CXChildVisit_Break;
}

/* A name of what outlives its function and may be written. */
static bool add_lasting(const rs_tree *tree, rs_exposed_list *found, int node)
{
    CXCursor declared = clang_getCursorReferenced(tree->nodes[node].cursor);
    bool constant = clang_isConstQualifiedType(clang_getCursorType(declared)) != 0;
    if (clang_getCursorKind(declared) != CXCursor_VarDecl || !rs_variable_lasts(declared) ||
        constant)
        return true;
    clang_visitChildren(declared, find_constant, &constant);
    return constant || add(tree, found, node, true);
}

/* The arguments that a function takes by reference. */
static bool add_arguments(const rs_tree *tree, rs_exposed_list *found, int node)
{
    CXCursor declared = clang_getCursorReferenced(tree->nodes[node].cursor);
    int callee = tree->nodes[node].first, which = 0;
    bool constructs = clang_getCursorKind(declared) == CXCursor_Constructor;
    int argument = constructs ? callee : rs_node_argument(tree, node);
    int named = constructs ? -1 : rs_node_operator(tree, node);
    bool ok = true;
    for (; argument >= 0 && ok; argument = tree->nodes[argument].next) {
        if (argument == named)
            continue;
        CXCursor parameter = clang_Cursor_getArgument(declared, (unsigned)which++);
        if (!clang_Cursor_isNull(parameter) &&
            rs_kind_is_reference(clang_getCanonicalType(clang_getCursorType(parameter)).kind))
            ok = add_root(tree, found, argument);
    }
    return ok;
}

static bool add_of(const rs_tree *tree, rs_exposed_list *found, int node)
{
    switch ((int)tree->nodes[node].kind) {
    case CXCursor_UnaryOperator:
        return !rs_node_is_prefix(tree, node, "&") ||
               add_root(tree, found, rs_node_child(tree, node, 0));
    case CXCursor_VarDecl: {
        CXType type = clang_getCanonicalType(clang_getCursorType(tree->nodes[node].cursor));
        return !rs_kind_is_reference(type.kind) || add_root(tree, found, rs_node_last(tree, node));
    }
    case CXCursor_CallExpr:
        return add_arguments(tree, found, node);
    case CXCursor_DeclRefExpr:
        return add_lasting(tree, found, node) &&
               (!rs_node_is_below(tree, node, CXCursor_LambdaExpr) ||
                add(tree, found, node, false));
    default:
        return true;
    }
}

bool rs_exposed_find(const rs_program *program, rs_exposed_list *found)
{
    bool ok = true;
    *found = (rs_exposed_list){NULL, 0, 0};
    for (int node = 0; node < program->tree.node_count && ok; node++)
        ok = add_of(&program->tree, found, node);
    return ok;
}

void rs_exposed_free(rs_exposed_list *list)
{
    free(list->list);
    *list = (rs_exposed_list){NULL, 0, 0};
}
