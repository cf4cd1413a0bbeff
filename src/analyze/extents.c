/* See extents.h. */
#include "analyze/extents.h"

#include "source/query.h"
#include "source/words.h"

#include <string.h>

bool rs_extent_same(const char *a, const char *b)
{
    return a == NULL || b == NULL || strcmp(a, b) == 0;
}

/* The bytes in which a declared name is seen. */
static bool is_seen(const rs_tree *tree, int declaration, size_t at)
{
    int scope = tree->nodes[declaration].parent;
    if (scope >= 0 && (tree->nodes[scope].kind == CXCursor_DeclStmt ||
                       tree->nodes[scope].kind == CXCursor_EnumDecl))
        scope = tree->nodes[scope].parent;
    if (scope >= 0 && tree->nodes[scope].kind == CXCursor_DeclStmt)
        scope = tree->nodes[scope].parent;
    return scope <= 0 || (tree->nodes[scope].begin <= at && at < tree->nodes[scope].end);
}

int rs_extent_resolve(const rs_tree *tree, const char *name, size_t length, size_t at)
{
    int found = -1;
    for (int i = 1; i < tree->node_count && tree->nodes[i].begin < at; i++) {
        enum CXCursorKind kind = tree->nodes[i].kind;
        if (kind != CXCursor_VarDecl && kind != CXCursor_ParmDecl &&
            kind != CXCursor_EnumConstantDecl)
            continue;
        size_t offset = rs_cursor_offset(tree->nodes[i].cursor);
        if (offset + length < tree->size && rs_identifier_length(tree->text + offset) == length &&
            memcmp(tree->text + offset, name, length) == 0 && is_seen(tree, i, at))
            found = i;
    }
    return found;
}

bool rs_extent_means_same(const rs_tree *tree, const char *extent, size_t here, size_t there)
{
    size_t at = 0, word, length;
    while (extent != NULL && rs_word_next(extent, strlen(extent), &at, &word, &length))
        if (rs_extent_resolve(tree, extent + word, length, here) !=
            rs_extent_resolve(tree, extent + word, length, there))
            return false;
    return true;
}

bool rs_extents_same(const rs_program *program, const rs_propagation *found, int a, int b)
{
    const rs_grid *one = &program->grids.grids[a], *other = &program->grids.grids[b];
    bool same =
        one->rank == other->rank && one->flat == other->flat && found->sizes[a] == found->sizes[b];
    for (int d = 0; same && d < one->rank; d++)
        same = rs_extent_same(one->extents[d], other->extents[d]) &&
               (one->extents[d] == NULL || other->extents[d] == NULL ||
                rs_extent_means_same(&program->tree, one->extents[d], one->name, other->name));
    return same;
}

/* A bracket behind a name calls it. */
bool rs_extent_is_plain(const char *extent)
{
    size_t length = strlen(extent);
    for (size_t at = 0; at < length; at++) {
        size_t word = rs_identifier_length(extent + at);
        if (word > 0 && extent[at + word] == '(')
            return false;
        if (word == 0 && strchr("0123456789+-*/%()", extent[at]) == NULL)
            return false;
        at += word > 0 ? word - 1 : 0;
    }
    return strstr(extent, "++") == NULL && strstr(extent, "--") == NULL;
}
