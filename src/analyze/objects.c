/*
 * What runs of a class where nobody writes it, or where nobody says which: constructors,
 * destructors and virtual functions. They are not followed, but for constructors that only fill
 * the members.
 */
#include "analyze/walk.h"
#include "source/query.h"

#include <stdlib.h>
#include <string.h>

void rs_walk_note_unfollowed(rs_walk *walk, int node, const char *what)
{
    char *text = rs_walk_text(walk, node);
    bool noted = text != NULL && rs_model_note(walk->set, rs_walk_file(walk, node),
                                               rs_walk_line(walk, node), what, text);
    free(text);
    walk->no_memory = walk->no_memory || !noted;
    walk->stores++; /* perhaps */
    rs_walk_mark_unsupported(walk, node, walk->loop);
    rs_walk_invalidate(walk, RS_STORED_ANYTHING, true, true);
}

/* ---- virtual functions ---- */

static enum CXChildVisitResult find_final(CXCursor cursor, CXCursor parent, CXClientData data)
{
    (void)parent;
    if (clang_getCursorKind(cursor) != CXCursor_CXXFinalAttr)
        return CXChildVisit_Continue;
    *(bool *)data = true;
    return CXChildVisit_Break;
}

static bool is_final(CXCursor declared)
{
    bool found = false;
    clang_visitChildren(declared, find_final, &found);
    return found;
}

/* Whether an expression is an object of its type and of no class that is derived from that. */
static bool is_whole_object(const rs_tree *tree, int node)
{
    node = node < 0 ? -1 : rs_node_inner(tree, node);
    if (node < 0)
        return false;
    CXCursor declared = clang_getCursorReferenced(tree->nodes[node].cursor);
    bool named = tree->nodes[node].kind == CXCursor_DeclRefExpr ||
                 tree->nodes[node].kind == CXCursor_MemberRefExpr;
    return named && !clang_Cursor_isNull(declared) &&
           clang_getCanonicalType(clang_getCursorType(declared)).kind == CXType_Record;
}

bool rs_walk_is_virtual(const rs_walk *walk, int node)
{
    const rs_tree *tree = walk->tree;
    CXCursor method = clang_getCursorReferenced(tree->nodes[node].cursor);
    if (clang_Cursor_isNull(method) || clang_CXXMethod_isVirtual(method) == 0 || is_final(method) ||
        is_final(clang_getCursorSemanticParent(method)))
        return false;
    const rs_node *callee = &tree->nodes[tree->nodes[node].first];
    int object = rs_walk_object(walk, node);
    size_t begin = object >= 0 && tree->nodes[object].end < callee->end ? tree->nodes[object].end
                                                                        : callee->begin;
    bool qualified = rs_text_has(tree, begin, callee->end, "::");
    return !qualified && !is_whole_object(tree, object);
}

/* ---- constructors ---- */

/* Whether a constructor has, at or below a node, nothing but assignments to its own members. */
static bool is_plain(const rs_tree *tree, int node)
{
    enum CXCursorKind kind = tree->nodes[node].kind;
    int first = tree->nodes[node].first;
    if (kind == CXCursor_CallExpr || kind == CXCursor_LambdaExpr ||
        kind == CXCursor_ArraySubscriptExpr || kind == CXCursor_GCCAsmStmt ||
        kind == CXCursor_CXXNewExpr || kind == CXCursor_CXXDeleteExpr ||
        (kind == CXCursor_UnaryOperator && rs_node_is_prefix(tree, node, "*")))
        return false;
    if (kind == CXCursor_MemberRefExpr && first >= 0 && rs_node_is_pointer(tree, first) &&
        tree->nodes[rs_node_inner(tree, first)].kind != CXCursor_CXXThisExpr)
        return false;
    if (rs_node_is_assignment(tree, node)) {
        int target = first < 0 ? -1 : rs_node_inner(tree, first);
        CXCursor field = target < 0 ? clang_getNullCursor()
                                    : clang_getCursorReferenced(tree->nodes[target].cursor);
        int object = target < 0 ? -1 : tree->nodes[target].first;
        if (target < 0 || clang_getCursorKind(field) != CXCursor_FieldDecl ||
            (object >= 0 &&
             tree->nodes[rs_node_inner(tree, object)].kind != CXCursor_CXXThisExpr) ||
            rs_kind_is_reference(clang_getCanonicalType(clang_getCursorType(field)).kind))
            return false;
    }
    for (int child = first; child >= 0; child = tree->nodes[child].next)
        if (!is_plain(tree, child))
            return false;
    return true;
}

/* Bases, members with constructors and defaults of members do what no line of the constructor says.
 */
