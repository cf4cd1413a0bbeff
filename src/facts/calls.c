/* Calls: of what OpenCL and CUDA have built in, and of functions of the source, which are followed.
 */
#include "facts/walk.h"

#include <stdlib.h>
#include <string.h>

/* Built-in functions, by the begin of their names, and what they answer. */
static const struct {
    const char *name;
    enum { OF_THREAD, OF_GROUP, ATOMIC, LOAD, ONE_OF, SECOND, PRODUCT, LIST, VECTOR, COPY } what;
} builtins[] = {
    {"get_global_id", OF_THREAD},
    {"get_local_id", OF_THREAD},
    {"get_group_id", OF_GROUP},
    {"get_global_size", OF_GROUP},
    {"get_local_size", OF_GROUP},
    {"get_num_groups", OF_GROUP},
    {"get_global_offset", OF_GROUP},
    {"get_work_dim", OF_GROUP},
    {"atomic", ATOMIC},
    {"atom_", ATOMIC},
    {"__ldg", LOAD},
    {"__ldcg", LOAD},
    {"__ldcs", LOAD},
    {"__ldca", LOAD},
    {"min", ONE_OF},
    {"max", ONE_OF},
    {"umin", ONE_OF},
    {"umax", ONE_OF},
    {"llmin", ONE_OF},
    {"llmax", ONE_OF},
    {"select", ONE_OF},
    {"clamp", SECOND},
    {"mul24", PRODUCT},
    {"mad24", PRODUCT},
    {"__mul24", PRODUCT},
    {"__umul24", PRODUCT},
    {"make_", LIST},
    {"vload", VECTOR},
    {"vstore", VECTOR},
    {"async_work_group_", COPY},
};

/* Functions of no arguments that number threads. */
static const char *const numbers[] = {"get_global_linear_id", "get_local_linear_id",
                                      "get_sub_group_local_id", "thread_rank"};

static long long pointee_size(const rs_syntax_node *node)
{
    const rs_syntax_type *type = node->type;
    return type == NULL || type->of == NULL || type->of->size < 0 ? 0 : type->of->size;
}

/* What a function that is not followed does with a pointer or a reference that it gets. */
static void hand_over(rs_fact_walk *walk, const rs_fact_value *value, const rs_syntax_node *node)
{
    if (value->kind != RS_FACT_ELEMENT)
        return;
    if (value->is_memory || value->is_copy) {
        const long long size = node->type == NULL ? 0 : node->type->size;
        const bool is_const = node->type != NULL && node->type->is_const;
        rs_fact_touch(walk, value, size, true, node->category != RS_VALUE && !is_const, false,
                      node->range);
        return;
    }
    const bool is_const = node->type->of != NULL && node->type->of->is_const;
    if (pointee_size(node) > 0)
        rs_fact_touch(walk, value, pointee_size(node), true, !is_const, false, node->range);
    else
        rs_fact_miss(walk, value, "a pointer that is handed to a function", node->range);
}

/* vload4(number, pointer), vstore4(value, number, pointer); of another name nothing is known. */
static rs_fact_value call_vector(rs_fact_walk *walk, const rs_syntax_node *node)
{
    const char *name = node->declaration->name;
    const bool writes = name[1] == 's';
    const long long lanes = strtoll(name + strcspn(name, "0123456789"), NULL, 10);
    const rs_syntax_node *pointer = node->children[node->child_count - 1];
    if (writes)
        rs_fact_expression(walk, node->children[1]);
    const rs_fact_value number = rs_fact_expression(walk, node->children[node->child_count - 2]);
    rs_fact_value place = rs_fact_expression(walk, pointer);
    if (lanes == 0 || pointer->type->of == NULL) {
        hand_over(walk, &place, pointer);
        return rs_fact_other();
    }
    const rs_fact_form by = rs_form_combine("*", rs_fact_form_of(&number), rs_form_constant(lanes));
    place = rs_fact_step(walk, place, by, pointer->type->of, node->range);
    rs_fact_touch(walk, &place, lanes * pointee_size(pointer), !writes, writes, false, node->range);
    return rs_fact_number(place.kind == RS_FACT_ELEMENT && rs_form_is_uniform(&place.form)
                              ? rs_form_uniform()
                              : rs_form_data());
}

