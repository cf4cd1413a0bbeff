/* What an expression is across threads, and the accesses that it makes. */
#include "facts/walk.h"

#include <stdlib.h>
#include <string.h>

rs_fact_value rs_fact_number(rs_fact_form form)
{
    rs_fact_value value = {.kind = RS_FACT_NUMBER, .form = form};
    return value;
}

rs_fact_value rs_fact_other(void)
{
    rs_fact_value value = {.kind = RS_FACT_OTHER, .form = rs_form_data()};
    return value;
}

rs_fact_form rs_fact_form_of(const rs_fact_value *value)
{
    return value->kind == RS_FACT_NUMBER ? value->form : rs_form_data();
}

/* --- accesses --- */

void rs_fact_touch(rs_fact_walk *walk, const rs_fact_value *value, long long size, bool reads,
                   bool writes, bool is_atomic, rs_syntax_range range)
{
    rs_fact_accesses *facts = walk->facts;
    if (value->kind != RS_FACT_ELEMENT || (value->is_copy && !reads))
        return;
    rs_fact_access *access = RS_FACT_ADD(walk, facts->accesses, facts->access_count);
    if (access == NULL)
        return;
    access->parameter = value->parameter;
    access->index = value->form;
    access->offset = value->offset;
    access->size = value->span > size ? value->span : size;
    access->is_inner_lane = value->is_inner_lane;
    access->inner_loops = value->inner_loops;
    access->reads = reads;
    access->writes = writes && !value->is_copy;
    access->is_atomic = is_atomic;
    access->of_copy = value->is_copy;
    access->is_copying = !reads && !writes;
    access->is_conditional = walk->conditions > 0;
    access->share = walk->share;
    access->loop = walk->loop;
    access->range = range;
}

void rs_fact_miss(rs_fact_walk *walk, const rs_fact_value *value, const char *what,
                  rs_syntax_range range)
{
    rs_fact_accesses *facts = walk->facts;
    if (value->kind != RS_FACT_ELEMENT || value->is_copy)
        return;
    struct rs_fact_unknown *unknown = RS_FACT_ADD(walk, facts->unknown, facts->unknown_count);
    if (unknown != NULL)
        *unknown = (struct rs_fact_unknown){value->parameter, range, what};
}

static long long size_of(const rs_syntax_type *type)
{
    return type == NULL || type->size < 0 ? 0 : type->size;
}

/* --- operators --- */

static rs_fact_value read_binary(rs_fact_walk *walk, const rs_syntax_node *node)
{
    const rs_fact_value left = rs_fact_expression(walk, node->children[0]);
    const rs_fact_value right = rs_fact_expression(walk, node->children[1]);
    const bool is_sum = strcmp(node->symbol, "+") == 0 || strcmp(node->symbol, "-") == 0;
    /* A parameter P p[] leaves its array's type to what is computed with it. */
    const bool is_pointer = node->type != NULL && (node->type->kind == RS_TYPE_POINTER ||
                                                   node->type->kind == RS_TYPE_ARRAY);
    if (strcmp(node->symbol, ",") == 0)
        return right;
    if (is_sum && is_pointer) {
        const bool is_left = left.kind == RS_FACT_ELEMENT || left.kind == RS_FACT_LOCAL;
        const rs_fact_value *pointer = is_left ? &left : &right;
        rs_fact_form by = rs_fact_form_of(is_left ? &right : &left);
        if (node->symbol[0] == '-')
            by = rs_form_negate(by);
        return rs_fact_step(walk, *pointer, by, node->type->of, node->range);
    }
    const rs_fact_form a = rs_fact_form_of(&left), b = rs_fact_form_of(&right);
    if (node->type != NULL && node->type->kind == RS_TYPE_FLOAT) /* no number of an element */
        return rs_fact_number(rs_form_is_uniform(&a) && rs_form_is_uniform(&b) ? rs_form_uniform()
                                                                               : rs_form_data());
    return rs_fact_number(rs_form_combine(node->symbol, a, b));
}

/* Where a number of the thread is, to be changed through a reference or a pointer. */
rs_fact_value rs_fact_place(rs_fact_walk *walk, const rs_syntax_node *node)
{
    const rs_syntax_node *plain = rs_syntax_plain(node);
    rs_fact_value value = rs_fact_expression(walk, node);
    const bool is_name = plain != NULL && plain->kind == RS_NODE_REFERENCE &&
                         plain->declaration->kind != RS_DECLARATION_FUNCTION;
    if (!is_name || (value.kind != RS_FACT_NUMBER && value.kind != RS_FACT_OTHER) ||
        rs_fact_find(walk, plain->declaration) == NULL)
        return value;
    value = rs_fact_other();
    value.kind = RS_FACT_LOCAL;
    value.local = plain->declaration;
    value.offset = RS_WHOLE_VARIABLE;
    value.is_memory = true;
    return value;
}

