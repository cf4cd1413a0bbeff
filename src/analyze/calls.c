/* Calls: functions that builtins.c knows by their meaning, the source's own by walking them in
 * place, all others by what they could touch. */
#include "analyze/builtins.h"
#include "source/query.h"
#include "source/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_ROOM = 128, ARGUMENT_LIMIT = 32 };

typedef struct {
    int nodes[ARGUMENT_LIMIT];
    int count;
} arguments;

/* Whether a call is one of an operator that a class declares. */
static bool is_operator(const char *name)
{
    static const char word[] = "operator";
    return rs_name_starts_with(name, word) && rs_identifier_length(name) == strlen(word);
}

static void read_name(const rs_walk *walk, int node, char name[NAME_ROOM])
{
    CXString spelling = clang_getCursorSpelling(walk->tree->nodes[node].cursor);
    const char *text = clang_getCString(spelling);
    snprintf(name, NAME_ROOM, "%s", text != NULL ? text : "");
    clang_disposeString(spelling);
    if (name[0] != '\0')
        return;
    /* A call of a template or of an unknown name: the text of the callee. */
    int callee = walk->tree->nodes[node].first;
    char *written = callee < 0 ? NULL : rs_walk_text(walk, callee);
    if (written != NULL)
        snprintf(name, NAME_ROOM, "%.*s", (int)strcspn(written, "<( "), written);
    free(written);
}

static bool is_method_kind(enum CXCursorKind kind)
{
    return kind == CXCursor_CXXMethod || kind == CXCursor_ConversionFunction;
}

static bool is_method(const rs_walk *walk, int node)
{
    CXCursor declared = clang_getCursorReferenced(walk->tree->nodes[node].cursor);
    return !clang_Cursor_isNull(declared) && is_method_kind(clang_getCursorKind(declared));
}

/*
 * The first child names the function, the others are its arguments. An operator stands somewhere
 * among them, and the first argument of one that is a method is the object.
 */
static arguments read_arguments(const rs_walk *walk, int node)
{
    arguments list = {{0}, 0};
    int named = rs_node_operator(walk->tree, node);
    bool passed = named >= 0 && !is_method(walk, node);
    for (int child = walk->tree->nodes[node].first; child >= 0 && list.count < ARGUMENT_LIMIT;
         child = walk->tree->nodes[child].next) {
        if (child != named && passed)
            list.nodes[list.count++] = child;
        passed = passed || child != named;
    }
    return list;
}

static rs_value dependent(rs_walk *walk, const rs_value *values, int count)
{
    rs_value result = rs_value_unknown(0, false);
    for (int i = 0; i < count; i++) {
        result.depends |= rs_value_depends(walk, &values[i]);
        result.data = result.data || rs_value_has_data(walk, &values[i]);
    }
    return result;
}

/* ---- what is not followed ---- */

/* What such a call does with an address: everything around it may be touched. */
static void escape(rs_walk *walk, const rs_value *address, int node, bool writes)
{
    rs_reference *r = rs_walk_refer(walk, address, node, rs_node_type(walk->tree, node));
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
    char name[NAME_ROOM];
    read_name(walk, node, name);
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
    char name[NAME_ROOM];
    CXCursor declared = clang_getCursorReferenced(walk->tree->nodes[node].cursor);
    read_name(walk, node, name);
    bool function =
        !clang_Cursor_isNull(declared) && clang_getCursorKind(declared) == CXCursor_FunctionDecl;
    if (rs_function_is_housekeeping(name) || rs_function_only_reads(name) ||
        rs_name_starts_with(name, "__builtin"))
        return true;
    if (is_missing(walk, name))
        return rs_name_starts_with(name, "__") ||
               (rs_function_is_arithmetic(name) && !is_anybodys(walk, node, name));
    return function && clang_Location_isFromMainFile(clang_getCursorLocation(declared)) == 0;
}