/* async_work_group_copy(to, from, count, event), and with the elements' distance before the event:
 * neighbours copy neighbours. */
static rs_fact_value call_copy(rs_fact_walk *walk, const rs_syntax_node *node)
{
    rs_fact_form lane = rs_form_lane();
    for (size_t i = 3; i < node->child_count; i++) {
        const rs_fact_value value = rs_fact_expression(walk, node->children[i]);
        if (i == 4 && node->child_count == 6)
            lane = rs_form_combine("*", lane, rs_fact_form_of(&value));
    }
    for (size_t i = 1; i <= 2; i++) {
        const rs_syntax_node *pointer = node->children[i];
        rs_fact_value place = rs_fact_expression(walk, pointer);
        if (place.kind != RS_FACT_ELEMENT)
            continue;
        place = rs_fact_step(walk, place, lane, pointer->type->of, node->range);
        rs_fact_touch(walk, &place, pointee_size(pointer), i == 2, i == 1, false, node->range);
    }
    return rs_fact_other();
}

static rs_fact_value call_of_kind(rs_fact_walk *walk, const rs_syntax_node *node, int what)
{
    if (what == LIST)
        return rs_fact_list(walk, node, 1);
    if (what == VECTOR)
        return call_vector(walk, node);
    if (what == COPY)
        return call_copy(walk, node);
    const rs_fact_value first = rs_fact_expression(walk, node->children[1]);
    rs_fact_value second = first, third = rs_fact_number(rs_form_constant(0));
    for (size_t k = 2; k < node->child_count; k++) {
        const rs_fact_value value = rs_fact_expression(walk, node->children[k]);
        second = k == 2 ? value : second;
        third = k == 3 ? value : third;
    }
    const rs_fact_form form = rs_fact_form_of(&first), other = rs_fact_form_of(&second);
    switch (what) {
    case OF_THREAD:
        return rs_fact_number(first.kind == RS_FACT_NUMBER && first.form.constant == 0
                                  ? rs_form_lane()
                                  : rs_form_uniform());
    case OF_GROUP:
        return rs_fact_number(rs_form_uniform());
    case ONE_OF:
        return rs_fact_number(rs_form_merge(form, other));
    case SECOND: /* what is clamped */
        return first;
    case PRODUCT:
        return rs_fact_number(
            rs_form_add(rs_form_combine("*", form, other), rs_fact_form_of(&third)));
    default:
        rs_fact_touch(walk, &first, pointee_size(node->children[1]), true, what == ATOMIC,
                      what == ATOMIC, node->range);
        return what == LOAD && rs_form_is_uniform(&first.form) && first.kind == RS_FACT_ELEMENT
                   ? rs_fact_number(rs_form_uniform())
                   : rs_fact_other();
    }
}

/* OpenCL's own functions are declared where they are called. */
static bool is_language(const rs_fact_walk *walk, const rs_syntax_declaration *function)
{
    return function->is_system ||
           (walk->tree->language == RS_SYNTAX_OPENCL && !function->is_defined);
}

static bool call_builtin(rs_fact_walk *walk, const rs_syntax_node *node, rs_fact_value *result)
{
    const char *name = node->declaration->name;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (strcmp(name, numbers[i]) == 0) {
            *result = rs_fact_number(rs_form_lane());
            return true;
        }
    if (node->declaration->is_method)
        return false;
    for (size_t i = 0; i < sizeof builtins / sizeof builtins[0]; i++) {
        const bool is_whole = builtins[i].what >= ONE_OF && builtins[i].what <= PRODUCT;
        const bool is_systems = builtins[i].what >= ONE_OF;
        if ((is_whole ? strcmp(name, builtins[i].name)
                      : strncmp(name, builtins[i].name, strlen(builtins[i].name))) != 0 ||
            node->child_count < (builtins[i].what > LIST ? 3 : 2) ||
            (is_systems && !is_language(walk, node->declaration)))
            continue;
        *result = call_of_kind(walk, node, (int)builtins[i].what);
        rs_fact_count_work(walk, node);
        return true;
    }
    return false;
}

static bool is_called(const rs_fact_walk *walk, const rs_syntax_declaration *function)
{
    for (int i = 0; i < walk->depth; i++)
        if (walk->calls[i] == function)
            return true;
    return walk->depth == RS_WALK_DEPTH;
}

