/*
 * The shapes of expressions, and what each statement and operator may do with them: the white list
 * of elements.h. A kind of node that is not named here takes no shapes.
 */
#include "facts/element_walk.h"

#include <stdlib.h>
#include <string.h>

static const rs_fact_element none = {RS_SHAPE_NONE, 0};

static rs_fact_element with(rs_fact_shape shape, rs_fact_element from)
{
    return (rs_fact_element){shape, from.arguments};
}

static bool is_pointer(rs_fact_element element)
{
    return element.shape == RS_SHAPE_POINTER || element.shape == RS_SHAPE_LEAF_POINTER;
}

/* A value that must be free of shapes. */
static void see_plain(rs_fact_elements *facts, rs_fact_frame *frame, const rs_syntax_node *node,
                      const char *what)
{
    const rs_fact_element seen = rs_element_see(facts, frame, node);
    if (node != NULL)
        rs_element_refuse(facts, seen.arguments, node->range, what);
}

static const char *shape_used(rs_fact_element element)
{
    switch (element.shape) {
    case RS_SHAPE_POINTER:
    case RS_SHAPE_LEAF_POINTER:
        return "a pointer to an element goes where it is not followed";
    case RS_SHAPE_ARRAY:
        return "a member that is an array is used as a pointer";
    default:
        return "a reference to an element goes where it is not followed";
    }
}

static rs_fact_element see_other(rs_fact_elements *facts, rs_fact_frame *frame,
                                 const rs_syntax_node *node)
{
    for (size_t i = 0; i < node->child_count; i++) {
        const rs_fact_element seen = rs_element_see(facts, frame, node->children[i]);
        if (seen.shape != RS_SHAPE_NONE)
            rs_element_refuse(facts, seen.arguments, node->children[i]->range, shape_used(seen));
    }
    return none;
}

/* Text whose meaning the tree does not have. */
static rs_fact_element see_hidden(rs_fact_elements *facts, rs_fact_frame *frame,
                                  const rs_syntax_node *node)
{
    const uint64_t named = rs_element_named(facts, frame, node->range);
    const char *what = node->kind == RS_NODE_SIZEOF ? "the type or the size of an element is asked"
                       : node->kind == RS_NODE_LAMBDA ? "a lambda captures the array"
                                                      : "an expression that is not understood";
    rs_element_refuse(facts, named, node->range, what);
    return see_other(facts, frame, node);
}

/* --- places --- */

static rs_fact_shape shape_of_type(const rs_fact_elements *facts, const rs_syntax_type *type)
{
    if (type == NULL || facts->is_whole(facts->tree, type))
        return RS_SHAPE_LEAF;
    return type->kind == RS_TYPE_ARRAY ? RS_SHAPE_ARRAY : RS_SHAPE_RECORD;
}

/* A base's member is named through the object of the class. */
static const rs_syntax_node *without_base(const rs_syntax_node *node)
{
    while ((node->kind == RS_NODE_IMPLICIT && node->conversion == RS_CONVERSION_BASE) ||
           node->kind == RS_NODE_PAREN)
        node = node->children[0];
    return node;
}

static rs_fact_element see_member(rs_fact_elements *facts, rs_fact_frame *frame,
                                  const rs_syntax_node *node)
{
    if (node->child_count == 0)
        return none;
    const rs_fact_element object = rs_element_see(facts, frame, without_base(node->children[0]));
    const rs_syntax_declaration *field = node->declaration;
    if (object.shape == RS_SHAPE_NONE || field == NULL || field->kind != RS_DECLARATION_FIELD)
        return none;
    const char *problem = NULL;
    if (object.shape == RS_SHAPE_LEAF) /* of one that lies together */
        return object;
    if (object.shape == RS_SHAPE_LEAF_POINTER && node->is_arrow)
        return with(RS_SHAPE_LEAF, object);
    if (object.shape != (node->is_arrow ? RS_SHAPE_POINTER : RS_SHAPE_ELEMENT) &&
        (node->is_arrow || object.shape != RS_SHAPE_RECORD))
        problem = shape_used(object);
    else if (field->name[0] == '\0')
        problem = "a member without a name is used";
    if (problem != NULL) {
        rs_element_refuse(facts, object.arguments, node->range, problem);
        return none;
    }
    return with(field->is_bitfield ? RS_SHAPE_BITS : shape_of_type(facts, field->type), object);
}

