/* What is read and written at a place. */
#include "analyze/walk.h"
#include "source/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REFERENCE_LIMIT = 20000 };

bool rs_type_may_hold_index(const rs_syntax_type *type)
{
    bool vector = type->kind == RS_TYPE_VECTOR;
    const rs_syntax_type *element = vector ? rs_type_below(type) : type;
    return element->kind != RS_TYPE_FLOAT && element->kind != RS_TYPE_POINTER;
}

rs_reference *rs_walk_refer(rs_walk *walk, const rs_value *address, int node,
                            const rs_syntax_type *type)
{
    if (walk->unit->reference_count >= REFERENCE_LIMIT)
        walk->exhausted = true;
    rs_reference *r = walk->exhausted ? NULL : rs_unit_add_reference(walk->unit);
    if (r == NULL) {
        walk->no_memory = walk->no_memory || !walk->exhausted;
        return NULL;
    }
    int64_t size = rs_type_bytes(type);
    r->array = address->array;
    r->line = rs_walk_line(walk, node);
    r->offset = walk->tree->nodes[node].begin;
    r->count = address->count;
    for (int i = 0; i < address->count; i++)
        r->subscripts[i] = rs_walk_fold(walk, &address->subscripts[i]);
    r->member = address->member[0] != '\0' ? strdup(address->member) : NULL;
    r->member_offset = address->member_offset;
    r->width = address->width > 0 ? address->width : size > 0 ? size : 0;
    r->components = address->components;
    memcpy(r->strides, address->strides, sizeof r->strides);
    r->path = address->path;
    r->pointers = address->pointers;
    r->loose = address->loose;
    r->loop = walk->loop;
    r->order = walk->order++;
    r->stored = (int)rs_stored_of(type);
    rs_walk_guard(walk, r);
    r->approximated = address->approximated;
    r->understood = !address->lost;
    r->anywhere = address->lost;
    r->text = strdup(rs_walk_text(walk, node).text);
    rs_array *array = &walk->unit->arrays[address->array];
    if (address->count > array->dimensions)
        array->dimensions = address->count;
    return r;
}

/* A pointer that is itself a member: the array it points to has the name of the path. */
static rs_value pointed_array(rs_walk *walk, const rs_value *address, const rs_syntax_type *type)
{
    const rs_array *owner = &walk->unit->arrays[address->array];
    rs_text name = RS_TEXT_EMPTY;
    bool many = false;
    for (int i = 0; i < address->count; i++)
        many = many || !rs_polynomial_is_zero(&address->subscripts[i]);
    rs_text_format(&name, "%s%s%s", owner->name, many ? "[]." : "->", address->member);
    uint64_t key = owner->key ^ (rs_name_hash(address->member) << 32), memory = owner->memory;
    rs_value value =
        name.failed ? rs_value_unknown(0, true) : rs_walk_array(walk, name.data, key, type);
    rs_text_free(&name);
    if (value.kind != RS_VALUE_ADDRESS)
        return value;
    rs_array *array = &walk->unit->arrays[value.array];
    array->owner = memory;
    array->pointer = address->member_offset;
    array->memory = (memory ^ (uint64_t)(address->member_offset + 1) << 48) * 1099511628211u;
    for (int i = 0; many && i < address->count; i++)
        value.subscripts[value.count++] = address->subscripts[i];
    value.lost = address->lost || rs_walk_pointer_changes(walk, address);
    value.approximated = address->approximated;
    rs_value_follow(&value, type);
    return value;
}

/* A symbol by its name, the array and what may have been stored since: never 0. */
static uint64_t loaded_key(const rs_walk *walk, const char *name, int array)
{
    rs_text text = RS_TEXT_EMPTY;
    rs_text_format(&text, "%s %d %ld", name, array, walk->stores);
    uint64_t key = text.failed ? 1 : rs_name_hash(text.data);
    rs_text_free(&text);
    return key | 1;
}

