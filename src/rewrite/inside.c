/*
 * From a structure down to what is done with it: members and array elements down to a scalar or
 * vector, or a whole structure loaded or stored. Addresses lead back to pointers.
 */
#include "base/text.h"
#include "rewrite/names.h"
#include "rewrite/way.h"

#include "source/query.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const rs_node *node_at(const rs_way *w, int node)
{
    return &w->tree->nodes[node];
}

static const rs_structure *structure_of(const rs_way *w)
{
    int structure = w->model->arguments[w->argument].structure;
    return structure < 0 ? NULL : &w->model->structures[structure];
}

/* Notes the qualifiers of the expression at `node`, which the replaced expression keeps. */
static void note_qualifiers(rs_way *w, int node)
{
    const rs_syntax_type *type = rs_type_of(w->tree, node);
    w->access.is_const = type->is_const;
    w->access.is_volatile = type->is_volatile;
}

/* From here on offsets and subscripts are inside a union, which moves as a whole. */
static void enter_union(rs_way *w, size_t size)
{
    w->access.union_size = size;
    w->access.union_offset = 0;
    w->access.union_subscript = w->access.subscript_count;
}

bool rs_way_name_leaf(rs_way *w, const rs_syntax_type *type)
{
    bool vector3;
    return rs_leaf_type_name(type, w->access.type, &vector3);
}

const char *rs_way_arrive(rs_way *w, int node, const rs_syntax_type *type)
{
    w->node = node;
    w->type = type;
    w->access.begin = node_at(w, node)->begin;
    w->access.end = node_at(w, node)->end;
    note_qualifiers(w, node);
    if (type->kind == RS_TYPE_RECORD) {
        w->place = RS_AT_STRUCTURE;
        if (w->access.union_size == 0 && rs_type_is_union(type))
            enter_union(w, (size_t)type->size);
    } else if (rs_type_is_fixed_array(type)) {
        w->place = RS_AT_ARRAY;
    } else if (rs_way_name_leaf(w, type)) {
        w->place = RS_AT_LEAF;
        w->access.kind = RS_ACCESS_LEAF;
        w->access.size = (size_t)type->size;
    } else {
        return "a member of this type is not followed";
    }
    return NULL;
}

/* Whether a pointer to `target` can be followed: to structures, or to members when all are alike.
 */
static bool can_follow(const rs_way *w, const rs_syntax_type *target)
{
    const rs_structure *s = structure_of(w);
    if (target->kind == RS_TYPE_RECORD)
        return s != NULL; /* where it was made decides: check_nested() */
    char name[RS_TYPE_NAME_SIZE];
    bool vector3;
    if (!rs_leaf_type_name(target, name, &vector3))
        return false;
    long long size = rs_type_bytes(target);
    if (s != NULL)
        return size > 0 && s->uniform == (size_t)size;
    char own[RS_TYPE_NAME_SIZE]; /* a helper's pointer to members: no other type */
    return rs_leaf_type_name(w->target, own, &vector3) && strcmp(own, name) == 0;
}

/* Types that are the same but for their qualifiers; nothing is converted between them. */
static bool same_target(const rs_way *w, const rs_syntax_type *target)
{
    char own[RS_TYPE_NAME_SIZE], other[RS_TYPE_NAME_SIZE];
    bool vector3;
    if (target->kind == RS_TYPE_RECORD || w->target->kind == RS_TYPE_RECORD)
        return target->kind == RS_TYPE_RECORD && w->target->kind == RS_TYPE_RECORD &&
               target->declaration == w->target->declaration;
    return rs_leaf_type_name(w->target, own, &vector3) &&
           rs_leaf_type_name(target, other, &vector3) && strcmp(own, other) == 0;
}

/* Whether the structure of this way, or the elements of its array, may be pointed to. */
static const char *check_nested(rs_way *w, const rs_syntax_type *type)
{
    rs_member_access *a = &w->access;
    int inner;
    if (type->kind != RS_TYPE_RECORD)
        return NULL;
    if (a->union_size > 0)
        return "the address of a union, or of a structure inside one, is taken";
    w->status = rs_model_structure(w->model, type, &inner);
    if (w->status != RESTRIDE_OK || inner == a->pointee)
        return NULL;
    return rs_structure_misfit(&w->model->structures[inner], &w->model->structures[a->pointee],
                               a->offset);
}

