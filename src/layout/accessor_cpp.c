/*
 * Accessors as a class of C++, for programs of C++11 and CUDA C++ alike: `bodies.ref(i).x` is the
 * member x of record i wherever the layout puts it, and `bodies.ref(i).in[1].a` a nested one.
 *
 * A reference consists of C++ references to the members, so it costs what the members cost that are
 * used: the compiler drops the others. Arrays and nested structures in records become types of the
 * same shape. The shape comes from the leaves' names ("in[1].a"), whose parts agree in all entries
 * of an array; a structure begins where its first leaf does, as in C.
 */
#include "layout/accessor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const restride_layout *layout;
    const char *name;       /* of the class */
    const char *qualifiers; /* of functions, with a blank behind them */
    rs_text types;          /* of nested structures, innermost first */
    size_t type_count;
    restride_status status; /* of the first member that C++ has no type for */
} class_writer;

static const char word[] = "unsigned long long";

/* What all classes have: makers of references, given where a record lies and a member in it. */
static const char *const makers[] = {
    "    template <class T> struct leaf_ {\n"
    "        typedef T &type;\n"
    "        ",
    "static type make(const position_ &p, unsigned long long o) { return p.template at<T>(o); }\n"
    "    };\n"
    "    template <class S> struct made_ {\n"
    "        typedef S type;\n"
    "        ",
    "static type make(const position_ &p, unsigned long long o) { return S(p, o); }\n"
    "    };\n"
    "    template <class E, unsigned long long stride> struct array_ {\n"
    "        typedef array_ type;\n"
    "        ",
    "static type make(const position_ &p, unsigned long long o) { array_ a = {p, o}; return a; }\n"
    "        ",
    "typename E::type operator[](unsigned long long k) const { return E::make(position, offset + k "
    "* "
    "stride); }\n"
    "        position_ position;\n"
    "        unsigned long long offset;\n"
    "    };\n",
};

static const char vectors[] =
    "    template <class T, int n> struct alignas(sizeof(T) * (n == 3 ? 4 : n)) "
    "vector_ {\n        T s[n];\n    };\n";

/* The members' leaves from `first` on, `count` of them, padding left out; `at` bytes of their names
 * are known to agree. */
typedef struct {
    const rs_leaf *const *first;
    size_t count;
    size_t at;
} leaves;

/* ---- types ---- */

/* Writes the type of a scalar, of a vector, or of an array of them that moves as a whole. */
static void write_leaf_type(class_writer *w, rs_text *out, const rs_leaf *leaf, const char *name)
{
    if (leaf->type == NULL) {
        if (w->status == RESTRIDE_OK)
            w->status = rs_fail(RESTRIDE_UNSUPPORTED,
                                "%s has no type in C++ that every compiler knows; write half as "
                                "ushort, and say the type of elements behind the dimensions, as in "
                                "\"%.200s float\".",
                                name, w->layout->dims_text);
        return;
    }
    if (leaf->lanes > 1)
        rs_text_format(out, "vector_<%s, %zu>", leaf->type, leaf->lanes);
    else
        rs_text_add_string(out, leaf->type);
    if (leaf->size > leaf->alignment)
        rs_text_format(out, "[%zu]", leaf->size / leaf->alignment);
}

/* The leaves of a list that begin with the same `length` bytes as the first one from `begin` on. */
static leaves group(const leaves *of, size_t begin, size_t length)
{
    const rs_leaf *const *first = of->first + begin;
    size_t count = 1;
    while (begin + count < of->count &&
           strncmp(first[0]->name, first[count]->name, of->at + length) == 0 &&
           (first[count]->name[of->at + length] == '\0' ||
            strchr(".[]", first[count]->name[of->at + length]) != NULL))
        count++;
    return (leaves){first, count, of->at + length};
}

static void write_structure(class_writer *w, rs_text *out, const char *name, const leaves *members);

/* Writes the maker of what the names of `part` go on with: nothing, an index or a member. */
static void write_maker(class_writer *w, rs_text *out, const leaves *part)
{
    const char *rest = part->first[0]->name + part->at;
    if (*rest == '\0') {
        rs_text_add_string(out, "leaf_<");
        write_leaf_type(w, out, part->first[0], part->first[0]->name);
        rs_text_add_string(out, ">");
    } else if (*rest == '[') {
        const leaves entry = group(part, 0, strcspn(rest, "]") + 1);
        size_t stride = 0; /* of one entry nobody asks for another */
        if (entry.count < part->count)
            stride = part->first[entry.count]->offset - part->first[0]->offset;
        rs_text_add_string(out, "array_<");
        write_maker(w, out, &entry);
        rs_text_format(out, ", %zu>", stride);
    } else {
        const leaves members = {part->first, part->count, part->at + 1};
        rs_text type = RS_TEXT_EMPTY;
        char name[32];
        rs_text_format(out, "made_<record_%zu_>", w->type_count);
        snprintf(name, sizeof name, "record_%zu_", w->type_count++);
        write_structure(w, &type, name, &members);
        rs_text_add_string(&w->types, type.failed ? "" : type.data);
        w->types.failed = w->types.failed || type.failed;
        rs_text_free(&type);
    }
}

