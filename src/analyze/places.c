/* Where expressions are stored: variables, and elements of arrays. */
#include "analyze/components.h"
#include "analyze/walk.h"
#include "source/query.h"
#include "source/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_ROOM = 128 };

int rs_walk_line(const rs_walk *walk, int node)
{
    const char *file;
    size_t line;
    rs_flat_locate(&walk->program->flat, walk->tree->nodes[node].begin, &file, &line);
    return (int)line;
}

const char *rs_walk_file(const rs_walk *walk, int node)
{
    const char *file;
    size_t line;
    rs_flat_locate(&walk->program->flat, walk->tree->nodes[node].begin, &file, &line);
    return file;
}

/* ---- variables ---- */

rs_location rs_place_variable(uint64_t key)
{
    return (rs_location){RS_PLACE_VARIABLE, key, rs_value_unknown(0, false), false};
}

rs_location rs_place_none(rs_walk *walk)
{
    return (rs_location){RS_PLACE_NONE, 0, rs_value_unknown(rs_walk_anything(walk), true), false};
}

static rs_location at_address(rs_walk *walk, const rs_value *address)
{
    if (address->kind == RS_VALUE_POINTER && address->key != 0)
        return rs_place_variable(address->key);
    if (address->kind != RS_VALUE_ADDRESS && address->kind != RS_VALUE_POINTER)
        return rs_place_none(walk);
    bool memory = address->kind == RS_VALUE_ADDRESS;
    return (rs_location){memory ? RS_PLACE_MEMORY : RS_PLACE_NONE, 0, *address, false};
}

/* What a reference is another name of; false when the variable is none, or nothing is known. */
static bool referred(rs_walk *walk, const rs_syntax_declaration *declared, uint64_t key,
                     rs_location *place)
{
    const rs_syntax_type *type = rs_declared_type(declared);
    int known = type->kind == RS_TYPE_REFERENCE ? rs_walk_find(walk, key) : -1;
    if (known < 0 || (walk->values[known].kind != RS_VALUE_POINTER &&
                      walk->values[known].kind != RS_VALUE_ADDRESS))
        return false;
    *place = at_address(walk, &walk->values[known]);
    return true;
}

static void read_carried(rs_walk *walk, int value, const char *name, bool reduction, bool perhaps)
{
    while (value >= 0 && walk->values[value].carried_loop >= 0) {
        rs_loop *loop = &walk->unit->loops[walk->values[value].carried_loop];
        char **slot = reduction ? &loop->reduced : &loop->carried;
        bool guessed = perhaps || walk->values[value].guessed;
        if (*slot != NULL && !reduction && loop->guessed && !guessed) {
            free(*slot); /* what is known goes before what may be */
            *slot = NULL;
        }
        if (*slot == NULL) {
            *slot = strdup(name);
            loop->guessed = !reduction ? guessed : loop->guessed;
        }
        value = walk->values[value].carried_from;
    }
}

void rs_walk_read_carried(rs_walk *walk, int value, const char *name, bool reduction)
{
    read_carried(walk, value, name, reduction, false);
}

void rs_walk_read_perhaps(rs_walk *walk, int value, const char *name)
{
    read_carried(walk, value, name, false, true);
}

void rs_walk_read_unseen(rs_walk *walk, uint64_t key, const char *name)
{
    int known = rs_walk_find(walk, key);
    for (uint64_t whole = key; known < 0 && whole != 0; known = rs_walk_find(walk, whole))
        if ((whole = rs_walk_whole(walk, whole)) == 0)
            break;
    rs_walk_read_perhaps(walk, known, name);
    for (int i = 0; i < walk->variables.count; i++)
        if (rs_walk_is_part(walk, walk->variables.bindings[i].key, key))
            rs_walk_read_perhaps(walk, walk->variables.bindings[i].value, name);
}

rs_value rs_value_copy_of(const rs_walk *walk, const rs_value *value, uint64_t key)
{
    rs_value copy = *value;
    if (value->kind != RS_VALUE_UNKNOWN && value->kind != RS_VALUE_RECORD)
        return copy;
    copy.kind = RS_VALUE_RECORD;
    copy.key = key;
    copy.untouched = rs_walk_find(walk, key) < 0;
    for (int i = 0; i < walk->variables.count; i++) {
        const rs_binding *binding = &walk->variables.bindings[i];
        if (binding->key == key || !rs_walk_is_part(walk, binding->key, key))
            continue;
        copy.depends |= rs_value_depends(walk, &walk->values[binding->value]);
        copy.data = copy.data || rs_value_has_data(walk, &walk->values[binding->value]);
    }
    return copy;
}

