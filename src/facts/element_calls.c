/* Elements and pointers to them that go into functions and constructors. */
#include "base/text.h"
#include "facts/element_walk.h"

#include <stdlib.h>
#include <string.h>

static const rs_fact_element none = {RS_SHAPE_NONE, 0};

static bool is_place_of_record(rs_fact_element element)
{
    return element.shape == RS_SHAPE_ELEMENT || element.shape == RS_SHAPE_RECORD;
}

/* Copies member by member: defaulted, or one of the toolkit's vectors. */
static bool is_copy(const rs_syntax_declaration *function)
{
    return function != NULL && (function->is_implicit || function->is_system);
}

/* From another object of the same class. */
static bool is_own_copy(const rs_syntax_node *node)
{
    const rs_syntax_declaration *function = node->declaration;
    return function != NULL && function->parameter_count == 1 && node->child_count == 1 &&
           function->parameters[0]->type->kind == RS_TYPE_REFERENCE && node->type != NULL &&
           function->parameters[0]->type->of->plain == node->type->plain;
}

rs_fact_element rs_element_construct(rs_fact_elements *facts, rs_fact_frame *frame,
                                     const rs_syntax_node *node)
{
    for (size_t i = 0; i < node->child_count; i++) {
        const rs_fact_element seen = rs_element_see(facts, frame, node->children[i]);
        const bool is_read = seen.shape == RS_SHAPE_LEAF || is_place_of_record(seen);
        if (seen.shape != RS_SHAPE_NONE && seen.shape != RS_SHAPE_LEAF &&
            !(is_read && node->child_count == 1 && is_copy(node->declaration)))
            rs_element_refuse(facts, seen.arguments, node->children[i]->range,
                              is_own_copy(node) ? RS_FACT_OWN_COPIES
                                                : "an element is given to a constructor");
    }
    return none;
}

/* `place = value` between structures. */
static rs_fact_element assign(rs_fact_elements *facts, rs_fact_frame *frame,
                              const rs_syntax_node *node)
{
    const rs_fact_element to = rs_element_see(facts, frame, node->children[0]),
                          value = rs_element_see(facts, frame, node->children[1]);
    const bool is_value =
        value.shape == RS_SHAPE_NONE || value.shape == RS_SHAPE_LEAF || is_place_of_record(value);
    if ((to.shape == RS_SHAPE_NONE || to.shape == RS_SHAPE_LEAF || is_place_of_record(to)) &&
        is_value && !node->is_arrow)
        return to;
    rs_element_refuse(facts, to.arguments | value.arguments, node->range,
                      "an element is assigned in a way that is not followed");
    return none;
}

/* Functions of the toolkit that touch what a pointer to one number points to, and no more. */
static bool takes_one_number(const char *name)
{
    return rs_begins_among(name, "atomic __ldg __ldc __ldl __stw __stc sincos modf frexp remquo "
                                 "__nv_atomic");
}

bool rs_fact_works_on_element(const rs_syntax_declaration *function)
{
    return function->is_system && !function->is_method &&
           (strncmp(function->name, "curand", 6) == 0 || strcmp(function->name, "skipahead") == 0);
}

static const rs_syntax_type *parameter_type(const rs_syntax_declaration *function, size_t which)
{
    const rs_syntax_type *type = function->type;
    return type != NULL && which < type->parameter_count ? type->parameters[which] : NULL;
}

/* Whether a parameter of the type takes something of that shape as what it is. */
static bool fits(const rs_syntax_type *type, rs_fact_element given)
{
    if (type == NULL)
        return false;
    if (given.shape == RS_SHAPE_POINTER || given.shape == RS_SHAPE_LEAF_POINTER)
        return type->kind == RS_TYPE_POINTER;
    return type->kind == RS_TYPE_REFERENCE && type->of != NULL && given.shape != RS_SHAPE_ARRAY;
}

typedef struct {
    rs_fact_elements *facts;
    rs_fact_frame *frame;
    const rs_syntax_node *node;
    const rs_syntax_declaration *called;
    rs_fact_element *given; /* what the parameters get */
    uint64_t arguments;
    rs_fact_element object; /* of a method that is entered */
    bool enters;            /* a copy of the function is needed, or a look at it */
    uint64_t copied;        /* of those that the function gets a copy of */
    size_t copies;          /* how many, and the operand of the last one */
    size_t last_copied;
} call;

/* The function gets a copy in place of a reference to operand number `which`. */
static const char *copy(call *at, size_t which, rs_fact_element given)
{
    at->copied |= given.arguments;
    at->copies++;
    at->last_copied = which;
    return NULL;
}

/* A copy is made among the operands, but the function reads behind them all: none of them may
 * change what is copied. */
