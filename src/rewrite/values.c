/* From an expression that stands for a place, up to what takes its value. */
#include "rewrite/values.h"

#include "rewrite/copying.h"
#include "source/query.h"

typedef enum { AS_VALUE, AS_PLACE, AS_BEFORE /* the node above stands for the same place */ } use;

/* A place on its way up. */
typedef struct {
    const rs_tree *tree;
    int node;
    bool only_read; /* what is above must not assign to it: it was, or is no longer named alone */
} place;

static bool is_reference(CXType type)
{
    return rs_kind_is_reference(clang_getCanonicalType(type).kind);
}

static bool is_qualified(CXType type)
{
    CXType canonical = clang_getCanonicalType(type);
    return clang_isConstQualifiedType(canonical) != 0 ||
           clang_isVolatileQualifiedType(canonical) != 0 ||
           clang_isRestrictQualifiedType(canonical) != 0;
}

/* ---- structures ---- */

static bool is_plain(CXType type);

static enum CXChildVisitResult visit_declared(CXCursor part, CXCursor parent, CXClientData data)
{
    (void)parent;
    bool *plain = data;
    enum CXCursorKind kind = clang_getCursorKind(part);
    *plain = kind != CXCursor_Constructor && kind != CXCursor_FunctionTemplate &&
             kind != CXCursor_CXXBaseSpecifier;
    return *plain ? CXChildVisit_Continue : CXChildVisit_Break;
}

static enum CXVisitorResult visit_field(CXCursor field, CXClientData data)
{
    bool *plain = data;
    *plain = is_plain(clang_getCursorType(field));
    return *plain ? CXVisit_Continue : CXVisit_Break;
}

/* Whether braces around the parts of such a type copy each of them: no reference is inside it, and
 * no constructor that gets one. */
static bool is_plain(CXType type)
{
    CXType canonical = rs_element_type(type);
    bool plain = clang_isPODType(canonical) != 0;
    if (plain && canonical.kind == CXType_Record)
        rs_class_visit(canonical, visit_declared, &plain);
    if (plain && canonical.kind == CXType_Record)
        clang_Type_visitFields(canonical, visit_field, &plain);
    return plain;
}

/* Braces copy into a variable, or into parts of what they make; around something of their own type
 * they may be that thing itself. */
static bool braces_copy(const rs_tree *tree, int node)
{
    int braces = tree->nodes[node].parent;
    if (rs_node_is_designated(tree, node))
        braces = tree->nodes[braces].parent;
    while (tree->nodes[tree->nodes[braces].parent].kind == CXCursor_InitListExpr)
        braces = tree->nodes[braces].parent;
    const rs_node *outer = &tree->nodes[tree->nodes[braces].parent];
    if (outer->kind == CXCursor_VarDecl)
        return is_plain(clang_getCursorType(outer->cursor));
    CXType made = rs_node_type(tree, braces);
    return (made.kind == CXType_Record || made.kind == CXType_ConstantArray) && is_plain(made) &&
           rs_node_type(tree, node).kind != CXType_Record;
}

/* ---- one step up ---- */

static bool returns_reference(const rs_tree *tree, int node)
{
    while (node > 0 && tree->nodes[node].kind != CXCursor_FunctionDecl &&
           tree->nodes[node].kind != CXCursor_LambdaExpr)
        node = tree->nodes[node].parent;
    return tree->nodes[node].kind != CXCursor_FunctionDecl ||
           is_reference(clang_getCursorResultType(tree->nodes[node].cursor));
}

/* Whether what is around a node makes a reference of it. libclang shows a conversion to a value and
 * the end of a whole expression, which may be a place, as the same. */
static bool becomes_reference(const rs_tree *tree, int node)
{
    int up = tree->nodes[node].parent;
    while (tree->nodes[up].kind == CXCursor_ParenExpr ||
           tree->nodes[up].kind == CXCursor_UnexposedExpr)
        up = tree->nodes[up].parent;
    switch (tree->nodes[up].kind) {
    case CXCursor_VarDecl:
        return is_reference(clang_getCursorType(tree->nodes[up].cursor));
    case CXCursor_ReturnStmt:
        return returns_reference(tree, up);
    case CXCursor_LambdaExpr:
    case CXCursor_FieldDecl:
        return true;
    default:
        return false;
    }
}

static bool is_array(CXType type)
{
    return type.kind == CXType_ConstantArray || type.kind == CXType_IncompleteArray;
}

/* Whether a node is an array; one that is declared as a parameter is a pointer. */
static bool stands_for_array(const rs_tree *tree, int node)
{
    int inner = rs_node_inner(tree, node);
    CXCursor declared = clang_getNullCursor();
    if (inner >= 0 && tree->nodes[inner].kind == CXCursor_DeclRefExpr)
        declared = clang_getCursorReferenced(tree->nodes[inner].cursor);
    bool is_parameter = clang_getCursorKind(declared) == CXCursor_ParmDecl &&
                        is_array(clang_getCanonicalType(clang_getCursorType(declared)));
    return is_array(rs_node_type(tree, node)) && !is_parameter;
}

