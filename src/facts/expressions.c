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

static rs_fact_form form_of(const rs_fact_value *value)
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
    void *list = facts->accesses;
    rs_fact_access *access =
        rs_fact_add(walk, &list, &facts->access_count, &facts->access_capacity, sizeof *access);
    facts->accesses = list;
    if (access == NULL)
        return;
    access->parameter = value->parameter;
    access->index = value->form;
    access->offset = value->offset;
    access->size = value->span > size ? value->span : size;
    access->is_inner_lane = value->is_inner_lane;
    access->reads = reads;
    access->writes = writes && !value->is_copy;
    access->is_atomic = is_atomic;
    access->is_conditional = walk->conditions > 0;
    access->loop = walk->loop;
    access->range = range;
}

void rs_fact_miss(rs_fact_walk *walk, const rs_fact_value *value, const char *what,
                  rs_syntax_range range)
{
    rs_fact_accesses *facts = walk->facts;
    if (value->kind != RS_FACT_ELEMENT || value->is_copy)
        return;
    void *list = facts->unknown;
    struct rs_fact_unknown *unknown =
        rs_fact_add(walk, &list, &facts->unknown_count, &facts->unknown_capacity, sizeof *unknown);
    facts->unknown = list;
    if (unknown != NULL)
        *unknown = (struct rs_fact_unknown){value->parameter, range, what};
}

static long long size_of(const rs_syntax_type *type)
{
    return type == NULL || type->size < 0 ? 0 : type->size;
}

/* --- names --- */

/* CUDA's variables of a thread; false for any other. */
static bool read_builtin(const rs_syntax_node *member, rs_fact_value *value)
{
    static const char *const names[] = {"threadIdx", "blockIdx", "blockDim", "gridDim"};
    const rs_syntax_node *object = rs_syntax_plain(member->children[0]);
    if (object == NULL || object->kind != RS_NODE_REFERENCE || !object->declaration->is_system)
        return false;
    const char *field = member->declaration != NULL ? member->declaration->name : member->text;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(object->declaration->name, names[i]) == 0) {
            *value = rs_fact_number(i == 0 && strcmp(field, "x") == 0 ? rs_form_lane()
                                                                      : rs_form_uniform());
            return true;
        }
    return false;
}

static rs_fact_value read_reference(rs_fact_walk *walk, const rs_syntax_node *node)
{
    const rs_syntax_declaration *of = node->declaration;
    const rs_fact_value *bound = rs_fact_find(walk, of);
    if (bound == NULL)
        return rs_fact_other();
    rs_fact_value value = *bound;
    if (value.kind == RS_FACT_ELEMENT)
        value.is_memory =
            value.is_copy || (of->type != NULL && of->type->kind == RS_TYPE_REFERENCE);
    return value;
}

static rs_fact_value read_member(rs_fact_walk *walk, const rs_syntax_node *node)
{
    rs_fact_value value;
    if (read_builtin(node, &value))
        return value;
    value = rs_fact_expression(walk, node->children[0]);
    const rs_syntax_declaration *field = node->declaration;
    if (value.kind != RS_FACT_ELEMENT || field == NULL || field->bit_offset < 0)
        return rs_fact_other();
    value.offset += field->bit_offset / 8;
    value.is_memory = true;
    value.is_inner = false;
    return value;
}

/* --- places --- */

/* Behind a pointer by a number of things of a size. */
static rs_fact_value step_pointer(rs_fact_walk *walk, rs_fact_value pointer, rs_fact_form by,
                                  const rs_syntax_type *thing, rs_syntax_range range)
{
    const rs_syntax_declaration *parameter = walk->facts->kernel->parameters[pointer.parameter];
    const long long element = size_of(parameter->type->of), size = size_of(thing);
    if (!pointer.is_inner && pointer.offset == 0 && size == element) {
        pointer.form = rs_form_add(pointer.form, by);
    } else if (rs_form_is_constant(&by) && by.constant <= element && by.constant >= -element) {
        pointer.offset += by.constant * size;
    } else if (pointer.is_inner) {
        pointer.span = element - pointer.offset;
        pointer.is_inner_lane |= !rs_form_is_uniform(&by);
    } else {
        rs_fact_miss(walk, &pointer, "a pointer to a part of an element", range);
        return rs_fact_other();
    }
    return pointer;
}

