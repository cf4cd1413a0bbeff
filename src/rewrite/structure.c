/* Structures as lists of scalar and vector members, from clang's own offsets. */
#include "rewrite/names.h"

#include "base/list.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More members than this make no sense as separate streams in memory, and would make the generated
 * code huge. */
enum { MEMBER_LIMIT = 4096, NESTING_LIMIT = 32 };

static const struct {
    const char *name; /* keywords of C, which no user can redefine */
    const char *vector;
} scalar_types[] = {
    {"bool", NULL},
    {"char", "char"},
    {"signed char", "char"}, /* in C++ another type than char */
    {"unsigned char", "uchar"},
    {"short", "short"},
    {"unsigned short", "ushort"},
    {"int", "int"},
    {"unsigned int", "uint"},
    {"long", "long"},
    {"unsigned long", "ulong"},
    {"long long", NULL},
    {"unsigned long long", NULL},
    {"half", "half"},
    {"float", "float"},
    {"double", "double"},
};
enum { SCALAR_TYPE_COUNT = sizeof scalar_types / sizeof scalar_types[0] };

static bool scalar_name(const rs_syntax_type *type, bool vector, const char **name)
{
    for (int i = 0; i < SCALAR_TYPE_COUNT; i++)
        if (strcmp(scalar_types[i].name, type->plain->name) == 0) {
            *name = vector ? scalar_types[i].vector : scalar_types[i].name;
            return *name != NULL;
        }
    return false;
}

/* OpenCL's vectors, not GCC's. */
static bool is_vector(const rs_syntax_type *type)
{
    return type->kind == RS_TYPE_VECTOR && strstr(type->name, "ext_vector_type") != NULL;
}

bool rs_leaf_type_name(const rs_syntax_type *type, char name[RS_TYPE_NAME_SIZE], bool *vector3)
{
    const char *scalar;
    *vector3 = false;
    if (type->kind == RS_TYPE_ATOMIC && type->of != NULL) {
        bool known = scalar_name(type->of, true, &scalar);
        snprintf(name, RS_TYPE_NAME_SIZE, "atomic_%s", known ? scalar : "");
        return known;
    }
    if (is_vector(type) && type->of != NULL) {
        if (!scalar_name(type->of, true, &scalar))
            return false;
        *vector3 = type->count == 3;
        snprintf(name, RS_TYPE_NAME_SIZE, "%s%lld", scalar, type->count);
        return true;
    }
    if (!scalar_name(type->kind == RS_TYPE_ENUM && type->of != NULL ? type->of : type, false,
                     &scalar))
        return false;
    snprintf(name, RS_TYPE_NAME_SIZE, "%s", scalar);
    return true;
}

typedef struct {
    rs_model *model;
    rs_structure *structure;
    const char *path; /* of the member that is being read, with the final "." of its parent */
    size_t offset;    /* of its parent */
    int nesting;
    restride_status status;
} reading;

/* Notes why the structure cannot be split into members. */
static void fail_at(reading *r, const rs_syntax_declaration *field, const char *format, ...)
    RS_PRINTF(3, 4);

static void fail_at(reading *r, const rs_syntax_declaration *field, const char *format, ...)
{
    if (r->structure->failure != NULL)
        return;
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    r->structure->failure = strdup(sentence);
    r->structure->failure_offset = field == NULL ? 0 : field->place;
    if (r->structure->failure == NULL)
        r->status = rs_fail_memory("a structure");
}

/* Appends a member whose path is not set yet. */
static void append(reading *r, rs_member member, const char *path)
{
    rs_structure *s = r->structure;
    if (!RS_LIST_GROW(s->members, s->member_count)) {
        r->status = rs_fail_memory("a structure");
        return;
    }
    member.path = strdup(path);
    s->members[s->member_count++] = member;
    r->status = member.path == NULL
                    ? rs_fail_memory("a structure")
                    : rs_record_add_leaf(&s->record, path, member.offset, member.size);
}

