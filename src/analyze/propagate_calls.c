/* Calls of the walk of propagate.h: functions of the source, and what is known of others. */
#include "analyze/propagate_walk.h"
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
    return list;
}

typedef enum {
    CALL_UNKNOWN,
    CALL_HARMLESS,  /* does not look at what pointers point to, or byte by byte */
    CALL_NEW,       /* returns new memory */
    CALL_ALLOCATES, /* puts new memory where its first argument points to */
    CALL_COPIES,    /* bytes, from the second to the first */
    CALL_ELEMENT    /* touches the element that its first argument points to */
} call_kind;

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
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].name, name) == 0)
            return known[i].kind;
    return strncmp(name, "atom", 4) == 0 ? CALL_ELEMENT : CALL_UNKNOWN;
}

/* The address of one element is no address of a part when nothing else is done with it. */
static void evaluate_element(rs_grid_walk *w, int node)
{
    int inner = rs_node_inner(w->tree, node);
    int operand = inner >= 0 && rs_grid_kind(w, inner) == CXCursor_UnaryOperator &&
                          rs_node_is_prefix(w->tree, inner, "&")
                      ? rs_node_inner(w->tree, rs_node_child(w->tree, inner, 0))
                      : -1;
    if (operand >= 0 && rs_grid_kind(w, operand) == CXCursor_ArraySubscriptExpr)
        rs_grid_subscript(w, operand);
    else
        rs_grid_keep(w, rs_grid_evaluate(w, node), node, "an atomic operation on the address");
}

static rs_extended_type call_unknown(rs_grid_walk *w, const arguments *list, const char *name,
                                     int node)
{
    char what[128];
    snprintf(what, sizeof what, "%s, which is not followed, gets the address",
             name[0] != '\0' ? name : "a function");
    for (int i = 0; i < list->count; i++) {
        rs_extended_type type = rs_grid_evaluate(w, list->nodes[i]);
        rs_grid_keep(w, type, node, what);
        if (type.kind == RS_TYPE_REFERENCE) {
            rs_grid_keep(w, rs_flow_get(&w->flow, type.target), node, what);
            rs_grid_assign(w, type.target, RS_TYPE_OF(RS_TYPE_INCOMPATIBLE), node);
        }
    }
    return RS_TYPE_OF(RS_TYPE_UNTRANSFORMED);
}

static rs_extended_type call_known(rs_grid_walk *w, const arguments *list, call_kind kind, int node)
{
    rs_extended_type types[ARGUMENT_LIMIT];
    for (int i = 0; i < list->count; i++) {
        types[i] = RS_TYPE_OF(RS_TYPE_UNTRANSFORMED);
        if (kind == CALL_ELEMENT && i == 0)
            evaluate_element(w, list->nodes[i]);
        else
            types[i] = rs_grid_evaluate(w, list->nodes[i]);
    }
    if (kind == CALL_COPIES && list->count >= 2)
        rs_type_meet(&w->context, types[0], types[1], node);
    if (kind == CALL_ALLOCATES && list->count > 0 && types[0].kind == RS_TYPE_REFERENCE)
        rs_grid_assign(w, types[0].target, RS_TYPE_OF(RS_TYPE_NEW), node);
    return RS_TYPE_OF(kind == CALL_NEW ? RS_TYPE_NEW : RS_TYPE_UNTRANSFORMED);
}

/* ---- arguments and parameters ---- */