static rs_fact_element see_subscript(rs_fact_elements *facts, rs_fact_frame *frame,
                                     const rs_syntax_node *node)
{
    const rs_syntax_node *base = node->children[0], *index = node->children[1];
    see_plain(facts, frame, index, "a pointer to an element is an index");
    if (base->kind == RS_NODE_IMPLICIT && base->conversion == RS_CONVERSION_DECAY) {
        const rs_fact_element array = rs_element_see(facts, frame, base->children[0]);
        if (array.shape == RS_SHAPE_LEAF) /* in a member that lies together */
            return array;
        if (array.shape == RS_SHAPE_ARRAY)
            return with(shape_of_type(facts, node->type), array);
        rs_element_refuse(facts, array.arguments, base->range, shape_used(array));
        return none;
    }
    const rs_fact_element pointer = rs_element_see(facts, frame, base);
    if (pointer.shape == RS_SHAPE_POINTER)
        return with(RS_SHAPE_ELEMENT, pointer);
    if (pointer.shape == RS_SHAPE_LEAF_POINTER && index->constant.kind == RS_CONSTANT_INTEGER &&
        index->constant.integer == 0)
        return with(RS_SHAPE_LEAF, pointer);
    rs_element_refuse(facts, pointer.arguments, node->range,
                      pointer.shape == RS_SHAPE_LEAF_POINTER
                          ? "a pointer to a member is used as an array"
                          : shape_used(pointer));
    return none;
}

static rs_fact_element see_reference(rs_fact_frame *frame, const rs_syntax_node *node)
{
    return rs_fact_declaration_shape(frame, node->declaration);
}

/* --- operators --- */

static rs_fact_element see_address(rs_fact_elements *facts, rs_fact_element of,
                                   const rs_syntax_node *node)
{
    if (of.shape == RS_SHAPE_ELEMENT)
        return with(RS_SHAPE_POINTER, of);
    if (of.shape == RS_SHAPE_LEAF)
        return with(RS_SHAPE_LEAF_POINTER, of);
    rs_element_refuse(facts, of.arguments, node->range,
                      is_pointer(of) ? "the address of a pointer to elements is taken"
                                     : "the address of a member that is no number is taken");
    return none;
}

static rs_fact_element see_unary(rs_fact_elements *facts, rs_fact_frame *frame,
                                 const rs_syntax_node *node)
{
    const rs_fact_element of = rs_element_see(facts, frame, node->children[0]);
    const char *symbol = node->symbol == NULL ? "" : node->symbol;
    if (of.shape == RS_SHAPE_NONE)
        return none;
    if (strcmp(symbol, "&") == 0)
        return see_address(facts, of, node);
    if (strcmp(symbol, "*") == 0 && is_pointer(of))
        return with(of.shape == RS_SHAPE_POINTER ? RS_SHAPE_ELEMENT : RS_SHAPE_LEAF, of);
    if (strcmp(symbol, "++") == 0 || strcmp(symbol, "--") == 0) {
        if (of.shape == RS_SHAPE_LEAF || of.shape == RS_SHAPE_BITS)
            return node->is_postfix ? none : of;
        if (of.shape == RS_SHAPE_POINTER)
            return of;
    }
    rs_element_refuse(facts, of.arguments, node->range, shape_used(of));
    return none;
}

static bool is_comparison(const char *symbol)
{
    return rs_is_among(symbol, strlen(symbol), "== != < > <= >=");
}

static bool is_null(const rs_syntax_node *node)
{
    while (node->kind == RS_NODE_IMPLICIT || node->kind == RS_NODE_PAREN)
        node = node->children[0];
    return node->kind == RS_NODE_LITERAL &&
           ((node->type != NULL && node->type->kind == RS_TYPE_NULLPTR) ||
            (node->constant.kind == RS_CONSTANT_INTEGER && node->constant.integer == 0));
}

static rs_fact_element see_binary(rs_fact_elements *facts, rs_fact_frame *frame,
                                  const rs_syntax_node *node)
{
    const rs_fact_element left = rs_element_see(facts, frame, node->children[0]),
                          right = rs_element_see(facts, frame, node->children[1]);
    const char *symbol = node->symbol == NULL ? "" : node->symbol;
    const uint64_t both = left.arguments | right.arguments;
    if (strcmp(symbol, ",") == 0)
        return right;
    if (both == 0)
        return none;
    if (is_pointer(left) && left.shape == right.shape &&
        (is_comparison(symbol) || (left.shape == RS_SHAPE_POINTER && strcmp(symbol, "-") == 0)))
        return none;
    if ((strcmp(symbol, "==") == 0 || strcmp(symbol, "!=") == 0) &&
        ((is_pointer(left) && is_null(node->children[1])) ||
         (is_pointer(right) && is_null(node->children[0]))))
        return none;
    if (left.shape == RS_SHAPE_POINTER && right.shape == RS_SHAPE_NONE &&
        (strcmp(symbol, "+") == 0 || strcmp(symbol, "-") == 0))
        return left;
    if (right.shape == RS_SHAPE_POINTER && left.shape == RS_SHAPE_NONE && strcmp(symbol, "+") == 0)
        return right;
    rs_element_refuse(facts, both, node->range,
                      is_comparison(symbol)
                          ? "a pointer to an element is compared with another pointer"
                          : "a pointer to a member is used as an array");
    return none;
}

