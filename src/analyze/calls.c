/* Calls: functions that builtins.c knows by their meaning, the source's own by walking them in
 * place, all others by what they could touch (unknown_calls.c). */
#include "analyze/calls.h"
#include "analyze/builtins.h"
#include "source/query.h"
#include "source/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether a call is one of an operator that a class declares. */
static bool is_operator(const char *name)
{
    static const char word[] = "operator";
    return rs_name_starts_with(name, word) && rs_identifier_length(name) == strlen(word);
}

static bool is_method(const rs_walk *walk, int node)
{
    const rs_syntax_declaration *declared = walk->tree->nodes[node].declaration;
    return declared->is_method && !declared->is_constructor && !declared->is_destructor;
}

/*
 * The first child names the function, the others are its arguments. An operator stands somewhere
 * among them, and the first argument of one that is a method is the object.
 */
static rs_call_arguments read_arguments(const rs_walk *walk, int node)
{
    rs_call_arguments list = {{0}, 0};
    int named = rs_node_operator(walk->tree, node);
    bool passed = named >= 0 && !is_method(walk, node);
    for (int child = walk->tree->nodes[node].first; child >= 0 && list.count < RS_CALL_ARGUMENTS;
         child = walk->tree->nodes[child].next) {
        if (child != named && passed)
            list.nodes[list.count++] = child;
        passed = passed || child != named;
    }
    return list;
}

/* ---- the source's own functions ---- */

static const rs_routine *find_routine(const rs_walk *walk, int node, const char *name)
{
    const rs_syntax_declaration *declared = walk->tree->nodes[node].declaration;
    for (int i = 0; i < walk->routine_count && declared->is_defined; i++)
        if (walk->tree->nodes[walk->routines[i].node].declaration == declared)
            return &walk->routines[i]; /* of a template's instances the one that is called */
    bool exact = declared->is_defined && declared->is_main;
    size_t offset = exact ? declared->place : 0;
    for (int i = 0; i < walk->routine_count; i++)
        if (exact ? walk->routines[i].offset == offset : strcmp(walk->routines[i].name, name) == 0)
            return &walk->routines[i];
    return NULL;
}

int rs_walk_routine(const rs_walk *walk, int node)
{
    char name[RS_CALL_NAME_ROOM];
    rs_call_name(walk, node, name);
    const rs_routine *routine = find_routine(walk, node, name);
    return routine == NULL ? -1 : routine->node;
}

static bool is_active(const rs_walk *walk, int routine)
{
    for (int i = 0; i < walk->depth; i++)
        if (walk->calls[i] == routine)
            return true;
    return false;
}

static void bind_parameters(rs_walk *walk, int routine, const rs_call_arguments *list,
                            const rs_value *values)
{
    int i = 0;
    RS_EACH_CHILD(child, walk->tree, routine) {
        if (walk->tree->nodes[child].is != RS_NODE_PARAMETER)
            continue;
        const rs_syntax_declaration *cursor = walk->tree->nodes[child].declaration;
        const rs_syntax_type *type = rs_declared_type(cursor);
        if (type->kind == RS_TYPE_REFERENCE) {
            rs_walk_bind_reference(walk, rs_declared_key(cursor),
                                   i < list->count ? list->nodes[i] : -1);
            i++;
            continue;
        }
        rs_value value = i < list->count ? values[i] : rs_value_unknown(0, false);
        value = rs_walk_narrow(walk, &value, i < list->count ? list->nodes[i] : -1, type);
        value = rs_walk_view(walk, &value, type);
        value.carried_loop = -1;
        rs_walk_set(walk, rs_declared_key(cursor), &value);
        i++;
    }
}

