/* Splits index expressions into whole records and single members. */
#include "rewrite/linear.h"

#include "source/query.h"

#include <limits.h>

/*
 * Whether sums and products of this type may be taken apart and computed in 64 bits: signed ones do
 * not overflow in C, and those of 64 bits wrap as the address does. An unsigned type of 32 bits
 * wraps earlier.
 */
static bool is_open(const rs_tree *tree, int node)
{
    const rs_syntax_type *type = rs_type_of(tree, node);
    return type->kind == RS_TYPE_INTEGER &&
           (type->size == 8 || (type->size == 4 && type->is_signed));
}

/* Whether a value keeps its meaning when it is converted as the tree says; sign extension does. */
static bool converts_openly(const rs_tree *tree, int outer, int inner)
{
    long long wide = rs_type_bytes(rs_type_of(tree, outer));
    long long narrow = rs_type_bytes(rs_type_of(tree, inner));
    return is_open(tree, outer) && is_open(tree, inner) && wide >= narrow;
}

/* The expression inside brackets and conversions, implicit or written, that keep its meaning. */
static int open_inner(const rs_tree *tree, int node)
{
    for (;;) {
        const rs_node *n = &tree->nodes[node];
        int last = rs_node_child(tree, node, rs_node_child_count(tree, node) - 1);
        bool implicit = n->is == RS_NODE_IMPLICIT && n->first == last && last >= 0 &&
                        rs_node_same_bytes(tree, node, last) && converts_openly(tree, node, last);
        bool written = n->is == RS_NODE_CAST && last >= 0 && converts_openly(tree, node, last);
        if (!implicit && !written && (n->is != RS_NODE_PAREN || last < 0))
            return node;
        node = last;
    }
}

/* Whether an expression only computes: the compiler gives a value to some that do more. */
static bool only_computes(const rs_tree *tree, int node)
{
    static const int kinds[] = {
        RS_NODE_INTEGER, RS_NODE_CHARACTER, RS_NODE_REFERENCE, RS_NODE_PAREN, RS_NODE_IMPLICIT,
        RS_NODE_UNARY,   RS_NODE_BINARY,    RS_NODE_SIZEOF,    RS_NODE_CAST,  RS_NODE_TYPE_NAME};
    bool known = false;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        known = known || tree->nodes[node].is == kinds[i];
    if (tree->nodes[node].is == RS_NODE_BINARY)
        known = !rs_node_is_binary(tree, node, "= ,");
    for (int child = tree->nodes[node].first; known && child >= 0; child = tree->nodes[child].next)
        known = only_computes(tree, child);
    return known;
}

bool rs_constant_value(const rs_tree *tree, int node, long long *value)
{
    return only_computes(tree, node) && rs_tree_evaluate_bits(tree, node, value) &&
           *value > INT_MIN && *value < INT_MAX;
}

static void add_term(rs_linear *sum, int node, long long factor, bool counts_records)
{
    if (sum->count == RS_TERM_LIMIT)
        sum->overflow = true;
    else
        sum->terms[sum->count++] = (rs_linear_term){node, factor, counts_records};
}

/* A product with a constant that is a multiple of the record's length counts records. */
static bool add_product(rs_linear *sum, const rs_tree *tree, int node, bool negative, size_t length)
{
    int left = rs_node_child(tree, node, 0), right = rs_node_child(tree, node, 1);
    long long factor;
    int other = left;
    if (!rs_constant_value(tree, right, &factor)) {
        if (!rs_constant_value(tree, left, &factor))
            return false;
        other = right;
    }
    if (factor % (long long)length != 0)
        return false;
    factor /= (long long)length;
    add_term(sum, open_inner(tree, other), negative ? -factor : factor, true);
    return true;
}

/* Adds an index expression, or subtracts it. Every part of it ends up in exactly one term. */
static void add_linear(rs_linear *sum, const rs_tree *tree, int node, bool negative, size_t length)
{
    long long value;
    if (sum->overflow)
        return;
    node = open_inner(tree, node);
    const rs_node *n = &tree->nodes[node];
    int first = n->first;
    if (is_open(tree, node) && rs_constant_value(tree, node, &value)) {
        sum->constant += negative ? -value : value;
        return;
    }
    bool pointers = first >= 0 && rs_node_is_pointer(tree, first); /* their difference */
    if (n->is == RS_NODE_BINARY && is_open(tree, node) && !pointers) {
        bool minus = rs_node_is_binary(tree, node, "-");
        sum->can_wrap = sum->can_wrap || rs_type_is_unsigned(rs_type_of(tree, node));
        if (minus || rs_node_is_binary(tree, node, "+")) {
            add_linear(sum, tree, first, negative, length);
            add_linear(sum, tree, tree->nodes[first].next, negative != minus, length);
            return;
        }
        if (rs_node_is_binary(tree, node, "*") && add_product(sum, tree, node, negative, length))
            return;
    }
    add_term(sum, node, negative ? -1 : 1, false);
}

/* The number of a vector of `lanes` members: records where they are a whole number of vectors. */
static void add_vectors(rs_linear *sum, const rs_tree *tree, int node, int lanes, size_t length)
{
    rs_linear vectors = {.count = 0};
    bool whole = length % (size_t)lanes == 0 && length > (size_t)lanes;
    add_linear(&vectors, tree, node, false, whole ? length / (size_t)lanes : INT_MAX);
    sum->overflow = sum->overflow || vectors.overflow;
    sum->can_wrap = true; /* the number of a vector is without a sign */
    sum->constant += vectors.constant * lanes;
    for (int i = 0; i < vectors.count; i++) {
        const rs_linear_term *term = &vectors.terms[i];
        add_term(sum, term->node, term->counts_records ? term->factor : term->factor * lanes,
                 term->counts_records);
    }
}

void rs_linear_of_access(rs_linear *sum, const rs_tree *tree, const rs_member_access *access,
                         size_t length)
{
    *sum = (rs_linear){.count = 0};
    for (int i = 0; i < access->index_count; i++)
        add_linear(sum, tree, access->index[i], access->negative[i], length);
    if (access->vector_index >= 0)
        add_vectors(sum, tree, access->vector_index, access->block.lanes, length);
}
