/*
 * Function objects that are written in place, [x, &y](int i) { ... }. Their bodies are walked where
 * they are called: names there are the variables around, and those that are captured by copy have
 * the values that they had where the object was made.
 */
#include "analyze/walk.h"
#include "base/list.h"
#include "source/query.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { CAPTURE_LIMIT = 32, NAME_ROOM = 64 };

/* Variables that are captured by copy. */
typedef struct {
    const rs_syntax_declaration *declared[CAPTURE_LIMIT];
    int count;
    bool followed; /* false: something else is captured, too */
} captures;

/* ---- what is captured ---- */

static int body_of(const rs_tree *tree, int lambda)
{
    int last = rs_node_last(tree, lambda);
    return last >= 0 && tree->nodes[last].is == RS_NODE_COMPOUND ? last : -1;
}

static bool is_inside(const rs_tree *tree, int node, const rs_syntax_declaration *declared)
{
    size_t offset = declared->place;
    return offset >= tree->nodes[node].begin && offset < tree->nodes[node].end;
}

static size_t introducer_end(const rs_tree *tree, int lambda)
{
    size_t at = tree->nodes[lambda].begin;
    while (at < tree->nodes[lambda].end && tree->text[at] != ']')
        at++;
    return at;
}

static void add_capture(captures *all, const rs_syntax_declaration *declared)
{
    const rs_syntax_type *type = rs_declared_type(declared);
    for (int i = 0; i < all->count; i++)
        if (all->declared[i] == declared)
            return;
    if (all->count == CAPTURE_LIMIT || type->kind == RS_TYPE_REFERENCE ||
        (type->kind == RS_TYPE_ARRAY && !rs_is_declared(declared, RS_DECLARATION_PARAMETER)))
        all->followed = false;
    else
        all->declared[all->count++] = declared;
}

/* Whether the names in the brackets have one of a variable as a reference. */
static bool is_referred(const rs_tree *tree, int lambda, const rs_syntax_declaration *declared)
{
    RS_EACH_CHILD(child, tree, lambda) {
        if (tree->nodes[child].is != RS_NODE_VARIABLE_NAME ||
            tree->nodes[child].declaration != declared)
            continue;
        size_t before = tree->nodes[child].begin;
        while (before > tree->nodes[lambda].begin && isspace((unsigned char)tree->text[before - 1]))
            before--;
        return tree->text[before - 1] == '&';
    }
    return false;
}

/* With [=] all variables of the function that are named, but those that are references. */
static void add_named(const rs_tree *tree, int lambda, int node, captures *all)
{
    for (int at = node, end = rs_node_behind(tree, node); at < end; at++) {
        const rs_syntax_declaration *declared = tree->nodes[at].declaration;
        if (tree->nodes[at].is == RS_NODE_REFERENCE && !is_inside(tree, lambda, declared) &&
            rs_is_variable(declared) && !rs_variable_lasts(declared) &&
            !is_referred(tree, lambda, declared))
            add_capture(all, declared);
    }
}

static bool names(const rs_tree *tree, int node, const rs_syntax_declaration *declared)
{
    node = node < 0 ? -1 : rs_node_inner(tree, node);
    return node >= 0 && tree->nodes[node].is == RS_NODE_REFERENCE &&
           tree->nodes[node].declaration == declared;
}

static bool names_within(const rs_tree *tree, int node, const rs_syntax_declaration *declared)
{
    for (int at = node + 1, end = rs_node_behind(tree, node); at < end; at++)
        if (tree->nodes[at].is == RS_NODE_REFERENCE && tree->nodes[at].declaration == declared)
            return true;
    return false;
}

/* Whether a member of a variable, or of one of those, has something done to it. */
static bool is_part(const rs_tree *tree, int node, const rs_syntax_declaration *declared)
{
    for (; node >= 0; node = tree->nodes[rs_node_inner(tree, node)].first) {
        if (names(tree, node, declared))
            return true;
        if (tree->nodes[rs_node_inner(tree, node)].is != RS_NODE_MEMBER)
            return false;
    }
    return false;
}

/* Whether a variable is known by another name, or used by other objects, which the body of a
 * function object may call, at or below a node: by its address, as a reference, or in their
 * bodies. */