static rs_value read_key(rs_walk *walk, const rs_syntax_declaration *declared, uint64_t key,
                         const char *name)
{
    int known = rs_walk_find(walk, key);
    if (known >= 0) {
        if (walk->values[known].carried_loop >= 0)
            rs_walk_read_carried(walk, known, name, false);
        rs_value value = rs_walk_settled(walk, key, known);
        value.carried_loop = -1;
        return value;
    }
    rs_value value = rs_walk_declare(walk, declared);
    if (value.kind == RS_VALUE_NUMBER)
        rs_walk_set(walk, key, &value);
    rs_walk_set_initial(walk, key, &value);
    known = value.kind == RS_VALUE_NUMBER && rs_walk_is_clobbered(walk, key)
                ? rs_walk_find(walk, key)
                : -1;
    return known < 0 ? value : rs_walk_settled(walk, key, known);
}

rs_value rs_walk_variable(rs_walk *walk, int node)
{
    node = rs_node_inner(walk->tree, node);
    if (node >= 0 && walk->tree->nodes[node].is == RS_NODE_MEMBER) {
        rs_location place = rs_walk_locate(walk, node);
        return rs_walk_load(walk, &place, node);
    }
    if (node < 0 || walk->tree->nodes[node].is != RS_NODE_REFERENCE)
        return rs_value_unknown(rs_walk_anything(walk), true);
    const rs_syntax_declaration *declared = walk->tree->nodes[node].declaration;
    if (declared->name[0] == '\0')
        return rs_value_unknown(rs_walk_anything(walk), true);
    if (rs_is_declared(declared, RS_DECLARATION_ENUMERATOR))
        return rs_value_constant(declared->value.integer);
    uint64_t key = rs_declared_key(declared);
    rs_location place;
    if (referred(walk, declared, key, &place))
        return rs_walk_load(walk, &place, node);
    rs_value value = read_key(walk, declared, key, declared->name);
    const rs_syntax_type *type = rs_type_of(walk->tree, node);
    value = rs_walk_steady(walk, &value, node);
    return rs_type_is_record(type) ? rs_value_copy_of(walk, &value, key)
                                   : rs_walk_view(walk, &value, type);
}

/* ---- locations ---- */

static rs_location locate_name(rs_walk *walk, int node)
{
    const rs_syntax_declaration *declared = walk->tree->nodes[node].declaration;
    if (declared == &rs_declared_none)
        return rs_place_none(walk);
    uint64_t key = rs_declared_key(declared);
    const rs_syntax_type *type = rs_declared_type(declared);
    rs_location place;
    if (referred(walk, declared, key, &place))
        return place;
    bool array = type->kind == RS_TYPE_ARRAY && !rs_is_declared(declared, RS_DECLARATION_PARAMETER);
    if (array && rs_walk_find(walk, key) < 0) {
        rs_value value = rs_walk_variable(walk, node);
        if (value.kind == RS_VALUE_ADDRESS && value.count > 0)
            value.count--;
        return at_address(walk, &value);
    }
    return rs_place_variable(key);
}

/* An address that is not known: the references to it are shown, as unknown ones. */
rs_location rs_place_lost(rs_walk *walk, int base)
{
    const rs_shown_text name = rs_walk_text(walk, base);
    rs_value value =
        rs_walk_array(walk, name.text, rs_name_hash(name.text), rs_type_of(walk->tree, base));
    value.lost = true;
    return at_address(walk, &value);
}

bool rs_walk_is_pointer(const rs_walk *walk, int node)
{
    return rs_node_is_pointer(walk->tree, node) && !walk->exhausted && !walk->no_memory;
}

