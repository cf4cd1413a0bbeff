/* See instances.h. */
#include "companion/instances.h"
#include "base/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const rs_companion_forms[RS_COMPANION_FORMS] = {"full", "ragged", "full_large",
                                                            "ragged_large"};

static const char use[] = "restride_use_";

/* --- names in the source --- */

/* A qualified name that holds at the end of the source; false where there is none. */
static bool write_reachable(rs_text *text, const char *qualified)
{
    static const char nameless[] = "(anonymous namespace)::";
    static const char *const never[] = {"(lambda", "(unnamed", "(anonymous"};
    for (const char *at = qualified; *at != '\0'; at++)
        if (strncmp(at, nameless, sizeof nameless - 1) == 0)
            at += sizeof nameless - 2;
        else if (strncmp(at, "::", 2) == 0 && (text->size == 0 || at[-1] == ':'))
            at += 1; /* a namespace without a name */
        else
            rs_text_add(text, at, 1);
    for (size_t i = 0; i < sizeof never / sizeof never[0]; i++)
        if (text->data == NULL || strstr(text->data, never[i]) != NULL)
            return false;
    return !text->failed;
}

/* Where the last part of a qualified name begins: behind its namespaces. */
static size_t last_part(const char *name)
{
    const size_t length = strcspn(name, "<");
    size_t at = length;
    while (at > 0 && name[at - 1] != ':')
        at--;
    return at;
}

static char *name_form(const char *reachable, const char *copy, const char *form)
{
    rs_text text = RS_TEXT_EMPTY;
    const char *arguments = strchr(reachable, '<');
    rs_text_add(&text, reachable, last_part(reachable));
    rs_text_add_string(&text, copy);
    if (arguments != NULL)
        rs_text_format(&text, "%.*s, ", (int)strlen(arguments) - 1, arguments);
    rs_text_format(&text, "%srestride_%s>", arguments == NULL ? "<" : "", form);
    return rs_text_take(&text);
}

static const rs_companion_copy *find_copy(const rs_companion_copies *copies,
                                          const rs_syntax_declaration *kernel, uint64_t transformed)
{
    for (size_t i = 0; i < copies->count; i++) {
        const rs_companion_copy *copy = &copies->at[i];
        const rs_syntax_range a = copy->function->name_range, b = kernel->name_range;
        bool is_it = copy->is_kernel && a.file == b.file && a.begin == b.begin &&
                     copy->function->parameter_count == kernel->parameter_count;
        for (size_t k = 0; is_it && k < kernel->parameter_count && k < 64; k++)
            is_it = (copy->shapes[k] == RS_SHAPE_POINTER) == ((transformed >> k & 1) != 0);
        if (is_it)
            return copy;
    }
    return NULL;
}

static void free_instance(rs_companion_instance *instance)
{
    free(instance->name);
    free(instance->symbol);
    for (size_t i = 0; i < RS_COMPANION_FORMS; i++) {
        free(instance->names[i]);
        free(instance->symbols[i]);
    }
}

restride_status rs_instances_add(rs_companion_instances *all, const rs_syntax_declaration *kernel,
                                 size_t of, uint64_t transformed, const rs_companion_copies *copies,
                                 bool has_groups)
{
    static const size_t in_full_tiles[RS_COMPANION_FORMS] = {0, 0, 2, 2};
    const rs_companion_copy *copy = find_copy(copies, kernel, transformed);
    rs_text reachable = RS_TEXT_EMPTY;
    if (transformed == 0 || copy == NULL || kernel->mangled == NULL ||
        !write_reachable(&reachable, kernel->qualified)) {
        rs_text_free(&reachable);
        return RESTRIDE_OK;
    }
    rs_companion_instance added = {
        .kernel = kernel, .of = of, .transformed = transformed, .symbol = strdup(kernel->mangled)};
    bool has_room = added.symbol != NULL && RS_LIST_GROW(all->at, all->count);
    for (size_t i = 0; i < RS_COMPANION_FORMS && has_room; i++) {
        added.names[i] = name_form(reachable.data, copy->name,
                                   rs_companion_forms[has_groups ? in_full_tiles[i] : i]);
        has_room = added.names[i] != NULL;
    }
    added.name = rs_text_take(&reachable);
    if (!has_room || added.name == NULL) {
        free_instance(&added);
        return rs_fail_memory("a companion");
    }
    all->at[all->count++] = added;
    return RESTRIDE_OK;
}

void rs_instances_use(rs_text *uses, const rs_companion_instances *all)
{
    for (size_t i = 0; i < all->count; i++)
        for (size_t k = 0; k < RS_COMPANION_FORMS; k++)
            rs_text_format(uses,
                           "\nstatic __attribute__((unused)) void *%s%zu_%zu() { return (void "
                           "*)&%s; }",
                           use, i, k, all->at[i].names[k]);
}

/* --- names for the linker --- */

static bool find_kernel(void *context, const rs_syntax_node *node)
{
    const rs_syntax_declaration **found = context;
    if (node->kind == RS_NODE_REFERENCE && node->declaration != NULL &&
        node->declaration->is_kernel)
        *found = node->declaration;
    return true;
}

restride_status rs_instances_read(rs_companion_instances *all, const rs_syntax *tree)
{
    for (size_t i = 0; i < tree->declaration_count; i++) {
        const rs_syntax_declaration *of = tree->declarations[i], *kernel = NULL;
        size_t which, form;
        int end = -1;
        if (of->kind != RS_DECLARATION_FUNCTION || strncmp(of->name, use, sizeof use - 1) != 0 ||
            sscanf(of->name + sizeof use - 1, "%zu_%zu%n", &which, &form, &end) != 2 ||
            of->name[sizeof use - 1 + (size_t)end] != '\0' || which >= all->count ||
            form >= RS_COMPANION_FORMS)
            continue;
        rs_syntax_walk(of->body, find_kernel, (void *)&kernel);
        if (kernel == NULL || kernel->mangled == NULL)
            continue;
        rs_companion_instance *instance = &all->at[which];
        free(instance->symbols[form]);
        instance->symbols[form] = strdup(kernel->mangled);
        if (instance->symbols[form] == NULL)
            return rs_fail_memory("a companion");
    }
    return RESTRIDE_OK;
}

void rs_instances_drop(rs_companion_instances *all)
{
    for (size_t i = 0; i < all->count; i++)
        free_instance(&all->at[i]);
    all->count = 0;
}

void rs_instances_free(rs_companion_instances *all)
{
    rs_instances_drop(all);
    free(all->at);
    *all = (rs_companion_instances){NULL, 0};
}
