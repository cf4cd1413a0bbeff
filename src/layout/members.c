/*
 * C members between braces, made into a record: each scalar, vector and array entry is a leaf at
 * the offset that a C compiler gives it, or, when packed, right behind the one before it. Sizes are
 * those of OpenCL C (long has 8 bytes, a 3-vector lies like a 4-vector).
 */
#include "layout/members.h"

#include "base/arithmetic.h"
#include "base/text.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LEAVES = 4096, MAX_DEPTH = 32, MAX_WORDS = 4, MAX_WHOLE_BYTES = 1 << 20 };

typedef struct {
    const char *spelling;
    size_t size;
    bool has_vectors; /* float4 and the like exist */
    const char *name; /* that a C compiler of any machine knows with this size; NULL: none */
} scalar_type;

/* A scalar, or a vector of OpenCL's. */
typedef struct {
    const scalar_type *scalar;
    size_t lanes;
    size_t size;
} entry_type;

static const scalar_type scalar_types[] = {
    {"char", 1, true, "char"},
    {"uchar", 1, true, "uint8_t"},
    {"short", 2, true, "int16_t"},
    {"ushort", 2, true, "uint16_t"},
    {"int", 4, true, "int32_t"},
    {"uint", 4, true, "uint32_t"},
    {"long", 8, true, "int64_t"},
    {"ulong", 8, true, "uint64_t"},
    {"half", 2, true, NULL},
    {"float", 4, true, "float"},
    {"double", 8, true, "double"},
    {"signed char", 1, false, "int8_t"},
    {"unsigned char", 1, false, "uint8_t"},
    {"short int", 2, false, "int16_t"},
    {"signed short", 2, false, "int16_t"},
    {"unsigned short", 2, false, "uint16_t"},
    {"unsigned short int", 2, false, "uint16_t"},
    {"signed", 4, false, "int32_t"},
    {"signed int", 4, false, "int32_t"},
    {"unsigned", 4, false, "uint32_t"},
    {"unsigned int", 4, false, "uint32_t"},
    {"long int", 8, false, "int64_t"},
    {"signed long", 8, false, "int64_t"},
    {"unsigned long", 8, false, "uint64_t"},
    {"unsigned long int", 8, false, "uint64_t"},
    {"long long", 8, false, "int64_t"},
    {"long long int", 8, false, "int64_t"},
    {"signed long long", 8, false, "int64_t"},
    {"unsigned long long", 8, false, "uint64_t"},
    {"unsigned long long int", 8, false, "uint64_t"},
    {"int8_t", 1, false, "int8_t"},
    {"uint8_t", 1, false, "uint8_t"},
    {"int16_t", 2, false, "int16_t"},
    {"uint16_t", 2, false, "uint16_t"},
    {"int32_t", 4, false, "int32_t"},
    {"uint32_t", 4, false, "uint32_t"},
    {"int64_t", 8, false, "int64_t"},
    {"uint64_t", 8, false, "uint64_t"},
};

static const size_t vector_widths[] = {2, 3, 4, 8, 16};

/* The words that may stand together in the spelling of one type. */
static const char *const joining_words[] = {"unsigned", "signed", "char", "short", "int", "long"};

/* A structure whose members are being read: `record` has no padding before it is complete. */
typedef struct {
    rs_record record;
    size_t end; /* bytes placed so far */
    size_t alignment;
    bool packed; /* each member lies right behind the one before it */
} structure;

static bool is_joining_word(rs_layout_name word)
{
    for (size_t i = 0; i < sizeof joining_words / sizeof joining_words[0]; i++)
        if (rs_name_equal(word, joining_words[i]))
            return true;
    return false;
}

/* The type of that spelling; its size is 0 when there is none. */
static entry_type type_named(const char *spelling)
{
    for (size_t i = 0; i < sizeof scalar_types / sizeof scalar_types[0]; i++) {
        const scalar_type *type = &scalar_types[i];
        if (strcmp(spelling, type->spelling) == 0)
            return (entry_type){type, 1, type->size};
        size_t length = strlen(type->spelling);
        if (!type->has_vectors || strncmp(spelling, type->spelling, length) != 0)
            continue;
        for (size_t v = 0; v < sizeof vector_widths / sizeof vector_widths[0]; v++) {
            char suffix[8];
            snprintf(suffix, sizeof suffix, "%zu", vector_widths[v]);
            if (strcmp(spelling + length, suffix) == 0)
                return (entry_type){type, vector_widths[v],
                                    type->size * (vector_widths[v] == 3 ? 4 : vector_widths[v])};
        }
    }
    return (entry_type){NULL, 0, 0};
}