int rs_walk_object(const rs_walk *walk, int node)
{
    const rs_tree *tree = walk->tree;
    if (!is_method(walk, node))
        return -1;
    int first = tree->nodes[node].first, named = rs_node_operator(walk->tree, node);
    if (named >= 0)
        return first != named ? first : tree->nodes[first].next;
    int callee = rs_node_inner(tree, first);
    bool member = callee >= 0 && tree->nodes[callee].is == RS_NODE_MEMBER;
    return member ? rs_node_child(tree, callee, 0) : -1;
}

/* Makes the object of a call the one that members without an object are looked for in. */
static void enter_object(rs_walk *walk, const rs_routine *routine, int node)
{
    const int kind = walk->tree->nodes[routine->node].is;
    if (kind != RS_NODE_METHOD && kind != RS_NODE_CONVERSION) {
        walk->self = rs_value_unknown(rs_walk_anything(walk), true);
        return;
    }
    int object = rs_walk_object(walk, node);
    if (object < 0)
        return;
    walk->self_filled = rs_walk_was_filled(walk, object);
    walk->self = rs_node_is_pointer(walk->tree, object) ? rs_walk_evaluate(walk, object)
                                                        : rs_walk_refer_to(walk, object);
    snprintf(walk->self_name, sizeof walk->self_name, "%s", rs_walk_text(walk, object).text);
}

/* What a function that is entered finds otherwise than its caller. */
typedef struct {
    rs_value self;
    char self_name[RS_MEMBER_ROOM];
    bool self_filled, gives_place;
    int returned;
    uint64_t conditions;
    rs_reach reach;
    rs_exit *returning, *breaking;
} frame;

static frame begin_frame(rs_walk *walk, rs_exit *exit, int node)
{
    frame outer = {.self = walk->self,
                   .self_filled = walk->self_filled,
                   .gives_place = walk->gives_place,
                   .returned = walk->returned,
                   .conditions = walk->conditions,
                   .reach = walk->reach,
                   .returning = walk->returning,
                   .breaking = walk->breaking};
    memcpy(outer.self_name, walk->self_name, sizeof outer.self_name);
    const rs_syntax_declaration *declared = walk->tree->nodes[node].declaration;
    const rs_syntax_type *type = rs_result_type(declared);
    walk->gives_place = type->kind == RS_TYPE_REFERENCE;
    walk->returned = -1;
    walk->conditions = 0;
    walk->returning = exit;
    walk->breaking = NULL;
    return outer;
}

static void end_frame(rs_walk *walk, const frame *outer)
{
    walk->self = outer->self;
    walk->self_filled = outer->self_filled;
    walk->gives_place = outer->gives_place;
    walk->returned = outer->returned;
    walk->conditions |= outer->conditions;
    walk->reach = outer->reach;
    walk->returning = outer->returning;
    walk->breaking = outer->breaking;
    memcpy(walk->self_name, outer->self_name, sizeof walk->self_name);
}

static rs_value enter(rs_walk *walk, const rs_routine *routine, int node,
                      const rs_call_arguments *list, const rs_value *values)
{
    int body = rs_node_body(walk->tree, routine->node),
        lambda = rs_walk_lambda_of(walk, routine->node);
    if (body < 0)
        return rs_value_unknown(rs_walk_anything(walk), true);
    if (lambda >= 0)
        (void)rs_walk_evaluate(walk, rs_walk_object(walk, node)); /* it may be made here */
    rs_exit exit = {{NULL, 0}, walk->loop};
    const frame outer = begin_frame(walk, &exit, node);
    if (lambda < 0) {
        enter_object(walk, routine, node);
    } else if (!rs_walk_enter_lambda(walk, lambda)) {
        end_frame(walk, &outer);
        rs_walk_note_unfollowed(walk, node, "What \"%s\" does is not followed.");
        return rs_call_unknown(walk, routine->name, node, list, values);
    }
    walk->calls[walk->depth++] = routine->node;
    rs_walk_note_unsupported(walk, body, walk->loop);
    bind_parameters(walk, routine->node, list, values);
    rs_walk_statement(walk, body);
    rs_walk_end_scope(walk, routine->node);
    walk->depth--;
    rs_walk_join(walk, &exit, walk->conditions);
    rs_value result = rs_value_unknown(0, false);
    if (walk->returned >= 0)
        result = walk->values[walk->returned];
    result = rs_walk_narrow(walk, &result, -1, rs_type_of(walk->tree, node));
    if (lambda >= 0)
        rs_walk_leave_lambda(walk, lambda);
    end_frame(walk, &outer);
    return result;
}