uint64_t rs_walk_load_varies(rs_walk *walk, const rs_value *address)
{
    const rs_array *array = &walk->unit->arrays[address->array];
    bool own = array->space == RS_SPACE_PRIVATE || (array->own && array->written);
    bool others = walk->unit->kernel && (array->space == RS_SPACE_LOCAL ||
                                         rs_walk_array_is_clobbered(walk, address->array));
    /* What a loaded pointer leads to, or one of several arrays, may be in another space. */
    bool group = array->space == RS_SPACE_LOCAL && array->mixed == 0 && !address->lost &&
                 address->pointers == 0 && address->path == 0;
    rs_walk_note_loaded(walk, address->array);
    uint64_t varies = rs_value_depends(walk, address) | (own ? rs_walk_lane(walk) : 0) |
                      rs_walk_stored_around(walk, address->array);
    if (address->lost || others)
        varies |= group ? rs_walk_varies_in_group(walk, array->memory) : rs_walk_anything(walk);
    return varies;
}

/* The symbol of a loaded number: the same for the same element until something is stored. */
static rs_value loaded_number(rs_walk *walk, const rs_value *address)
{
    rs_text name = RS_TEXT_EMPTY;
    rs_text_add_string(&name, walk->unit->arrays[address->array].name);
    for (int i = 0; i < address->count; i++) {
        rs_polynomial folded = rs_walk_fold(walk, &address->subscripts[i]);
        rs_text_add_string(&name, "[");
        rs_polynomial_print(&name, &folded, &walk->unit->symbols);
        rs_text_add_string(&name, "]");
    }
    if (address->member[0] != '\0')
        rs_text_format(&name, ".%s", address->member);
    bool exact = !name.failed && name.size < 100;
    uint64_t depends = rs_walk_load_varies(walk, address);
    rs_symbols *symbols = &walk->unit->symbols;
    int symbol = !exact ? -1
                        : rs_symbols_find_keyed(symbols, name.data, RS_SYMBOL_AUXILIARY,
                                                loaded_key(walk, name.data, address->array));
    rs_text_free(&name);
    if (symbol < 0)
        return rs_value_number(rs_walk_auxiliary(walk, "loaded", depends, true, true));
    symbols->symbols[symbol].depends |= depends;
    symbols->symbols[symbol].data = true;
    return rs_value_number(rs_polynomial_symbol(symbol));
}

/* Whether an expression is a member of "this", or one of a member of it. */
static bool is_own(const rs_tree *tree, int node)
{
    while (node >= 0 && tree->nodes[node].first >= 0)
        node = tree->nodes[node].first;
    return node >= 0 &&
           (tree->nodes[node].is == RS_NODE_MEMBER || tree->nodes[node].is == RS_NODE_THIS);
}

bool rs_walk_was_filled(const rs_walk *walk, int node)
{
    const rs_tree *tree = walk->tree;
    if (is_own(tree, node))
        return walk->self_filled;
    while (node >= 0 && tree->nodes[node].is != RS_NODE_REFERENCE)
        node = tree->nodes[node].first;
    if (node < 0)
        return true;
    const rs_syntax_declaration *declared = tree->nodes[node].declaration;
    bool given =
        rs_is_declared(declared, RS_DECLARATION_PARAMETER) ? walk->depth <= 1 : declared->is_global;
    return !given || declared->is_initialized;
}

/* The nearest variable that a member is one of and that was assigned as a whole; -1: none was. */
int rs_walk_assigned_whole(const rs_walk *walk, uint64_t key)
{
    int known = -1;
    for (uint64_t whole = rs_walk_whole(walk, key); whole != 0 && known < 0;
         whole = rs_walk_whole(walk, whole))
        known = rs_walk_find(walk, whole);
    return known;
}

/* A key for what a variable held between two assignments. */
static uint64_t key_of_value(uint64_t key, int value)
{
    return (key + (uint64_t)(value + 1) * 0x9e3779b97f4a7c15u) | 1;
}

/* The array that a member is, or what a member points to. */
static rs_value array_of(rs_walk *walk, const char *name, uint64_t key, int node,
                         const rs_syntax_type *type)
{
    rs_value value = rs_walk_array(walk, name, key, type);
    if (value.kind != RS_VALUE_ADDRESS)
        return value;
    rs_value_decay(&value, type);
    if (type->kind == RS_TYPE_ARRAY && walk->unit->kernel) {
        rs_array *array = &walk->unit->arrays[value.array];
        array->own = true;
        if (rs_walk_was_filled(walk, node))
            array->space = RS_SPACE_PRIVATE;
    }
    return value;
}

