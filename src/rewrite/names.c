#include "rewrite/names.h"

#include "base/text.h"
#include "source/query.h"
#include "source/words.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is declared ---- */

static bool is_kind(enum CXCursorKind kind, const enum CXCursorKind kinds[], size_t count)
{
    bool found = false;
    for (size_t i = 0; i < count && !found; i++)
        found = kinds[i] == kind;
    return found;
}

/* In C the names behind "struct" and its kin are names of their own. */
static bool declares_type(enum CXCursorKind kind, rs_kernel_language language)
{
    static const enum CXCursorKind tags[] = {CXCursor_StructDecl, CXCursor_UnionDecl,
                                             CXCursor_EnumDecl};
    static const enum CXCursorKind types[] = {
        CXCursor_ClassDecl,     CXCursor_TypedefDecl,      CXCursor_TypeAliasDecl,
        CXCursor_ClassTemplate, CXCursor_UsingDeclaration, CXCursor_TypeAliasTemplateDecl,
        CXCursor_NamespaceAlias};
    return is_kind(kind, tags, sizeof tags / sizeof tags[0]) ||
           (language == RS_CUDA_C && is_kind(kind, types, sizeof types / sizeof types[0]));
}

static bool declares_value(enum CXCursorKind kind)
{
    static const enum CXCursorKind values[] = {CXCursor_FunctionDecl, CXCursor_FunctionTemplate,
                                               CXCursor_VarDecl, CXCursor_EnumConstantDecl};
    return is_kind(kind, values, sizeof values / sizeof values[0]);
}

static restride_status add(rs_names *names, rs_name_kind kind, size_t function,
                           CXCursor declaration)
{
    CXString spelling = clang_getCursorSpelling(declaration);
    const char *text = clang_getCString(spelling);
    bool named = text != NULL && text[0] != '\0'; /* a parameter may have none */
    rs_name name = {kind, function, named ? strdup(text) : NULL, named ? strlen(text) : 0};
    clang_disposeString(spelling);
    if (!named)
        return RESTRIDE_OK;
    rs_name *grown = rs_model_room(names->items, (int)names->count, sizeof *grown);
    if (grown != NULL)
        names->items = grown;
    if (grown == NULL || name.text == NULL) {
        free(name.text);
        return rs_fail_memory("the names of a source");
    }
    grown[names->count++] = name;
    return RESTRIDE_OK;
}

static int compare_names(const void *a, const void *b)
{
    const rs_name *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    return memcmp(x->text, y->text, x->length);
}

static bool is_nameless(CXCursor cursor)
{
    CXString spelling = clang_getCursorSpelling(cursor);
    const char *name = clang_getCString(spelling);
    bool nameless = name == NULL || name[0] == '\0' || strchr(name, '(') != NULL;
    clang_disposeString(spelling);
    return nameless;
}

/* Whether "using namespace" may make what a node declares a name of the place where it stands: what
 * a namespace has itself, with the constants of its enumerations. */
static bool is_opened(const rs_tree *tree, int node)
{
    static const enum CXCursorKind open[] = {CXCursor_EnumDecl, CXCursor_LinkageSpec,
                                             CXCursor_UnexposedDecl};
    int up = tree->nodes[node].parent;
    while (up > 0 &&
           (is_kind(tree->nodes[up].kind, open, sizeof open / sizeof open[0]) ||
            (tree->nodes[up].kind == CXCursor_Namespace && is_nameless(tree->nodes[up].cursor))))
        up = tree->nodes[up].parent;
    return up > 0 && tree->nodes[up].kind == CXCursor_Namespace;
}

/* Where the function around a node is first declared; RS_ANY_FUNCTION outside of all. */
static size_t function_around(const rs_tree *tree, int node)
{
    size_t function = RS_ANY_FUNCTION;
    for (int up = tree->nodes[node].parent; up > 0; up = tree->nodes[up].parent)
        if (tree->nodes[up].kind == CXCursor_FunctionDecl)
            function = rs_cursor_offset(clang_getCanonicalCursor(tree->nodes[up].cursor));
    return function;
}

/* How far the source's "using namespace" reach: nowhere, in functions, or outside of them too. */
typedef enum { OPENS_NOTHING, OPENS_INSIDE, OPENS_OUTSIDE } opening;

static opening find_opening(const rs_tree *tree)
{
    opening opens = OPENS_NOTHING;
    for (int n = 0; n < tree->node_count && opens != OPENS_OUTSIDE; n++)
        if (tree->nodes[n].kind == CXCursor_UsingDirective)
            opens = rs_node_is_below(tree, n, CXCursor_FunctionDecl) ? OPENS_INSIDE : OPENS_OUTSIDE;
    return opens;
}