static enum CXChildVisitResult find_unsaid(CXCursor cursor, CXCursor parent, CXClientData data)
{
    (void)parent;
    enum CXCursorKind kind = clang_getCursorKind(cursor);
    bool is_field = kind == CXCursor_FieldDecl;
    if (kind == CXCursor_CXXBaseSpecifier ||
        (is_field && clang_isPODType(clang_getCursorType(cursor)) == 0)) {
        *(bool *)data = true;
        return CXChildVisit_Break;
    }
    if (clang_isExpression(kind) && kind != CXCursor_IntegerLiteral &&
        kind != CXCursor_FloatingLiteral) {
        *(bool *)data = true;
        return CXChildVisit_Break;
    }
    return is_field ? CXChildVisit_Recurse : CXChildVisit_Continue;
}

bool rs_walk_is_plain_constructor(const rs_walk *walk, CXCursor constructor)
{
    const rs_tree *tree = walk->tree;
    CXCursor defined = clang_getCursorDefinition(constructor);
    if (clang_Location_isFromMainFile(clang_getCursorLocation(constructor)) == 0)
        return true; /* of a type of the language */
    for (int i = 1; i < tree->node_count; i++)
        if (tree->nodes[i].kind == CXCursor_Constructor &&
            clang_equalCursors(tree->nodes[i].cursor, defined) != 0) {
            bool unsaid = false;
            clang_visitChildren(clang_getCursorSemanticParent(defined), find_unsaid, &unsaid);
            return !unsaid && is_plain(tree, i);
        }
    return false;
}

/* ---- constructors that nobody wrote ---- */

/* What is looked for in the parts of a class, its bases and members and theirs. */
typedef struct {
    const rs_walk *walk;
    bool copies; /* by copy and move constructors; false: by the others */
    rs_making making;
} parts;

static void at_least(parts *p, rs_making making)
{
    if (making > p->making)
        p->making = making;
}

static enum CXChildVisitResult find_written(CXCursor cursor, CXCursor parent, CXClientData data)
{
    (void)parent;
    parts *p = data;
    bool copies = clang_CXXConstructor_isCopyConstructor(cursor) != 0 ||
                  clang_CXXConstructor_isMoveConstructor(cursor) != 0;
    if (clang_getCursorKind(cursor) != CXCursor_Constructor || copies != p->copies ||
        !rs_constructor_is_written(cursor))
        return CXChildVisit_Continue;
    at_least(p, rs_walk_is_plain_constructor(p->walk, cursor) ? RS_MAKING_MEMBERS
                                                              : RS_MAKING_ANYTHING);
    return CXChildVisit_Continue;
}

/* The default of a member that is no number; the extent of an array is none. */
static enum CXChildVisitResult find_default(CXCursor cursor, CXCursor parent, CXClientData data)
{
    enum CXCursorKind kind = clang_getCursorKind(cursor);
    bool array = rs_kind_is_array(clang_getCanonicalType(clang_getCursorType(parent)).kind);
    if (clang_isExpression(kind) && kind != CXCursor_IntegerLiteral &&
        kind != CXCursor_FloatingLiteral && !(array && kind != CXCursor_InitListExpr))
        at_least(data, RS_MAKING_ANYTHING);
    return CXChildVisit_Continue;
}

static enum CXChildVisitResult find_part(CXCursor cursor, CXCursor parent, CXClientData data)
{
    (void)parent;
    parts *p = data;
    bool field = clang_getCursorKind(cursor) == CXCursor_FieldDecl;
    if (!field && clang_getCursorKind(cursor) != CXCursor_CXXBaseSpecifier)
        return CXChildVisit_Continue;
    CXType type = clang_getCanonicalType(clang_getCursorType(cursor));
    while (rs_kind_is_array(type.kind))
        type = clang_getCanonicalType(clang_getArrayElementType(type));
    if (field && !p->copies)
        clang_visitChildren(cursor, find_default, p);
    CXCursor class = clang_getTypeDeclaration(type);
    if (type.kind == CXType_Record)
        clang_visitChildren(class, find_written, p);
    if (type.kind == CXType_Record)
        at_least(p, rs_walk_making(p->walk, class, p->copies));
    return CXChildVisit_Continue;
}

rs_making rs_walk_making(const rs_walk *walk, CXCursor class, bool copies)
{
    parts p = {walk, copies, RS_MAKING_NOTHING};
    if (clang_Location_isFromMainFile(clang_getCursorLocation(class)) != 0)
        clang_visitChildren(class, find_part, &p);
    return p.making;
}

/* ---- destructors ---- */

static enum CXChildVisitResult find_destructor(CXCursor cursor, CXCursor parent, CXClientData data)
{
    (void)parent;
    enum CXCursorKind kind = clang_getCursorKind(cursor);
    bool part = kind == CXCursor_FieldDecl || kind == CXCursor_CXXBaseSpecifier;
    bool own = kind == CXCursor_Destructor && clang_CXXMethod_isDefaulted(cursor) == 0;
    if (!own && !(part && rs_type_has_destructor(clang_getCursorType(cursor))))
        return CXChildVisit_Continue;
    *(bool *)data = true;
    return CXChildVisit_Break;
}

