/* Calls of the walk of propagate.h: functions of the source, and what is known of others. */
#include "analyze/extents.h"
#include "analyze/propagate_walk.h"
#include "base/list.h"
#include "source/query.h"
#include "source/words.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ARGUMENT_LIMIT = 64 };

/* ---- calls ---- */

typedef struct {
    int callee, count;
    bool more; /* than there is room for */
    int nodes[ARGUMENT_LIMIT];
} arguments;

/* A launch has its configuration between the kernel and the arguments. */
static arguments read_arguments(const rs_grid_walk *w, int node)
{
    arguments list = {.callee = rs_node_child(w->tree, node, 0)};
    int child = list.callee >= 0 ? w->tree->nodes[list.callee].next : -1;
    if (child >= 0 && w->tree->nodes[child].begin < w->tree->size &&
        strncmp(w->tree->text + w->tree->nodes[child].begin, "<<<", 3) == 0)
        child = w->tree->nodes[child].next;
    for (; child >= 0 && list.count < ARGUMENT_LIMIT; child = w->tree->nodes[child].next)
        list.nodes[list.count++] = child;
    list.more = child >= 0;
    return list;
}

typedef enum {
    CALL_UNKNOWN,
    CALL_HARMLESS,  /* does not look at what pointers point to, or byte by byte */
    CALL_NEW,       /* returns new memory */
    CALL_ALLOCATES, /* puts new memory where its first argument points to */
    CALL_COPIES,    /* bytes, from the second to the first */
    CALL_ELEMENT,   /* touches the element that its first argument points to */
    CALL_SCANS,     /* puts numbers where its arguments point to, as a format says */
    CALL_TESTS      /* looks at its argument, or does not */
} call_kind;

/* Whether a name is that of an atomic operation of CUDA, OpenCL or C. */
static bool is_atomic(const char *name)
{
    static const char *const operations[] = {"Add",    "Sub",      "Exch",
                                             "Min",    "Max",      "Inc",
                                             "Dec",    "CAS",      "And",
                                             "Or",     "Xor",      "add",
                                             "sub",    "xchg",     "inc",
                                             "dec",    "min",      "max",
                                             "and",    "or",       "cmpxchg",
                                             "xor",    "load",     "store",
                                             "fetch_", "exchange", "compare_exchange_",
                                             "init",   "flag_"};
    size_t start = strncmp(name, "atomic", 6) == 0 ? 6 : strncmp(name, "atom_", 5) == 0 ? 4 : 0;
    if (start == 0)
        return false;
    name += start + (name[start] == '_' ? 1 : 0);
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        size_t length = strlen(operations[i]);
        const char *behind = name + length;
        if (strncmp(name, operations[i], length) == 0 &&
            (*behind == '\0' || *behind == '_' || behind[-1] == '_'))
            return true;
    }
    return false;
}

static call_kind kind_of_call(const char *name)
{
    static const struct {
        const char *name;
        call_kind kind;
    } known[] = {
        {"malloc", CALL_NEW},
        {"calloc", CALL_NEW},
        {"aligned_alloc", CALL_NEW},
        {"cudaMalloc", CALL_ALLOCATES},
        {"cudaMallocManaged", CALL_ALLOCATES},
        {"cudaMallocHost", CALL_ALLOCATES},
        {"cudaHostAlloc", CALL_ALLOCATES},
        {"posix_memalign", CALL_ALLOCATES},
        {"free", CALL_HARMLESS},
        {"cudaFree", CALL_HARMLESS},
        {"cudaFreeHost", CALL_HARMLESS},
        {"memset", CALL_HARMLESS},
        {"cudaMemset", CALL_HARMLESS},
        {"memcpy", CALL_COPIES},
        {"memmove", CALL_COPIES},
        {"cudaMemcpy", CALL_COPIES},
        {"cudaMemcpyAsync", CALL_COPIES},
        {"__ldg", CALL_ELEMENT},
        {"scanf", CALL_SCANS},
        {"fscanf", CALL_SCANS},
        {"sscanf", CALL_SCANS},
        {"assert", CALL_TESTS},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].kind;
    return is_atomic(name) ? CALL_ELEMENT : CALL_UNKNOWN;
}

