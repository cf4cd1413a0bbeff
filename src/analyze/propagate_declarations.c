/*
 * What the declarations of grids say, beside the walk of propagate.h: which of them cannot be
 * followed, which are the same parameter's, and whether extents mean the same wherever they are
 * written.
 */
#include "analyze/declared.h"
#include "analyze/extents.h"
#include "analyze/propagate_walk.h"
#include "source/query.h"
#include "source/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of an element of each grid, from its declaration. */
void rs_grid_find_sizes(const rs_grid_walk *w)
{
    for (int i = 1; i < w->tree->node_count; i++) {
        int kind = w->tree->nodes[i].is;
        const rs_syntax_declaration *cursor = w->tree->nodes[i].declaration;
        int grid = kind == RS_NODE_VARIABLE || kind == RS_NODE_PARAMETER
                       ? rs_grids_at(&w->program->grids, w->tree->nodes[i].place)
                       : -1;
        if (grid < 0)
            continue;
        const rs_syntax_type *type = rs_declared_type(cursor);
        if (type->kind == RS_TYPE_POINTER)
            type = rs_type_below(type);
        while (type->kind == RS_TYPE_ARRAY)
            type = rs_type_below(type);
        w->found->sizes[grid] = rs_type_bytes(type);
    }
}

/* The innermost node around a byte. */
static int node_at(const rs_tree *tree, size_t offset)
{
    int found = 0;
    for (int i = 1; i < tree->node_count && tree->nodes[i].begin <= offset; i++)
        if (offset < tree->nodes[i].end)
            found = i;
    return found;
}

/* Other functions, and other calls of the same, may use what outlives a call; members are many. */
static void keep_unfollowed(rs_grid_walk *w)
{
    for (int i = 1; i < w->tree->node_count; i++) {
        int kind = w->tree->nodes[i].is;
        if (kind != RS_NODE_VARIABLE && kind != RS_NODE_FIELD)
            continue;
        const rs_syntax_declaration *cursor = w->tree->nodes[i].declaration;
        int grid = rs_grids_at(&w->program->grids, w->tree->nodes[i].place);
        if (grid >= 0 && !rs_grid_is_followed(cursor))
            rs_grid_keep_declared(&w->context, grid, i,
                                  kind == RS_NODE_FIELD
                                      ? "%s is a member of a structure"
                                      : "%s is not a variable of one call of a function");
    }
}

/* The parameter of a declaration of a function that has a number; -1 for none. */
static int parameter_at(const rs_grid_walk *w, int function, int number)
{
    int child = w->tree->nodes[function].first;
    for (; child >= 0; child = w->tree->nodes[child].next)
        if (rs_grid_kind(w, child) == RS_NODE_PARAMETER && number-- == 0)
            return child;
    return -1;
}

/* The function that a byte lies in. */
static int function_at(const rs_tree *tree, size_t offset)
{
    for (int i = 1; i < tree->node_count; i++)
        if (tree->nodes[i].begin <= offset && offset < tree->nodes[i].end &&
            rs_grid_body(tree, i) >= 0)
            return i;
    return -1;
}

static const char *first_extent(const rs_grid_walk *w, int grid)
{
    const char *told = w->program->grids.grids[grid].extents[0];
    return told != NULL ? told : w->found->outer[grid];
}

/* Whether a part of the text may reach a grid: it declares that, or names the function of which it
 * is a parameter, or a variable of its extents that others see. */
static bool may_reach(const rs_grid_walk *w, const rs_node *part, int grid)
{
    const rs_grid *g = &w->program->grids.grids[grid];
    if (g->name >= part->begin && g->name < part->end)
        return true;
    int function = function_at(w->tree, g->name);
    const char *name = function >= 0 ? w->tree->nodes[function].name : "";
    if (name[0] != '\0' && rs_words_have(w->tree->text, part->begin, part->end, name, strlen(name)))
        return true;
    for (int d = 0; d < g->rank; d++) {
        const char *extent = d == 0 ? first_extent(w, grid) : g->extents[d];
        size_t at = 0, word, length;
        while (extent != NULL && rs_word_next(extent, strlen(extent), &at, &word, &length)) {
            int declaration = rs_extent_resolve(w->tree, extent + word, length, g->name);
            if (declaration >= 0 && rs_variable_lasts(w->tree->nodes[declaration].declaration) &&
                rs_words_have(w->tree->text, part->begin, part->end, extent + word, length))
                return true;
        }
    }
    return false;
}

/* The declaration of a variable of the file around a byte, or -1. */
static int variable_at(const rs_tree *tree, size_t offset)
{
    RS_EACH_CHILD(node, tree, 0)
        if (tree->nodes[node].is == RS_NODE_VARIABLE && tree->nodes[node].begin <= offset &&
            offset < tree->nodes[node].end)
            return node;
    return -1;
}

/* Whether what a variable of the file is, or begins with, may reach a grid. Of one that is not
 * understood itself the compiler leaves out all that names it. */
