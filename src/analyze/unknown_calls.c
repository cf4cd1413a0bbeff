/*
 * Calls that are not entered. What they do follows from their names, where builtins.c knows them;
 * others may read, keep and change all that they are handed, and what that leads to.
 */
#include "analyze/builtins.h"
#include "analyze/calls.h"
#include "source/query.h"
#include "source/words.h"

#include <stdio.h>
#include <string.h>

void rs_call_name(const rs_walk *walk, int node, char name[RS_CALL_NAME_ROOM])
{
    const char *text = walk->tree->nodes[node].name;
    snprintf(name, RS_CALL_NAME_ROOM, "%s", text != NULL ? text : "");
    if (name[0] != '\0')
        return;
    /* A call of a template or of an unknown name: the text of the callee. */
    int callee = walk->tree->nodes[node].first;
    if (callee < 0)
        return;
    const rs_shown_text written = rs_walk_text(walk, callee);
    snprintf(name, RS_CALL_NAME_ROOM, "%.*s", (int)strcspn(written.text, "<( "), written.text);
}

static rs_value dependent(rs_walk *walk, const rs_value *values, int count)
{
    rs_value result = rs_value_unknown(0, false);
    for (int i = 0; i < count; i++)
        rs_value_mix(walk, &result, &values[i]);
    return result;
}

void rs_call_escape(rs_walk *walk, const rs_value *address, int node, bool writes)
{
    rs_reference *r = rs_walk_refer(walk, address, node, rs_type_of(walk->tree, node));
    if (r == NULL)
        return;
    r->understood = false;
    r->around = true;
    r->read = true;
    r->written = writes;
    rs_array *array = &walk->unit->arrays[address->array];
    array->read = true;
    array->written = array->written || writes;
}

bool rs_walk_only_reads(const rs_walk *walk, int node)
{
    char name[RS_CALL_NAME_ROOM];
    rs_call_name(walk, node, name);
    return rs_walk_routine(walk, node) < 0 && rs_function_only_reads(name);
}

static bool is_missing(const rs_walk *walk, const char *name)
{
    const char *supplied = walk->program->supplied; /* these are declared nowhere */
    return rs_words_have(supplied, 0, strlen(supplied), name, strlen(name));
}

/* Whether a name that nobody declares, although the language has it, may be somebody's own. */
static bool is_anybodys(const rs_walk *walk, int node, const char *name)
{
    bool cuda = walk->program->language == RS_LANGUAGE_CUDA;
    return rs_node_argument(walk->tree, node) < 0 || (cuda && rs_function_is_of_opencl(name));
}

/* A function of the language or of the system's headers keeps no addresses and calls nobody back.
 */
bool rs_walk_is_harmless(const rs_walk *walk, int node)
{
    char name[RS_CALL_NAME_ROOM];
    const rs_syntax_declaration *declared = walk->tree->nodes[node].declaration;
    rs_call_name(walk, node, name);
    bool function = rs_is_declared(declared, RS_DECLARATION_FUNCTION) && !declared->is_method;
    if (rs_function_is_housekeeping(name) || rs_function_only_reads(name) ||
        rs_name_starts_with(name, "__builtin"))
        return true;
    if (is_missing(walk, name))
        return rs_name_starts_with(name, "__") ||
               (rs_function_is_arithmetic(name) && !is_anybodys(walk, node, name));
    return function && !declared->is_main;
}

/* Whether an argument is an object, of which a function of its class makes a number. */
static bool takes_object(const rs_walk *walk, int node)
{
    for (int argument = rs_node_argument(walk->tree, node); argument >= 0;
         argument = walk->tree->nodes[argument].next)
        if (rs_type_of(walk->tree, rs_node_inner(walk->tree, argument))->kind == RS_TYPE_RECORD)
            return true;
    return false;
}

/* Names of headers that are not there may begin as those of a language do: make_task. */
bool rs_walk_call_is_apart(const rs_walk *walk, int node)
{
    char name[RS_CALL_NAME_ROOM];
    rs_call_name(walk, node, name);
    bool missing = is_missing(walk, name);
    const rs_syntax_declaration *declared = walk->tree->nodes[node].declaration;
    if (declared != &rs_declared_none && !missing && strcmp(name, "operator=") != 0 &&
        declared->is_main)
        return false;
    if (missing && ((name[0] != '_' && strchr(name, '_') != NULL) || is_anybodys(walk, node, name)))
        return false;
    if (walk->program->language == RS_LANGUAGE_CUDA && strcmp(name, "operator=") != 0 &&
        takes_object(walk, node))
        return false;
    return rs_name_is_thread_call(name) || rs_function_is_apart(name) ||
           (strcmp(name, "operator=") == 0 && !missing);
}