/* The address of one element is no address of a part when nothing else is done with it. */
static void evaluate_element(rs_grid_walk *w, int node)
{
    int inner = rs_node_inner(w->tree, node);
    int operand = inner >= 0 && rs_node_is_unary(w->tree, inner, "&")
                      ? rs_node_inner(w->tree, rs_node_child(w->tree, inner, 0))
                      : -1;
    if (operand >= 0 && rs_grid_kind(w, operand) == RS_NODE_SUBSCRIPT)
        rs_grid_subscript(w, operand);
    else
        rs_grid_keep(w, rs_grid_evaluate(w, node), node, "an atomic operation on the address");
}

/* Numbers are single elements; strings and characters may be several. */
static bool scans_numbers(const rs_grid_walk *w, const arguments *list, const char *name)
{
    int format = strcmp(name, "scanf") == 0 ? 0 : 1;
    int inner = format < list->count ? rs_node_inner(w->tree, list->nodes[format]) : -1;
    const rs_node *n = inner >= 0 ? &w->tree->nodes[inner] : NULL;
    return n != NULL && n->is == RS_NODE_STRING && w->tree->text[n->begin] == '"' &&
           strcspn(w->tree->text + n->begin, "scSC[\\") >= n->end - n->begin;
}

static rs_extended_type call_unknown(rs_grid_walk *w, const arguments *list, const char *name,
                                     int node)
{
    char what[128];
    snprintf(what, sizeof what, "%s, which is not followed, gets the address",
             name[0] != '\0' ? name : "a function");
    bool numbers = kind_of_call(name) == CALL_SCANS && scans_numbers(w, list, name);
    for (int i = 0; i < list->count; i++)
        if (numbers && rs_node_is_unary(w->tree, rs_node_inner(w->tree, list->nodes[i]), "&"))
            evaluate_element(w, list->nodes[i]);
        else
            rs_grid_keep(w, rs_grid_evaluate(w, list->nodes[i]), node, what);
    if (strstr(name, "setjmp") != NULL)
        rs_grid_keep_known(w, node, "setjmp is not followed, which may change the type");
    return RS_UNTRANSFORMED_TYPE;
}

/* Bytes of memory that one name alone has become those of a grid. */
static void copy_bytes(rs_grid_walk *w, rs_extended_type to, rs_extended_type from, int node)
{
    const rs_extended_type *const both[] = {&to, &from};
    for (int i = 0; i < 2; i++) {
        const rs_extended_type *one = both[i], *other = both[1 - i];
        if (one->kind == RS_EXTENDED_NEW && one->source != 0 && other->kind == RS_EXTENDED_GRID)
            rs_grid_record(w,
                           (rs_grid_copy){one->source, other->grid, other->class, true, one->via});
        if (one->kind == RS_EXTENDED_NEW && one->target != 0)
            rs_flow_set(&w->context, &w->flow, one->target,
                        other->kind == RS_EXTENDED_GRID ? *other : RS_UNTRANSFORMED_TYPE);
        if (one->kind == RS_EXTENDED_REFERENCE)
            rs_grid_keep(w, *one, node, "");
    }
    rs_type_meet(&w->context, to, from, node);
    rs_flow_settle(&w->context, &w->flow, node);
}

/* The sizes of copies are looked at when all first extents are known. */
void rs_grid_record(rs_grid_walk *w, rs_grid_copy copy)
{
    rs_propagation *found = w->found;
    for (int i = 0; i < found->copy_count; i++)
        if (found->copies[i].size == copy.size && found->copies[i].grid == copy.grid &&
            found->copies[i].class == copy.class && found->copies[i].via == copy.via)
            return;
    RS_LIST_ADD(found->copies, found->copy_count, w->context.no_memory, copy);
}

