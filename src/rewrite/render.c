/*
 * Writes the new source: the flat text, in which every understood access goes through the offset
 * function of its argument's layout (the software form of Tseng 2014, equations 1 and 2).
 */
#include "rewrite/model.h"

#include "base/text.h"
#include "layout/layout.h"

#include <stdlib.h>
#include <string.h>

/* Any count serves to generate an accessor; this one is above every sensible tile. */
enum { SAMPLE_COUNT = 1 << 30 };

static void write_range(const rs_model *model, rs_text *out, size_t begin, size_t end);

static void write_node(const rs_model *model, rs_text *out, int node)
{
    write_range(model, out, model->tree->nodes[node].begin, model->tree->nodes[node].end);
}

static const char *const_word(bool is_const)
{
    return is_const ? "const " : "";
}

static const char *volatile_word(bool is_volatile)
{
    return is_volatile ? "volatile " : "";
}

/* "COUNT, INDEX, OFFSET": where in the array the access goes. */
static void write_place(const rs_model *model, rs_text *out, const rs_access *a)
{
    rs_text_format(out, "restride_count_%s, ", model->arguments[a->argument].name);
    /* Index arithmetic wraps as pointer arithmetic of the device does. */
    const char *index_type = model->address_bits == 32 ? "int" : "long";
    for (int i = 0; i < a->index_count; i++) {
        rs_text_format(out, "%s(%s)(",
                       a->negative[i] ? (i > 0 ? " - " : "-") : (i > 0 ? " + " : ""), index_type);
        write_node(model, out, a->index[i]);
        rs_text_add_string(out, ")");
    }
    if (a->index_count == 0)
        rs_text_add_string(out, "0");
    rs_text_format(out, ", %zu", a->offset);
    for (int i = 0; i < a->subscript_count; i++) {
        rs_text_add_string(out, " + (long)(");
        write_node(model, out, a->subscript[i]);
        rs_text_format(out, ") * %zu", a->stride[i]);
    }
}

static void write_access(const rs_model *model, rs_text *out, const rs_access *a)
{
    const rs_argument *argument = &model->arguments[a->argument];
    rs_text qualifiers = RS_TEXT_EMPTY;
    rs_text_format(&qualifiers, "%s%s%s", volatile_word(a->is_volatile), const_word(a->is_const),
                   argument->address_space);
    const char *q = qualifiers.failed ? "" : qualifiers.data;
    if (a->kind == RS_ACCESS_LEAF) {
        rs_text_format(out, "(*(%s %s *)((%s char *)%s + restride_layout_%d_offset(", q, a->type, q,
                       argument->name, argument->accessor);
        write_place(model, out, a);
        rs_text_format(out, ", %zu)))", a->size);
    } else if (a->kind == RS_ACCESS_LOAD) {
        rs_text_format(out, "((union restride_value_%d){.bytes = restride_load_%d((%s char *)%s, ",
                       a->copier, a->copier, q, argument->name);
        write_place(model, out, a);
        rs_text_add_string(out, ")}).value");
    } else {
        if (a->value_used)
            rs_text_format(out, "((union restride_value_%d){.bytes = ", a->copier);
        rs_text_format(out, "restride_store_%d((%s char *)%s, ", a->copier, q, argument->name);
        write_place(model, out, a);
        rs_text_format(out, ", ((union restride_value_%d){.value = ", a->copier);
        write_node(model, out, a->value);
        rs_text_add_string(out, "}).bytes)");
        if (a->value_used)
            rs_text_add_string(out, "}).value");
    }
    if (qualifiers.failed)
        out->failed = true;
    rs_text_free(&qualifiers);
}

static bool is_transformed(const rs_model *model, const rs_access *a)
{
    return model->arguments[a->argument].reason == NULL;
}

