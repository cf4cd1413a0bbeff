/* Assignments, compound ones and steps: what is stored, and which of them are reductions. */
#include "analyze/evaluate.h"
#include "source/query.h"

#include <stdlib.h>
#include <string.h>

/* Whether an expression is the variable with this key. */
static bool is_variable(rs_walk *walk, int node, uint64_t key)
{
    node = rs_node_inner(walk->tree, node);
    if (node < 0 || walk->tree->nodes[node].is != RS_NODE_REFERENCE)
        return false;
    const rs_syntax_declaration *declared = walk->tree->nodes[node].declaration;
    return rs_declared_key(declared) == key;
}

/* In "s = s + e", the node of e and the operator; -1 when the assignment is no such reduction. */
static int reduction_operand(rs_walk *walk, uint64_t key, int right, char *operation)
{
    int node = rs_node_inner(walk->tree, right);
    if (node < 0 || walk->tree->nodes[node].is != RS_NODE_BINARY)
        return -1;
    int a = rs_node_child(walk->tree, node, 0), b = rs_node_child(walk->tree, node, 1);
    if (b < 0 || walk->tree->nodes[node].symbol[1] != '\0')
        return -1;
    *operation = walk->tree->nodes[node].symbol[0];
    if (rs_node_is_binary(walk->tree, node, "+ * - & | ^") && is_variable(walk, a, key))
        return b;
    return rs_node_is_binary(walk->tree, node, "+ * & | ^") && is_variable(walk, b, key) ? a : -1;
}

/* Whether nobody uses the value of an expression. */
bool rs_node_is_discarded(const rs_tree *tree, int node)
{
    int parent = tree->nodes[node].parent;
    switch (parent < 0 ? -1 : (int)tree->nodes[parent].is) {
    case RS_NODE_PAREN:
    case RS_NODE_IMPLICIT:
        return rs_node_is_discarded(tree, parent);
    case RS_NODE_BINARY:
        return rs_node_is_binary(tree, parent, ",") &&
               (tree->nodes[parent].first == node || rs_node_is_discarded(tree, parent));
    case RS_NODE_COMPOUND:
        return tree->nodes[parent].parent < 0 ||
               tree->nodes[tree->nodes[parent].parent].is != RS_NODE_STATEMENTS;
    case RS_NODE_LABEL:
    case RS_NODE_CASE:
    case RS_NODE_DEFAULT:
    case RS_NODE_ATTRIBUTED:
        return true;
    case RS_NODE_FOR:
        return rs_for_read(tree, parent).condition != node;
    case RS_NODE_IF:
    case RS_NODE_WHILE:
        return tree->nodes[parent].first != node;
    case RS_NODE_DO:
        return tree->nodes[parent].first == node;
    default:
        return false;
    }
}

/*
 * Whether "target op= operand" may be done in another order: an integer is cut off each time when
 * the operand is a floating-point number, and so is _Bool by most operators.
 */
static bool may_be_reordered(const rs_walk *walk, char operation, int target, int operand)
{
    const rs_syntax_type *type = rs_type_of(walk->tree, target);
    const rs_syntax_type *by =
        operand < 0 ? type : rs_type_of(walk->tree, rs_node_inner(walk->tree, operand));
    if (!rs_node_is_discarded(walk->tree, walk->tree->nodes[target].parent) ||
        strchr(type->kind == RS_TYPE_BOOL ? "&|" : "+-*&|^", operation) == NULL)
        return false; /* every step's value is used, or the operators do not commute */
    return !rs_type_may_hold_index(type) || rs_type_may_hold_index(by);
}

/*
 * Notes that a variable is reduced in the loops that carry it. False when one of them reduces it
 * by another operator as well: then their order matters.
 */
static bool note_reduction(rs_walk *walk, uint64_t key, int value, char operation)
{
    char kind = operation == '-' ? '+' : operation;
    bool same = true;
    while (value >= 0 && walk->values[value].carried_loop >= 0) {
        int loop = walk->values[value].carried_loop, at = 0;
        while (at < walk->reduction_count &&
               (walk->reductions[at].key != key || walk->reductions[at].loop != loop))
            at++;
        if (at == RS_REDUCTION_LIMIT)
            return false;
        if (at == walk->reduction_count)
            walk->reductions[walk->reduction_count++] = (rs_reduction){key, loop, kind};
        same = same && walk->reductions[at].operation == kind;
        value = walk->values[value].carried_from;
    }
    return same;
}

/*
 * A reduction into a variable that the loop carries. Its new value is marked as carried too, so
 * that another use in the same iteration is seen for what it is.
 */
static bool evaluate_reduction(rs_walk *walk, const rs_location *place, int left, int operand,
                               char operation, rs_value *result)
{
    if (place->kind != RS_PLACE_VARIABLE || place->part || operand < 0)
        return false;
    int value = rs_walk_find(walk, place->key);
    if (value < 0 || walk->values[value].carried_loop < 0 ||
        !may_be_reordered(walk, operation, left, operand))
        return false;
    rs_value part = rs_walk_evaluate(walk, operand);
    bool same = note_reduction(walk, place->key, value, operation);
    rs_walk_read_carried(walk, value, rs_walk_text(walk, left).text, same);
    rs_value old = walk->values[value];
    *result = rs_walk_operate(walk, operation, &old, &part);
    *result = rs_walk_narrow(walk, result, -1, rs_type_of(walk->tree, left));
    rs_value_carry(result, &old);
    rs_walk_note_written(walk, place->key);
    rs_walk_set(walk, place->key, result);
    result->carried_loop = -1;
    return true;
}