static restride_status add_node(rs_names *names, const rs_tree *tree, int n,
                                rs_kernel_language language, opening opens)
{
    const rs_node *node = &tree->nodes[n];
    size_t function = function_around(tree, n);
    bool opened = opens != OPENS_NOTHING && is_opened(tree, n);
    bool inside = function != RS_ANY_FUNCTION || opened, type = declares_type(node->kind, language);
    const struct {
        bool applies;
        rs_name_kind kind;
    } kinds[] = {{inside, RS_NAME_INSIDE},
                 {inside && type, RS_NAME_TYPE_INSIDE},
                 {!inside && declares_value(node->kind), RS_NAME_OUTSIDE},
                 {function == RS_ANY_FUNCTION && type, RS_NAME_TYPE},
                 {opened && opens == OPENS_OUTSIDE, RS_NAME_OPENED},
                 {opened && opens == OPENS_OUTSIDE && type, RS_NAME_TYPE_OPENED}};
    restride_status status = RESTRIDE_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0] && status == RESTRIDE_OK; i++)
        if (kinds[i].applies)
            status = add(names, kinds[i].kind, function, node->cursor);
    return status;
}

typedef struct {
    rs_names *names;
    rs_kernel_language language;
    restride_status status;
} search;

/* What CUDA's own headers declare is no part of the tree. */
static enum CXChildVisitResult visit_own_type(CXCursor cursor, CXCursor parent, CXClientData data)
{
    (void)parent;
    search *s = data;
    if (clang_Location_isFromMainFile(clang_getCursorLocation(cursor)) != 0)
        return CXChildVisit_Break;
    if (declares_type(clang_getCursorKind(cursor), s->language))
        s->status = add(s->names, RS_NAME_TYPE, RS_ANY_FUNCTION, cursor);
    return s->status == RESTRIDE_OK ? CXChildVisit_Continue : CXChildVisit_Break;
}

restride_status rs_names_find(rs_names *names, const rs_tree *tree, rs_kernel_language language)
{
    *names = (rs_names){NULL, 0};
    search own = {names, language, RESTRIDE_OK};
    if (language == RS_CUDA_C)
        clang_visitChildren(tree->nodes[0].cursor, visit_own_type, &own);
    restride_status status = own.status;
    opening opens = find_opening(tree);
    for (int n = 0; n < tree->node_count && status == RESTRIDE_OK; n++)
        if (clang_isDeclaration(tree->nodes[n].kind) != 0 &&
            tree->nodes[n].kind != CXCursor_FieldDecl)
            status = add_node(names, tree, n, language, opens);
    if (names->count > 0)
        qsort(names->items, names->count, sizeof *names->items, compare_names);
    return status;
}

void rs_names_free(rs_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i].text);
    free(names->items);
    *names = (rs_names){NULL, 0};
}

/* ---- what they hide ---- */

static bool has_in(const rs_names *names, rs_name_kind kind, size_t function, const char *text,
                   size_t length)
{
    const rs_name wanted = {kind, function, (char *)text, length};
    return names->count > 0 && bsearch(&wanted, names->items, names->count, sizeof *names->items,
                                       compare_names) != NULL;
}

static bool has(const rs_names *names, rs_name_kind kind, const char *text, size_t length)
{
    return has_in(names, kind, RS_ANY_FUNCTION, text, length);
}

static bool is_tag_word(const char *text, size_t word, size_t length)
{
    static const char *const tags[] = {"struct", "class", "union", "enum"};
    bool found = false;
    for (size_t i = 0; i < sizeof tags / sizeof tags[0] && !found; i++)
        found = rs_word_equals(text, word, length, tags[i]);
    return found;
}

/* A word of a type, as it is written. */
typedef struct {
    const char *name;
    size_t length;
    bool tagged;   /* it stands behind "struct" or before "::", where only types are looked for */
    bool argument; /* of a template; behind "struct" the others are found whatever has their name */
} type_word;

static bool is_hidden_inside(const rs_names *names, size_t function, type_word w)
{
    rs_name_kind kind = w.tagged ? RS_NAME_TYPE_INSIDE : RS_NAME_INSIDE;
    return has_in(names, kind, function, w.name, w.length) || has(names, kind, w.name, w.length);
}

/* An argument that is no type, but a constant or the address of something, is not hidden by what
 * it is the name of. */
static bool is_hidden_outside(const rs_names *names, type_word w)
{
    return w.argument && !w.tagged && has(names, RS_NAME_OUTSIDE, w.name, w.length) &&
           has(names, RS_NAME_TYPE, w.name, w.length);
}

/* For RS_ANY_FUNCTION, outside of all. */
static bool hides(const rs_names *names, size_t function, const char *type)
{
    size_t size = strlen(type), position = 0, word, length;
    bool tagged = false, hidden = false, inside = function != RS_ANY_FUNCTION;
    const char *arguments = strchr(type, '<');
    while (!hidden && rs_word_next(type, size, &position, &word, &length)) {
        const char *name = type + word;
        if (is_tag_word(type, word, length)) {
            tagged = true;
            continue;
        }
        /* A template is found as everything is. */
        bool scope = strncmp(name + length, "::", 2) == 0;
        type_word w = {name, length, scope || (tagged && name[length] != '<'),
                       arguments != NULL && name > arguments};
        if (word == 0 || name[-1] != ':')
            hidden = is_hidden_outside(names, w) ||
                     (inside ? is_hidden_inside(names, function, w)
                             : has(names, w.tagged ? RS_NAME_TYPE_OPENED : RS_NAME_OPENED, name,
                                   length));
        tagged = false;
    }
    return hidden;
}