static rs_location locate_element(rs_walk *walk, int node)
{
    int base = rs_node_child(walk->tree, node, 0), index = rs_node_child(walk->tree, node, 1);
    if (index < 0)
        return rs_place_none(walk);
    rs_value address = rs_walk_evaluate(walk, base);
    rs_value by = rs_walk_evaluate(walk, index);
    if (by.kind == RS_VALUE_UNKNOWN) {
        bool approximated = by.approximated;
        by = rs_walk_named(walk, &by, index);
        by.approximated = approximated;
    }
    int64_t offset;
    if (address.kind == RS_VALUE_POINTER && rs_polynomial_is_constant(&by.number, &offset) &&
        offset == 0)
        return at_address(walk, &address);
    rs_value moved = rs_walk_operate(walk, '+', &address, &by);
    int row = rs_node_inner(walk->tree, base);
    if (row >= 0 && rs_type_of(walk->tree, row)->kind == RS_TYPE_ARRAY)
        moved.loose = address.loose; /* x[i][j] stays in its row */
    bool lost = moved.kind != RS_VALUE_ADDRESS && rs_walk_is_pointer(walk, base);
    return lost ? rs_place_lost(walk, base) : at_address(walk, &moved);
}

static rs_location locate_target(rs_walk *walk, int node)
{
    int pointer = rs_node_child(walk->tree, node, 0);
    rs_value address = rs_walk_evaluate(walk, pointer);
    bool lost = address.kind != RS_VALUE_ADDRESS && address.kind != RS_VALUE_POINTER &&
                rs_walk_is_pointer(walk, pointer);
    return lost ? rs_place_lost(walk, pointer) : at_address(walk, &address);
}

/* The member of an element: the same subscripts, and some of its bytes. */
static rs_location locate_member_of(rs_walk *walk, const rs_value *record,
                                    const rs_syntax_declaration *field, const char *name)
{
    rs_location place = at_address(walk, record);
    size_t used = strlen(place.address.member);
    snprintf(place.address.member + used, sizeof place.address.member - used, "%s%s",
             used > 0 ? "." : "", name);
    long long bits = field->bit_offset;
    place.address.member_offset += bits > 0 ? bits / 8 : 0;
    (void)walk;
    return place;
}

static int first_component(const rs_components *components)
{
    int first = components->numbers[0];
    for (int i = 1; i < components->count; i++)
        first = components->numbers[i] < first ? components->numbers[i] : first;
    return first;
}

/* Some components of a vector of which `place` is all, or those that the node below names. What is
 * no vector's has a type that is not known here: as if all had members of one size. */
static void locate_components(rs_walk *walk, rs_location *place, const char *name, int node)
{
    rs_value *address = &place->address;
    rs_components named, before;
    int below = rs_node_inner(walk->tree, rs_node_child(walk->tree, node, 0));
    if (!rs_components_read(walk->tree, node, &named)) {
        int64_t size = rs_type_bytes(rs_type_of(walk->tree, node));
        int number = rs_component_number(name);
        address->member_offset += number > 0 && size > 0 ? number * size : 0;
        return;
    }
    if (address->width > 0 && rs_components_read(walk->tree, below, &before))
        address->member_offset -= first_component(&before) * before.size;
    int first = first_component(&named), last = first;
    address->components = 0;
    address->approximated = address->approximated || named.guessed;
    for (int i = 0; i < named.count; i++) {
        last = named.numbers[i] > last ? named.numbers[i] : last;
        address->components |= 1U << (named.numbers[i] - first);
    }
    address->member_offset += first * named.size;
    address->width = (last + 1 - first) * named.size;
}

/* A member of a variable; what shares its bytes with others is some part of the whole variable. */
static rs_location at_member(rs_walk *walk, uint64_t key, const rs_syntax_declaration *field,
                             const char *name)
{
    char component[NAME_ROOM];
    int64_t offset = 0;
    rs_location place = rs_place_variable(key);
    if (!rs_is_declared(field, RS_DECLARATION_FIELD)) {
        int number = rs_component_number(name);
        place.part = number < 0;
        snprintf(component, sizeof component, "s%d", number);
        name = component;
    } else {
        const rs_syntax_declaration *parent = field->parent;
        long long bits = field->bit_offset;
        offset = bits > 0 ? bits / 8 : 0;
        place.part = parent == NULL || parent->is_union || parent->is_anonymous ||
                     field->is_bitfield || name[0] == '\0';
    }
    if (!place.part)
        place.key = rs_walk_member(walk, key, name, offset);
    return place;
}

/* A member of what a value points to. */
static rs_location member_behind(rs_walk *walk, const rs_value *pointer,
                                 const rs_syntax_declaration *field, const char *name)
{
    if (pointer->kind == RS_VALUE_POINTER && pointer->key != 0)
        return at_member(walk, pointer->key, field, name);
    return pointer->kind == RS_VALUE_ADDRESS ? locate_member_of(walk, pointer, field, name)
                                             : at_address(walk, pointer);
}

