/*
 * Writes the accessors of a record: a class template of references to its members, and one more for
 * each record in it that is taken apart. prelude.cuh has all that does not depend on the record.
 *
 * Types are written as decltype of the members, so that they need no names.
 */
#include "companion/accessors.h"

#include "companion/members.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const char rs_companion_prelude[]; /* prelude.cuh, pointers.cuh */

void rs_companion_prelude_write(rs_text *text)
{
    rs_text_add_string(text, rs_companion_prelude);
}

/* ---- what is known of a record ---- */

static const char without_name[] = "has no name at file scope";

bool rs_companion_record_is_known(const rs_syntax *tree, const rs_syntax_type *record,
                                  const char **why)
{
    (void)tree;
    rs_companion_members members;
    rs_members_read(&members, record);
    *why = members.why;
    if (*why == NULL && (strstr(record->plain->name, "(unnamed") != NULL ||
                         strstr(record->plain->name, "(lambda") != NULL ||
                         (record->declaration->parent != NULL &&
                          record->declaration->parent->kind == RS_DECLARATION_FUNCTION)))
        *why = without_name;
    if (members.out_of_memory)
        *why = "does not fit in memory";
    rs_members_free(&members);
    return *why == NULL;
}

bool rs_companion_member_is_whole(const rs_syntax *tree, const rs_syntax_type *type)
{
    (void)tree;
    return type->plain->kind != RS_TYPE_ARRAY && !rs_member_is_apart(type);
}

/* ---- leaves ---- */

static restride_status add_leaves(rs_record *leaves, const char *name, const rs_syntax_type *type,
                                  size_t offset);

static restride_status add_leaf(rs_record *leaves, const char *name, size_t offset, size_t size,
                                size_t align)
{
    restride_status status = rs_record_add_leaf(leaves, name, offset, size);
    if (status == RESTRIDE_OK)
        leaves->leaves[leaves->leaf_count - 1].alignment = align;
    return status;
}

static restride_status add_members(rs_record *leaves, const char *path, const rs_syntax_type *type,
                                   size_t at)
{
    rs_companion_members members;
    rs_members_read(&members, type);
    restride_status status = members.out_of_memory ? rs_fail_memory("a structure's members")
                             : members.why != NULL
                                 ? rs_fail(RESTRIDE_UNSUPPORTED, "%s %s.", type->name, members.why)
                                 : RESTRIDE_OK;
    for (size_t i = 0; i < members.count && status == RESTRIDE_OK; i++) {
        const rs_companion_member *member = &members.members[i];
        rs_text name = RS_TEXT_EMPTY;
        rs_text_format(&name, "%s%s", path, path[0] != '\0' ? "." : "");
        if (member->name != NULL)
            rs_text_add_string(&name, member->name);
        else
            rs_text_format(&name, "at%zu", member->offset);
        if (name.failed)
            status = rs_fail_memory("a member's name");
        else if (member->kind == RS_MEMBER_FIELD)
            status = add_leaves(leaves, name.data, member->type, at + member->offset);
        else if (member->kind == RS_MEMBER_UNIT)
            status = add_leaf(leaves, name.data, at + member->offset, member->size, member->align);
        rs_text_free(&name);
    }
    rs_members_free(&members);
    return status;
}

static restride_status add_leaves(rs_record *leaves, const char *name, const rs_syntax_type *type,
                                  size_t offset)
{
    if (rs_member_is_apart(type))
        return add_members(leaves, name, type, offset);
    if (type->plain->kind != RS_TYPE_ARRAY)
        return add_leaf(leaves, name, offset, (size_t)type->size, (size_t)type->align);
    restride_status status = RESTRIDE_OK;
    for (long long k = 0; k < type->count && status == RESTRIDE_OK; k++) {
        rs_text entry = RS_TEXT_EMPTY;
        rs_text_format(&entry, "%s[%lld]", name, k);
        status = entry.failed ? rs_fail_memory("a member's name")
                              : add_leaves(leaves, entry.data, type->of,
                                           offset + (size_t)k * (size_t)type->of->size);
        rs_text_free(&entry);
    }
    return status;
}

