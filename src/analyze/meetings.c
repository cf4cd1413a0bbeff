/*
 * Where a work-item hears of others of its group: at barriers and fences, by atomic operations and
 * volatile accesses, and in whatever nobody knows. Between two such places no other one may store
 * what this one reads: both languages leave a data race undefined.
 */
#include "analyze/walk.h"

#include "analyze/program.h"
#include "source/query.h"

/* The functions that are looked through, from the outermost call inwards. */
typedef struct {
    const rs_walk *walk;
    int routines[RS_CALL_DEPTH];
    int depth;
} search;

static bool meets(search *s, int node);

static bool is_shared_by_type(const rs_tree *tree, int node)
{
    const rs_syntax_type *type = rs_type_of(tree, node);
    return type->kind == RS_TYPE_ATOMIC || type->is_volatile;
}

static bool runs_destructor(const rs_tree *tree, int node)
{
    int kind = tree->nodes[node].is;
    return (kind == RS_NODE_VARIABLE || kind == RS_NODE_PARAMETER || kind == RS_NODE_CALL) &&
           rs_type_has_destructor(tree->nodes[node].type);
}

static bool call_meets(search *s, int node)
{
    const rs_walk *walk = s->walk;
    const rs_syntax_declaration *called = walk->tree->nodes[node].declaration;
    if (called->is_constructor)
        return rs_walk_making_of(walk, called) == RS_MAKING_ANYTHING;
    if (rs_walk_is_virtual(walk, node))
        return true;
    int routine = rs_walk_routine(walk, node);
    if (routine < 0)
        return !rs_walk_call_is_apart(walk, node);
    for (int i = 0; i < s->depth; i++)
        if (s->routines[i] == routine)
            return true; /* the walk does not follow it */
    const rs_node *body = &walk->tree->nodes[routine];
    if (s->depth == RS_CALL_DEPTH || rs_program_is_misread(walk->program, body->begin, body->end))
        return true;
    s->routines[s->depth++] = routine;
    bool found = false;
    for (int child = body->first; child >= 0 && !found; child = walk->tree->nodes[child].next)
        found = meets(s, child);
    s->depth--;
    return found;
}

static bool meets(search *s, int node)
{
    const rs_tree *tree = s->walk->tree;
    for (int at = node, end = rs_node_behind(tree, node); at < end; at++)
        if (rs_node_is_unsupported(tree, at) || is_shared_by_type(tree, at) ||
            runs_destructor(tree, at) || (tree->nodes[at].is == RS_NODE_CALL && call_meets(s, at)))
            return true;
    return false;
}

bool rs_walk_meets(const rs_walk *walk, int node)
{
    search s = {.walk = walk, .depth = 0};
    const rs_node *whole = &walk->tree->nodes[node];
    return rs_program_is_misread(walk->program, whole->begin, whole->end) || meets(&s, node);
}
