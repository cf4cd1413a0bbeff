/* What a store may reach beside the place that it names, and what names a variable. */
#include "analyze/walk.h"
#include "source/query.h"

uint64_t rs_walk_columns(const rs_walk *walk)
{
    uint64_t columns = 0;
    for (int loop = walk->loop; loop >= 0; loop = walk->unit->loops[loop].parent)
        columns |= rs_loop_varies(walk->unit, loop);
    return columns;
}

bool rs_walk_has(const rs_walk *walk, uint64_t key)
{
    for (int i = 0; i < walk->depth; i++) {
        const rs_node *routine = &walk->tree->nodes[walk->calls[i]];
        if (key >= routine->begin && key < routine->end)
            return true;
    }
    return false;
}

/* Whether something is known of a variable or a member of it; of others there is nothing to forget.
 */
static bool is_known(const rs_walk *walk, uint64_t key)
{
    bool known = rs_walk_find(walk, key) >= 0;
    for (int i = 0; i < walk->member_count && !known; i++)
        known = rs_walk_is_part(walk, walk->members[i].key, key) &&
                rs_walk_find(walk, walk->members[i].key) >= 0;
    return known;
}

void rs_walk_invalidate(rs_walk *walk, rs_stored stored, bool lasting_too, bool others_too)
{
    rs_value changed = rs_value_unknown(rs_walk_anything(walk), true);
    if (others_too)
        rs_walk_note_all_written(walk, stored);
    for (int i = 0; i < walk->escaped->count; i++) {
        const rs_escaped *e = &walk->escaped->list[i];
        bool reached = e->lasts ? lasting_too : others_too && rs_walk_has(walk, e->key);
        if (reached && rs_stored_may_change(stored, e->type) && is_known(walk, e->key))
            rs_walk_set(walk, e->key, &changed);
    }
}

bool rs_walk_names_variable(const rs_walk *walk, int node)
{
    const rs_tree *tree = walk->tree;
    node = node < 0 ? -1 : rs_node_inner(tree, node);
    int base = node < 0 ? -1 : rs_node_child(tree, node, 0);
    if (node < 0)
        return false;
    if (tree->nodes[node].is == RS_NODE_REFERENCE)
        return rs_is_variable(tree->nodes[node].declaration);

    bool member = tree->nodes[node].is == RS_NODE_MEMBER || rs_walk_is_component(walk, node);
    bool target = rs_node_is_unary(tree, node, "*");
    if (base < 0 || !(member || target))
        return false;
    base = rs_node_inner(tree, base);
    if (member && !rs_node_is_pointer(tree, base))
        return rs_walk_names_variable(walk, base);
    if (tree->nodes[base].is != RS_NODE_REFERENCE)
        return false;
    const rs_syntax_declaration *declared = tree->nodes[base].declaration;
    int known = rs_walk_find(walk, rs_declared_key(declared));
    return known >= 0 && walk->values[known].kind == RS_VALUE_POINTER &&
           rs_declared_type(declared)->kind == RS_TYPE_POINTER;
}