/* Whether an argument is an object, of which a function of its class makes a number. */
static bool takes_object(const rs_walk *walk, int node)
{
    for (int argument = rs_node_argument(walk->tree, node); argument >= 0;
         argument = walk->tree->nodes[argument].next)
        if (rs_node_type(walk->tree, rs_node_inner(walk->tree, argument)).kind == CXType_Record)
            return true;
    return false;
}

/* Names of headers that are not there may begin as those of a language do: make_task. */
bool rs_walk_call_is_apart(const rs_walk *walk, int node)
{
    char name[NAME_ROOM];
    read_name(walk, node, name);
    bool missing = is_missing(walk, name);
    CXCursor declared = clang_getCursorReferenced(walk->tree->nodes[node].cursor);
    if (!clang_Cursor_isNull(declared) && !missing && strcmp(name, "operator=") != 0 &&
        clang_Location_isFromMainFile(clang_getCursorLocation(declared)) != 0)
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
    CXString type = clang_getTypeSpelling(rs_node_type(tree, node));
    const char *spelling = clang_getCString(type);
    bool stream =
        strstr(spelling, "_IO_FILE *") != NULL || strstr(spelling, "restride_file *") != NULL;
    clang_disposeString(type);
    return stream;
}

static bool record_has_pointer(CXType type);

static enum CXVisitorResult find_pointer(CXCursor field, CXClientData data)
{
    CXType type = clang_getCanonicalType(clang_getCursorType(field));
    while (rs_kind_is_array(type.kind))
        type = clang_getCanonicalType(clang_getArrayElementType(type));
    *(bool *)data = type.kind == CXType_Pointer || rs_kind_is_reference(type.kind) ||
                    (type.kind == CXType_Record && record_has_pointer(type));
    return *(bool *)data ? CXVisit_Break : CXVisit_Continue;
}

static enum CXChildVisitResult find_base(CXCursor cursor, CXCursor parent, CXClientData data)
{
    (void)parent;
    if (clang_getCursorKind(cursor) != CXCursor_CXXBaseSpecifier)
        return CXChildVisit_Continue;
    *(bool *)data = true;
    return CXChildVisit_Break;
}

/* Whether a structure has pointers among its members; one that is not there, is made by a
 * template's parameters or has bases may have them anywhere. */
static bool record_has_pointer(CXType type)
{
    bool found = clang_Type_getSizeOf(type) < 0;
    if (!found)
        clang_visitChildren(clang_getTypeDeclaration(type), find_base, &found);
    if (!found)
        clang_Type_visitFields(type, find_pointer, &found);
    return found;
}

/* Whether what is handed over, a structure or a pointer to a variable, has pointers in it. */
static bool holds_pointer(const rs_walk *walk, int argument, const rs_value *value)
{
    CXType type = rs_node_type(walk->tree, argument);
    if (value->kind == RS_VALUE_POINTER)
        type = rs_node_type(walk->tree, rs_node_inner(walk->tree, argument));
    if (value->kind == RS_VALUE_POINTER && type.kind == CXType_Pointer)
        type = clang_getCanonicalType(clang_getPointeeType(type));
    return (value->kind == RS_VALUE_POINTER && type.kind == CXType_Pointer) ||
           (type.kind == CXType_Record && record_has_pointer(type));
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
            escape(walk, &held, node, true);
    }
    rs_location lost = changed ? rs_place_lost(walk, node) : rs_place_none(walk);
    if (changed && lost.kind == RS_PLACE_MEMORY)
        escape(walk, &lost.address, node, true);
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
    bool address = named >= 0 && rs_node_is_prefix(walk->tree, named, "&");
    if (address)
        named = rs_node_child(walk->tree, named, 0);
    char *text = rs_walk_text(walk, named), name[NAME_ROOM];
    bool pointer = !address && named >= 0 && rs_node_is_pointer(walk->tree, named);
    snprintf(name, sizeof name, "%s%s", pointer ? "*" : "", text != NULL ? text : "?");
    free(text);
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
        clang_CXXMethod_isConst(clang_getCursorReferenced(walk->tree->nodes[node].cursor)) != 0)
        return;
    rs_value changed = rs_value_unknown(rs_walk_anything(walk), true);
    rs_walk_note_written(walk, value.key);
    rs_walk_set(walk, value.key, &changed);
}

