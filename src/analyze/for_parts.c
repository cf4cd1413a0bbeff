/* The parts of a for statement: those that are missing have no node, and the semicolons tell. */
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
    enum CXCursorKind kind = tree->nodes[node].kind;
    int left = rs_node_inner(tree, rs_node_child(tree, node, 0));
    if (kind == CXCursor_CallExpr || (left >= 0 && rs_node_is_assignment(tree, node) &&
                                      tree->nodes[left].kind != CXCursor_DeclRefExpr &&
                                      rs_type_may_hold_index(rs_node_type(tree, left))))
        return true;
    for (int child = tree->nodes[node].first; child >= 0; child = tree->nodes[child].next)
        if (rs_loop_stores_numbers(tree, child))
            return true;
    return false;
}
