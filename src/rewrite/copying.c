/* Copies of whole structures in C++, from the functions that the compiler has chosen for them. */
#include "rewrite/copying.h"

#include "source/query.h"

#include <string.h>

static const char copied[] = "the structure, or a part of it, says itself how it is copied";
static const char assigned[] = "the structure, or a part of it, says itself how it is assigned to";
static const char destroyed[] = "the structure, or a part of it, says itself how it is destroyed";
static const char converted[] = "the structure, or a part of it, converts itself to any reference";
static const char based[] = "a template chooses what the structure is derived from";

CXType rs_element_type(CXType type)
{
    CXType canonical = clang_getCanonicalType(type);
    while (canonical.kind == CXType_ConstantArray)
        canonical = clang_getCanonicalType(clang_getArrayElementType(canonical));
    return canonical;
}

static enum CXChildVisitResult find_part(CXCursor part, CXCursor parent, CXClientData data)
{
    (void)parent;
    bool *found = data;
    *found = clang_isDeclaration(clang_getCursorKind(part)) != 0;
    return *found ? CXChildVisit_Break : CXChildVisit_Continue;
}

/* libclang shows what a class declares that is written as such, as explicit specialisations are;
 * of what a template has made it shows nothing. */
void rs_class_visit(CXType type, CXCursorVisitor visitor, CXClientData data)
{
    CXCursor declaration = clang_getTypeDeclaration(type);
    CXCursor template = clang_getSpecializedCursorTemplate(declaration);
    bool is_written = false;
    clang_visitChildren(declaration, find_part, &is_written);
    if (clang_visitChildren(declaration, visitor, data) == 0 && !is_written &&
        !clang_Cursor_isNull(template))
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

static bool is_constant_reference(CXType type)
{
    CXType value = clang_getPointeeType(type);
    return type.kind == CXType_LValueReference && clang_isConstQualifiedType(value) != 0 &&
           clang_isVolatileQualifiedType(value) == 0;
}

/* Whether an operator= is the compiler's own and takes every value of its structure, or takes
 * something else alone. */
static bool assigns_any_value(CXCursor method)
{
    CXType given = clang_getArgType(clang_getCursorType(method), 0);
    CXType value = clang_getCanonicalType(
        rs_kind_is_reference(given.kind) ? clang_getPointeeType(given) : given);
    bool is_number = value.kind >= CXType_FirstBuiltin && value.kind <= CXType_LastBuiltin &&
                     value.kind != CXType_Dependent;
    bool is_address = value.kind == CXType_Pointer || rs_kind_is_array(value.kind);
    bool is_other = value.kind == CXType_Record &&
                    !same_record(value, clang_getCursorType(clang_getCursorSemanticParent(method)));
    return is_number || is_address || value.kind == CXType_Enum || is_other ||
           (is_made_by_compiler(method) && is_constant_reference(given));
}

/* Whether a template cannot take a structure's value better than what the compiler has made, which
 * is no template: it gets a value or a constant. */
static bool yields_to_compiler(CXCursor template)
{
    CXType given = clang_getArgType(clang_getCursorType(template), 0);
    CXString spelling = clang_getTypeSpelling(given);
    const char *name = clang_getCString(spelling);
    bool is_pack = name == NULL || strstr(name, "...") != NULL;
    clang_disposeString(spelling);
    return given.kind != CXType_Invalid && !is_pack &&
           (is_constant_reference(given) || !rs_kind_is_reference(given.kind));
}

static const char *trouble_of_template(CXCursor part)
{
    enum CXCursorKind kind = clang_getTemplateCursorKind(part);
    if (yields_to_compiler(part))
        return NULL;
    if (kind == CXCursor_Constructor)
        return copied;
    if (kind == CXCursor_ConversionFunction &&
        clang_getCursorResultType(part).kind == CXType_LValueReference)
        return converted; /* to what stands for a place in the new code, too */
    return kind == CXCursor_CXXMethod && has_name(part, "operator=") ? assigned : NULL;
}

typedef struct {
    bool assigns;
    int depth; /* of templates that a template is derived from */
    bool is_base;
    bool takes_variables;  /* an operator= of the compiler's own takes other than constants, */
    bool takes_constants;  /* and one takes those */
    bool copies_variables; /* the same of constructors */
    bool copies_constants;
    const char *trouble;
} search;

static const char *trouble_of_base(CXType type, const search *s);

static bool is_variable_reference(CXType type)
{
    CXType value = clang_getPointeeType(type);
    return rs_kind_is_reference(type.kind) && clang_isConstQualifiedType(value) == 0 &&
           clang_isVolatileQualifiedType(value) == 0;
}

static bool is_public_of_compiler(CXCursor method)
{
    return is_made_by_compiler(method) && clang_getCXXAccessSpecifier(method) == CX_CXXPublic;
}

/* An operator= for variables alone leaves values to the one for constants, or does the same. */
static const char *trouble_of_assignment(search *s, CXCursor method)
{
    CXType given = clang_getArgType(clang_getCursorType(method), 0);
    bool own = is_public_of_compiler(method);
    s->takes_constants = s->takes_constants || (own && is_constant_reference(given));
    if (own && is_variable_reference(given)) {
        s->takes_variables = true;
        return NULL;
    }
    return assigns_any_value(method) ? NULL : assigned;
}

/* Whether a declaration has a word, before its first bracket. */
static bool is_declared_with(CXCursor declaration, const char *word)
{
    CXTranslationUnit unit = clang_Cursor_getTranslationUnit(declaration);
    CXToken *tokens = NULL;
    unsigned count = 0;
    bool found = false, before = true;
    clang_tokenize(unit, clang_getCursorExtent(declaration), &tokens, &count);
    for (unsigned i = 0; i < count && before && !found; i++) {
        CXString spelling = clang_getTokenSpelling(unit, tokens[i]);
        found = strcmp(clang_getCString(spelling), word) == 0;
        before = strcmp(clang_getCString(spelling), "(") != 0;
        clang_disposeString(spelling);
    }
    clang_disposeTokens(unit, tokens, count);
    return found;
}

/* Constructors that copy may be written down, as long as the compiler makes them. */
static const char *trouble_of_constructor(search *s, CXCursor constructor)
{
    CXType given = clang_getArgType(clang_getCursorType(constructor), 0);
    if (clang_CXXConstructor_isCopyConstructor(constructor) == 0 &&
        clang_CXXConstructor_isMoveConstructor(constructor) == 0)
        return NULL;
    if (!is_public_of_compiler(constructor) || is_declared_with(constructor, "explicit") ||
        (!is_constant_reference(given) && !is_variable_reference(given)))
        return copied;
    s->copies_constants = s->copies_constants || is_constant_reference(given);
    s->copies_variables = s->copies_variables || is_variable_reference(given);
    return NULL;
}

static enum CXChildVisitResult visit_declared(CXCursor part, CXCursor parent, CXClientData data)
{
    (void)parent;
    search *s = data;
    const char **trouble = &s->trouble;
    CXType type = clang_getCursorType(part);
    switch (clang_getCursorKind(part)) {
    case CXCursor_Constructor:
        *trouble = trouble_of_constructor(s, part);
        break;
    case CXCursor_FunctionTemplate:
        *trouble = trouble_of_template(part);
        break;
    case CXCursor_CXXMethod:
        if (has_name(part, "operator="))
            *trouble = trouble_of_assignment(s, part);
        break;
    case CXCursor_Destructor:
        if (!is_made_by_compiler(part) || clang_getCXXAccessSpecifier(part) != CX_CXXPublic)
            *trouble = destroyed;
        break;
    case CXCursor_CXXBaseSpecifier:
        *trouble = trouble_of_base(type, s);
        break;
    case CXCursor_FieldDecl:
        *trouble = s->is_base ? based : NULL; /* its type may depend on the template's arguments */
        break;
    default:
        break;
    }
    if ((*trouble == assigned || *trouble == converted) && !s->assigns)
        *trouble = NULL;
    return *trouble != NULL ? CXChildVisit_Break : CXChildVisit_Continue;
}

static enum CXVisitorResult visit_field(CXCursor field, CXClientData data)
{
    search *s = data;
    s->trouble = rs_copying_trouble(clang_getCursorType(field), s->assigns);
    return s->trouble != NULL ? CXVisit_Break : CXVisit_Continue;
}

/* ---- templates that a template is derived from ---- */

typedef struct {
    CXCursor template;
    bool found;
} specialisation;

static enum CXChildVisitResult find_specialisation(CXCursor cursor, CXCursor parent,
                                                   CXClientData data)
{
    (void)parent;
    specialisation *s = data;
    CXCursor general = clang_getSpecializedCursorTemplate(cursor);
    s->found = clang_Cursor_isNull(general) == 0 &&
               clang_equalCursors(clang_getCanonicalCursor(general), s->template) != 0;
    if (s->found)
        return CXChildVisit_Break;
    switch (clang_getCursorKind(cursor)) {
    case CXCursor_Namespace:
    case CXCursor_LinkageSpec:
    case CXCursor_StructDecl:
    case CXCursor_ClassDecl:
    case CXCursor_ClassTemplate:
    case CXCursor_ClassTemplatePartialSpecialization:
        return CXChildVisit_Recurse;
    default:
        return CXChildVisit_Continue;
    }
}

/* A template with one form alone is the same for all arguments, as far as is looked at here. */
static bool has_one_form(CXCursor template)
{
    specialisation s = {clang_getCanonicalCursor(template), false};
    CXTranslationUnit unit = clang_Cursor_getTranslationUnit(template);
    clang_visitChildren(clang_getTranslationUnitCursor(unit), find_specialisation, &s);
    return !s.found;
}

static const char *trouble_of_class(search *s)
{
    if (s->trouble == NULL && s->copies_variables && !s->copies_constants)
        s->trouble = copied;
    if (s->trouble == NULL && s->assigns && s->takes_variables && !s->takes_constants)
        s->trouble = assigned;
    return s->trouble;
}

static const char *trouble_of_base(CXType type, const search *s)
{
    enum { DEPTH_LIMIT = 16 };
    if (rs_element_type(type).kind == CXType_Record)
        return rs_copying_trouble(type, s->assigns);
    CXCursor template = clang_getTypeDeclaration(type);
    CXCursor definition = clang_getCursorDefinition(template);
    if (clang_getCursorKind(template) != CXCursor_ClassTemplate || s->depth == DEPTH_LIMIT ||
        clang_Cursor_isNull(definition) != 0 || !has_one_form(template))
        return based;
    search base = {.assigns = s->assigns, .depth = s->depth + 1, .is_base = true};
    clang_visitChildren(definition, visit_declared, &base);
    return trouble_of_class(&base);
}

const char *rs_copying_trouble(CXType structure, bool assigns)
{
    CXType element = rs_element_type(structure);
    search s = {.assigns = assigns};
    if (element.kind != CXType_Record)
        return NULL;
    rs_class_visit(element, visit_declared, &s);
    if (trouble_of_class(&s) == NULL)
        clang_Type_visitFields(element, visit_field, &s);
    return s.trouble;
}

const char *rs_copying_trouble_of_call(const rs_tree *tree, int call, CXType structure)
{
    CXCursor called = clang_getCursorReferenced(tree->nodes[call].cursor);
    bool assigns = has_name(called, "operator=");
    bool copies = assigns || clang_getCursorKind(called) == CXCursor_Constructor;
    return copies ? rs_copying_trouble(structure, assigns) : NULL;
}