static bool is_shared(const rs_tree *tree, int node, int lambda,
                      const rs_syntax_declaration *declared)
{
    int kind = tree->nodes[node].is;
    bool bound = kind == RS_NODE_CALL || kind == RS_NODE_VARIABLE;
    if (rs_node_is_unary(tree, node, "&") && is_part(tree, tree->nodes[node].first, declared))
        return true;
    if (kind == RS_NODE_LAMBDA && node != lambda && rs_node_has(tree, lambda, RS_NODE_CALL) &&
        names_within(tree, node, declared))
        return true;
    RS_EACH_CHILD(child, tree, node) {
        /* What is read or copied has a conversion around it. */
        bool whole =
            tree->nodes[child].is == RS_NODE_REFERENCE || tree->nodes[child].is == RS_NODE_MEMBER;
        if ((bound && whole && is_part(tree, child, declared)) ||
            is_shared(tree, child, lambda, declared))
            return true;
    }
    return false;
}

/* What is captured by copy is walked under the variable's own name. So the object must not change
 * its copy, and nothing that its body does may reach the variable. */
static bool stays(const rs_tree *tree, int lambda, const captures *all)
{
    int function = lambda;
    while (tree->nodes[function].parent > 0)
        function = tree->nodes[function].parent;
    if (all->count > 0 && rs_text_has(tree, introducer_end(tree, lambda),
                                      tree->nodes[body_of(tree, lambda)].begin, "mutable"))
        return false;
    for (int i = 0; i < all->count; i++)
        if (is_shared(tree, function, lambda, all->declared[i]))
            return false;
    return true;
}

static captures read_captures(const rs_tree *tree, int lambda)
{
    captures all = {.count = 0, .followed = body_of(tree, lambda) >= 0};
    size_t begin = tree->nodes[lambda].begin + 1, end = introducer_end(tree, lambda);
    if (rs_text_has(tree, begin, end, "*this") || rs_text_has(tree, begin, end, "..."))
        all.followed = false;
    RS_EACH_CHILD(child, tree, lambda) {
        const rs_syntax_declaration *declared = tree->nodes[child].declaration;
        if (tree->nodes[child].is != RS_NODE_VARIABLE_NAME)
            continue;
        if (is_inside(tree, lambda, declared))
            all.followed = false; /* [y = x + 1] */
        else if (!is_referred(tree, lambda, declared))
            add_capture(&all, declared);
    }
    while (begin < end && isspace((unsigned char)tree->text[begin]))
        begin++;
    if (tree->text[begin] == '=' && all.followed)
        add_named(tree, lambda, body_of(tree, lambda), &all);
    return all;
}

/* ---- objects ---- */

static rs_lambda *find_lambda(const rs_walk *walk, int node)
{
    for (int i = 0; i < walk->lambda_count; i++)
        if (walk->lambdas[i].node == node)
            return &walk->lambdas[i];
    return NULL;
}

int rs_walk_lambda_of(const rs_walk *walk, int function)
{
    const rs_tree *tree = walk->tree;
    if (tree->nodes[function].is == RS_NODE_LAMBDA)
        return function;
    for (int i = 0; i < walk->routine_count; i++)
        if (tree->nodes[walk->routines[i].node].is == RS_NODE_LAMBDA &&
            walk->routines[i].offset == tree->nodes[function].place)
            return walk->routines[i].node; /* of which this is an instance */
    return -1;
}

static uint64_t key_of(rs_walk *walk, int lambda, const rs_syntax_declaration *declared,
                       const char *what)
{
    char name[NAME_ROOM];
    snprintf(name, sizeof name, "%s %zu", what, declared->place);
    return rs_walk_member(walk, walk->tree->nodes[lambda].begin, name, 0);
}

/* Sets a variable to the value of another one. */
static void copy_value(rs_walk *walk, uint64_t to, uint64_t from, const rs_syntax_type *type)
{
    int known = rs_walk_find(walk, from);
    rs_value value = known >= 0 ? walk->values[known] : rs_value_unknown(0, false);
    if (rs_type_is_record(type))
        value = rs_value_copy_of(walk, &value, from);
    else if (known < 0)
        return;
    rs_walk_set(walk, to, &value);
}

/* The value of a variable before it was assigned: a parameter's, or of an array its address. */
static void see_to_value(rs_walk *walk, const rs_syntax_declaration *declared)
{
    uint64_t key = rs_declared_key(declared);
    if (rs_walk_find(walk, key) >= 0 || rs_type_is_record(rs_declared_type(declared)))
        return;
    rs_value value = rs_walk_declare(walk, declared);
    rs_walk_set(walk, key, &value);
}