/* Reads the words of a scalar or vector type. */
static restride_status parse_entry(rs_cursor *cursor, size_t begin, rs_layout_name first,
                                   entry_type *entry)
{
    char spelling[64];
    if (first.length >= sizeof spelling)
        first.length = sizeof spelling - 1;
    memcpy(spelling, first.begin, first.length);
    spelling[first.length] = '\0';
    rs_layout_name word = first;
    for (int words = 1; words < MAX_WORDS && is_joining_word(word); words++) {
        size_t before = cursor->position;
        rs_cursor_skip_blanks(cursor);
        size_t length = strlen(spelling);
        if (!rs_cursor_name(cursor, &word) || !is_joining_word(word) ||
            length + word.length + 2 > sizeof spelling) {
            cursor->position = before;
            break;
        }
        spelling[length] = ' ';
        memcpy(spelling + length + 1, word.begin, word.length);
        spelling[length + 1 + word.length] = '\0';
    }
    *entry = type_named(spelling);
    if (entry->size == 0)
        return rs_cursor_fail(cursor, RESTRIDE_SYNTAX, begin,
                              "\"%s\" is not a type that a record may have; use char, short, int, "
                              "long, half, float or double, unsigned or as OpenCL vectors, or "
                              "struct { ... }.",
                              spelling);
    return RESTRIDE_OK;
}

/* Reads "[12]". */
static restride_status parse_bound(rs_cursor *cursor, size_t *bound)
{
    rs_cursor_skip_blanks(cursor);
    size_t begin = cursor->position;
    restride_status status = rs_cursor_number(cursor, "the number of entries", bound);
    if (status != RESTRIDE_OK)
        return status;
    if (*bound == 0)
        return rs_cursor_fail(cursor, RESTRIDE_SYNTAX, begin, "an array needs at least one entry.");
    rs_cursor_skip_blanks(cursor);
    return rs_cursor_accept(cursor, ']')
               ? RESTRIDE_OK
               : rs_cursor_fail(cursor, RESTRIDE_SYNTAX, cursor->position, "\"]\" is expected.");
}

/* Reads a scalar, a vector or, as in char[12], an array of them that moves as a whole. */
static restride_status parse_leaf(rs_cursor *cursor, size_t begin, rs_layout_name first,
                                  rs_leaf *leaf)
{
    entry_type entry;
    restride_status status = parse_entry(cursor, begin, first, &entry);
    if (status != RESTRIDE_OK)
        return status;
    *leaf = (rs_leaf){.size = entry.size,
                      .alignment = entry.size,
                      .type = entry.scalar->name,
                      .lanes = entry.lanes};
    size_t end = cursor->position;
    rs_cursor_skip_blanks(cursor);
    if (!rs_cursor_accept(cursor, '[')) {
        cursor->position = end;
        return RESTRIDE_OK;
    }
    size_t bound = 1;
    status = parse_bound(cursor, &bound);
    if (status == RESTRIDE_OK && bound > MAX_WHOLE_BYTES / entry.size)
        return rs_cursor_fail(cursor, RESTRIDE_UNSUPPORTED, begin,
                              "more than %d bytes that move as a whole are not supported; make the "
                              "array a dimension of its own.",
                              MAX_WHOLE_BYTES);
    leaf->size *= bound;
    return status;
}

bool rs_members_is_type(rs_layout_name word)
{
    char spelling[32]; /* no word of a type is longer */
    if (word.length >= sizeof spelling)
        return false;
    memcpy(spelling, word.begin, word.length);
    spelling[word.length] = '\0';
    return type_named(spelling).size != 0;
}

restride_status rs_members_parse_element(rs_cursor *cursor, size_t begin, rs_layout_name first,
                                         rs_leaf *element)
{
    *element = (rs_leaf){.size = 0};
    return parse_leaf(cursor, begin, first, element);
}

static restride_status parse_struct(rs_cursor *cursor, int depth, structure *result);

/* Another leaf of the same type. */
static restride_status add_leaf(rs_record *record, const char *name, size_t offset,
                                const rs_leaf *like)
{
    restride_status status = rs_record_add_leaf(record, name, offset, like->size);
    if (status == RESTRIDE_OK) {
        rs_leaf *leaf = &record->leaves[record->leaf_count - 1];
        leaf->alignment = like->alignment;
        leaf->type = like->type;
        leaf->lanes = like->lanes;
    }
    return status;
}

