/*
 * Follows the work-item's number through the expressions and variables of a source. Every variable
 * gets one step for its whole life, the worst of all values that it may hold; loops that go on by
 * the same amount for all work-items change nothing.
 */
#include "rewrite/steps.h"

#include "base/text.h"
#include "source/query.h"

#include <stdlib.h>
#include <string.h>

/* Loops of assignments settle in a few passes; what does not is of no known step. */
enum { PASS_LIMIT = 16, DEPTH_LIMIT = 200, FEW_WORK_ITEMS = 16, DISTANCE_LIMIT = 1 << 30 };

static const rs_lane_stride uniform = {RS_STEP_BY, 0}, strided = {RS_STEP_STRIDED, 0},
                            other = {RS_STEP_OTHER, 0};

static rs_lane_stride by(long long distance)
{
    if (distance > DISTANCE_LIMIT || distance < -DISTANCE_LIMIT)
        return strided;
    return (rs_lane_stride){RS_STEP_BY, distance};
}

static bool is_uniform(rs_lane_stride step)
{
    return step.kind == RS_STEP_NONE || (step.kind == RS_STEP_BY && step.distance == 0);
}

/* Of a variable that may hold either value. */
static rs_lane_stride join(rs_lane_stride a, rs_lane_stride b)
{
    if (a.kind == RS_STEP_BY && b.kind == RS_STEP_BY) {
        if (a.distance == b.distance || b.distance == 0)
            return a;
        return a.distance == 0 ? b : strided;
    }
    return a.kind > b.kind ? a : b;
}

static rs_lane_stride sum(rs_lane_stride a, rs_lane_stride b, bool negative)
{
    if (a.kind == RS_STEP_BY && b.kind == RS_STEP_BY)
        return by(a.distance + (negative ? -b.distance : b.distance));
    return a.kind > b.kind ? a : b;
}

static rs_lane_stride scaled(rs_lane_stride step, long long factor)
{
    if (step.kind != RS_STEP_BY || factor > DISTANCE_LIMIT || factor < -DISTANCE_LIMIT)
        return step.kind == RS_STEP_BY && step.distance != 0 ? strided : step;
    return by(step.distance * factor);
}

static rs_lane_stride step_of(const rs_lane_strides *s, int node, int depth);

/* ---- places in memory ---- */

/* The bytes that a pointer moves by when 1 is added to it. */
static long long pointee_size(const rs_tree *tree, int node)
{
    long long size = rs_type_bytes(rs_type_below(rs_type_of(tree, node)));
    return size > 0 ? size : 1;
}

/* Of a pointer, or of an array where it stands for one. */
static rs_lane_stride pointer_step(const rs_lane_strides *s, int node, int depth);

/* The step of an lvalue's address. */
static rs_lane_stride address_step(const rs_lane_strides *s, int node, int depth)
{
    const rs_tree *tree = s->model->tree;
    int inner = rs_node_inner(tree, node);
    int first = inner < 0 ? -1 : tree->nodes[inner].first;
    if (first < 0)
        return uniform; /* a variable */
    int second = tree->nodes[first].next;
    switch (tree->nodes[inner].is) {
    case RS_NODE_SUBSCRIPT: {
        if (second < 0)
            return other;
        bool swapped = !rs_node_is_pointer(tree, first);
        int pointer = swapped ? second : first, index = swapped ? first : second;
        if (!rs_node_is_pointer(tree, pointer))
            return other; /* a lane of a vector */
        return sum(pointer_step(s, pointer, depth + 1),
                   scaled(step_of(s, index, depth + 1), pointee_size(tree, pointer)), false);
    }
    case RS_NODE_MEMBER:
        return rs_type_of(tree, first)->kind == RS_TYPE_POINTER ? pointer_step(s, first, depth + 1)
                                                                : address_step(s, first, depth + 1);
    case RS_NODE_UNARY:
        return rs_node_is_unary(tree, inner, "*") ? pointer_step(s, first, depth + 1) : other;
    default:
        return other;
    }
}

