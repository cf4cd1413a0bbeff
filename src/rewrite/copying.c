/* Copies of whole structures in C++, from the functions that the compiler has chosen for them. */
#include "rewrite/copying.h"

#include "source/query.h"

#include <string.h>

static const char copied[] = "the structure, or a part of it, says itself how it is copied";
static const char assigned[] = "the structure, or a part of it, says itself how it is assigned to";
static const char destroyed[] = "the structure, or a part of it, says itself how it is destroyed";
static const char based[] = "a template chooses what the structure is derived from";

CXType rs_element_type(CXType type)
{
    CXType canonical = clang_getCanonicalType(type);
    while (canonical.kind == CXType_ConstantArray)
        canonical = clang_getCanonicalType(clang_getArrayElementType(canonical));
    return canonical;
}

void rs_class_visit(CXType type, CXCursorVisitor visitor, CXClientData data)
{
    CXCursor declaration = clang_getTypeDeclaration(type);
    CXCursor template = clang_getSpecializedCursorTemplate(declaration);
    if (clang_visitChildren(declaration, visitor, data) == 0 && !clang_Cursor_isNull(template))
        clang_visitChildren(template, visitor, data);
}

static bool same_record(CXType a, CXType b)
{
    CXType first = clang_getCanonicalType(a), second = clang_getCanonicalType(b);
    return first.kind == CXType_Record && second.kind == CXType_Record &&
           clang_equalCursors(clang_getTypeDeclaration(first), clang_getTypeDeclaration(second)) !=
               0;
}

/* The compiler makes a function that is defaulted, and knows those that it makes unasked as such.
 */
static bool is_made_by_compiler(CXCursor function)
{
    return clang_CXXMethod_isDefaulted(function) != 0;
}

rs_copying rs_copying_by_call(const rs_tree *tree, int call)
{
    CXCursor called = clang_getCursorReferenced(tree->nodes[call].cursor);
    int count = rs_node_child_count(tree, call);
    if (!is_made_by_compiler(called))
        return RS_COPIES_NOTHING;
    if (clang_getCursorKind(called) == CXCursor_Constructor)
        return count == 1 && (clang_CXXConstructor_isCopyConstructor(called) != 0 ||
                              clang_CXXConstructor_isMoveConstructor(called) != 0)
                   ? RS_COPIES_TO_NEW
                   : RS_COPIES_NOTHING;
    if (clang_getCursorKind(called) != CXCursor_CXXMethod || count != 3)
        return RS_COPIES_NOTHING;
    int first = rs_node_child(tree, call, 0), last = rs_node_child(tree, call, 2);
    bool assigns = rs_text_is(tree, tree->nodes[first].end, tree->nodes[last].begin, "=");
    CXType own = clang_getCursorType(clang_getCursorSemanticParent(called));
    bool same = same_record(own, clang_getCursorType(tree->nodes[first].cursor));
    return assigns && same ? RS_COPIES_BY_ASSIGNMENT : RS_COPIES_NOTHING;
}

static bool has_name(CXCursor cursor, const char *wanted)
{
    CXString spelling = clang_getCursorSpelling(cursor);
    const char *name = clang_getCString(spelling);
    bool same = name != NULL && strcmp(name, wanted) == 0;
    clang_disposeString(spelling);
    return same;
}

/* Whether an operator= is the compiler's own and takes every value of its structure. */
static bool assigns_any_value(CXCursor method)
{
    CXType given = clang_getArgType(clang_getCursorType(method), 0);
    CXType value = clang_getPointeeType(given);
    return is_made_by_compiler(method) && given.kind == CXType_LValueReference &&
           clang_isConstQualifiedType(value) != 0 && clang_isVolatileQualifiedType(value) == 0;
}

static const char *trouble_of_template(CXCursor part)
{
    enum CXCursorKind kind = clang_getTemplateCursorKind(part);
    if (kind == CXCursor_Constructor)
        return copied;
    return kind == CXCursor_CXXMethod && has_name(part, "operator=") ? assigned : NULL;
}

static enum CXChildVisitResult visit_declared(CXCursor part, CXCursor parent, CXClientData data)
{
    (void)parent;
    const char **trouble = data;
    CXType type = clang_getCursorType(part);
    switch (clang_getCursorKind(part)) {
    case CXCursor_Constructor:
        if (clang_CXXConstructor_isCopyConstructor(part) != 0 ||
            clang_CXXConstructor_isMoveConstructor(part) != 0)
            *trouble = copied;
        break;
    case CXCursor_FunctionTemplate:
        *trouble = trouble_of_template(part);
        break;
    case CXCursor_CXXMethod:
        if (has_name(part, "operator=") && !assigns_any_value(part))
            *trouble = assigned;
        break;
    case CXCursor_Destructor:
        if (!is_made_by_compiler(part) || clang_getCXXAccessSpecifier(part) != CX_CXXPublic)
            *trouble = destroyed;
        break;
    case CXCursor_CXXBaseSpecifier:
        *trouble = rs_element_type(type).kind == CXType_Record ? rs_copying_trouble(type) : based;
        break;
    default:
        break;
    }
    return *trouble != NULL ? CXChildVisit_Break : CXChildVisit_Continue;
}

static enum CXVisitorResult visit_field(CXCursor field, CXClientData data)
{
    const char **trouble = data;
    *trouble = rs_copying_trouble(clang_getCursorType(field));
    return *trouble != NULL ? CXVisit_Break : CXVisit_Continue;
}

const char *rs_copying_trouble(CXType structure)
{
    CXType element = rs_element_type(structure);
    const char *trouble = NULL;
    if (element.kind != CXType_Record)
        return NULL;
    rs_class_visit(element, visit_declared, &trouble);
    if (trouble == NULL)
        clang_Type_visitFields(element, visit_field, &trouble);
    return trouble;
}
