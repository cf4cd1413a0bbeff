/*
 * Which constructs the walk follows: a list of kinds of nodes, and conditions on some of them. What
 * is not in the list is unsupported, so a construct that was never considered is not taken for one
 * that is followed.
 */
#include "analyze/walk.h"
#include "source/query.h"

static bool is_cast(enum CXCursorKind kind)
{
    return kind == CXCursor_CStyleCastExpr || kind == CXCursor_CXXStaticCastExpr ||
           kind == CXCursor_CXXFunctionalCastExpr;
}

/* A pointer that becomes a number, or the other way; null pointers aside. */
static bool is_unsupported_cast(const rs_tree *tree, int node)
{
    CXType type = rs_node_type(tree, node);
    int operand = rs_node_inner(tree, rs_node_last(tree, node));
    if (operand < 0 || type.kind == CXType_Void)
        return false;
    bool from_pointer = rs_kind_is_address(rs_node_type(tree, operand).kind);
    return rs_kind_is_address(type.kind)
               ? !from_pointer && tree->nodes[operand].kind != CXCursor_IntegerLiteral
               : from_pointer;
}

static bool is_unsupported_member(const rs_tree *tree, int node)
{
    CXCursor field = clang_getCursorReferenced(tree->nodes[node].cursor);
    if (clang_Cursor_isNull(field))
        return true;
    CXCursor record = clang_getCursorSemanticParent(field);
    return clang_Cursor_isBitField(field) != 0 || clang_getCursorKind(record) == CXCursor_UnionDecl;
}

/* The constructs that are followed, attributes besides. */
static const enum CXCursorKind plain[] = {CXCursor_CompoundStmt,
                                          CXCursor_UnexposedStmt,
                                          CXCursor_DeclStmt,
                                          CXCursor_VarDecl,
                                          CXCursor_ParmDecl,
                                          CXCursor_IfStmt,
                                          CXCursor_ForStmt,
                                          CXCursor_WhileStmt,
                                          CXCursor_DoStmt,
                                          CXCursor_SwitchStmt,
                                          CXCursor_CaseStmt,
                                          CXCursor_DefaultStmt,
                                          CXCursor_BreakStmt,
                                          CXCursor_ContinueStmt,
                                          CXCursor_ReturnStmt,
                                          CXCursor_NullStmt,
                                          CXCursor_StructDecl,
                                          CXCursor_EnumDecl,
                                          CXCursor_TypedefDecl,
                                          CXCursor_TypeRef,
                                          CXCursor_MemberRef,
                                          CXCursor_FieldDecl,
                                          CXCursor_EnumConstantDecl,
                                          CXCursor_IntegerLiteral,
                                          CXCursor_FloatingLiteral,
                                          CXCursor_CharacterLiteral,
                                          CXCursor_StringLiteral,
                                          CXCursor_CXXBoolLiteralExpr,
                                          CXCursor_DeclRefExpr,
                                          CXCursor_ParenExpr,
                                          CXCursor_UnexposedExpr,
                                          CXCursor_UnaryExpr,
                                          CXCursor_UnaryOperator,
                                          CXCursor_BinaryOperator,
                                          CXCursor_CompoundAssignOperator,
                                          CXCursor_ConditionalOperator,
                                          CXCursor_CStyleCastExpr,
                                          CXCursor_CXXStaticCastExpr,
                                          CXCursor_CXXFunctionalCastExpr,
                                          CXCursor_InitListExpr,
                                          CXCursor_CompoundLiteralExpr,
                                          CXCursor_ArraySubscriptExpr,
                                          CXCursor_MemberRefExpr,
                                          CXCursor_CallExpr,
                                          CXCursor_FunctionDecl,
                                          CXCursor_FunctionTemplate,
                                          CXCursor_TemplateTypeParameter,
                                          CXCursor_NonTypeTemplateParameter,
                                          CXCursor_TemplateRef,
                                          CXCursor_NamespaceRef};

static bool is_plain_kind(enum CXCursorKind kind)
{
    if (clang_isAttribute(kind))
        return true;
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (plain[i] == kind)
            return true;
    return false;
}

bool rs_node_is_unsupported(const rs_tree *tree, int node)
{
    enum CXCursorKind kind = tree->nodes[node].kind;
    return !is_plain_kind(kind) || (is_cast(kind) && is_unsupported_cast(tree, node)) ||
           (kind == CXCursor_MemberRefExpr && is_unsupported_member(tree, node));
}

/* The first unsupported node, from `node` inwards; -1 for none. The body of a function object is
 * looked at where it is called. */
static int find_unsupported(const rs_tree *tree, int node)
{
    if (tree->nodes[node].kind == CXCursor_LambdaExpr)
        return -1;
    int found = rs_node_is_unsupported(tree, node) ? node : -1;
    for (int child = tree->nodes[node].first; child >= 0 && found < 0;
         child = tree->nodes[child].next)
        found = find_unsupported(tree, child);
    return found;
}

void rs_walk_mark_unsupported(rs_walk *walk, int node, int loop)
{
    for (; loop >= 0; loop = walk->unit->loops[loop].parent) {
        rs_loop *l = &walk->unit->loops[loop];
        if (l->unsupported != NULL)
            continue;
        l->unsupported = rs_walk_text(walk, node);
        l->unsupported_line = rs_walk_line(walk, node);
    }
}

void rs_walk_note_unsupported(rs_walk *walk, int node, int loop)
{
    int unsupported = loop >= 0 ? find_unsupported(walk->tree, node) : -1;
    if (unsupported >= 0)
        rs_walk_mark_unsupported(walk, unsupported, loop);
}
