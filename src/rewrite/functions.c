/* Functions, their pointer parameters and variables, and the life of the model. */
#include "rewrite/locals.h"

#include "base/list.h"
#include "base/text.h"
#include "source/query.h"
#include "source/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

restride_status rs_argument_refuse(rs_pointer_parameter *argument, size_t offset,
                                   const char *format, ...)
{
    if (argument->reason != NULL && argument->reason_offset <= offset)
        return RESTRIDE_OK;
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    char *copy = strdup(sentence);
    if (copy == NULL)
        return rs_fail_memory("the reason for an argument");
    free(argument->reason);
    argument->reason = copy;
    argument->reason_offset = offset;
    return RESTRIDE_OK;
}

/* OpenCL's attribute has no kind of its own; the keyword in the text tells. */
static bool is_kernel(const rs_tree *tree, int function)
{
    RS_EACH_CHILD(n, tree, function) {
        const rs_node *node = &tree->nodes[n];
        if (node->group == RS_NODES_ATTRIBUTE &&
            (rs_word_equals(tree->text, node->begin, node->end - node->begin, "kernel") ||
             rs_word_equals(tree->text, node->begin, node->end - node->begin, "__kernel")))
            return true;
    }
    return false;
}

/* The type as a user writes it: clang adds "__private" for the parameter's own place. */
static char *type_name(const rs_syntax_declaration *parameter)
{
    static const char own_place[] = "__private";
    char *name = strdup(parameter->written_type);
    size_t length = name == NULL ? 0 : strlen(name), tail = strlen(own_place);
    if (length > tail && strcmp(name + length - tail, own_place) == 0) {
        length -= tail;
        while (length > 0 && name[length - 1] == ' ')
            length--;
        name[length] = '\0';
    }
    return name;
}

/* An array has the address space of its elements, which have none. */
bool rs_pointer_target(const rs_syntax_type *type, const rs_syntax_type **target,
                       const char **address_space)
{
    static const char *const address_spaces[RS_SYNTAX_SPACE_KINDS] = {
        [RS_SYNTAX_SPACE_GLOBAL] = "__global",
        [RS_SYNTAX_SPACE_CONSTANT] = "__constant",
        [RS_SYNTAX_SPACE_GENERIC] = ""};
    if (!rs_type_is_pointer(type))
        return false;
    *target = rs_type_below(type);
    *address_space = address_spaces[type->kind == RS_TYPE_POINTER ? (*target)->space : type->space];
    return *address_space != NULL;
}

bool rs_space_covers(const char *outer, const char *inner)
{
    return strcmp(outer, inner) == 0 || (outer[0] == '\0' && strcmp(inner, "__constant") != 0);
}

const rs_function *rs_argument_kernel(const rs_model *model, const rs_pointer_parameter *argument)
{
    const rs_function *function = &model->functions[argument->function];
    return function->kernel ? function : NULL;
}

/* A flat array needs the length of its records. */
static restride_status refuse_flat(rs_model *model, rs_pointer_parameter *argument,
                                   const rs_syntax_type *element)
{
    const rs_function *kernel = rs_argument_kernel(model, argument);
    if (kernel == NULL)
        return RESTRIDE_OK; /* the caller's may be members of a structure */
    const rs_annotation *annotation =
        rs_annotations_find(model->annotations, kernel->name, argument->name);
    if (annotation == NULL)
        return rs_argument_refuse(argument, argument->offset, "it is not an array of structures");
    if (annotation->length < 2)
        return rs_argument_refuse(argument, argument->offset,
                                  "the length of its records, %s (%s), is not a number above 1 "
                                  "in this source",
                                  annotation->expression, annotation->place);
    if (annotation->extent != NULL && !model->soa)
        return rs_argument_refuse(argument, argument->offset,
                                  "an array in SoA stays as it is unless the policy is asta");
    argument->extent = annotation->extent;
    restride_status status =
        rs_model_flat_structure(model, element, annotation->length, &argument->structure);
    if (status != RESTRIDE_OK)
        return status;
    const rs_structure *s = &model->structures[argument->structure];
    return s->failure == NULL ? RESTRIDE_OK
                              : rs_argument_refuse(argument, argument->offset, "%s", s->failure);
}