static bool may_variable_reach(const rs_grid_walk *w, int variable, int grid)
{
    const rs_tree *tree = w->tree;
    const rs_node *part = &tree->nodes[variable];
    const rs_grid *g = &w->program->grids.grids[grid];
    const char *name = part->name;
    if (may_reach(w, part, grid) ||
        rs_words_have(tree->text, part->begin, part->end, tree->text + g->name, g->name_length))
        return true;
    if (!part->declaration->is_invalid)
        return false;
    /* Of `int a[N], b[N]` the second one has the words of the first in its part, too. */
    RS_EACH_CHILD(node, tree, 0) {
        const rs_node *other = &tree->nodes[node];
        bool same_words = other->is == RS_NODE_VARIABLE && other->begin == part->begin;
        if (node != variable && !same_words &&
            rs_words_have(tree->text, other->begin, other->end, name, strlen(name)) &&
            (other->is != RS_NODE_FUNCTION || may_reach(w, other, grid)))
            return true;
    }
    return name[0] == '\0';
}

/* What the compiler does not understand may do anything that its function names, and outside of
 * functions and variables it may be one, which gets or hands over any grid. */
static void keep_misread(rs_grid_walk *w)
{
    for (size_t e = 0; e < w->program->error_count; e++) {
        int function = function_at(w->tree, w->program->errors[e]);
        int variable = function < 0 && w->program->language == RS_LANGUAGE_C
                           ? variable_at(w->tree, w->program->errors[e])
                           : -1;
        for (int g = 0; g < w->program->grids.count; g++) {
            if ((function >= 0 && !may_reach(w, &w->tree->nodes[function], g)) ||
                (variable >= 0 && !may_variable_reach(w, variable, g)))
                continue;
            rs_class_keep_at(&w->context, g, w->program->errors[e],
                             "the compiler does not understand what is here");
            rs_grid_link_add(&w->context, g, g);
        }
    }
}

bool rs_grid_is_overloaded(const rs_grid_walk *w, const rs_syntax_declaration *function)
{
    for (int i = 0; i < w->function_count && function->name[0] != '\0'; i++) {
        const rs_syntax_declaration *declared = w->tree->nodes[w->functions[i]].declaration;
        if (declared != function && strcmp(function->name, declared->name) == 0)
            return true;
    }
    return false;
}

/* Whether a parameter is named again before the body of its function, where nothing is written. */
static bool is_named_before_body(const rs_grid_walk *w, int parameter, const rs_grid *grid)
{
    int body = rs_grid_body(w->tree, w->tree->nodes[parameter].parent);
    return body >= 0 &&
           rs_words_have(w->tree->text,
                         grid->last > grid->name ? grid->last : grid->name + grid->name_length,
                         w->tree->nodes[body].begin, w->tree->text + grid->name, grid->name_length);
}

/* Whether a header that stays declares a function of this name, with the type that it has now. */
static bool is_declared_in_header(const rs_grid_walk *w, const rs_syntax_declaration *function)
{
    char call[70];
    snprintf(call, sizeof call, " %s ( ", function->name);
    return w->program->declared != NULL && function->name[0] != '\0' &&
           strstr(w->program->declared, call) != NULL;
}

/* With another type of a parameter another function may be called, or declared. */
static void keep_by_types(rs_grid_walk *w)
{
    const rs_tree *tree = w->tree;
    for (int i = 1; i < tree->node_count; i++) {
        int grid = tree->nodes[i].is == RS_NODE_PARAMETER
                       ? rs_grid_of_key(w, tree->nodes[i].place + 1)
                       : -1;
        if (grid < 0)
            continue;
        const rs_syntax_declaration *function = tree->nodes[i].declaration->parent;
        if (function == NULL)
            function = &rs_declared_none; /* of a pointer to functions */
        const char *reason = NULL;
        if (is_named_before_body(w, i, &w->program->grids.grids[grid]))
            reason = "%s is used before the body of its function";
        else if (rs_grid_is_overloaded(w, function))
            reason = "%s is a parameter of one of several functions of a name";
        else if (is_declared_in_header(w, function))
            reason = "%s is a parameter of a function that a header declares, which stays as it is";
        if (reason != NULL)
            rs_grid_keep_declared(&w->context, grid, i, reason);
    }
}

/* A pragma stays as it is written. */
static void keep_in_pragmas(rs_grid_walk *w)
{
    static const char mark[] = "#pragma";
    const char *text = w->tree->text;
    for (const char *found = strstr(text, mark); found != NULL; found = strstr(found + 1, mark)) {
        size_t end = (size_t)(found - text) + strcspn(found, "\n");
        for (int g = 0; g < w->program->grids.count; g++) {
            const rs_grid *grid = &w->program->grids.grids[g];
            size_t at = (size_t)(found - text);
            if (grid->name_length == 0 ||
                !rs_words_have(w->tree->text, at, end, text + grid->name, grid->name_length) ||
                rs_extent_resolve(w->tree, text + grid->name, grid->name_length, at) !=
                    rs_extent_resolve(w->tree, text + grid->name, grid->name_length,
                                      grid->name + grid->name_length))
                continue;
            rs_class_keep_at(&w->context, g, (size_t)(found - text),
                             "a directive to the compiler, which stays as it is, names it");
            rs_grid_link_add(&w->context, g, g);
        }
    }
}

