/*
 * Which uses of a pointer are understood. From each mention the way up the syntax tree must be one
 * of the known forms: the pointer is moved, compared, kept in another variable, passed to a helper,
 * or something is read or written through it. Anything else, known or not, is a reason to leave the
 * argument as it is.
 *
 * Every pointer that is followed comes from exactly one argument. Wherever pointers meet (a
 * variable, a conditional, a call) the use of each is refused unless all of them come from the same
 * argument; so nothing is read or written through a pointer whose buffer is not known.
 */
#include "rewrite/names.h"
#include "rewrite/way.h"

#include "source/query.h"
#include "source/words.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/*
 * What a replacement leaves out (everything but the index pieces) must be the pointer,
 * member names and operators, as they stand in the user's text; anything else came from a macro of
 * the compiler.
 */
static bool leaves_only_operators(const rs_tree *tree, const rs_member_access *a)
{
    bool block = a->kind == RS_ACCESS_BLOCK; /* around its pointer is what blocks.c has seen */
    size_t at = block ? tree->nodes[a->operand].begin : a->begin;
    size_t end = block ? tree->nodes[a->operand].end : a->end;
    bool after_dot = false;
    while (at < end) {
        size_t skip = 0;
        for (int i = 0; i < a->index_count; i++)
            if (tree->nodes[a->index[i]].begin == at)
                skip = tree->nodes[a->index[i]].end;
        for (int i = 0; i < a->subscript_count; i++)
            if (tree->nodes[a->subscript[i]].begin == at)
                skip = tree->nodes[a->subscript[i]].end;
        if (tree->nodes[a->pointer].begin == at)
            skip = tree->nodes[a->pointer].end;
        if (a->kind == RS_ACCESS_STORE && tree->nodes[a->value].begin == at)
            skip = tree->nodes[a->value].end;
        char c = tree->text[at];
        if (skip > at) {
            at = skip;
            after_dot = false;
        } else if (isalpha((unsigned char)c) || c == '_' || c == '$') {
            size_t word, length;
            rs_word_next(tree->text, end, &at, &word, &length);
            if (!after_dot)
                return false;
            after_dot = false;
        } else {
            if (!isspace((unsigned char)c) && strchr("()[]*+-.>=", c) == NULL)
                return false;
            if (!isspace((unsigned char)c))
                after_dot = c == '.' || (c == '>' && tree->text[at - 1] == '-');
            at++;
        }
    }
    return true;
}

/* Follows one mention of a pointer upwards; NULL when it is understood. */
static const char *follow(rs_way *w, restride_status *status)
{
    const char *reason = NULL;
    while (reason == NULL && *status == RESTRIDE_OK && w->place < RS_AT_END) {
        int up = w->tree->nodes[w->node].parent;
        switch (w->place) {
        case RS_AT_POINTER:
            reason = rs_step_from_pointer(w, up, status);
            break;
        case RS_AT_STRUCTURE:
            reason = rs_step_from_structure(w, up);
            break;
        case RS_AT_ARRAY:
        case RS_AT_ELEMENT_POINTER:
            reason = rs_step_from_array(w, up);
            break;
        case RS_AT_LEAF:
            reason = rs_step_from_leaf(w, up);
            break;
        default:
            break;
        }
    }
    if (reason == NULL && w->place == RS_AT_END && !leaves_only_operators(w->tree, &w->access))
        reason = "a macro of the compiler is part of this access";
    return reason;
}

/* A load or store needs a type that can be named, and padding that lies as in the whole structure.
 */
static restride_status name_structure(rs_way *w, const char **reason)
{
    if (w->access.union_size > 0) {
        *reason = "a union, or a structure inside one, is copied as a whole";
        return RESTRIDE_OK;
    }
    restride_status status = rs_model_structure(w->model, w->type, &w->access.structure);
    if (status != RESTRIDE_OK)
        return status;
    const rs_structure *inner = &w->model->structures[w->access.structure];
    if (inner->name == NULL)
        *reason = "a structure without a name is copied as a whole";
    else
        *reason =
            rs_structure_misfit(inner, &w->model->structures[w->access.pointee], w->access.offset);
    w->access.size = inner->record.size;
    return RESTRIDE_OK;
}

