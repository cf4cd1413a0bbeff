/* Statements. */
#include "analyze/changes.h"
#include "source/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VECTOR_LIMIT = 16, NAME_ROOM = 16 };

/* Whether a statement never reaches what follows it. */
static bool jumps(const rs_tree *tree, int node)
{
    switch ((int)tree->nodes[node].is) {
    case RS_NODE_RETURN:
    case RS_NODE_BREAK:
    case RS_NODE_CONTINUE:
    case RS_NODE_GOTO:
        return true;
    case RS_NODE_COMPOUND:
    case RS_NODE_LABEL:
    case RS_NODE_ATTRIBUTED:
        RS_EACH_CHILD(child, tree, node)
            if (jumps(tree, child))
                return true;
        return false;
    default:
        return false;
    }
}

/* ---- what is passed over ---- */

static uint64_t reached_by(const rs_reach *reach)
{
    return reach->around | reach->broken | reach->continued | reach->returned;
}

void rs_walk_guard(const rs_walk *walk, rs_reference *reference)
{
    reference->guarded = walk->guards > 0;
    reference->decided = reached_by(&walk->reach);
}

/* The columns of the loops that a jump ends, from the innermost on up to the loop `outer`. */
static uint64_t ended_columns(const rs_walk *walk, int outer)
{
    const rs_unit *unit = walk->unit;
    uint64_t columns = 0;
    for (int loop = walk->loop; loop >= 0 && loop != outer; loop = unit->loops[loop].parent)
        columns |= rs_loop_varies(unit, loop);
    return columns;
}

/*
 * What follows a jump is reached where its conditions do not hold. Iterations that a loop no longer
 * has are as good as those behind its bound; those that it had were not passed over.
 */
static void pass_over(rs_walk *walk, int kind)
{
    uint64_t by = reached_by(&walk->reach);
    if (kind == RS_NODE_CONTINUE)
        walk->reach.continued |= by;
    else if (kind == RS_NODE_GOTO)
        walk->reach.returned |= by;
    else if (kind == RS_NODE_RETURN)
        walk->reach.returned |=
            by & ~ended_columns(walk, walk->returning != NULL ? walk->returning->loop : -1);
    else if (walk->breaking != NULL || walk->loop < 0)
        walk->reach.broken |= by;
    else
        walk->reach.broken |= by & ~ended_columns(walk, walk->unit->loops[walk->loop].parent);
}

/* ---- declarations ---- */

/* The node whose children are the components that a vector is made of; -1 when it is not. */
static int find_components(const rs_walk *walk, int initializer, const rs_syntax_type *type)
{
    const rs_tree *tree = walk->tree;
    int node = initializer < 0 ? -1 : rs_node_inner(tree, initializer);
    if (type->kind != RS_TYPE_VECTOR)
        return -1;
    if (node >= 0 && tree->nodes[node].is == RS_NODE_COMPOUND_LITERAL)
        node = rs_node_inner(tree, rs_node_last(tree, node));
    bool list = node >= 0 && tree->nodes[node].is == RS_NODE_LIST &&
                rs_node_child_count(tree, node) == type->count;
    return list ? node : -1;
}

/* A vector that is declared with its components has each of them for itself. */
static void walk_components(rs_walk *walk, uint64_t key, int list, const rs_syntax_type *type)
{
    const rs_syntax_type *element = rs_type_below(type);
    int64_t size = rs_type_bytes(element);
    bool integer = rs_type_is_integer(element);
    rs_value whole = rs_value_unknown(0, false);
    rs_value parts[VECTOR_LIMIT];
    int count = 0;
    for (int child = walk->tree->nodes[list].first; child >= 0 && count < VECTOR_LIMIT;
         child = walk->tree->nodes[child].next) {
        rs_value part = rs_walk_evaluate(walk, child);
        part = rs_walk_narrow(walk, &part, child, element);
        part.carried_loop = -1;
        rs_value_mix(walk, &whole, &part);
        parts[count++] = part;
    }
    rs_walk_set(walk, key, &whole);
    for (int i = 0; i < count; i++) {
        char name[NAME_ROOM];
        snprintf(name, sizeof name, "s%d", i);
        if (integer && parts[i].kind == RS_VALUE_NUMBER)
            rs_walk_set(walk, rs_walk_member(walk, key, name, i * size), &parts[i]);
    }
}

