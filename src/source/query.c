/* Questions about the nodes of a syntax tree. */
#include "source/query.h"

#include "source/words.h"

#include <ctype.h>
#include <string.h>

bool rs_text_is(const rs_tree *tree, size_t begin, size_t end, const char *word)
{
    while (begin < end && isspace((unsigned char)tree->text[begin]))
        begin++;
    while (end > begin && isspace((unsigned char)tree->text[end - 1]))
        end--;
    return end >= begin && rs_word_equals(tree->text, begin, end - begin, word);
}

bool rs_text_has(const rs_tree *tree, size_t begin, size_t end, const char *word)
{
    const size_t length = strlen(word);
    for (size_t at = begin; at + length <= end; at++)
        if (strncmp(tree->text + at, word, length) == 0)
            return true;
    return false;
}

int rs_node_child(const rs_tree *tree, int node, int which)
{
    int child = tree->nodes[node].first;
    while (child >= 0 && which-- > 0)
        child = tree->nodes[child].next;
    return child;
}

int rs_node_child_count(const rs_tree *tree, int node)
{
    int count = 0;
    for (int child = tree->nodes[node].first; child >= 0; child = tree->nodes[child].next)
        count++;
    return count;
}

int rs_node_body(const rs_tree *tree, int function)
{
    int body = -1;
    for (int child = tree->nodes[function].first; child >= 0; child = tree->nodes[child].next)
        if (tree->nodes[child].kind == CXCursor_CompoundStmt)
            body = child;
    return body;
}

int rs_node_last(const rs_tree *tree, int node)
{
    int last = -1;
    for (int child = tree->nodes[node].first; child >= 0; child = tree->nodes[child].next)
        last = child;
    return last;
}

int rs_node_initializer(const rs_tree *tree, int node)
{
    CXCursor initializer = clang_Cursor_getVarDeclInitializer(tree->nodes[node].cursor);
    return clang_Cursor_isNull(initializer) ? -1 : rs_node_last(tree, node);
}

int rs_node_sibling(const rs_tree *tree, int node)
{
    int parent = tree->nodes[node].parent;
    if (rs_node_child_count(tree, parent) != 2)
        return -1;
    int first = tree->nodes[parent].first;
    return node == first ? tree->nodes[first].next : first;
}

bool rs_node_is_binary(const rs_tree *tree, int node, const char *symbol)
{
    int first = rs_node_child(tree, node, 0), second = rs_node_child(tree, node, 1);
    return second >= 0 && tree->nodes[second].next < 0 &&
           rs_text_is(tree, tree->nodes[first].end, tree->nodes[second].begin, symbol);
}

bool rs_node_is_prefix(const rs_tree *tree, int node, const char *symbol)
{
    int child = rs_node_child(tree, node, 0);
    return child >= 0 &&
           rs_text_is(tree, tree->nodes[node].begin, tree->nodes[child].begin, symbol);
}

bool rs_node_is_postfix(const rs_tree *tree, int node, const char *symbol)
{
    int child = rs_node_child(tree, node, 0);
    return child >= 0 && rs_text_is(tree, tree->nodes[child].end, tree->nodes[node].end, symbol);
}

bool rs_node_is_step(const rs_tree *tree, int node)
{
    return tree->nodes[node].kind == CXCursor_UnaryOperator &&
           (rs_node_is_prefix(tree, node, "++") || rs_node_is_prefix(tree, node, "--") ||
            rs_node_is_postfix(tree, node, "++") || rs_node_is_postfix(tree, node, "--"));
}

bool rs_node_is_assignment(const rs_tree *tree, int node)
{
    enum CXCursorKind kind = tree->nodes[node].kind;
    return kind == CXCursor_CompoundAssignOperator ||
           (kind == CXCursor_BinaryOperator && rs_node_is_binary(tree, node, "=")) ||
           rs_node_is_step(tree, node);
}

int rs_node_operator(const rs_tree *tree, int call)
{
    static const char word[] = "operator";
    for (int child = tree->nodes[call].first; child >= 0; child = tree->nodes[child].next) {
        int inner = rs_node_inner(tree, child);
        CXString spelling = clang_getCursorSpelling(tree->nodes[inner].cursor);
        const char *name = clang_getCString(spelling);
        bool found = tree->nodes[inner].kind == CXCursor_DeclRefExpr && name != NULL &&
                     strncmp(name, word, strlen(word)) == 0 &&
                     rs_identifier_length(name) == strlen(word);
        clang_disposeString(spelling);
        if (found)
            return child;
    }
    return -1;
}

int rs_node_argument(const rs_tree *tree, int call)
{
    int first = tree->nodes[call].first;
    CXCursor declared = clang_getCursorReferenced(tree->nodes[call].cursor);
    bool method =
        !clang_Cursor_isNull(declared) && clang_getCursorKind(declared) == CXCursor_CXXMethod;
    if (first < 0 || (!method && rs_node_operator(tree, call) >= 0))
        return first;
    return tree->nodes[first].next;
}