/* A member of "this", whose name may be left out. */
static rs_location locate_own_member(rs_walk *walk, const rs_syntax_declaration *field,
                                     const char *name)
{
    const rs_value self = walk->self;
    return member_behind(walk, &self, field, name);
}

static rs_location locate_any_member(rs_walk *walk, int node)
{
    const rs_tree *tree = walk->tree;
    int base = rs_node_child(tree, node, 0);
    char name[NAME_ROOM];
    const rs_syntax_declaration *field = tree->nodes[node].declaration;
    if (base < 0)
        return field->name[0] == '\0' ? rs_place_none(walk)
                                      : locate_own_member(walk, field, field->name);
    snprintf(name, sizeof name, "%s", tree->nodes[node].name);
    if (name[0] == '\0')
        rs_components_name(tree, node, base, name, sizeof name);
    int inner = rs_node_inner(tree, base);
    rs_value value = rs_value_unknown(0, false);
    if (inner >= 0 && tree->nodes[inner].is == RS_NODE_REFERENCE) {
        if (rs_walk_thread_member(walk, tree->nodes[inner].name, name, &value)) {
            rs_location place = rs_place_none(walk);
            place.address = value;
            return place;
        }
    }
    rs_location record;
    if (rs_node_is_pointer(tree, base)) {
        rs_value address = rs_walk_evaluate(walk, base);
        if (address.kind != RS_VALUE_ADDRESS && address.kind != RS_VALUE_POINTER &&
            rs_walk_is_pointer(walk, base))
            address = rs_place_lost(walk, base).address;
        record = member_behind(walk, &address, field, name);
    } else {
        record = rs_walk_locate(walk, base);
        if (record.kind == RS_PLACE_VARIABLE && !record.part)
            return at_member(walk, record.key, field, name);
        if (record.kind == RS_PLACE_MEMORY)
            record = locate_member_of(walk, &record.address, field, name);
    }
    if (record.kind == RS_PLACE_MEMORY && !rs_is_declared(field, RS_DECLARATION_FIELD))
        locate_components(walk, &record, name, node);
    return record;
}

/* A member that is a reference leads elsewhere, which nobody follows. */
static rs_location locate_member(rs_walk *walk, int node)
{
    rs_location place = locate_any_member(walk, node);
    const rs_syntax_declaration *field = walk->tree->nodes[node].declaration;
    bool reference = rs_is_declared(field, RS_DECLARATION_FIELD) &&
                     rs_declared_type(field)->kind == RS_TYPE_REFERENCE;
    return reference ? rs_place_lost(walk, node) : place;
}

/* ---- places that are chosen ---- */

/* What a place is, as a pointer to it; of none what stands there. */
static rs_value pointer_to(rs_walk *walk, const rs_location *place, int node)
{
    if (place->kind != RS_PLACE_VARIABLE)
        return place->address;
    rs_walk_touch(walk, place, node);
    return rs_value_pointer(place->part ? 0 : place->key);
}

/* One of two places, in C++: (c ? x : y) = 1. */
static rs_location locate_either(rs_walk *walk, int node)
{
    int condition = rs_node_child(walk->tree, node, 0);
    int yes = rs_node_child(walk->tree, node, 1), no = rs_node_child(walk->tree, node, 2);
    rs_value c = rs_walk_evaluate(walk, condition);
    uint64_t around = walk->reach.around;
    walk->reach.around |= rs_value_depends(walk, &c);
    walk->guards++;
    rs_location place = rs_walk_locate(walk, yes);
    rs_value a = pointer_to(walk, &place, yes);
    place = rs_walk_locate(walk, no);
    rs_value b = pointer_to(walk, &place, no);
    walk->guards--;
    walk->reach.around = around;
    uint64_t outer = walk->chosen;
    walk->chosen = rs_value_depends(walk, &c);
    rs_value either = rs_value_merge(walk, &a, &b, "chosen");
    walk->chosen = outer;
    place = at_address(walk, &either);
    if (place.kind == RS_PLACE_NONE)
        place.address = either;
    return place;
}