/* A variable of the function itself that lives for one thread. */
static bool is_own(const rs_fact_frame *frame, const rs_syntax_declaration *variable)
{
    return variable->parent == frame->function && !variable->is_static && !variable->is_extern &&
           (variable->space == RS_SYNTAX_SPACE_ANY || variable->space == RS_SYNTAX_SPACE_PRIVATE);
}

static rs_fact_element see_assign(rs_fact_elements *facts, rs_fact_frame *frame,
                                  const rs_syntax_node *node)
{
    const rs_syntax_node *place = rs_syntax_plain(node->children[0]);
    const rs_fact_element to = rs_element_see(facts, frame, node->children[0]),
                          value = rs_element_see(facts, frame, node->children[1]);
    const bool is_plain = node->symbol == NULL || strcmp(node->symbol, "=") == 0;
    if (is_plain && is_pointer(value) && place->kind == RS_NODE_REFERENCE &&
        (to.shape == RS_SHAPE_NONE || is_pointer(to)) && is_own(frame, place->declaration)) {
        rs_element_bind(facts, frame, place->declaration, value, node->range);
        return value;
    }
    if ((to.shape == RS_SHAPE_LEAF || to.shape == RS_SHAPE_BITS) &&
        (value.shape == RS_SHAPE_NONE || value.shape == RS_SHAPE_LEAF))
        return to;
    if (to.shape == RS_SHAPE_POINTER && value.shape == RS_SHAPE_NONE &&
        (!is_plain || is_null(node->children[1])))
        return to;
    if (is_pointer(to))
        rs_element_refuse(facts, to.arguments, node->range,
                          "a pointer to elements gets another pointer, too");
    else
        rs_element_refuse(facts, to.arguments | value.arguments, node->range,
                          is_pointer(value) ? "a pointer to an element is stored in memory"
                                            : shape_used(value));
    return none;
}

static rs_fact_element see_conditional(rs_fact_elements *facts, rs_fact_frame *frame,
                                       const rs_syntax_node *node)
{
    see_plain(facts, frame, node->children[0], "an element is a condition");
    rs_fact_element one = rs_element_see(facts, frame, node->children[1]);
    const rs_fact_element other = rs_element_see(facts, frame, node->children[2]);
    if (one.shape != other.shape || one.shape == RS_SHAPE_ARRAY)
        rs_element_refuse(facts, one.arguments | other.arguments, node->range,
                          "?: chooses between an element and something else");
    one.arguments |= other.arguments;
    return one.shape == other.shape ? one : none;
}

/* --- conversions --- */

const rs_syntax_type *rs_element_pointee(const rs_syntax_type *type)
{
    return type != NULL && type->kind == RS_TYPE_POINTER && type->of != NULL ? type->of->plain
                                                                             : NULL;
}

static rs_fact_element see_implicit(rs_fact_elements *facts, rs_fact_frame *frame,
                                    const rs_syntax_node *node)
{
    const rs_syntax_node *child = node->children[0];
    const rs_fact_element of = rs_element_see(facts, frame, child);
    if (of.shape == RS_SHAPE_NONE)
        return none;
    switch (node->conversion) {
    case RS_CONVERSION_LOAD:
        if (of.shape == RS_SHAPE_LEAF || of.shape == RS_SHAPE_BITS)
            return none;
        if (is_pointer(of))
            return of;
        break;
    case RS_CONVERSION_QUALIFY:
        return of;
    case RS_CONVERSION_TRUTH:
        if (is_pointer(of))
            return none;
        break;
    case RS_CONVERSION_POINTER:
        if (is_pointer(of) && rs_element_pointee(node->type) == rs_element_pointee(child->type))
            return of;
        break;
    default:
        break;
    }
    rs_element_refuse(facts, of.arguments, node->range,
                      is_pointer(of) ? "a pointer to an element becomes one of another type"
                                     : shape_used(of));
    return none;
}