/* Whether the expressions of captures, [y = e], may do more than to compute something. */
bool rs_lambda_captures_plainly(const rs_tree *tree, int lambda)
{
    const char *const unsupported[] = {"++", "--", "(", "{"};
    size_t begin = tree->nodes[lambda].begin + 1, end = introducer_end(tree, lambda);
    bool named = false; /* behind the first = of a capture */
    for (size_t i = 0; i < sizeof unsupported / sizeof unsupported[0]; i++)
        if (rs_text_has(tree, begin, end, unsupported[i]))
            return false;
    for (size_t at = begin; at < end; at++) {
        if (tree->text[at] == '=' && named)
            return false;
        named = tree->text[at] == '=' || (named && tree->text[at] != ',');
    }
    return true;
}

rs_value rs_walk_make_lambda(rs_walk *walk, int node)
{
    if (!rs_lambda_captures_plainly(walk->tree, node))
        rs_walk_note_unfollowed(walk, node, "What the captures of \"%s\" do is not followed.");
    rs_lambda *lambda = find_lambda(walk, node);
    captures all = read_captures(walk->tree, node);
    bool again = lambda != NULL;
    if (!again) {
        if (!RS_LIST_GROW(walk->lambdas, walk->lambda_count)) {
            walk->no_memory = true;
            return rs_value_unknown(0, false);
        }
        lambda = &walk->lambdas[walk->lambda_count++];
    }
    bool followed = again ? lambda->followed : all.followed && stays(walk->tree, node, &all);
    *lambda = (rs_lambda){.node = node,
                          .entered = again && lambda->entered,
                          .followed = followed,
                          .loop = again ? lambda->loop : walk->loop,
                          .self = walk->self};
    if (!followed)
        rs_walk_mark_unsupported(walk, node, walk->loop);
    memcpy(lambda->self_name, walk->self_name, sizeof lambda->self_name);
    for (int i = 0; i < all.count && followed; i++) {
        uint64_t copy = key_of(walk, node, all.declared[i], "copy");
        int before = again ? rs_walk_find(walk, copy) : -1;
        rs_value old = before >= 0 ? walk->values[before] : rs_value_unknown(0, false);
        see_to_value(walk, all.declared[i]);
        copy_value(walk, copy, rs_declared_key(all.declared[i]), rs_declared_type(all.declared[i]));
        int known = rs_walk_find(walk, copy);
        if (before < 0 || known < 0)
            continue; /* of two objects that are made in one place either may be called */
        rs_value merged = walk->values[known];
        merged = rs_value_merge(walk, &old, &merged, "captured");
        rs_walk_set(walk, copy, &merged);
    }
    return rs_value_unknown(0, false);
}

/* ---- calls ---- */

bool rs_walk_enter_lambda(rs_walk *walk, int node)
{
    rs_lambda *lambda = find_lambda(walk, node);
    if (lambda != NULL)
        lambda->entered = true;
    if (lambda == NULL || !lambda->followed)
        return false;
    captures all = read_captures(walk->tree, node);
    for (int i = 0; i < all.count; i++) {
        const rs_syntax_type *type = rs_declared_type(all.declared[i]);
        uint64_t key = rs_declared_key(all.declared[i]);
        copy_value(walk, key_of(walk, node, all.declared[i], "kept"), key, type);
        copy_value(walk, key, key_of(walk, node, all.declared[i], "copy"), type);
    }
    walk->self = lambda->self;
    memcpy(walk->self_name, lambda->self_name, sizeof walk->self_name);
    return true;
}

void rs_walk_leave_lambda(rs_walk *walk, int node)
{
    captures all = read_captures(walk->tree, node);
    for (int i = 0; i < all.count; i++)
        copy_value(walk, rs_declared_key(all.declared[i]),
                   key_of(walk, node, all.declared[i], "kept"), rs_declared_type(all.declared[i]));
}

void rs_walk_note_lambdas(rs_walk *walk)
{
    for (int i = 0; i < walk->lambda_count; i++) {
        const rs_lambda *lambda = &walk->lambdas[i];
        if (lambda->entered)
            continue;
        rs_walk_mark_unsupported(walk, lambda->node, lambda->loop);
        rs_walk_note(walk, lambda->node,
                     "What this function object touches is not followed: no call of it is.", "");
    }
}
