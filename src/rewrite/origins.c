/*
 * Where pointers come from: every initialisation, assignment and return of a pointer carries the
 * arguments of its right-hand side to its left, in any order, until nothing changes. A variable
 * that may hold pointers into two buffers, or one that is not followed, is no reason yet to refuse
 * anything: the uses of the pointers that reach it are (access.c).
 */
#include "rewrite/model.h"

#include "base/list.h"
#include "source/query.h"

#include <stdlib.h>

static const rs_origin nowhere = {-1, false, false}, somewhere = {-1, false, true};

static rs_origin join(rs_origin a, rs_origin b)
{
    rs_origin both = {a.argument >= 0 ? a.argument : b.argument, a.several || b.several,
                      a.unknown || b.unknown};
    if (a.argument >= 0 && b.argument >= 0 && a.argument != b.argument)
        both.several = true;
    return both;
}

/* Where the bytes of an lvalue lie: the pointer that it was reached by. */
static rs_origin lvalue_origin(const rs_model *model, int node)
{
    const rs_tree *tree = model->tree;
    int inner = rs_node_inner(tree, node);
    if (inner < 0)
        return somewhere;
    const rs_node *n = &tree->nodes[inner];
    int child = n->first;
    if (child < 0)
        return somewhere;
    if (n->is == RS_NODE_SUBSCRIPT) {
        int pointer = rs_node_is_pointer(tree, child) ? child : tree->nodes[child].next;
        return pointer < 0 ? somewhere : rs_pointer_origin(model, pointer);
    }
    if (n->is == RS_NODE_MEMBER)
        return rs_type_of(tree, child)->kind == RS_TYPE_POINTER ? rs_pointer_origin(model, child)
                                                                : lvalue_origin(model, child);
    if (rs_node_is_unary(tree, inner, "*"))
        return rs_pointer_origin(model, child);
    return somewhere;
}

static bool is_null(const rs_model *model, int node)
{
    const rs_tree *tree = model->tree;
    int inner = rs_node_inner(tree, node);
    while (inner >= 0 && tree->nodes[inner].is == RS_NODE_CAST) {
        int last = rs_node_child_count(tree, inner) - 1;
        inner = last < 0 ? -1 : rs_node_inner(tree, rs_node_child(tree, inner, last));
    }
    if (inner >= 0 && tree->nodes[inner].is == RS_NODE_NULL_POINTER)
        return true;
    if (inner < 0 || tree->nodes[inner].is != RS_NODE_INTEGER)
        return false;
    int64_t value;
    return rs_tree_evaluate(tree, inner, &value) && value == 0;
}

static rs_origin passed_origin(const rs_model *model, int call, int argument)
{
    unsigned index = model->arguments[argument].index;
    int passed = rs_node_child(model->tree, call, 1 + (int)index);
    return passed < 0 ? somewhere : rs_pointer_origin(model, passed);
}

/* What a called function returns comes from what is passed to it. */
static rs_origin call_origin(const rs_model *model, int node)
{
    int function = rs_model_function(model, model->tree->nodes[node].declaration);
    if (function < 0)
        return somewhere;
    const rs_function *callee = &model->functions[function];
    rs_origin origin = callee->returned;
    if (origin.argument < 0)
        return origin;
    int first = origin.several ? callee->first_argument : origin.argument;
    int end = origin.several ? first + callee->argument_count : first + 1;
    origin = (rs_origin){-1, false, origin.unknown};
    for (int i = first; i < end; i++)
        origin = join(origin, passed_origin(model, node, i));
    return origin;
}

static rs_origin binary_origin(const rs_model *model, int node)
{
    const rs_tree *tree = model->tree;
    int left = rs_node_child(tree, node, 0), right = rs_node_child(tree, node, 1);
    if (right < 0)
        return somewhere;
    if (rs_node_is_binary(tree, node, "= ,"))
        return rs_pointer_origin(model, right);
    if (!rs_node_is_binary(tree, node, "+ -"))
        return somewhere;
    return rs_pointer_origin(model, rs_node_is_pointer(tree, left) ? left : right);
}

static rs_origin cast_origin(const rs_model *model, int node)
{
    int last = rs_node_child(model->tree, node, rs_node_child_count(model->tree, node) - 1);
    if (last < 0 || !rs_node_is_pointer(model->tree, last))
        return somewhere;
    return rs_pointer_origin(model, last);
}

