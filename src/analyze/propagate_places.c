/*
 * Variables of the walk of propagate.h: which ones are followed, what is stored in them, and what
 * becomes of values that go anywhere else.
 *
 * Followed are pointers that are variables of a function, by their names and through addresses of
 * them that are followed too. Members, elements, variables of the file and static ones are not:
 * what is stored there is lost, and what is read from there is memory that is no grid.
 */
#include "analyze/declared.h"
#include "analyze/extents.h"
#include "analyze/propagate_walk.h"
#include "source/query.h"
#include "source/words.h"

#include <stdio.h>
#include <string.h>

uint64_t rs_grid_key(const rs_syntax_declaration *declared)
{
    return (uint64_t)declared->place + 1;
}

int rs_grid_of_key(const rs_grid_walk *w, uint64_t key)
{
    return rs_grids_at(&w->program->grids, (size_t)(key - 1));
}

void rs_grid_keep(rs_grid_walk *w, rs_extended_type type, int node, const char *what)
{
    rs_type_lose(&w->context, &w->flow, type, node, what);
}

bool rs_grid_is_followed(const rs_syntax_declaration *declared)
{
    const rs_syntax_type *type = rs_declared_type(declared);
    return rs_is_declared(declared, RS_DECLARATION_PARAMETER)
               ? type->kind != RS_TYPE_REFERENCE
               : rs_is_declared(declared, RS_DECLARATION_VARIABLE) &&
                     !rs_variable_lasts(declared) && type->kind == RS_TYPE_POINTER;
}

/* ---- types of C ---- */

/* A pointer to a pointer to no rows, or void *: through it a pointer is read and written whole. */
static bool holds_reference(const rs_syntax_type *type)
{
    if (type->kind != RS_TYPE_POINTER)
        return false;
    const rs_syntax_type *to = rs_type_below(type);
    return to->kind == RS_TYPE_VOID ||
           (to->kind == RS_TYPE_POINTER && rs_type_below(to)->kind != RS_TYPE_ARRAY);
}

bool rs_grid_fits(const rs_grid_walk *w, const rs_syntax_type *type, rs_extended_type value)
{
    if (value.kind == RS_EXTENDED_REFERENCE)
        return holds_reference(type);
    if (value.kind != RS_EXTENDED_GRID)
        return true;
    bool flat = w->program->grids.grids[value.grid].flat;
    return type->kind == RS_TYPE_POINTER && (rs_type_below(type)->kind == RS_TYPE_VOID ||
                                             (flat && rs_type_below(type)->kind != RS_TYPE_ARRAY));
}

/* ---- reading ---- */

rs_extended_type rs_grid_read(rs_grid_walk *w, uint64_t key, const rs_syntax_type *pointer,
                              int node)
{
    rs_extended_type type = rs_flow_get(&w->flow, key);
    if (rs_flow_has_escaped(&w->context, key)) {
        rs_grid_keep(w, type, node, "a variable whose address is not followed has the address");
        return RS_UNTRANSFORMED_TYPE;
    }
    if (type.kind != RS_EXTENDED_NEW || rs_grid_of_key(w, key) >= 0)
        return type;
    /* New memory that a variable has which is no grid: it can be accessed by that name too. */
    bool bytes = pointer->kind == RS_TYPE_POINTER && rs_type_below(pointer)->kind == RS_TYPE_VOID;
    type.target = key;
    return bytes ? type : RS_UNTRANSFORMED_TYPE;
}

/* ---- storing ---- */

static void compare_extents(rs_grid_walk *w, int grid, rs_extended_type type, int node)
{
    if (rs_extents_same(w->program, w->found, grid, type.grid))
        return;
    char name[64], other[64];
    rs_grid_name(w->program, grid, name);
    rs_grid_name(w->program, type.grid, other);
    rs_class_keep(&w->context, type.class, node, "%s and %s have different extents or elements",
                  other, name);
    rs_class_keep(&w->context, grid, node, "%s and %s have different extents or elements", other,
                  name);
}

void rs_grid_set(rs_grid_walk *w, uint64_t key, rs_extended_type type, int node)
{
    int grid = rs_grid_of_key(w, key);
    if (grid >= 0 && type.kind == RS_EXTENDED_GRID)
        rs_grid_link_add(&w->context, grid, type.class);
    rs_flow_set(&w->context, &w->flow, key, type);
    if (!rs_flow_has_escaped(&w->context, key))
        return;
    if (grid >= 0)
        rs_flow_escape(&w->context, &w->flow, key, node);
    else
        rs_flow_settle(&w->context, &w->flow, node);
}

