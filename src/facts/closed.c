/* See closed.h. */
#include "facts/closed.h"

#include "base/map.h"

#include <string.h>

enum { DEEPEST = 16 };

typedef struct {
    rs_syntax *tree;
    rs_map entered; /* functions whose bodies were read */
    const char *why;
} reading;

static const char stored[] = "pointers lie in memory that it reaches";

/* --- types --- */

/* Whether an object of this type holds pointers, at any depth; unknown ones may. */
static bool holds_pointers(const rs_syntax_type *type, int depth)
{
    if (type == NULL || depth > DEEPEST)
        return true;
    const rs_syntax_declaration *record = type->declaration;
    switch (type->kind) {
    case RS_TYPE_POINTER:
    case RS_TYPE_REFERENCE:
    case RS_TYPE_OTHER:
    case RS_TYPE_NULLPTR:
        return true;
    case RS_TYPE_ARRAY:
    case RS_TYPE_VECTOR:
    case RS_TYPE_ATOMIC:
        return holds_pointers(type->of, depth + 1);
    case RS_TYPE_RECORD:
        if (record == NULL || !record->is_defined || record->is_polymorphic)
            return true;
        for (size_t i = 0; i < record->base_count; i++)
            if (holds_pointers(record->bases[i].type, depth + 1))
                return true;
        for (size_t i = 0; i < record->field_count; i++)
            if (holds_pointers(record->fields[i]->type, depth + 1))
                return true;
        return false;
    default:
        return false;
    }
}

/* Whether a pointer of this type leads to pointers. One to void leads to nothing before a cast. */
static bool leads_to_pointers(const rs_syntax_type *type)
{
    return type != NULL && type->kind == RS_TYPE_POINTER && type->of != NULL &&
           type->of->kind != RS_TYPE_VOID && type->of->kind != RS_TYPE_FUNCTION &&
           holds_pointers(type->of, 0);
}

/* The same of pointers in an object that is passed by value. */
static bool brings_pointers_to_pointers(const rs_syntax_type *type, int depth)
{
    if (type == NULL || depth > DEEPEST)
        return true;
    const rs_syntax_declaration *record = type->declaration;
    if (type->kind == RS_TYPE_POINTER)
        return leads_to_pointers(type);
    if (type->kind == RS_TYPE_ARRAY)
        return brings_pointers_to_pointers(type->of, depth + 1);
    if (type->kind != RS_TYPE_RECORD)
        return type->kind == RS_TYPE_REFERENCE || type->kind == RS_TYPE_OTHER;
    if (record == NULL || !record->is_defined || record->is_polymorphic ||
        (record->is_union && holds_pointers(type, 0)))
        return true;
    for (size_t i = 0; i < record->base_count; i++)
        if (brings_pointers_to_pointers(record->bases[i].type, depth + 1))
            return true;
    for (size_t i = 0; i < record->field_count; i++)
        if (brings_pointers_to_pointers(record->fields[i]->type, depth + 1))
            return true;
    return false;
}

/* --- bodies --- */

static bool fail(reading *at, const char *why)
{
    at->why = why;
    return false;
}

static bool read_function(reading *at, const rs_syntax_declaration *function);

static bool begins_with(const char *name, const char *word)
{
    return strncmp(name, word, strlen(word)) == 0;
}

/* A function of the toolkit or of the compiler. */
static bool read_system_call(reading *at, const rs_syntax_node *call)
{
    static const char *const others[] = {"tex",  "surf", "__nv_tex", "__nv_surf",
                                         "cuda", "cu",   "nvshmem"};
    static const char *const harmless[] = {"curand", "cuda_", "cub"};
    const char *name = call->declaration->name;
    bool is_other = false;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        is_other |= begins_with(name, others[i]);
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
        is_other &= !begins_with(name, harmless[i]);
    if (is_other)
        return fail(at, "it reaches memory by textures, or calls the run-time");
    for (size_t i = 1; i < call->child_count; i++) {
        const rs_syntax_node *argument = rs_syntax_plain(call->children[i]);
        const rs_syntax_type *type = argument == NULL ? NULL : argument->type;
        if (type != NULL && type->kind == RS_TYPE_RECORD && type->declaration != NULL &&
            !type->declaration->is_system)
            return fail(at, "a function of the toolkit gets an object that it may call");
        if (type != NULL && type->kind == RS_TYPE_FUNCTION)
            return fail(at, "a function of the toolkit gets another one");
    }
    return true;
}