/* A FILE of the C library (or of prelude.c) is none of the program's arrays. */
static bool is_stream(const rs_tree *tree, int node)
{
    const char *spelling = rs_type_of(tree, node)->name;
    return strstr(spelling, "_IO_FILE *") != NULL || strstr(spelling, "restride_file *") != NULL;
}

/* Whether a structure has pointers among its members; one that is not there, is made by a
 * template's parameters or has bases may have them anywhere. */
static bool record_has_pointer(const rs_syntax_type *type)
{
    const rs_syntax_declaration *record = type->declaration;
    if (rs_type_bytes(type) < 0 || record == NULL || record->base_count > 0)
        return true;
    for (size_t i = 0; i < record->field_count; i++) {
        const rs_syntax_type *field = rs_type_element(rs_declared_type(record->fields[i]));
        if (field->kind == RS_TYPE_POINTER || field->kind == RS_TYPE_REFERENCE ||
            (field->kind == RS_TYPE_RECORD && record_has_pointer(field)))
            return true;
    }
    return false;
}

/* Whether what is handed over, a structure or a pointer to a variable, has pointers in it. */
static bool holds_pointer(const rs_walk *walk, int argument, const rs_value *value)
{
    const rs_syntax_type *type = rs_type_of(walk->tree, argument);
    if (value->kind == RS_VALUE_POINTER)
        type = rs_type_of(walk->tree, rs_node_inner(walk->tree, argument));
    if (value->kind == RS_VALUE_POINTER && type->kind == RS_TYPE_POINTER)
        type = rs_type_below(type);
    return (value->kind == RS_VALUE_POINTER && type->kind == RS_TYPE_POINTER) ||
           (type->kind == RS_TYPE_RECORD && record_has_pointer(type));
}

/* What the pointers lead to that a variable holds which is handed over; into any array when others
 * may have changed it. */
static void escape_held(rs_walk *walk, uint64_t key, int node)
{
    int known = key == 0 ? -1 : rs_walk_find(walk, key);
    bool changed = known >= 0 && walk->values[known].kind != RS_VALUE_ADDRESS &&
                   (walk->values[known].data || walk->values[known].carried_loop >= 0);
    for (int i = 0; i < walk->variables.count && key != 0; i++) {
        const rs_binding binding = walk->variables.bindings[i];
        rs_value held = walk->values[binding.value];
        if (held.kind == RS_VALUE_ADDRESS && rs_walk_is_part(walk, binding.key, key))
            rs_call_escape(walk, &held, node, true);
    }
    rs_location lost = changed ? rs_place_lost(walk, node) : rs_place_none(walk);
    if (changed && lost.kind == RS_PLACE_MEMORY)
        rs_call_escape(walk, &lost.address, node, true);
}

static void hand_over(rs_walk *walk, int node, int argument, const rs_value *value)
{
    if (!holds_pointer(walk, argument, value))
        return;
    rs_walk_mark_unsupported(walk, node, walk->loop);
    if (value->kind == RS_VALUE_POINTER || value->kind == RS_VALUE_RECORD)
        escape_held(walk, value->key, argument);
}

/* What is handed over, or pointed to by that, may be read: from the iteration before, too. */
static void may_read(rs_walk *walk, int argument, const rs_value *value)
{
    if (value->kind != RS_VALUE_POINTER && value->kind != RS_VALUE_RECORD)
        return;
    int named = rs_node_inner(walk->tree, argument);
    bool address = named >= 0 && rs_node_is_unary(walk->tree, named, "&");
    if (address)
        named = rs_node_child(walk->tree, named, 0);
    char name[RS_CALL_NAME_ROOM];
    bool pointer = !address && named >= 0 && rs_node_is_pointer(walk->tree, named);
    snprintf(name, sizeof name, "%s%s", pointer ? "*" : "", rs_walk_text(walk, named).text);
    if (value->key != 0)
        rs_walk_read_unseen(walk, value->key, name);
    for (int i = 0; i < walk->escaped->count && value->key == 0; i++)
        rs_walk_read_unseen(walk, walk->escaped->list[i].key, name);
    for (int i = 0; i < walk->variables.count && value->key != 0; i++) {
        const rs_binding *held = &walk->variables.bindings[i];
        if (walk->values[held->value].kind == RS_VALUE_POINTER &&
            (held->key == value->key || rs_walk_is_part(walk, held->key, value->key)))
            rs_walk_read_unseen(walk, walk->values[held->value].key, name);
    }
}