/* assert() does nothing where NDEBUG is defined. */
static rs_extended_type call_test(rs_grid_walk *w, const arguments *list, int node)
{
    rs_flow before = rs_flow_copy(&w->context, &w->flow);
    for (int i = 0; i < list->count; i++)
        rs_grid_evaluate(w, list->nodes[i]);
    rs_flow_meet(&w->context, &w->flow, &before, node);
    rs_flow_free(&before);
    return RS_UNTRANSFORMED_TYPE;
}

static rs_extended_type call_known(rs_grid_walk *w, const arguments *list, call_kind kind, int node)
{
    rs_extended_type types[ARGUMENT_LIMIT] = {RS_UNTRANSFORMED_TYPE};
    int bytes = kind == CALL_COPIES ? 2 : kind == CALL_HARMLESS ? 1 : 0;
    for (int i = 0; i < list->count; i++) {
        types[i] = RS_UNTRANSFORMED_TYPE;
        if (kind == CALL_ELEMENT && i == 0)
            evaluate_element(w, list->nodes[i]);
        else
            types[i] = rs_grid_evaluate(w, list->nodes[i]);
        bool understood =
            types[i].kind == RS_EXTENDED_REFERENCE ? kind == CALL_ALLOCATES && i == 0 : i < bytes;
        if (!understood)
            rs_grid_keep(w, types[i], node, "an argument that is not followed is the address");
        if (i < bytes && bytes == 1 &&
            types[i].kind == RS_EXTENDED_NEW) { /* filled before it is a grid */
            rs_grid_keep(w, types[i], node, "");
            types[i] = RS_UNTRANSFORMED_TYPE;
        }
    }
    for (int i = 0; i < bytes && list->count >= 3; i++)
        if (types[i].kind == RS_EXTENDED_GRID)
            rs_grid_record(w,
                           (rs_grid_copy){list->nodes[2], types[i].grid, types[i].class, false, 0});
    if (kind == CALL_COPIES && list->count >= 2)
        copy_bytes(w, types[0], types[1], node);
    if (kind == CALL_ALLOCATES && list->count > 0 && types[0].kind == RS_EXTENDED_REFERENCE)
        rs_grid_assign(w, types[0].target,
                       (rs_extended_type){RS_EXTENDED_NEW, -1, -1, 0, .source = node}, node);
    if (kind == CALL_NEW)
        return (rs_extended_type){RS_EXTENDED_NEW, -1, -1, 0, .source = node};
    return bytes > 0 && types[0].kind == RS_EXTENDED_GRID ? types[0] : RS_UNTRANSFORMED_TYPE;
}

/* ---- arguments and parameters ---- */

/* Names of parameters and the texts of what is handed over, without blanks. */
typedef struct {
    const char *name;
    char *text;
} substitution;

typedef struct {
    substitution items[ARGUMENT_LIMIT];
    int count;
} substitutions;

static char *text_without_blanks(const rs_grid_walk *w, int node)
{
    const rs_node *n = &w->tree->nodes[node];
    char *text = malloc(n->end - n->begin + 1);
    size_t length = 0;
    for (size_t i = n->begin; text != NULL && i < n->end; i++)
        if (strchr(" \t\n", w->tree->text[i]) == NULL)
            text[length++] = w->tree->text[i];
    if (text != NULL)
        text[length] = '\0';
    return text;
}

static const char *find_substitution(const substitutions *all, const char *text, size_t word,
                                     size_t length)
{
    for (int i = 0; i < all->count; i++)
        if (rs_word_equals(text, word, length, all->items[i].name))
            return all->items[i].text;
    return NULL;
}