/* Outputs stand behind the first colon, inputs behind the second one. */
bool rs_node_is_output(const rs_tree *tree, int node)
{
    const rs_node *assembly = &tree->nodes[tree->nodes[node].parent];
    int colons = 0;
    if (assembly->kind != CXCursor_GCCAsmStmt)
        return false;
    for (size_t at = assembly->begin; at < tree->nodes[node].begin;
         at = rs_word_skip(tree->text, tree->size, at))
        colons += tree->text[at] == ':';
    return colons == 1;
}

bool rs_node_is_designated(const rs_tree *tree, int node)
{
    const rs_node *value = &tree->nodes[node], *outer = &tree->nodes[value->parent];
    size_t before = value->begin;
    while (before > outer->begin && isspace((unsigned char)tree->text[before - 1]))
        before--;
    return outer->kind == CXCursor_UnexposedExpr &&
           tree->nodes[outer->parent].kind == CXCursor_InitListExpr &&
           (tree->text[outer->begin] == '.' || tree->text[outer->begin] == '[') &&
           value->end == outer->end && before > outer->begin && tree->text[before - 1] == '=';
}

bool rs_node_is_list(const rs_tree *tree, int node)
{
    node = rs_node_inner(tree, node);
    enum CXCursorKind kind = node < 0 ? CXCursor_InvalidCode : tree->nodes[node].kind;
    int last = kind == CXCursor_CXXFunctionalCastExpr || kind == CXCursor_CompoundLiteralExpr
                   ? rs_node_inner(tree, rs_node_last(tree, node))
                   : node;
    if (last < 0 || tree->nodes[last].kind != CXCursor_InitListExpr)
        return false;
    CXType type = rs_node_type(tree, last);
    int first = rs_node_child(tree, last, 0);
    return type.kind == CXType_Record &&
           (first < 0 || clang_equalTypes(type, rs_node_type(tree, first)) == 0);
}

bool rs_node_same_bytes(const rs_tree *tree, int a, int b)
{
    return tree->nodes[a].begin == tree->nodes[b].begin && tree->nodes[a].end == tree->nodes[b].end;
}

bool rs_node_is_below(const rs_tree *tree, int node, enum CXCursorKind kind)
{
    for (int up = tree->nodes[node].parent; up >= 0; up = tree->nodes[up].parent)
        if (tree->nodes[up].kind == kind)
            return true;
    return false;
}

bool rs_node_is_in(const rs_tree *tree, int node, int kind)
{
    int up = tree->nodes[node].parent;
    while (up >= 0 && tree->nodes[up].is != kind)
        up = tree->nodes[up].parent;
    return up >= 0;
}

bool rs_node_has(const rs_tree *tree, int node, int kind)
{
    bool found = tree->nodes[node].is == kind;
    for (int child = tree->nodes[node].first; child >= 0 && !found; child = tree->nodes[child].next)
        found = rs_node_has(tree, child, kind);
    return found;
}

/* In an instance of a template a parameter's name has its value below it, and none itself. */
static bool is_substituted(const rs_tree *tree, int node)
{
    CXString spelling = clang_getCursorSpelling(tree->nodes[node].cursor);
    const char *name = clang_getCString(spelling);
    bool nameless = name == NULL || name[0] == '\0';
    clang_disposeString(spelling);
    return nameless;
}

int rs_node_inner(const rs_tree *tree, int node)
{
    while (node >= 0) {
        enum CXCursorKind kind = tree->nodes[node].kind;
        int child = rs_node_child(tree, node, 0);
        bool around =
            child >= 0 && tree->nodes[child].next < 0 && rs_node_same_bytes(tree, node, child);
        bool implicit = around && (kind == CXCursor_UnexposedExpr ||
                                   (kind == CXCursor_DeclRefExpr && is_substituted(tree, node)));
        if (kind != CXCursor_ParenExpr && !implicit)
            break;
        node = child;
    }
    return node;
}

const rs_syntax_type *rs_type_of(const rs_tree *tree, int node)
{
    return tree->nodes[node].type;
}

CXType rs_node_type(const rs_tree *tree, int node)
{
    return clang_getCanonicalType(clang_getCursorType(tree->nodes[node].cursor));
}

bool rs_node_is_pointer(const rs_tree *tree, int node)
{
    enum CXTypeKind kind = rs_node_type(tree, node).kind;
    return kind == CXType_Pointer || kind == CXType_IncompleteArray || kind == CXType_ConstantArray;
}

bool rs_kind_is_array(enum CXTypeKind kind)
{
    return kind == CXType_ConstantArray || kind == CXType_IncompleteArray ||
           kind == CXType_VariableArray || kind == CXType_DependentSizedArray;
}

bool rs_kind_is_reference(enum CXTypeKind kind)
{
    return kind == CXType_LValueReference || kind == CXType_RValueReference;
}

int rs_node_behind(const rs_tree *tree, int node)
{
    while (node >= 0 && tree->nodes[node].next < 0)
        node = tree->nodes[node].parent;
    return node < 0 ? tree->node_count : tree->nodes[node].next;
}