/*
 * What a variable without an initializer holds: one that the compiler did not understand has some
 * value that nobody knows; the others get theirs in some way or are not used.
 */
static rs_value uninitialized(rs_walk *walk, int node, const rs_syntax_type *type)
{
    const rs_node *n = &walk->tree->nodes[node];
    bool integer = rs_type_is_integer(type);
    bool given = memchr(walk->tree->text + n->begin, '=', n->end - n->begin) != NULL;
    if (given)
        return rs_value_unknown(rs_walk_anything(walk), true);
    return rs_value_unknown(integer ? rs_walk_lane(walk) : 0, false);
}

static void walk_variable(rs_walk *walk, int node)
{
    const rs_syntax_declaration *cursor = walk->tree->nodes[node].declaration;
    uint64_t key = rs_declared_key(cursor);
    const rs_syntax_type *type = rs_declared_type(cursor);
    int initializer = rs_node_initializer(walk->tree, node);
    bool array = type->kind == RS_TYPE_ARRAY;
    if (array) {
        if (initializer >= 0)
            (void)rs_walk_evaluate(walk, initializer);
        rs_walk_declare(walk, cursor);
        return;
    }
    if (cursor->is_static)
        return; /* it begins with what it was */
    if (type->kind == RS_TYPE_REFERENCE) {
        rs_walk_bind_reference(walk, key, initializer);
        return;
    }
    int components = find_components(walk, initializer, type);
    if (components >= 0) {
        walk_components(walk, key, components, type);
        return;
    }
    rs_value value =
        initializer >= 0 ? rs_walk_evaluate(walk, initializer) : uninitialized(walk, node, type);
    if (initializer >= 0)
        value = rs_walk_narrow(walk, &value, initializer, type);
    bool integer = rs_type_is_integer(type);
    if (value.kind == RS_VALUE_UNKNOWN && integer && (initializer >= 0 || value.data))
        value = rs_value_number(rs_walk_number(walk, &value, cursor->name));
    else if (value.kind == RS_VALUE_NUMBER && !integer && strcmp(type->name, "auto") != 0 &&
             type->kind != RS_TYPE_ENUM)
        value = rs_value_like(walk, &value, &value);
    value.carried_loop = -1;
    bool pointer = type->kind == RS_TYPE_POINTER;
    if (pointer && value.kind == RS_VALUE_UNKNOWN && value.lost) {
        value = rs_walk_declare(walk, cursor);
        value.lost = true;
    }
    value = rs_walk_view(walk, &value, type);
    if (!pointer || value.kind == RS_VALUE_ADDRESS || value.kind == RS_VALUE_POINTER)
        rs_walk_set(walk, key, &value);
}

/* ---- branches ---- */

/* Declarations in a condition come before it: its first node behind them. */
static int walk_declared(rs_walk *walk, int node)
{
    int child = walk->tree->nodes[node].first;
    for (; child >= 0 && (walk->tree->nodes[child].is == RS_NODE_VARIABLE ||
                          walk->tree->nodes[child].is == RS_NODE_DECLARE);
         child = walk->tree->nodes[child].next)
        rs_walk_statement(walk, child);
    return child;
}

static void walk_if(rs_walk *walk, int node)
{
    const rs_tree *tree = walk->tree;
    int parts[4], count = 0;
    for (int child = walk_declared(walk, node); child >= 0 && count < 4;
         child = tree->nodes[child].next)
        parts[count++] = child;
    if (count < 2)
        return;
    rs_value condition = rs_walk_evaluate(walk, parts[0]);
    rs_walk_end_expression(walk, parts[0]);
    uint64_t chosen = rs_value_depends(walk, &condition);
    walk->conditions |= chosen;
    rs_environment before, after_yes;
    if (!rs_environment_copy(&before, &walk->variables)) {
        walk->no_memory = true;
        return;
    }
    uint64_t around = walk->reach.around;
    walk->reach.around |= chosen;
    walk->guards++;
    rs_walk_statement(walk, parts[1]);
    after_yes = walk->variables;
    walk->variables = before;
    if (count > 2)
        rs_walk_statement(walk, parts[2]);
    walk->guards--;
    walk->reach.around = around;
    bool yes_jumps = jumps(tree, parts[1]), no_jumps = count > 2 && jumps(tree, parts[2]);
    if (no_jumps && !yes_jumps) {
        rs_environment_free(&walk->variables);
        walk->variables = after_yes;
        return;
    }
    if (!yes_jumps)
        rs_walk_merge_by(walk, &after_yes, chosen);
    rs_environment_free(&after_yes);
}

