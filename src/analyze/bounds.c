/* Where loops end: what is at least 0 while they run, in numbers or in elements of an array. */
#include "analyze/changes.h"
#include "source/query.h"

#include <stdlib.h>
#include <string.h>

rs_value rs_walk_evaluate_quietly(rs_walk *walk, int node, bool *loads)
{
    int references = walk->unit->reference_count, order = walk->order;
    rs_value value = rs_walk_evaluate(walk, node);
    for (int i = references; i < walk->unit->reference_count; i++) {
        free(walk->unit->references[i].text);
        free(walk->unit->references[i].member);
    }
    *loads = walk->unit->reference_count > references;
    walk->unit->reference_count = references;
    walk->order = order;
    return value;
}

/*
 * Whether two addresses differ in nothing but how far they are in one row of one array. A pointer
 * that was loaded may be another one in the next iteration.
 */
static bool same_row(const rs_value *a, const rs_value *b)
{
    bool plain = !a->lost && !b->lost && !a->loose && !b->loose && a->count > 0;
    if (!plain || a->array != b->array || a->count != b->count || a->width != b->width ||
        a->path + b->path + a->pointers + b->pointers > 0 || strcmp(a->member, b->member) != 0 ||
        memcmp(a->strides, b->strides, sizeof a->strides) != 0)
        return false;
    for (int i = 0; i + 1 < a->count; i++)
        if (!rs_polynomial_equal(&a->subscripts[i], &b->subscripts[i]))
            return false;
    return true;
}

/* How far it is from one number or address to another. */
static rs_polynomial distance(const rs_value *from, const rs_value *to)
{
    if (from->kind == RS_VALUE_NUMBER && to->kind == RS_VALUE_NUMBER)
        return rs_polynomial_subtract(&to->number, &from->number);
    if (from->kind == RS_VALUE_ADDRESS && to->kind == RS_VALUE_ADDRESS && !from->approximated &&
        !to->approximated && same_row(from, to))
        return rs_polynomial_subtract(&to->subscripts[to->count - 1],
                                      &from->subscripts[from->count - 1]);
    return rs_polynomial_unknown();
}

rs_polynomial rs_walk_bound(rs_walk *walk, int condition, uint64_t key, const rs_value *value)
{
    static const struct {
        const char *symbol;
        int sign;      /* of e - v */
        int64_t extra; /* added to it */
    } forms[] = {{"<", 1, -1}, {"<=", 1, 0}, {"!=", 1, -1}, {">", -1, -1}, {">=", -1, 0}};
    condition = condition < 0 ? -1 : rs_node_inner(walk->tree, condition);
    if (condition < 0 || walk->tree->nodes[condition].is != RS_NODE_BINARY)
        return rs_polynomial_unknown();
    int left = rs_node_child(walk->tree, condition, 0),
        right = rs_node_child(walk->tree, condition, 1);
    if (rs_node_is_binary(walk->tree, condition, "&&")) {
        rs_polynomial first = rs_walk_bound(walk, left, key, value);
        return first.known ? first : rs_walk_bound(walk, right, key, value);
    }
    uint64_t named;
    bool swapped = false;
    if (!rs_variable_key(walk, left, &named) || named != key) {
        swapped = rs_variable_key(walk, right, &named) && named == key;
        if (!swapped)
            return rs_polynomial_unknown();
    }
    bool loaded;
    rs_value end = rs_walk_evaluate_quietly(walk, swapped ? left : right, &loaded);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        if (!rs_node_is_binary(walk->tree, condition, forms[i].symbol) || end.approximated)
            continue;
        bool up = (forms[i].sign > 0) != swapped;
        rs_polynomial room = up ? distance(value, &end) : distance(&end, value);
        rs_polynomial extra = rs_polynomial_constant(forms[i].extra);
        return rs_polynomial_add(&room, &extra);
    }
    return rs_polynomial_unknown();
}