/* Goes through the body with the arguments in place of the parameters. */
static rs_fact_value follow(rs_fact_walk *walk, const rs_syntax_node *node,
                            const rs_syntax_node *body, const rs_fact_value *object)
{
    const rs_syntax_declaration *called = node->declaration;
    const rs_fact_value *outer = rs_fact_find(walk, NULL);
    const rs_fact_value outer_object = outer == NULL ? rs_fact_other() : *outer;
    const rs_fact_value outer_returned = walk->returned;
    const bool outer_has = walk->has_returned;
    rs_fact_value *values = calloc(called->parameter_count + 1, sizeof *values);
    walk->failed |= values == NULL;
    for (size_t i = 0; i < called->parameter_count && values != NULL; i++) {
        rs_fact_value value = rs_fact_other();
        const bool is_reference = called->parameters[i]->type != NULL &&
                                  called->parameters[i]->type->kind == RS_TYPE_REFERENCE;
        if (i + 1 < node->child_count)
            value = is_reference ? rs_fact_place(walk, node->children[i + 1])
                                 : rs_fact_expression(walk, node->children[i + 1]);
        if (value.kind == RS_FACT_ELEMENT && value.is_memory && !is_reference)
            value.is_copy = true;
        values[i] = value;
    }
    /* Another call of the function may be among its arguments. */
    for (size_t i = 0; i < called->parameter_count && values != NULL; i++)
        rs_fact_bind(walk, called->parameters[i], values[i]);
    free(values);
    rs_fact_bind(walk, NULL, *object);
    walk->calls[walk->depth++] = called;
    walk->has_returned = false;
    walk->returned = rs_fact_other();
    rs_fact_statement(walk, body);
    const rs_fact_value result = walk->returned;
    walk->depth--;
    walk->returned = outer_returned;
    walk->has_returned = outer_has;
    rs_fact_bind(walk, NULL, outer_object);
    return result;
}

/* An assignment that the compiler makes: a whole element is written, another one read. */
static rs_fact_value copy_whole(rs_fact_walk *walk, const rs_syntax_node *node)
{
    const rs_fact_value to = rs_fact_expression(walk, node->children[0]);
    const rs_fact_value from = rs_fact_expression(walk, node->children[1]);
    const rs_syntax_node *variable = rs_syntax_plain(node->children[0]);
    const long long size = node->type == NULL ? 0 : node->type->size;
    if (variable != NULL && variable->kind == RS_NODE_REFERENCE && to.kind != RS_FACT_ELEMENT) {
        rs_fact_value copy = from;
        copy.is_copy = copy.is_memory;
        rs_fact_bind(walk, variable->declaration, copy);
        return to;
    }
    rs_fact_touch(walk, &from, size, true, false, false, node->range);
    rs_fact_touch(walk, &to, size, false, true, false, node->range);
    return to;
}

rs_fact_value rs_fact_call(rs_fact_walk *walk, const rs_syntax_node *node)
{
    const rs_syntax_declaration *called = node->declaration;
    rs_fact_value result = rs_fact_other();
    if (called != NULL && call_builtin(walk, node, &result))
        return result;
    const bool is_method = called != NULL && called->is_method && !called->is_static;
    if (is_method && called->is_implicit && node->child_count == 2)
        return copy_whole(walk, node);
    const rs_fact_value object = rs_fact_expression(walk, node->children[0]);
    const rs_syntax_node *body = NULL;
    if (called != NULL && !called->is_system && !is_called(walk, called))
        body = rs_syntax_body(walk->tree, called);
    if (body != NULL)
        return follow(walk, node, body, &object);
    rs_fact_count_work(walk, node);
    if (is_method)
        hand_over(walk, &object, node->children[0]);
    bool is_uniform = called != NULL && !is_method && node->child_count > 1;
    for (size_t i = 1; i < node->child_count; i++) {
        const rs_fact_value value = rs_fact_expression(walk, node->children[i]);
        hand_over(walk, &value, node->children[i]);
        is_uniform &= value.kind == RS_FACT_NUMBER && rs_form_is_uniform(&value.form);
    }
    return is_uniform ? rs_fact_number(rs_form_uniform()) : result;
}