bool rs_type_has_destructor(CXType type)
{
    bool found = false;
    type = clang_getCanonicalType(type);
    while (rs_kind_is_array(type.kind))
        type = clang_getCanonicalType(clang_getArrayElementType(type));
    if (type.kind == CXType_Record)
        clang_visitChildren(clang_getTypeDeclaration(type), find_destructor, &found);
    return found;
}

static void note_destructor(rs_walk *walk, int node)
{
    rs_walk_note_unfollowed(walk, node, "What the destructor of \"%s\" touches is not followed.");
}

/* Whether a node makes an object with a destructor that somebody wrote: not where it names one. */
static bool makes_object(const rs_tree *tree, int node)
{
    enum CXCursorKind kind = tree->nodes[node].kind;
    bool makes = kind == CXCursor_CallExpr || kind == CXCursor_CXXFunctionalCastExpr ||
                 kind == CXCursor_InitListExpr;
    if (!makes || !rs_type_has_destructor(rs_node_type(tree, node)))
        return false;
    CXCursor called = clang_getCursorReferenced(tree->nodes[node].cursor);
    CXType result = clang_getCanonicalType(clang_getCursorResultType(called));
    return !rs_kind_is_reference(result.kind);
}

/* Whether a function object has one of those as a member: one that its captures make, or a copy of
 * one that it names. */
static bool captures_object(const rs_tree *tree, int node, bool body)
{
    enum CXCursorKind kind = tree->nodes[node].kind;
    if ((kind == CXCursor_VariableRef || kind == CXCursor_DeclRefExpr) &&
        rs_type_has_destructor(
            clang_getCursorType(clang_getCursorReferenced(tree->nodes[node].cursor))))
        return true;
    for (int child = tree->nodes[node].first; child >= 0; child = tree->nodes[child].next)
        if (captures_object(tree, child, body || tree->nodes[child].kind == CXCursor_CompoundStmt))
            return true;
    return !body && makes_object(tree, node);
}

/* The first of the objects without a name that an expression makes, the expression itself being
 * one, too; -1: none. */
static int find_object(const rs_tree *tree, int node)
{
    if (tree->nodes[node].kind == CXCursor_LambdaExpr)
        return captures_object(tree, node, false) ? node : -1;
    int found = makes_object(tree, node) ? node : -1;
    for (int child = tree->nodes[node].first; child >= 0 && found < 0;
         child = tree->nodes[child].next)
        found = find_object(tree, child);
    return found;
}

/* Those that the initializer of a variable makes beside the variable. */
static int find_beside(const rs_tree *tree, int variable)
{
    int node = rs_node_initializer(tree, variable), found = -1;
    if (node < 0 || !rs_type_has_destructor(clang_getCursorType(tree->nodes[variable].cursor)))
        return node < 0 ? -1 : find_object(tree, node);
    for (int child = tree->nodes[rs_node_inner(tree, node)].first; child >= 0 && found < 0;
         child = tree->nodes[child].next)
        found = find_object(tree, child);
    return found;
}

void rs_walk_end_expression(rs_walk *walk, int node)
{
    const rs_tree *tree = walk->tree;
    if (node < 0 || walk->program->language != RS_LANGUAGE_CUDA)
        return;
    int object = tree->nodes[node].kind == CXCursor_VarDecl ? find_beside(tree, node)
                                                            : find_object(tree, node);
    if (object >= 0)
        note_destructor(walk, object);
}

/* Whether a variable ends an object with its scope: itself, one that it is a reference to, or one
 * that such a reference in it, or a function object, holds. */
static bool ends_object(const rs_tree *tree, int node)
{
    CXType type = clang_getCanonicalType(clang_getCursorType(tree->nodes[node].cursor));
    int initializer =
        tree->nodes[node].kind == CXCursor_VarDecl ? rs_node_initializer(tree, node) : -1;
    bool holds = rs_kind_is_reference(type.kind) || type.kind == CXType_Record;
    return rs_type_has_destructor(type) ||
           (holds && initializer >= 0 && find_object(tree, initializer) >= 0);
}

void rs_walk_end_scope(rs_walk *walk, int node)
{
    const rs_tree *tree = walk->tree;
    if (walk->program->language != RS_LANGUAGE_CUDA)
        return;
    for (int child = tree->nodes[node].first; child >= 0; child = tree->nodes[child].next) {
        enum CXCursorKind kind = tree->nodes[child].kind;
        if (kind == CXCursor_DeclStmt)
            rs_walk_end_scope(walk, child);
        else if ((kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl) &&
                 ends_object(tree, child))
            note_destructor(walk, child);
    }
}