/* Whether the source itself declares a function; what is built in is declared where it is used. */
static bool is_own(const rs_walk *walk, const char *name)
{
    for (int i = 0; i < walk->tree->node_count; i++)
        if (walk->tree->nodes[i].kind == CXCursor_FunctionDecl) {
            char own[NAME_ROOM];
            read_name(walk, i, own);
            if (strcmp(own, name) == 0)
                return true;
        }
    return false;
}

static rs_value unknown_call(rs_walk *walk, const char *name, int node, const arguments *list,
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
            escape(walk, &values[i], argument, !rs_function_only_reads(name));
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
        result.depends |= rs_symbol_depends(&walk->unit->symbols, walk->unit->loops[loop].symbol);
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

/* ---- the source's own functions ---- */

static const rs_routine *find_routine(const rs_walk *walk, int node, const char *name)
{
    CXCursor declared = clang_getCursorReferenced(walk->tree->nodes[node].cursor);
    CXCursor defined =
        clang_Cursor_isNull(declared) ? declared : clang_getCursorDefinition(declared);
    for (int i = 0; i < walk->routine_count && !clang_Cursor_isNull(defined); i++)
        if (clang_equalCursors(walk->tree->nodes[walk->routines[i].node].cursor, defined) != 0)
            return &walk->routines[i]; /* of a template's instances the one that is called */
    bool exact = !clang_Cursor_isNull(defined) &&
                 clang_Location_isFromMainFile(clang_getCursorLocation(defined)) != 0;
    size_t offset = exact ? rs_cursor_offset(defined) : 0;
    for (int i = 0; i < walk->routine_count; i++)
        if (exact ? walk->routines[i].offset == offset : strcmp(walk->routines[i].name, name) == 0)
            return &walk->routines[i];
    return NULL;
}

int rs_walk_routine(const rs_walk *walk, int node)
{
    char name[NAME_ROOM];
    read_name(walk, node, name);
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

static void bind_parameters(rs_walk *walk, int routine, const arguments *list,
                            const rs_value *values)
{
    int i = 0;
    for (int child = walk->tree->nodes[routine].first; child >= 0;
         child = walk->tree->nodes[child].next) {
        if (walk->tree->nodes[child].kind != CXCursor_ParmDecl)
            continue;
        CXCursor cursor = walk->tree->nodes[child].cursor;
        CXType type = clang_getCanonicalType(clang_getCursorType(cursor));
        if (rs_kind_is_reference(type.kind)) {
            rs_walk_bind_reference(walk, rs_cursor_key(cursor),
                                   i < list->count ? list->nodes[i] : -1);
            i++;
            continue;
        }
        rs_value value = i < list->count ? values[i] : rs_value_unknown(0, false);
        value = rs_walk_narrow(walk, &value, i < list->count ? list->nodes[i] : -1, type);
        value = rs_walk_view(walk, &value, type);
        value.carried_loop = -1;
        rs_walk_set(walk, rs_cursor_key(cursor), &value);
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
    bool member = callee >= 0 && tree->nodes[callee].kind == CXCursor_MemberRefExpr;
    return member ? rs_node_child(tree, callee, 0) : -1;
}

/* Makes the object of a call the one that members without an object are looked for in. */
static void enter_object(rs_walk *walk, const rs_routine *routine, int node)
{
    if (!is_method_kind(walk->tree->nodes[routine->node].kind)) {
        walk->self = rs_value_unknown(rs_walk_anything(walk), true);
        return;
    }
    int object = rs_walk_object(walk, node);
    if (object < 0)
        return;
    walk->self_filled = rs_walk_was_filled(walk, object);
    walk->self = rs_node_is_pointer(walk->tree, object) ? rs_walk_evaluate(walk, object)
                                                        : rs_walk_refer_to(walk, object);
    char *text = rs_walk_text(walk, object);
    snprintf(walk->self_name, sizeof walk->self_name, "%s", text != NULL ? text : "");
    free(text);
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
    CXCursor declared = clang_getCursorReferenced(walk->tree->nodes[node].cursor);
    CXType type = clang_getCanonicalType(clang_getCursorResultType(declared));
    walk->gives_place = rs_kind_is_reference(type.kind);
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

static rs_value enter(rs_walk *walk, const rs_routine *routine, int node, const arguments *list,
                      const rs_value *values)
{
    int body = rs_node_body(walk->tree, routine->node),
        lambda = rs_walk_lambda_of(walk, routine->node);
    if (body < 0)
        return rs_value_unknown(rs_walk_anything(walk), true);
    if (lambda >= 0)
        (void)rs_walk_evaluate(walk, rs_walk_object(walk, node)); /* it may be made here */
    rs_exit exit = {{NULL, 0, 0}, walk->loop};
    const frame outer = begin_frame(walk, &exit, node);
    if (lambda < 0) {
        enter_object(walk, routine, node);
    } else if (!rs_walk_enter_lambda(walk, lambda)) {
        end_frame(walk, &outer);
        rs_walk_note_unfollowed(walk, node, "What \"%s\" does is not followed.");
        return unknown_call(walk, routine->name, node, list, values);
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
    result = rs_walk_narrow(walk, &result, -1, rs_node_type(walk->tree, node));
    if (lambda >= 0)
        rs_walk_leave_lambda(walk, lambda);
    end_frame(walk, &outer);
    return result;
}

/* Notes that a call is not entered; a function object has the name that it is called by. */
static void note_unentered(rs_walk *walk, const rs_routine *routine, int node, const char *why)
{
    int object = rs_walk_lambda_of(walk, routine->node) < 0 ? -1 : rs_walk_object(walk, node);
    char *text = object < 0 ? strdup(routine->name) : rs_walk_text(walk, object);
    if (text == NULL ||
        !rs_model_note(walk->set, rs_walk_file(walk, node), rs_walk_line(walk, node), why, text))
        walk->no_memory = true;
    free(text);
}

static rs_value call_routine(rs_walk *walk, const rs_routine *routine, int node,
                             const arguments *list, const rs_value *values)
{
    if (routine->kernel && walk->program->language == RS_LANGUAGE_CUDA) {
        rs_walk_mark_unsupported(walk, node, walk->loop);
        return rs_value_unknown(0, false); /* a launch: the kernel is analyzed by itself */
    }
    bool recursive = is_active(walk, routine->node);
    if (!recursive && walk->depth < RS_CALL_DEPTH)
        return enter(walk, routine, node, list, values);
    note_unentered(walk, routine, node,
                   recursive ? "%s calls itself; what the inner calls touch is not followed."
                             : "%s is called too deeply; what it touches is not followed.");
    return unknown_call(walk, routine->name, node, list, values);
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
    bool known = routine != NULL && walk->tree->nodes[routine->node].kind != CXCursor_LambdaExpr;
    CXCursor declared = known ? walk->tree->nodes[routine->node].cursor
                              : clang_getCursorReferenced(walk->tree->nodes[node].cursor);
    CXCursor parameter = clang_Cursor_getArgument(declared, (unsigned)which);
    if (clang_Cursor_isNull(parameter))
        return false;
    CXType type = clang_getCanonicalType(clang_getCursorType(parameter));
    return type.kind == CXType_LValueReference &&
           (routine != NULL || clang_isConstQualifiedType(clang_getPointeeType(type)) == 0);
}

bool rs_walk_gives_place(const rs_walk *walk, int node)
{
    CXCursor declared = clang_getCursorReferenced(walk->tree->nodes[node].cursor);
    if (clang_Cursor_isNull(declared))
        return false;
    CXType type = clang_getCanonicalType(clang_getCursorResultType(declared));
    return rs_kind_is_reference(type.kind) && rs_walk_routine(walk, node) >= 0;
}

rs_value rs_walk_refer_to(rs_walk *walk, int node)
{
    rs_location place = rs_walk_locate(walk, node);
    if (place.kind != RS_PLACE_VARIABLE)
        return place.address;
    rs_walk_touch(walk, &place, node);
    return rs_value_pointer(place.key);
}

/* What a function that takes a reference is handed: the place, which one that is walked binds
 * itself. */
static rs_value reference_value(rs_walk *walk, int node, bool walked)
{
    return walked ? rs_value_unknown(0, false) : rs_walk_refer_to(walk, node);
}

rs_making rs_walk_making_of(const rs_walk *walk, CXCursor constructor)
{
    bool copies = clang_CXXConstructor_isCopyConstructor(constructor) != 0 ||
                  clang_CXXConstructor_isMoveConstructor(constructor) != 0;
    if (!rs_constructor_is_written(constructor))
        return rs_walk_making(walk, clang_getCursorSemanticParent(constructor), copies);
    return rs_walk_is_plain_constructor(walk, constructor) ? RS_MAKING_MEMBERS : RS_MAKING_ANYTHING;
}

/* A constructor has no callee: all children are arguments. What it puts into the members is not
 * followed. */
static rs_value construct(rs_walk *walk, int node, CXCursor constructor)
{
    rs_making making = rs_walk_making_of(walk, constructor);
    bool known = making == RS_MAKING_NOTHING;
    rs_value result = rs_value_unknown(known ? 0 : rs_walk_anything(walk), !known);
    for (int child = walk->tree->nodes[node].first; child >= 0;
         child = walk->tree->nodes[child].next) {
        rs_value part = rs_walk_evaluate(walk, child);
        if (making == RS_MAKING_ANYTHING && part.kind == RS_VALUE_ADDRESS)
            escape(walk, &part, rs_node_inner(walk->tree, child), true);
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
    while (parent >= 0 && tree->nodes[parent].kind == CXCursor_UnexposedExpr)
        parent = tree->nodes[parent].parent;
    return (parent < 0 || tree->nodes[parent].kind != CXCursor_VarDecl) &&
           rs_type_has_destructor(rs_node_type(tree, node));
}

rs_value rs_walk_call(rs_walk *walk, int node)
{
    char name[NAME_ROOM];
    rs_value result;
    read_name(walk, node, name);
    bool called = strcmp(name, "operator()") == 0 ||
                  (strcmp(name, "operator=") != 0 && rs_walk_routine(walk, node) >= 0);
    if (is_operator(name) && !called)
        return call_operator(walk, name, node);
    if (rs_walk_thread_call(walk, name, node, &result))
        return result;
    arguments list = read_arguments(walk, node);
    CXCursor declared = clang_getCursorReferenced(walk->tree->nodes[node].cursor);
    if (!clang_Cursor_isNull(declared) && clang_getCursorKind(declared) == CXCursor_Constructor) {
        result = construct(walk, node, declared);
        if (is_temporary(walk->tree, node))
            rs_walk_note_unfollowed(walk, node,
                                    "What the destructor of \"%s\" touches is not followed.");
        return result;
    }
    rs_value *values = malloc(ARGUMENT_LIMIT * sizeof *values);
    if (values == NULL) {
        walk->no_memory = true;
        return rs_value_unknown(0, true);
    }
    const rs_routine *routine = find_routine(walk, node, name);
    if (rs_walk_is_virtual(walk, node)) {
        rs_walk_note_unfollowed(walk, node, "Which function \"%s\" calls is not known.");
        routine = NULL;
    }
    for (int i = 0; i < list.count; i++)
        values[i] = takes_reference(walk, node, routine, i)
                        ? reference_value(walk, list.nodes[i], routine != NULL)
                        : rs_walk_evaluate(walk, list.nodes[i]);
    bool done = routine == NULL && rs_walk_builtin(walk, name, node, values, list.count, &result);
    if (!done && routine != NULL)
        result = call_routine(walk, routine, node, &list, values);
    else if (!done)
        result = unknown_call(walk, name, node, &list, values);
    free(values);
    return result;
}