/* A parameter of a function with a body is written as a grid in another declaration, too. */
static void join_parameter(rs_grid_walk *w, int grid, int function, int other)
{
    int declared = other < 0 ? -1 : rs_grid_of_key(w, w->tree->nodes[other].place + 1);
    bool same = declared >= 0 &&
                w->program->grids.grids[declared].rank == w->program->grids.grids[grid].rank;
    for (int i = 0, count = w->found->link_count; i < count; i++) {
        char name[64];
        if (w->found->links[i].grid != grid)
            continue;
        if (same)
            rs_grid_link_add(&w->context, declared, w->found->links[i].class);
        else
            rs_class_keep(&w->context, w->found->links[i].class, other < 0 ? function : other,
                          "%s is declared in another way than with the body of its function",
                          rs_grid_name(w->program, grid, name));
    }
}

static void join_declarations(rs_grid_walk *w)
{
    const rs_tree *tree = w->tree;
    for (int i = 0; i < w->function_count; i++) {
        int f = w->functions[i];
        bool defined = rs_grid_body(tree, f) >= 0;
        const rs_syntax_declaration *canonical = tree->nodes[f].declaration;
        for (int k = 0; k < w->function_count && defined; k++) {
            int o = w->functions[k];
            if (o == f || tree->nodes[o].declaration != canonical)
                continue;
            for (int p = 0, own; (own = parameter_at(w, f, p)) >= 0; p++) {
                int grid = rs_grid_of_key(w, tree->nodes[own].place + 1);
                if (grid >= 0)
                    join_parameter(w, grid, o, parameter_at(w, o, p));
            }
        }
    }
}

/* A pointer that callers hand over and whose first extent is learned inside: each caller's memory
 * has its own. */
static bool is_told_twice(const rs_grid_walk *w, int grid)
{
    const rs_grid *g = &w->program->grids.grids[grid];
    if (g->extents[0] != NULL || w->found->outer[grid] == NULL || w->found->outside[grid])
        return false;
    for (int i = 1; i < w->tree->node_count; i++)
        if (w->tree->nodes[i].is == RS_NODE_PARAMETER && w->tree->nodes[i].place == g->name)
            return true;
    return false;
}

/* Extents are computed again at each access: they give what they gave at the declaration. */
static void keep_unsupported_extents(rs_grid_walk *w)
{
    for (int g = 0; g < w->program->grids.count; g++) {
        const rs_grid *grid = &w->program->grids.grids[g];
        bool unsupported = is_told_twice(w, g);
        for (int d = 0; d < grid->rank; d++) {
            const char *extent = d == 0 ? first_extent(w, g) : grid->extents[d];
            size_t at = 0, word, length;
            unsupported = unsupported || (extent != NULL && !rs_extent_is_plain(extent));
            while (extent != NULL && rs_word_next(extent, strlen(extent), &at, &word, &length)) {
                int declaration = rs_extent_resolve(w->tree, extent + word, length, grid->name);
                unsupported = unsupported || declaration < 0 ||
                              !rs_extent_is_settled(w->tree, declaration, grid->name);
            }
        }
        if (unsupported)
            rs_grid_keep_declared(
                &w->context, g, node_at(w->tree, grid->name),
                "the extents of %s are more than numbers and variables of their own");
    }
}

/* Pointers of one class in one function have one first extent; those that are not told it learn it.
 */
static void settle_first_extents(rs_grid_walk *w)
{
    const rs_propagation *found = w->found;
    int *functions = calloc((size_t)found->grid_count + 1, sizeof *functions); /* by grid */
    w->context.no_memory = w->context.no_memory || functions == NULL;
    for (int g = 0; g < found->grid_count && !w->context.no_memory; g++)
        functions[g] = function_at(w->tree, w->program->grids.grids[g].name);
    for (int i = 0; i < found->link_count; i++)
        for (int j = 0; j < found->link_count && !w->context.no_memory; j++) {
            int to = found->links[i].grid, from = found->links[j].grid;
            const char *extent = first_extent(w, from);
            if (to == from || extent == NULL ||
                rs_grid_class(found, found->links[i].class) !=
                    rs_grid_class(found, found->links[j].class))
                continue;
            if (functions[to] != functions[from])
                continue;
            char name[64], other[64];
            if (first_extent(w, to) == NULL)
                w->context.no_memory = (found->outer[to] = strdup(extent)) == NULL;
            else if (!rs_extent_same(extent, first_extent(w, to)))
                rs_class_keep(&w->context, found->links[i].class, functions[to],
                              "%s and %s have different first extents",
                              rs_grid_name(w->program, to, name),
                              rs_grid_name(w->program, from, other));
        }
    free(functions);
}

void rs_grid_judge_declarations(rs_grid_walk *w)
{
    keep_unfollowed(w);
    join_declarations(w);
    keep_misread(w);
    keep_in_pragmas(w);
    keep_by_types(w);
}

void rs_grid_judge_extents(rs_grid_walk *w)
{
    settle_first_extents(w);
    keep_unsupported_extents(w);
}