const char *rs_way_point(rs_way *w, int node, const char *otherwise)
{
    const rs_syntax_type *target;
    const char *address_space;
    if (!rs_pointer_target(rs_type_of(w->tree, node), &target, &address_space) ||
        !rs_space_covers(address_space, w->access.space) || !can_follow(w, target) ||
        (w->place == RS_AT_POINTER && !same_target(w, target)))
        return otherwise;
    rs_member_access *a = &w->access;
    a->pointer = w->node = node;
    a->space = address_space;
    a->is_parameter = false;
    a->flat = target->kind != RS_TYPE_RECORD;
    a->pointee = -1;
    if (!a->flat)
        w->status = rs_model_structure(w->model, target, &a->pointee);
    if (!a->flat && a->pointee < 0)
        return otherwise;
    a->index_count = a->subscript_count = 0;
    a->offset = a->union_size = a->union_offset = 0;
    a->touched_offset = a->touched_size = 0;
    w->place = RS_AT_POINTER;
    w->target = target;
    return NULL;
}

const char *rs_way_cast(rs_way *w, int node, const char *otherwise)
{
    const rs_structure *s = structure_of(w);
    if (s != NULL && s->declaration != NULL &&
        rs_type_below(rs_type_of(w->tree, node))->kind != RS_TYPE_RECORD)
        w->place = RS_AT_ELEMENT_POINTER; /* to the first member, or the same one */
    return rs_way_point(w, node, otherwise);
}

const char *rs_way_enter(rs_way *w, int member, const char *symbol)
{
    const rs_node *base = node_at(w, w->node), *outer = node_at(w, member);
    const rs_syntax_declaration *field = outer->declaration;
    size_t symbol_end = base->end;
    while (symbol_end < outer->end && isspace((unsigned char)w->tree->text[symbol_end]))
        symbol_end++;
    symbol_end += strlen(symbol);
    if (outer->first != w->node || field->kind != RS_DECLARATION_FIELD || symbol_end > outer->end ||
        !rs_text_is(w->tree, base->end, symbol_end, symbol))
        return "this member access is not understood";
    const rs_syntax_type *record = w->place == RS_AT_POINTER ? w->target : w->type;
    rs_field_place place;
    if (field->is_bitfield || !rs_field_find(record, field, &place) || place.bits % 8 != 0)
        return "this member has no fixed place in the structure";
    if (w->access.union_size == 0 && w->access.touched_size == 0)
        w->access.touched_offset +=
            (size_t)(place.union_bits >= 0 ? place.union_bits : place.bits) / 8;
    if (w->access.union_size > 0) {
        w->access.union_offset += (size_t)place.bits / 8;
    } else if (place.union_bits >= 0) {
        enter_union(w, place.union_size);
        w->access.offset += (size_t)place.union_bits / 8;
        w->access.union_offset = (size_t)(place.bits - place.union_bits) / 8;
    } else {
        w->access.offset += (size_t)place.bits / 8;
    }
    return rs_way_arrive(w, member, rs_declared_type(field));
}

/* The new code gives a copy of what was assigned. */
static const char *store(rs_way *w, int assignment, int value)
{
    rs_member_access *a = &w->access;
    const rs_node *outer = node_at(w, assignment);
    a->kind = RS_ACCESS_STORE;
    a->written = true;
    a->value = value;
    a->value_used = node_at(w, outer->parent)->is != RS_NODE_COMPOUND;
    a->begin = outer->begin;
    a->end = outer->end;
    w->place = RS_AT_END;
    return NULL;
}

/* As it is written, without the conversion to a value. */
static const char *load_into_braces(rs_way *w)
{
    w->access.kind = RS_ACCESS_LOAD;
    w->place = RS_AT_END;
    return NULL;
}

