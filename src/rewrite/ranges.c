/*
 * Ranges of integer expressions. A loop's variable is known inside the body of
 *
 *     for (k = a; k < b; k += c)
 *
 * when nothing else changes it and nothing jumps into the body: it starts at a, each round begins
 * with k < b, and c > 0 cannot take it beyond its type, so a <= k < b.
 */
#include "rewrite/ranges.h"

#include "rewrite/launch_limits.h"
#include "source/query.h"

#include <string.h>

enum { STEP_LIMIT = 400, DEPTH_LIMIT = 40 };

/* Beyond this nothing is known, so that sums of two do not overflow. */
static const long long limit = 1LL << 61;

static const rs_value_range unknown = {false, 0, 0};

typedef struct {
    rs_locals *locals;
    const rs_tree *tree;
    int steps_left; /* expressions that are still looked at */
    int depth;
} search;

static rs_value_range find(search *s, int node);

/* ---- intervals ---- */

static rs_value_range between(long long low, long long high)
{
    return low < -limit || high > limit || low > high ? unknown : (rs_value_range){true, low, high};
}

static long long smaller(long long a, long long b)
{
    return a < b ? a : b;
}

static long long larger(long long a, long long b)
{
    return a > b ? a : b;
}

static bool is_integer(const rs_syntax_type *type)
{
    return rs_type_is_integer(type) && type->size <= 8;
}

/* All values of a type, when they are few enough. */
static rs_value_range of_type(const rs_syntax_type *type)
{
    long long size = rs_type_bytes(type);
    if (!is_integer(type) || size < 1 || size > 4)
        return unknown;
    if (type->kind == RS_TYPE_BOOL)
        return between(0, 1);
    long long count = 1LL << (8 * size);
    return rs_type_is_unsigned(type) ? between(0, count - 1) : between(-count / 2, count / 2 - 1);
}

/* What becomes of a value in a type: itself where it fits, else any value of the type. */
static rs_value_range as_type(rs_value_range range, const rs_syntax_type *type)
{
    rs_value_range all = of_type(type);
    if (!is_integer(type) || !range.is_known)
        return all;
    bool fits = all.is_known ? range.low >= all.low && range.high <= all.high
                             : !rs_type_is_unsigned(type) || range.low >= 0;
    return fits ? range : all;
}

static bool multiply(long long a, long long b, long long *product)
{
    long long size_a = a < 0 ? -a : a, size_b = b < 0 ? -b : b;
    *product = 0;
    if (a == 0 || b == 0)
        return true;
    if (size_a > limit / size_b)
        return false;
    *product = a * b;
    return true;
}

static rs_value_range product(rs_value_range a, rs_value_range b)
{
    long long p[4];
    if (!multiply(a.low, b.low, &p[0]) || !multiply(a.low, b.high, &p[1]) ||
        !multiply(a.high, b.low, &p[2]) || !multiply(a.high, b.high, &p[3]))
        return unknown;
    return between(smaller(smaller(p[0], p[1]), smaller(p[2], p[3])),
                   larger(larger(p[0], p[1]), larger(p[2], p[3])));
}

static rs_value_range remainder_of(rs_value_range a, bool a_unsigned, rs_value_range b)
{
    if (!b.is_known || b.low < 1)
        return unknown;
    if (a.is_known && a.low >= 0)
        return between(0, smaller(a.high, b.high - 1));
    return between(a_unsigned ? 0 : 1 - b.high, b.high - 1);
}

/* A mask without a sign leaves at most its own bits. */
static rs_value_range masked(rs_value_range a, rs_value_range b)
{
    bool by_a = a.is_known && a.low >= 0, by_b = b.is_known && b.low >= 0;
    if (by_a && by_b)
        return between(0, smaller(a.high, b.high));
    return by_a ? between(0, a.high) : by_b ? between(0, b.high) : unknown;
}

static rs_value_range shifted_right(rs_value_range a, rs_value_range b)
{
    if (!a.is_known || !b.is_known || a.low < 0 || b.low < 0 || b.high > 31)
        return unknown;
    return between(a.low >> b.high, a.high >> b.low);
}