/* A member as it is written, one of "this" behind the object's name; the caller frees. */
static char *member_text(const rs_walk *walk, int node)
{
    char *text = rs_walk_source(walk, node);
    if (text == NULL || walk->self_name[0] == '\0' || !is_own(walk->tree, node))
        return text;
    rs_text name = RS_TEXT_EMPTY;
    const char *rest = strncmp(text, "this->", 6) == 0 ? text + 6 : text;
    rs_text_format(&name, "%s.%s", walk->self_name, rest);
    free(text);
    return rs_text_take(&name);
}

/* Whether a member is one of threadIdx and the like, which a reference or a copy may lead to. */
static bool is_thread_part(rs_walk *walk, uint64_t key, rs_value *value)
{
    for (int i = 0; i < walk->member_count; i++)
        if (walk->members[i].key == key)
            return rs_walk_thread_copy(walk, walk->members[i].whole, walk->members[i].name, value);
    return false;
}

/* A member of a variable of which nothing was assigned yet. */
static rs_value untouched(rs_walk *walk, const rs_location *place, int node,
                          const rs_syntax_type *type)
{
    rs_value value = rs_value_unknown(0, false);
    if (is_thread_part(walk, place->key, &value))
        return value;
    char *text = member_text(walk, node);
    bool integer = rs_type_is_integer(type);
    if (text == NULL)
        walk->no_memory = true;
    else if (rs_type_is_address(type))
        value = array_of(walk, text, place->key, node, type);
    else if (integer && rs_walk_is_clobbered(walk, place->key))
        value = rs_value_number(
            rs_walk_auxiliary(walk, text, rs_walk_clobbered_varies(walk, place->key), true, true));
    else if (integer)
        value = rs_walk_fixed(walk, text, place->key, type);
    free(text);
    value.lost = type->kind == RS_TYPE_POINTER && rs_walk_was_filled(walk, node);
    return value;
}

/* Adds "m.n" of a member of the nearest variable that was assigned as a whole; gives its offset. */
static int64_t add_path(const rs_walk *walk, rs_text *path, uint64_t key)
{
    for (int i = 0; i < walk->member_count; i++) {
        const rs_variable_member *member = &walk->members[i];
        if (member->key != key)
            continue;
        int64_t offset = member->offset;
        if (rs_walk_find(walk, member->whole) < 0)
            offset += add_path(walk, path, member->whole);
        rs_text_format(path, "%s%s", path->size > 0 ? "." : "", member->name);
        return offset;
    }
    return 0;
}

/* What was a member of the element that a record was loaded from. */
static rs_value part_of_element(rs_walk *walk, const rs_value *record, const char *path,
                                int64_t offset, const rs_syntax_type *type)
{
    rs_value address = *record;
    address.kind = RS_VALUE_ADDRESS;
    address.member_offset += offset;
    size_t used = strlen(address.member);
    snprintf(address.member + used, sizeof address.member - used, "%s%s", used > 0 ? "." : "",
             path);
    if (type->kind == RS_TYPE_POINTER)
        return pointed_array(walk, &address, type);
    return walk->stores == record->stores
               ? loaded_number(walk, &address)
               : rs_value_number(
                     rs_walk_auxiliary(walk, path, rs_value_depends(walk, record), true, true));
}

/* The same of a variable that a record was copied from and that was not assigned before that. */
static rs_value part_of_copied(rs_walk *walk, const rs_value *record, const char *path, int node,
                               const rs_syntax_type *type)
{
    rs_location source = rs_place_variable(record->key);
    char *names = strdup(path), *rest;
    if (names == NULL)
        walk->no_memory = true;
    for (char *name = names == NULL ? NULL : strtok_r(names, ".", &rest); name != NULL;
         name = strtok_r(NULL, ".", &rest))
        source.key = rs_walk_member(walk, source.key, name, 0);
    free(names);
    rs_value thread;
    if (is_thread_part(walk, source.key, &thread))
        return thread;
    int initial = rs_walk_find_initial(walk, source.key);
    if (initial >= 0)
        return walk->values[initial];
    if (rs_walk_assigned_whole(walk, source.key) >= 0 || rs_walk_find(walk, source.key) >= 0)
        return type->kind == RS_TYPE_POINTER ? rs_place_lost(walk, node).address
                                             : rs_value_unknown(0, true);
    rs_value value = untouched(walk, &source, node, type);
    rs_walk_set_initial(walk, source.key, &value);
    rs_walk_set(walk, source.key, &value);
    return value;
}

