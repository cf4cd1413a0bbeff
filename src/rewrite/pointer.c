/* One step from a pointer up the syntax tree: it is moved, compared, kept in a variable, passed to
 * a helper, or dereferenced. */
#include "rewrite/way.h"

#include "base/list.h"
#include "source/query.h"

#include <stdlib.h>
#include <string.h>

restride_status rs_model_add_access(rs_model *model, const rs_member_access *access)
{
    if (!RS_LIST_GROW(model->accesses, model->access_count))
        return rs_fail_memory("the accesses of a kernel");
    model->accesses[model->access_count++] = *access;
    return RESTRIDE_OK;
}

static const rs_node *node_at(const rs_way *w, int node)
{
    return &w->tree->nodes[node];
}

/* Whether all pointers that meet somewhere come from the argument of this way. */
static const char *check_origin(const rs_way *w, rs_origin origin)
{
    if (origin.unknown)
        return "the pointer may also come from a place that is not followed";
    if (origin.several || origin.argument != w->argument)
        return w->model->functions[w->access.function].kernel
                   ? "the pointer may point into one of several buffers"
                   : "the pointer may be one of several parameters, which may be of several "
                     "buffers";
    return NULL;
}

/* Goes on to `node`, the lvalue that the pointer of this way points to. */
static const char *arrive_behind(rs_way *w, int node)
{
    const rs_syntax_type *type = rs_type_of(w->tree, node);
    bool record = type->kind == RS_TYPE_RECORD;
    if (record == w->access.flat)
        return "this access is not understood";
    return rs_way_arrive(w, node, type);
}

static const char *check_pointer(const rs_way *w)
{
    return check_origin(w, rs_pointer_origin(w->model, w->node));
}

static const char *add_index(rs_way *w, int up, int index, bool negative)
{
    rs_member_access *a = &w->access;
    if (index < 0)
        return "this index is not understood";
    if (a->index_count == RS_PIECE_LIMIT)
        return "the index has too many parts";
    a->index[a->index_count] = index;
    a->negative[a->index_count++] = negative;
    w->node = up;
    return NULL;
}

static const char *dereference(rs_way *w, int up)
{
    const char *reason = check_pointer(w);
    return reason != NULL ? reason : arrive_behind(w, up);
}

static const char *subscript(rs_way *w, int up)
{
    const char *reason = check_pointer(w);
    if (reason == NULL)
        reason = add_index(w, up, rs_node_sibling(w->tree, w->node), false);
    return reason != NULL ? reason : arrive_behind(w, up);
}

static const char *end_here(rs_way *w)
{
    w->place = RS_AT_NOTHING;
    return NULL;
}

/* The pointer variable gets a new value: `up` is the expression that does it. */
static const char *move(rs_way *w, int up)
{
    if (w->access.is_parameter)
        w->model->arguments[w->argument].moved = true;
    return rs_way_point(w, up, "the pointer is moved in a way that is not understood");
}

/* A pointer on the right of "=". */
static const char *assign(rs_way *w, int up)
{
    int variable = rs_model_variable(w->model, node_at(w, up)->first);
    if (variable < 0)
        return "the pointer is stored in a place that is not followed";
    const char *reason = check_origin(w, w->model->variables[variable].origin);
    return reason != NULL ? reason : end_here(w);
}

static const char *step_through_binary(rs_way *w, int up)
{
    const rs_tree *tree = w->tree;
    bool left = node_at(w, up)->first == w->node;
    bool pointer = rs_node_is_pointer(tree, up);
    if (rs_node_is_binary(tree, up, "== != < > <= >= && ||"))
        return end_here(w);
    if (rs_node_is_binary(tree, up, "="))
        return left ? move(w, up) : assign(w, up);
    if (rs_node_is_binary(tree, up, ","))
        return left ? end_here(w) : rs_way_point(w, up, "the pointer itself is used as a value");
    if (rs_node_is_binary(tree, up, "-"))
        return pointer ? add_index(w, up, rs_node_sibling(tree, w->node), true) : end_here(w);
    if (rs_node_is_binary(tree, up, "+") && pointer)
        return add_index(w, up, rs_node_sibling(tree, w->node), false);
    return "the pointer itself is used as a value";
}