/* The variable that an expression is, or NULL. */
static const rs_syntax_declaration *variable_of(const rs_syntax_node *node)
{
    const rs_syntax_node *plain = rs_syntax_plain(node);
    return plain != NULL && plain->kind == RS_NODE_REFERENCE && plain->declaration->type != NULL &&
                   plain->declaration->type->kind != RS_TYPE_REFERENCE
               ? plain->declaration
               : NULL;
}

static rs_fact_value step_variable(rs_fact_walk *walk, const rs_syntax_node *node, rs_fact_form by,
                                   rs_fact_value old)
{
    if ((old.kind == RS_FACT_ELEMENT || old.kind == RS_FACT_LOCAL) && !old.is_memory)
        return rs_fact_step(walk, old, by, node->type->of, node->range);
    return rs_fact_number(rs_form_add(rs_fact_form_of(&old), by));
}

static rs_fact_value read_unary(rs_fact_walk *walk, const rs_syntax_node *node)
{
    const char *symbol = node->symbol;
    rs_fact_value value = symbol[0] == '&' ? rs_fact_place(walk, node->children[0])
                                           : rs_fact_expression(walk, node->children[0]);
    if (strcmp(symbol, "++") == 0 || strcmp(symbol, "--") == 0) {
        const rs_syntax_declaration *variable = variable_of(node->children[0]);
        if (variable == NULL) {
            rs_fact_touch(walk, &value, size_of(node->type), true, true, false, node->range);
            return rs_fact_other();
        }
        const rs_fact_form by = rs_form_constant(symbol[0] == '+' ? 1 : -1);
        const rs_fact_value after = step_variable(walk, node, by, value);
        rs_fact_bind(walk, variable, after);
        return node->is_postfix ? value : after;
    }
    if (symbol[0] == '&' || symbol[0] == '*') {
        value.is_memory = symbol[0] == '*' && value.kind != RS_FACT_NUMBER;
        return value.is_copy && symbol[0] == '&' ? rs_fact_other() : value;
    }
    if (symbol[0] == '-')
        return rs_fact_number(rs_form_negate(rs_fact_form_of(&value)));
    if (symbol[0] == '+' || strcmp(symbol, "__extension__") == 0)
        return value;
    const rs_fact_form form = rs_fact_form_of(&value);
    return rs_fact_number(rs_form_is_uniform(&form) ? rs_form_uniform() : rs_form_data());
}

static rs_fact_value read_assign(rs_fact_walk *walk, const rs_syntax_node *node)
{
    rs_fact_value value = rs_fact_expression(walk, node->children[1]);
    const rs_syntax_declaration *variable = variable_of(node->children[0]);
    const bool is_plain = strcmp(node->symbol, "=") == 0;
    const rs_fact_value place = rs_fact_expression(walk, node->children[0]);
    if (variable == NULL && place.kind == RS_FACT_LOCAL) {
        rs_fact_value old = is_plain ? place : rs_fact_read_local(walk, &place);
        const char symbol[2] = {node->symbol[0], '\0'};
        if (!is_plain)
            value = rs_fact_number(
                rs_form_combine(symbol, rs_fact_form_of(&old), rs_fact_form_of(&value)));
        rs_fact_write_local(walk, &place, value);
        return value;
    }
    if (variable == NULL) {
        if (value.kind == RS_FACT_ELEMENT && (value.is_copy || value.is_memory))
            rs_fact_touch(walk, &value, size_of(node->children[1]->type), true, false, false,
                          node->range);
        rs_fact_touch(walk, &place, size_of(node->children[0]->type), !is_plain, true, false,
                      node->range);
        if (value.kind == RS_FACT_ELEMENT && !value.is_copy && !value.is_memory)
            rs_fact_miss(walk, &value, "a pointer that is stored", node->range);
        return value;
    }
    if (!is_plain && value.kind == RS_FACT_NUMBER) {
        char symbol[4] = {node->symbol[0], node->symbol[1] == '=' ? '\0' : node->symbol[1], 0, 0};
        value =
            place.kind == RS_FACT_ELEMENT && !place.is_memory
                ? step_variable(walk, node,
                                symbol[0] == '-' ? rs_form_negate(value.form) : value.form, place)
                : rs_fact_number(rs_form_combine(symbol, rs_fact_form_of(&place), value.form));
    }
    rs_fact_bind(walk, variable, value);
    return value;
}

/* --- the rest --- */

/* Whether an element has a whole number of what a pointer points to, from where it is on, or is a
 * part of it: a walk through members. */
static bool is_part(const rs_fact_walk *walk, const rs_fact_value *value,
                    const rs_syntax_type *pointer)
{
    const long long size = size_of(pointer->of);
    const rs_syntax_declaration *parameter = walk->facts->kernel->parameters[value->parameter];
    const long long element = size_of(parameter->type->of);
    return size > 0 && pointer->of->kind != RS_TYPE_RECORD && value->offset % size == 0 &&
           (element % size == 0 || size % element == 0);
}

