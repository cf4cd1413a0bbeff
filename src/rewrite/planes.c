/* Splits indexes into arrays of members: see planes.h. */
#include "rewrite/planes.h"

#include "rewrite/way.h"

#include "source/query.h"

#include <ctype.h>
#include <string.h>

/* Whether the bytes of a node are a text, white space aside. */
static bool has_text(const rs_tree *tree, int node, const char *text)
{
    const rs_node *n = &tree->nodes[node];
    size_t at = n->begin;
    for (;;) {
        while (at < n->end && isspace((unsigned char)tree->text[at]))
            at++;
        while (isspace((unsigned char)*text))
            text++;
        if (at == n->end || *text == '\0')
            return at == n->end && *text == '\0';
        if (tree->text[at++] != *text++)
            return false;
    }
}

/* OpenCL's questions about the work-items answer the same each time. */
static bool asks_for_size(const rs_tree *tree, int call)
{
    const char *name = tree->nodes[call].name;
    return strncmp(name, "get_", 4) == 0 && !rs_is_user_function(tree, name);
}

/* Whether an expression may be computed once more, or once less, than it is written. */
static bool can_be_repeated(const rs_tree *tree, int node)
{
    static const int kinds[] = {RS_NODE_INTEGER,  RS_NODE_REFERENCE, RS_NODE_PAREN,
                                RS_NODE_IMPLICIT, RS_NODE_CAST,      RS_NODE_TYPE_NAME};
    const rs_node *n = &tree->nodes[node];
    bool good = (n->is == RS_NODE_CALL && asks_for_size(tree, node)) ||
                rs_node_is_binary(tree, node, "+ - * /");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        good = good || n->is == kinds[i];
    for (int child = n->first; good && child >= 0; child = tree->nodes[child].next)
        good = can_be_repeated(tree, child);
    return good;
}

/* The extent as it was written may stand in more brackets than here, or in fewer. */
static bool is_extent(const rs_tree *tree, int node, const char *extent)
{
    if (has_text(tree, node, extent))
        return can_be_repeated(tree, node);
    int inner = rs_node_inner(tree, node);
    return inner >= 0 && inner != node && has_text(tree, inner, extent) &&
           can_be_repeated(tree, inner);
}

typedef struct {
    rs_planes *planes;
    const rs_tree *tree;
    const char *extent;
} splitting;

static void add_term(const splitting *s, int node, long long factor, bool is_plane)
{
    rs_linear *sum = &s->planes->sum;
    if (sum->count == RS_TERM_LIMIT)
        sum->overflow = true;
    else
        sum->terms[sum->count++] = (rs_linear_term){node, factor, is_plane};
}

/* Whether sums and products of the type may be computed in 64 bits. Of 32 bits without a sign only
 * where the result is cut to them. */
static bool is_open(const splitting *s, int node)
{
    const rs_syntax_type *type = rs_type_of(s->tree, node);
    if (type->kind != RS_TYPE_INTEGER)
        return false;
    if (s->planes->narrow)
        return type->size == 4;
    return type->size == 8 || (type->size == 4 && type->is_signed);
}

static bool opens_into(const splitting *s, int outer, int inner)
{
    return is_open(s, outer) && is_open(s, inner) &&
           rs_type_bytes(rs_type_of(s->tree, outer)) >= rs_type_bytes(rs_type_of(s->tree, inner));
}

/* A product with the number of records: the other factor counts planes. */
static bool split_product(const splitting *s, int node, bool negative)
{
    int left = rs_node_child(s->tree, node, 0), right = rs_node_child(s->tree, node, 1);
    bool right_is = is_extent(s->tree, right, s->extent);
    if (!right_is && !is_extent(s->tree, left, s->extent))
        return false;
    s->planes->extent = right_is ? right : left;
    add_term(s, right_is ? left : right, negative ? -1 : 1, true);
    return true;
}

static void split(const splitting *s, int node, bool negative)
{
    const rs_tree *tree = s->tree;
    const rs_node *n = &tree->nodes[node];
    int first = n->first;
    bool single = first >= 0 && tree->nodes[first].next < 0;
    if (is_open(s, node) && is_extent(tree, node, s->extent)) {
        s->planes->extent = node;
        s->planes->planes += negative ? -1 : 1;
        return;
    }
    if (single && (n->is == RS_NODE_PAREN ||
                   (n->is == RS_NODE_IMPLICIT && rs_node_same_bytes(tree, node, first) &&
                    opens_into(s, node, first)))) {
        split(s, first, negative);
        return;
    }
    if (n->is == RS_NODE_BINARY && is_open(s, node) && !rs_node_is_pointer(tree, first)) {
        bool minus = rs_node_is_binary(tree, node, "-");
        if (minus || rs_node_is_binary(tree, node, "+")) {
            split(s, first, negative);
            split(s, tree->nodes[first].next, negative != minus);
            return;
        }
        if (rs_node_is_binary(tree, node, "*") && split_product(s, node, negative))
            return;
    }
    add_term(s, node, negative ? -1 : 1, false);
}

void rs_planes_of_access(rs_planes *planes, const rs_tree *tree, const rs_member_access *access,
                         const char *extent)
{
    *planes = (rs_planes){.extent = -1};
    const splitting s = {planes, tree, extent};
    const rs_syntax_type *type =
        access->index_count == 1 ? rs_type_of(tree, access->index[0]) : &rs_type_none;
    planes->narrow = access->vector_index < 0 && !access->negative[0] &&
                     rs_type_is_unsigned(type) && type->size == 4;
    for (int i = 0; i < access->index_count; i++)
        split(&s, access->index[i], access->negative[i]);
    if (access->vector_index >= 0)
        add_term(&s, access->vector_index, access->block.lanes, false);
}