static rs_value call_routine(rs_walk *walk, const rs_routine *routine, int node,
                             const rs_call_arguments *list, const rs_value *values)
{
    if (routine->kernel && walk->program->language == RS_LANGUAGE_CUDA) {
        rs_walk_mark_unsupported(walk, node, walk->loop);
        return rs_value_unknown(0, false); /* a launch: the kernel is analyzed by itself */
    }
    bool recursive = is_active(walk, routine->node);
    if (!recursive && walk->depth < RS_CALL_DEPTH)
        return enter(walk, routine, node, list, values);
    /* A function object has the name that it is called by. */
    const char *why = recursive ? "%s calls itself; what the inner calls touch is not followed."
                                : "%s is called too deeply; what it touches is not followed.";
    int object = rs_walk_lambda_of(walk, routine->node) < 0 ? -1 : rs_walk_object(walk, node);
    rs_walk_note(walk, node, why, object < 0 ? routine->name : rs_walk_text(walk, object).text);
    return rs_call_unknown(walk, routine->name, node, list, values);
}

/* Overloaded operators of C++ that are not in the source: only the assignment of whole records is
 * followed. */
static rs_value call_operator(rs_walk *walk, const char *name, int node)
{
    int parts[3], count = 0;
    for (int child = walk->tree->nodes[node].first; child >= 0 && count < 3;
         child = walk->tree->nodes[child].next)
        parts[count++] = child;
    if (count < 3 || strcmp(name, "operator=") != 0) {
        rs_value result = rs_value_unknown(rs_walk_anything(walk), true);
        for (int i = 0; i < count; i++) {
            rs_value part = rs_walk_evaluate(walk, parts[i]);
            result.depends |= rs_value_depends(walk, &part);
        }
        rs_walk_invalidate(walk, RS_STORED_ANYTHING, true, true);
        result.lost = rs_node_is_pointer(walk->tree, node);
        return result;
    }
    rs_location place = rs_walk_locate(walk, parts[0]);
    rs_value value = rs_walk_evaluate(walk, parts[2]);
    rs_walk_store(walk, &place, &value, parts[0], false);
    return value;
}

static bool takes_reference(const rs_walk *walk, int node, const rs_routine *routine, int which)
{
    bool known = routine != NULL && walk->tree->nodes[routine->node].is != RS_NODE_LAMBDA;
    const rs_syntax_declaration *declared =
        walk->tree->nodes[known ? routine->node : node].declaration;
    const rs_syntax_type *type = rs_declared_type(rs_parameter(declared, which));
    return type->kind == RS_TYPE_REFERENCE && !type->is_rvalue &&
           (routine != NULL || !rs_type_below(type)->is_const);
}

bool rs_walk_gives_place(const rs_walk *walk, int node)
{
    const rs_syntax_declaration *declared = walk->tree->nodes[node].declaration;
    return rs_result_type(declared)->kind == RS_TYPE_REFERENCE && rs_walk_routine(walk, node) >= 0;
}

rs_value rs_walk_refer_to(rs_walk *walk, int node)
{
    rs_location place = rs_walk_locate(walk, node);
    if (place.kind != RS_PLACE_VARIABLE)
        return place.address;
    rs_walk_touch(walk, &place, node);
    return rs_value_pointer(place.key);
}