static rs_fact_value read_conversion(rs_fact_walk *walk, const rs_syntax_node *node)
{
    rs_fact_value value = rs_fact_expression(walk, node->children[0]);
    const rs_syntax_type *type = node->type;
    switch (node->conversion) {
    case RS_CONVERSION_LOAD:
        return rs_fact_load(walk, value, node);
    case RS_CONVERSION_DECAY:
        value.is_inner = value.is_memory;
        value.is_memory = false;
        return value;
    case RS_CONVERSION_POINTER:
        if (value.kind == RS_FACT_ELEMENT && !value.is_memory && type->of != NULL &&
            type->of->kind != RS_TYPE_VOID && node->children[0]->type->of != NULL &&
            type->of->plain != node->children[0]->type->of->plain && !is_part(walk, &value, type)) {
            rs_fact_miss(walk, &value, "a pointer that is cast", node->range);
            return rs_fact_other();
        }
        return value;
    case RS_CONVERSION_ADDRESS:
        rs_fact_miss(walk, &value, "an address as a number", node->range);
        return rs_fact_other();
    case RS_CONVERSION_REFERENCE:
        rs_fact_miss(walk, &value, "a place as another type", node->range);
        return rs_fact_other();
    default:
        return value;
    }
}

static rs_fact_value read_conditional(rs_fact_walk *walk, const rs_syntax_node *node)
{
    const rs_fact_shares shares = rs_fact_split(walk, node->children[0]);
    const double share = walk->share;
    rs_fact_expression(walk, node->children[0]);
    walk->share = share * shares.when_true;
    const rs_fact_value left = rs_fact_expression(walk, node->children[1]);
    walk->share = share * shares.when_false;
    const rs_fact_value right = rs_fact_expression(walk, node->children[2]);
    walk->share = share;
    return rs_fact_select(shares, &left, &right);
}

/* A record that is made of another one, member by member, is a copy of it. */
static rs_fact_value read_construct(rs_fact_walk *walk, const rs_syntax_node *node)
{
    if (node->child_count != 1)
        return rs_fact_list(walk, node, 0);
    rs_fact_value value = rs_fact_expression(walk, node->children[0]);
    if (value.kind != RS_FACT_ELEMENT)
        return value;
    value.is_copy = value.is_memory;
    return value;
}

rs_fact_value rs_fact_expression(rs_fact_walk *walk, const rs_syntax_node *node)
{
    walk->work += 1 + walk->binding_count / 64;
    if (node == NULL || walk->work > RS_WALK_LIMIT)
        return rs_fact_other();
    if (node->constant.kind == RS_CONSTANT_INTEGER)
        return rs_fact_number(rs_form_constant(node->constant.integer));
    if (node->kind != RS_NODE_CALL)
        rs_fact_count_work(walk, node);
    switch (node->kind) {
    case RS_NODE_REFERENCE:
        return rs_fact_reference(walk, node);
    case RS_NODE_THIS: {
        const rs_fact_value *object = rs_fact_find(walk, NULL);
        return object == NULL ? rs_fact_other() : *object;
    }
    case RS_NODE_MEMBER:
        return rs_fact_member(walk, node);
    case RS_NODE_SWIZZLE:
        return rs_fact_swizzle(walk, node);
    case RS_NODE_LIST:
        return rs_fact_list(walk, node, 0);
    case RS_NODE_LITERAL:
        return rs_fact_number(rs_form_uniform());
    case RS_NODE_SUBSCRIPT:
        return rs_fact_subscript(walk, node);
    case RS_NODE_PAREN:
        return rs_fact_expression(walk, node->children[0]);
    case RS_NODE_BINARY:
        return read_binary(walk, node);
    case RS_NODE_UNARY:
        return read_unary(walk, node);
    case RS_NODE_ASSIGN:
        return read_assign(walk, node);
    case RS_NODE_CAST:
    case RS_NODE_IMPLICIT:
        return read_conversion(walk, node);
    case RS_NODE_CONDITIONAL:
        return read_conditional(walk, node);
    case RS_NODE_CONSTRUCT:
        return read_construct(walk, node);
    case RS_NODE_CALL:
        return rs_fact_call(walk, node);
    default:
        for (size_t i = 0; i < node->child_count; i++)
            rs_fact_statement(walk, node->children[i]);
        return rs_fact_other();
    }
}

rs_fact_value rs_fact_peek(rs_fact_walk *walk, const rs_syntax_node *node)
{
    rs_fact_accesses *facts = walk->facts;
    const size_t accesses = facts->access_count, unknown = facts->unknown_count;
    const size_t loops = facts->loop_count;
    double *work = walk->loop < 0 ? &facts->work : &facts->loops[walk->loop].work;
    const double before = *work;
    const rs_fact_value value = rs_fact_expression(walk, node);
    work = walk->loop < 0 ? &facts->work : &facts->loops[walk->loop].work; /* may have moved */
    *work = before;
    facts->access_count = accesses;
    facts->unknown_count = unknown;
    facts->loop_count = loops;
    return value;
}