static restride_status refuse_structure(rs_model *model, rs_pointer_parameter *argument,
                                        const rs_syntax_type *element)
{
    if (element->kind != RS_TYPE_RECORD)
        return refuse_flat(model, argument, element);
    restride_status status = rs_model_structure(model, element, &argument->structure);
    if (status != RESTRIDE_OK)
        return status;
    const rs_structure *s = &model->structures[argument->structure];
    if (s->failure != NULL)
        return rs_argument_refuse(argument, s->failure_offset, "%s", s->failure);
    const rs_node *function = &model->tree->nodes[model->functions[argument->function].node];
    if (s->declaration->place >= function->begin)
        return rs_argument_refuse(argument, argument->offset,
                                  "its structure is declared in the kernel");
    if (s->record.leaf_count < 2 && rs_argument_kernel(model, argument) != NULL)
        return rs_argument_refuse(argument, argument->offset, "its structure has only one member");
    return RESTRIDE_OK;
}

static restride_status add_argument(rs_model *model, int function,
                                    const rs_syntax_declaration *parameter, unsigned index)
{
    const rs_syntax_type *target;
    const char *address_space;
    if (!rs_pointer_target(rs_declared_type(parameter), &target, &address_space))
        return RESTRIDE_OK;
    if (!RS_LIST_GROW(model->arguments, model->argument_count))
        return rs_fail_memory("a function's arguments");
    rs_pointer_parameter *added = &model->arguments[model->argument_count++];
    memset(added, 0, sizeof *added);
    added->declaration = parameter;
    added->function = function;
    added->index = index;
    added->structure = added->count_argument = -1;
    added->address_space = address_space;
    added->name = strdup(parameter->name);
    added->type = type_name(parameter);
    if (added->name == NULL || added->type == NULL)
        return rs_fail_memory("a function's arguments");
    added->offset = parameter->place;
    model->functions[function].argument_count++;
    if (added->name[0] == '\0') /* added parameters are named after it */
        return rs_argument_refuse(added, added->offset, "it has no name");
    return refuse_structure(model, added, target);
}

static restride_status add_variable(rs_model *model, int function,
                                    const rs_syntax_declaration *declaration, int argument)
{
    size_t offset = declaration->place;
    if (model->variable_count > 0 && model->variables[model->variable_count - 1].offset > offset)
        return rs_fail(RESTRIDE_UNSUPPORTED, "The source's variables are not in the order of its "
                                             "text."); /* they could not be found again */
    if (!RS_LIST_GROW(model->variables, model->variable_count))
        return rs_fail_memory("a pointer variable");
    model->variables[model->variable_count++] =
        (rs_variable){declaration, offset, function, {argument, false, false}};
    return RESTRIDE_OK;
}

/* A variable that outlives the call may hold a pointer of an earlier launch. */
static bool is_local_pointer(const rs_model *model, int node)
{
    const rs_node *n = &model->tree->nodes[node];
    const rs_syntax_type *target;
    const char *address_space;
    return n->is == RS_NODE_VARIABLE && !n->declaration->is_static && !n->declaration->is_extern &&
           !n->declaration->is_global && n->type->kind == RS_TYPE_POINTER &&
           rs_pointer_target(n->type, &target, &address_space);
}

static restride_status add_variables(rs_model *model, int function)
{
    const rs_tree *tree = model->tree;
    const rs_function *f = &model->functions[function];
    restride_status status = RESTRIDE_OK;
    for (int i = f->first_argument;
         i < f->first_argument + f->argument_count && status == RESTRIDE_OK; i++)
        status = add_variable(model, function, model->arguments[i].declaration, i);
    /* Behind the last function libclang tells the functions that templates have become, which stand
     * elsewhere in the text. */
    for (int n = f->body, end = rs_node_behind(tree, f->body); n < end && status == RESTRIDE_OK;
         n++)
        if (is_local_pointer(model, n))
            status = add_variable(model, function, tree->nodes[n].declaration, -1);
    return status;
}