restride_status rs_companion_record_of(rs_record *leaves, const rs_syntax *tree,
                                       const rs_syntax_type *record)
{
    (void)tree;
    *leaves = (rs_record){0};
    restride_status status = add_members(leaves, "", record->plain, 0);
    if (status == RESTRIDE_OK)
        status = rs_record_complete(leaves, (size_t)record->size, (size_t)record->align);
    if (status != RESTRIDE_OK)
        rs_record_free(leaves);
    return status;
}

void rs_companion_layout_write(rs_text *text, const rs_companion_layout *layout)
{
    const size_t tile = layout->tile, group = layout->group;
    if (tile <= 1)
        rs_text_add_string(text, tile == 0 ? "f i" : "i f");
    else if (group <= 1)
        rs_text_format(text, "i/%zu f i%%%zu", tile, tile);
    else
        rs_text_format(text, "i/%zu i%%%zu f i/%zu%%%zu", tile * group, group, group, tile);
}

/* ---- classes ---- */

/* A type's name without what has none: namespaces. */
static void write_named(rs_text *text, const rs_syntax_type *type)
{
    static const char anonymous[] = "(anonymous namespace)::";
    for (const char *c = type->plain->name; *c != '\0'; c++)
        if (strncmp(c, anonymous, sizeof anonymous - 1) == 0)
            c += sizeof anonymous - 2;
        else
            rs_text_add(text, c, 1);
}

/* The same so that it holds in every scope. */
static void write_name(rs_text *text, const rs_syntax_type *type)
{
    rs_text_add_string(text, "::");
    write_named(text, type);
}

/* The class of a record: restride_fields_NAME. */
static void write_class_name(rs_text *text, const rs_syntax_type *record)
{
    rs_text name = RS_TEXT_EMPTY;
    write_named(&name, record);
    text->failed = text->failed || name.failed;
    rs_text_add_string(text, "restride_fields_");
    for (const char *c = name.failed ? "" : name.data; *c != '\0'; c++)
        if (isalnum((unsigned char)*c) || *c == '_')
            rs_text_add(text, c, 1);
        else if (isalnum((unsigned char)c[1]))
            rs_text_add_string(text, "_");
    rs_text_free(&name);
}

/* decltype of a member. */
static void write_type(rs_text *text, const rs_companion_member *member)
{
    rs_text_add_string(text, "decltype(");
    if (member->base != NULL)
        write_name(text, member->base);
    else
        rs_text_add_string(text, "restride_record");
    rs_text_format(text, "::%s)", member->name);
}

/* Numbers have names that need no access to the member. */
static bool is_number(const rs_syntax_type *type)
{
    return type->plain == type &&
           (type->kind == RS_TYPE_BOOL || type->kind == RS_TYPE_INTEGER ||
            (type->kind == RS_TYPE_FLOAT && (type->size == 4 || type->size == 8)));
}

/* The kind of an entry, with the arrays around it. `nested` is the class of a record. */
static void write_kind(rs_text *text, const rs_companion_member *member, const rs_syntax_type *type,
                       const char *nested)
{
    if (type->kind == RS_TYPE_ARRAY) {
        rs_text_add_string(text, "restride_array<");
        write_kind(text, member, type->of, nested);
        rs_text_format(text, ", %lld, %lld>", type->count, type->of->size);
    } else if (nested != NULL) {
        rs_text_format(text, "restride_nested<%s>", nested);
    } else if (is_number(type)) {
        rs_text_format(text, "restride_whole<%s>", type->name);
    } else {
        const bool is_toolkit = type->kind == RS_TYPE_RECORD && type->declaration->is_system;
        rs_text_format(text, "%s<restride_entry<",
                       is_toolkit ? "restride_toolkit" : "restride_whole");
        write_type(text, member);
        rs_text_add_string(text, ">>");
    }
}

/* The functions that read and write a bit-field in a record. */
static void write_bits(rs_text *text, const rs_companion_member *member, size_t i)
{
    rs_text_format(text, "    struct restride_bits_%zu {\n        typedef ", i);
    rs_text_add_string(text, "typename restride_base::restride_record record;\n        typedef ");
    write_type(text, member);
    rs_text_format(text,
                   " value;\n"
                   "        static RESTRIDE_INLINE value get(const record &r) { return r.%s; }\n"
                   "        static RESTRIDE_INLINE void set(record &r, value v) { r.%s = v; }\n"
                   "    };\n",
                   member->name, member->name);
}