const char *rs_step_from_structure(rs_way *w, int up)
{
    const rs_node *outer = node_at(w, up);
    rs_member_access *a = &w->access;
    switch (outer->is) {
    case RS_NODE_PAREN:
        w->node = up;
        a->begin = outer->begin;
        a->end = outer->end;
        return NULL;
    case RS_NODE_MEMBER:
        return rs_way_enter(w, up, ".");
    case RS_NODE_IMPLICIT:
        if (rs_node_is_designated(w->tree, w->node))
            return load_into_braces(w);
        if (!rs_node_same_bytes(w->tree, w->node, up))
            break;
        a->kind = RS_ACCESS_LOAD;
        w->place = RS_AT_END;
        return NULL;
    case RS_NODE_LIST:
        return load_into_braces(w);
    case RS_NODE_BINARY:
        if (outer->first != w->node || !rs_node_is_binary(w->tree, up, "="))
            break;
        return store(w, up, rs_node_sibling(w->tree, w->node));
    case RS_NODE_UNARY: {
        if (!rs_node_is_unary(w->tree, up, "&"))
            break;
        const char *reason = check_nested(w, w->type);
        return reason != NULL ? reason
                              : rs_way_point(w, up, "the address of a nested structure is taken");
    }
    default:
        break;
    }
    return "a structure is used in a way that is not understood";
}

/* Whether an expression has a value that is known when it is compiled. */
static bool is_constant(const rs_way *w, int node, long long *value)
{
    return rs_tree_evaluate_bits(w->tree, node, value);
}

bool rs_is_user_function(const rs_tree *tree, const char *name)
{
    bool found = false;
    for (int n = 0; n < tree->node_count && !found; n++)
        if (tree->nodes[n].is == RS_NODE_FUNCTION || tree->nodes[n].is == RS_NODE_TEMPLATE)
            found = strcmp(tree->nodes[n].name, name) == 0;
    return found;
}

/* A pointer to a function may have any name, too. */
bool rs_is_function_call(const rs_tree *tree, int call)
{
    const rs_syntax_declaration *called = tree->nodes[call].declaration;
    return called == &rs_declared_none ||
           (called->kind == RS_DECLARATION_FUNCTION && !called->is_method);
}

bool rs_is_atomic_call(const rs_tree *tree, int call)
{
    const char *name = tree->nodes[call].name;
    return tree->nodes[call].is == RS_NODE_CALL && rs_is_function_call(tree, call) &&
           rs_begins_among(name, "atomic_ atom_") && !rs_is_user_function(tree, name);
}

static bool is_for_atomic(const rs_way *w, int address)
{
    int up = node_at(w, address)->parent;
    while (node_at(w, up)->is == RS_NODE_PAREN ||
           (node_at(w, up)->is == RS_NODE_IMPLICIT && rs_node_same_bytes(w->tree, up, address)))
        up = node_at(w, up)->parent;
    return rs_is_atomic_call(w->tree, up);
}

/* Whether only the address of this element is taken, which may be the one behind the last. An
 * atomic function would use what is there. */
static bool is_address(const rs_way *w, int element)
{
    int up = node_at(w, element)->parent;
    while (node_at(w, up)->is == RS_NODE_PAREN)
        up = node_at(w, up)->parent;
    return rs_node_is_unary(w->tree, up, "&") && !is_for_atomic(w, up);
}

/*
 * A subscript that runs past its member is not C, but in AoS it finds the next member, or the next
 * structure, and some programs walk through a whole buffer so, from a structure that stays the
 * same.
 */
static const char *check_subscript(const rs_way *w, int element, int subscript, long long size)
{
    long long value;
    if (is_constant(w, subscript, &value))
        return value >= 0 && value < size + is_address(w, element)
                   ? NULL
                   : "an array member is indexed past its end";
    const rs_pointer_parameter *argument = &w->model->arguments[w->argument];
    if (!w->access.is_parameter || rs_argument_kernel(w->model, argument) == NULL)
        return NULL; /* a pointer variable, or one that each caller gives another value */
    for (int i = 0; i < w->access.index_count; i++)
        if (!is_constant(w, w->access.index[i], &value))
            return NULL;
    return "an array member of one fixed structure is indexed by a variable, which may run past it";
}

/* Which bytes a subscript leads to: one element, or any of the array. */
static void note_subscript(rs_way *w, int subscript, long long size)
{
    rs_member_access *a = &w->access;
    long long value;
    if (a->union_size > 0 || a->touched_size > 0)
        return;
    if (is_constant(w, subscript, &value))
        a->touched_offset += (size_t)(value * size);
    else
        a->touched_size = (size_t)(w->type->count * size);
}

