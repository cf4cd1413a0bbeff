/* What names, members and subscripts are: memory of arguments, and variables of the thread. */
#include "facts/walk.h"

#include <string.h>

static long long size_of(const rs_syntax_type *type)
{
    return type == NULL || type->size < 0 ? 0 : type->size;
}

static bool is_composed(const rs_syntax_type *type)
{
    return type != NULL && (type->kind == RS_TYPE_ARRAY || type->kind == RS_TYPE_RECORD ||
                            type->kind == RS_TYPE_VECTOR);
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

static rs_fact_value local_of(const void *variable, bool is_memory)
{
    rs_fact_value value = rs_fact_other();
    value.kind = RS_FACT_LOCAL;
    value.local = variable;
    value.is_memory = is_memory;
    return value;
}

rs_fact_value rs_fact_reference(rs_fact_walk *walk, const rs_syntax_node *node)
{
    const rs_syntax_declaration *of = node->declaration;
    const rs_fact_value *bound = rs_fact_find(walk, of);
    /* All threads of a group see one variable of a group, or of the file. */
    if (of->kind == RS_DECLARATION_VARIABLE &&
        (of->space == RS_SYNTAX_SPACE_SHARED || of->space == RS_SYNTAX_SPACE_CONSTANT ||
         of->space == RS_SYNTAX_SPACE_GLOBAL || of->parent == NULL || of->is_static))
        return rs_fact_number(rs_form_uniform());
    if ((bound == NULL || bound->kind == RS_FACT_OTHER) && of->kind == RS_DECLARATION_VARIABLE &&
        is_composed(of->type))
        return local_of(of, true);
    if (bound == NULL)
        return rs_fact_other();
    rs_fact_value value = *bound;
    if (value.kind == RS_FACT_ELEMENT)
        value.is_memory =
            value.is_copy || (of->type != NULL && of->type->kind == RS_TYPE_REFERENCE);
    if (value.kind == RS_FACT_LOCAL)
        value.is_memory =
            of->type != NULL && (is_composed(of->type) || of->type->kind == RS_TYPE_REFERENCE);
    return value;
}

/* --- members --- */

rs_fact_value rs_fact_member(rs_fact_walk *walk, const rs_syntax_node *node)
{
    rs_fact_value value;
    if (read_builtin(node, &value))
        return value;
    value = rs_fact_expression(walk, node->children[0]);
    const rs_syntax_declaration *field = node->declaration;
    if (value.kind == RS_FACT_NUMBER)
        return value;
    if (value.kind == RS_FACT_OTHER || field == NULL || field->bit_offset < 0)
        return rs_fact_other();
    if (value.kind == RS_FACT_ELEMENT || value.offset != RS_SOMEWHERE)
        value.offset += field->bit_offset / 8;
    value.is_memory = true;
    value.is_inner = false;
    return value;
}

/* The number that a vector's `x` or `sa` has; -1: another one, or several. */
static int lane_of(const char *text)
{
    static const char letters[] = "xyzw", digits[] = "0123456789abcdefABCDEF";
    const bool is_digit = text != NULL && (text[0] == 's' || text[0] == 'S');
    const char *of = is_digit ? digits : letters, *letter = text == NULL ? NULL : text + is_digit;
    const char *found =
        letter == NULL || letter[0] == '\0' || letter[1] != '\0' ? NULL : strchr(of, letter[0]);
    const int lane = found == NULL ? -1 : (int)(found - of);
    return lane > 15 ? lane - 6 : lane;
}

rs_fact_value rs_fact_swizzle(rs_fact_walk *walk, const rs_syntax_node *node)
{
    rs_fact_value value = rs_fact_expression(walk, node->children[0]);
    const int lane = lane_of(node->text);
    const long long size = size_of(node->type);
    if (value.kind == RS_FACT_NUMBER)
        return value;
    if (value.kind == RS_FACT_LOCAL) {
        value.offset =
            lane >= 0 && value.offset != RS_SOMEWHERE ? value.offset + lane * size : RS_SOMEWHERE;
    } else if (value.kind == RS_FACT_ELEMENT && lane >= 0) {
        value.offset += lane * size;
    }
    value.is_memory = value.kind != RS_FACT_OTHER;
    return value;
}

/* --- subscripts --- */

/* Whether a constant step stays in the element; then *offset is where it leads to. */
static bool stays_inside(const rs_fact_value *pointer, const rs_fact_form *by, long long size,
                         long long element, long long *offset)
{
    return rs_form_is_constant(by) && !__builtin_mul_overflow(by->constant, size, offset) &&
           !__builtin_add_overflow(*offset, pointer->offset, offset) && *offset >= 0 &&
           *offset < element;
}

static void note_inner(rs_fact_value *pointer, const rs_fact_form *by, long long span)
{
    pointer->span = span;
    pointer->is_inner_lane |= !rs_form_is_uniform(by);
    for (int i = 0; i < RS_FORM_LOOPS; i++)
        if (by->steps[i] != 0 && by->loops[i] >= 0 && by->loops[i] < 64)
            pointer->inner_loops |= 1ull << (unsigned)by->loops[i];
}

/* By parts of an element, of which it has a whole number, or by several elements at once. */
static bool step_parts(rs_fact_value *pointer, rs_fact_form by, long long size, long long element)
{
    if (size <= 0 || element <= 0 || pointer->offset % size != 0 ||
        (size % element != 0 && element % size != 0))
        return false;
    if (size > element) {
        by = rs_form_combine("*", by, rs_form_constant(size / element));
        pointer->form = rs_form_add(pointer->form, by);
        return true;
    }
    const rs_fact_form parts = rs_form_constant(element / size);
    by = rs_form_add(by, rs_form_constant(pointer->offset / size));
    const rs_fact_form inner = rs_form_combine("%", by, parts);
    pointer->form = rs_form_add(pointer->form, rs_form_combine("/", by, parts));
    pointer->offset = rs_form_is_constant(&inner) ? inner.constant * size : 0;
    if (!rs_form_is_constant(&inner))
        note_inner(pointer, &inner, element);
    return true;
}

rs_fact_value rs_fact_step(rs_fact_walk *walk, rs_fact_value pointer, rs_fact_form by,
                           const rs_syntax_type *thing, rs_syntax_range range)
{
    if (pointer.kind == RS_FACT_NUMBER)
        return rs_form_is_uniform(&by) ? pointer : rs_fact_number(rs_form_data());
    if (pointer.kind == RS_FACT_LOCAL) {
        const bool is_known = rs_form_is_constant(&by) && pointer.offset != RS_SOMEWHERE;
        pointer.offset = is_known ? pointer.offset + by.constant * size_of(thing) : RS_SOMEWHERE;
        pointer.is_inner_lane |= !rs_form_is_uniform(&by);
        return pointer;
    }
    if (pointer.kind != RS_FACT_ELEMENT)
        return rs_fact_other();
    const rs_syntax_declaration *parameter = walk->facts->kernel->parameters[pointer.parameter];
    const long long element = size_of(parameter->type->of), size = size_of(thing);
    long long offset;
    if (!pointer.is_inner && pointer.offset == 0 && size == element) {
        pointer.form = rs_form_add(pointer.form, by);
    } else if (stays_inside(&pointer, &by, size, element, &offset)) {
        pointer.offset = offset;
    } else if (pointer.is_inner) {
        note_inner(&pointer, &by, element - pointer.offset);
    } else if (!step_parts(&pointer, by, size, element)) {
        rs_fact_miss(walk, &pointer, "a pointer to a part of an element", range);
        return rs_fact_other();
    }
    return pointer;
}

rs_fact_value rs_fact_subscript(rs_fact_walk *walk, const rs_syntax_node *node)
{
    rs_fact_value base = rs_fact_expression(walk, node->children[0]);
    const rs_fact_value index = rs_fact_expression(walk, node->children[1]);
    if (base.kind == RS_FACT_OTHER)
        return base;
    const long long span = node->children[0]->kind == RS_NODE_IMPLICIT &&
                                   node->children[0]->conversion == RS_CONVERSION_DECAY
                               ? size_of(node->children[0]->children[0]->type)
                               : 0;
    const long long outer = base.span; /* that an array around this one may reach already */
    base = rs_fact_step(walk, base, rs_fact_form_of(&index), node->type, node->range);
    if (base.span > outer && base.span > span && span > 0)
        base.span = span > outer ? span : outer;
    base.is_memory = base.kind == RS_FACT_ELEMENT || base.kind == RS_FACT_LOCAL;
    base.is_inner = false;
    return base;
}

rs_fact_value rs_fact_load(rs_fact_walk *walk, rs_fact_value place, const rs_syntax_node *node)
{
    if (place.kind == RS_FACT_LOCAL && place.is_memory && !is_composed(node->type))
        return rs_fact_read_local(walk, &place);
    if (place.kind != RS_FACT_ELEMENT || !place.is_memory)
        return place;
    if (node->type != NULL && node->type->kind == RS_TYPE_RECORD) {
        rs_fact_touch(walk, &place, size_of(node->type), false, false, false, node->range);
        place.is_copy = true; /* what is used of it counts */
        return place;
    }
    rs_fact_touch(walk, &place, size_of(node->type), true, false, false, node->range);
    return rs_fact_number(rs_form_is_uniform(&place.form) && !place.is_inner_lane
                              ? rs_form_uniform()
                              : rs_form_data());
}

/* --- lists --- */

/* Where member `i` of a type begins; RS_SOMEWHERE where that is not known. */
static long long offset_of(const rs_syntax_type *type, size_t i)
{
    if (type != NULL && type->kind == RS_TYPE_RECORD && type->declaration != NULL)
        return i < type->declaration->field_count && type->declaration->fields[i]->bit_offset >= 0
                   ? type->declaration->fields[i]->bit_offset / 8
                   : RS_SOMEWHERE;
    return is_composed(type) && size_of(type->of) > 0 ? (long long)i * size_of(type->of)
                                                      : RS_SOMEWHERE;
}

/* What a nameless list holds becomes a part of the one around it. */
static void take_over(rs_fact_walk *walk, const rs_fact_value *inner, rs_fact_value place)
{
    const long long begin = place.offset;
    for (size_t i = 0; i < walk->binding_count; i++) {
        const rs_fact_binding one = walk->bindings[i];
        if (one.variable != inner->local || one.offset < 0 || begin < 0)
            continue;
        place.offset = begin + one.offset;
        rs_fact_write_local(walk, &place, one.value);
    }
}

rs_fact_value rs_fact_list(rs_fact_walk *walk, const rs_syntax_node *node, size_t first)
{
    rs_fact_value made = local_of(node, true);
    bool has_element = false;
    for (size_t i = first; i < node->child_count; i++) {
        const rs_fact_value value = rs_fact_expression(walk, node->children[i]);
        made.offset = offset_of(node->type, i - first);
        has_element |= value.kind == RS_FACT_ELEMENT;
        if (value.kind == RS_FACT_ELEMENT && value.is_copy)
            rs_fact_touch(walk, &value, size_of(node->children[i]->type), true, false, false,
                          node->children[i]->range);
        if (value.kind == RS_FACT_LOCAL)
            take_over(walk, &value, made);
        else
            rs_fact_write_local(walk, &made, value);
    }
    made.offset = 0;
    return has_element || !is_composed(node->type) ? rs_fact_other() : made;
}