/* ---- members ---- */

/* Writes a member's declaration and adds how it is made to `made`. */
static void write_member(class_writer *w, rs_text *out, rs_text *made, const leaves *member,
                         size_t from, size_t base)
{
    const char *name = member->first[0]->name + from;
    const int length = (int)(member->at - from);
    rs_text maker = RS_TEXT_EMPTY;
    write_maker(w, &maker, member);
    out->failed = out->failed || maker.failed;
    const char *text = maker.failed ? "" : maker.data;
    rs_text_format(out, "        %s::type %.*s;\n", text, length, name);
    rs_text_format(made, "%s%.*s(%s::make(p, o + %zu))", made->size > 0 ? ", " : "", length, name,
                   text, member->first[0]->offset - base);
    rs_text_free(&maker);
}

static void write_structure(class_writer *w, rs_text *out, const char *name, const leaves *members)
{
    rs_text made = RS_TEXT_EMPTY;
    const size_t base = members->at == 0 ? 0 : members->first[0]->offset;
    rs_text_format(out, "    struct %s {\n", name);
    for (size_t i = 0; i < members->count;) {
        const size_t length = strcspn(members->first[i]->name + members->at, ".[");
        const leaves member = group(members, i, length);
        write_member(w, out, &made, &member, members->at, base);
        i += member.count;
    }
    rs_text_format(out, "        %sexplicit %s(const position_ &p, %s o = 0) : %s {}\n    };\n",
                   w->qualifiers, name, word, made.failed ? "" : made.data);
    out->failed = out->failed || made.failed;
    rs_text_free(&made);
}

/* ---- the class ---- */

/* Writes BEFORE and the name of each dimension but the record, with a separator between them. */
static void list_names(const class_writer *w, rs_text *out, const char *before, const char *between)
{
    bool first = true;
    for (int d = 0; d < w->layout->rank; d++)
        if (d != w->layout->record) {
            rs_text_format(out, "%s%s%s", first ? "" : between, before,
                           w->layout->dimensions[d].name);
            first = false;
        }
}

/* The layout's own extents and the indices: what the offset depends on. */
static void write_position(const class_writer *w, rs_text *out)
{
    const bool alone = w->layout->rank == (w->layout->record >= 0 ? 1 : 0);
    rs_text_add_string(out, "    struct position_ {\n        char *memory;\n");
    for (int d = 0; d < w->layout->rank; d++)
        if (d != w->layout->record)
            rs_text_format(out, "        %s extent_%s, index_%s;\n", word,
                           w->layout->dimensions[d].name, w->layout->dimensions[d].name);
    rs_text_format(out, "        template <class T> %sT &at(%s field) const\n        {\n",
                   w->qualifiers, word);
    rs_text_format(out, "            return *reinterpret_cast<T *>(memory + %s_offset(", w->name);
    list_names(w, out, "extent_", ", ");
    rs_text_add_string(out, alone ? "" : ", ");
    list_names(w, out, "index_", ", ");
    rs_text_format(out, "%sfield, sizeof(T)));\n        }\n    };\n", alone ? "" : ", ");
}

static void write_constructor(const class_writer *w, rs_text *out)
{
    rs_text_format(out, "    %sexplicit %s(void *memory", w->qualifiers, w->name);
    for (int d = 0; d < w->layout->rank; d++)
        if (d != w->layout->record)
            rs_text_format(out, ", %s extent_%s", word, w->layout->dimensions[d].name);
    rs_text_add_string(out, ") : memory_(static_cast<char *>(memory))");
    for (int d = 0; d < w->layout->rank; d++)
        if (d != w->layout->record)
            rs_text_format(out, ", extent_%s_(extent_%s)", w->layout->dimensions[d].name,
                           w->layout->dimensions[d].name);
    rs_text_add_string(out, "\n    {\n    }\n");
}

static void write_fields(const class_writer *w, rs_text *out)
{
    rs_text_add_string(out, "\n  private:\n    char *memory_;\n");
    for (int d = 0; d < w->layout->rank; d++)
        if (d != w->layout->record)
            rs_text_format(out, "    %s extent_%s_;\n", word, w->layout->dimensions[d].name);
    rs_text_add_string(out, "};\n");
}