static rs_fact_value read_subscript(rs_fact_walk *walk, const rs_syntax_node *node)
{
    rs_fact_value base = rs_fact_expression(walk, node->children[0]);
    const rs_fact_value index = rs_fact_expression(walk, node->children[1]);
    if (base.kind != RS_FACT_ELEMENT)
        return rs_fact_other();
    const long long span = node->children[0]->kind == RS_NODE_IMPLICIT &&
                                   node->children[0]->conversion == RS_CONVERSION_DECAY
                               ? size_of(node->children[0]->children[0]->type)
                               : 0;
    const long long outer = base.span; /* that an array around this one may reach already */
    base = step_pointer(walk, base, form_of(&index), node->type, node->range);
    if (base.span > outer && base.span > span && span > 0)
        base.span = span > outer ? span : outer;
    base.is_memory = base.kind == RS_FACT_ELEMENT;
    base.is_inner = false;
    return base;
}

/* The value that a place has: an access, where it is memory of an argument. */
static rs_fact_value load(rs_fact_walk *walk, rs_fact_value place, const rs_syntax_node *node)
{
    if (place.kind != RS_FACT_ELEMENT || !place.is_memory)
        return place;
    if (node->type != NULL && node->type->kind == RS_TYPE_RECORD) {
        place.is_copy = true; /* what is used of it counts */
        return place;
    }
    rs_fact_touch(walk, &place, size_of(node->type), true, false, false, node->range);
    const bool is_uniform = rs_form_is_uniform(&place.form) && !place.is_inner_lane;
    return rs_fact_number(is_uniform && place.form.kind == RS_FORM_SUM ? rs_form_uniform()
                                                                       : rs_form_data());
}

/* --- operators --- */

static rs_fact_form combine(const char *symbol, rs_fact_form a, rs_fact_form b)
{
    const bool has_small = rs_form_is_constant(&b) && b.constant >= 0 && b.constant < 62;
    if (strcmp(symbol, "+") == 0)
        return rs_form_add(a, b);
    if (strcmp(symbol, "-") == 0)
        return rs_form_add(a, rs_form_negate(b));
    if (strcmp(symbol, "*") == 0)
        return rs_form_multiply(a, b);
    if (strcmp(symbol, "/") == 0 || strcmp(symbol, "%") == 0)
        return rs_form_divide(a, b, symbol[0] == '%');
    if (strcmp(symbol, "<<") == 0 && has_small)
        return rs_form_multiply(a, rs_form_constant(1LL << b.constant));
    if (strcmp(symbol, ">>") == 0 && has_small)
        return rs_form_divide(a, rs_form_constant(1LL << b.constant), false);
    if (strcmp(symbol, "&") == 0 && rs_form_is_constant(&b) && b.constant > 0 &&
        (b.constant & (b.constant + 1)) == 0)
        return rs_form_divide(a, rs_form_constant(b.constant + 1), true);
    return rs_form_is_uniform(&a) && rs_form_is_uniform(&b) ? rs_form_uniform() : rs_form_data();
}

static rs_fact_value read_binary(rs_fact_walk *walk, const rs_syntax_node *node)
{
    const rs_fact_value left = rs_fact_expression(walk, node->children[0]);
    const rs_fact_value right = rs_fact_expression(walk, node->children[1]);
    const bool is_sum = strcmp(node->symbol, "+") == 0 || strcmp(node->symbol, "-") == 0;
    const bool is_pointer = node->type != NULL && node->type->kind == RS_TYPE_POINTER;
    if (strcmp(node->symbol, ",") == 0)
        return right;
    if (is_sum && is_pointer) {
        const rs_fact_value *pointer = left.kind == RS_FACT_ELEMENT ? &left : &right;
        rs_fact_form by = form_of(pointer == &left ? &right : &left);
        if (pointer->kind != RS_FACT_ELEMENT)
            return rs_fact_other();
        if (node->symbol[0] == '-')
            by = rs_form_negate(by);
        return step_pointer(walk, *pointer, by, node->type->of, node->range);
    }
    return rs_fact_number(combine(node->symbol, form_of(&left), form_of(&right)));
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
    if (old.kind == RS_FACT_ELEMENT && !old.is_memory)
        return step_pointer(walk, old, by, node->type->of, node->range);
    return rs_fact_number(rs_form_add(form_of(&old), by));
}