static restride_status understand_use(rs_model *model, int variable, int function, int node)
{
    const rs_tree *tree = model->tree;
    int argument = model->variables[variable].origin.argument;
    rs_pointer_parameter *arg = &model->arguments[argument];
    size_t offset = tree->nodes[node].begin;
    if (rs_node_is_in(tree, node, RS_NODE_BLOCK))
        return rs_argument_refuse(arg, offset, "it is used in a block");
    if (rs_node_is_in(tree, node, RS_NODE_SIZEOF))
        return RESTRIDE_OK; /* sizeof: the structure keeps its type and size */
    rs_way w;
    memset(&w, 0, sizeof w);
    w.model = model;
    w.tree = tree;
    w.argument = argument;
    w.access.function = function;
    w.access.argument = argument;
    w.access.structure = w.access.value = w.access.callee = w.access.vector_index = -1;
    w.access.pointer = w.node = node;
    w.access.is_parameter = model->variables[variable].declaration == arg->declaration;
    w.type = &rs_type_none;
    w.place = RS_AT_POINTER;
    const char *address_space;
    rs_pointer_target(model->variables[variable].declaration->type, &w.target, &address_space);
    w.access.space = address_space;
    w.access.flat = w.target->kind != RS_TYPE_RECORD;
    w.access.pointee = -1;
    restride_status status =
        w.access.flat ? RESTRIDE_OK : rs_model_structure(model, w.target, &w.access.pointee);
    const char *reason = status == RESTRIDE_OK ? follow(&w, &status) : NULL;
    if (status == RESTRIDE_OK)
        status = w.status;
    if (status == RESTRIDE_OK && reason == NULL && w.place == RS_AT_END &&
        (w.access.kind == RS_ACCESS_LOAD || w.access.kind == RS_ACCESS_STORE))
        status = name_structure(&w, &reason);
    if (status != RESTRIDE_OK)
        return status;
    if (reason != NULL)
        return rs_argument_refuse(arg, offset, "%s", reason);
    return w.place == RS_AT_END ? rs_model_add_access(model, &w.access) : RESTRIDE_OK;
}

/* A kernel that is called gets its pointers from the caller, where they are not followed. */
static restride_status check_calls(rs_model *model, const rs_syntax_declaration *called,
                                   size_t offset)
{
    int called_function = rs_model_function(model, called);
    restride_status status = RESTRIDE_OK;
    if (called_function < 0 || !model->functions[called_function].kernel)
        return RESTRIDE_OK;
    const rs_function *kernel = &model->functions[called_function];
    for (int i = 0; i < kernel->argument_count && status == RESTRIDE_OK; i++)
        status = rs_argument_refuse(&model->arguments[kernel->first_argument + i], offset,
                                    "the kernel is called from another function");
    return status;
}

/* Refuses the arguments whose pointers are in a variable of this name. */
static restride_status refuse_name(rs_model *model, int function, size_t word, size_t length)
{
    restride_status status = RESTRIDE_OK;
    size_t begin = model->tree->nodes[model->functions[function].node].begin;
    for (int v = rs_model_first_variable(model, begin);
         v < model->variable_count && model->variables[v].function == function &&
         status == RESTRIDE_OK;
         v++) {
        const rs_variable *variable = &model->variables[v];
        const char *name = model->tree->text + variable->offset;
        if (variable->origin.argument >= 0 && rs_identifier_length(name) == length &&
            memcmp(name, model->tree->text + word, length) == 0)
            status = rs_argument_refuse(&model->arguments[variable->origin.argument], word,
                                        "it is used in a way that is not seen");
    }
    return status;
}

/*
 * Every identifier with a pointer's name must have been seen as a node of the tree, or as the
 * member of something: a use that libclang does not show would otherwise go unnoticed.
 */