/* Reads a type: its leaves carry the names that follow the member's own. */
static restride_status parse_type(rs_cursor *cursor, int depth, structure *type)
{
    size_t begin = cursor->position;
    rs_layout_name name;
    if (!rs_cursor_name(cursor, &name))
        return rs_cursor_fail(cursor, RESTRIDE_SYNTAX, begin,
                              "a member such as \"float x;\" or the closing brace is expected.");
    if (rs_name_equal(name, "struct")) {
        rs_cursor_skip_blanks(cursor);
        rs_layout_name tag;
        if (rs_cursor_name(cursor, &tag))
            rs_cursor_skip_blanks(cursor);
        if (!rs_cursor_accept(cursor, '{'))
            return rs_cursor_fail(cursor, RESTRIDE_SYNTAX, cursor->position,
                                  "write the nested structure's members here, as in "
                                  "struct { float x; } name;.");
        if (depth == MAX_DEPTH)
            return rs_cursor_fail(cursor, RESTRIDE_UNSUPPORTED, begin,
                                  "structures are nested more than %d deep.", MAX_DEPTH);
        return parse_struct(cursor, depth + 1, type);
    }
    if (rs_name_equal(name, "union"))
        return rs_cursor_fail(cursor, RESTRIDE_UNSUPPORTED, begin,
                              "a union has no single layout; name the member that is used.");
    rs_leaf leaf;
    restride_status status = parse_leaf(cursor, begin, name, &leaf);
    if (status != RESTRIDE_OK)
        return status;
    type->alignment = leaf.alignment;
    type->end = leaf.size;
    return add_leaf(&type->record, "", 0, &leaf);
}

/* Appends one entry of a member: all leaves of its type. */
static restride_status place(structure *into, const char *name, const structure *type,
                             size_t offset)
{
    for (size_t i = 0; i < type->record.leaf_count; i++) {
        const rs_leaf *leaf = &type->record.leaves[i];
        rs_text full = RS_TEXT_EMPTY;
        rs_text_format(&full, "%s%s", name, leaf->name);
        char *taken = rs_text_take(&full);
        if (taken == NULL)
            return rs_fail_memory("a member's name");
        restride_status status = add_leaf(&into->record, taken, offset + leaf->offset, leaf);
        free(taken);
        if (status != RESTRIDE_OK)
            return status;
    }
    return RESTRIDE_OK;
}

/* Appends all entries of a member; `bounds` are those of its array dimensions. */
static restride_status place_entries(structure *into, const rs_text *name, const structure *type,
                                     const size_t *bounds, size_t bound_count, size_t *offset)
{
    if (bound_count == 0) {
        restride_status status = place(into, name->data, type, *offset);
        *offset += type->end;
        return status;
    }
    for (size_t i = 0; i < bounds[0]; i++) {
        rs_text entry = RS_TEXT_EMPTY;
        rs_text_format(&entry, "%s[%zu]", name->data, i);
        restride_status status =
            entry.failed ? rs_fail_memory("a member's name")
                         : place_entries(into, &entry, type, bounds + 1, bound_count - 1, offset);
        rs_text_free(&entry);
        if (status != RESTRIDE_OK)
            return status;
    }
    return RESTRIDE_OK;
}

/* Whether the structure has a member of that name already. */
static bool has_member(const structure *s, rs_layout_name name)
{
    for (size_t i = 0; i < s->record.leaf_count; i++) {
        const char *leaf = s->record.leaves[i].name;
        if (strncmp(leaf + 1, name.begin, name.length) == 0 &&
            strchr(".[", leaf[1 + name.length]) != NULL)
            return true;
    }
    return false;
}

/* Whether a word is a type by itself, and so no name: "unsigned float". */
static bool is_type(rs_layout_name word)
{
    for (size_t i = 0; i < sizeof scalar_types / sizeof scalar_types[0]; i++)
        if (rs_name_equal(word, scalar_types[i].spelling))
            return true;
    return false;
}