/* The first access that starts at or behind `begin`. */
static int first_access(const rs_model *model, size_t begin)
{
    int low = 0, high = model->access_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (model->accesses[middle].begin < begin)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Writes the bytes [begin, end) of the flat text with the accesses inside them replaced. */
static void write_range(const rs_model *model, rs_text *out, size_t begin, size_t end)
{
    size_t at = begin;
    for (int i = first_access(model, begin); i < model->access_count; i++) {
        const rs_access *a = &model->accesses[i];
        if (a->begin >= end)
            break;
        if (a->begin < at || a->end > end || !is_transformed(model, a))
            continue; /* inside one that is written already, or around this range */
        rs_text_add(out, model->tree->text + at, a->begin - at);
        write_access(model, out, a);
        at = a->end;
    }
    rs_text_add(out, model->tree->text + at, end - at);
}

/* The unsigned type of padding, by its size. */
static const char *padding_type(size_t size)
{
    static const struct {
        size_t size;
        const char *type;
    } types[] = {{1, "unsigned char"}, {2, "unsigned short"}, {4, "unsigned int"},
                 {8, "unsigned long"}, {16, "uint4"},         {32, "uint8"},
                 {64, "uint16"},       {128, "ulong16"}};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (types[i].size == size)
            return types[i].type;
    return NULL;
}

static const rs_member *member_at(const rs_structure *s, size_t offset)
{
    for (size_t i = 0; i < s->member_count; i++)
        if (s->members[i].offset == offset)
            return &s->members[i];
    return NULL;
}

/* One assignment of a copying function: a member, or padding. */
static void write_copy(rs_text *out, const rs_copier *copier, const rs_structure *s,
                       const rs_leaf *leaf)
{
    const rs_member *member = leaf->padding ? NULL : member_at(s, leaf->offset);
    /* A bool moves as its byte: through its own type any byte would become 0 or 1. */
    bool as_bytes = member == NULL || strcmp(member->type, "bool") == 0;
    const char *name = as_bytes ? padding_type(leaf->size) : member->type;
    if (name == NULL) {
        out->failed = true;
        return;
    }
    char type[RS_TYPE_NAME_SIZE];
    strcpy(type, name);
    if (member != NULL && member->vector3)
        type[strlen(type) - 1] = '4'; /* with the bytes behind its third lane */
    rs_text own = RS_TEXT_EMPTY, far = RS_TEXT_EMPTY;
    if (member != NULL)
        rs_text_format(&own, "*(%s *)&x.value.%s", type, member->path);
    else
        rs_text_format(&own, "*(%s *)((char *)&x + %zu)", type, leaf->offset);
    rs_text_format(&far, "*(%s%s%s %s *)(p + restride_layout_%d_offset(count, i, at + %zu, %zu))",
                   volatile_word(copier->is_volatile), const_word(copier->is_const),
                   copier->address_space, type, copier->accessor, leaf->offset, leaf->size);
    if (own.failed || far.failed)
        out->failed = true;
    else if (copier->kind == RS_ACCESS_LOAD)
        rs_text_format(out, "    %s = %s;\n", own.data, far.data);
    else
        rs_text_format(out, "    %s = %s;\n", far.data, own.data);
    rs_text_free(&own);
    rs_text_free(&far);
}

/*
 * A copying function takes and returns a structure as plain bytes: passed as itself, compilers may
 * drop its padding, which a plain assignment copies.
 */
static void write_copier(const rs_model *model, rs_text *out, int number)
{
    static const struct {
        size_t size;
        const char *type;
    } words[] = {{4, "unsigned int"}, {2, "unsigned short"}, {1, "unsigned char"}};
    const rs_copier *copier = &model->copiers[number];
    const rs_structure *s = &model->structures[copier->structure];
    bool load = copier->kind == RS_ACCESS_LOAD;
    int w = 0;
    while (s->record.size % words[w].size != 0)
        w++;
    rs_text_format(out,
                   "struct restride_bytes_%d { %s words[%zu]; };\n"
                   "union restride_value_%d { %s value; struct restride_bytes_%d bytes; };\n",
                   number, words[w].type, s->record.size / words[w].size, number, s->name, number);
    rs_text_format(out,
                   "static inline struct restride_bytes_%d restride_%s_%d(%s%s%s char *p, unsigned "
                   "long count, long i, unsigned long at",
                   number, load ? "load" : "store", number, volatile_word(copier->is_volatile),
                   const_word(copier->is_const), copier->address_space);
    if (!load)
        rs_text_format(out, ", struct restride_bytes_%d bytes", number);
    rs_text_format(out, ")\n{\n    union restride_value_%d x;\n", number);
    if (!load)
        rs_text_add_string(out, "    x.bytes = bytes;\n");
    for (size_t i = 0; i < s->record.leaf_count; i++)
        write_copy(out, copier, s, &s->record.leaves[i]);
    rs_text_add_string(out, "    return x.bytes;\n}\n");
}

/* The functions for one structure and layout, before the first kernel that needs them. */
static restride_status write_accessor(const rs_model *model, rs_text *out, int number)
{
    const rs_accessor *accessor = &model->accessors[number];
    rs_text prefix = RS_TEXT_EMPTY;
    rs_text_format(&prefix, "restride_layout_%d", number);
    if (prefix.failed)
        return rs_fail_memory("an accessor");
    restride_layout *layout;
    restride_status status = rs_layout_of_record(
        &layout, &model->structures[accessor->structure].record, SAMPLE_COUNT, accessor->layout);
    if (status == RESTRIDE_OK) {
        if (out->size > 0 && out->data[out->size - 1] != '\n')
            rs_text_add_string(out, "\n");
        rs_layout_write_offset(layout, RESTRIDE_DIALECT_OPENCL_C, prefix.data, out);
    }
    restride_layout_destroy(layout);
    rs_text_free(&prefix);
    if (status != RESTRIDE_OK)
        return status;
    for (int i = 0; i < model->copier_count; i++)
        if (model->copiers[i].accessor == number)
            write_copier(model, out, i);
    return RESTRIDE_OK;
}

/* Something to write at a byte of the flat text: an accessor, or a kernel's added parameters. */
typedef struct {
    size_t position;
    int accessor; /* or -1 */
    int kernel;   /* or -1 */
} insertion;

static int compare_insertions(const void *a, const void *b)
{
    const insertion *x = a, *y = b;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    return (x->accessor > y->accessor) - (x->accessor < y->accessor);
}

/* The ")" behind the last parameter of a function; 0 when it has none. */
static size_t parameters_end(const rs_tree *tree, int function)
{
    size_t at = 0, depth = 0;
    for (int n = tree->nodes[function].first; n >= 0; n = tree->nodes[n].next)
        if (tree->nodes[n].kind == CXCursor_ParmDecl)
            at = tree->nodes[n].end;
    if (at == 0)
        return 0;
    for (; at < tree->size; at++) {
        if (strchr("([", tree->text[at]) != NULL)
            depth++;
        else if (tree->text[at] == ']')
            depth -= depth > 0;
        else if (tree->text[at] == ')' && depth-- == 0)
            return at;
    }
    return 0;
}

/* The kernel that a function declares or defines, if it gets more parameters; else -1. */
static int changed_kernel(const rs_model *model, int function)
{
    CXCursor declared = clang_getCanonicalCursor(model->tree->nodes[function].cursor);
    for (int k = 0; k < model->kernel_count; k++) {
        const rs_kernel_source *kernel = &model->kernels[k];
        if (clang_equalCursors(declared, clang_getCanonicalCursor(kernel->cursor)) == 0)
            continue;
        for (int i = 0; i < kernel->argument_count; i++)
            if (model->arguments[kernel->first_argument + i].reason == NULL)
                return k;
    }
    return -1;
}

/* All insertions in the order of the text; NULL when memory is short. */
static insertion *list_insertions(const rs_model *model, int *count)
{
    const rs_tree *tree = model->tree;
    int functions = 0;
    for (int n = 0; n < tree->node_count; n++)
        functions += tree->nodes[n].kind == CXCursor_FunctionDecl;
    insertion *list = malloc((size_t)(functions + model->accessor_count + 1) * sizeof *list);
    *count = 0;
    if (list == NULL)
        return NULL;
    for (int i = 0; i < model->accessor_count; i++)
        list[(*count)++] = (insertion){model->accessors[i].position, i, -1};
    for (int n = 0; n < tree->node_count; n++) {
        if (tree->nodes[n].kind != CXCursor_FunctionDecl)
            continue;
        int kernel = changed_kernel(model, n);
        size_t end = kernel < 0 ? 0 : parameters_end(tree, n);
        if (end > 0)
            list[(*count)++] = (insertion){end, -1, kernel};
    }
    qsort(list, (size_t)*count, sizeof *list, compare_insertions);
    return list;
}

static void write_parameters(const rs_model *model, rs_text *out, int kernel)
{
    const rs_kernel_source *k = &model->kernels[kernel];
    for (int i = 0; i < k->argument_count; i++) {
        const rs_argument *argument = &model->arguments[k->first_argument + i];
        if (argument->reason == NULL)
            rs_text_format(out, ", unsigned long restride_count_%s", argument->name);
    }
}

restride_status rs_model_render(const rs_model *model, char **source)
{
    int count;
    insertion *list = list_insertions(model, &count);
    if (list == NULL)
        return rs_fail_memory("the new source");
    rs_text out = RS_TEXT_EMPTY;
    size_t at = 0;
    restride_status status = RESTRIDE_OK;
    for (int i = 0; i < count && status == RESTRIDE_OK; i++) {
        write_range(model, &out, at, list[i].position);
        at = list[i].position;
        if (list[i].accessor >= 0)
            status = write_accessor(model, &out, list[i].accessor);
        else
            write_parameters(model, &out, list[i].kernel);
    }
    free(list);
    if (status == RESTRIDE_OK)
        write_range(model, &out, at, model->tree->size);
    if (status != RESTRIDE_OK) {
        rs_text_free(&out);
        return status;
    }
    *source = rs_text_take(&out);
    return *source != NULL ? RESTRIDE_OK : rs_fail_memory("the new source");
}