static rs_fact_element see_cast(rs_fact_elements *facts, rs_fact_frame *frame,
                                const rs_syntax_node *node)
{
    const rs_syntax_node *child = node->children[0];
    const rs_fact_element of = rs_element_see(facts, frame, child);
    if (of.shape == RS_SHAPE_NONE || (node->type != NULL && node->type->kind == RS_TYPE_VOID))
        return none;
    const rs_syntax_type *from = rs_element_pointee(child->type),
                         *to = rs_element_pointee(node->type);
    if (of.shape == RS_SHAPE_LEAF_POINTER && from != NULL && to != NULL && from->size > 0 &&
        from->size == to->size && to->kind != RS_TYPE_RECORD)
        return of;
    rs_element_refuse(facts, of.arguments, node->range,
                      is_pointer(of) ? "a pointer to an element is cast"
                                     : "an element is cast to another type");
    return none;
}

/* --- statements --- */

/* Memory that all calls of a function share: a copy would have its own. */
static void check_static(rs_fact_elements *facts, const rs_fact_frame *frame,
                         const rs_syntax_declaration *variable)
{
    const bool is_shared = variable->space == RS_SYNTAX_SPACE_SHARED && !variable->is_extern;
    if (is_shared ? frame->function != facts->kernel
                  : variable->is_static && !(variable->type != NULL && variable->type->is_const))
        rs_element_refuse(facts, rs_element_all(frame), variable->range,
                          "a function that must be copied has a static variable");
}

/* Whether braces make an object of each value, none a reference to one. */
static bool makes_copies(const rs_syntax_node *list)
{
    const rs_syntax_type *type = list->type == NULL ? NULL : list->type->plain;
    while (type != NULL && type->kind == RS_TYPE_ARRAY)
        type = type->of->plain;
    if (type == NULL || type->kind != RS_TYPE_RECORD || type->declaration == NULL ||
        type->declaration->base_count > 0)
        return false;
    for (size_t i = 0; i < type->declaration->field_count; i++)
        if (type->declaration->fields[i]->type->kind == RS_TYPE_REFERENCE)
            return false;
    return true;
}

/* The values of an object that is made by braces; elements among them are copied. */
static void see_list(rs_fact_elements *facts, rs_fact_frame *frame, const rs_syntax_node *list)
{
    const bool copies = list->kind == RS_NODE_DESIGNATED || makes_copies(list);
    for (size_t i = 0; i < list->child_count; i++) {
        const rs_syntax_node *value = list->children[i];
        if (value != NULL && (value->kind == RS_NODE_LIST || value->kind == RS_NODE_DESIGNATED)) {
            see_list(facts, frame, value);
            continue;
        }
        const rs_fact_element seen = rs_element_see(facts, frame, value);
        const bool is_place = seen.shape == RS_SHAPE_ELEMENT || seen.shape == RS_SHAPE_RECORD ||
                              seen.shape == RS_SHAPE_LEAF;
        if (seen.shape != RS_SHAPE_NONE && !(copies && is_place))
            rs_element_refuse(facts, seen.arguments, value->range, shape_used(seen));
    }
}

static rs_fact_element see_variable(rs_fact_elements *facts, rs_fact_frame *frame,
                                    const rs_syntax_node *node)
{
    const rs_syntax_declaration *variable = node->declaration;
    check_static(facts, frame, variable);
    if (node->children[0] != NULL && node->children[0]->kind == RS_NODE_LIST &&
        variable->type != NULL && variable->type->kind != RS_TYPE_REFERENCE) {
        see_list(facts, frame, node->children[0]);
        return none;
    }
    const rs_fact_element value = rs_element_see(facts, frame, node->children[0]);
    const rs_fact_element known = rs_fact_declaration_shape(frame, variable);
    const rs_syntax_type *type = variable->type;
    const bool is_reference = type != NULL && type->kind == RS_TYPE_REFERENCE;
    if (value.shape == RS_SHAPE_NONE) {
        if (node->children[0] != NULL && !is_null(node->children[0]))
            rs_element_refuse(facts, known.arguments, node->range,
                              "a pointer to elements gets another pointer, too");
        return none;
    }
    const bool is_alias = value.shape == RS_SHAPE_ELEMENT || value.shape == RS_SHAPE_RECORD ||
                          value.shape == RS_SHAPE_LEAF;
    const bool fits = is_reference
                          ? is_alias
                          : is_pointer(value) && type != NULL && type->kind == RS_TYPE_POINTER;
    if (fits && is_own(frame, variable))
        rs_element_bind(facts, frame, variable, value, node->range);
    else
        rs_element_refuse(facts, value.arguments, node->range, shape_used(value));
    return none;
}

