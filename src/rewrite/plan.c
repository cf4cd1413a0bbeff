/* Which offset functions, copying functions and added parameters the new source needs. */
#include "rewrite/model.h"

#include "source/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The byte behind the preprocessor line that starts at `at`. */
static size_t skip_line(const rs_tree *tree, size_t at)
{
    while (at < tree->size && tree->text[at] != '\n')
        at++;
    return at;
}

/*
 * Where the declaration around `name` starts, its attributes included: behind the last ";" or "}"
 * outside of all brackets, and behind the preprocessor lines that follow it.
 */
static size_t declaration_start(const rs_tree *tree, size_t name)
{
    size_t start = 0, at = 0, depth = 0;
    while (at < name) {
        char c = tree->text[at];
        if (c == '#' && (at == 0 || tree->text[at - 1] == '\n')) {
            at = skip_line(tree, at);
            continue;
        }
        if (strchr("([{", c) != NULL && c != '\0')
            depth++;
        if (strchr(")]}", c) != NULL && c != '\0' && depth > 0)
            depth--;
        bool ends = depth == 0 && (c == ';' || c == '}');
        at = rs_word_skip(tree->text, tree->size, at);
        if (ends)
            start = at;
    }
    while (start < name) {
        if (tree->text[start] == '#')
            start = skip_line(tree, start);
        else if (isspace((unsigned char)tree->text[start]))
            start++;
        else
            break;
    }
    return start;
}

static restride_status choose_accessor(rs_model *model, rs_argument *argument)
{
    for (int i = 0; i < model->accessor_count; i++)
        if (model->accessors[i].structure == argument->structure &&
            strcmp(model->accessors[i].layout, argument->layout) == 0) {
            argument->accessor = i;
            return RESTRIDE_OK;
        }
    rs_accessor *grown =
        realloc(model->accessors, (size_t)(model->accessor_count + 1) * sizeof *grown);
    if (grown == NULL)
        return rs_fail_memory("an accessor");
    model->accessors = grown;
    unsigned name = 0;
    CXFile file;
    clang_getFileLocation(clang_getCursorLocation(model->kernels[argument->kernel].cursor), &file,
                          NULL, NULL, &name);
    char *layout = strdup(argument->layout);
    if (layout == NULL)
        return rs_fail_memory("an accessor");
    grown[model->accessor_count] =
        (rs_accessor){argument->structure, layout, declaration_start(model->tree, name)};
    argument->accessor = model->accessor_count++;
    return RESTRIDE_OK;
}

static bool same_copier(const rs_copier *a, const rs_copier *b)
{
    return a->kind == b->kind && a->accessor == b->accessor && a->structure == b->structure &&
           strcmp(a->address_space, b->address_space) == 0 && a->is_const == b->is_const &&
           a->is_volatile == b->is_volatile;
}

static restride_status choose_copier(rs_model *model, rs_access *access)
{
    const rs_argument *argument = &model->arguments[access->argument];
    rs_copier wanted = {access->kind,      argument->accessor,
                        access->structure, argument->address_space,
                        access->is_const,  access->is_volatile};
    for (int i = 0; i < model->copier_count; i++)
        if (same_copier(&model->copiers[i], &wanted)) {
            access->copier = i;
            return RESTRIDE_OK;
        }
    rs_copier *grown = realloc(model->copiers, (size_t)(model->copier_count + 1) * sizeof *grown);
    if (grown == NULL)
        return rs_fail_memory("a copying function");
    model->copiers = grown;
    grown[model->copier_count] = wanted;
    access->copier = model->copier_count++;
    return RESTRIDE_OK;
}

restride_status rs_model_plan(rs_model *model)
{
    restride_status status = RESTRIDE_OK;
    for (int k = 0; k < model->kernel_count && status == RESTRIDE_OK; k++) {
        const rs_kernel_source *kernel = &model->kernels[k];
        int added = 0;
        for (int i = 0; i < kernel->argument_count && status == RESTRIDE_OK; i++) {
            rs_argument *argument = &model->arguments[kernel->first_argument + i];
            if (argument->reason != NULL)
                continue;
            argument->count_argument = kernel->parameter_count + added++;
            status = choose_accessor(model, argument);
        }
    }
    for (int i = 0; i < model->access_count && status == RESTRIDE_OK; i++)
        if (model->accesses[i].kind != RS_ACCESS_LEAF &&
            model->arguments[model->accesses[i].argument].reason == NULL)
            status = choose_copier(model, &model->accesses[i]);
    return status;
}