/* An extent of a parameter as the caller would write it. */
static char *substitute(const char *extent, const substitutions *all)
{
    rs_text text = RS_TEXT_EMPTY;
    size_t end = strlen(extent), at = 0, from = 0, word, length;
    while (rs_word_next(extent, end, &at, &word, &length)) {
        const char *by = find_substitution(all, extent, word, length);
        bool whole = word == 0 && length == end;
        rs_text_add(&text, extent + from, word - from);
        if (by == NULL)
            rs_text_add(&text, extent + word, length);
        else
            rs_text_format(&text, whole || rs_identifier_length(by) == strlen(by) ? "%s" : "(%s)",
                           by);
        from = word + length;
    }
    rs_text_add(&text, extent + from, end - from);
    return rs_text_take(&text);
}

/* Whether an extent of a parameter, as the caller would write it, is the text of an extent there,
 * and its names are the same variables in the three places. */
static bool same_extent(const rs_grid_walk *w, const char *inner, const char *expected,
                        const char *given, const substitutions *all, const size_t places[3])
{
    size_t at = 0, word, length;
    if (!rs_extent_same(expected, given))
        return false;
    while (expected != NULL && rs_word_next(inner, strlen(inner), &at, &word, &length))
        if (find_substitution(all, inner, word, length) == NULL &&
            rs_extent_resolve(w->tree, inner + word, length, places[0]) !=
                rs_extent_resolve(w->tree, inner + word, length, places[1]))
            return false;
    return given == NULL || rs_extent_means_same(w->tree, given, places[1], places[2]);
}

/* The extents of an argument are those of the parameter, or the grid stays as it is; the first
 * one of a pointer is learned. */
static void bind_extents(rs_grid_walk *w, rs_extended_type type, int parameter,
                         const substitutions *all, int node)
{
    const rs_grid *to = &w->program->grids.grids[parameter];
    const rs_grid *from = &w->program->grids.grids[type.grid];
    const size_t places[] = {to->name, w->tree->nodes[node].begin, from->name};
    bool same = to->rank == from->rank && to->flat == from->flat &&
                w->found->sizes[parameter] == w->found->sizes[type.grid];
    for (int d = 0; same && d < to->rank; d++) {
        char *expected = to->extents[d] != NULL ? substitute(to->extents[d], all) : NULL;
        const char *given =
            from->extents[d] != NULL || d > 0 ? from->extents[d] : w->found->outer[type.grid];
        same = same_extent(w, to->extents[d], expected, given, all, places);
        if (d == 0 && given == NULL && expected != NULL) {
            same = same && rs_extent_means_same(w->tree, expected, places[1], places[2]);
            w->found->outer[type.grid] = expected;
            expected = NULL;
        }
        free(expected);
    }
    char name[64], other[64];
    if (!same)
        rs_class_keep(
            &w->context, type.class, node, "the extents or elements of %s are not those of %s",
            rs_grid_name(w->program, type.grid, name), rs_grid_name(w->program, parameter, other));
}

/* The parameters of a function, in order; those that have no argument come behind. */
static int read_parameters(const rs_grid_walk *w, int function, int parameters[ARGUMENT_LIMIT])
{
    int count = 0;
    for (int child = w->tree->nodes[function].first; child >= 0 && count < ARGUMENT_LIMIT;
         child = w->tree->nodes[child].next)
        if (rs_grid_kind(w, child) == RS_NODE_PARAMETER)
            parameters[count++] = child;
    return count;
}

static void bind_one(rs_grid_walk *w, int parameter, rs_extended_type type,
                     const substitutions *all, int node)
{
    const rs_syntax_declaration *cursor = w->tree->nodes[parameter].declaration;
    int grid = rs_grid_of_key(w, rs_grid_key(cursor));
    if (grid >= 0 && type.kind == RS_EXTENDED_GRID) {
        bind_extents(w, type, grid, all, node);
        type.grid = grid;
        rs_grid_set(w, rs_grid_key(cursor), type, node);
    } else {
        if (grid >= 0 && type.kind == RS_EXTENDED_REFERENCE)
            rs_grid_keep(w, type, node, "");
        rs_grid_initialize(w, cursor, type, node);
    }
}