/* Whether a cast is one to a reference: its text has the sign, or the name of a type with it. */
static bool is_reference_cast(const rs_tree *tree, int node, int operand)
{
    int kind = tree->nodes[node].is;
    if (kind != RS_NODE_CAST && kind != RS_NODE_STATIC_CAST && kind != RS_NODE_REINTERPRET_CAST &&
        kind != RS_NODE_CONST_CAST && kind != RS_NODE_FUNCTIONAL_CAST)
        return false;
    size_t at = tree->nodes[node].begin, end = tree->nodes[operand].begin;
    if (memchr(tree->text + at, '&', end - at) != NULL)
        return true;
    RS_EACH_CHILD(child, tree, node)
        if (tree->nodes[child].is == RS_NODE_TYPE_NAME &&
            rs_type_of(tree, child)->kind == RS_TYPE_REFERENCE)
            return true;
    return false;
}

/* An operand that is seen as another type is some part of its variable. */
static rs_location locate_cast(rs_walk *walk, int node, int operand)
{
    rs_location place = rs_walk_locate(walk, operand);
    const rs_syntax_type *to = rs_type_of(walk->tree, node)->plain;
    const rs_syntax_type *from = rs_type_of(walk->tree, rs_node_inner(walk->tree, operand))->plain;
    if (to == from)
        return place;
    place.part = place.part || place.kind == RS_PLACE_VARIABLE;
    place.address.lost = place.address.lost || place.kind == RS_PLACE_MEMORY;
    return place;
}

/* A place that is the result of an operator of C++; false when it is none of these. */
static bool locate_result(rs_walk *walk, int node, rs_location *place)
{
    const rs_tree *tree = walk->tree;
    int first = rs_node_child(tree, node, 0), last = rs_node_last(tree, node);
    if (first < 0 || walk->program->language != RS_LANGUAGE_CUDA)
        return false;
    if (tree->nodes[node].is == RS_NODE_CONDITIONAL && rs_node_child_count(tree, node) == 3) {
        *place = locate_either(walk, node);
    } else if (rs_node_is_binary(tree, node, ",")) {
        (void)rs_walk_evaluate(walk, first);
        *place = rs_walk_locate(walk, last);
    } else if (rs_node_is_assignment(tree, node) && !rs_node_is_postfix(tree, node)) {
        (void)rs_walk_evaluate(walk, node);
        *place = rs_walk_locate(walk, first);
    } else if (is_reference_cast(tree, node, last)) {
        *place = locate_cast(walk, node, last);
    } else {
        return false;
    }
    return true;
}

bool rs_walk_is_component(const rs_walk *walk, int node)
{
    const rs_tree *tree = walk->tree;
    int child = rs_node_child(tree, node, 0);
    if (tree->nodes[node].is != RS_NODE_IMPLICIT || child < 0 || tree->nodes[child].next >= 0)
        return false;
    size_t at = tree->nodes[child].end;
    while (at < tree->nodes[node].end && (tree->text[at] == ' ' || tree->text[at] == '\n'))
        at++;
    return at < tree->nodes[node].end &&
           (tree->text[at] == '.' || strncmp(tree->text + at, "->", 2) == 0);
}

rs_location rs_walk_locate(rs_walk *walk, int node)
{
    node = rs_node_inner(walk->tree, node);
    if (node < 0 || walk->exhausted || walk->no_memory)
        return rs_place_none(walk);
    switch ((int)walk->tree->nodes[node].is) {
    case RS_NODE_REFERENCE:
        return locate_name(walk, node);
    case RS_NODE_SUBSCRIPT:
        return locate_element(walk, node);
    case RS_NODE_MEMBER:
        return locate_member(walk, node);
    case RS_NODE_UNARY:
        if (rs_node_is_unary(walk->tree, node, "*"))
            return locate_target(walk, node);
        break;
    case RS_NODE_CALL:
        if (rs_walk_gives_place(walk, node)) {
            rs_value value = rs_walk_call(walk, node);
            rs_location given = at_address(walk, &value);
            if (given.kind == RS_PLACE_NONE)
                given.address = value;
            return given;
        }
        break;
    default:
        break;
    }
    rs_location place = rs_place_none(walk);
    if (rs_walk_is_component(walk, node))
        return locate_member(walk, node);
    if (locate_result(walk, node, &place))
        return place;
    place.address = rs_walk_evaluate(walk, node);
    place.address.data = true;
    return place;
}