static void write_member_kind(rs_text *text, const rs_companion_member *member, size_t i,
                              const char *nested)
{
    if (member->name == NULL && member->kind != RS_MEMBER_UNIT)
        return;
    rs_text kind = RS_TEXT_EMPTY;
    switch (member->kind) {
    case RS_MEMBER_FIELD:
        write_kind(&kind, member, member->type, nested);
        break;
    case RS_MEMBER_UNIT:
        rs_text_format(&kind, "restride_whole<restride_unit<%zu, %zu>>", member->size,
                       member->align);
        break;
    case RS_MEMBER_VIEW:
        rs_text_add_string(&kind, "restride_whole<");
        write_type(&kind, member);
        rs_text_format(&kind, ", %zu>", member->size);
        break;
    case RS_MEMBER_BITS:
        write_bits(text, member, i);
        rs_text_format(&kind, "restride_bits<restride_bits_%zu, restride_unit<%zu, %zu>, %zu>", i,
                       member->size, member->align, member->offset);
        break;
    }
    text->failed = text->failed || kind.failed;
    rs_text_format(text, "    typedef %s restride_%zu;\n", kind.failed ? "" : kind.data, i);
    rs_text_free(&kind);
}

static void write_class(rs_text *text, const rs_syntax *tree, const rs_syntax_type *of,
                        const char *name, const char *record, const rs_companion_members *members);

/* The class of the record that a member is or consists of, in front of the one that has it. */
static void write_nested(rs_text *text, const rs_syntax *tree, const char *class,
                         const char *record, const rs_companion_member *of)
{
    rs_companion_members members;
    rs_text name = RS_TEXT_EMPTY, type = RS_TEXT_EMPTY;
    rs_text_format(&name, "%s_%s", class, of->name);
    rs_text_add_string(&type, "restride_entry<decltype(restride_given<P, ");
    if (of->base != NULL)
        write_name(&type, of->base);
    else
        rs_text_add_string(&type, record);
    rs_text_format(&type, ">::type::%s)>", of->name);
    rs_members_read(&members, rs_member_entry(of->type));
    text->failed = text->failed || members.out_of_memory || name.failed || type.failed;
    if (!text->failed)
        write_class(text, tree, rs_member_entry(of->type), name.data, type.data, &members);
    rs_members_free(&members);
    rs_text_free(&name);
    rs_text_free(&type);
}

static bool has_class(const rs_companion_member *member)
{
    return member->kind == RS_MEMBER_FIELD && rs_member_is_apart(rs_member_entry(member->type));
}

static void write_parts(rs_text *text, const rs_companion_members *members)
{
    const char *before = "";
    rs_text_add_string(text, "    typedef restride_parts_of<");
    for (size_t i = 0; i < members->count; i++) {
        const rs_companion_member *member = &members->members[i];
        if (member->kind != RS_MEMBER_FIELD && member->kind != RS_MEMBER_UNIT)
            continue;
        rs_text_format(text, "%srestride_part<restride_%zu, %zu>", before, i, member->offset);
        before = ", ";
    }
    rs_text_add_string(text, "> restride_parts;\n\n");
}

/* What makes the references, and the assignments. */
static void write_functions(rs_text *text, const char *name, const rs_companion_members *members)
{
    rs_text_format(text,
                   "\n    RESTRIDE_INLINE explicit %s(const P &restride_at)\n"
                   "        : restride_base(restride_at)",
                   name);
    for (size_t i = 0; i < members->count; i++)
        if (members->members[i].name != NULL)
            rs_text_format(text,
                           ",\n          %s(restride_%zu::template in<P, O + "
                           "%zu>::make(restride_at))",
                           members->members[i].name, i, members->members[i].offset);
    rs_text_format(text, "\n    {\n    }\n    RESTRIDE_ASSIGNMENTS(%s)\n};\n", name);
}