/* Hands the arguments over; `types` gets what they are. */
static void bind(rs_grid_walk *w, int function, const arguments *list, rs_extended_type *types,
                 int node)
{
    int parameters[ARGUMENT_LIMIT];
    int count = read_parameters(w, function, parameters);
    substitutions all = {.count = 0};
    for (int i = 0; i < list->count; i++) {
        bool reference = i < count && rs_type_of(w->tree, parameters[i])->kind == RS_TYPE_REFERENCE;
        if (reference)
            rs_grid_lose_all(w, list->nodes[i],
                             "a reference, which is not followed, is to what has "
                             "the address");
        types[i] = reference ? RS_UNTRANSFORMED_TYPE : rs_grid_evaluate(w, list->nodes[i]);
        if (i >= count) {
            rs_grid_keep(w, types[i], node, "an argument that has no parameter is the address");
            continue;
        }
        all.items[i].name = w->tree->nodes[parameters[i]].name;
        all.items[i].text = text_without_blanks(w, list->nodes[i]);
        w->context.no_memory = w->context.no_memory || all.items[i].text == NULL;
        all.count = i + 1;
    }
    for (int i = 0; i < count && !w->context.no_memory; i++)
        bind_one(w, parameters[i], i < list->count ? types[i] : RS_UNTRANSFORMED_TYPE, &all, node);
    for (int s = 0; s < all.count; s++)
        free(all.items[s].text);
}

/* Extents that a function's own declaration tells mean nothing outside: what an argument was there
 * is that again, and anything else is lost. */
static rs_extended_type leave_function(rs_grid_walk *w, int function, rs_extended_type type,
                                       const rs_extended_type *types, int count, int node)
{
    const rs_node *inside = &w->tree->nodes[function];
    if (type.kind == RS_EXTENDED_NEW && type.source > 0 &&
        w->tree->nodes[type.via > 0 ? type.via : type.source].begin >= inside->begin &&
        w->tree->nodes[type.via > 0 ? type.via : type.source].begin < inside->end) {
        type.source = type.via > 0 ? -1 : type.source;
        type.via = type.source > 0 ? node : 0;
    }
    if (type.kind != RS_EXTENDED_GRID || w->program->grids.grids[type.grid].name < inside->begin ||
        w->program->grids.grids[type.grid].name >= inside->end)
        return type;
    for (int i = 0; i < count; i++)
        if (types[i].kind == RS_EXTENDED_GRID &&
            rs_grid_class(w->found, types[i].class) == rs_grid_class(w->found, type.class)) {
            type.grid = types[i].grid;
            return type;
        }
    rs_grid_keep(w, type, node, "a function, in which it is declared, hands out the address");
    return RS_UNTRANSFORMED_TYPE;
}

/* What the caller's variables hold behind a call; those of the function are no more. */
static void leave_variables(rs_grid_walk *w, int function, const rs_extended_type *types, int count,
                            int node)
{
    const rs_node *inside = &w->tree->nodes[function];
    int left = 0;
    for (int i = 0; i < w->flow.count; i++) {
        rs_typed_variable variable = w->flow.variables[i];
        if (variable.key - 1 < inside->begin || variable.key - 1 >= inside->end)
            w->flow.variables[left++] = variable;
    }
    w->flow.count = left;
    for (int i = 0; i < w->flow.count; i++) {
        rs_extended_type type = w->flow.variables[i].type;
        type = leave_function(w, function, type, types, count, node);
        w->flow.variables[i].type = type;
    }
}

static bool is_recursive(const rs_grid_walk *w, int function)
{
    bool active = w->depth >= RS_GRID_CALL_DEPTH;
    for (int i = 0; i < w->depth; i++)
        active = active || w->calls[i] == function;
    return active;
}

