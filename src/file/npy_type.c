/*
 * Types in .npy headers; see npy_type.h.
 *
 *     type    '<f8'  '|S5'  '<M8[ns]'  or a list of members
 *     member  (name, type)  or  (name, type, shape);  name  'x'  or  ('title', 'x')
 *
 * Padding is a member '' of type '|V4'.
 */
#include "file/npy_type.h"
#include "base/arithmetic.h"
#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 16, MOST_LEAVES = 1 << 16 };

/* One walk over a type; `record` is NULL when only its size is asked for. */
typedef struct {
    rs_literal *text;
    rs_record *record;
    int depth;
} walk;

/* The bytes of one unit of the number behind a kind: 'U4' are four characters of four bytes. */
static size_t bytes_of_kind(char kind)
{
    static const char one_byte_units[] = "biufcmMSVt";
    if (kind == 'U')
        return 4;
    return kind != '\0' && strchr(one_byte_units, kind) != NULL ? 1 : 0;
}

static restride_status fail_type(const walk *w, const rs_literal_text *type)
{
    return rs_fail(RESTRIDE_UNSUPPORTED,
                   "%s holds elements of a type \"%.*s\" that is not known; give --shape and "
                   "--dtype with the bytes of an element.",
                   w->text->name, (int)type->length, type->begin);
}

/* '<f8', '|b1', '<M8[ns]' and the like. */
static restride_status read_scalar(const walk *w, size_t *bytes)
{
    rs_literal_text type;
    if (!rs_literal_string(w->text, &type))
        return rs_literal_fail(w->text);
    rs_literal inside;
    rs_literal_begin(&inside, w->text->name, type.begin, type.length);
    const char orders[] = "<>|=";
    if (type.length > 0 && type.begin[0] != '\0' && strchr(orders, type.begin[0]) != NULL)
        inside.next++;
    char kind = inside.next < inside.end ? *inside.next++ : '\0';
    if (kind == 'O')
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "%s holds Python objects, which are not values of fixed size; save the "
                       "array with a numeric type.",
                       w->text->name);
    size_t unit = bytes_of_kind(kind);
    size_t count = rs_literal_number(&inside);
    if (unit == 0 || inside.failed || !rs_size_multiply(unit, count, bytes))
        return fail_type(w, &type);
    if (!rs_literal_end(&inside) && !rs_literal_at(&inside, '['))
        return fail_type(w, &type);
    return RESTRIDE_OK;
}

static restride_status add_leaf(const walk *w, const char *name, size_t offset, size_t bytes)
{
    if (w->record == NULL || name[0] == '\0')
        return RESTRIDE_OK; /* what no leaf covers becomes padding */
    if (w->record->leaf_count == MOST_LEAVES)
        return rs_fail(RESTRIDE_UNSUPPORTED, "The elements in %s have more than %d members.",
                       w->text->name, MOST_LEAVES);
    return rs_record_add_leaf(w->record, name, offset, bytes);
}

static restride_status read_type(walk *w, const char *name, size_t offset, size_t *bytes);

static restride_status read_name(const walk *w, rs_literal_text *name)
{
    bool titled = rs_literal_accept(w->text, '(');
    bool read = rs_literal_string(w->text, name);
    if (titled)
        read = read && rs_literal_expect(w->text, ',') && rs_literal_string(w->text, name) &&
               rs_literal_expect(w->text, ')');
    return read ? RESTRIDE_OK : rs_literal_fail(w->text);
}

/* The extents of an array inside a structure: (2, 3) or 6. */
static restride_status read_count(const walk *w, size_t *count)
{
    *count = 1;
    bool tuple = rs_literal_accept(w->text, '(');
    do {
        size_t extent = rs_literal_number(w->text);
        if (w->text->failed || !rs_size_multiply(*count, extent, count))
            return rs_literal_fail(w->text);
        if (!tuple)
            return RESTRIDE_OK;
    } while (rs_literal_accept(w->text, ',') && !rs_literal_at(w->text, ')'));
    return rs_literal_expect(w->text, ')') ? RESTRIDE_OK : rs_literal_fail(w->text);
}

static char *make_name(const char *outer, const rs_literal_text *name)
{
    rs_text full = RS_TEXT_EMPTY;
    bool padding = name->length == 0;
    if (!padding)
        rs_text_format(&full, "%s%s%.*s", outer, outer[0] != '\0' ? "." : "", (int)name->length,
                       name->begin);
    return rs_text_take(&full);
}

static restride_status read_element(walk *w, const char *name, size_t index, size_t offset,
                                    size_t *bytes)
{
    rs_text text = RS_TEXT_EMPTY;
    if (name[0] != '\0')
        rs_text_format(&text, "%s[%zu]", name, index);
    char *full = rs_text_take(&text);
    if (full == NULL)
        return rs_fail_memory("a member's name");
    restride_status status = read_type(w, full, offset, bytes);
    free(full);
    return status;
}