/* Reads one declarator, name[3][2], of a type and appends it. */
static restride_status parse_declarator(rs_cursor *cursor, const structure *type, structure *into)
{
    size_t begin = cursor->position;
    rs_layout_name name;
    if (!rs_cursor_name(cursor, &name) || is_type(name))
        return rs_cursor_fail(cursor, RESTRIDE_SYNTAX, begin,
                              cursor->text[begin] == '*'
                                  ? "a pointer cannot travel between host and device; use ulong."
                                  : "the member's name is expected.");
    if (has_member(into, name))
        return rs_cursor_fail(cursor, RESTRIDE_SYNTAX, begin,
                              "there are two members named \"%.*s\".", RS_NAME_ARGUMENTS(name));
    size_t bounds[MAX_DEPTH];
    size_t bound_count = 0;
    size_t leaves = type->record.leaf_count;
    for (rs_cursor_skip_blanks(cursor); rs_cursor_accept(cursor, '[');
         rs_cursor_skip_blanks(cursor)) {
        size_t bound_begin = cursor->position, bound;
        restride_status status = parse_bound(cursor, &bound);
        if (status != RESTRIDE_OK)
            return status;
        if (bound_count == MAX_DEPTH)
            return rs_cursor_fail(cursor, RESTRIDE_UNSUPPORTED, bound_begin,
                                  "this array has more than %d dimensions.", MAX_DEPTH);
        bounds[bound_count++] = bound;
        if (!rs_size_multiply(leaves, bound, &leaves))
            leaves = SIZE_MAX;
    }
    if (leaves > MAX_LEAVES - into->record.leaf_count)
        return rs_cursor_fail(cursor, RESTRIDE_UNSUPPORTED, begin,
                              "the record has more than %d members; make a large array a dimension "
                              "of its own.",
                              MAX_LEAVES);
    if (cursor->text[cursor->position] == ':')
        return rs_cursor_fail(cursor, RESTRIDE_UNSUPPORTED, cursor->position,
                              "a bit-field has no address of its own; use a whole integer.");
    /* No sum below overflows: at most MAX_LEAVES leaves of MAX_WHOLE_BYTES with their padding. */
    rs_text full = RS_TEXT_EMPTY;
    rs_text_format(&full, ".%.*s", (int)name.length, name.begin);
    size_t alignment = into->packed ? 1 : type->alignment;
    into->end = (into->end + alignment - 1) / alignment * alignment;
    if (alignment > into->alignment)
        into->alignment = alignment;
    restride_status status =
        full.failed ? rs_fail_memory("a member's name")
                    : place_entries(into, &full, type, bounds, bound_count, &into->end);
    rs_text_free(&full);
    return status;
}

/* Reads one declaration, "float x, v[3];". */
static restride_status parse_declaration(rs_cursor *cursor, int depth, structure *into)
{
    structure type = {.end = 0};
    restride_status status = parse_type(cursor, depth, &type);
    do {
        rs_cursor_skip_blanks(cursor);
        if (status == RESTRIDE_OK)
            status = parse_declarator(cursor, &type, into);
        rs_cursor_skip_blanks(cursor);
    } while (status == RESTRIDE_OK && rs_cursor_accept(cursor, ','));
    if (status == RESTRIDE_OK && !rs_cursor_accept(cursor, ';'))
        status = rs_cursor_fail(cursor, RESTRIDE_SYNTAX, cursor->position,
                                "a semicolon is expected after the member.");
    rs_record_free(&type.record);
    return status;
}

/* Reads members to the closing brace. Leaves are named ".x": the name of the outer member goes
 * before the dot. */
static restride_status parse_struct(rs_cursor *cursor, int depth, structure *result)
{
    size_t begin = cursor->position;
    restride_status status = RESTRIDE_OK;
    result->alignment = 1;
    rs_cursor_skip_blanks(cursor);
    while (status == RESTRIDE_OK && !rs_cursor_accept(cursor, '}')) {
        if (cursor->text[cursor->position] == '\0')
            return rs_cursor_fail(cursor, RESTRIDE_SYNTAX, cursor->position,
                                  "the closing brace of the record is missing.");
        status = parse_declaration(cursor, depth, result);
        rs_cursor_skip_blanks(cursor);
    }
    if (status == RESTRIDE_OK && result->record.leaf_count == 0)
        return rs_cursor_fail(cursor, RESTRIDE_SYNTAX, begin,
                              "a record needs at least one member.");
    result->end = (result->end + result->alignment - 1) / result->alignment * result->alignment;
    return status;
}

restride_status rs_members_parse(rs_cursor *cursor, bool packed, rs_record *record)
{
    structure outer = {.packed = packed};
    restride_status status = parse_struct(cursor, 0, &outer);
    for (size_t i = 0; status == RESTRIDE_OK && i < outer.record.leaf_count; i++) {
        char *name = outer.record.leaves[i].name;
        memmove(name, name + 1, strlen(name)); /* the outermost members have no dot before them */
    }
    if (status == RESTRIDE_OK)
        status = packed ? rs_record_complete_packed(&outer.record, outer.end)
                        : rs_record_complete(&outer.record, outer.end, outer.alignment);
    if (status != RESTRIDE_OK)
        rs_record_free(&outer.record);
    *record = outer.record;
    return status;
}
