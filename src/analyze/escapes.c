/* See escapes.h. */
#include "analyze/escapes.h"

#include "analyze/declared.h"
#include "source/query.h"

#include <stdlib.h>
#include <string.h>

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

static bool add(const rs_tree *tree, rs_escaped_list *found, int node, bool lasts)
{
    CXCursor declared = clang_getCursorReferenced(tree->nodes[node].cursor);
    enum CXCursorKind kind = clang_getCursorKind(declared);
    if (kind != CXCursor_VarDecl && kind != CXCursor_ParmDecl)
        return true;
    CXType type = clang_getCanonicalType(clang_getCursorType(declared));
    uint64_t key = rs_cursor_key(declared);
    if (rs_kind_is_array(type.kind))
        return true;
    for (int i = 0; i < found->count; i++)
        if (found->list[i].key == key)
            return true;
    if (found->count == found->capacity) {
        int wanted = found->capacity == 0 ? 16 : found->capacity * 2;
        rs_escaped *grown = realloc(found->list, (size_t)wanted * sizeof *grown);
        if (grown == NULL)
            return false;
        found->list = grown;
        found->capacity = wanted;
    }
    found->list[found->count++] = (rs_escaped){key, node, rs_stored_of(type), lasts};
    return true;
}

/* All variables that are named below a node. */
static bool add_names(const rs_tree *tree, rs_escaped_list *found, int node)
{
    bool ok = tree->nodes[node].kind != CXCursor_DeclRefExpr || add(tree, found, node, false);
    for (int child = tree->nodes[node].first; child >= 0 && ok; child = tree->nodes[child].next)
        ok = add_names(tree, found, child);
    return ok;
}

/* Of the place of an object, or of a part of one, the operator that chooses it; -1: none does, or
 * a pointer leads there. */
static int chosen_by(const rs_tree *tree, int node)
{
    while (node >= 0 && tree->nodes[node].kind != CXCursor_DeclRefExpr) {
        enum CXCursorKind kind = tree->nodes[node].kind;
        int base = rs_node_inner(tree, rs_node_child(tree, node, 0));
        bool part = kind == CXCursor_MemberRefExpr || kind == CXCursor_ArraySubscriptExpr ||
                    kind == CXCursor_UnexposedExpr;
        if (!part && !(kind == CXCursor_UnaryOperator && rs_node_is_prefix(tree, node, "*")))
            return node;
        if (!part || base < 0 || rs_node_type(tree, base).kind == CXType_Pointer)
            return -1;
        node = base;
    }
    return -1;
}

/* The variable at the root of a place; of one that some operator chooses all that it may be. */
static bool add_root(const rs_tree *tree, rs_escaped_list *found, int node)
{
    node = node < 0 ? -1 : rs_node_inner(tree, node);
    int root = node < 0 ? -1 : rs_root_name(tree, node);
    if (root >= 0)
        return add(tree, found, root, false);
    if (node >= 0 && rs_node_is_list(tree, node))
        return true; /* an object without a name, of their values */
    node = node < 0 ? -1 : chosen_by(tree, node);
    if (node >= 0 && tree->nodes[node].kind == CXCursor_CallExpr)
        node = tree->nodes[node].first; /* the object; add_arguments() looks at the others */
    return node < 0 || add_names(tree, found, node);
}

/* What a place is made of that is no path to a variable: (c ? x : y) = 1. */
static bool add_chosen(const rs_tree *tree, rs_escaped_list *found, int node)
{
    int target = rs_node_inner(tree, rs_node_child(tree, node, 0));
    return target < 0 || rs_root_name(tree, target) >= 0 || add_root(tree, found, target);
}

static bool has_reference(CXType type);

static enum CXVisitorResult find_reference(CXCursor field, CXClientData data)
{
    CXType type = clang_getCanonicalType(clang_getCursorType(field));
    *(bool *)data = rs_kind_is_reference(type.kind) || has_reference(type);
    return *(bool *)data ? CXVisit_Break : CXVisit_Continue;
}

/* Whether a structure, or one in it, has a member that is a reference. */
static bool has_reference(CXType type)
{
    bool found = false;
    while (rs_kind_is_array(type.kind))
        type = clang_getCanonicalType(clang_getArrayElementType(type));
    if (type.kind == CXType_Record)
        clang_Type_visitFields(type, find_reference, &found);
    return found;
}

/* A name of what outlives its function and may be written. */
static bool add_lasting(const rs_tree *tree, rs_escaped_list *found, int node)
{
    CXCursor declared = clang_getCursorReferenced(tree->nodes[node].cursor);
    return clang_getCursorKind(declared) != CXCursor_VarDecl || !rs_variable_is_open(declared) ||
           rs_variable_is_constant(declared) || add(tree, found, node, true);
}