static rs_origin conditional_origin(const rs_model *model, int node)
{
    int first = rs_node_child(model->tree, node, 1), second = rs_node_child(model->tree, node, 2);
    if (first < 0 || second < 0)
        return somewhere;
    return join(rs_pointer_origin(model, first), rs_pointer_origin(model, second));
}

rs_origin rs_pointer_origin(const rs_model *model, int node)
{
    const rs_tree *tree = model->tree;
    if (is_null(model, node))
        return nowhere;
    int inner = rs_node_inner(tree, node);
    if (inner < 0)
        return somewhere;
    int variable = rs_model_variable(model, inner);
    if (variable >= 0)
        return model->variables[variable].origin;
    const rs_node *n = &tree->nodes[inner];
    switch (n->is) {
    case RS_NODE_MEMBER:
    case RS_NODE_SUBSCRIPT: /* an array inside the structures, or a pointer in memory */
        return rs_type_is_fixed_array(rs_type_of(tree, inner)) ? lvalue_origin(model, inner)
                                                               : somewhere;
    case RS_NODE_BINARY:
        return binary_origin(model, inner);
    case RS_NODE_ASSIGN:
        return rs_pointer_origin(model, n->first);
    case RS_NODE_UNARY:
        if (rs_node_is_unary(tree, inner, "&"))
            return lvalue_origin(model, n->first);
        if (rs_node_is_unary(tree, inner, "*"))
            return somewhere;
        return rs_pointer_origin(model, n->first);
    case RS_NODE_CONDITIONAL:
        return conditional_origin(model, inner);
    case RS_NODE_CAST:
        return cast_origin(model, inner);
    case RS_NODE_CALL:
        return call_origin(model, inner);
    default:
        return somewhere;
    }
}

/* A place that pointers are written to: a variable, or what a function returns. */
typedef struct {
    rs_origin *target;
    int source; /* the node of the pointer */
} flow;

/* A chain of this many assignments, each before the one that it depends on, is not followed. */
enum { PASS_LIMIT = 64 };

typedef struct {
    flow *items;
    int count;
} flow_list;

static restride_status add_flow(flow_list *list, rs_origin *target, int source)
{
    if (!RS_LIST_GROW(list->items, list->count))
        return rs_fail_memory("the pointers of a source");
    list->items[list->count++] = (flow){target, source};
    return RESTRIDE_OK;
}

static restride_status collect_flows(rs_model *model, flow_list *list)
{
    const rs_tree *tree = model->tree;
    restride_status status = RESTRIDE_OK;
    int function = -1;
    for (int n = 0; n < tree->node_count && status == RESTRIDE_OK; n++) {
        const rs_node *node = &tree->nodes[n];
        while (function + 1 < model->function_count && model->functions[function + 1].node <= n)
            function++;
        int variable = -1, source = -1;
        if (node->is == RS_NODE_VARIABLE) {
            variable = rs_model_variable_of(model, node->declaration);
            source = rs_node_initializer(tree, n);
        } else if (rs_node_is_binary(tree, n, "=")) {
            variable = rs_model_variable(model, node->first);
            source = rs_node_child(tree, n, 1);
        }
        if (variable >= 0 && source >= 0)
            status = add_flow(list, &model->variables[variable].origin, source);
        if (node->is == RS_NODE_RETURN && function >= 0 && node->first >= 0 &&
            rs_node_is_pointer(tree, node->first))
            status = add_flow(list, &model->functions[function].returned, node->first);
    }
    return status;
}

restride_status rs_model_find_origins(rs_model *model)
{
    flow_list list = {NULL, 0};
    restride_status status = collect_flows(model, &list);
    bool changed = status == RESTRIDE_OK;
    for (int pass = 0; changed; pass++) {
        changed = false;
        for (int i = 0; i < list.count; i++) {
            rs_origin *target = list.items[i].target, before = *target;
            *target = join(before, rs_pointer_origin(model, list.items[i].source));
            target->unknown = target->unknown || pass > PASS_LIMIT;
            changed = changed || before.argument != target->argument ||
                      before.several != target->several || before.unknown != target->unknown;
        }
    }
    free(list.items);
    return status;
}