static void add_member(reading *r, const rs_syntax_declaration *field, const rs_syntax_type *type,
                       const char *path, size_t offset)
{
    rs_member member = {NULL, offset, 0, "", false, false};
    if (r->structure->member_count >= MEMBER_LIMIT) {
        fail_at(r, field, "the structure has more than %d members", MEMBER_LIMIT);
        return;
    }
    if (!rs_leaf_type_name(type, member.type, &member.vector3)) {
        bool is_whole = field != NULL && type == field->type;
        fail_at(r, field, "member %s has type %s, which has no layout of its own", path,
                is_whole ? field->written_type : type->name);
        return;
    }
    member.size = (size_t)type->size;
    append(r, member, path);
}

/* A union moves as bytes of one size and alignment; what lies inside it stays together. */
static void add_union(reading *r, const rs_syntax_declaration *field, const rs_syntax_type *type,
                      const char *path, size_t offset)
{
    static const struct {
        long long size;
        const char *type;
    } types[] = {{1, "unsigned char"},
                 {2, "unsigned short"},
                 {4, "unsigned int"},
                 {8, "unsigned long"},
                 {16, "uint4"}};
    rs_member member = {NULL, offset, (size_t)type->size, "", false, true};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].size == type->size && types[i].size == type->align)
            snprintf(member.type, sizeof member.type, "%s", types[i].type);
    if (member.type[0] == '\0') {
        fail_at(r, field, "member %s is a union that is not aligned to its size", path);
        return;
    }
    append(r, member, path);
}

static bool has_no_name(const rs_syntax_declaration *field)
{
    return field->name[0] == '\0' || strchr(field->name, '(') != NULL;
}

bool rs_field_find(const rs_syntax_type *record, const rs_syntax_declaration *field,
                   rs_field_place *place)
{
    const rs_syntax_declaration *declared = record->declaration;
    for (size_t i = 0; declared != NULL && i < declared->field_count; i++) {
        const rs_syntax_declaration *own = declared->fields[i];
        const rs_syntax_type *type = rs_declared_type(own);
        if (own == field) {
            *place = (rs_field_place){own->bit_offset, -1, 0};
            return own->bit_offset >= 0;
        }
        if (!has_no_name(own) || type->kind != RS_TYPE_RECORD || !rs_field_find(type, field, place))
            continue;
        place->bits += own->bit_offset;
        place->union_bits += place->union_bits >= 0 ? own->bit_offset : 0;
        if (rs_type_is_union(type))
            *place = (rs_field_place){place->bits, own->bit_offset, (size_t)type->size};
        return own->bit_offset >= 0;
    }
    return false;
}

static void read_fields(reading *r, const rs_syntax_type *record);

/* Reads a member of any type; `path` is its own path. */
static void read_member(reading *r, const rs_syntax_declaration *field, const rs_syntax_type *type,
                        const char *path, size_t offset)
{
    if (r->nesting > NESTING_LIMIT) {
        fail_at(r, field, "member %s is nested too deeply", path);
    } else if (rs_type_is_fixed_array(type)) {
        const rs_syntax_type *element = rs_type_below(type);
        long long count = type->count, size = rs_type_bytes(element);
        if (count <= 0 || size <= 0)
            fail_at(r, field, "member %s is an array without elements", path);
        for (long long i = 0; i < count && size > 0; i++) {
            rs_text name = RS_TEXT_EMPTY;
            rs_text_format(&name, "%s[%lld]", path, i);
            r->nesting++;
            if (name.failed)
                r->status = rs_fail_memory("a structure");
            else
                read_member(r, field, element, name.data, offset + (size_t)(i * size));
            r->nesting--;
            rs_text_free(&name);
            if (r->status != RESTRIDE_OK || r->structure->failure != NULL)
                return;
        }
    } else if (type->kind == RS_TYPE_RECORD) {
        if (rs_type_is_union(type)) {
            add_union(r, field, type, path, offset);
            return;
        }
        rs_text prefix = RS_TEXT_EMPTY;
        rs_text_format(&prefix, "%s.", path);
        reading inner = {r->model, r->structure, prefix.data, offset, r->nesting + 1, RESTRIDE_OK};
        if (prefix.failed)
            inner.status = rs_fail_memory("a structure");
        else
            read_fields(&inner, type);
        r->status = inner.status;
        rs_text_free(&prefix);
    } else {
        add_member(r, field, type, path, offset);
    }
}