static rs_fact_element see_return(rs_fact_elements *facts, rs_fact_frame *frame,
                                  const rs_syntax_node *node)
{
    const rs_fact_element value = rs_element_see(facts, frame, node->children[0]);
    const rs_syntax_type *type = frame->function->type;
    if (value.shape == RS_SHAPE_NONE)
        return none;
    if (value.shape == RS_SHAPE_LEAF && type != NULL && type->of != NULL &&
        type->of->kind != RS_TYPE_REFERENCE)
        return none; /* a vector is copied */
    if (value.shape != RS_SHAPE_LEAF && value.shape != RS_SHAPE_LEAF_POINTER)
        rs_element_refuse(facts, value.arguments, node->range,
                          "a function returns a pointer or a reference to an element");
    facts->has_changed |= (value.arguments & ~frame->returned.arguments) != 0;
    frame->returned.shape = value.shape;
    frame->returned.arguments |= value.arguments;
    return none;
}

/* Statements: which child is a value, the others' values are dropped. */
static rs_fact_element see_statement(rs_fact_elements *facts, rs_fact_frame *frame,
                                     const rs_syntax_node *node, size_t value)
{
    for (size_t i = 0; i < node->child_count; i++) {
        if (i == value)
            see_plain(facts, frame, node->children[i], "an element is a condition");
        else
            rs_element_see(facts, frame, node->children[i]);
    }
    return none;
}

/* The last value of ({ ... }) is its own. */
static rs_fact_element see_statements(rs_fact_elements *facts, rs_fact_frame *frame,
                                      const rs_syntax_node *node)
{
    const rs_syntax_node *block = node->children[0];
    rs_element_see(facts, frame, block);
    if (block != NULL && block->child_count > 0)
        see_plain(facts, frame, block->children[block->child_count - 1],
                  "a statement's value is an element");
    return none;
}

typedef rs_fact_element see_kind(rs_fact_elements *facts, rs_fact_frame *frame,
                                 const rs_syntax_node *node);

static rs_fact_element see_by_kind(rs_fact_elements *facts, rs_fact_frame *frame,
                                   const rs_syntax_node *node)
{
    static see_kind *const kinds[RS_NODE_KINDS] = {
        [RS_NODE_VARIABLE] = see_variable,     [RS_NODE_RETURN] = see_return,
        [RS_NODE_MEMBER] = see_member,         [RS_NODE_SUBSCRIPT] = see_subscript,
        [RS_NODE_UNARY] = see_unary,           [RS_NODE_BINARY] = see_binary,
        [RS_NODE_ASSIGN] = see_assign,         [RS_NODE_CONDITIONAL] = see_conditional,
        [RS_NODE_IMPLICIT] = see_implicit,     [RS_NODE_CAST] = see_cast,
        [RS_NODE_CALL] = rs_element_call,      [RS_NODE_CONSTRUCT] = rs_element_construct,
        [RS_NODE_STATEMENTS] = see_statements, [RS_NODE_SIZEOF] = see_hidden,
        [RS_NODE_LAMBDA] = see_hidden,         [RS_NODE_UNKNOWN] = see_hidden,
    };
    switch (node->kind) {
    case RS_NODE_REFERENCE:
        return see_reference(frame, node);
    case RS_NODE_THIS:
        return frame->object;
    case RS_NODE_PAREN:
        return rs_element_see(facts, frame, node->children[0]);
    case RS_NODE_COMPOUND:
    case RS_NODE_DECLARE:
    case RS_NODE_DEFAULT:
    case RS_NODE_LABEL:
    case RS_NODE_CASE: /* whose values are constants */
        return see_statement(facts, frame, node, (size_t)-1);
    case RS_NODE_IF:
    case RS_NODE_WHILE:
    case RS_NODE_SWITCH:
        return see_statement(facts, frame, node, 0);
    case RS_NODE_FOR:
    case RS_NODE_DO:
        return see_statement(facts, frame, node, 1);
    default:
        return kinds[node->kind] != NULL ? kinds[node->kind](facts, frame, node)
                                         : see_other(facts, frame, node);
    }
}

rs_fact_element rs_element_see(rs_fact_elements *facts, rs_fact_frame *frame,
                               const rs_syntax_node *node)
{
    if (node == NULL || facts->failed)
        return none;
    const rs_fact_element seen = see_by_kind(facts, frame, node);
    if (facts->is_final)
        rs_element_check_memory(facts, frame, node);
    if (seen.shape == RS_SHAPE_NONE)
        return none;
    rs_fact_element *known = rs_map_get(&frame->nodes, node);
    if (known == NULL) {
        known = calloc(1, sizeof *known);
        if (known == NULL || !rs_map_set(&frame->nodes, node, known)) {
            free(known);
            facts->failed = true;
            return none;
        }
    }
    *known = seen;
    return seen;
}