/* The first operand of a sum: s in "s + a - b". */
static int first_operand(rs_walk *walk, int node)
{
    node = rs_node_inner(walk->tree, node);
    while (node >= 0 && walk->tree->nodes[node].is == RS_NODE_BINARY &&
           (rs_node_is_binary(walk->tree, node, "+ -")))
        node = rs_node_inner(walk->tree, rs_node_child(walk->tree, node, 0));
    return node;
}

/* Marks "x[e] = x[e] + ..." as what "x[e] += ..." is: both references belong together. */
static void pair_references(rs_walk *walk, int left, int right, int first)
{
    int operand = first_operand(walk, right), last = walk->unit->reference_count - 1;
    right = rs_node_inner(walk->tree, right);
    if (operand == right || rs_node_has(walk->tree, left, RS_NODE_CALL) ||
        !may_be_reordered(walk, '+', left, right))
        return;
    char *target = rs_walk_source(walk, left);
    char *source = operand < 0 ? NULL : rs_walk_source(walk, operand);
    if (target != NULL && source != NULL && strcmp(target, source) == 0)
        for (int i = first; i < last; i++) {
            rs_reference *r = &walk->unit->references[i];
            if (r->text != NULL && !r->loads_pointer &&
                r->offset == walk->tree->nodes[operand].begin &&
                r->array == walk->unit->references[last].array) {
                r->partner = last + 1;
                walk->unit->references[last].partner = i + 1;
            }
        }
    free(target);
    free(source);
}

rs_value rs_walk_assign(rs_walk *walk, int left, int right)
{
    int first = walk->unit->reference_count;
    rs_value value;
    rs_location place = rs_walk_locate(walk, left);
    char operation = '+';
    int operand = place.kind == RS_PLACE_VARIABLE
                      ? reduction_operand(walk, place.key, right, &operation)
                      : -1;
    if (evaluate_reduction(walk, &place, left, operand, operation, &value))
        return value;
    value = rs_walk_evaluate(walk, right);
    value = rs_walk_narrow(walk, &value, right, rs_type_of(walk->tree, left));
    rs_walk_store(walk, &place, &value, left, false);
    if (place.kind == RS_PLACE_MEMORY)
        pair_references(walk, left, right, first);
    return value;
}

/* Of the reference that was stored last. */
static void mark_reduction(rs_walk *walk, bool reduces)
{
    if (walk->unit->reference_count > 0)
        walk->unit->references[walk->unit->reference_count - 1].reduces = reduces;
}

rs_value rs_walk_assign_compound(rs_walk *walk, int node)
{
    int left = rs_node_child(walk->tree, node, 0), right = rs_node_child(walk->tree, node, 1);
    if (right < 0)
        return rs_walk_parts(walk, node);
    const char symbol = walk->tree->nodes[node].symbol[0];
    rs_location place = rs_walk_locate(walk, left);
    rs_value result = rs_value_unknown(0, false);
    bool reduces = strchr("+-*&|^", symbol) != NULL;
    if (!reduces || !evaluate_reduction(walk, &place, left, right, symbol, &result)) {
        rs_value added = rs_walk_evaluate(walk, right);
        rs_value old = rs_value_unknown(rs_walk_anything(walk), true);
        if (place.kind != RS_PLACE_MEMORY)
            old = rs_walk_load(walk, &place, left);
        bool number = rs_node_is_integer(walk, left) || old.kind == RS_VALUE_ADDRESS;
        const rs_syntax_type *type = rs_type_of(walk->tree, rs_node_inner(walk->tree, right));
        if (number)
            result = rs_walk_operate_typed(
                walk, symbol, &old, &added,
                rs_type_is_unsigned(type) ? type : rs_type_of(walk->tree, left));
        else
            result = rs_value_unknown(rs_value_depends(walk, &old) | rs_value_depends(walk, &added),
                                      true);
        result = rs_walk_narrow(walk, &result, -1, rs_type_of(walk->tree, left));
        rs_walk_store(walk, &place, &result, left, true);
        if (place.kind == RS_PLACE_MEMORY)
            mark_reduction(walk, may_be_reordered(walk, symbol, left, right));
    }
    return result;
}

rs_value rs_walk_assign_step(rs_walk *walk, int operand, char symbol, bool after)
{
    rs_location place = rs_walk_locate(walk, operand);
    rs_value old = rs_value_unknown(rs_walk_anything(walk), true), one = rs_value_constant(1);
    if (place.kind != RS_PLACE_MEMORY)
        old = rs_walk_load(walk, &place, operand);
    rs_value result = rs_walk_operate(walk, symbol, &old, &one);
    result = rs_walk_narrow(walk, &result, -1, rs_type_of(walk->tree, operand));
    rs_walk_store(walk, &place, &result, operand, true);
    if (place.kind == RS_PLACE_MEMORY)
        mark_reduction(walk, may_be_reordered(walk, symbol, operand, -1));
    return after ? old : result;
}
