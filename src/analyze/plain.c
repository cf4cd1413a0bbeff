/*
 * Which constructs the walk follows: a list of kinds of nodes, and conditions on some of them. What
 * is not in the list is unsupported, so a construct that was never considered is not taken for one
 * that is followed.
 */
#include "analyze/walk.h"
#include "source/query.h"

#include <string.h>

static bool is_cast(int kind)
{
    return kind == RS_NODE_CAST || kind == RS_NODE_STATIC_CAST || kind == RS_NODE_FUNCTIONAL_CAST;
}

/* A pointer that becomes a number, or the other way; null pointers aside. */
static bool is_unsupported_cast(const rs_tree *tree, int node)
{
    const rs_syntax_type *type = rs_type_of(tree, node);
    int operand = rs_node_inner(tree, rs_node_last(tree, node));
    if (operand < 0 || type->kind == RS_TYPE_VOID)
        return false;
    bool from_pointer = rs_type_is_address(rs_type_of(tree, operand));
    return rs_type_is_address(type) ? !from_pointer && tree->nodes[operand].is != RS_NODE_INTEGER
                                    : from_pointer;
}

static bool is_unsupported_member(const rs_tree *tree, int node)
{
    const rs_syntax_declaration *field = tree->nodes[node].declaration;
    if (field == &rs_declared_none)
        return true;
    return field->is_bitfield || (field->parent != NULL && field->parent->is_union);
}

/* The constructs that are followed, attributes besides. */
static const int plain[] = {RS_NODE_COMPOUND,
                            RS_NODE_ATTRIBUTED,
                            RS_NODE_DECLARE,
                            RS_NODE_VARIABLE,
                            RS_NODE_PARAMETER,
                            RS_NODE_IF,
                            RS_NODE_FOR,
                            RS_NODE_WHILE,
                            RS_NODE_DO,
                            RS_NODE_SWITCH,
                            RS_NODE_CASE,
                            RS_NODE_DEFAULT,
                            RS_NODE_BREAK,
                            RS_NODE_CONTINUE,
                            RS_NODE_RETURN,
                            RS_NODE_EMPTY,
                            RS_NODE_STRUCT,
                            RS_NODE_ENUM,
                            RS_NODE_TYPEDEF,
                            RS_NODE_TYPE_NAME,
                            RS_NODE_MEMBER_NAME,
                            RS_NODE_FIELD,
                            RS_NODE_ENUMERATOR,
                            RS_NODE_INTEGER,
                            RS_NODE_FLOATING,
                            RS_NODE_CHARACTER,
                            RS_NODE_STRING,
                            RS_NODE_TRUTH_VALUE,
                            RS_NODE_REFERENCE,
                            RS_NODE_PAREN,
                            RS_NODE_IMPLICIT,
                            RS_NODE_SIZEOF,
                            RS_NODE_UNARY,
                            RS_NODE_BINARY,
                            RS_NODE_ASSIGN,
                            RS_NODE_CONDITIONAL,
                            RS_NODE_CAST,
                            RS_NODE_STATIC_CAST,
                            RS_NODE_FUNCTIONAL_CAST,
                            RS_NODE_LIST,
                            RS_NODE_COMPOUND_LITERAL,
                            RS_NODE_SUBSCRIPT,
                            RS_NODE_MEMBER,
                            RS_NODE_CALL,
                            RS_NODE_FUNCTION,
                            RS_NODE_TEMPLATE,
                            RS_NODE_TYPE_PARAMETER,
                            RS_NODE_VALUE_PARAMETER,
                            RS_NODE_TEMPLATE_NAME,
                            RS_NODE_NAMESPACE_NAME};

static bool is_plain_kind(int kind)
{
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (plain[i] == kind)
            return true;
    return false;
}

bool rs_node_is_unsupported(const rs_tree *tree, int node)
{
    int kind = tree->nodes[node].is;
    return (tree->nodes[node].group != RS_NODES_ATTRIBUTE && !is_plain_kind(kind)) ||
           (is_cast(kind) && is_unsupported_cast(tree, node)) ||
           (kind == RS_NODE_MEMBER && is_unsupported_member(tree, node));
}

/* The first unsupported node, from `node` inwards; -1 for none. The body of a function object is
 * looked at where it is called. */
static int find_unsupported(const rs_tree *tree, int node)
{
    for (int at = node, end = rs_node_behind(tree, node); at < end; at++) {
        if (tree->nodes[at].is == RS_NODE_LAMBDA)
            at = rs_node_behind(tree, at) - 1;
        else if (rs_node_is_unsupported(tree, at))
            return at;
    }
    return -1;
}

void rs_walk_mark_unsupported(rs_walk *walk, int node, int loop)
{
    for (; loop >= 0; loop = walk->unit->loops[loop].parent) {
        rs_loop *l = &walk->unit->loops[loop];
        if (l->unsupported != NULL)
            continue;
        l->unsupported = strdup(rs_walk_text(walk, node).text);
        l->unsupported_line = rs_walk_line(walk, node);
    }
}

void rs_walk_note_unsupported(rs_walk *walk, int node, int loop)
{
    int unsupported = loop >= 0 ? find_unsupported(walk->tree, node) : -1;
    if (unsupported >= 0)
        rs_walk_mark_unsupported(walk, unsupported, loop);
}
