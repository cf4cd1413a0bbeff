/*
 * What follows from calls: a helper function that cannot be copied for another layout, or that uses
 * a pointer in a way that is not understood, is a reason for the argument that is passed to it.
 */
#include "rewrite/locals.h"
#include "rewrite/names.h"

#include "source/query.h"
#include "source/words.h"

#include <stdlib.h>
#include <string.h>

/* Whether one of these words stands in the text [position, end). */
static bool has_word(const rs_model *model, size_t position, size_t end, const char *const words[],
                     size_t count)
{
    const rs_tree *tree = model->tree;
    size_t word, length;
    while (rs_word_next(tree->text, end, &position, &word, &length))
        for (size_t i = 0; i < count; i++)
            if (rs_word_equals(tree->text, word, length, words[i]))
                return true;
    return false;
}

static bool declares_type(const rs_tree *tree, const rs_function *function)
{
    for (int n = function->node + 1; n < function->body; n++)
        if (tree->nodes[n].is == RS_NODE_STRUCT || tree->nodes[n].is == RS_NODE_UNION ||
            tree->nodes[n].is == RS_NODE_ENUM)
            return true;
    return false;
}

bool rs_function_names_itself(const rs_model *model, const rs_function *function)
{
    static const char *const words[] = {"__func__", "__FUNCTION__", "__PRETTY_FUNCTION__",
                                        "__builtin_FUNCTION"};
    const rs_node *node = &model->tree->nodes[function->node];
    return has_word(model, node->begin, node->end, words, sizeof words / sizeof words[0]);
}

/* Whether a variable never changes: all copies of a function may have their own. */
static bool is_table(const rs_syntax_declaration *variable)
{
    /* An array has its elements' qualifiers. */
    const rs_syntax_type *type = rs_declared_type(variable);
    return type->is_const || (rs_type_element(type)->kind != RS_TYPE_POINTER &&
                              type->space == RS_SYNTAX_SPACE_CONSTANT);
}

/* Whether a function has a variable that its calls share, and that would be another one in a copy:
 * a static one. What it declares as "extern" is the same one everywhere. */
static bool keeps_variable(const rs_tree *tree, const rs_function *function)
{
    bool keeps = false;
    for (int n = function->body, end = rs_node_behind(tree, n); n < end && !keeps; n++) {
        if (tree->nodes[n].is == RS_NODE_VARIABLE && !is_table(tree->nodes[n].declaration))
            keeps = tree->nodes[n].declaration->is_static;
    }
    return keeps;
}

/* Why a function cannot be copied, or NULL. */
static const char *copy_trouble(const rs_model *model, const rs_function *function)
{
    static const char *const words[] = {"extern", "alias", "__alias__"};
    size_t begin = rs_declaration_start(model, function->declaration->place);
    size_t body = model->tree->nodes[function->body].begin;
    if (rs_function_names_itself(model, function))
        return ", because it asks for its own name";
    if (keeps_variable(model->tree, function))
        return ", because its calls share a variable";
    bool copied = !rs_declared_type(function->declaration)->is_variadic &&
                  function->first_node >= 0 && !declares_type(model->tree, function) &&
                  !has_word(model, begin, body, words, sizeof words / sizeof words[0]);
    return copied ? NULL : "";
}

static restride_status refuse_uncopied(rs_model *model)
{
    restride_status status = RESTRIDE_OK;
    for (int b = 0; b < model->binding_count; b++)
        model->functions[model->arguments[model->bindings[b].callee_argument].function].called =
            true;
    for (int f = 0; f < model->function_count && status == RESTRIDE_OK; f++) {
        const rs_function *function = &model->functions[f];
        const char *trouble = function->called ? copy_trouble(model, function) : NULL;
        int first = function->first_argument, end = first + function->argument_count;
        for (int a = first; trouble != NULL && a < end && status == RESTRIDE_OK; a++)
            if (model->arguments[a].reason == NULL)
                status = rs_argument_refuse(&model->arguments[a], function->declaration->place,
                                            "the function %s cannot be copied for another layout%s",
                                            function->name, trouble);
    }
    return status;
}

/* A kernel gets more parameters, behind its own, and its full name tells them. */
static restride_status refuse_parameters(rs_model *model)
{
    static const char *const words[] = {"__PRETTY_FUNCTION__"};
    restride_status status = RESTRIDE_OK;
    for (int a = 0; a < model->argument_count && status == RESTRIDE_OK; a++) {
        const rs_function *kernel = rs_argument_kernel(model, &model->arguments[a]);
        const rs_node *node = kernel == NULL ? NULL : &model->tree->nodes[kernel->node];
        if (node != NULL && has_word(model, node->begin, node->end, words, 1))
            status = rs_argument_refuse(&model->arguments[a], model->arguments[a].offset,
                                        "the kernel asks for its own name and parameters");
    }
    return status;
}

/* Whether an access needs the start of the buffer, because its pointer is not the argument as it
 * was passed. */