static restride_status add_function(rs_model *model, int node)
{
    int body = rs_node_body(model->tree, node);
    if (body < 0)
        return RESTRIDE_OK;
    if (!RS_LIST_GROW(model->functions, model->function_count))
        return rs_fail_memory("a function");
    int function = model->function_count++;
    const rs_syntax_declaration *declaration = model->tree->nodes[node].declaration;
    int parameters = (int)declaration->parameter_count;
    rs_function *added = &model->functions[function];
    memset(added, 0, sizeof *added);
    added->declaration = declaration;
    added->node = node;
    added->body = body;
    added->kernel = is_kernel(model->tree, node);
    added->name = strdup(declaration->name);
    added->first_argument = model->argument_count;
    added->parameter_count = parameters;
    added->returned.argument = -1;
    added->first_node = added->first_instance = added->last_instance = -1;
    if (added->name == NULL)
        return rs_fail_memory("a function");
    restride_status status = RESTRIDE_OK;
    for (int i = 0; i < parameters && status == RESTRIDE_OK; i++)
        status = add_argument(model, function, rs_parameter(declaration, i), (unsigned)i);
    return status == RESTRIDE_OK ? add_variables(model, function) : status;
}

restride_status rs_model_find_functions(rs_model *model)
{
    const rs_tree *tree = model->tree;
    restride_status status = RESTRIDE_OK;
    for (int n = tree->nodes[0].first; n >= 0 && status == RESTRIDE_OK; n = tree->nodes[n].next)
        if (tree->nodes[n].is == RS_NODE_FUNCTION)
            status = add_function(model, n);
    return status == RESTRIDE_OK ? rs_model_index_declarations(model) : status;
}

int rs_model_first_variable(const rs_model *model, size_t begin)
{
    int low = 0, high = model->variable_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (model->variables[middle].offset < begin)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int rs_model_variable_of(const rs_model *model, const rs_syntax_declaration *declaration)
{
    if (!rs_is_variable(declaration))
        return -1;
    int first = rs_model_first_variable(model, declaration->place);
    bool found =
        first < model->variable_count && model->variables[first].declaration == declaration;
    return found ? first : -1;
}

int rs_model_variable(const rs_model *model, int node)
{
    int inner = rs_node_inner(model->tree, node);
    if (inner < 0 || model->tree->nodes[inner].is != RS_NODE_REFERENCE)
        return -1;
    return rs_model_variable_of(model, model->tree->nodes[inner].declaration);
}

void rs_model_free(rs_model *model)
{
    for (int i = 0; i < model->structure_count; i++) {
        rs_structure *s = &model->structures[i];
        for (size_t m = 0; m < s->member_count; m++) {
            free(s->members[m].path);
        }
        free(s->members);
        free(s->name);
        free(s->failure);
        rs_record_free(&s->record);
    }
    for (int i = 0; i < model->argument_count; i++) {
        free(model->arguments[i].name);
        free(model->arguments[i].type);
        free(model->arguments[i].reason);
        free(model->arguments[i].layout);
    }
    for (int i = 0; i < model->function_count; i++)
        free(model->functions[i].name);
    for (int i = 0; i < model->instance_count; i++)
        free(model->instances[i].accessors);
    for (int i = 0; i < model->accessor_count; i++)
        free(model->accessors[i].layout);
    free(model->structures);
    free(model->arguments);
    free(model->functions);
    free(model->by_declaration);
    free(model->declaration_ends);
    free(model->variables);
    free(model->bindings);
    free(model->instances);
    free(model->accesses);
    free(model->accessors);
    free(model->copiers);
    memset(model, 0, sizeof *model);
}
