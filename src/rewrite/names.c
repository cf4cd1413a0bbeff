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
static bool declares_type(enum CXCursorKind kind, rs_language language)
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

static restride_status add(rs_names *names, rs_name_kind kind, CXCursor declaration)
{
    CXString spelling = clang_getCursorSpelling(declaration);
    const char *text = clang_getCString(spelling);
    bool named = text != NULL && text[0] != '\0'; /* a parameter may have none */
    rs_name name = {kind, named ? strdup(text) : NULL, named ? strlen(text) : 0};
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
    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    return memcmp(x->text, y->text, x->length);
}

/* Whether "using namespace" may make what a node declares a name of the place where it stands. */
static bool is_opened(const rs_tree *tree, int node, bool opens)
{
    bool opened = false;
    for (int up = tree->nodes[node].parent; opens && !opened && up >= 0;
         up = tree->nodes[up].parent) {
        CXString spelling = clang_getCursorSpelling(tree->nodes[up].cursor);
        const char *name = clang_getCString(spelling);
        opened =
            tree->nodes[up].kind == CXCursor_Namespace && name != NULL && strcmp(name, "") != 0;
        clang_disposeString(spelling);
    }
    return opened;
}

restride_status rs_names_find(rs_names *names, const rs_tree *tree, rs_language language)
{
    restride_status status = RESTRIDE_OK;
    bool opens = false, opens_outside = false;
    *names = (rs_names){NULL, 0};
    for (int n = 0; n < tree->node_count && !opens_outside; n++)
        if (tree->nodes[n].kind == CXCursor_UsingDirective) {
            opens = true;
            opens_outside = !rs_node_is_below(tree, n, CXCursor_FunctionDecl);
        }
    for (int n = 0; n < tree->node_count && status == RESTRIDE_OK; n++) {
        const rs_node *node = &tree->nodes[n];
        if (clang_isDeclaration(node->kind) == 0 || node->kind == CXCursor_FieldDecl)
            continue;
        bool inside = rs_node_is_below(tree, n, CXCursor_FunctionDecl) || is_opened(tree, n, opens);
        if (inside || declares_value(node->kind))
            status = add(names, inside ? RS_NAME_INSIDE : RS_NAME_OUTSIDE, node->cursor);
        if (inside && status == RESTRIDE_OK && declares_type(node->kind, language))
            status = add(names, RS_NAME_TYPE_INSIDE, node->cursor);
        if (opens_outside && status == RESTRIDE_OK && declares_type(node->kind, language) &&
            tree->nodes[node->parent].kind == CXCursor_Namespace && is_opened(tree, n, true))
            status = add(names, RS_NAME_TYPE_OPENED, node->cursor);
    }
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

static bool has(const rs_names *names, rs_name_kind kind, const char *text, size_t length)
{
    const rs_name wanted = {kind, (char *)text, length};
    return names->count > 0 && bsearch(&wanted, names->items, names->count, sizeof *names->items,
                                       compare_names) != NULL;
}

static bool is_tag_word(const char *text, size_t word, size_t length)
{
    static const char *const tags[] = {"struct", "class", "union", "enum"};
    bool found = false;
    for (size_t i = 0; i < sizeof tags / sizeof tags[0] && !found; i++)
        found = rs_word_equals(text, word, length, tags[i]);
    return found;
}

static bool hides(const rs_names *names, const char *type, bool inside)
{
    size_t size = strlen(type), position = 0, word, length;
    bool tagged = false, hidden = false;
    const char *arguments = strchr(type, '<');
    while (!hidden && rs_word_next(type, size, &position, &word, &length)) {
        const char *name = type + word;
        bool qualified = word > 0 && name[-1] == ':';
        if (is_tag_word(type, word, length)) {
            tagged = true;
            continue;
        }
        bool scope = strncmp(name + length, "::", 2) == 0;
        tagged = tagged && name[length] != '<'; /* a template is found as everything is */
        if (!qualified && inside)
            hidden =
                has(names, tagged || scope ? RS_NAME_TYPE_INSIDE : RS_NAME_INSIDE, name, length);
        if (!qualified && !tagged && !scope && arguments != NULL && name > arguments)
            hidden = hidden || has(names, RS_NAME_OUTSIDE, name, length);
        if (!qualified && !inside)
            hidden = hidden || has(names, RS_NAME_TYPE_OPENED, name, length);
        tagged = false;
    }
    return hidden;
}

bool rs_names_hide_inside(const rs_names *names, const char *type)
{
    return hides(names, type, true);
}

bool rs_names_hide_outside(const rs_names *names, const char *type)
{
    return hides(names, type, false);
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
    const char *tag = clang_getCursorKind(declaration) == CXCursor_ClassDecl ? "class" : "struct";
    rs_text text = RS_TEXT_EMPTY;
    if (model->language == RS_CUDA_C && has_own_name(model, declaration, name))
        rs_text_format(&text, "%s ", tag);
    rs_text_add_string(&text, name);
    free(name);
    *written = rs_text_take(&text);
    return *written != NULL ? RESTRIDE_OK : rs_fail_memory("the name of a type");
}