/* A structure or union without a name, whose members belong to the structure around it. */
static void read_unnamed(reading *r, const rs_syntax_declaration *field, const rs_syntax_type *type,
                         size_t offset)
{
    if (!rs_type_is_union(type)) {
        reading inner = {r->model, r->structure, r->path, offset, r->nesting + 1, RESTRIDE_OK};
        read_fields(&inner, type);
        r->status = inner.status;
        return;
    }
    rs_text path = RS_TEXT_EMPTY;
    rs_text_format(&path, "%sunion_%zu", r->path, offset);
    if (path.failed)
        r->status = rs_fail_memory("a structure");
    else
        add_union(r, field, type, path.data, offset);
    rs_text_free(&path);
}

static void read_field(reading *r, const rs_syntax_declaration *field)
{
    const rs_syntax_type *type = rs_declared_type(field);
    const long long bits = field->bit_offset;
    if (field->is_bitfield) {
        fail_at(r, field, "member %s is a bit-field", field->name);
    } else if (has_no_name(field) && bits >= 0 && type->kind == RS_TYPE_RECORD) {
        read_unnamed(r, field, type, r->offset + (size_t)bits / 8);
    } else if (has_no_name(field)) {
        fail_at(r, field, "a member has no name");
    } else if (bits < 0 || bits % 8 != 0 || type->size < 0) {
        fail_at(r, field, "member %s has no fixed size and place", field->name);
    } else {
        rs_text path = RS_TEXT_EMPTY;
        rs_text_format(&path, "%s%s", r->path, field->name);
        if (path.failed)
            r->status = rs_fail_memory("a structure");
        else
            read_member(r, field, type, path.data, r->offset + (size_t)bits / 8);
        rs_text_free(&path);
    }
}

static void read_fields(reading *r, const rs_syntax_type *record)
{
    const rs_syntax_declaration *declared = record->declaration;
    for (size_t i = 0; declared != NULL && i < declared->field_count && r->status == RESTRIDE_OK &&
                       r->structure->failure == NULL;
         i++)
        read_field(r, declared->fields[i]);
}

/* Members are placed in tiles of equal values, so each must be aligned in every structure of an
 * array. */
static void complete(reading *r, const rs_syntax_type *type)
{
    rs_structure *s = r->structure;
    size_t size = (size_t)type->size;
    for (size_t i = 0; i < s->member_count; i++)
        if (s->members[i].offset % s->members[i].size != 0 || size % s->members[i].size != 0) {
            fail_at(r, s->declaration, "member %s of the structure is not aligned to its size",
                    s->members[i].path);
            return;
        }
    s->uniform = s->member_count == 0 ? 0 : s->members[0].size;
    for (size_t i = 0; i < s->member_count; i++)
        if (s->members[i].size != s->uniform || s->members[i].offset != i * s->uniform)
            s->uniform = 0;
    if (s->uniform * s->member_count != size)
        s->uniform = 0;
    size_t alignment = (size_t)type->align;
    for (size_t i = 0; i < s->member_count; i++)
        if (s->members[i].size > alignment)
            alignment = s->members[i].size; /* buffers are aligned to every type */
    if (rs_record_complete(&s->record, size, alignment) != RESTRIDE_OK)
        fail_at(r, s->declaration, "the structure's members do not fit side by side");
}