/* Names of parameters and the texts of what is handed over, without blanks. */
typedef struct {
    char name[64];
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

/* The extents of an argument are those of the parameter, or the grid stays as it is; the first
 * one of a pointer is learned. */
static void bind_extents(rs_grid_walk *w, rs_extended_type type, int parameter,
                         const substitutions *all, int node)
{
    const rs_grid *to = &w->program->grids.grids[parameter];
    const rs_grid *from = &w->program->grids.grids[type.grid];
    bool same = to->rank == from->rank && to->flat == from->flat &&
                w->found->sizes[parameter] == w->found->sizes[type.grid];
    for (int d = 0; same && d < to->rank; d++) {
        char *expected = to->extents[d] != NULL ? substitute(to->extents[d], all) : NULL;
        const char *given =
            from->extents[d] != NULL || d > 0 ? from->extents[d] : w->found->outer[type.grid];
        same = rs_extent_same(expected, given);
        if (d == 0 && given == NULL && expected != NULL) {
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

static void bind(rs_grid_walk *w, int function, const arguments *list, int node)
{
    rs_extended_type types[ARGUMENT_LIMIT];
    substitutions all = {.count = 0};
    int i = 0;
    for (int a = 0; a < list->count; a++)
        types[a] = rs_grid_evaluate(w, list->nodes[a]);
    for (int child = w->tree->nodes[function].first; child >= 0 && i < list->count;
         child = w->tree->nodes[child].next) {
        if (rs_grid_kind(w, child) != CXCursor_ParmDecl)
            continue;
        rs_grid_spelling(w->tree->nodes[child].cursor, all.items[i].name);
        all.items[i].text = text_without_blanks(w, list->nodes[i]);
        w->context.no_memory = w->context.no_memory || all.items[i].text == NULL;
        all.count = ++i;
    }
    i = 0;
    for (int child = w->tree->nodes[function].first;
         child >= 0 && i < list->count && !w->context.no_memory;
         child = w->tree->nodes[child].next) {
        if (rs_grid_kind(w, child) != CXCursor_ParmDecl)
            continue;
        uint64_t key = rs_grid_key(w->tree->nodes[child].cursor);
        int grid = rs_grid_of_key(w, key);
        rs_extended_type type = types[i++];
        if (grid >= 0 && type.kind == RS_TYPE_GRID) {
            bind_extents(w, type, grid, &all, node);
            rs_grid_link_add(&w->context, grid, type.class);
            type.grid = grid;
            rs_flow_set(&w->context, &w->flow, key, type);
        } else {
            rs_grid_assign(w, key, type, node);
        }
    }
    for (int s = 0; s < all.count; s++)
        free(all.items[s].text);
}

static rs_extended_type call_function(rs_grid_walk *w, int function, const arguments *list,
                                      int node)
{
    bool active = w->depth >= RS_GRID_CALL_DEPTH;
    for (int i = 0; i < w->depth; i++)
        active = active || w->calls[i] == function;
    if (active) {
        for (int i = 0; i < list->count; i++)
            rs_grid_keep(w, rs_grid_evaluate(w, list->nodes[i]), node,
                         "a recursive call gets the address");
        return RS_TYPE_OF(RS_TYPE_UNTRANSFORMED);
    }
    bind(w, function, list, node);
    rs_flow outer_returns = w->returns;
    rs_extended_type outer_returned = w->returned;
    rs_grid_exits *outer_exits = w->innermost;
    w->returns = (rs_flow){.unreached = true};
    w->returned = RS_TYPE_OF(RS_TYPE_NEW);
    w->innermost = NULL;
    w->calls[w->depth++] = function;
    rs_grid_walk_statement(w, rs_grid_body(w->tree, function));
    w->depth--;
    rs_flow_meet(&w->context, &w->flow, &w->returns, node);
    rs_extended_type result = w->returned;
    rs_flow_free(&w->returns);
    w->returns = outer_returns;
    w->returned = outer_returned;
    w->innermost = outer_exits;
    return result;
}

rs_extended_type rs_grid_call(rs_grid_walk *w, int node)
{
    arguments list = read_arguments(w, node);
    int callee = list.callee >= 0 ? rs_node_inner(w->tree, list.callee) : -1;
    bool named = callee >= 0 && rs_grid_kind(w, callee) == CXCursor_DeclRefExpr;
    char name[64] = "";
    if (named)
        rs_grid_spelling(w->tree->nodes[callee].cursor, name);
    int function = named ? rs_grid_function(w, w->tree->nodes[callee].cursor) : -1;
    if (function >= 0)
        return call_function(w, function, &list, node);
    call_kind kind = kind_of_call(name);
    return kind == CALL_UNKNOWN ? call_unknown(w, &list, name, node)
                                : call_known(w, &list, kind, node);
}
