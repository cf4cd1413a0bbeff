/* Structures as lists of scalar and vector members, from clang's own offsets. */
#include "rewrite/names.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More members than this make no sense as separate streams in memory, and would make the generated
 * code huge. */
enum { MEMBER_LIMIT = 4096, NESTING_LIMIT = 32 };

static const struct {
    enum CXTypeKind kind;
    const char *name; /* keywords of C, which no user can redefine */
    const char *vector;
} scalar_types[] = {
    {CXType_Bool, "bool", NULL},
    {CXType_Char_S, "char", "char"},
    {CXType_SChar, "signed char", "char"}, /* in C++ another type than char */
    {CXType_Char_U, "unsigned char", "uchar"},
    {CXType_UChar, "unsigned char", "uchar"},
    {CXType_Short, "short", "short"},
    {CXType_UShort, "unsigned short", "ushort"},
    {CXType_Int, "int", "int"},
    {CXType_UInt, "unsigned int", "uint"},
    {CXType_Long, "long", "long"},
    {CXType_ULong, "unsigned long", "ulong"},
    {CXType_LongLong, "long long", NULL},
    {CXType_ULongLong, "unsigned long long", NULL},
    {CXType_Half, "half", "half"},
    {CXType_Float, "float", "float"},
    {CXType_Double, "double", "double"},
};
enum { SCALAR_TYPE_COUNT = sizeof scalar_types / sizeof scalar_types[0] };

static bool scalar_name(enum CXTypeKind kind, bool vector, const char **name)
{
    for (int i = 0; i < SCALAR_TYPE_COUNT; i++)
        if (scalar_types[i].kind == kind) {
            *name = vector ? scalar_types[i].vector : scalar_types[i].name;
            return *name != NULL;
        }
    return false;
}

bool rs_leaf_type_name(CXType type, char name[RS_TYPE_NAME_SIZE], bool *vector3)
{
    CXType canonical = clang_getCanonicalType(type);
    const char *scalar;
    *vector3 = false;
    if (canonical.kind == CXType_Atomic) {
        CXType value = clang_getCanonicalType(clang_Type_getValueType(canonical));
        bool known = scalar_name(value.kind, true, &scalar);
        snprintf(name, RS_TYPE_NAME_SIZE, "atomic_%s", known ? scalar : "");
        return known;
    }
    if (canonical.kind == CXType_Enum) {
        CXType integer = clang_getEnumDeclIntegerType(clang_getTypeDeclaration(canonical));
        canonical = clang_getCanonicalType(integer);
    }
    if (canonical.kind == CXType_ExtVector) {
        CXType element = clang_getCanonicalType(clang_getElementType(canonical));
        if (!scalar_name(element.kind, true, &scalar))
            return false;
        long long lanes = clang_getNumElements(canonical);
        *vector3 = lanes == 3;
        snprintf(name, RS_TYPE_NAME_SIZE, "%s%lld", scalar, lanes);
        return true;
    }
    if (!scalar_name(canonical.kind, false, &scalar))
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

static size_t location_offset(CXSourceLocation location)
{
    unsigned offset = 0;
    CXFile file;
    clang_getFileLocation(location, &file, NULL, NULL, &offset);
    return offset;
}

/* Notes why the structure cannot be split into members. */
static void fail_at(reading *r, CXCursor field, const char *format, ...) RS_PRINTF(3, 4);

static void fail_at(reading *r, CXCursor field, const char *format, ...)
{
    if (r->structure->failure != NULL)
        return;
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    r->structure->failure = strdup(sentence);
    r->structure->failure_offset = location_offset(clang_getCursorLocation(field));
    if (r->structure->failure == NULL)
        r->status = rs_fail_memory("a structure");
}

/* Appends a member whose path is not set yet. */
static void append(reading *r, rs_member member, const char *path)
{
    rs_structure *s = r->structure;
    rs_member *grown = realloc(s->members, (s->member_count + 1) * sizeof *grown);
    if (grown == NULL) {
        r->status = rs_fail_memory("a structure");
        return;
    }
    s->members = grown;
    member.path = strdup(path);
    s->members[s->member_count++] = member;
    r->status = member.path == NULL
                    ? rs_fail_memory("a structure")
                    : rs_record_add_leaf(&s->record, path, member.offset, member.size);
}

static void add_member(reading *r, CXCursor field, CXType type, const char *path, size_t offset)
{
    rs_member member = {NULL, offset, 0, "", false, false};
    if (r->structure->member_count >= MEMBER_LIMIT) {
        fail_at(r, field, "the structure has more than %d members", MEMBER_LIMIT);
        return;
    }
    if (!rs_leaf_type_name(type, member.type, &member.vector3)) {
        CXString spelling = clang_getTypeSpelling(type);
        fail_at(r, field, "member %s has type %s, which has no layout of its own", path,
                clang_getCString(spelling));
        clang_disposeString(spelling);
        return;
    }
    member.size = (size_t)clang_Type_getSizeOf(type);
    append(r, member, path);
}

/* A union moves as bytes of one size and alignment; what lies inside it stays together. */
static void add_union(reading *r, CXCursor field, CXType type, const char *path, size_t offset)
{
    static const struct {
        long long size;
        const char *type;
    } types[] = {{1, "unsigned char"},
                 {2, "unsigned short"},
                 {4, "unsigned int"},
                 {8, "unsigned long"},
                 {16, "uint4"}};
    rs_member member = {NULL, offset, (size_t)clang_Type_getSizeOf(type), "", false, true};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].size == clang_Type_getSizeOf(type) &&
            types[i].size == clang_Type_getAlignOf(type))
            snprintf(member.type, sizeof member.type, "%s", types[i].type);
    if (member.type[0] == '\0') {
        fail_at(r, field, "member %s is a union that is not aligned to its size", path);
        return;
    }
    append(r, member, path);
}

