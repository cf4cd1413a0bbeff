/*
 * What the source says of a loop: the parts of a for statement, where those that are missing have
 * no node and the semicolons tell, and what its body may do.
 */
#include "analyze/walk.h"
#include "source/query.h"

/* The positions of the two semicolons of "for (;;)". */
static bool find_semicolons(const rs_tree *tree, int node, size_t semicolons[2])
{
    int depth = 0, found = 0;
    for (size_t i = tree->nodes[node].begin; i < tree->nodes[node].end && found < 2; i++) {
        char c = tree->text[i];
        depth += c == '(' || c == '{' || c == '[';
        depth -= c == ')' || c == '}' || c == ']';
        if (c == ';' && depth == 1)
            semicolons[found++] = i;
        if (depth == 0 && c == ')')
            break;
    }
    return found == 2;
}

rs_for_parts rs_for_read(const rs_tree *tree, int node)
{
    rs_for_parts p = {-1, -1, -1, -1};
    size_t semicolons[2];
    int last = rs_node_last(tree, node);
    p.body = last;
    if (!find_semicolons(tree, node, semicolons))
        return p;
    for (int child = tree->nodes[node].first; child >= 0 && child != last;
         child = tree->nodes[child].next) {
        size_t begin = tree->nodes[child].begin;
        if (begin < semicolons[0])
            p.begin = child;
        else if (begin < semicolons[1])
            p.condition = child;
        else
            p.step = child;
    }
    return p;
}

bool rs_loop_stores_numbers(const rs_tree *tree, int node)
{
    for (int at = node, end = rs_node_behind(tree, node); at < end; at++) {
        const int left = rs_node_inner(tree, rs_node_child(tree, at, 0));
        if (tree->nodes[at].is == RS_NODE_CALL || (left >= 0 && rs_node_is_assignment(tree, at) &&
                                                   tree->nodes[left].is != RS_NODE_REFERENCE &&
                                                   rs_type_may_hold_index(rs_type_of(tree, left))))
            return true;
    }
    return false;
}

static bool leaves(const rs_tree *tree, int node, bool top)
{
    int kind = tree->nodes[node].is;
    if (kind == RS_NODE_LAMBDA)
        return false; /* it is the function object's own */
    if (kind == RS_NODE_RETURN || kind == RS_NODE_GOTO || (kind == RS_NODE_BREAK && top))
        return true;
    bool inner = kind == RS_NODE_FOR || kind == RS_NODE_WHILE || kind == RS_NODE_DO ||
                 kind == RS_NODE_SWITCH;
    RS_EACH_CHILD(child, tree, node)
        if (leaves(tree, child, top && !inner))
            return true;
    return false;
}

bool rs_loop_leaves(const rs_tree *tree, int body)
{
    return leaves(tree, body, true);
}

bool rs_loop_skips(const rs_tree *tree, int node)
{
    for (int at = node, end = rs_node_behind(tree, node); at < end; at++) {
        const int kind = tree->nodes[at].is;
        if (kind == RS_NODE_CONTINUE || kind == RS_NODE_GOTO)
            return true;
        if (kind == RS_NODE_LAMBDA) /* what it does is the function object's own */
            at = rs_node_behind(tree, at) - 1;
    }
    return false;
}

bool rs_node_is_pure(const rs_tree *tree, int node)
{
    for (int at = node, end = rs_node_behind(tree, node); at < end; at++)
        if (rs_node_is_assignment(tree, at) || tree->nodes[at].is == RS_NODE_CALL)
            return false;
    return true;
}