/* Whether a statement of a switch, or the one behind its label, jumps. */
static bool ends_case(const rs_tree *tree, int node)
{
    int last = node;
    while (tree->nodes[node].is == RS_NODE_CASE || tree->nodes[node].is == RS_NODE_DEFAULT) {
        RS_EACH_CHILD(child, tree, node)
            last = child;
        if (last == node)
            break;
        node = last;
    }
    return jumps(tree, node);
}

/*
 * Every case starts from the variables before the switch, and those of the case before if that
 * runs on into it; behind the switch they are merged.
 */
static void walk_switch(rs_walk *walk, int node)
{
    const rs_tree *tree = walk->tree;
    size_t begin, end;
    if (rs_switch_hides(tree, node, &begin, &end))
        rs_walk_note_unfollowed(walk, node, "What \"%s\" begins with is not followed.");
    int condition = walk_declared(walk, node), body = rs_node_last(tree, node);
    if (condition < 0 || body == condition)
        return;
    rs_value value = rs_walk_evaluate(walk, condition);
    rs_walk_end_expression(walk, condition);
    uint64_t chosen = rs_value_depends(walk, &value);
    walk->conditions |= chosen;
    rs_environment before, merged;
    if (!rs_environment_copy(&before, &walk->variables) ||
        !rs_environment_copy(&merged, &walk->variables)) {
        walk->no_memory = true;
        return;
    }
    const rs_reach reach = walk->reach;
    walk->reach.around |= chosen;
    walk->guards++;
    bool falls = false;
    rs_exit exit = {{NULL, 0}, walk->loop}, *outer = walk->breaking;
    walk->breaking = &exit;
    RS_EACH_CHILD(child, tree, body) {
        bool label =
            tree->nodes[child].is == RS_NODE_CASE || tree->nodes[child].is == RS_NODE_DEFAULT;
        if (label) {
            rs_environment start;
            rs_walk_merge_by(walk, &merged, chosen);
            rs_environment_free(&merged);
            merged = walk->variables;
            if (!rs_environment_copy(&start, falls ? &merged : &before))
                walk->no_memory = true;
            walk->variables = start;
        }
        rs_walk_statement(walk, child);
        falls = !ends_case(tree, child);
    }
    walk->guards--;
    walk->reach.around = reach.around;
    walk->reach.broken = reach.broken;
    walk->breaking = outer;
    rs_walk_merge_by(walk, &merged, chosen);
    rs_walk_join(walk, &exit, walk->conditions);
    rs_environment_free(&merged);
    rs_environment_free(&before);
}

static void walk_return(rs_walk *walk, int node)
{
    int expression = rs_node_child(walk->tree, node, 0);
    if (expression < 0) {
        rs_walk_leave(walk, walk->returning);
        return;
    }
    /* What a function gives back: of one that returns a reference, where that leads to. */
    rs_value value =
        walk->gives_place ? rs_walk_refer_to(walk, expression) : rs_walk_evaluate(walk, expression);
    value.carried_loop = -1;
    if (walk->returned >= 0) {
        rs_value other = walk->values[walk->returned];
        uint64_t outer = walk->chosen;
        walk->chosen = walk->conditions;
        value = rs_value_merge(walk, &other, &value, "returned");
        walk->chosen = outer;
    }
    walk->returned = rs_walk_keep(walk, &value);
    rs_walk_end_expression(walk, expression);
    rs_walk_leave(walk, walk->returning);
}

static void walk_children(rs_walk *walk, int node)
{
    RS_EACH_CHILD(child, walk->tree, node)
        rs_walk_statement(walk, child);
}

/* From wherever a label is reached: what the function assigns anywhere is not known there. */
static void forget_at_label(rs_walk *walk)
{
    const int parts[] = {walk->calls[walk->depth - 1], -1, -1};
    rs_changes all = {NULL, 0};
    rs_value unknown = rs_value_unknown(rs_walk_anything(walk), true);
    walk->stores++; /* perhaps, on the way back to here */
    rs_changes_collect(walk, parts[0], false, &all);
    rs_changes_collect_unseen(walk, parts[0], parts, &all);
    for (int i = 0; i < all.count; i++)
        rs_walk_set(walk, all.list[i].key, &unknown);
    free(all.list);
}