static restride_status describe(rs_model *model, rs_structure *s, const rs_syntax_type *type)
{
    reading r = {model, s, "", 0, 0, RESTRIDE_OK};
    const bool is_named = strchr(s->declaration->qualified, '(') == NULL;
    s->name = is_named ? strdup(s->declaration->qualified) : NULL;
    if (is_named && s->name == NULL)
        return rs_fail_memory("a structure");
    if (rs_type_is_union(type)) {
        fail_at(&r, s->declaration, "the elements are unions");
    } else if (type->size <= 0) {
        fail_at(&r, s->declaration, "the structure is not complete");
    } else {
        read_fields(&r, type);
        if (r.status == RESTRIDE_OK && s->failure == NULL)
            complete(&r, type);
    }
    return r.status;
}

static restride_status add_structure(rs_model *model, const rs_syntax_declaration *declaration,
                                     int *structure)
{
    if (!RS_LIST_GROW(model->structures, model->structure_count))
        return rs_fail_memory("a structure");
    rs_structure *added = &model->structures[model->structure_count];
    memset(added, 0, sizeof *added);
    added->declaration = declaration;
    *structure = model->structure_count++;
    return RESTRIDE_OK;
}

static restride_status describe_flat(rs_model *model, rs_structure *s, const rs_syntax_type *type,
                                     size_t length)
{
    reading r = {model, s, "", 0, 0, RESTRIDE_OK};
    long long size = type->size;
    for (size_t i = 0; i < length && r.status == RESTRIDE_OK && s->failure == NULL; i++) {
        rs_text path = RS_TEXT_EMPTY;
        rs_text_format(&path, "[%zu]", i);
        if (path.failed)
            r.status = rs_fail_memory("a structure");
        else
            add_member(&r, s->declaration, type, path.data, i * (size_t)size);
        rs_text_free(&path);
    }
    if (r.status != RESTRIDE_OK || s->failure != NULL)
        return r.status;
    s->uniform = (size_t)size;
    return rs_record_complete(&s->record, length * (size_t)size, (size_t)type->align);
}

restride_status rs_model_flat_structure(rs_model *model, const rs_syntax_type *type, size_t length,
                                        int *structure)
{
    char name[RS_TYPE_NAME_SIZE];
    bool vector3, known = rs_leaf_type_name(type, name, &vector3);
    for (int i = 0; i < model->structure_count; i++) {
        const rs_structure *s = &model->structures[i];
        if (s->declaration == NULL && s->member_count == length && known && s->failure == NULL &&
            strcmp(s->members[0].type, name) == 0) {
            *structure = i;
            return RESTRIDE_OK;
        }
    }
    restride_status status = add_structure(model, NULL, structure);
    return status == RESTRIDE_OK
               ? describe_flat(model, &model->structures[*structure], type, length)
               : status;
}

const char *rs_structure_misfit(const rs_structure *inner, const rs_structure *outer, size_t offset)
{
    if (inner->failure != NULL)
        return "a nested structure is not followed by itself";
    for (size_t i = 0, at = 0; i < inner->record.leaf_count; i++) {
        const rs_leaf *leaf = &inner->record.leaves[i];
        while (at < outer->record.leaf_count &&
               outer->record.leaves[at].offset < offset + leaf->offset)
            at++;
        if (at == outer->record.leaf_count ||
            outer->record.leaves[at].offset != offset + leaf->offset ||
            outer->record.leaves[at].size != leaf->size)
            return "the padding of a nested structure does not fit the whole structure's";
    }
    return NULL;
}

restride_status rs_model_structure(rs_model *model, const rs_syntax_type *type, int *structure)
{
    const rs_syntax_declaration *declaration = type->declaration;
    *structure = -1;
    for (int i = 0; i < model->structure_count; i++)
        if (model->structures[i].declaration == declaration) {
            *structure = i;
            return RESTRIDE_OK;
        }
    restride_status status = add_structure(model, declaration, structure);
    return status == RESTRIDE_OK ? describe(model, &model->structures[*structure], type) : status;
}