static bool read_call(reading *at, const rs_syntax_node *call)
{
    const rs_syntax_declaration *called = call->declaration;
    if (called == NULL || called->is_virtual)
        return fail(at, "it calls a function by a pointer");
    if (called->is_implicit)
        return true;
    if (called->is_system)
        return read_system_call(at, call);
    return read_function(at, called);
}

static bool read_variable(reading *at, const rs_syntax_declaration *variable)
{
    const bool is_local = variable->parent != NULL && !variable->is_static &&
                          !variable->is_extern && variable->space != RS_SYNTAX_SPACE_SHARED;
    if (variable->kind != RS_DECLARATION_VARIABLE || is_local || !holds_pointers(variable->type, 0))
        return true;
    return fail(at, "a variable outside of it holds pointers");
}

/* A function of the compiler's own, as __syncthreads(): it can only be called. */
static bool names_function(const rs_syntax_node *node, const rs_syntax_node *value)
{
    return node->type != NULL && node->type->kind == RS_TYPE_POINTER && node->type->of != NULL &&
           node->type->of->kind == RS_TYPE_FUNCTION && value != NULL &&
           value->kind == RS_NODE_REFERENCE && value->declaration != NULL &&
           value->declaration->kind == RS_DECLARATION_FUNCTION;
}

/* From numbers, or by a cast that makes a pointer's bytes another one's. */
static bool read_conversion(reading *at, const rs_syntax_node *node)
{
    const bool is_pointer = node->type != NULL && node->type->kind == RS_TYPE_POINTER;
    const rs_syntax_node *value = node->child_count > 0 ? rs_syntax_plain(node->children[0]) : NULL;
    const bool is_null = value != NULL && value->kind == RS_NODE_LITERAL;
    if (node->conversion == RS_CONVERSION_ADDRESS && is_pointer && !is_null)
        return fail(at, "it makes a pointer from a number");
    if (node->conversion == RS_CONVERSION_REFERENCE && holds_pointers(node->type, 0))
        return fail(at, stored);
    if ((node->conversion == RS_CONVERSION_OTHER || node->conversion == RS_CONVERSION_BITS) &&
        holds_pointers(node->type, 0) && !names_function(node, value))
        return fail(at, "a conversion to a pointer is not understood");
    return true;
}

static bool read_node(void *context, const rs_syntax_node *node)
{
    reading *at = context;
    if (leads_to_pointers(node->type) && node->kind != RS_NODE_THIS)
        return fail(at, stored);
    switch (node->kind) {
    case RS_NODE_UNKNOWN:
    case RS_NODE_ASM:
        return fail(at, "it has a construct that is not understood");
    case RS_NODE_LAUNCH:
    case RS_NODE_NEW:
    case RS_NODE_DELETE:
        return fail(at, "it launches kernels or allocates memory");
    case RS_NODE_CALL:
        return read_call(at, node);
    case RS_NODE_CONSTRUCT:
        return node->declaration == NULL || node->declaration->is_implicit ||
               node->declaration->is_system || read_function(at, node->declaration);
    case RS_NODE_LAMBDA:
        return read_function(at, node->declaration);
    case RS_NODE_REFERENCE:
        return node->declaration == NULL || read_variable(at, node->declaration);
    case RS_NODE_MEMBER:
        if (node->declaration != NULL && node->declaration->parent != NULL &&
            node->declaration->parent->is_union && holds_pointers(node->type, 0))
            return fail(at, "a union holds pointers");
        return true;
    case RS_NODE_CAST:
    case RS_NODE_IMPLICIT:
        return read_conversion(at, node);
    default:
        return true;
    }
}

static bool read_function(reading *at, const rs_syntax_declaration *function)
{
    if (function == NULL)
        return fail(at, "it has a construct that is not understood");
    if (rs_map_get(&at->entered, function) != NULL)
        return true;
    const rs_syntax_node *body = rs_syntax_body(at->tree, function);
    if (body == NULL)
        return fail(at, "it calls a function without a body here");
    if (!rs_map_set(&at->entered, function, (void *)1))
        return fail(at, "there is not enough memory");
    return rs_syntax_walk(body, read_node, at);
}

bool rs_fact_is_closed(rs_syntax *tree, const rs_syntax_declaration *kernel, const char **why)
{
    reading at = {tree, RS_MAP_EMPTY, NULL};
    bool is_closed = true;
    for (size_t i = 0; i < kernel->parameter_count && is_closed; i++)
        if (brings_pointers_to_pointers(kernel->parameters[i]->type, 0))
            is_closed = fail(&at, stored);
    is_closed = is_closed && read_function(&at, kernel);
    rs_map_free(&at.entered);
    *why = at.why;
    return is_closed;
}