static bool needs_base(const rs_model *model, const rs_member_access *access)
{
    const rs_pointer_parameter *argument = &model->arguments[access->argument];
    return access->kind == RS_ACCESS_CALL || !access->is_parameter || argument->moved ||
           !model->functions[argument->function].kernel;
}

/* Notes which arguments need the start of their buffer, and refuses those whose accesses would name
 * a type that cannot be named where they stand. */
static restride_status find_bases(rs_model *model, const rs_names *names)
{
    restride_status status = RESTRIDE_OK;
    static const char hidden[] = "something in a function hides the type %s";
    for (int b = 0; b < model->binding_count; b++)
        model->arguments[model->bindings[b].caller_argument].based = true;
    for (int i = 0; i < model->access_count && status == RESTRIDE_OK; i++) {
        const rs_member_access *access = &model->accesses[i];
        rs_pointer_parameter *argument = &model->arguments[access->argument];
        const rs_function *function = &model->functions[access->function];
        if (argument->reason == NULL && rs_names_hide(names, function, access->type))
            status = rs_argument_refuse(argument, access->begin, hidden, access->type);
        if (argument->reason != NULL || !needs_base(model, access))
            continue;
        argument->based = true;
        if (access->kind == RS_ACCESS_CALL || access->flat)
            continue;
        const rs_structure *s = &model->structures[argument->structure];
        if (s->name == NULL)
            status = rs_argument_refuse(argument, access->begin,
                                        "a pointer to a structure without a name is followed");
        else if (rs_names_hide(names, function, s->name))
            status = rs_argument_refuse(argument, access->begin, hidden, s->name);
    }
    return status;
}

static int compare_bindings(const void *a, const void *b)
{
    const rs_passed_pointer *x = a, *y = b;
    if (x->call != y->call)
        return x->call < y->call ? -1 : 1;
    return (x->callee_argument > y->callee_argument) - (x->callee_argument < y->callee_argument);
}

/* Notes for which arguments pointers to members are followed, here or in what they are passed to.
 */
static void find_stepped(rs_model *model)
{
    for (int i = 0; i < model->access_count; i++)
        if (model->accesses[i].flat)
            model->arguments[model->accesses[i].argument].stepped = true;
    bool changed = true;
    while (changed) {
        changed = false;
        for (int b = 0; b < model->binding_count; b++) {
            rs_pointer_parameter *caller = &model->arguments[model->bindings[b].caller_argument];
            const rs_pointer_parameter *callee =
                &model->arguments[model->bindings[b].callee_argument];
            if (!caller->stepped && (callee->stepped || callee->structure < 0))
                caller->stepped = changed = true;
        }
    }
}

/*
 * A helper that gets a nested structure takes members to be as alike as that structure's own are;
 * in the array they may not be.
 */
static restride_status refuse_steps(rs_model *model)
{
    restride_status status = RESTRIDE_OK;
    for (int b = 0; b < model->binding_count && status == RESTRIDE_OK; b++) {
        rs_pointer_parameter *caller = &model->arguments[model->bindings[b].caller_argument];
        const rs_pointer_parameter *callee = &model->arguments[model->bindings[b].callee_argument];
        if (callee->structure < 0 || caller->structure < 0 || !callee->stepped ||
            callee->structure == caller->structure ||
            model->structures[callee->structure].uniform ==
                model->structures[caller->structure].uniform)
            continue;
        status = rs_argument_refuse(caller, model->tree->nodes[model->bindings[b].call].begin,
                                    "%s follows pointers to members of a nested structure",
                                    model->functions[callee->function].name);
    }
    return status;
}

static restride_status carry_reasons(rs_model *model, bool *changed)
{
    restride_status status = RESTRIDE_OK;
    *changed = false;
    for (int b = 0; b < model->binding_count && status == RESTRIDE_OK; b++) {
        rs_pointer_parameter *caller = &model->arguments[model->bindings[b].caller_argument];
        const rs_pointer_parameter *callee = &model->arguments[model->bindings[b].callee_argument];
        if (caller->reason != NULL || callee->reason == NULL)
            continue;
        *changed = true;
        status = rs_argument_refuse(caller, callee->reason_offset, "%s (by %s, which gets it)",
                                    callee->reason, model->functions[callee->function].name);
    }
    return status;
}

restride_status rs_model_settle_calls(rs_model *model)
{
    if (model->binding_count > 0)
        qsort(model->bindings, (size_t)model->binding_count, sizeof *model->bindings,
              compare_bindings);
    restride_status status = refuse_uncopied(model);
    if (status == RESTRIDE_OK)
        status = refuse_parameters(model);
    rs_names names = {NULL, 0};
    if (status == RESTRIDE_OK)
        status = rs_names_find(&names, model->tree);
    if (status == RESTRIDE_OK)
        status = find_bases(model, &names);
    rs_names_free(&names);
    find_stepped(model);
    if (status == RESTRIDE_OK)
        status = refuse_steps(model);
    bool changed = true;
    while (changed && status == RESTRIDE_OK)
        status = carry_reasons(model, &changed);
    return status;
}