/* Reads the same type once for each element of the array. */
static restride_status read_elements(walk *w, const char *type, const char *name, size_t offset,
                                     size_t each, size_t count)
{
    const char *behind = w->text->next;
    restride_status status = RESTRIDE_OK;
    size_t leaves = SIZE_MAX;
    /* Elements that are nothing but padding make no leaves, however many there are. */
    for (size_t i = 0; i < count && status == RESTRIDE_OK && leaves != w->record->leaf_count; i++) {
        size_t bytes;
        leaves = w->record->leaf_count;
        w->text->next = type;
        status = read_element(w, name, i, offset + i * each, &bytes);
    }
    w->text->next = behind;
    return status;
}

static restride_status read_member_type(walk *w, const char *name, size_t offset, size_t *bytes)
{
    /* Whether an array follows is known behind the type, so its leaves are made in a second look.
     */
    const char *type = rs_literal_here(w->text);
    walk size_only = {w->text, NULL, w->depth};
    restride_status status = read_type(&size_only, name, offset, bytes);
    if (status != RESTRIDE_OK)
        return status;
    size_t each = *bytes;
    size_t count = 1;
    bool array = rs_literal_accept(w->text, ',') && !rs_literal_at(w->text, ')');
    if (array)
        status = read_count(w, &count);
    size_t end;
    if (status == RESTRIDE_OK &&
        (!rs_size_multiply(each, count, bytes) || !rs_size_add(offset, *bytes, &end)))
        return rs_fail(RESTRIDE_OVERFLOW, "An element in %s has more bytes than a size holds.",
                       w->text->name);
    if (status != RESTRIDE_OK || w->record == NULL || each == 0)
        return status;
    if (array)
        return read_elements(w, type, name, offset, each, count);
    const char *behind = w->text->next;
    w->text->next = type;
    status = read_type(w, name, offset, bytes);
    w->text->next = behind;
    return status;
}

static restride_status read_member(walk *w, const char *outer, size_t offset, size_t *bytes)
{
    rs_literal_text name;
    if (!rs_literal_expect(w->text, '('))
        return rs_literal_fail(w->text);
    restride_status status = read_name(w, &name);
    if (status != RESTRIDE_OK)
        return status;
    if (!rs_literal_expect(w->text, ','))
        return rs_literal_fail(w->text);
    char *full = make_name(outer, &name);
    if (full == NULL)
        return rs_fail_memory("a member's name");
    status = read_member_type(w, full, offset, bytes);
    free(full);
    if (status != RESTRIDE_OK)
        return status;
    return rs_literal_expect(w->text, ')') ? RESTRIDE_OK : rs_literal_fail(w->text);
}

static restride_status read_members(walk *w, const char *name, size_t offset, size_t *bytes)
{
    *bytes = 0;
    while (!rs_literal_accept(w->text, ']')) {
        size_t member;
        restride_status status = read_member(w, name, offset + *bytes, &member);
        if (status != RESTRIDE_OK)
            return status;
        if (!rs_size_add(*bytes, member, bytes))
            return rs_fail(RESTRIDE_OVERFLOW, "An element in %s has more bytes than a size holds.",
                           w->text->name);
        if (!rs_literal_accept(w->text, ',') && !rs_literal_at(w->text, ']'))
            return rs_literal_fail(w->text);
    }
    return RESTRIDE_OK;
}

static restride_status read_type(walk *w, const char *name, size_t offset, size_t *bytes)
{
    if (rs_literal_accept(w->text, '[')) {
        if (w->depth == MOST_DEPTH)
            return rs_fail(RESTRIDE_UNSUPPORTED,
                           "The elements in %s are structures nested more than %d deep.",
                           w->text->name, MOST_DEPTH);
        walk inner = {w->text, w->record, w->depth + 1};
        return read_members(&inner, name, offset, bytes);
    }
    restride_status status = read_scalar(w, bytes);
    return status == RESTRIDE_OK && *bytes > 0 ? add_leaf(w, name, offset, *bytes) : status;
}

restride_status rs_npy_type_read(rs_literal *text, size_t *bytes, bool *structured)
{
    walk w = {text, NULL, 0};
    *structured = rs_literal_at(text, '[');
    return read_type(&w, "", 0, bytes);
}

restride_status rs_npy_type_leaves(rs_literal *text, size_t bytes, rs_record *record)
{
    size_t size;
    walk w = {text, record, 0};
    restride_status status = read_type(&w, "", 0, &size);
    return status == RESTRIDE_OK ? rs_record_complete_packed(record, bytes) : status;
}