static enum CXChildVisitResult find_maker(CXCursor cursor, CXCursor parent, CXClientData data)
{
    (void)parent;
    bool field = clang_getCursorKind(cursor) == CXCursor_FieldDecl;
    if (clang_getCursorKind(cursor) != CXCursor_CXXBaseSpecifier &&
        !(field && clang_getCanonicalType(clang_getCursorType(cursor)).kind == CXType_Record &&
          clang_isPODType(clang_getCursorType(cursor)) == 0))
        return CXChildVisit_Continue;
    *(bool *)data = true;
    return CXChildVisit_Break;
}

/* Whether a constructor copies the members of a structure of plain ones, and leaves the other as it
 * is. */
static bool copies_plainly(CXCursor constructor)
{
    bool makes = rs_constructor_is_written(constructor) ||
                 (clang_CXXConstructor_isCopyConstructor(constructor) == 0 &&
                  clang_CXXConstructor_isMoveConstructor(constructor) == 0);
    if (!makes)
        clang_visitChildren(clang_getCursorSemanticParent(constructor), find_maker, &makes);
    return !makes;
}

/* The arguments that a function takes by reference. */
static bool add_arguments(const rs_tree *tree, rs_escaped_list *found, int node)
{
    CXCursor declared = clang_getCursorReferenced(tree->nodes[node].cursor);
    int callee = tree->nodes[node].first, which = 0;
    bool constructs = clang_getCursorKind(declared) == CXCursor_Constructor;
    int argument = constructs ? callee : rs_node_argument(tree, node);
    int named = constructs ? -1 : rs_node_operator(tree, node);
    bool ok = true;
    if (constructs && copies_plainly(declared))
        return true;
    for (; argument >= 0 && ok; argument = tree->nodes[argument].next) {
        if (argument == named || clang_isReference(tree->nodes[argument].kind))
            continue;
        CXCursor parameter = clang_Cursor_getArgument(declared, (unsigned)which++);
        if (!clang_Cursor_isNull(parameter) &&
            rs_kind_is_reference(clang_getCanonicalType(clang_getCursorType(parameter)).kind))
            ok = add_root(tree, found, argument);
    }
    return ok;
}

bool rs_switch_hides(const rs_tree *tree, int node, size_t *begin, size_t *end)
{
    int first = tree->nodes[node].first;
    *begin = *end = tree->nodes[node].begin;
    if (tree->nodes[node].kind != CXCursor_SwitchStmt || first < 0)
        return false;
    *end = tree->nodes[first].begin;
    return rs_text_has(tree, *begin, *end, ";");
}

/* The variables that a statement names which is no node of the tree. */
static bool add_hidden(const rs_tree *tree, rs_escaped_list *found, int node)
{
    size_t begin, end;
    bool ok = true, hides = rs_switch_hides(tree, node, &begin, &end);
    for (int i = 1; i < tree->node_count && hides && ok; i++) {
        size_t length = tree->nodes[i].end - tree->nodes[i].begin;
        for (size_t at = begin; tree->nodes[i].kind == CXCursor_DeclRefExpr && at + length <= end;
             at++)
            if (strncmp(tree->text + at, tree->text + tree->nodes[i].begin, length) == 0)
                ok = ok && add(tree, found, i, false);
    }
    return ok;
}

static bool add_of(const rs_tree *tree, rs_escaped_list *found, int node)
{
    switch ((int)tree->nodes[node].kind) {
    case CXCursor_SwitchStmt:
        return add_hidden(tree, found, node);
    case CXCursor_UnaryOperator:
        if (rs_node_is_prefix(tree, node, "&"))
            return add_root(tree, found, rs_node_child(tree, node, 0));
        return !rs_node_is_assignment(tree, node) || add_chosen(tree, found, node);
    case CXCursor_BinaryOperator:
    case CXCursor_CompoundAssignOperator:
        return !rs_node_is_assignment(tree, node) || add_chosen(tree, found, node);
    case CXCursor_InitListExpr:
        return !has_reference(rs_node_type(tree, node)) || add_names(tree, found, node);
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

bool rs_escaped_find(const rs_translation_unit *program, rs_escaped_list *found)
{
    bool ok = true;
    *found = (rs_escaped_list){NULL, 0, 0};
    for (int node = 0; node < program->tree.node_count && ok; node++)
        ok = add_of(&program->tree, found, node);
    return ok;
}

void rs_escaped_free(rs_escaped_list *list)
{
    free(list->list);
    *list = (rs_escaped_list){NULL, 0, 0};
}