static restride_status check_words(rs_model *model, int function, const bool *seen)
{
    const rs_tree *tree = model->tree;
    const rs_node *f = &tree->nodes[model->functions[function].node];
    size_t position = f->begin, word, length;
    restride_status status = RESTRIDE_OK;
    while (status == RESTRIDE_OK && rs_word_next(tree->text, f->end, &position, &word, &length)) {
        if (seen[word])
            continue;
        size_t before = word;
        while (before > 0 && isspace((unsigned char)tree->text[before - 1]))
            before--;
        if (before > 0 && tree->text[before - 1] == '.')
            continue;
        if (before > 1 && tree->text[before - 1] == '>' && tree->text[before - 2] == '-')
            continue;
        status = refuse_name(model, function, word, length);
    }
    return status;
}

/* Notes where the tree shows a name: a mention, or the declaration of something else with that
 * name. */
static void note_seen(const rs_tree *tree, const rs_node *node, bool *seen)
{
    static const int kinds[] = {RS_NODE_REFERENCE,   RS_NODE_VARIABLE,   RS_NODE_PARAMETER,
                                RS_NODE_FIELD,       RS_NODE_STRUCT,     RS_NODE_TYPE_NAME,
                                RS_NODE_LABEL,       RS_NODE_LABEL_NAME, RS_NODE_TYPEDEF,
                                RS_NODE_MEMBER_NAME, RS_NODE_ENUM,       RS_NODE_ENUMERATOR};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (kinds[i] == node->is) {
            size_t offset = node->place;
            if (offset < tree->size)
                seen[offset] = true;
        }
}

/* Outer accesses come before the ones inside them; a call that is all of one comes last. */
static int compare_accesses(const void *a, const void *b)
{
    const rs_member_access *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

/* Several pointers may lead to one access: (c ? p : q)->x. */
static void sort_accesses(rs_model *model)
{
    if (model->access_count == 0)
        return;
    qsort(model->accesses, (size_t)model->access_count, sizeof *model->accesses, compare_accesses);
    int kept = 1;
    for (int i = 1; i < model->access_count; i++)
        if (compare_accesses(&model->accesses[kept - 1], &model->accesses[i]) != 0)
            model->accesses[kept++] = model->accesses[i];
    model->access_count = kept;
}

static restride_status understand_reference(rs_model *model, int function, int node)
{
    const rs_node *mention = &model->tree->nodes[node];
    const rs_syntax_declaration *target = mention->declaration;
    if (target->kind == RS_DECLARATION_FUNCTION)
        return check_calls(model, target, mention->begin);
    int variable = rs_model_variable_of(model, target);
    if (variable < 0 || function < 0 || model->variables[variable].origin.argument < 0)
        return RESTRIDE_OK;
    const rs_pointer_parameter *argument =
        &model->arguments[model->variables[variable].origin.argument];
    if (argument->reason != NULL && argument->reason_offset <= mention->begin)
        return RESTRIDE_OK;
    return understand_use(model, variable, function, node);
}

restride_status rs_model_understand(rs_model *model)
{
    const rs_tree *tree = model->tree;
    bool *seen = calloc(tree->size + 1, sizeof *seen);
    if (seen == NULL)
        return rs_fail_memory("the words of a source");
    restride_status status = RESTRIDE_OK;
    int function = -1;
    for (int n = 0; n < tree->node_count && status == RESTRIDE_OK; n++) {
        while (function + 1 < model->function_count && model->functions[function + 1].node <= n)
            function++;
        note_seen(tree, &tree->nodes[n], seen);
        if (tree->nodes[n].is == RS_NODE_REFERENCE)
            status = understand_reference(model, function, n);
    }
    for (int f = 0; f < model->function_count && status == RESTRIDE_OK; f++)
        if (model->functions[f].argument_count > 0)
            status = check_words(model, f, seen);
    free(seen);
    if (status == RESTRIDE_OK)
        sort_accesses(model);
    return status;
}
