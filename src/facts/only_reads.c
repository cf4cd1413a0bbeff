/* Whether a function changes nothing but its own variables: see elements.h. */
#include "facts/elements.h"

#include <string.h>

enum { CALL_DEPTH = 6 };

typedef struct {
    rs_syntax *tree;
    const rs_syntax_declaration *function;
    int depth;
} question;

static bool only_reads(rs_syntax *tree, const rs_syntax_declaration *function, int depth);

/* A variable of the function itself, as a value or a member or an element of one: no reference,
 * nothing behind a pointer. */
static bool is_own_place(const question *at, const rs_syntax_node *place)
{
    for (;;) {
        switch (place->kind) {
        case RS_NODE_PAREN:
            place = place->children[0];
            break;
        case RS_NODE_MEMBER:
            if (place->is_arrow || place->child_count == 0)
                return false;
            place = place->children[0];
            break;
        case RS_NODE_SUBSCRIPT:
            place = place->children[0];
            if (place->kind != RS_NODE_IMPLICIT || place->conversion != RS_CONVERSION_DECAY)
                return false;
            place = place->children[0];
            break;
        case RS_NODE_IMPLICIT:
            if (place->conversion != RS_CONVERSION_QUALIFY)
                return false;
            place = place->children[0];
            break;
        case RS_NODE_REFERENCE:
            return place->declaration->parent == at->function && !place->declaration->is_static &&
                   place->declaration->space != RS_SYNTAX_SPACE_SHARED &&
                   place->declaration->type != NULL &&
                   place->declaration->type->kind != RS_TYPE_REFERENCE;
        default:
            return false;
        }
    }
}

static bool is_harmless_call(const question *at, const rs_syntax_node *node)
{
    const rs_syntax_declaration *called = node->declaration;
    if (called == NULL)
        return false;
    if (called->is_method && strcmp(called->name, "operator=") == 0 &&
        (called->is_implicit || called->is_system))
        return is_own_place(at, node->children[0]);
    if (!called->is_system)
        return only_reads(at->tree, called, at->depth + 1);
    /* The toolkit's functions of numbers. */
    if (called->is_method || strncmp(called->name, "__shfl", 6) == 0 ||
        strncmp(called->name, "__sync", 6) == 0 || called->type == NULL ||
        called->type->is_variadic)
        return false;
    for (size_t i = 0; i < called->parameter_count; i++) {
        const rs_syntax_type *type = called->parameters[i]->type;
        if (type == NULL || type->kind == RS_TYPE_POINTER ||
            (type->kind == RS_TYPE_REFERENCE && !type->of->is_const))
            return false;
    }
    return called->type->of != NULL && called->type->of->kind != RS_TYPE_REFERENCE &&
           called->type->of->kind != RS_TYPE_POINTER && called->type->of->kind != RS_TYPE_VOID;
}

/* Whether a pointer is made of an array that is read, but to index it at once. */
static bool has_pointer_to_array(const rs_syntax_node *node)
{
    for (size_t i = 0; i < node->child_count && node->kind != RS_NODE_SUBSCRIPT; i++) {
        const rs_syntax_node *child = node->children[i];
        if (child != NULL && child->kind == RS_NODE_IMPLICIT &&
            child->conversion == RS_CONVERSION_DECAY && child->children[0]->type != NULL &&
            child->children[0]->type->kind == RS_TYPE_ARRAY)
            return true;
    }
    return false;
}

/* Whether `this` is used but as `this->` or `*this`: a copy has another address and no neighbours.
 */
static bool has_pointer_to_object(const rs_syntax_node *node)
{
    const bool is_through =
        node->is_arrow || (node->kind == RS_NODE_UNARY && strcmp(node->symbol, "*") == 0);
    for (size_t i = is_through; i < node->child_count; i++)
        if (node->children[i] != NULL && rs_syntax_plain(node->children[i])->kind == RS_NODE_THIS)
            return true;
    return false;
}

/* Whether objects of a type are made without code of their own. */
static bool is_plain(const rs_syntax_type *type)
{
    const rs_syntax_declaration *record = type == NULL ? NULL : type->plain->declaration;
    return record == NULL || record->kind != RS_DECLARATION_RECORD || record->is_plain ||
           record->is_system;
}

static bool is_harmless(void *context, const rs_syntax_node *node)
{
    const question *at = context;
    if (has_pointer_to_array(node) || has_pointer_to_object(node))
        return false;
    switch (node->kind) {
    case RS_NODE_ASSIGN:
        return is_own_place(at, node->children[0]);
    case RS_NODE_UNARY:
        if (node->symbol != NULL &&
            (strcmp(node->symbol, "++") == 0 || strcmp(node->symbol, "--") == 0))
            return is_own_place(at, node->children[0]);
        return node->symbol != NULL && strcmp(node->symbol, "&") != 0;
    case RS_NODE_SUBSCRIPT: /* of what is read */
    case RS_NODE_MEMBER:
        return node->type == NULL || !node->type->is_volatile;
    case RS_NODE_CALL:
        return is_harmless_call(at, node);
    case RS_NODE_CONSTRUCT:
        return node->declaration != NULL &&
               (node->declaration->is_system ||
                (node->declaration->is_implicit &&
                 (node->declaration->parameter_count > 0 || is_plain(node->type))));
    case RS_NODE_LIST: /* the constructors of parts are not shown */
        return is_plain(node->type);
    case RS_NODE_VARIABLE: /* no other name for what is read */
        return node->declaration->type != NULL &&
               node->declaration->type->kind != RS_TYPE_POINTER &&
               node->declaration->type->kind != RS_TYPE_REFERENCE;
    case RS_NODE_LAUNCH:
    case RS_NODE_ASM:
    case RS_NODE_LAMBDA:
    case RS_NODE_NEW:
    case RS_NODE_DELETE:
    case RS_NODE_UNKNOWN:
    case RS_NODE_GOTO:
        return false;
    default:
        return true;
    }
}

static bool only_reads(rs_syntax *tree, const rs_syntax_declaration *function, int depth)
{
    question at = {tree, function, depth};
    const rs_syntax_type *type = function->type;
    const rs_syntax_node *body = rs_syntax_body(tree, function);
    if (body == NULL || depth > CALL_DEPTH || function->is_constructor || function->is_virtual ||
        type == NULL || type->of == NULL)
        return false;
    const rs_syntax_type *of = type->of;
    const bool returns_value =
        of->kind == RS_TYPE_BOOL || of->kind == RS_TYPE_INTEGER || of->kind == RS_TYPE_FLOAT ||
        of->kind == RS_TYPE_ENUM ||
        (of->kind == RS_TYPE_RECORD && of->declaration != NULL && of->declaration->is_plain);
    return returns_value && rs_syntax_walk(body, is_harmless, &at);
}

bool rs_fact_only_reads(rs_syntax *tree, const rs_syntax_declaration *function)
{
    return only_reads(tree, function, 0);
}

bool rs_fact_only_reads_in(rs_syntax *tree, const rs_syntax_declaration *function,
                           const rs_syntax_node *expression)
{
    question at = {tree, function, 0};
    return rs_syntax_walk(expression, is_harmless, &at);
}
