/* Which parts of an access depend on the order in which they are evaluated. */
#include "rewrite/order.h"
#include "rewrite/linear.h"
#include "rewrite/locals.h"
#include "rewrite/values.h"

#include "source/query.h"

#include <string.h>

enum { PART_LIMIT = 2 * RS_PIECE_LIMIT + 1, CALL_DEPTH = 4 };

static enum CXCursorKind referenced_kind(const rs_tree *tree, int node)
{
    return clang_getCursorKind(clang_getCursorReferenced(tree->nodes[node].cursor));
}

bool rs_has_conversion(const rs_tree *tree, int node)
{
    bool found = false;
    for (int n = node, end = rs_node_behind(tree, node); n < end && !found; n++)
        found = tree->nodes[n].kind == CXCursor_CallExpr &&
                referenced_kind(tree, n) == CXCursor_ConversionFunction;
    return found;
}

/* ---- what only computes ---- */

/* A variable of a function that nothing but its own name leads to, as long as nobody takes its
 * address. */
static bool is_plain_variable(CXCursor declared)
{
    enum CXCursorKind kind = clang_getCursorKind(declared);
    CXType type = clang_getCanonicalType(clang_getCursorType(declared));
    return (kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl) &&
           clang_getCursorKind(clang_getCursorSemanticParent(declared)) == CXCursor_FunctionDecl &&
           clang_Cursor_getStorageClass(declared) != CX_SC_Static &&
           clang_Cursor_getStorageClass(declared) != CX_SC_Extern &&
           !rs_kind_is_reference(type.kind);
}

static bool is_constant(CXCursor declared)
{
    CXType type = clang_getCanonicalType(clang_getCursorType(declared));
    return clang_getCursorKind(declared) == CXCursor_EnumConstantDecl ||
           clang_isConstQualifiedType(type) != 0;
}