static rs_value_range joined(rs_value_range a, rs_value_range b)
{
    return a.is_known && b.is_known ? between(smaller(a.low, b.low), larger(a.high, b.high))
                                    : unknown;
}

/* ---- loops ---- */

static bool assigns(const rs_local *local, int node)
{
    for (int i = 0; i < local->write_count; i++)
        if (local->writes[i] == node)
            return true;
    return false;
}

/* The value that a loop's first part gives the variable; -1 when it does not. */
static int start_of(const rs_tree *tree, const rs_local *local, int first)
{
    if (tree->nodes[first].is == RS_NODE_DECLARE)
        return tree->nodes[local->node].parent == first ? rs_local_initial(tree, local) : -1;
    return assigns(local, first) && rs_node_is_binary(tree, first, "=")
               ? rs_node_child(tree, first, 1)
               : -1;
}

/* What a loop's last part adds to the variable. */
static rs_value_range step_of(search *s, const rs_local *local, int last)
{
    if (!assigns(local, last))
        return unknown;
    if (rs_node_is_unary(s->tree, last, "++"))
        return between(1, 1);
    return rs_node_is_binary(s->tree, last, "+=") ? find(s, rs_node_child(s->tree, last, 1))
                                                  : unknown;
}

/* Whether a node is the variable, converted at most. */
static bool is_variable(search *s, const rs_local *local, int node)
{
    int inner = rs_node_inner(s->tree, node);
    return inner >= 0 && rs_locals_mentioned(s->locals, inner) == local;
}

/*
 * What the variable, which is never below `low`, is at most where a condition holds. The comparison
 * has to keep its value: an unsigned one would take a negative value for a large one.
 */
static rs_value_range most_where(search *s, const rs_local *local, int condition, long long low)
{
    static const struct {
        const char *symbol;
        bool variable_right;
        int beyond;
    } forms[] = {{"<", false, 1}, {"<=", false, 0}, {">", true, 1}, {">=", true, 0}};
    const rs_tree *tree = s->tree;
    int node = rs_node_inner(tree, condition);
    if (node < 0 || tree->nodes[node].is != RS_NODE_BINARY)
        return unknown;
    int left = rs_node_child(tree, node, 0), right = rs_node_child(tree, node, 1);
    if (rs_node_is_binary(tree, node, "&&")) {
        rs_value_range a = most_where(s, local, left, low), b = most_where(s, local, right, low);
        return !b.is_known || (a.is_known && a.high < b.high) ? a : b;
    }
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        int variable = forms[i].variable_right ? right : left;
        int other = forms[i].variable_right ? left : right;
        if (!rs_node_is_binary(tree, node, forms[i].symbol) || !is_variable(s, local, variable))
            continue;
        const rs_syntax_type *type = rs_type_of(tree, variable);
        rs_value_range most = find(s, other);
        if (!most.is_known || !is_integer(type) || (rs_type_is_unsigned(type) && low < 0))
            return unknown;
        return between(-limit, most.high - forms[i].beyond);
    }
    return unknown;
}

/* Whether something may jump into a body without the loop's condition. */
static bool is_entered_elsewhere(const rs_tree *tree, int body)
{
    int behind = rs_node_behind(tree, body);
    for (int n = body; n < behind; n++) {
        int kind = tree->nodes[n].is;
        if (kind == RS_NODE_LABEL)
            return true;
        if (kind != RS_NODE_CASE && kind != RS_NODE_DEFAULT)
            continue;
        int up = tree->nodes[n].parent;
        while (up >= body && tree->nodes[up].is != RS_NODE_SWITCH)
            up = tree->nodes[up].parent;
        if (up < body)
            return true;
    }
    return false;
}