static const char *step_through_unary(rs_way *w, int up)
{
    const rs_tree *tree = w->tree;
    if (rs_node_is_unary(tree, up, "*"))
        return dereference(w, up);
    if (rs_node_is_unary(tree, up, "!"))
        return end_here(w);
    return rs_node_is_step(tree, up) ? move(w, up) : "an operator is applied to the pointer itself";
}

static const char *step_through_arrow(rs_way *w, int up)
{
    const char *reason = check_pointer(w);
    return reason != NULL ? reason : rs_way_enter(w, up, "->");
}

static const char *declare(rs_way *w, int up)
{
    if (rs_node_initializer(w->tree, up) != w->node)
        return end_here(w); /* a part of its type */
    int variable = rs_model_variable_of(w->model, node_at(w, up)->declaration);
    if (variable < 0)
        return "the pointer is copied to a variable that is not followed";
    const char *reason = check_origin(w, w->model->variables[variable].origin);
    return reason != NULL ? reason : end_here(w);
}

static restride_status add_binding(rs_model *model, rs_passed_pointer binding)
{
    if (!RS_LIST_GROW(model->bindings, model->binding_count))
        return rs_fail_memory("the calls of a source");
    model->bindings[model->binding_count++] = binding;
    return RESTRIDE_OK;
}

/* What is around the pointer gets the address that it stands for. */
static const char *end_at_address(rs_way *w, const char *otherwise)
{
    const char *reason = check_pointer(w);
    if (!w->access.flat || !rs_way_name_leaf(w, w->target))
        return otherwise;
    w->access.kind = RS_ACCESS_LEAF;
    w->access.address = true;
    w->access.size = (size_t)rs_type_bytes(w->target);
    w->access.begin = node_at(w, w->node)->begin;
    w->access.end = node_at(w, w->node)->end;
    w->access.is_const = w->target->is_const;
    w->access.is_volatile = w->target->is_volatile;
    w->place = RS_AT_END;
    return reason;
}

static const char *pass_to_atomic(rs_way *w, int up)
{
    const rs_syntax_declaration *called = node_at(w, up)->declaration;
    const char *trouble = called->kind != RS_DECLARATION_FUNCTION || called->is_defined
                              ? "the pointer is passed to a function in a way that is not followed"
                              : "the pointer is passed to a function that is not in the source";
    if (rs_node_child(w->tree, up, 1) != w->node || !rs_is_atomic_call(w->tree, up))
        return trouble;
    w->access.written = w->access.updated = true;
    return end_at_address(w, trouble);
}

/* Whether the node above is `pointer->LANES` of a vector. */
static bool is_of_lanes(const rs_way *w, int up)
{
    const rs_node *node = node_at(w, w->node);
    return w->target->kind == RS_TYPE_VECTOR && node->begin == node_at(w, up)->begin &&
           strncmp(w->tree->text + node->end, "->", 2) == 0;
}

/* The argument of a function that a child of the call is passed as; -1 when it is not followed. */
static int passed_argument(const rs_way *w, const rs_function *callee, int call)
{
    unsigned index = 0;
    int child = rs_node_child(w->tree, call, 1);
    for (; child >= 0 && child != w->node; child = w->tree->nodes[child].next)
        index++;
    for (int i = callee->first_argument; i < callee->first_argument + callee->argument_count; i++)
        if (child >= 0 && w->model->arguments[i].index == index)
            return i;
    return -1;
}

