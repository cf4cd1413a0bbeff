/* The arrays of a unit, and what a variable is that was not met before: one, or a parameter. */
#include "analyze/walk.h"
#include "source/query.h"

#include <stdlib.h>
#include <string.h>

static rs_space space_of(const rs_syntax_type *type)
{
    return type->space == RS_SYNTAX_SPACE_SHARED     ? RS_SPACE_LOCAL
           : type->space == RS_SYNTAX_SPACE_CONSTANT ? RS_SPACE_CONSTANT
           : type->space == RS_SYNTAX_SPACE_PRIVATE  ? RS_SPACE_PRIVATE
                                                     : RS_SPACE_GLOBAL;
}

/* The type of the elements, and the declared extents. */
static const rs_syntax_type *element_type(const rs_syntax_type *type,
                                          int64_t extents[RS_SUBSCRIPT_LIMIT], int *dimensions)
{
    *dimensions = 0;
    while (rs_type_is_address(type)) {
        int64_t extent = type->count > 0 && type->kind == RS_TYPE_ARRAY ? type->count : 0;
        if (*dimensions < RS_SUBSCRIPT_LIMIT)
            extents[(*dimensions)++] = extent;
        type = rs_type_below(type);
    }
    return type;
}

/* "float4" instead of clang's "float __attribute__((ext_vector_type(4)))"; the caller frees. */
static char *type_name(const rs_syntax_type *type)
{
    bool vector = type->kind == RS_TYPE_VECTOR;
    rs_text name = RS_TEXT_EMPTY;
    rs_text_add_string(&name, (vector ? rs_type_below(type) : type)->plain->name);
    if (vector)
        rs_text_format(&name, "%lld", type->count);
    return rs_text_take(&name);
}

static int find_array(const rs_unit *unit, const char *name, uint64_t key)
{
    for (int i = 0; i < unit->array_count; i++)
        if (unit->arrays[i].key == key && strcmp(unit->arrays[i].name, name) == 0)
            return i;
    return -1;
}

rs_value rs_walk_array(rs_walk *walk, const char *name, uint64_t key, const rs_syntax_type *type)
{
    rs_value value = rs_value_unknown(0, false);
    int found = find_array(walk->unit, name, key);
    if (found < 0) {
        rs_array *array = rs_unit_add_array(walk->unit, name);
        if (array == NULL) {
            walk->no_memory = true;
            return value;
        }
        found = walk->unit->array_count - 1;
        const rs_syntax_type *element = element_type(type, array->extents, &array->dimensions);
        int64_t size = rs_type_bytes(element);
        array->vector = element->kind == RS_TYPE_VECTOR;
        array->type = type_name(element);
        array->element = size > 0 ? size : 0;
        array->space = space_of(element);
        array->key = key;
        array->memory = array->owner = key;
        array->pitch = rs_type_pitch(type);
        array->scope = -1;
    }
    value.kind = RS_VALUE_ADDRESS;
    value.array = found;
    return value;
}

static void place_array(rs_walk *walk, int array, const rs_syntax_declaration *declared)
{
    rs_array *a = &walk->unit->arrays[array];
    bool parameter = rs_is_declared(declared, RS_DECLARATION_PARAMETER);
    a->argument = parameter;
    const rs_syntax_type *type = rs_declared_type(declared);
    if (type->kind == RS_TYPE_ARRAY && !parameter)
        a->space = space_of(type); /* the array's own, which its elements do not tell */
    bool shared = rs_variable_is_shared(declared);
    if (shared && declared->is_extern)
        a->memory = a->owner = rs_name_key("extern __shared__"); /* all begin at one address */
    if (shared)
        a->space = RS_SPACE_LOCAL;
    else if (declared->space == RS_SYNTAX_SPACE_CONSTANT)
        a->space = RS_SPACE_CONSTANT;
    else if (a->space == RS_SPACE_GLOBAL && walk->unit->kernel && !parameter &&
             !declared->is_global)
        a->space = RS_SPACE_PRIVATE;
    a->filled = declared->is_initialized || !(parameter || declared->is_global);
    a->scope = parameter || declared->is_static || declared->is_global ? -1 : walk->loop;
}

rs_value rs_walk_fixed(rs_walk *walk, const char *name, uint64_t key, const rs_syntax_type *type)
{
    int symbol = rs_symbols_find_keyed(&walk->unit->symbols, name, RS_SYMBOL_PARAMETER, key);
    if (symbol < 0)
        return rs_value_unknown(0, false);
    walk->unit->symbols.symbols[symbol].natural = rs_type_is_unsigned(type);
    return rs_value_number(rs_polynomial_symbol(symbol));
}

/* A variable that was not met before: an array, or a parameter of the analysis. */
static rs_value first_use(rs_walk *walk, const rs_syntax_declaration *declared, uint64_t key,
                          const char *name)
{
    const rs_syntax_type *type = rs_declared_type(declared);
    if (type->kind == RS_TYPE_REFERENCE)
        type = rs_type_below(type);
    if (rs_type_is_address(type)) {
        int known = walk->unit->array_count;
        rs_value value = rs_walk_array(walk, name, key, type);
        if (walk->unit->array_count > known)
            place_array(walk, known, declared);
        if (value.kind == RS_VALUE_ADDRESS)
            rs_value_decay(&value, type);
        return value;
    }
    if (!rs_type_is_integer(type) && type->kind != RS_TYPE_ENUM && !type->is_dependent)
        return rs_value_unknown(0, false);
    if (declared->value.kind == RS_CONSTANT_INTEGER)
        return rs_value_constant(declared->value.integer);
    /* A variable of a function's own whose declaration was not met: in a condition, or auto [n, m].
     */
    bool overlooked = declared->kind == RS_DECLARATION_UNKNOWN ||
                      (declared->kind == RS_DECLARATION_VARIABLE && !rs_variable_lasts(declared)),
         clobbered = rs_walk_is_clobbered(walk, key);
    if (overlooked || clobbered)
        return rs_value_number(rs_walk_auxiliary(
            walk, name, clobbered ? rs_walk_clobbered_varies(walk, key) : rs_walk_anything(walk),
            true, true));
    return rs_walk_fixed(walk, name, key, type);
}

/* Makes a reference that is a parameter what a pointer would be: the address of an element. */
static void bind_parameter(rs_walk *walk, const rs_syntax_declaration *declared)
{
    const rs_syntax_type *type = rs_declared_type(declared);
    const rs_syntax_type *target = rs_type_below(type);
    uint64_t key = rs_declared_key(declared);
    if (!rs_type_is_address(target)) {
        rs_value value = rs_walk_array(walk, declared->name, key, target);
        if (value.kind == RS_VALUE_ADDRESS) {
            place_array(walk, value.array, declared);
            walk->unit->arrays[value.array].pitch = rs_type_pitch(type);
            rs_value_decay(&value, type);
            rs_walk_set(walk, key, &value);
        }
    }
}

void rs_walk_bind_references(rs_walk *walk, int function)
{
    RS_EACH_CHILD(child, walk->tree, function) {
        const rs_node *node = &walk->tree->nodes[child];
        if (node->is == RS_NODE_PARAMETER && node->type->kind == RS_TYPE_REFERENCE)
            bind_parameter(walk, node->declaration);
    }
}

rs_value rs_walk_declare(rs_walk *walk, const rs_syntax_declaration *declared)
{
    return first_use(walk, declared, rs_declared_key(declared), declared->name);
}