static void write_class(rs_text *text, const rs_syntax *tree, const rs_syntax_type *of,
                        const char *name, const char *record, const rs_companion_members *members)
{
    for (size_t i = 0; i < members->count; i++)
        if (has_class(&members->members[i]))
            write_nested(text, tree, name, record, &members->members[i]);
    rs_text_format(text,
                   "template <class P, restride_size O>\n"
                   "struct %s : restride_element<%s<P, O>, %s, P, O> {\n"
                   "    typedef %s restride_record;\n"
                   "    typedef restride_element<%s, restride_record, P, O> restride_base;\n",
                   name, name, record, record, name);
    rs_text_format(text, "    static constexpr bool restride_copies = %s;\n",
                   rs_members_are_copied(of) ? "true" : "__is_trivially_copyable(restride_record)");
    for (size_t i = 0; i < members->count; i++) {
        const rs_companion_member *member = &members->members[i];
        rs_text nested = RS_TEXT_EMPTY;
        if (has_class(member))
            rs_text_format(&nested, "%s_%s", name, member->name);
        text->failed = text->failed || nested.failed;
        write_member_kind(text, member, i, nested.data);
        rs_text_free(&nested);
    }
    write_parts(text, members);
    for (size_t i = 0; i < members->count; i++)
        if (members->members[i].name != NULL)
            rs_text_format(text, "    typename restride_%zu::template in<P, O + %zu>::type %s;\n",
                           i, members->members[i].offset, members->members[i].name);
    write_functions(text, name, members);
}

restride_status rs_companion_accessors_write(rs_text *text, const rs_syntax *tree,
                                             const rs_syntax_type *record,
                                             const rs_companion_layout *layout)
{
    const char *why = NULL;
    if (!rs_companion_record_is_known(tree, record, &why))
        return rs_fail(RESTRIDE_UNSUPPORTED, "%s %s.", record->name, why);
    rs_companion_members members;
    rs_text name = RS_TEXT_EMPTY, type = RS_TEXT_EMPTY;
    rs_members_read(&members, record);
    write_class_name(&name, record->plain);
    write_name(&type, record);
    text->failed = text->failed || name.failed || type.failed || members.out_of_memory;
    if (!text->failed) {
        rs_text_format(text, "/* %s, %lld bytes, in ", record->plain->name, record->size);
        rs_companion_layout_write(text, layout);
        rs_text_add_string(text, ". */\n");
        write_class(text, tree, record->plain, name.data, type.data, &members);
        rs_text_format(
            text,
            "template <class P> RESTRIDE_TYPE %s<P, 0> restride_fields_of(const %s *, P *);\n"
            "RESTRIDE_TYPE restride_tiling<%lld, %zu, %zu> restride_layout_of(const %s *);\n",
            name.data, type.data, record->size, layout->tile,
            layout->group == 0 ? 1 : layout->group, type.data);
    }
    rs_members_free(&members);
    rs_text_free(&name);
    rs_text_free(&type);
    return text->failed ? rs_fail_memory("the accessors of a record") : RESTRIDE_OK;
}

/* ---- access ---- */

static void write_friends(rs_text *text, const char *name, const rs_syntax_type *record)
{
    rs_companion_members members;
    rs_members_read(&members, record);
    rs_text_format(text, "template <class, restride_size> friend struct %s; ", name);
    for (size_t i = 0; i < members.count; i++)
        if (has_class(&members.members[i])) {
            rs_text nested = RS_TEXT_EMPTY;
            rs_text_format(&nested, "%s_%s", name, members.members[i].name);
            text->failed = text->failed || nested.failed;
            if (!nested.failed)
                write_friends(text, nested.data, rs_member_entry(members.members[i].type));
            rs_text_free(&nested);
        }
    rs_members_free(&members);
}

void rs_companion_friend_write(rs_text *text, const rs_syntax_type *record)
{
    rs_text name = RS_TEXT_EMPTY;
    write_class_name(&name, record->plain);
    text->failed = text->failed || name.failed;
    if (!name.failed)
        write_friends(text, name.data, record->plain);
    rs_text_free(&name);
}