static rs_extended_type call_function(rs_grid_walk *w, int function, const arguments *list,
                                      int node)
{
    rs_extended_type types[ARGUMENT_LIMIT];
    bind(w, function, list, types, node);
    rs_flow outer_returns = w->returns;
    rs_extended_type outer_returned = w->returned;
    rs_grid_exits *outer_exits = w->innermost;
    w->returns = (rs_flow){.unreached = true};
    w->returned = RS_EXTENDED_OF(RS_EXTENDED_NEW);
    w->innermost = NULL;
    w->walked[function] = true;
    w->calls[w->depth++] = function;
    rs_grid_walk_statement(w, rs_grid_body(w->tree, function));
    w->depth--;
    rs_flow_meet(&w->context, &w->flow, &w->returns, node);
    leave_variables(w, function, types, list->count, node);
    rs_extended_type result = leave_function(w, function, w->returned, types, list->count, node);
    rs_flow_free(&w->returns);
    w->returns = outer_returns;
    w->returned = outer_returned;
    w->innermost = outer_exits;
    return result;
}

/* The result's type is written as it was, so a grid is handed out as void * only. */
static rs_extended_type check_result(rs_grid_walk *w, rs_extended_type result, int node)
{
    const rs_syntax_type *type = rs_type_of(w->tree, node);
    bool rows = type->kind == RS_TYPE_POINTER && rs_type_below(type)->kind == RS_TYPE_ARRAY;
    bool fits = result.kind == RS_EXTENDED_NEW ? !rows : rs_grid_fits(w, type, result);
    if (fits)
        return result;
    rs_grid_keep(w, result, node, "a function that returns no grid returns the address");
    return RS_UNTRANSFORMED_TYPE;
}

rs_extended_type rs_grid_call(rs_grid_walk *w, int node)
{
    const rs_syntax_declaration *constructor = w->tree->nodes[node].declaration;
    if (constructor->is_constructor || rs_node_operator(w->tree, node) >= 0) {
        rs_grid_lose_all(w, node,
                         "a constructor or an operator, which is not followed, gets the address");
        return RS_UNTRANSFORMED_TYPE;
    }
    arguments list = read_arguments(w, node);
    int callee = list.callee >= 0 ? rs_node_inner(w->tree, list.callee) : -1;
    bool named = callee >= 0 && rs_grid_kind(w, callee) == RS_NODE_REFERENCE;
    const char *name = named ? w->tree->nodes[callee].name : "";
    if (list.more) {
        rs_grid_lose_all(w, node, "a call that is not followed gets the address");
        return RS_UNTRANSFORMED_TYPE;
    }
    if (!named && callee >= 0)
        rs_grid_keep(w, rs_grid_evaluate(w, list.callee), node, "a function is the address");
    int function = named ? rs_grid_function(w, w->tree->nodes[callee].declaration) : -1;
    bool overloaded = named && rs_grid_is_overloaded(w, w->tree->nodes[callee].declaration);
    if (overloaded || (function >= 0 && is_recursive(w, function))) {
        for (int i = 0; i < list.count; i++)
            rs_grid_keep(w, rs_grid_evaluate(w, list.nodes[i]), node,
                         overloaded
                             ? "a template, or one of several functions of a name, gets the address"
                             : "a recursive call gets the address");
        return RS_UNTRANSFORMED_TYPE;
    }
    if (function >= 0) {
        w->followed[callee] = true;
        return check_result(w, call_function(w, function, &list, node), node);
    }
    call_kind kind = kind_of_call(name);
    if (kind == CALL_TESTS)
        return call_test(w, &list, node);
    return kind == CALL_UNKNOWN || kind == CALL_SCANS ? call_unknown(w, &list, name, node)
                                                      : call_known(w, &list, kind, node);
}