bool rs_names_hide_inside(const rs_names *names, const rs_function *function, const char *type)
{
    return hides(names, function->declared, type);
}

bool rs_names_hide_outside(const rs_names *names, const char *type)
{
    return hides(names, RS_ANY_FUNCTION, type);
}

/* ---- how types are written ---- */

static bool is_class(CXCursor cursor)
{
    static const enum CXCursorKind classes[] = {CXCursor_StructDecl, CXCursor_ClassDecl,
                                                CXCursor_UnionDecl, CXCursor_EnumDecl};
    return is_kind(clang_getCursorKind(cursor), classes, sizeof classes / sizeof classes[0]);
}

/* Whether only members and friends of a class may name a type, or an argument of its template. */
static bool belongs_to_class(CXCursor declaration)
{
    bool belongs = false;
    CXType type = clang_getCursorType(declaration);
    for (CXCursor at = declaration; is_class(at) && !belongs;
         at = clang_getCursorSemanticParent(at))
        belongs = clang_getCXXAccessSpecifier(at) == CX_CXXPrivate ||
                  clang_getCXXAccessSpecifier(at) == CX_CXXProtected;
    for (int i = 0; i < clang_Type_getNumTemplateArguments(type) && !belongs; i++) {
        CXType argument =
            clang_getCanonicalType(clang_Type_getTemplateArgumentAsType(type, (unsigned)i));
        while (argument.kind == CXType_Pointer || rs_kind_is_reference(argument.kind))
            argument = clang_getPointeeType(argument);
        belongs = is_class(clang_getTypeDeclaration(argument)) &&
                  belongs_to_class(clang_getTypeDeclaration(argument));
    }
    return belongs;
}

/* Leaves out the namespaces without a name, in which everything is named as it is around them. */
static void drop_nameless(char *name)
{
    static const char nameless[] = "(anonymous namespace)::";
    for (char *at = strstr(name, nameless); at != NULL; at = strstr(at, nameless))
        memmove(at, at + strlen(nameless), strlen(at + strlen(nameless)) + 1);
}

/* Whether a type can be written behind "struct": not where the name is that of a typedef, and the
 * structure has none of its own. */
static bool has_own_name(const rs_model *model, CXCursor declaration, const char *name)
{
    const char *last = name, *end = name + strcspn(name, "<");
    const char *text = model->tree->text + rs_cursor_offset(declaration);
    if (clang_Location_isFromMainFile(clang_getCursorLocation(declaration)) == 0)
        return true; /* of CUDA's own */
    if (name[strlen(name) - 1] == '>')
        return false; /* it would not help */
    if (strrchr(name, '>') != NULL)
        end = name + strlen(name);
    for (const char *at = name; at < end; at++)
        last = at[0] == ':' ? at + 1 : last;
    size_t length = rs_identifier_length(last);
    return length > 0 && rs_identifier_length(text) == length && memcmp(text, last, length) == 0;
}

bool rs_has_name(const rs_structure *structure)
{
    return clang_Cursor_isNull(structure->declaration) == 0 &&
           clang_Cursor_isAnonymous(structure->declaration) == 0;
}

/* In C++ "struct" finds a structure also where something else has its name. */
restride_status rs_type_write(const rs_model *model, CXCursor declaration, char **written,
                              bool *is_private)
{
    CXString spelling = clang_getTypeSpelling(clang_getCursorType(declaration));
    char *name = strdup(clang_getCString(spelling));
    clang_disposeString(spelling);
    *written = NULL;
    *is_private = model->language == RS_CUDA_C && belongs_to_class(declaration);
    if (name == NULL)
        return rs_fail_memory("the name of a type");
    drop_nameless(name);
    if (*is_private || strchr(name, '(') != NULL) {
        free(name);
        return RESTRIDE_OK;
    }
    enum CXCursorKind kind = clang_getCursorKind(declaration);
    const char *tag = kind == CXCursor_ClassDecl  ? "class"
                      : kind == CXCursor_EnumDecl ? "enum"
                                                  : "struct";
    rs_text text = RS_TEXT_EMPTY;
    if (model->language == RS_CUDA_C && has_own_name(model, declaration, name))
        rs_text_format(&text, "%s ", tag);
    rs_text_add_string(&text, name);
    free(name);
    *written = rs_text_take(&text);
    return *written != NULL ? RESTRIDE_OK : rs_fail_memory("the name of a type");
}

restride_status rs_enumeration_write(const rs_model *model, CXType type, char **written)
{
    bool is_private;
    CXCursor declaration = clang_getTypeDeclaration(clang_getCanonicalType(type));
    return rs_type_write(model, declaration, written, &is_private);
}
