#include "rewrite/purity.h"
#include "rewrite/values.h"

#include "source/query.h"

#include <stdlib.h>
#include <string.h>

/* Calls of functions that are defined behind their callers are followed so deep. */
enum { CALL_DEPTH = 32 };

/* ---- variables ---- */

bool rs_is_plain_variable(CXCursor declared)
{
    enum CXCursorKind kind = clang_getCursorKind(declared);
    CXType type = clang_getCanonicalType(clang_getCursorType(declared));
    return (kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl) &&
           clang_getCursorKind(clang_getCursorSemanticParent(declared)) == CXCursor_FunctionDecl &&
           clang_Cursor_getStorageClass(declared) != CX_SC_Static &&
           clang_Cursor_getStorageClass(declared) != CX_SC_Extern &&
           !rs_kind_is_reference(type.kind);
}

static enum CXChildVisitResult find_constant(CXCursor part, CXCursor parent, CXClientData data)
{
    (void)parent;
    *(bool *)data = clang_getCursorKind(part) == CXCursor_CUDAConstantAttr;
    return *(bool *)data ? CXChildVisit_Break : CXChildVisit_Continue;
}

/* Whether a variable never changes while a kernel runs. */
static bool is_constant(CXCursor declared)
{
    CXType type = clang_getCanonicalType(clang_getCursorType(declared));
    bool constant = clang_getCursorKind(declared) == CXCursor_EnumConstantDecl ||
                    clang_isConstQualifiedType(type) != 0;
    if (!constant && clang_getCursorKind(declared) == CXCursor_VarDecl)
        clang_visitChildren(declared, find_constant, &constant); /* __constant__ */
    return constant;
}

/* Parts of arrays and structures change without an assignment to their names. */
static bool is_scalar(CXCursor declared)
{
    enum CXTypeKind kind = clang_getCanonicalType(clang_getCursorType(declared)).kind;
    return (kind >= CXType_FirstBuiltin && kind <= CXType_LastBuiltin) || kind == CXType_Enum ||
           kind == CXType_Pointer;
}

bool rs_is_private(const rs_purities *purities, CXCursor declared)
{
    if (is_constant(declared) || clang_getCursorKind(declared) == CXCursor_FunctionDecl)
        return true;
    const rs_declared *known = rs_declared_find(purities, declared);
    return known != NULL && rs_is_plain_variable(declared) && is_scalar(declared) &&
           !known->address_taken;
}

/* ---- functions ---- */

static bool gets_numbers(CXType function)
{
    bool numbers = true;
    for (int i = 0; i < clang_getNumArgTypes(function) && numbers; i++) {
        enum CXTypeKind kind = clang_getCanonicalType(clang_getArgType(function, (unsigned)i)).kind;
        numbers = kind != CXType_Pointer && kind != CXType_Record && !rs_kind_is_array(kind) &&
                  !rs_kind_is_reference(kind);
    }
    return numbers;
}

static bool waits(CXCursor function)
{
    CXString spelling = clang_getCursorSpelling(function);
    bool found = strncmp(clang_getCString(spelling), "__sync", strlen("__sync")) == 0;
    clang_disposeString(spelling);
    return found;
}

static bool touches_its_own(rs_purities *purities, CXCursor function, int depth);

/* Whether a call only computes: one of a function that gets numbers, and is CUDA's own or touches
 * nothing but its own variables. A number may be an address: it follows no pointer. */
static bool is_pure_call(rs_purities *purities, int call, int depth)
{
    CXCursor called = clang_getCursorReferenced(purities->tree->nodes[call].cursor);
    if (clang_getCursorKind(called) != CXCursor_FunctionDecl ||
        !gets_numbers(clang_getCursorType(called)))
        return false;
    if (clang_Location_isFromMainFile(clang_getCursorLocation(called)) == 0)
        return !waits(called);
    return depth > 0 && touches_its_own(purities, called, depth - 1);
}

static bool is_own(rs_purities *purities, int node, int depth)
{
    const rs_tree *tree = purities->tree;
    CXCursor declared = clang_getCursorReferenced(tree->nodes[node].cursor);
    switch (tree->nodes[node].kind) {
    case CXCursor_CallExpr:
        return is_pure_call(purities, node, depth);
    case CXCursor_DeclRefExpr:
        return clang_getCursorKind(declared) == CXCursor_FunctionDecl ||
               rs_is_plain_variable(declared) || is_constant(declared);
    case CXCursor_LambdaExpr:
    case CXCursor_StmtExpr:
    case CXCursor_GCCAsmStmt:
    case CXCursor_CXXNewExpr:
    case CXCursor_CXXDeleteExpr:
    case CXCursor_CXXThisExpr:
        return false;
    default:
        return true;
    }
}