static bool is_union(CXType canonical)
{
    return canonical.kind == CXType_Record &&
           clang_getCursorKind(clang_getTypeDeclaration(canonical)) == CXCursor_UnionDecl;
}

static bool has_no_name(CXCursor field)
{
    CXString spelling = clang_getCursorSpelling(field);
    const char *name = clang_getCString(spelling);
    bool none = name[0] == '\0' || strchr(name, '(') != NULL;
    clang_disposeString(spelling);
    return none;
}

typedef struct {
    CXCursor field;
    rs_field_place *place;
    bool found;
} field_search;

static enum CXVisitorResult search_field(CXCursor field, CXClientData data)
{
    field_search *search = data; /* libclang goes through all fields to tell an offset */
    if (clang_equalCursors(field, search->field) != 0) {
        *search->place = (rs_field_place){clang_Cursor_getOffsetOfField(field), -1, 0};
        search->found = true;
        return CXVisit_Break;
    }
    CXType type = clang_getCanonicalType(clang_getCursorType(field));
    if (!has_no_name(field) || type.kind != CXType_Record ||
        !rs_field_find(type, search->field, search->place))
        return CXVisit_Continue;
    rs_field_place *place = search->place;
    long long bits = clang_Cursor_getOffsetOfField(field);
    place->bits += bits;
    place->union_bits += place->union_bits >= 0 ? bits : 0;
    if (is_union(type)) {
        place->union_bits = bits;
        place->union_size = (size_t)clang_Type_getSizeOf(type);
    }
    search->found = bits >= 0;
    return CXVisit_Break;
}

bool rs_field_find(CXType record, CXCursor field, rs_field_place *place)
{
    field_search search = {field, place, false};
    clang_Type_visitFields(clang_getCanonicalType(record), search_field, &search);
    return search.found && place->bits >= 0;
}

static enum CXVisitorResult read_field(CXCursor field, CXClientData data);

/* Reads a member of any type; `path` is its own path. */
static void read_member(reading *r, CXCursor field, CXType type, const char *path, size_t offset)
{
    CXType canonical = clang_getCanonicalType(type);
    if (r->nesting > NESTING_LIMIT) {
        fail_at(r, field, "member %s is nested too deeply", path);
    } else if (canonical.kind == CXType_ConstantArray) {
        CXType element = clang_getArrayElementType(canonical);
        long long count = clang_getArraySize(canonical), size = clang_Type_getSizeOf(element);
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
    } else if (canonical.kind == CXType_Record) {
        if (is_union(canonical)) {
            add_union(r, field, canonical, path, offset);
            return;
        }
        rs_text prefix = RS_TEXT_EMPTY;
        rs_text_format(&prefix, "%s.", path);
        reading inner = {r->model, r->structure, prefix.data, offset, r->nesting + 1, RESTRIDE_OK};
        if (prefix.failed)
            inner.status = rs_fail_memory("a structure");
        else
            clang_Type_visitFields(canonical, read_field, &inner);
        r->status = inner.status;
        rs_text_free(&prefix);
    } else {
        add_member(r, field, type, path, offset);
    }
}