static void write_parameters(const class_writer *w, rs_text *out)
{
    char before[64];
    snprintf(before, sizeof before, "%s index_", word);
    list_names(w, out, before, ", ");
}

/* The leaves that are not padding; the caller frees them. */
static const rs_leaf **named_leaves(const rs_record *record, size_t *count)
{
    const rs_leaf **named = malloc((record->leaf_count + 1) * sizeof *named);
    *count = 0;
    for (size_t i = 0; named != NULL && i < record->leaf_count; i++)
        if (!record->leaves[i].padding)
            named[(*count)++] = &record->leaves[i];
    return named;
}

static void write_record(class_writer *w, rs_text *out)
{
    size_t count;
    const rs_leaf **named = named_leaves(&w->layout->dimensions[w->layout->record].record, &count);
    out->failed = out->failed || named == NULL;
    if (named == NULL)
        return;
    rs_text reference = RS_TEXT_EMPTY;
    const leaves all = {named, count, 0};
    write_structure(w, &reference, "reference", &all);
    out->failed = out->failed || reference.failed || w->types.failed;
    write_position(w, out);
    for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++)
        rs_text_format(out, "%s%s", i > 0 ? w->qualifiers : "", makers[i]);
    if (!out->failed) {
        rs_text_add(out, w->types.data == NULL ? "" : w->types.data, w->types.size);
        rs_text_format(out, "\n  public:\n    /* The members of one record. */\n%s\n",
                       reference.data);
    }
    write_constructor(w, out);
    rs_text_format(out, "    %sreference ref(", w->qualifiers);
    write_parameters(w, out);
    rs_text_add_string(out, ") const\n    {\n        position_ p = {memory_");
    for (int d = 0; d < w->layout->rank; d++)
        if (d != w->layout->record)
            rs_text_format(out, ", extent_%s_, index_%s", w->layout->dimensions[d].name,
                           w->layout->dimensions[d].name);
    rs_text_add_string(out, "};\n        return reference(p);\n    }\n");
    rs_text_free(&reference);
    free(named);
}

static void write_elements(class_writer *w, rs_text *out)
{
    rs_text type = RS_TEXT_EMPTY;
    write_leaf_type(w, &type, &w->layout->element, "An element");
    out->failed = out->failed || type.failed;
    rs_text_format(
        out,
        "  public:\n    template <class T> struct same_ {\n        typedef T type;\n    };\n"
        "    typedef same_<%s>::type element;\n\n",
        type.data == NULL ? "" : type.data);
    write_constructor(w, out);
    rs_text_format(out, "    %selement &ref(", w->qualifiers);
    write_parameters(w, out);
    rs_text_format(out,
                   ") const\n    {\n        return reinterpret_cast<element *>(memory_)[%s_offset(",
                   w->name);
    list_names(w, out, "extent_", "_, ");
    rs_text_add_string(out, "_, ");
    list_names(w, out, "index_", ", ");
    rs_text_add_string(out, ")];\n    }\n");
    rs_text_free(&type);
}

/* Members of a packed structure may lie at bytes where C++ has no references. */
static restride_status check_aligned(const restride_layout *layout)
{
    if (layout->record < 0)
        return RESTRIDE_OK;
    const rs_record *record = &layout->dimensions[layout->record].record;
    for (size_t i = 0; i < record->leaf_count; i++)
        if (record->leaves[i].alignment > record->alignment)
            return rs_fail(
                RESTRIDE_UNSUPPORTED,
                "Member \"%s\" of a packed record is not aligned, so C++ cannot refer to "
                "it; order the members by size, or leave out \"packed\".",
                record->leaves[i].name);
    return RESTRIDE_OK;
}

restride_status rs_layout_write_class(const restride_layout *layout, bool cuda, const char *name,
                                      rs_text *out)
{
    restride_status status = check_aligned(layout);
    if (status != RESTRIDE_OK)
        return status;
    class_writer w = {
        .layout = layout, .name = name, .qualifiers = cuda ? "__host__ __device__ " : ""};
    rs_text_format(out,
                   "/* Made by Restride: the layout \"%s\" of \"%s\" in %s. */\n#pragma once\n",
                   layout->expression_text, layout->dims_text, cuda ? "CUDA C++" : "C++11");
    rs_text_add_string(out, "#include <stdint.h>\n\n");
    rs_layout_write_offset(layout, cuda ? RESTRIDE_DIALECT_CUDA_C : RESTRIDE_DIALECT_C, name, false,
                           out);
    rs_text_format(out, "class %s\n{\n%s", name, vectors);
    if (layout->record >= 0)
        write_record(&w, out);
    else
        write_elements(&w, out);
    write_fields(&w, out);
    rs_text_free(&w.types);
    return w.status;
}