/* No assignment in the loop but those of its first and last part. */
static bool counts_only(const rs_tree *tree, const rs_local *local, int loop, int first, int last)
{
    int behind = rs_node_behind(tree, loop);
    for (int i = 0; i < local->write_count; i++) {
        int write = local->writes[i];
        if (write > loop && write < behind && write != first && write != last)
            return false;
    }
    return true;
}

/* The range of a variable in the body of a loop; unknown when the loop does not count it. */
static rs_value_range in_loop(search *s, const rs_local *local, int loop, int body)
{
    const rs_tree *tree = s->tree;
    int first = tree->nodes[loop].first, condition = rs_node_child(tree, loop, 1),
        last = rs_node_child(tree, loop, 2);
    if (rs_node_child(tree, loop, 3) != body || tree->nodes[body].next >= 0)
        return unknown; /* a part is missing */
    int start = start_of(tree, local, first);
    rs_value_range step = step_of(s, local, last);
    if (start < 0 || !step.is_known || step.low < 1 ||
        !counts_only(tree, local, loop, first, last) || is_entered_elsewhere(tree, body))
        return unknown;
    const rs_syntax_type *type = rs_type_of(tree, local->node);
    rs_value_range from = find(s, start), all = of_type(type);
    if (!from.is_known)
        return unknown;
    rs_value_range most = most_where(s, local, condition, from.low);
    if (!most.is_known || most.high > limit - step.high ||
        (all.is_known && most.high + step.high > all.high))
        return unknown;
    return between(from.low, larger(from.low, most.high));
}

static rs_value_range of_variable(search *s, int mention)
{
    const rs_tree *tree = s->tree;
    const rs_local *local = rs_locals_mentioned(s->locals, mention);
    if (local == NULL)
        return unknown;
    int initial = rs_local_initial(tree, local);
    if (local->write_count == 0)
        return initial < 0 ? unknown : find(s, initial);
    int scope = tree->nodes[tree->nodes[local->node].parent].parent;
    for (int node = mention; node > scope; node = tree->nodes[node].parent) {
        int up = tree->nodes[node].parent;
        if (tree->nodes[up].is != RS_NODE_FOR)
            continue;
        rs_value_range range = in_loop(s, local, up, node);
        if (range.is_known)
            return range;
    }
    return unknown;
}

/* ---- expressions ---- */

static rs_value_range of_operator(search *s, int node)
{
    const rs_tree *tree = s->tree;
    int left = rs_node_child(tree, node, 0), right = rs_node_child(tree, node, 1);
    if (right < 0 || rs_node_is_pointer(tree, left) || rs_node_is_pointer(tree, right))
        return unknown;
    rs_value_range a = find(s, left), b = find(s, right);
    bool both = a.is_known && b.is_known;
    if (rs_node_is_binary(tree, node, "%"))
        return remainder_of(a, rs_type_is_unsigned(rs_type_of(tree, left)), b);
    if (rs_node_is_binary(tree, node, "&"))
        return masked(a, b);
    if (rs_node_is_binary(tree, node, ">>"))
        return shifted_right(a, b);
    if (both && rs_node_is_binary(tree, node, "+"))
        return between(a.low + b.low, a.high + b.high);
    if (both && rs_node_is_binary(tree, node, "-"))
        return between(a.low - b.high, a.high - b.low);
    if (both && rs_node_is_binary(tree, node, "*"))
        return product(a, b);
    if (both && rs_node_is_binary(tree, node, "/") && a.low >= 0 && b.low >= 1)
        return between(a.low / b.high, a.high / b.low);
    return unknown;
}