static rs_value part_by_kind(rs_walk *walk, int whole, const rs_location *place, int node,
                             const rs_syntax_type *type)
{
    rs_value record = walk->values[whole];
    uint64_t depends = rs_value_depends(walk, &record);
    bool integer = rs_type_is_integer(type);
    bool pointer = type->kind == RS_TYPE_POINTER, array = type->kind == RS_TYPE_ARRAY;
    bool fixed = depends == 0 && record.carried_loop < 0;
    bool copied = record.kind == RS_VALUE_RECORD && record.carried_loop < 0;
    rs_value value = rs_value_unknown(depends, record.data);
    rs_text path = RS_TEXT_EMPTY;
    int64_t offset = add_path(walk, &path, place->key);
    char *text = member_text(walk, node);
    if (text == NULL || path.failed || path.data == NULL)
        walk->no_memory = true;
    else if (copied && record.array >= 0 && (integer || pointer))
        value = part_of_element(walk, &record, path.data, offset, type);
    else if (copied && record.untouched && record.array < 0 && (integer || pointer))
        value = part_of_copied(walk, &record, path.data, node, type);
    else if (array)
        value = array_of(walk, text, place->key, node, type);
    else if (pointer)
        value = fixed && !copied ? array_of(walk, text, key_of_value(place->key, whole), node, type)
                                 : rs_place_lost(walk, node).address;
    else if (integer && fixed && !record.data)
        value = rs_walk_fixed(walk, text, key_of_value(place->key, whole), type);
    else if (integer)
        value = rs_value_number(rs_walk_auxiliary(walk, text, depends, record.data, true));
    rs_text_free(&path);
    free(text);
    value.lost = value.lost || (pointer && !copied && rs_walk_was_filled(walk, node));
    return value;
}

/* A member of a variable that was assigned as a whole. */
static rs_value part_of(rs_walk *walk, int whole, const rs_location *place, int node,
                        const rs_syntax_type *type)
{
    rs_value value = part_by_kind(walk, whole, place, node, type);
    value.depends |= rs_value_depends(walk, &walk->values[whole]);
    rs_value_carry(&value, &walk->values[whole]);
    return value;
}

/* Whether an expression is the name of the variable with a key, and not of a reference to it. */
static bool names(const rs_walk *walk, int node, uint64_t key)
{
    node = rs_node_inner(walk->tree, node);
    return node >= 0 && walk->tree->nodes[node].is == RS_NODE_REFERENCE &&
           rs_declared_key(walk->tree->nodes[node].declaration) == key;
}

rs_value rs_walk_load_variable(rs_walk *walk, const rs_location *place, int node,
                               const rs_syntax_type *type)
{
    int known = rs_walk_find(walk, place->key);
    int whole = known >= 0 ? -1 : rs_walk_assigned_whole(walk, place->key);
    if (known < 0 && names(walk, node, place->key))
        return rs_walk_variable(walk, node);
    if (known < 0) {
        rs_value value = whole >= 0 ? part_of(walk, whole, place, node, type)
                                    : untouched(walk, place, node, type);
        if (type->kind == RS_TYPE_ARRAY)
            return value; /* it is memory, and has no value of its own */
        known = rs_walk_keep(walk, &value);
        if (whole < 0)
            rs_walk_set_initial(walk, place->key, &value);
        if (!walk->exhausted && !place->part)
            rs_walk_set(walk, place->key, &value);
    }
    if (walk->values[known].carried_loop >= 0)
        rs_walk_read_carried(walk, known, rs_walk_text(walk, node).text, false);
    rs_value value = rs_walk_settled(walk, place->key, known);
    value.carried_loop = -1;
    if (place->part || rs_type_is_record(type))
        value = rs_value_copy_of(walk, &value, place->key);
    if (place->part && value.kind != RS_VALUE_UNKNOWN) /* its bytes have another meaning */
        value = rs_value_unknown(rs_value_depends(walk, &value), true);
    return rs_walk_view(walk, &value, type);
}

