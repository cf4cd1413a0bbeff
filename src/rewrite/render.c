/*
 * Puts the new source together: the flat text with its accesses replaced, and what is inserted into
 * it: generated functions, copies of kernels and of the helper functions that get pointers into
 * transformed buffers, and the added parameters.
 */
#include "rewrite/render.h"

#include "source/query.h"
#include "source/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* In the order in which they are written at one place. */
typedef enum { COPY, ACCESSOR, COPIER, PROTOTYPE, PARAMETERS, BASES } insertion_kind;

typedef struct {
    size_t position;
    insertion_kind kind;
    int number; /* of the accessor, copier or instance; of the function */
} insertion;

typedef struct {
    insertion *items;
    int count;
} insertion_list;

static int compare_insertions(const void *a, const void *b)
{
    const insertion *x = a, *y = b;
    if (x->position != y->position)
        return x->position < y->position ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

size_t rs_parameters_end(const rs_tree *tree, int function)
{
    size_t at = 0, depth = 0;
    RS_EACH_CHILD(n, tree, function)
        if (tree->nodes[n].is == RS_NODE_PARAMETER)
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

static bool is_changed(const rs_model *model, const rs_function *kernel)
{
    for (int i = 0; i < kernel->argument_count; i++)
        if (model->arguments[kernel->first_argument + i].reason == NULL)
            return true;
    return false;
}

static bool needs_bases(const rs_model *model, const rs_function *kernel)
{
    for (int i = 0; i < kernel->argument_count; i++) {
        const rs_pointer_parameter *argument = &model->arguments[kernel->first_argument + i];
        if (argument->reason == NULL && argument->based)
            return true;
    }
    return false;
}

static void insert(insertion_list *list, size_t position, insertion_kind kind, int number)
{
    list->items[list->count++] = (insertion){position, kind, number};
}

static void insert_copy(const rs_model *model, insertion_list *list, int instance)
{
    const rs_function *function = &model->functions[model->instances[instance].function];
    if (rs_kernel_instance(model, model->instances[instance].function) ==
        &model->instances[instance])
        return;
    int declared = function->first_node;
    if (!function->kernel && declared >= 0 && declared != function->node) {
        size_t name = model->tree->nodes[declared].place;
        insert(list, rs_declaration_start(model, name), PROTOTYPE, instance);
    }
    insert(list, model->tree->nodes[function->node].end, COPY, instance);
}

/* The added parameters, in all declarations of the kernels that get some. */
static void insert_parameters(const rs_model *model, insertion_list *list)
{
    const rs_tree *tree = model->tree;
    for (int n = 0; n < tree->node_count; n++) {
        if (tree->nodes[n].is != RS_NODE_FUNCTION)
            continue;
        int f = rs_model_function(model, tree->nodes[n].declaration);
        if (f < 0 || !model->functions[f].kernel || !is_changed(model, &model->functions[f]))
            continue;
        size_t end = rs_parameters_end(tree, n);
        if (end > 0)
            insert(list, end, PARAMETERS, f);
        if (n == model->functions[f].node && needs_bases(model, &model->functions[f]))
            insert(list, tree->nodes[model->functions[f].body].begin + 1, BASES, f);
    }
}

static restride_status list_insertions(const rs_model *model, insertion_list *list)
{
    const rs_tree *tree = model->tree;
    size_t limit = (size_t)model->accessor_count + (size_t)model->copier_count +
                   2 * (size_t)model->instance_count;
    for (int n = 0; n < tree->node_count; n++)
        limit += tree->nodes[n].is == RS_NODE_FUNCTION ? 2 : 0;
    *list = (insertion_list){malloc((limit + 1) * sizeof *list->items), 0};
    if (list->items == NULL)
        return rs_fail_memory("the new source");
    for (int i = 0; i < model->accessor_count; i++)
        insert(list, model->accessors[i].position, ACCESSOR, i);
    for (int i = 0; i < model->copier_count; i++)
        insert(list, model->copiers[i].position, COPIER, i);
    for (int i = 0; i < model->instance_count; i++)
        insert_copy(model, list, i);
    insert_parameters(model, list);
    qsort(list->items, (size_t)list->count, sizeof *list->items, compare_insertions);
    return RESTRIDE_OK;
}

static void write_kernel_parameters(const rs_model *model, rs_text *text, int function, bool bases)
{
    const rs_function *kernel = &model->functions[function];
    for (int i = 0; i < kernel->argument_count; i++) {
        const rs_pointer_parameter *argument = &model->arguments[kernel->first_argument + i];
        if (argument->reason != NULL)
            continue;
        if (!bases)
            rs_text_format(text, ", unsigned long restride_count_%s", argument->name);
        else if (argument->based)
            rs_text_format(text, " %s char *const restride_base_%s = (%s char *)%s;",
                           argument->address_space, argument->name, argument->address_space,
                           argument->name);
    }
}

static void write_copy_parameters(const rs_model *model, rs_text *text, const rs_instance *instance)
{
    const rs_function *function = &model->functions[instance->function];
    for (int i = 0; i < function->argument_count; i++) {
        const rs_pointer_parameter *argument = &model->arguments[function->first_argument + i];
        if (instance->accessors[i] >= 0)
            rs_text_format(text, ", %s char *restride_base_%s, unsigned long restride_count_%s",
                           argument->address_space, argument->name, argument->name);
    }
}

static bool is_static(const rs_tree *tree, size_t begin, size_t end)
{
    size_t word, length;
    while (rs_word_next(tree->text, end, &begin, &word, &length))
        if (rs_word_equals(tree->text, word, length, "static"))
            return true;
    return false;
}

/* A copy of a kernel for arrays whose tiles are all full. */
static void write_kernel_copy(const rs_writer *source, int number)
{
    const rs_model *model = source->model;
    rs_numbered_text *out = source->out;
    const rs_tree *tree = model->tree;
    const rs_instance *instance = &model->instances[number];
    const rs_function *kernel = &model->functions[instance->function];
    size_t name = kernel->declaration->place, start = rs_declaration_start(model, name);
    size_t end = rs_parameters_end(tree, kernel->node);
    size_t inside = tree->nodes[kernel->body].begin + 1;
    rs_numbered_start_line(out, start);
    rs_numbered_add(out, start, name, false);
    rs_text_format(&out->text, RS_FULL_KERNEL, kernel->name);
    rs_numbered_add(out, name + strlen(kernel->name), end, false);
    write_kernel_parameters(model, &out->text, instance->function, false);
    rs_numbered_add(out, end, inside, false);
    if (needs_bases(model, kernel))
        write_kernel_parameters(model, &out->text, instance->function, true);
    rs_writer w = {model, out, source->locals, instance, false};
    rs_write_range(&w, inside, tree->nodes[kernel->body].end, 0);
}

/* A copy of a helper for certain layouts, or its declaration alone. */
static void write_copy(const rs_writer *source, int number, bool whole)
{
    const rs_model *model = source->model;
    rs_numbered_text *out = source->out;
    const rs_tree *tree = model->tree;
    const rs_instance *instance = &model->instances[number];
    const rs_function *function = &model->functions[instance->function];
    size_t name = function->declaration->place, start = rs_declaration_start(model, name);
    size_t end = rs_parameters_end(tree, function->node), body = tree->nodes[function->body].begin;
    rs_numbered_start_line(out, start);
    if (!model->lacks_static && !is_static(tree, start, body))
        rs_text_add_string(&out->text, "static ");
    rs_numbered_add(out, start, name, false);
    rs_write_instance_name(model, &out->text, number);
    rs_numbered_add(out, name + strlen(function->name), end, false);
    write_copy_parameters(model, &out->text, instance);
    size_t header_end = body;
    while (!whole && isspace((unsigned char)tree->text[header_end - 1]))
        header_end--; /* and the comments before the body */
    rs_numbered_add(out, end, header_end, false);
    rs_writer w = {model, out, source->locals, instance, false};
    if (whole)
        rs_write_range(&w, body, tree->nodes[function->body].end, 0);
    else
        rs_text_add_string(&out->text, ";");
}

/* Takes "static inline" from the generated functions behind `begin`. They are all of one program,
 * and "inline" alone would leave it to another one to define them. */
static void make_functions_plain(rs_text *text, size_t begin)
{
    static const char words[] = "static inline ";
    if (text->failed)
        return;
    char *to = text->data + begin;
    for (const char *from = to; *from != '\0';) {
        const char *found = strstr(from, words);
        const size_t length = found != NULL ? (size_t)(found - from) : strlen(from);
        memmove(to, from, length);
        to += length;
        from += length + (found != NULL ? sizeof words - 1 : 0);
    }
    *to = '\0';
    text->size = (size_t)(to - text->data);
}

static restride_status write_insertion(const rs_writer *w, const insertion *i)
{
    const rs_model *model = w->model;
    rs_numbered_text *out = w->out;
    restride_status status = RESTRIDE_OK;
    if (i->kind == PARAMETERS || i->kind == BASES) {
        write_kernel_parameters(model, &out->text, i->number, i->kind == BASES);
        return RESTRIDE_OK;
    }
    if (out->text.size > 0 && out->text.data[out->text.size - 1] != '\n')
        rs_text_add_string(&out->text, "\n");
    const size_t begin = out->text.size;
    if (i->kind == ACCESSOR)
        status = rs_render_accessor(model, i->number, &out->text);
    else if (i->kind == COPIER)
        rs_render_copier(model, i->number, &out->text);
    else if (model->functions[model->instances[i->number].function].kernel)
        write_kernel_copy(w, i->number);
    else
        write_copy(w, i->number, i->kind == COPY);
    if (model->lacks_static && (i->kind == ACCESSOR || i->kind == COPIER))
        make_functions_plain(&out->text, begin);
    rs_numbered_start_line(out, i->position);
    return status;
}

restride_status rs_model_render(const rs_model *model, char **source)
{
    insertion_list list;
    rs_numbered_text out = {model->flat, {NULL, 0}, RS_TEXT_EMPTY, 0, (size_t)-1, 1};
    restride_status status = list_insertions(model, &list);
    if (status == RESTRIDE_OK)
        status = rs_source_lines_read(model->flat, &out.lines);
    rs_locals locals = {NULL, NULL, 0, 0};
    if (status == RESTRIDE_OK)
        status = rs_locals_find(&locals, model);
    size_t at = 0;
    rs_writer w = {model, &out, &locals, NULL, false};
    for (int i = 0; i < list.count && status == RESTRIDE_OK; i++) {
        rs_write_range(&w, at, list.items[i].position, 0);
        at = list.items[i].position;
        status = write_insertion(&w, &list.items[i]);
    }
    if (status == RESTRIDE_OK)
        rs_write_range(&w, at, model->flat->appendix, 0);
    rs_locals_free(&locals);
    free(list.items);
    free(out.lines.items);
    if (status != RESTRIDE_OK) {
        rs_text_free(&out.text);
        return status;
    }
    *source = rs_text_take(&out.text);
    return *source != NULL ? RESTRIDE_OK : rs_fail_memory("the new source");
}
