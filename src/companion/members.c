/* See members.h. */
#include "companion/members.h"
#include "base/list.h"

#include <stdlib.h>
#include <string.h>

/* Records of at most so many bytes move as a whole: a warp's accesses to them fill whole sectors.
 */
enum { WHOLE_BYTES = 16, MOST_DEPTH = 32 };

static void add(rs_companion_members *members, rs_companion_member member)
{
    if (RS_LIST_GROW(members->members, members->count))
        members->members[members->count++] = member;
    else
        members->out_of_memory = true;
}

static void refuse(rs_companion_members *members, const char *why)
{
    if (members->why == NULL)
        members->why = why;
}

const rs_syntax_type *rs_member_entry(const rs_syntax_type *type)
{
    while (type->kind == RS_TYPE_ARRAY && type->of != NULL)
        type = type->of;
    return type;
}

/* A name hides those of bases, which were read before it. */
static const char *name_of(rs_companion_members *members, const rs_syntax_declaration *field)
{
    if (strcmp(field->name, "get") == 0 || strncmp(field->name, "restride_", 9) == 0)
        refuse(members, "has a member \"get\" or \"restride_...\", as its accessors have");
    for (size_t i = 0; i < members->count; i++)
        if (members->members[i].name != NULL &&
            strcmp(members->members[i].name, field->name) == 0) {
            members->members[i].name = NULL;
            if (members->members[i].kind == RS_MEMBER_FIELD) {
                members->members[i].kind = RS_MEMBER_UNIT;
                members->members[i].type = NULL;
            }
        }
    return field->name;
}

static const char *unknown_type(const rs_syntax_type *type)
{
    for (; type != NULL && type->kind == RS_TYPE_ARRAY; type = type->of)
        if (type->count <= 0)
            return "has an array without a constant length";
    if (type != NULL && type->kind == RS_TYPE_REFERENCE)
        return "has a member that is a reference";
    if (type == NULL || type->size <= 0 || type->align <= 0)
        return "has a member of unknown size";
    if (type->kind == RS_TYPE_RECORD && type->declaration == NULL)
        return "has a member of a structure that is not declared";
    return NULL;
}

/* Neighbouring bit-fields that share bytes, from field *i on, which moves to the last of them. */
static void read_bits(rs_companion_members *members, const rs_syntax_declaration *record, size_t *i,
                      size_t at, const rs_syntax_type *base)
{
    const long long begin = record->fields[*i]->bit_offset / 8;
    long long end = begin;
    size_t last = *i;
    for (size_t k = *i; k < record->field_count; k++) {
        const rs_syntax_declaration *field = record->fields[k];
        if (!field->is_bitfield || field->bit_offset < 0 ||
            (k > *i && field->bit_offset / 8 >= end))
            break;
        end = (field->bit_offset + field->bit_width + 7) / 8;
        last = k;
    }
    if (end <= begin) {
        return; /* of no bits */
    }
    const size_t offset = at + (size_t)begin, size = (size_t)(end - begin);
    size_t align = size & (~size + 1);
    while (offset % align != 0)
        align /= 2;
    add(members, (rs_companion_member){RS_MEMBER_UNIT, NULL, NULL, base, offset, size, align});
    for (; *i <= last; (*i)++)
        if (record->fields[*i]->name[0] != '\0')
            add(members,
                (rs_companion_member){RS_MEMBER_BITS, name_of(members, record->fields[*i]),
                                      record->fields[*i]->type, base, offset, size, align});
    *i = last;
}

static void read_union(rs_companion_members *members, const rs_syntax_type *type, size_t offset,
                       const rs_syntax_type *base)
{
    const size_t size = (size_t)type->size, align = (size_t)type->align;
    add(members, (rs_companion_member){RS_MEMBER_UNIT, NULL, NULL, base, offset, size, align});
    for (size_t i = 0; i < type->declaration->field_count; i++) {
        const rs_syntax_declaration *field = type->declaration->fields[i];
        if (field->name[0] == '\0' || field->is_bitfield)
            refuse(members, "has a union without a name, which has bit-fields or structures");
        else
            add(members, (rs_companion_member){RS_MEMBER_VIEW, name_of(members, field), field->type,
                                               base, offset, size, align});
    }
}

static void read_record(rs_companion_members *members, const rs_syntax_declaration *record,
                        size_t at, const rs_syntax_type *base, int depth);