static rs_fact_value read_unary(rs_fact_walk *walk, const rs_syntax_node *node)
{
    rs_fact_value value = rs_fact_expression(walk, node->children[0]);
    const char *symbol = node->symbol;
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
        value.is_memory = symbol[0] == '*' && value.kind == RS_FACT_ELEMENT;
        return value.is_copy && symbol[0] == '&' ? rs_fact_other() : value;
    }
    if (symbol[0] == '-')
        return rs_fact_number(rs_form_negate(form_of(&value)));
    if (symbol[0] == '+' || strcmp(symbol, "__extension__") == 0)
        return value;
    const rs_fact_form form = form_of(&value);
    return rs_fact_number(rs_form_is_uniform(&form) ? rs_form_uniform() : rs_form_data());
}

static rs_fact_value read_assign(rs_fact_walk *walk, const rs_syntax_node *node)
{
    rs_fact_value value = rs_fact_expression(walk, node->children[1]);
    const rs_syntax_declaration *variable = variable_of(node->children[0]);
    const bool is_plain = strcmp(node->symbol, "=") == 0;
    const rs_fact_value place = rs_fact_expression(walk, node->children[0]);
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
                : rs_fact_number(combine(symbol, form_of(&place), value.form));
    }
    rs_fact_bind(walk, variable, value);
    return value;
}

/* --- the rest --- */

static rs_fact_value read_conversion(rs_fact_walk *walk, const rs_syntax_node *node)
{
    rs_fact_value value = rs_fact_expression(walk, node->children[0]);
    const rs_syntax_type *type = node->type;
    switch (node->conversion) {
    case RS_CONVERSION_LOAD:
        return load(walk, value, node);
    case RS_CONVERSION_DECAY:
        value.is_inner = value.is_memory;
        value.is_memory = false;
        return value;
    case RS_CONVERSION_POINTER:
        if (value.kind == RS_FACT_ELEMENT && !value.is_memory && type->of != NULL &&
            type->of->kind != RS_TYPE_VOID && node->children[0]->type->of != NULL &&
            type->of->plain != node->children[0]->type->of->plain) {
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
    const rs_fact_value condition = rs_fact_expression(walk, node->children[0]);
    const rs_fact_value left = rs_fact_expression(walk, node->children[1]);
    const rs_fact_value right = rs_fact_expression(walk, node->children[2]);
    const rs_fact_form forms[3] = {form_of(&condition), form_of(&left), form_of(&right)};
    if (left.kind == RS_FACT_ELEMENT)
        return left;
    if (right.kind == RS_FACT_ELEMENT)
        return right;
    if (rs_form_is_uniform(&forms[0]) && rs_form_is_uniform(&forms[1]) &&
        rs_form_is_uniform(&forms[2]))
        return rs_fact_number(rs_form_uniform());
    return rs_fact_number(rs_form_merge(forms[1], forms[2]));
}

/* A record that is made of another one, member by member, is a copy of it. */
static rs_fact_value read_construct(rs_fact_walk *walk, const rs_syntax_node *node)
{
    rs_fact_value value = rs_fact_other();
    for (size_t i = 0; i < node->child_count; i++)
        value = rs_fact_expression(walk, node->children[i]);
    if (node->child_count != 1 || value.kind != RS_FACT_ELEMENT)
        return rs_fact_other();
    value.is_copy = value.is_memory;
    return value;
}

rs_fact_value rs_fact_expression(rs_fact_walk *walk, const rs_syntax_node *node)
{
    if (node == NULL)
        return rs_fact_other();
    if (node->constant.kind == RS_CONSTANT_INTEGER)
        return rs_fact_number(rs_form_constant(node->constant.integer));
    switch (node->kind) {
    case RS_NODE_REFERENCE:
        return read_reference(walk, node);
    case RS_NODE_THIS: {
        const rs_fact_value *object = rs_fact_find(walk, NULL);
        return object == NULL ? rs_fact_other() : *object;
    }
    case RS_NODE_MEMBER:
        return read_member(walk, node);
    case RS_NODE_SUBSCRIPT:
        return read_subscript(walk, node);
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