/* A structure or union without a name, whose members belong to the structure around it. */
static void read_unnamed(reading *r, CXCursor field, CXType type, size_t offset)
{
    if (!is_union(type)) {
        reading inner = {r->model, r->structure, r->path, offset, r->nesting + 1, RESTRIDE_OK};
        clang_Type_visitFields(type, read_field, &inner);
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

static enum CXVisitorResult read_field(CXCursor field, CXClientData data)
{
    reading *r = data;
    CXString spelling = clang_getCursorSpelling(field);
    const char *name = clang_getCString(spelling);
    CXType type = clang_getCursorType(field), canonical = clang_getCanonicalType(type);
    long long bits = clang_Cursor_getOffsetOfField(field);
    if (clang_Cursor_isBitField(field) != 0) {
        fail_at(r, field, "member %s is a bit-field", name);
    } else if (has_no_name(field) && bits >= 0 && canonical.kind == CXType_Record) {
        read_unnamed(r, field, canonical, r->offset + (size_t)bits / 8);
    } else if (has_no_name(field)) {
        fail_at(r, field, "a member has no name");
    } else if (bits < 0 || bits % 8 != 0 || clang_Type_getSizeOf(type) < 0) {
        fail_at(r, field, "member %s has no fixed size and place", name);
    } else {
        rs_text path = RS_TEXT_EMPTY;
        rs_text_format(&path, "%s%s", r->path, name);
        if (path.failed)
            r->status = rs_fail_memory("a structure");
        else
            read_member(r, field, type, path.data, r->offset + (size_t)bits / 8);
        rs_text_free(&path);
    }
    clang_disposeString(spelling);
    return r->status == RESTRIDE_OK && r->structure->failure == NULL ? CXVisit_Continue
                                                                     : CXVisit_Break;
}

/* Members are placed in tiles of equal values, so each must be aligned in every structure of an
 * array. */
static void complete(reading *r, CXType type)
{
    rs_structure *s = r->structure;
    size_t size = (size_t)clang_Type_getSizeOf(type);
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
    size_t alignment = (size_t)clang_Type_getAlignOf(type);
    for (size_t i = 0; i < s->member_count; i++)
        if (s->members[i].size > alignment)
            alignment = s->members[i].size; /* buffers are aligned to every type */
    if (rs_record_complete(&s->record, size, alignment) != RESTRIDE_OK)
        fail_at(r, s->declaration, "the structure's members do not fit side by side");
}

static restride_status describe(rs_model *model, rs_structure *s, CXType type)
{
    reading r = {model, s, "", 0, 0, RESTRIDE_OK};
    CXString spelling = clang_getTypeSpelling(clang_getCursorType(s->declaration));
    const char *name = clang_getCString(spelling);
    if (strchr(name, '(') == NULL)
        s->name = strdup(name);
    bool short_of_memory = s->name == NULL && strchr(name, '(') == NULL;
    clang_disposeString(spelling);
    if (short_of_memory)
        return rs_fail_memory("a structure");
    restride_status status = rs_type_write(s->declaration, &s->written);
    if (status != RESTRIDE_OK)
        return status;
    if (is_union(type)) {
        fail_at(&r, s->declaration, "the elements are unions");
    } else if (clang_Type_getSizeOf(type) <= 0) {
        fail_at(&r, s->declaration, "the structure is not complete");
    } else {
        clang_Type_visitFields(type, read_field, &r);
        if (r.status == RESTRIDE_OK && s->failure == NULL)
            complete(&r, type);
    }
    return r.status;
}

static restride_status add_structure(rs_model *model, CXCursor declaration, int *structure)
{
    rs_structure *grown =
        realloc(model->structures, (size_t)(model->structure_count + 1) * sizeof *grown);
    if (grown == NULL)
        return rs_fail_memory("a structure");
    model->structures = grown;
    rs_structure *added = &grown[model->structure_count];
    memset(added, 0, sizeof *added);
    added->declaration = declaration;
    *structure = model->structure_count++;
    return RESTRIDE_OK;
}

static restride_status describe_flat(rs_model *model, rs_structure *s, CXType type, size_t length)
{
    reading r = {model, s, "", 0, 0, RESTRIDE_OK};
    long long size = clang_Type_getSizeOf(type);
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
    return rs_record_complete(&s->record, length * (size_t)size,
                              (size_t)clang_Type_getAlignOf(type));
}

restride_status rs_model_flat_structure(rs_model *model, CXType type, size_t length, int *structure)
{
    char name[RS_TYPE_NAME_SIZE];
    bool vector3, known = rs_leaf_type_name(type, name, &vector3);
    for (int i = 0; i < model->structure_count; i++) {
        const rs_structure *s = &model->structures[i];
        if (clang_Cursor_isNull(s->declaration) != 0 && s->member_count == length && known &&
            s->failure == NULL && strcmp(s->members[0].type, name) == 0) {
            *structure = i;
            return RESTRIDE_OK;
        }
    }
    restride_status status = add_structure(model, clang_getNullCursor(), structure);
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

restride_status rs_model_structure(rs_model *model, CXType type, int *structure)
{
    CXType canonical = clang_getCanonicalType(type);
    CXCursor declaration = clang_getTypeDeclaration(canonical);
    *structure = -1;
    for (int i = 0; i < model->structure_count; i++)
        if (clang_equalCursors(model->structures[i].declaration, declaration) != 0) {
            *structure = i;
            return RESTRIDE_OK;
        }
    restride_status status = add_structure(model, declaration, structure);
    return status == RESTRIDE_OK ? describe(model, &model->structures[*structure], canonical)
                                 : status;
}