static void check_copies(call *at)
{
    const rs_syntax_node *node = at->node;
    for (size_t i = 0; i < node->child_count && at->copies > 0; i++)
        if ((at->copies > 1 || i != at->last_copied) &&
            !rs_fact_only_reads_in(at->facts->tree, at->frame->function, node->children[i]))
            rs_element_refuse(at->facts, at->copied, node->children[i]->range,
                              "an argument beside an element changes memory");
}

static const char *see_argument(call *at, size_t which, rs_fact_element given)
{
    const rs_syntax_declaration *called = at->called;
    const rs_syntax_type *type = called == NULL ? NULL : parameter_type(called, which);
    if (given.shape == RS_SHAPE_ARRAY)
        return "a member that is an array is given to a function";
    if (called == NULL)
        return "an element goes to a function through a pointer to that function";
    if (!fits(type, given))
        return type != NULL && type->kind == RS_TYPE_REFERENCE
                   ? "a pointer to an element is passed by reference"
                   : "an element goes to the \"...\" of a function";
    if (is_place_of_record(given) && type->of->is_const &&
        rs_fact_only_reads(at->facts->tree, called))
        return copy(at, which + 1, given);
    if (given.shape == RS_SHAPE_LEAF && (called->is_system || called->is_method))
        return NULL;
    if (called->is_system) {
        if (given.shape == RS_SHAPE_LEAF_POINTER && takes_one_number(called->name))
            return NULL;
        if (given.shape == RS_SHAPE_POINTER && rs_fact_works_on_element(called))
            return NULL;
        return "an element goes to a function of the toolkit";
    }
    if (rs_syntax_body(at->facts->tree, called) == NULL)
        return "an element goes to a function without a body here";
    if (called->is_method)
        return "an element goes to a method that may change it";
    at->given[which] = given;
    at->enters = true;
    return NULL;
}

/* A method whose copy is a function that gets the element. */
static bool can_be_copied(const call *at)
{
    const rs_syntax_declaration *called = at->called;
    return !called->is_system && !called->is_virtual && !called->is_constructor &&
           !called->is_destructor && !called->is_conversion && !called->is_instance &&
           strncmp(called->name, "operator", 8) != 0 &&
           rs_syntax_body(at->facts->tree, called) != NULL;
}

static const char *see_object(call *at, rs_fact_element object)
{
    const bool is_pointer = object.shape == RS_SHAPE_POINTER && at->node->is_arrow;
    if (object.shape == RS_SHAPE_LEAF) /* an object as any other */
        return NULL;
    if (!is_place_of_record(object) && !is_pointer)
        return "a method of a member is called in a way that is not followed";
    if (rs_fact_only_reads(at->facts->tree, at->called))
        return copy(at, 0, object);
    if (object.shape == RS_SHAPE_RECORD)
        return "a method may change a structure inside an element";
    if (!can_be_copied(at))
        return "a method is called on an element that it may change";
    at->object = (rs_fact_element){RS_SHAPE_POINTER, object.arguments};
    at->enters = true;
    return NULL;
}

static rs_fact_element enter(const call *at)
{
    rs_fact_frame *entered = rs_element_frame(at->facts, at->called, at->given, at->object);
    if (entered == NULL)
        return none;
    rs_element_enter(at->facts, at->frame, at->node, entered);
    return entered->returned;
}

static void see_all(call *at)
{
    const rs_syntax_node *node = at->node;
    const bool has_object = at->called != NULL && at->called->is_method && !at->called->is_static;
    for (size_t i = 0; i < node->child_count; i++) {
        const rs_fact_element seen = rs_element_see(at->facts, at->frame, node->children[i]);
        if (seen.shape == RS_SHAPE_NONE)
            continue;
        at->arguments |= seen.arguments;
        const char *problem = i > 0        ? see_argument(at, i - 1, seen)
                              : has_object ? see_object(at, seen)
                                           : "a pointer in an element is called";
        if (problem != NULL)
            rs_element_refuse(at->facts, seen.arguments, node->children[i]->range, problem);
    }
    check_copies(at);
}

rs_fact_element rs_element_call(rs_fact_elements *facts, rs_fact_frame *frame,
                                const rs_syntax_node *node)
{
    const rs_syntax_declaration *called = node->declaration;
    if (called != NULL && called->is_method && strcmp(called->name, "operator=") == 0 &&
        is_copy(called) && node->child_count == 2)
        return assign(facts, frame, node);
    call at = {.facts = facts, .frame = frame, .node = node, .called = called};
    at.given = calloc(called == NULL ? 1 : called->parameter_count + 1, sizeof *at.given);
    facts->failed |= at.given == NULL;
    if (at.given == NULL)
        return none;
    see_all(&at);
    rs_fact_element returned = at.enters ? enter(&at) : none;
    free(at.given);
    /* A method, or the toolkit's function, may return the reference that it got. */
    if (!at.enters && at.arguments != 0 && node->category == RS_PLACE && called != NULL)
        returned = (rs_fact_element){RS_SHAPE_LEAF, at.arguments};
    return returned;
}