static const char *step_through_call(rs_way *w, int up, restride_status *status)
{
    int function = rs_model_function(w->model, node_at(w, up)->declaration);
    if (function < 0 && rs_way_pass_pointer(w, up))
        return check_pointer(w);
    if (function < 0 && rs_is_prefetch(w->tree, up))
        return end_here(w);
    if (function < 0)
        return pass_to_atomic(w, up);
    const rs_function *callee = &w->model->functions[function];
    int passed = passed_argument(w, callee, up);
    if (passed < 0 || callee->kernel)
        return "the pointer is passed to a function in a way that is not followed";
    const char *reason = check_pointer(w);
    if (reason != NULL)
        return reason;
    rs_member_access call = {.kind = RS_ACCESS_CALL,
                             .begin = node_at(w, up)->begin,
                             .end = node_at(w, up)->end,
                             .function = w->access.function,
                             .argument = w->argument,
                             .pointer = up,
                             .callee = function};
    *status = add_binding(w->model, (rs_passed_pointer){w->argument, passed, up});
    if (*status == RESTRIDE_OK)
        *status = rs_model_add_access(w->model, &call);
    if (callee->returned.argument != passed)
        return end_here(w);
    /* What is returned may point to members of the structures. */
    w->place = RS_AT_ELEMENT_POINTER;
    return rs_way_point(w, up,
                        "the pointer comes back from a function in a way that is not followed");
}

static const char *step_through_conversion(rs_way *w, int up)
{
    static const char trouble[] = "the pointer is converted to another type";
    const rs_tree *tree = w->tree;
    const rs_syntax_type_kind kind = rs_type_of(tree, up)->kind;
    if (kind == RS_TYPE_VOID || kind == RS_TYPE_BOOL) /* dropped, or tested */
        return end_here(w);
    if (node_at(w, up)->is == RS_NODE_CAST)
        return rs_way_cast(w, up, "the pointer is cast");
    static const char unknown[] = "the pointer is used in a way that is not understood";
    if (is_of_lanes(w, up)) {
        rs_way_note_writing(w);
        return end_at_address(w, unknown);
    }
    if (!rs_node_same_bytes(tree, w->node, up))
        return unknown;
    rs_way after = *w; /* only to see whether the type stays */
    const char *reason = rs_way_point(&after, up, trouble);
    if (reason == NULL)
        w->node = up;
    return reason;
}

const char *rs_step_from_pointer(rs_way *w, int up, restride_status *status)
{
    const rs_node *outer = node_at(w, up);
    switch (outer->is) {
    case RS_NODE_PAREN:
        w->node = up;
        return NULL;
    case RS_NODE_IMPLICIT:
    case RS_NODE_CAST:
        return step_through_conversion(w, up);
    case RS_NODE_BINARY:
        return step_through_binary(w, up);
    case RS_NODE_ASSIGN:
        return move(w, up);
    case RS_NODE_UNARY:
        return step_through_unary(w, up);
    case RS_NODE_CONDITIONAL:
        return outer->first == w->node
                   ? end_here(w)
                   : rs_way_point(w, up, "the pointer itself is used as a value");
    case RS_NODE_SUBSCRIPT:
        return subscript(w, up);
    case RS_NODE_MEMBER:
        return step_through_arrow(w, up);
    case RS_NODE_CALL:
        return step_through_call(w, up, status);
    case RS_NODE_VARIABLE:
        return declare(w, up);
    case RS_NODE_RETURN: {
        const char *reason = check_origin(w, w->model->functions[w->access.function].returned);
        return reason != NULL ? reason : end_here(w);
    }
    case RS_NODE_COMPOUND:
        if (node_at(w, outer->parent)->is == RS_NODE_STATEMENTS)
            return "the pointer is the value of a statement inside an expression";
        return end_here(w);
    case RS_NODE_IF:
    case RS_NODE_FOR:
    case RS_NODE_WHILE:
    case RS_NODE_DO:
    case RS_NODE_CASE:
    case RS_NODE_DEFAULT:
    case RS_NODE_LABEL:
        return end_here(w); /* its value is tested or dropped */
    default:
        return "the pointer itself is used in a way that is not understood";
    }
}