/* A load from a place that nobody knows may be one of any variable that it could be. */
static void read_reachable(rs_walk *walk, const rs_syntax_type *type)
{
    rs_stored stored = rs_stored_of(type);
    for (int i = 0; i < 2 * walk->escaped->count;
         i++) { /* first those of functions, for the name */
        const rs_escaped *e = &walk->escaped->list[i % walk->escaped->count];
        bool lasting = i >= walk->escaped->count;
        int known = e->lasts == lasting && (lasting || rs_walk_has(walk, e->key))
                        ? rs_walk_find(walk, e->key)
                        : -1;
        if (known < 0 || walk->values[known].carried_loop < 0 ||
            !rs_stored_may_change(stored, e->type))
            continue;
        rs_walk_read_perhaps(walk, known, rs_walk_text(walk, e->node).text);
    }
}

/* Whether others may change what an expression names at any time: it is volatile, and no variable
 * of the function's own that nothing else leads to. */
static bool is_volatile(const rs_walk *walk, int node)
{
    if (!rs_type_of(walk->tree, node)->is_volatile)
        return false;
    int root = rs_root_name(walk->tree, node);
    const rs_syntax_declaration *declared = root < 0 ? NULL : walk->tree->nodes[root].declaration;
    if (root < 0 || rs_variable_lasts(declared) ||
        rs_declared_type(declared)->kind == RS_TYPE_REFERENCE)
        return true;
    uint64_t key = rs_declared_key(declared);
    for (int i = 0; i < walk->escaped->count; i++)
        if (walk->escaped->list[i].key == key)
            return true;
    for (int i = 0; i < walk->common->count; i++)
        if (walk->common->list[i].key == key)
            return true;
    return false;
}

rs_value rs_walk_steady(rs_walk *walk, const rs_value *value, int node)
{
    const rs_syntax_type *type = rs_type_of(walk->tree, node);
    if (type->kind == RS_TYPE_ARRAY || !is_volatile(walk, node))
        return *value;
    bool integer = rs_type_is_integer(type);
    rs_value result = rs_value_unknown(rs_walk_anything(walk), true);
    walk->stores++; /* of others, which come to light */
    if (value->kind == RS_VALUE_ADDRESS) {
        result = *value;
        result.lost = true;
    } else if (value->kind == RS_VALUE_POINTER) {
        result = rs_value_pointer(0);
    } else if (integer) {
        result = rs_value_number(rs_walk_auxiliary(walk, "volatile", result.depends, true, true));
    }
    result.approximated = true;
    return result;
}

static rs_value load(rs_walk *walk, const rs_location *place, int node)
{
    const rs_syntax_type *type = rs_type_of(walk->tree, node);
    bool some = place->address.kind == RS_VALUE_POINTER && type->kind != RS_TYPE_POINTER;
    if (place->kind == RS_PLACE_MEMORY ? place->address.lost || place->address.pointers > 0
                                       : place->kind == RS_PLACE_NONE && some)
        read_reachable(walk, type);
    if (place->kind == RS_PLACE_NONE)
        return some ? rs_place_none(walk).address : place->address;
    if (place->kind == RS_PLACE_VARIABLE)
        return rs_walk_load_variable(walk, place, node, type);
    rs_value address = place->address;
    if (type->kind == RS_TYPE_ARRAY) {
        rs_value_decay(&address, type);
        return address;
    }
    rs_reference *reference = rs_walk_refer(walk, &address, node, type);
    if (reference == NULL)
        return rs_value_unknown(0, true);
    reference->read = true;
    reference->loads_pointer = type->kind == RS_TYPE_POINTER;
    if (type->kind == RS_TYPE_POINTER && address.member[0] != '\0')
        return pointed_array(walk, &address, type);
    if (type->kind == RS_TYPE_POINTER) {
        address.lost = address.lost || rs_walk_pointer_changes(walk, &address);
        rs_value_follow(&address, type);
        return address;
    }
    walk->unit->arrays[address.array].read = true;
    bool integer = rs_type_is_integer(type) || type->kind == RS_TYPE_ENUM;
    if (integer)
        return loaded_number(walk, &address);
    if (!rs_type_is_record(type) || address.lost)
        return rs_value_unknown(rs_walk_load_varies(walk, &address), true);
    address.depends = rs_walk_load_varies(walk, &address);
    address.kind = RS_VALUE_RECORD;
    address.key = 0;
    address.data = true;
    address.stores = walk->stores;
    return address;
}

rs_value rs_walk_load(rs_walk *walk, const rs_location *place, int node)
{
    rs_value value = load(walk, place, node);
    return rs_walk_steady(walk, &value, node);
}
