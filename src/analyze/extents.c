/* See extents.h. */
#include "analyze/extents.h"

#include "analyze/declared.h"
#include "base/text.h"
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
    while (scope >= 0 && tree->nodes[scope].is == RS_NODE_UNKNOWN_DECLARATION)
        scope = tree->nodes[scope].parent; /* auto [n, m], extern "C" */
    if (scope >= 0 &&
        (tree->nodes[scope].is == RS_NODE_DECLARE || tree->nodes[scope].is == RS_NODE_ENUM))
        scope = tree->nodes[scope].parent;
    if (scope >= 0 && tree->nodes[scope].is == RS_NODE_DECLARE)
        scope = tree->nodes[scope].parent;
    return scope <= 0 || (tree->nodes[scope].begin <= at && at < tree->nodes[scope].end);
}

int rs_extent_resolve(const rs_tree *tree, const char *name, size_t length, size_t at)
{
    int found = -1;
    for (int i = 1; i < tree->node_count && tree->nodes[i].begin < at; i++) {
        int kind = tree->nodes[i].is;
        if (kind != RS_NODE_VARIABLE && kind != RS_NODE_PARAMETER && kind != RS_NODE_ENUMERATOR &&
            kind != RS_NODE_FUNCTION && kind != RS_NODE_TYPEDEF &&
            kind != RS_NODE_UNKNOWN_DECLARATION)
            continue;
        size_t offset = tree->nodes[i].place;
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

bool rs_extent_is_declared_in(const rs_tree *tree, const char *extent, size_t at, size_t begin,
                              size_t end)
{
    size_t from = 0, word, length;
    while (extent != NULL && rs_word_next(extent, strlen(extent), &from, &word, &length)) {
        int declaration = rs_extent_resolve(tree, extent + word, length, at);
        if (declaration >= 0 && tree->nodes[declaration].begin >= begin &&
            tree->nodes[declaration].begin < end)
            return true;
    }
    return false;
}

bool rs_extents_same(const rs_translation_unit *program, const rs_propagation *found, int a, int b)
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

/* Functions that write through an address and forget it. */
static bool forgets_address(const rs_tree *tree, int node)
{
    int call = tree->nodes[node].parent;
    while (call >= 0 && rs_node_inner(tree, call) == node)
        call = tree->nodes[call].parent;
    if (call < 0 || tree->nodes[call].is != RS_NODE_CALL)
        return false;
    const char *name = tree->nodes[call].name;
    return rs_is_among(name, strlen(name), "scanf sscanf fscanf");
}

/* Whether a name stands where its value is read and nothing else: what is written, has its address
 * taken or gets another name is not converted to a value. */
static bool is_read(const rs_tree *tree, int node)
{
    int up = tree->nodes[node].parent;
    while (up >= 0 && tree->nodes[up].is == RS_NODE_PAREN)
        up = tree->nodes[up].parent;
    if (up < 0 || tree->nodes[up].is == RS_NODE_IMPLICIT)
        return up >= 0 && (rs_node_same_bytes(tree, up, node) || rs_node_inner(tree, up) == node);
    switch ((int)tree->nodes[up].is) {
    case RS_NODE_VARIABLE: /* in the type, where extents are */
    case RS_NODE_PARAMETER:
    case RS_NODE_TYPEDEF:
    case RS_NODE_CAST:
        return rs_type_of(tree, up)->kind != RS_TYPE_REFERENCE;
    case RS_NODE_SIZEOF:
        return true;
    default:
        return tree->nodes[up].is == RS_NODE_BINARY && !rs_node_is_assignment(tree, up);
    }
}

/* Whether a loop around a node is one around a byte too. */
static bool shares_loop(const rs_tree *tree, int node, size_t at)
{
    for (int up = tree->nodes[node].parent; up >= 0; up = tree->nodes[up].parent)
        if ((tree->nodes[up].is == RS_NODE_FOR || tree->nodes[up].is == RS_NODE_WHILE ||
             tree->nodes[up].is == RS_NODE_DO) &&
            tree->nodes[up].begin < at && at < tree->nodes[up].end)
            return true;
    return false;
}

/* Whether a name of an extent is used in a way that may change it when the grid is there: a
 * variable that belongs to one call may be written before. */
static bool may_change(const rs_tree *tree, int node, bool lasts, size_t grid)
{
    int up = tree->nodes[node].parent;
    while (up >= 0 && tree->nodes[up].is == RS_NODE_PAREN)
        up = tree->nodes[up].parent;
    if (is_read(tree, node))
        return false;
    bool written = rs_node_is_assignment(tree, up) &&
                   rs_node_inner(tree, rs_node_child(tree, up, 0)) == rs_node_inner(tree, node);
    bool address = rs_node_is_unary(tree, up, "&");
    return lasts || (!written && !(address && forgets_address(tree, up))) ||
           tree->nodes[node].begin > grid || shares_loop(tree, node, grid) ||
           rs_node_is_in(tree, node, RS_NODE_LAMBDA);
}

/* Whether a variable has the same value wherever the grid is; at least as far as is known here. */
bool rs_extent_is_settled(const rs_tree *tree, int declaration, size_t grid)
{
    const rs_syntax_declaration *declared = tree->nodes[declaration].declaration;
    int kind = tree->nodes[declaration].is;
    if (kind != RS_NODE_VARIABLE && kind != RS_NODE_PARAMETER && kind != RS_NODE_ENUMERATOR)
        return false;
    if (kind == RS_NODE_ENUMERATOR || rs_declared_type(declared)->is_const)
        return true;
    if (rs_type_of(tree, declaration)->kind == RS_TYPE_REFERENCE ||
        rs_declared_type(declared)->is_volatile)
        return false;
    bool lasts = rs_variable_lasts(declared);
    for (int i = 1; i < tree->node_count; i++)
        if (tree->nodes[i].is == RS_NODE_REFERENCE && tree->nodes[i].declaration == declared &&
            may_change(tree, i, lasts, grid))
            return false;
    return true;
}