static const char *step_to_element(rs_way *w, int up)
{
    const rs_syntax_type *element = rs_type_below(w->type);
    long long size = rs_type_bytes(element);
    rs_member_access *a = &w->access;
    int index = rs_node_sibling(w->tree, w->node);
    if (index < 0 || size <= 0 || a->subscript_count == RS_PIECE_LIMIT)
        return "this array element is not understood";
    const char *trouble = check_subscript(w, up, index, w->type->count);
    if (trouble != NULL)
        return trouble;
    note_subscript(w, index, size);
    a->subscript[a->subscript_count] = index;
    a->stride[a->subscript_count++] = (size_t)size;
    return rs_way_arrive(w, up, element);
}

const char *rs_step_from_array(rs_way *w, int up)
{
    static const char trouble[] = "an array member is used as a pointer";
    const rs_node *outer = node_at(w, up);
    if (outer->is == RS_NODE_PAREN) {
        w->node = up;
        return NULL;
    }
    if (w->place == RS_AT_ARRAY) {
        if (outer->is != RS_NODE_IMPLICIT || !rs_node_same_bytes(w->tree, w->node, up) ||
            rs_type_of(w->tree, up)->kind != RS_TYPE_POINTER)
            return trouble;
        w->node = up;
        w->place = RS_AT_ELEMENT_POINTER;
        return NULL;
    }
    if (outer->is == RS_NODE_SUBSCRIPT)
        return step_to_element(w, up);
    if (rs_way_pass_array(w))
        return NULL;
    const char *reason =
        rs_type_is_fixed_array(w->type) ? check_nested(w, rs_type_below(w->type)) : NULL;
    return reason != NULL ? reason : rs_way_point(w, w->node, trouble);
}

/* The address of a member goes straight into an atomic function, which touches nothing but the
 * member, or it becomes a pointer that is followed. */
static const char *take_address(rs_way *w, int address)
{
    if (!is_for_atomic(w, address))
        return rs_way_point(w, address, "the address of a member is taken");
    w->place = RS_AT_END;
    return NULL;
}

void rs_way_note_writing(rs_way *w)
{
    const rs_tree *tree = w->tree;
    int node = w->node, up = node_at(w, node)->parent;
    while (node_at(w, up)->first == node &&
           (node_at(w, up)->is == RS_NODE_PAREN || node_at(w, up)->is == RS_NODE_SUBSCRIPT ||
            (node_at(w, up)->is == RS_NODE_IMPLICIT && !rs_node_same_bytes(tree, node, up)))) {
        node = up;
        up = node_at(w, node)->parent;
    }
    bool step = rs_node_is_step(tree, up);
    bool address = rs_node_is_unary(tree, up, "&");
    bool left = node_at(w, up)->first == node;
    w->access.updated = step || address || (left && node_at(w, up)->is == RS_NODE_ASSIGN);
    w->access.written = w->access.updated || (left && rs_node_is_binary(tree, up, "="));
}

const char *rs_step_from_leaf(rs_way *w, int up)
{
    const rs_node *node = node_at(w, w->node), *outer = node_at(w, up);
    rs_way_note_writing(w);
    bool address = rs_node_is_unary(w->tree, up, "&");
    switch (outer->is) {
    case RS_NODE_PAREN:
        w->node = up;
        return NULL;
    case RS_NODE_IMPLICIT:
        if (!rs_node_same_bytes(w->tree, w->node, up) &&
            (node->begin != outer->begin || w->tree->text[node->end] != '.'))
            break;
        w->place = RS_AT_END;
        return NULL;
    case RS_NODE_UNARY:
        if (address)
            return take_address(w, up);
        w->place = RS_AT_END;
        return NULL;
    case RS_NODE_BINARY:
    case RS_NODE_ASSIGN:
    case RS_NODE_CAST:
    case RS_NODE_LIST:
        w->place = RS_AT_END;
        return NULL;
    case RS_NODE_SUBSCRIPT:
        if (w->type->kind != RS_TYPE_VECTOR || outer->first != w->node)
            break;
        w->place = RS_AT_END;
        return NULL;
    default:
        break;
    }
    return "a member is used in a way that is not understood";
}