static rs_lane_stride pointer_step(const rs_lane_strides *s, int node, int depth)
{
    const rs_tree *tree = s->model->tree;
    int inner = rs_node_inner(tree, node);
    if (depth > DEPTH_LIMIT || inner < 0)
        return other;
    bool array = rs_type_is_fixed_array(rs_type_of(tree, inner));
    return array && tree->nodes[inner].is != RS_NODE_REFERENCE ? address_step(s, inner, depth + 1)
                                                               : step_of(s, inner, depth + 1);
}

/* What is read from one place has one value; what is read from several may have any. */
static rs_lane_stride loaded(rs_lane_stride address)
{
    return is_uniform(address) ? uniform : other;
}

/* ---- expressions ---- */

static int find_variable(const rs_lane_strides *s, const rs_syntax_declaration *declaration)
{
    if (!rs_is_variable(declaration))
        return -1;
    const size_t offset = declaration->place;
    int low = 0, high = s->variable_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (s->variables[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->variable_count && s->variables[low].offset == offset ? low : -1;
}

static rs_lane_stride mention_step(const rs_lane_strides *s, int node)
{
    int variable = find_variable(s, s->model->tree->nodes[node].declaration);
    return variable < 0 ? uniform
                        : sum(s->variables[variable].set, s->variables[variable].moved, false);
}

/* Functions of the language whose value follows from their first argument, or from none. */
static rs_lane_stride known_call(const rs_lane_strides *s, int node, const char *name, int depth)
{
    const rs_tree *tree = s->model->tree;
    if (rs_is_among(name, strlen(name),
                    "get_group_id get_global_size get_local_size get_num_groups get_work_dim "
                    "get_global_offset get_enqueued_local_size"))
        return uniform;
    int argument = rs_node_child(tree, node, 1);
    long long dimension;
    if (argument >= 0 && (strcmp(name, "get_global_id") == 0 || strcmp(name, "get_local_id") == 0))
        return rs_tree_evaluate_bits(tree, argument, &dimension) && dimension > 0 ? uniform : by(1);
    if (strcmp(name, "get_global_linear_id") == 0 || strcmp(name, "get_local_linear_id") == 0)
        return by(1);
    if (argument >= 0 &&
        rs_is_among(name, strlen(name), "min max clamp convert_int convert_uint convert_long"))
        return step_of(s, argument, depth + 1);
    for (; argument >= 0; argument = tree->nodes[argument].next)
        if (!is_uniform(step_of(s, argument, depth + 1)))
            return other;
    return strncmp(name, "atom", 4) == 0 ? other : uniform;
}

static rs_lane_stride call_step(const rs_lane_strides *s, int node, int depth)
{
    const rs_node *call = &s->model->tree->nodes[node];
    int function = rs_model_function(s->model, call->declaration);
    return function >= 0 ? s->returned[function] : known_call(s, node, call->name, depth);
}

static rs_lane_stride product(rs_lane_stride a, rs_lane_stride b, int a_node, int b_node,
                              const rs_tree *tree)
{
    long long value;
    if (is_uniform(a) && is_uniform(b))
        return uniform;
    if (!is_uniform(a) && !is_uniform(b))
        return other;
    rs_lane_stride varying = is_uniform(a) ? b : a;
    if (rs_tree_evaluate_bits(tree, is_uniform(a) ? a_node : b_node, &value))
        return scaled(varying, value);
    return varying.kind == RS_STEP_OTHER ? other : strided;
}

/* Neighbours rarely differ in a quotient, or in what a remainder leaves out. */
static rs_lane_stride quotient(rs_lane_stride a, rs_lane_stride b, long long divisor)
{
    if (is_uniform(a) || !is_uniform(b))
        return is_uniform(a) && is_uniform(b) ? uniform : other;
    if (a.kind != RS_STEP_BY)
        return other;
    if (divisor > 0 && a.distance % divisor == 0)
        return by(a.distance / divisor);
    return divisor <= 0 || divisor >= FEW_WORK_ITEMS ? uniform : other;
}

/* The step that an operator gives, or a compound assignment. */
static rs_lane_stride operator_step(const rs_lane_strides *s, int node, const char *symbol,
                                    int depth)
{
    const rs_tree *tree = s->model->tree;
    int left = rs_node_child(tree, node, 0), right = rs_node_child(tree, node, 1);
    if (right < 0)
        return other;
    bool left_pointer = rs_node_is_pointer(tree, left),
         right_pointer = rs_node_is_pointer(tree, right);
    rs_lane_stride a =
        left_pointer ? pointer_step(s, left, depth + 1) : step_of(s, left, depth + 1);
    rs_lane_stride b =
        right_pointer ? pointer_step(s, right, depth + 1) : step_of(s, right, depth + 1);
    long long value = 0;
    switch (symbol[0]) {
    case '+':
    case '-':
        if (left_pointer && right_pointer)
            return is_uniform(a) && is_uniform(b) ? uniform : other;
        if (left_pointer)
            b = scaled(b, pointee_size(tree, left));
        if (right_pointer)
            a = scaled(a, pointee_size(tree, right));
        return sum(a, b, symbol[0] == '-');
    case '*':
        return product(a, b, left, right, tree);
    case '/':
        return quotient(a, b, rs_tree_evaluate_bits(tree, right, &value) ? value : 0);
    case '<':
    case '>':
        if (symbol[1] != symbol[0])
            break;
        if (!rs_tree_evaluate_bits(tree, right, &value) || value < 0 || value > 30)
            return is_uniform(a) && is_uniform(b) ? uniform : symbol[0] == '<' ? strided : other;
        return symbol[0] == '<' ? scaled(a, 1LL << value) : quotient(a, b, 1LL << value);
    case '%':
        return is_uniform(b) ? a : other;
    case '&':
        if (symbol[1] == '&')
            break;
        return is_uniform(b) ? a : is_uniform(a) ? b : other;
    case '|':
    case '^':
        if (symbol[1] == '|')
            break;
        return is_uniform(b) ? a : is_uniform(a) ? b : other;
    default:
        break;
    }
    return is_uniform(a) && is_uniform(b) ? uniform : other; /* comparisons */
}

static rs_lane_stride binary_step(const rs_lane_strides *s, int node, int depth)
{
    const rs_tree *tree = s->model->tree;
    int right = rs_node_child(tree, node, 1);
    if (right >= 0 && rs_node_is_binary(tree, node, "= ,"))
        return step_of(s, right, depth + 1);
    return operator_step(s, node, tree->nodes[node].symbol, depth);
}

static rs_lane_stride unary_step(const rs_lane_strides *s, int node, int depth)
{
    const rs_tree *tree = s->model->tree;
    int child = rs_node_child(tree, node, 0);
    if (child < 0)
        return uniform;
    if (rs_node_is_unary(tree, node, "*"))
        return loaded(pointer_step(s, child, depth + 1));
    if (rs_node_is_unary(tree, node, "&"))
        return address_step(s, child, depth + 1);
    rs_lane_stride step = step_of(s, child, depth + 1);
    if (rs_node_is_unary(tree, node, "-"))
        return scaled(step, -1);
    bool same = rs_node_is_unary(tree, node, "+ ++ --");
    return same || is_uniform(step) ? step : other;
}

static rs_lane_stride step_of(const rs_lane_strides *s, int node, int depth)
{
    const rs_tree *tree = s->model->tree;
    int inner = rs_node_inner(tree, node);
    if (inner < 0 || depth > DEPTH_LIMIT)
        return other;
    int last = rs_node_child(tree, inner, rs_node_child_count(tree, inner) - 1);
    switch (tree->nodes[inner].is) {
    case RS_NODE_REFERENCE:
        return mention_step(s, inner);
    case RS_NODE_BINARY:
        return binary_step(s, inner, depth);
    case RS_NODE_ASSIGN:
        return step_of(s, tree->nodes[inner].first, depth + 1);
    case RS_NODE_UNARY:
        return unary_step(s, inner, depth);
    case RS_NODE_CAST:
    case RS_NODE_IMPLICIT:
        return last < 0 ? uniform : step_of(s, last, depth + 1);
    case RS_NODE_CONDITIONAL:
        return last < 0 ? other
                        : join(step_of(s, rs_node_child(tree, inner, 1), depth + 1),
                               step_of(s, last, depth + 1));
    case RS_NODE_SUBSCRIPT:
    case RS_NODE_MEMBER:
        return loaded(address_step(s, inner, depth + 1));
    case RS_NODE_CALL:
        return call_step(s, inner, depth);
    case RS_NODE_LIST:
        return other;
    default:
        return last < 0 || tree->nodes[inner].is == RS_NODE_SIZEOF ? uniform : other;
    }
}

rs_lane_stride rs_steps_of_access(const rs_lane_strides *steps, const rs_member_access *a)
{
    const rs_tree *tree = steps->model->tree;
    long long size = pointee_size(tree, a->pointer);
    rs_lane_stride step = pointer_step(steps, a->pointer, 0);
    for (int i = 0; i < a->index_count; i++)
        step = sum(step, scaled(step_of(steps, a->index[i], 0), size), a->negative[i]);
    if (a->vector_index >= 0)
        step = sum(step, scaled(step_of(steps, a->vector_index, 0), size * a->block.lanes), false);
    if (a->block.kind == RS_BLOCK_FETCH || a->block.kind == RS_BLOCK_PUT)
        step = a->block.strided ? strided : (rs_lane_stride){RS_STEP_BY, size};
    return step;
}

/* ---- variables ---- */

static restride_status list_variables(rs_lane_strides *s)
{
    const rs_tree *tree = s->model->tree;
    int count = 0;
    for (int n = 0; n < tree->node_count; n++)
        count += tree->nodes[n].is == RS_NODE_VARIABLE || tree->nodes[n].is == RS_NODE_PARAMETER;
    s->variables = calloc((size_t)count + 1, sizeof *s->variables);
    s->returned = calloc((size_t)s->model->function_count + 1, sizeof *s->returned);
    if (s->variables == NULL || s->returned == NULL)
        return rs_fail_memory("the variables of a source");
    size_t before = 0;
    for (int n = 0; n < tree->node_count; n++) {
        if (tree->nodes[n].is != RS_NODE_VARIABLE && tree->nodes[n].is != RS_NODE_PARAMETER)
            continue;
        size_t offset = tree->nodes[n].place;
        if (offset > before || s->variable_count == 0)
            s->variables[s->variable_count++].offset = before = offset;
    }
    return RESTRIDE_OK;
}

/* A kernel's parameters are the same for all work-items. */
static void start_kernels(rs_lane_strides *s)
{
    for (int f = 0; f < s->model->function_count; f++) {
        const rs_function *function = &s->model->functions[f];
        for (int i = 0; i < function->parameter_count && function->kernel; i++) {
            int variable = find_variable(s, rs_parameter(function->declaration, i));
            if (variable >= 0)
                s->variables[variable].set = uniform;
        }
    }
}

static bool flow(rs_lane_stride *target, rs_lane_stride value)
{
    rs_lane_stride joined = join(*target, value);
    bool changed = joined.kind != target->kind || joined.distance != target->distance;
    *target = joined;
    return changed;
}

static rs_step_variable *variable_behind(rs_lane_strides *s, int node)
{
    int inner = node < 0 ? -1 : rs_node_inner(s->model->tree, node);
    if (inner < 0 || s->model->tree->nodes[inner].is != RS_NODE_REFERENCE)
        return NULL;
    int variable = find_variable(s, s->model->tree->nodes[inner].declaration);
    return variable < 0 ? NULL : &s->variables[variable];
}

static rs_lane_stride value_step(const rs_lane_strides *s, int node)
{
    return rs_node_is_pointer(s->model->tree, node) ? pointer_step(s, node, 0)
                                                    : step_of(s, node, 0);
}

static bool follow_call(rs_lane_strides *s, int node)
{
    int function = rs_model_function(s->model, s->model->tree->nodes[node].declaration);
    if (function < 0 || s->model->functions[function].kernel)
        return false;
    bool changed = false;
    int argument = rs_node_child(s->model->tree, node, 1);
    for (int i = 0; argument >= 0; i++, argument = s->model->tree->nodes[argument].next) {
        int variable = find_variable(s, rs_parameter(s->model->functions[function].declaration, i));
        if (variable >= 0)
            changed = flow(&s->variables[variable].set, value_step(s, argument)) || changed;
    }
    return changed;
}

static bool follow_declaration(rs_lane_strides *s, int node)
{
    const rs_tree *tree = s->model->tree;
    int variable = find_variable(s, tree->nodes[node].declaration);
    int initial = rs_node_initializer(tree, node);
    return variable >= 0 && initial >= 0 &&
           flow(&s->variables[variable].set, value_step(s, initial));
}

static bool is_in_loop(const rs_tree *tree, int node)
{
    return rs_node_is_in(tree, node, RS_NODE_FOR) || rs_node_is_in(tree, node, RS_NODE_WHILE) ||
           rs_node_is_in(tree, node, RS_NODE_DO);
}

/* "+=" and "-=": what is added again and again differs from round to round. */
static void move_variable(rs_lane_strides *s, int node, rs_step_variable *target,
                          rs_lane_stride *moved, bool negative)
{
    const rs_tree *tree = s->model->tree;
    int left = rs_node_child(tree, node, 0), right = rs_node_child(tree, node, 1);
    rs_lane_stride added = step_of(s, right, 0);
    if (rs_node_is_pointer(tree, left))
        added = scaled(added, pointee_size(tree, left));
    if (is_in_loop(tree, node) && !is_uniform(added))
        added = added.kind == RS_STEP_OTHER ? other : strided;
    rs_lane_stride *total = &moved[target - s->variables];
    *total = sum(*total, added, negative);
}

static bool follow_compound(rs_lane_strides *s, int node, rs_lane_stride *moved)
{
    const rs_tree *tree = s->model->tree;
    rs_step_variable *target = variable_behind(s, tree->nodes[node].first);
    if (target == NULL)
        return false;
    if (rs_node_is_binary(tree, node, "+= -=")) {
        move_variable(s, node, target, moved, rs_node_is_binary(tree, node, "-="));
        return false;
    }
    return flow(&target->set, operator_step(s, node, tree->nodes[node].symbol, 0));
}

static bool follow_node(rs_lane_strides *s, int node, int function, rs_lane_stride *moved)
{
    const rs_tree *tree = s->model->tree;
    int right = rs_node_child(tree, node, 1);
    switch (tree->nodes[node].is) {
    case RS_NODE_VARIABLE:
        return follow_declaration(s, node);
    case RS_NODE_BINARY: {
        if (!rs_node_is_binary(tree, node, "="))
            return false;
        rs_step_variable *target = variable_behind(s, tree->nodes[node].first);
        return target != NULL && flow(&target->set, value_step(s, right));
    }
    case RS_NODE_ASSIGN:
        return follow_compound(s, node, moved);
    case RS_NODE_CALL:
        return follow_call(s, node);
    case RS_NODE_RETURN:
        return function >= 0 && tree->nodes[node].first >= 0 &&
               flow(&s->returned[function], value_step(s, tree->nodes[node].first));
    default:
        return false;
    }
}

/* Goes through the whole source once; whether anything changed. `moved` has what is added to each
 * variable. */
static bool follow_source(rs_lane_strides *s, rs_lane_stride *moved)
{
    const rs_model *model = s->model;
    bool changed = false;
    int function = -1;
    for (int v = 0; v < s->variable_count; v++)
        moved[v] = uniform;
    for (int n = 0; n < model->tree->node_count; n++) {
        while (function + 1 < model->function_count && model->functions[function + 1].node <= n)
            function++;
        changed = follow_node(s, n, function, moved) || changed;
    }
    for (int v = 0; v < s->variable_count; v++) {
        rs_lane_stride *before = &s->variables[v].moved;
        changed = changed || before->kind != moved[v].kind || before->distance != moved[v].distance;
        *before = moved[v];
    }
    return changed;
}

restride_status rs_steps_find(rs_lane_strides *steps, const rs_model *model)
{
    *steps = (rs_lane_strides){model, NULL, 0, NULL};
    restride_status status = list_variables(steps);
    if (status != RESTRIDE_OK)
        return status;
    start_kernels(steps);
    rs_lane_stride *moved = calloc((size_t)steps->variable_count + 1, sizeof *moved);
    if (moved == NULL)
        return rs_fail_memory("the variables of a source");
    for (int pass = 0; pass < PASS_LIMIT && follow_source(steps, moved); pass++)
        continue;
    free(moved);
    return RESTRIDE_OK;
}

void rs_steps_free(rs_lane_strides *steps)
{
    free(steps->variables);
    free(steps->returned);
    *steps = (rs_lane_strides){NULL, NULL, 0, NULL};
}