/* New memory that gets a name: it is that grid's, or another one beside the name it had. */
static rs_extended_type name_new(rs_grid_walk *w, int grid, rs_extended_type type)
{
    uint64_t before = type.target;
    if (grid >= 0 && type.source != 0)
        rs_grid_record(w, (rs_grid_copy){type.source, grid, grid, true, type.via});
    if (grid >= 0)
        type = (rs_extended_type){.kind = RS_EXTENDED_GRID, .class = grid, .grid = grid};
    else if (before != 0)
        type = RS_UNTRANSFORMED_TYPE;
    if (before != 0)
        rs_flow_set(&w->context, &w->flow, before, type);
    return type;
}

void rs_grid_assign(rs_grid_walk *w, uint64_t key, rs_extended_type type, int node)
{
    int grid = rs_grid_of_key(w, key);
    if (type.kind == RS_EXTENDED_NEW) {
        type = name_new(w, grid, type);
    } else if (grid >= 0 && type.kind == RS_EXTENDED_GRID) {
        compare_extents(w, grid, type, node);
        type.grid = grid;
    } else if (grid >= 0) {
        rs_grid_keep_declared(&w->context, grid, node, "%s is set to memory that is no grid");
    }
    rs_grid_set(w, key, type, node);
}

static size_t before_blanks(const char *text, size_t at)
{
    while (at > 0 && strchr(" \t\n", text[at - 1]) != NULL)
        at--;
    return at;
}

static size_t before_word(const char *text, size_t at)
{
    while (at > 0 && rs_identifier_length(text + at - 1) > 0)
        at--;
    return at;
}

/* The grid that is named in `typeof(name)` right before a variable; -1 for none. */
static int grid_of_typeof(const rs_grid_walk *w, const rs_syntax_declaration *declared)
{
    static const char *const words[] = {"typeof", "__typeof__", "__typeof"};
    const char *text = w->tree->text;
    size_t offset = declared->place, close = before_blanks(text, offset);
    if (close == 0 || text[close - 1] != ')')
        return -1;
    size_t name = before_word(text, before_blanks(text, close - 1));
    size_t length = rs_identifier_length(text + name), open = before_blanks(text, name);
    if (length == 0 || open == 0 || text[open - 1] != '(')
        return -1;
    size_t end = before_blanks(text, open - 1), word = before_word(text, end);
    size_t statement = before_blanks(text, word);
    bool known = statement > 0 && strchr(";{}(", text[statement - 1]) != NULL;
    for (size_t i = 0; known && i < sizeof words / sizeof words[0]; i++) {
        if (!rs_word_equals(text, word, end - word, words[i]))
            continue;
        int found = rs_extent_resolve(w->tree, text + name, length, offset);
        int grid = found < 0 ? -1 : rs_grid_of_key(w, w->tree->nodes[found].place + 1);
        return grid >= 0 && !w->program->grids.grids[grid].flat ? grid : -1;
    }
    return -1;
}

bool rs_grid_is_alike(const rs_grid_walk *w, const rs_syntax_declaration *declared)
{
    return rs_grid_is_followed(declared) && rs_grid_of_key(w, rs_grid_key(declared)) < 0 &&
           grid_of_typeof(w, declared) >= 0;
}

/* A variable that has the type of a grid's pointer is one, or none is: false for other values. */
static bool set_alike(rs_grid_walk *w, const rs_syntax_declaration *declared, rs_extended_type type,
                      int node)
{
    int grid = grid_of_typeof(w, declared);
    if (type.kind == RS_EXTENDED_GRID) {
        compare_extents(w, grid, type, node);
        rs_grid_link_add(&w->context, grid, type.class);
        rs_grid_set(w, rs_grid_key(declared), type, node);
        return true;
    }
    if (type.kind == RS_EXTENDED_NEW && type.source == 0 && type.target == 0)
        return false;
    rs_grid_keep_declared(&w->context, grid, node,
                          "memory that is no grid gets a name with the type of %s");
    return false;
}

void rs_grid_initialize(rs_grid_walk *w, const rs_syntax_declaration *declared,
                        rs_extended_type type, int node)
{
    uint64_t key = rs_grid_key(declared);
    bool followed = rs_grid_is_followed(declared);
    if (rs_grid_is_alike(w, declared) && set_alike(w, declared, type, node))
        return;
    if (!followed ||
        (rs_grid_of_key(w, key) < 0 && !rs_grid_fits(w, rs_declared_type(declared), type))) {
        char what[128];
        snprintf(what, sizeof what, "%.63s, which is not followed as a grid, gets the address",
                 declared->name);
        rs_grid_keep(w, type, node, what);
        type = RS_UNTRANSFORMED_TYPE;
    }
    if (followed)
        rs_grid_assign(w, key, type, node);
}