/* The same of the object of a method, which may be another one behind the call. */
static void hand_over_object(rs_walk *walk, int node)
{
    int object = rs_walk_object(walk, node);
    if (object < 0 || !rs_walk_names_variable(walk, object))
        return;
    rs_value value = rs_node_is_pointer(walk->tree, object) ? rs_walk_evaluate(walk, object)
                                                            : rs_walk_refer_to(walk, object);
    may_read(walk, object, &value);
    if (value.kind != RS_VALUE_POINTER || value.key == 0 ||
        walk->tree->nodes[node].declaration->is_const)
        return;
    rs_value changed = rs_value_unknown(rs_walk_anything(walk), true);
    rs_walk_note_written(walk, value.key);
    rs_walk_set(walk, value.key, &changed);
}

/* Whether the source itself declares a function; what is built in is declared where it is used. */
static bool is_own(const rs_walk *walk, const char *name)
{
    for (int i = 0; i < walk->tree->node_count; i++)
        if (walk->tree->nodes[i].is == RS_NODE_FUNCTION) {
            char own[RS_CALL_NAME_ROOM];
            rs_call_name(walk, i, own);
            if (strcmp(own, name) == 0)
                return true;
        }
    return false;
}

rs_value rs_call_unknown(rs_walk *walk, const char *name, int node, const rs_call_arguments *list,
                         const rs_value *values)
{
    bool quiet = rs_function_is_housekeeping(name);
    for (int i = 0; i < list->count; i++)
        if ((!rs_function_fills(name, i) || is_own(walk, name)) &&
            (!quiet || rs_name_starts_with(name, "pthread_create")))
            may_read(walk, list->nodes[i], &values[i]);
    hand_over_object(walk, node);
    for (int i = 0; i < list->count && !quiet && !rs_function_only_reads(name); i++)
        hand_over(walk, node, list->nodes[i], &values[i]);
    if (!quiet && !rs_walk_is_harmless(walk, node))
        rs_walk_invalidate(walk, RS_STORED_ANYTHING, true, true);
    walk->stores++; /* perhaps */
    for (int i = 0; i < list->count; i++) {
        int argument = rs_node_inner(walk->tree, list->nodes[i]);
        if (values[i].kind == RS_VALUE_ADDRESS && !quiet && argument >= 0 &&
            !is_stream(walk->tree, argument))
            rs_call_escape(walk, &values[i], argument, !rs_function_only_reads(name));
        /* A variable whose address is handed over can become anything. */
        if (values[i].kind == RS_VALUE_POINTER && values[i].key == 0 &&
            !rs_function_only_reads(name))
            rs_walk_invalidate(walk, RS_STORED_ANYTHING, false, true);
        else if (values[i].kind == RS_VALUE_POINTER) {
            rs_value changed = dependent(walk, values, list->count);
            changed.data = true;
            changed.depends |= rs_walk_anything(walk);
            rs_walk_note_written(walk, values[i].key);
            rs_walk_set(walk, values[i].key, &changed);
        }
    }
    rs_value result = dependent(walk, values, list->count);
    for (int loop = walk->loop; loop >= 0; loop = walk->unit->loops[loop].parent)
        result.depends |= rs_loop_varies(walk->unit, loop);
    bool loads = result.data;
    for (int i = 0; i < list->count; i++)
        loads = loads || values[i].kind == RS_VALUE_ADDRESS;
    result.data = loads;
    result.lost = loads && !quiet; /* a pointer may be one of those that were handed over */
    if (!rs_function_is_arithmetic(name) ||
        (is_missing(walk, name) && is_anybodys(walk, node, name))) {
        result.depends |= rs_walk_lane(walk);
        result.data = result.data || walk->unit->kernel;
    }
    return result;
}