rs_making rs_walk_making_of(const rs_walk *walk, const rs_syntax_declaration *constructor)
{
    if (!constructor->is_written)
        return rs_walk_making(walk, constructor->parent, constructor->is_copying);
    return rs_walk_is_plain_constructor(walk, constructor) ? RS_MAKING_MEMBERS : RS_MAKING_ANYTHING;
}

/* A constructor has no callee: all children are arguments. What it puts into the members is not
 * followed. */
static rs_value construct(rs_walk *walk, int node, const rs_syntax_declaration *constructor)
{
    rs_making making = rs_walk_making_of(walk, constructor);
    bool known = making == RS_MAKING_NOTHING;
    rs_value result = rs_value_unknown(known ? 0 : rs_walk_anything(walk), !known);
    RS_EACH_CHILD(child, walk->tree, node) {
        rs_value part = rs_walk_evaluate(walk, child);
        if (making == RS_MAKING_ANYTHING && part.kind == RS_VALUE_ADDRESS)
            rs_call_escape(walk, &part, rs_node_inner(walk->tree, child), true);
        else if (making == RS_MAKING_MEMBERS)
            result.depends |= rs_value_depends(walk, &part);
        else if (known)
            result = part;
    }
    if (making == RS_MAKING_ANYTHING)
        rs_walk_note_unfollowed(walk, node, "What the constructor in \"%s\" does is not followed.");
    return result;
}

/* Whether a constructor makes an object without a name, with a destructor that somebody wrote:
 * what that touches may be changed from there on; rs_walk_end_expression() says so again. */
static bool is_temporary(const rs_tree *tree, int node)
{
    int parent = tree->nodes[node].parent;
    while (parent >= 0 && tree->nodes[parent].is == RS_NODE_IMPLICIT)
        parent = tree->nodes[parent].parent;
    return (parent < 0 || tree->nodes[parent].is != RS_NODE_VARIABLE) &&
           rs_type_has_destructor(rs_type_of(tree, node));
}

rs_value rs_walk_call(rs_walk *walk, int node)
{
    char name[RS_CALL_NAME_ROOM];
    rs_value result;
    rs_call_name(walk, node, name);
    bool called = strcmp(name, "operator()") == 0 ||
                  (strcmp(name, "operator=") != 0 && rs_walk_routine(walk, node) >= 0);
    if (is_operator(name) && !called)
        return call_operator(walk, name, node);
    if (rs_walk_thread_call(walk, name, node, &result))
        return result;
    rs_call_arguments list = read_arguments(walk, node);
    const rs_syntax_declaration *declared = walk->tree->nodes[node].declaration;
    if (declared->is_constructor) {
        result = construct(walk, node, declared);
        if (is_temporary(walk->tree, node))
            rs_walk_note_unfollowed(walk, node,
                                    "What the destructor of \"%s\" touches is not followed.");
        return result;
    }
    rs_value *values = malloc(RS_CALL_ARGUMENTS * sizeof *values);
    if (values == NULL) {
        walk->no_memory = true;
        return rs_value_unknown(0, true);
    }
    const rs_routine *routine = find_routine(walk, node, name);
    if (rs_walk_is_virtual(walk, node)) {
        rs_walk_note_unfollowed(walk, node, "Which function \"%s\" calls is not known.");
        routine = NULL;
    }
    /* A function that is walked binds its references itself. */
    for (int i = 0; i < list.count; i++)
        values[i] = takes_reference(walk, node, routine, i)
                        ? (routine != NULL ? rs_value_unknown(0, false)
                                           : rs_walk_refer_to(walk, list.nodes[i]))
                        : rs_walk_evaluate(walk, list.nodes[i]);
    bool done = routine == NULL && rs_walk_builtin(walk, name, node, values, list.count, &result);
    if (!done && routine != NULL)
        result = call_routine(walk, routine, node, &list, values);
    else if (!done)
        result = rs_call_unknown(walk, name, node, &list, values);
    free(values);
    return result;
}