/* Functions of OpenCL C. */
static rs_value_range of_call(search *s, int node)
{
    static const struct {
        const char *name;
        long long most;
    } counts[] = {{"get_global_id", RS_MOST_WORK_ITEMS}, {"get_global_size", RS_MOST_WORK_ITEMS},
                  {"get_group_id", RS_MOST_WORK_ITEMS},  {"get_num_groups", RS_MOST_WORK_ITEMS},
                  {"get_local_id", RS_MOST_IN_A_GROUP},  {"get_local_size", RS_MOST_IN_A_GROUP}};
    const rs_tree *tree = s->tree;
    if (rs_model_function(s->locals->model, tree->nodes[node].declaration) >= 0)
        return unknown;
    const char *name = tree->nodes[node].name;
    long long most = -1;
    bool is_min = strcmp(name, "min") == 0, is_max = strcmp(name, "max") == 0;
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (strcmp(name, counts[i].name) == 0)
            most = counts[i].most;
    int left = rs_node_child(tree, node, 1), right = rs_node_child(tree, node, 2);
    if (most >= 0)
        return between(0, most);
    if ((!is_min && !is_max) || right < 0)
        return unknown;
    rs_value_range a = find(s, left), b = find(s, right);
    if (!a.is_known || !b.is_known)
        return unknown;
    return is_min ? between(smaller(a.low, b.low), smaller(a.high, b.high))
                  : between(larger(a.low, b.low), larger(a.high, b.high));
}

static rs_value_range of_kind(search *s, int node)
{
    const rs_tree *tree = s->tree;
    const rs_node *n = &tree->nodes[node];
    int count = rs_node_child_count(tree, node);
    switch (n->is) {
    case RS_NODE_PAREN:
        return count == 1 ? find(s, n->first) : unknown;
    case RS_NODE_IMPLICIT:
        return count == 1 && rs_node_same_bytes(tree, node, n->first) ? find(s, n->first) : unknown;
    case RS_NODE_CAST:
        return count > 0 ? find(s, rs_node_child(tree, node, count - 1)) : unknown;
    case RS_NODE_REFERENCE:
        return of_variable(s, node);
    case RS_NODE_BINARY:
        return of_operator(s, node);
    case RS_NODE_CONDITIONAL:
        return count == 3 ? joined(find(s, rs_node_child(tree, node, 1)),
                                   find(s, rs_node_child(tree, node, 2)))
                          : unknown;
    case RS_NODE_CALL:
        return of_call(s, node);
    default:
        return unknown;
    }
}

static rs_value_range find(search *s, int node)
{
    if (node < 0)
        return unknown;
    const rs_syntax_type *type = rs_type_of(s->tree, node);
    long long value;
    if (s->steps_left <= 0 || s->depth >= DEPTH_LIMIT || !is_integer(type))
        return of_type(type);
    if (rs_constant_value(s->tree, node, &value))
        return as_type(between(value, value), type);
    s->steps_left--;
    s->depth++;
    rs_value_range range = as_type(of_kind(s, node), type);
    s->depth--;
    return range;
}

static rs_value_range range_of_node(rs_locals *locals, int node)
{
    search s = {locals, locals->model->tree, STEP_LIMIT, 0};
    return find(&s, node);
}

/* ---- indexes ---- */

/* The sum of the terms that count records, or of those that count members. */
static rs_value_range sum_of_terms(rs_locals *locals, const rs_linear *sum, bool records)
{
    rs_value_range total = between(0, 0);
    for (int i = 0; i < sum->count && total.is_known; i++) {
        const rs_linear_term *term = &sum->terms[i];
        if (term->counts_records != records)
            continue;
        rs_value_range value = range_of_node(locals, term->node);
        if (value.is_known)
            value = product(value, between(term->factor, term->factor));
        total = value.is_known ? between(total.low + value.low, total.high + value.high) : unknown;
    }
    return total;
}

static long long rounded_down(long long value, long long divisor)
{
    return value / divisor - (value % divisor < 0);
}

bool rs_range_proves_member(rs_locals *locals, const rs_linear *sum, size_t length,
                            long long *carried)
{
    long long size = (long long)length;
    rs_value_range members = sum_of_terms(locals, sum, false);
    if (!members.is_known)
        return false;
    *carried = rounded_down(sum->constant + members.low, size);
    if (sum->constant + members.high - *carried * size >= size)
        return false;
    if (!sum->can_wrap)
        return true;
    rs_value_range records = sum_of_terms(locals, sum, true);
    return records.is_known && product(records, between(size, size)).is_known;
}