bool rs_grid_locate(rs_grid_walk *w, int node, uint64_t *key)
{
    node = rs_node_inner(w->tree, node);
    if (node < 0)
        return false;
    if (rs_grid_kind(w, node) == RS_NODE_REFERENCE) {
        const rs_syntax_declaration *declared = w->tree->nodes[node].declaration;
        if (!rs_grid_is_followed(declared))
            return false;
        *key = rs_grid_key(declared);
        return true;
    }
    if (!rs_node_is_unary(w->tree, node, "*"))
        return false;
    rs_extended_type pointer = rs_grid_evaluate(w, rs_node_child(w->tree, node, 0));
    const rs_syntax_type *type = rs_type_of(w->tree, node);
    bool whole = pointer.kind == RS_EXTENDED_REFERENCE && type->kind == RS_TYPE_POINTER &&
                 rs_type_below(type)->kind != RS_TYPE_ARRAY;
    if (!whole)
        rs_grid_keep(w, pointer, node, "a place that is not followed is behind the address");
    *key = pointer.target;
    return whole;
}

rs_extended_type rs_grid_store(rs_grid_walk *w, int target, rs_extended_type type, int node)
{
    uint64_t key = 0;
    int inner = rs_node_inner(w->tree, target);
    if (!rs_grid_locate(w, target, &key)) {
        rs_extended_type before = rs_grid_evaluate(w, target);
        rs_grid_keep(w, before, node, "a place that is not followed may change the address");
        rs_grid_keep(w, type, node, "a place that is not followed gets the address");
        return RS_UNTRANSFORMED_TYPE;
    }
    if (rs_grid_kind(w, inner) == RS_NODE_REFERENCE)
        rs_grid_initialize(w, w->tree->nodes[inner].declaration, type, node);
    else
        rs_grid_assign(w, key, type, node);
    return rs_grid_read(w, key, rs_type_of(w->tree, target), node);
}

/* ---- extents ---- */

static bool is_inside(const rs_grid_walk *w, int function, size_t offset)
{
    return w->tree->nodes[function].begin < offset && offset < w->tree->nodes[function].end;
}

/* Whether a grid's function is walked, and a node of the same function does not stand before it. */
static bool is_live(const rs_grid_walk *w, const rs_grid *grid, int node)
{
    bool live = false;
    for (int i = 0; i < w->depth; i++)
        live = live || is_inside(w, w->calls[i], grid->name);
    bool same = w->depth > 0 && is_inside(w, w->calls[w->depth - 1], grid->name);
    return live && (!same || w->tree->nodes[node].begin >= grid->name);
}

/* Whether a name of a grid's extents may be a variable; another one may have the same name. */
static bool may_mean(const rs_grid_walk *w, const char *name, size_t length, const rs_grid *grid,
                     const rs_syntax_declaration *declared)
{
    int found = rs_extent_resolve(w->tree, name, length, grid->name);
    return found < 0 || declared == &rs_declared_none ||
           w->tree->nodes[found].declaration == declared;
}

/* Extents are read again at each access, so their variables stay as they are. */
void rs_grid_notice_change(rs_grid_walk *w, int target, int node)
{
    if (target < 0 || rs_grid_kind(w, target) != RS_NODE_REFERENCE)
        return;
    const rs_syntax_declaration *declared = w->tree->nodes[target].declaration;
    const char *name = w->tree->nodes[target].name;
    for (int g = 0; g < w->program->grids.count; g++) {
        const rs_grid *grid = &w->program->grids.grids[g];
        if (!is_live(w, grid, node))
            continue;
        for (int d = 0; d < grid->rank; d++) {
            const char *extent = grid->extents[d];
            size_t at = 0, word, length;
            while (extent != NULL && rs_word_next(extent, strlen(extent), &at, &word, &length))
                if (rs_word_equals(extent, word, length, name) &&
                    may_mean(w, extent + word, length, grid, declared)) {
                    rs_class_keep(&w->context, g, node, "%s, an extent, is changed", name);
                    rs_grid_link_add(&w->context, g, g);
                }
        }
    }
}

/* ---- what is not in the table of expressions ---- */

static void lose_name(rs_grid_walk *w, int node, const char *what)
{
    const rs_syntax_declaration *declared = w->tree->nodes[node].declaration;
    if (!rs_grid_is_followed(declared) || (!rs_grid_is_pointer(w->tree, node)))
        return;
    uint64_t key = rs_grid_key(declared);
    rs_grid_keep(w, rs_flow_get(&w->flow, key), node, what);
    rs_flow_escape(&w->context, &w->flow, key, node);
}

void rs_grid_lose_all(rs_grid_walk *w, int node, const char *what)
{
    for (int i = node;
         i >= 0 && i < w->tree->node_count && (i == node || w->tree->nodes[i].parent >= node);
         i++) {
        int target = rs_node_inner(w->tree, rs_node_child(w->tree, i, 0));
        if (rs_grid_kind(w, i) == RS_NODE_REFERENCE)
            lose_name(w, i, what);
        else if (rs_node_is_assignment(w->tree, i) || rs_node_is_unary(w->tree, i, "&"))
            rs_grid_notice_change(w, target, i);
    }
}