static void read_field(rs_companion_members *members, const rs_syntax_declaration *field, size_t at,
                       const rs_syntax_type *base, int depth)
{
    const char *unknown = unknown_type(field->type);
    if (unknown != NULL || field->bit_offset < 0 || field->bit_offset % 8 != 0) {
        refuse(members, unknown != NULL ? unknown : "has a member at an unknown place");
        return;
    }
    const rs_syntax_type *type = field->type->plain;
    const size_t offset = at + (size_t)field->bit_offset / 8;
    if (offset % (size_t)type->align != 0)
        refuse(members, "is packed: a member is not aligned");
    else if (field->name[0] != '\0')
        add(members, (rs_companion_member){RS_MEMBER_FIELD, name_of(members, field), type, base,
                                           offset, (size_t)type->size, (size_t)type->align});
    else if (type->kind == RS_TYPE_RECORD && type->declaration->is_union)
        read_union(members, type, offset, base);
    else if (type->kind == RS_TYPE_RECORD)
        read_record(members, type->declaration, offset, base, depth + 1);
    else
        refuse(members, "has a member without a name");
}

static void read_bases(rs_companion_members *members, const rs_syntax_declaration *record,
                       size_t at, int depth)
{
    for (size_t i = 0; i < record->base_count; i++) {
        const rs_syntax_base *base = &record->bases[i];
        if (base->type == NULL || base->type->declaration == NULL) {
            refuse(members, "has a base that is not declared");
        } else if (base->type->declaration->field_count > 0 ||
                   base->type->declaration->base_count > 0) {
            if (base->offset < 0)
                refuse(members, "has more than one base with members");
            else
                read_record(members, base->type->declaration, at + (size_t)base->offset, base->type,
                            depth + 1);
        }
    }
}

static void read_record(rs_companion_members *members, const rs_syntax_declaration *record,
                        size_t at, const rs_syntax_type *base, int depth)
{
    for (size_t i = 0; i < record->base_count; i++)
        if (record->bases[i].is_virtual)
            refuse(members, "has a virtual base");
    if (!record->is_defined)
        refuse(members, "is not defined");
    else if (record->is_polymorphic)
        refuse(members, "has virtual functions");
    else if (depth > MOST_DEPTH)
        refuse(members, "nests more than 32 structures");
    if (members->why != NULL)
        return;
    read_bases(members, record, at, depth);
    for (size_t i = 0; i < record->field_count && members->why == NULL; i++) {
        if (record->fields[i]->is_bitfield && record->fields[i]->bit_offset >= 0)
            read_bits(members, record, &i, at, base);
        else
            read_field(members, record->fields[i], at, base, depth);
    }
}

void rs_members_read(rs_companion_members *members, const rs_syntax_type *record)
{
    *members = (rs_companion_members){NULL, 0, NULL, false};
    const rs_syntax_type *type = record->plain;
    if (type->kind != RS_TYPE_RECORD || type->declaration == NULL || type->size <= 0) {
        refuse(members, "is not a structure that is defined");
        return;
    }
    if (type->declaration->is_union)
        refuse(members, "is a union");
    read_record(members, type->declaration, 0, NULL, 0);
    for (size_t i = 0; i < members->count; i++)
        if (members->members[i].align > (size_t)type->align)
            refuse(members, "is packed: its array may begin anywhere");
    if (members->count == 0)
        refuse(members, "has no members");
}

void rs_members_free(rs_companion_members *members)
{
    free(members->members);
    *members = (rs_companion_members){NULL, 0, NULL, false};
}

bool rs_member_is_apart(const rs_syntax_type *type)
{
    if (type->plain->kind != RS_TYPE_RECORD || type->size <= WHOLE_BYTES)
        return false;
    rs_companion_members members;
    rs_members_read(&members, type);
    const bool apart = members.why == NULL && !members.out_of_memory;
    rs_members_free(&members);
    return apart;
}

static bool has_own_copies(const rs_syntax_type *type, int depth)
{
    const rs_syntax_declaration *record = type->declaration;
    if (type->kind != RS_TYPE_RECORD || record->is_system)
        return false;
    bool has = record->has_own_copies || depth > MOST_DEPTH;
    for (size_t i = 0; i < record->base_count && !has; i++)
        has = has_own_copies(record->bases[i].type->plain, depth + 1);
    for (size_t i = 0; i < record->field_count && !has; i++)
        has = has_own_copies(rs_member_entry(record->fields[i]->type)->plain, depth + 1);
    return has;
}

bool rs_members_have_own_copies(const rs_syntax_type *record)
{
    return has_own_copies(record->plain, 0);
}

static bool has_toolkit(const rs_syntax_type *type)
{
    const rs_syntax_declaration *record = type->declaration;
    if (type->kind != RS_TYPE_RECORD)
        return false;
    bool has = record->is_system && !record->is_plain;
    for (size_t i = 0; i < record->base_count && !has; i++)
        has = has_toolkit(record->bases[i].type->plain);
    for (size_t i = 0; i < record->field_count && !has; i++)
        has = has_toolkit(rs_member_entry(record->fields[i]->type)->plain);
    return has;
}

bool rs_members_are_copied(const rs_syntax_type *record)
{
    return has_toolkit(record->plain) && !has_own_copies(record->plain, 0);
}
