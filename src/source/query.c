/* Questions about the nodes of a syntax tree. */
#include "source/query.h"

#include "base/text.h"
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
    RS_EACH_CHILD(child, tree, node)
        count++;
    return count;
}

int rs_node_body(const rs_tree *tree, int function)
{
    int body = -1;
    RS_EACH_CHILD(child, tree, function)
        if (tree->nodes[child].is == RS_NODE_COMPOUND)
            body = child;
    return body;
}

int rs_node_last(const rs_tree *tree, int node)
{
    int last = -1;
    RS_EACH_CHILD(child, tree, node)
        last = child;
    return last;
}

int rs_node_initializer(const rs_tree *tree, int node)
{
    const rs_node *n = &tree->nodes[node];
    const bool is_here = rs_is_variable(n->declaration) && n->declaration->is_initialized &&
                         n->declaration->place == n->place;
    return is_here ? rs_node_last(tree, node) : -1;
}

int rs_node_sibling(const rs_tree *tree, int node)
{
    int parent = tree->nodes[node].parent;
    if (rs_node_child_count(tree, parent) != 2)
        return -1;
    int first = tree->nodes[parent].first;
    return node == first ? tree->nodes[first].next : first;
}

bool rs_node_is_binary(const rs_tree *tree, int node, const char *symbols)
{
    const rs_node *n = &tree->nodes[node];
    return (n->is == RS_NODE_BINARY || n->is == RS_NODE_ASSIGN) &&
           rs_is_among(n->symbol, strlen(n->symbol), symbols);
}

bool rs_node_is_unary(const rs_tree *tree, int node, const char *symbols)
{
    const rs_node *n = &tree->nodes[node];
    return n->is == RS_NODE_UNARY && rs_is_among(n->symbol, strlen(n->symbol), symbols);
}

bool rs_node_is_step(const rs_tree *tree, int node)
{
    return rs_node_is_unary(tree, node, "++ --");
}

bool rs_node_is_postfix(const rs_tree *tree, int node)
{
    const rs_node *n = &tree->nodes[node];
    return n->is == RS_NODE_UNARY && n->first >= 0 && tree->nodes[n->first].begin == n->begin;
}

bool rs_node_is_assignment(const rs_tree *tree, int node)
{
    return tree->nodes[node].is == RS_NODE_ASSIGN || rs_node_is_binary(tree, node, "=") ||
           rs_node_is_step(tree, node);
}

int rs_node_operator(const rs_tree *tree, int call)
{
    static const char word[] = "operator";
    RS_EACH_CHILD(child, tree, call) {
        int inner = rs_node_inner(tree, child);
        const char *name = tree->nodes[inner].name;
        bool found = tree->nodes[inner].is == RS_NODE_REFERENCE &&
                     strncmp(name, word, strlen(word)) == 0 &&
                     rs_identifier_length(name) == strlen(word);
        if (found)
            return child;
    }
    return -1;
}

int rs_node_argument(const rs_tree *tree, int call)
{
    int first = tree->nodes[call].first;
    const rs_syntax_declaration *declared = tree->nodes[call].declaration;
    bool method = declared->is_method && !declared->is_constructor && !declared->is_destructor &&
                  !declared->is_conversion;
    if (first < 0 || (!method && rs_node_operator(tree, call) >= 0))
        return first;
    return tree->nodes[first].next;
}

/* Outputs stand behind the first colon, inputs behind the second one. */
bool rs_node_is_output(const rs_tree *tree, int node)
{
    const rs_node *assembly = &tree->nodes[tree->nodes[node].parent];
    int colons = 0;
    if (assembly->is != RS_NODE_ASM)
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
    return outer->is == RS_NODE_IMPLICIT && tree->nodes[outer->parent].is == RS_NODE_LIST &&
           (tree->text[outer->begin] == '.' || tree->text[outer->begin] == '[') &&
           value->end == outer->end && before > outer->begin && tree->text[before - 1] == '=';
}

bool rs_node_is_list(const rs_tree *tree, int node)
{
    node = rs_node_inner(tree, node);
    int kind = node < 0 ? RS_NODE_NONE : tree->nodes[node].is;
    int last = kind == RS_NODE_FUNCTIONAL_CAST || kind == RS_NODE_COMPOUND_LITERAL
                   ? rs_node_inner(tree, rs_node_last(tree, node))
                   : node;
    if (last < 0 || tree->nodes[last].is != RS_NODE_LIST)
        return false;
    const rs_syntax_type *type = rs_type_of(tree, last);
    int first = rs_node_child(tree, last, 0);
    return type->kind == RS_TYPE_RECORD && (first < 0 || type != rs_type_of(tree, first));
}

bool rs_node_same_bytes(const rs_tree *tree, int a, int b)
{
    return tree->nodes[a].begin == tree->nodes[b].begin && tree->nodes[a].end == tree->nodes[b].end;
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
int rs_node_inner(const rs_tree *tree, int node)
{
    while (node >= 0) {
        int kind = tree->nodes[node].is;
        int child = rs_node_child(tree, node, 0);
        bool around =
            child >= 0 && tree->nodes[child].next < 0 && rs_node_same_bytes(tree, node, child);
        bool implicit = around && (kind == RS_NODE_IMPLICIT || (kind == RS_NODE_REFERENCE &&
                                                                tree->nodes[node].name[0] == '\0'));
        if (kind != RS_NODE_PAREN && !implicit)
            break;
        node = child;
    }
    return node;
}

const rs_syntax_type *rs_type_of(const rs_tree *tree, int node)
{
    return tree->nodes[node].type;
}

bool rs_node_is_pointer(const rs_tree *tree, int node)
{
    return rs_type_is_pointer(rs_type_of(tree, node));
}

int rs_node_behind(const rs_tree *tree, int node)
{
    while (node >= 0 && tree->nodes[node].next < 0)
        node = tree->nodes[node].parent;
    return node < 0 ? tree->node_count : tree->nodes[node].next;
}