/* A value has no qualifiers: with them the conversion is one of the place, for a reference. */
static use convert(const place *p, int up)
{
    CXType from = rs_node_type(p->tree, p->node), to = rs_node_type(p->tree, up);
    if (rs_node_is_designated(p->tree, p->node))
        return braces_copy(p->tree, p->node) ? AS_VALUE : AS_PLACE;
    if (!rs_node_same_bytes(p->tree, p->node, up) || stands_for_array(p->tree, p->node))
        return AS_PLACE;
    if (from.kind == CXType_Record)
        return to.kind == CXType_Record ? AS_BEFORE : AS_PLACE;
    if (!is_array(to) && is_qualified(to)) /* an array's qualifiers are its elements' */
        return AS_BEFORE;
    return becomes_reference(p->tree, up) ? AS_PLACE : AS_VALUE;
}

static use assign(place *p, int up)
{
    if (p->tree->nodes[up].first != p->node || p->only_read)
        return AS_PLACE;
    p->only_read = true;
    return AS_BEFORE;
}

static use binary(place *p, int up)
{
    if (rs_node_is_binary(p->tree, up, "="))
        return assign(p, up);
    if (!rs_node_is_binary(p->tree, up, ","))
        return AS_PLACE;
    p->only_read = true;
    return p->tree->nodes[up].first == p->node ? AS_VALUE : AS_BEFORE;
}

static use unary(place *p, int up)
{
    static const char *const steps[] = {"++", "--"};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        if (rs_node_is_prefix(p->tree, up, steps[i]))
            return assign(p, up);
        if (rs_node_is_postfix(p->tree, up, steps[i]))
            return p->only_read ? AS_PLACE : AS_VALUE;
    }
    return AS_PLACE;
}

static use call(const place *p, int up)
{
    rs_copying copying = rs_copying_by_call(p->tree, up);
    bool last = p->tree->nodes[p->node].next < 0;
    return copying != RS_COPIES_NOTHING && last ? AS_VALUE : AS_PLACE;
}

/* A part of the place, or of what an assignment to it gives, may be read. */
static use member(place *p)
{
    p->only_read = true;
    return rs_node_type(p->tree, p->node).kind == CXType_Record ? AS_BEFORE : AS_PLACE;
}

static use use_above(place *p, int up)
{
    const rs_node *outer = &p->tree->nodes[up];
    switch (outer->kind) {
    case CXCursor_ParenExpr:
        return AS_BEFORE;
    case CXCursor_UnexposedExpr:
        return convert(p, up);
    case CXCursor_UnaryOperator:
        return unary(p, up);
    case CXCursor_BinaryOperator:
        return binary(p, up);
    case CXCursor_CompoundAssignOperator:
        return assign(p, up);
    case CXCursor_ConditionalOperator:
        p->only_read = true;
        return outer->first == p->node ? AS_PLACE : AS_BEFORE;
    case CXCursor_CStyleCastExpr:
        return rs_node_type(p->tree, up).kind == CXType_Void ? AS_VALUE : AS_PLACE;
    case CXCursor_InitListExpr:
        return braces_copy(p->tree, p->node) ? AS_VALUE : AS_PLACE;
    case CXCursor_CallExpr:
        return call(p, up);
    case CXCursor_MemberRefExpr:
        return member(p);
    case CXCursor_CompoundStmt: /* the last one may be the value of a statement expression */
        return p->tree->nodes[outer->parent].kind == CXCursor_StmtExpr &&
                       p->tree->nodes[p->node].next < 0
                   ? AS_PLACE
                   : AS_VALUE;
    case CXCursor_CXXForRangeStmt: /* its body, or what it runs over */
        return p->tree->nodes[p->node].next < 0 ? AS_VALUE : AS_PLACE;
    case CXCursor_UnaryExpr: /* sizeof */
    case CXCursor_IfStmt:
    case CXCursor_ForStmt:
    case CXCursor_WhileStmt:
    case CXCursor_DoStmt:
    case CXCursor_CaseStmt:
    case CXCursor_DefaultStmt:
    case CXCursor_LabelStmt:
        return AS_VALUE;
    default:
        return AS_PLACE;
    }
}

bool rs_is_used_as_value(const rs_tree *tree, int node)
{
    place p = {tree, node, false};
    use above = AS_BEFORE;
    while (above == AS_BEFORE && p.node > 0) {
        int up = tree->nodes[p.node].parent;
        above = use_above(&p, up);
        p.node = up;
    }
    return above == AS_VALUE;
}