bool rs_is_own(rs_purities *purities, int node)
{
    return is_own(purities, node, CALL_DEPTH);
}

/* Whether a node is an element of an array, by the array's name: not of a parameter's, which is a
 * pointer. */
static bool is_element(const rs_tree *tree, int node)
{
    int base = rs_node_inner(tree, tree->nodes[node].first);
    if (tree->nodes[node].kind != CXCursor_ArraySubscriptExpr || base < 0)
        return false;
    CXCursor named = clang_getCursorReferenced(tree->nodes[base].cursor);
    return rs_kind_is_array(rs_node_type(tree, base).kind) &&
           clang_getCursorKind(named) != CXCursor_ParmDecl;
}

bool rs_reads_memory(const rs_tree *tree, int node)
{
    const rs_node *n = &tree->nodes[node];
    return (n->kind == CXCursor_ArraySubscriptExpr && !is_element(tree, node)) ||
           (n->kind == CXCursor_MemberRefExpr && n->first >= 0 &&
            rs_node_is_pointer(tree, n->first)) ||
           (n->kind == CXCursor_UnaryOperator && rs_node_is_prefix(tree, node, "*"));
}

static bool touches_its_own(rs_purities *purities, CXCursor function, int depth)
{
    const rs_tree *tree = purities->tree;
    rs_declared *known = rs_declared_find(purities, clang_getCursorDefinition(function));
    if (known == NULL || known->node < 0)
        return false;
    if (known->purity == RS_PURITY_UNKNOWN) {
        known->purity = RS_PURITY_SOUGHT; /* one that calls itself only reads on the way */
        bool own = true;
        for (int n = known->node + 1, end = rs_node_behind(tree, known->node); n < end && own; n++)
            own = is_own(purities, n, depth) && !rs_reads_memory(tree, n);
        known->purity = own ? RS_PURE : RS_IMPURE;
    }
    return known->purity == RS_PURE;
}

/* ---- all of them ---- */

static size_t place_of(const rs_purities *purities, CXCursor cursor)
{
    size_t at = clang_hashCursor(cursor) & (purities->room - 1);
    while (purities->items[at].cursor.kind != 0 &&
           clang_equalCursors(purities->items[at].cursor, cursor) == 0)
        at = (at + 1) & (purities->room - 1);
    return at;
}

rs_declared *rs_declared_find(const rs_purities *purities, CXCursor cursor)
{
    rs_declared *found = purities->room > 0 ? &purities->items[place_of(purities, cursor)] : NULL;
    return found != NULL && found->cursor.kind != 0 ? found : NULL;
}

static rs_declared *declare(rs_purities *purities, CXCursor cursor)
{
    rs_declared *at = &purities->items[place_of(purities, cursor)];
    if (at->cursor.kind == 0)
        *at = (rs_declared){cursor, -1, RS_PURITY_UNKNOWN, false, 0};
    return at;
}

static bool is_definition(const rs_tree *tree, int node)
{
    return tree->nodes[node].kind == CXCursor_FunctionDecl &&
           clang_isCursorDefinition(tree->nodes[node].cursor) != 0;
}

restride_status rs_purities_find(rs_purities *purities, const rs_tree *tree)
{
    size_t count = 0, room = 1;
    int lambda_end = 0;
    for (int n = 0; n < tree->node_count; n++)
        count += tree->nodes[n].kind == CXCursor_DeclRefExpr || is_definition(tree, n);
    while (room < 2 * count + 1)
        room *= 2;
    *purities = (rs_purities){tree, calloc(room, sizeof *purities->items), room, 0};
    if (purities->items == NULL)
        return rs_fail_memory("the functions and variables of a source");
    for (int n = 0; n < tree->node_count; n++) {
        if (is_definition(tree, n))
            declare(purities, tree->nodes[n].cursor)->node = n;
        if (tree->nodes[n].kind == CXCursor_LambdaExpr && n >= lambda_end)
            lambda_end = rs_node_behind(tree, n);
        CXCursor named = clang_getCursorReferenced(tree->nodes[n].cursor);
        if (tree->nodes[n].kind == CXCursor_DeclRefExpr && rs_is_plain_variable(named) &&
            (n < lambda_end || !rs_is_used_as_value(tree, n)))
            declare(purities, named)->address_taken = true;
        else if (tree->nodes[n].kind == CXCursor_DeclRefExpr && rs_is_plain_variable(named))
            declare(purities, named);
    }
    /* In the order of the source, so that most calls are of functions that are known already. */
    for (int n = 0; n < tree->node_count; n++)
        if (is_definition(tree, n))
            touches_its_own(purities, tree->nodes[n].cursor, CALL_DEPTH);
    return RESTRIDE_OK;
}

void rs_purities_free(rs_purities *purities)
{
    free(purities->items);
    *purities = (rs_purities){NULL, NULL, 0, 0};
}