static bool gets_numbers(CXType function)
{
    bool numbers = true;
    for (int i = 0; i < clang_getNumArgTypes(function) && numbers; i++) {
        enum CXTypeKind kind = clang_getCanonicalType(clang_getArgType(function, (unsigned)i)).kind;
        numbers = kind != CXType_Pointer && kind != CXType_Record && !rs_kind_is_reference(kind);
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

static bool touches_its_own(const rs_tree *tree, CXCursor function, int depth);

/* Whether a call only computes: one of a function that gets numbers, and is CUDA's own or touches
 * nothing but its own variables. */
static bool is_pure_call(const rs_tree *tree, int call, int depth)
{
    CXCursor called = clang_getCursorReferenced(tree->nodes[call].cursor);
    if (clang_getCursorKind(called) != CXCursor_FunctionDecl ||
        !gets_numbers(clang_getCursorType(called)))
        return false;
    if (clang_Location_isFromMainFile(clang_getCursorLocation(called)) == 0)
        return !waits(called);
    return depth > 0 && touches_its_own(tree, called, depth - 1);
}

/* Whether a node, apart from what is below it, only computes from a function's own variables and
 * from constants. */
static bool is_own(const rs_tree *tree, int node, int depth)
{
    CXCursor declared = clang_getCursorReferenced(tree->nodes[node].cursor);
    switch (tree->nodes[node].kind) {
    case CXCursor_CallExpr:
        return is_pure_call(tree, node, depth);
    case CXCursor_DeclRefExpr:
        return clang_getCursorKind(declared) == CXCursor_FunctionDecl ||
               is_plain_variable(declared) || is_constant(declared);
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

static bool touches_its_own(const rs_tree *tree, CXCursor function, int depth)
{
    CXCursor definition = clang_getCursorDefinition(function);
    int found = -1;
    for (int n = 0; n < tree->node_count && found < 0; n++)
        if (clang_equalCursors(tree->nodes[n].cursor, definition) != 0)
            found = n;
    bool own = found >= 0;
    for (int n = found + 1, end = own ? rs_node_behind(tree, found) : 0; n < end && own; n++)
        own = is_own(tree, n, depth);
    return own;
}

/* ---- parts ---- */

/* What a part does when it is evaluated. */
typedef struct {
    bool changes;          /* a variable, by its name */
    bool changes_anything; /* or perhaps something else */
    bool reads_anything;   /* not only variables by their names, and constants */
} effects;

/* The variable that a node assigns to; a null cursor for another place. */
static CXCursor changed_by(const rs_tree *tree, int assignment)
{
    int target = rs_node_inner(tree, tree->nodes[assignment].first);
    CXCursor changed = clang_getCursorReferenced(tree->nodes[target].cursor);
    return tree->nodes[target].kind == CXCursor_DeclRefExpr && is_plain_variable(changed)
               ? changed
               : clang_getNullCursor();
}

static bool reads_memory(const rs_tree *tree, int node)
{
    const rs_node *n = &tree->nodes[node];
    return n->kind == CXCursor_ArraySubscriptExpr ||
           (n->kind == CXCursor_MemberRefExpr && n->first >= 0 &&
            rs_node_is_pointer(tree, n->first)) ||
           (n->kind == CXCursor_UnaryOperator && rs_node_is_prefix(tree, node, "*"));
}

static effects effects_of(const rs_tree *tree, int part)
{
    effects e = {false, false, false};
    for (int n = part, end = rs_node_behind(tree, part); n < end; n++) {
        bool own = is_own(tree, n, CALL_DEPTH), assigns = rs_node_is_assignment(tree, n);
        e.changes = e.changes || assigns;
        if ((assigns && clang_Cursor_isNull(changed_by(tree, n)) != 0) ||
            (!own && tree->nodes[n].kind != CXCursor_DeclRefExpr))
            e.changes = e.changes_anything = true;
        e.reads_anything = e.reads_anything || !own || reads_memory(tree, n);
    }
    return e;
}

/* Whether a part mentions a variable that another one assigns to. */
static bool mentions_changed(const rs_tree *tree, int part, int changing)
{
    bool found = false;
    for (int n = changing, end = rs_node_behind(tree, changing); n < end; n++) {
        if (!rs_node_is_assignment(tree, n))
            continue;
        CXCursor changed = changed_by(tree, n);
        for (int m = part, last = rs_node_behind(tree, part); m < last && !found; m++)
            found =
                tree->nodes[m].kind == CXCursor_DeclRefExpr &&
                clang_equalCursors(clang_getCursorReferenced(tree->nodes[m].cursor), changed) != 0;
    }
    return found;
}

/* Whether everything that a part mentions is constant, or a variable that only its name changes:
 * nobody takes its address or refers to it. */
static bool mentions_private(const rs_tree *tree, int part)
{
    bool all = true;
    for (int m = part, last = rs_node_behind(tree, part); m < last && all; m++) {
        CXCursor named = clang_getCursorReferenced(tree->nodes[m].cursor);
        if (tree->nodes[m].kind != CXCursor_DeclRefExpr || is_constant(named))
            continue;
        for (int n = 0; n < tree->node_count && all; n++)
            if (tree->nodes[n].kind == CXCursor_DeclRefExpr &&
                clang_equalCursors(clang_getCursorReferenced(tree->nodes[n].cursor), named) != 0)
                all =
                    rs_is_used_as_value(tree, n) && !rs_node_is_below(tree, n, CXCursor_LambdaExpr);
    }
    return all;
}

/* Whether one part may be evaluated before or after another. */
static bool is_independent(const rs_tree *tree, int part, int other)
{
    effects change = effects_of(tree, other);
    long long value;
    if (!change.changes || rs_constant_value(tree, part, &value))
        return true;
    return !effects_of(tree, part).reads_anything && !mentions_changed(tree, part, other) &&
           (!change.changes_anything || mentions_private(tree, part));
}

bool rs_parts_have_no_order(const rs_tree *tree, const rs_access *access)
{
    int parts[PART_LIMIT], count = 0;
    parts[count++] = access->pointer;
    for (int i = 0; i < access->index_count; i++)
        parts[count++] = access->index[i];
    for (int i = 0; i < access->subscript_count; i++)
        parts[count++] = access->subscript[i];
    bool any_order = true;
    for (int i = 0; i < count && any_order; i++)
        for (int k = 0; k < count && any_order; k++)
            any_order = i == k || is_independent(tree, parts[i], parts[k]);
    return any_order;
}