/* What inline assembly writes, its outputs and perhaps all memory, is not known any more. */
static void walk_assembly(rs_walk *walk, int node)
{
    const rs_tree *tree = walk->tree;
    rs_value unknown = rs_value_unknown(rs_walk_anything(walk), true);
    walk->stores++; /* perhaps, and it may be a barrier */
    RS_EACH_CHILD(child, tree, node) {
        if (!rs_node_is_output(tree, child)) {
            (void)rs_walk_evaluate(walk, child);
            continue;
        }
        rs_location place = rs_walk_locate(walk, child);
        rs_walk_store(walk, &place, &unknown, child, true);
    }
    rs_walk_invalidate(walk, RS_STORED_ANYTHING, true, true);
    rs_walk_note(walk, node, "Inline assembly is not followed.", "");
}

/* The elements of a loop over a range are some that nobody knows. */
static void walk_loop(rs_walk *walk, int node, int kind)
{
    const rs_tree *tree = walk->tree;
    int last = rs_node_last(tree, node);
    if (kind == RS_NODE_FOR) {
        rs_walk_for(walk, node);
    } else if (kind == RS_NODE_WHILE) {
        rs_walk_while(walk, node, rs_node_child(tree, node, rs_node_child_count(tree, node) - 2),
                      last);
    } else if (kind == RS_NODE_DO) {
        rs_walk_do(walk, node, rs_node_child(tree, node, 1), rs_node_child(tree, node, 0));
    } else {
        rs_walk_note(walk, node, "The elements that a loop over a range visits are not followed.",
                     "");
        rs_walk_while(walk, node, -1, last);
    }
}

/* Nothing is computed. */
static bool is_declaration(int kind)
{
    return kind == RS_NODE_EMPTY || kind == RS_NODE_STRUCT || kind == RS_NODE_ENUM ||
           kind == RS_NODE_TYPEDEF || kind == RS_NODE_TYPE_NAME;
}

void rs_walk_statement(rs_walk *walk, int node)
{
    int kind = walk->tree->nodes[node].is;
    if (walk->exhausted || walk->no_memory)
        return;
    switch ((int)kind) {
    case RS_NODE_LABEL:
        forget_at_label(walk);
        walk_children(walk, node);
        break;
    case RS_NODE_COMPOUND:
    case RS_NODE_DECLARE:
    case RS_NODE_DEFAULT:
    case RS_NODE_CASE:
    case RS_NODE_ATTRIBUTED: /* with attributes: "#pragma unroll" is one of a loop */
        walk_children(walk, node);
        break;
    case RS_NODE_VARIABLE:
        walk_variable(walk, node);
        rs_walk_end_expression(walk, node);
        break;
    case RS_NODE_IF:
        walk_if(walk, node);
        break;
    case RS_NODE_SWITCH:
        walk_switch(walk, node);
        break;
    case RS_NODE_FOR:
    case RS_NODE_WHILE:
    case RS_NODE_RANGE_FOR:
    case RS_NODE_DO:
        walk_loop(walk, node, kind);
        break;
    case RS_NODE_ASM:
        walk_assembly(walk, node);
        break;
    case RS_NODE_RETURN:
    case RS_NODE_BREAK:
    case RS_NODE_CONTINUE:
    case RS_NODE_GOTO:
        if (kind == RS_NODE_RETURN)
            walk_return(walk, node);
        else if (kind == RS_NODE_BREAK)
            rs_walk_leave(walk, walk->breaking);
        pass_over(walk, kind);
        break;
    default:
        if (is_declaration(kind))
            break;
        if (walk->tree->nodes[node].group != RS_NODES_ATTRIBUTE)
            (void)rs_walk_evaluate(walk, node);
        rs_walk_end_expression(walk, node);
    }
    if (kind == RS_NODE_COMPOUND || kind == RS_NODE_IF || kind == RS_NODE_SWITCH ||
        kind == RS_NODE_FOR || kind == RS_NODE_WHILE || kind == RS_NODE_RANGE_FOR)
        rs_walk_end_scope(walk, node);
}
