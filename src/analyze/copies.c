/* See copies.h. */
#include "analyze/copies.h"

#include "analyze/extents.h"
#include "source/query.h"
#include "source/words.h"

#include <stdlib.h>
#include <string.h>

/* What a size says: the text of an expression, and the parts of grids that sizeof asks for. */
typedef struct {
    const rs_program *program;
    const rs_propagation *found;
    int node;
} size_text;

/* The initializer of a variable that is a size, or the size itself. */
static int expand(const rs_tree *tree, int node)
{
    int inner = rs_node_inner(tree, node);
    if (inner < 0 || tree->nodes[inner].kind != CXCursor_DeclRefExpr)
        return node;
    CXCursor declared = clang_getCursorReferenced(tree->nodes[inner].cursor);
    for (int i = 1; i < node; i++)
        if (tree->nodes[i].kind == CXCursor_VarDecl &&
            clang_equalCursors(tree->nodes[i].cursor, declared) != 0)
            return rs_node_initializer(tree, i) >= 0 ? rs_node_initializer(tree, i) : node;
    return node;
}

static int count_word(const char *text, size_t begin, size_t end, const char *name, size_t length)
{
    size_t at = begin, word, found;
    int count = 0;
    while (rs_word_next(text, end, &at, &word, &found))
        count += found == length && memcmp(text + word, name, length) == 0;
    return count;
}

/* How often a name stands in a size, or in the extents that sizeof of a part has there. */
static int count_mentions(const size_text *size, const char *name, size_t length)
{
    const rs_tree *tree = &size->program->tree;
    const rs_node *node = &tree->nodes[size->node];
    int count = count_word(tree->text, node->begin, node->end, name, length);
    for (int i = 0; i < size->found->measure_count; i++) {
        const rs_grid_measure *measure = &size->found->measures[i];
        const rs_grid *grid = &size->program->grids.grids[measure->grid];
        size_t begin = tree->nodes[measure->node].begin;
        for (int d = measure->depth; node->begin <= begin && begin < node->end && d < grid->rank;
             d++)
            count += count_word(grid->extents[d], 0, strlen(grid->extents[d]), name, length);
    }
    return count;
}

static const char *extent_of(const rs_grid *grid, int d, const char *first)
{
    return d == 0 ? first : grid->extents[d];
}

/* Whether all names of an extent are in a size as often as in all extents; *named: there is one. */
static bool has_extent(const size_text *size, const rs_grid *grid, const char *first, int which,
                       bool *named)
{
    const char *extent = extent_of(grid, which, first);
    size_t at = 0, word, length;
    bool all = true;
    *named = false;
    while (extent != NULL && rs_word_next(extent, strlen(extent), &at, &word, &length)) {
        int wanted = 0;
        for (int d = 0; d < grid->rank; d++) {
            const char *other = extent_of(grid, d, first);
            wanted +=
                other == NULL ? 0 : count_word(other, 0, strlen(other), extent + word, length);
        }
        *named = true;
        all = all && count_mentions(size, extent + word, length) >= wanted;
    }
    return all;
}

/* Whether a size has operators that make it less than a product, and no extent has them. */
static bool has_less(const size_text *size, const rs_grid *grid)
{
    static const char less[] = "-/%?<";
    const rs_node *node = &size->program->tree.nodes[size->node];
    for (int d = 0; d < grid->rank; d++)
        if (grid->extents[d] != NULL && strpbrk(grid->extents[d], less) != NULL)
            return false;
    for (size_t i = node->begin; i < node->end; i++)
        if (strchr(less, size->program->tree.text[i]) != NULL)
            return true;
    return false;
}

static bool names_variable(const size_text *size)
{
    const rs_tree *tree = &size->program->tree;
    for (int i = size->node;
         i < tree->node_count && (i == size->node || tree->nodes[i].parent >= size->node); i++)
        if (tree->nodes[i].kind == CXCursor_DeclRefExpr)
            return true;
    return false;
}

/* Whether a size is that of a part of a grid, as far as its text tells: one that names no extent
 * and has a variable may be anything. */
static bool is_part(const size_text *size, const rs_grid *grid, const char *first)
{
    bool whole = true, some = false, any = false;
    for (int d = 0; d < grid->rank; d++) {
        bool named;
        whole = has_extent(size, grid, first, d, &named) && whole;
        any = any || named;
        const char *extent = extent_of(grid, d, first);
        size_t at = 0, word, length;
        while (extent != NULL && rs_word_next(extent, strlen(extent), &at, &word, &length))
            some = some || count_mentions(size, extent + word, length) > 0;
    }
    return some ? !whole || has_less(size, grid) : any && !names_variable(size);
}

restride_status rs_copies_check(rs_propagation *found, const rs_program *program,
                                char *const *layouts)
{
    for (int i = 0; i < found->copy_count; i++) {
        const rs_grid_copy *copy = &found->copies[i];
        int class = rs_grid_class(found, copy->class);
        const rs_grid *grid = &program->grids.grids[copy->grid];
        const char *told = grid->extents[0];
        const size_text size = {program, found, expand(&program->tree, copy->size)};
        rs_note *reason = &found->kept[class];
        if (layouts[class] == NULL || reason->sentence != NULL ||
            !is_part(&size, grid, told != NULL ? told : found->outer[copy->grid]))
            continue;
        const char *file;
        size_t line;
        rs_flat_locate(&program->flat, program->tree.nodes[copy->size].begin, &file, &line);
        *reason = (rs_note){strdup(file), (int)line,
                            strdup("a part of the grid is copied or filled; its first bytes are "
                                   "other elements in a layout")};
        if (reason->file == NULL || reason->sentence == NULL)
            return rs_fail_memory("a reason");
    }
    return RESTRIDE_OK;
}
