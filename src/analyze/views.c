/*
 * One memory seen in several ways: elements of another size, other extents, a pointer that leaves
 * its row, pointers that were loaded. Each address says for each subscript how many bytes it moves
 * by, and by which type it is seen.
 */
#include "analyze/walk.h"
#include "source/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int64_t rs_type_pitch(const rs_syntax_type *type)
{
    const int64_t size = rs_type_bytes(rs_type_below(type));
    return size > 0 ? size : 0;
}

void rs_value_decay(rs_value *address, const rs_syntax_type *type)
{
    if (address->count == RS_SUBSCRIPT_LIMIT) {
        address->lost = true;
        return;
    }
    address->strides[address->count] = rs_type_pitch(type);
    address->subscripts[address->count++] = rs_polynomial_constant(0);
    address->seen = type;
}

void rs_value_follow(rs_value *address, const rs_syntax_type *type)
{
    address->path = address->count;
    address->pointers++;
    address->member[0] = '\0';
    address->member_offset = 0;
    address->width = 0;
    address->components = 0;
    address->loose = false;
    rs_value_decay(address, type);
}

/* The bytes from where the last pointer points to. */
static rs_polynomial bytes_of(const rs_value *address)
{
    rs_polynomial bytes = rs_polynomial_constant(address->member_offset);
    for (int i = address->path; i < address->count; i++) {
        if (address->strides[i] == 0 && !rs_polynomial_is_zero(&address->subscripts[i]))
            return rs_polynomial_unknown();
        rs_polynomial part = rs_polynomial_scale(&address->subscripts[i], address->strides[i]);
        bytes = rs_polynomial_add(&bytes, &part);
    }
    return bytes;
}

/* The first array that was met of a memory. */
static int base_of(const rs_unit *unit, int array)
{
    int base = 0;
    while (unit->arrays[base].memory != unit->arrays[array].memory)
        base++;
    return base;
}

/* Whether what a pointer points to has the rows that an array has behind its first subscripts. */
static bool has_rows(const rs_array *array, int row, const rs_syntax_type *pointee)
{
    for (; pointee->kind == RS_TYPE_ARRAY && row < RS_SUBSCRIPT_LIMIT; row++) {
        int64_t extent = pointee->count > 0 ? pointee->count : 0;
        if (extent != array->extents[row])
            return false;
        pointee = rs_type_below(pointee);
    }
    return true;
}

/* The array that a memory is in the eyes of a type; -1 when memory is short. */
static int view_of(rs_walk *walk, int array, const rs_syntax_type *type)
{
    int at = base_of(walk->unit, array);
    const rs_array base = walk->unit->arrays[at];
    int64_t size = rs_type_pitch(type);
    if (size > 0 && size == base.pitch && has_rows(&base, 1, rs_type_below(type)))
        return at;
    rs_text name = RS_TEXT_EMPTY;
    const rs_syntax_type *pointee = rs_type_below(type);
    bool rows = pointee->kind == RS_TYPE_ARRAY && type->kind == RS_TYPE_POINTER;
    const char *spelling = (rows ? type : pointee->plain)->name;
    rs_text_format(&name, rows ? "(%s)%s" : "(%s *)%s", spelling, base.name);
    rs_value view = rs_value_unknown(0, true);
    if (!name.failed)
        view = rs_walk_array(walk, name.data, base.key ^ (uint64_t)size << 40, type);
    rs_text_free(&name);
    if (view.kind != RS_VALUE_ADDRESS)
        return -1;
    walk->unit->arrays[view.array].memory = base.memory;
    walk->unit->arrays[view.array].scope = base.scope;
    walk->unit->arrays[view.array].space = base.space;
    return view.array;
}

/* The same address in elements of what a pointer of this type points to. */
static rs_value convert(rs_walk *walk, const rs_value *address, const rs_syntax_type *type)
{
    rs_value result = *address;
    int64_t size = rs_type_pitch(type);
    int array = view_of(walk, address->array, type);
    if (array < 0) {
        walk->no_memory = true;
        return result;
    }
    rs_polynomial bytes = bytes_of(address);
    rs_polynomial moved = rs_polynomial_is_zero(&bytes) ? bytes : rs_polynomial_unknown();
    if (size > 0)
        moved = rs_polynomial_divide(&bytes, size);
    if (!moved.known) {
        moved = rs_walk_auxiliary(walk, "offset", rs_value_depends(walk, address),
                                  rs_value_has_data(walk, address), true);
        result.approximated = true;
    }
    result.array = array;
    result.count = address->path;
    result.member[0] = '\0';
    result.member_offset = 0;
    result.width = 0;
    result.components = 0;
    result.loose = false;
    rs_value_decay(&result, type);
    result.subscripts[result.count - 1] = moved;
    return result;
}

rs_value rs_walk_renew(rs_walk *walk, const rs_value *address, const rs_syntax_type *type)
{
    return convert(walk, address, type);
}

rs_value rs_walk_view(rs_walk *walk, const rs_value *address, const rs_syntax_type *type)
{
    rs_value result = *address;
    if (address->kind != RS_VALUE_ADDRESS || !rs_type_is_address(type))
        return result;
    const rs_syntax_type *pointee = rs_type_below(type);
    int64_t size = rs_type_pitch(type);
    result.seen = type;
    if (address->member[0] != '\0' || pointee->kind == RS_TYPE_FUNCTION)
        return result; /* of a member: until it moves */
    if (address->count == address->path)
        return pointee->kind == RS_TYPE_ARRAY ? result : convert(walk, address, type);
    int64_t stride = address->strides[address->count - 1];
    const rs_array *array = &walk->unit->arrays[address->array];
    bool loaded = array->owner != array->memory;
    if ((size == stride &&
         has_rows(array, address->count - (loaded ? address->path : 0), pointee)) ||
        (pointee->kind == RS_TYPE_VOID && stride > 0))
        return result;
    return convert(walk, address, type);
}

rs_value rs_walk_move(rs_walk *walk, const rs_value *address, const rs_polynomial *step)
{
    rs_value result = *address;
    if (rs_polynomial_is_zero(step))
        return result;
    if (result.count == result.path) {
        result.lost = true; /* beyond a whole array */
        return result;
    }
    bool typed = result.seen != NULL && rs_type_is_address(result.seen);
    if (typed && rs_type_pitch(result.seen) != result.strides[result.count - 1])
        result = convert(walk, &result, result.seen);
    result.loose = result.loose || result.count > result.path + 1;
    rs_polynomial *last = &result.subscripts[result.count - 1];
    *last = rs_polynomial_add(last, step);
    *last = rs_walk_fold(walk, last);
    if (!last->known) {
        *last = rs_walk_auxiliary(walk, "offset", rs_value_depends(walk, address), true, true);
        result.approximated = true;
    }
    return result;
}
