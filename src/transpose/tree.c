/* Pieces, regions and trees of two layouts; see tree.h. */
#include "transpose/tree.h"
#include "transpose/levels.h"

#include <string.h>

enum { MOST_REGIONS = 4096, MOST_TERMS = 256 };

/* What both layouts do to one dimension. */
typedef struct {
    rs_levels levels;
    size_t suffix_levels; /* the lowest levels, which the leaves contain */
    size_t piece_count[2];
    const rs_interval *pieces[2];
} dimension;

typedef struct {
    int dimension;
    size_t level;
} level_term;

typedef struct {
    size_t count;
    level_term terms[MOST_TERMS];
} term_list;

typedef struct {
    rs_arena *arena;
    const rs_planned_layout *forms[2];
    dimension dimensions[RS_LAYOUT_MAX_RANK];
    term_list lists[2];
    size_t leaves;
    rs_trees_result result;
    int fault;
} maker;

/* ---- levels ---- */

static void find_levels(maker *m)
{
    for (int d = 0; d < m->forms[0]->rank; d++) {
        dimension *dim = &m->dimensions[d];
        rs_levels_add(&dim->levels, 1);
        for (int side = 0; side < 2; side++)
            for (int t = 0; t < m->forms[side]->term_count; t++)
                if (m->forms[side]->terms[t].dimension == d)
                    rs_levels_add(&dim->levels, m->forms[side]->terms[t].divisor);
        if (!rs_levels_nested(&dim->levels)) {
            m->result = RS_TREES_NOT_NESTED;
            m->fault = d;
            return;
        }
    }
}

/* Each term of a layout as the levels that it covers, the highest first. */
static void split_terms(maker *m, int side)
{
    const rs_planned_layout *form = m->forms[side];
    term_list *list = &m->lists[side];
    for (int t = 0; t < form->term_count; t++) {
        const rs_term *term = &form->terms[t];
        const dimension *d = &m->dimensions[term->dimension];
        for (size_t level = d->levels.count; level-- > 0;) {
            bool above =
                term->modulus != 0 && d->levels.sizes[level] / term->divisor >= term->modulus;
            if (d->levels.sizes[level] < term->divisor || above)
                continue;
            if (list->count == MOST_TERMS) {
                m->result = RS_TREES_TOO_MANY;
                return;
            }
            list->terms[list->count++] = (level_term){term->dimension, level};
        }
    }
}

static size_t find_term(const term_list *list, int d, size_t level)
{
    for (size_t t = 0; t < list->count; t++)
        if (list->terms[t].dimension == d && list->terms[t].level == level)
            return t;
    return list->count;
}

static bool directly_above(const term_list *list, int d, size_t level)
{
    size_t t = find_term(list, d, level);
    return t + 1 < list->count && list->terms[t + 1].dimension == d &&
           list->terms[t + 1].level == level - 1;
}

static void drop_term(term_list *list, int d, size_t level)
{
    size_t t = find_term(list, d, level);
    memmove(list->terms + t, list->terms + t + 1, (list->count - 1 - t) * sizeof *list->terms);
    list->count--;
    for (t = 0; t < list->count; t++)
        list->terms[t].level -= list->terms[t].dimension == d && list->terms[t].level > level;
}

/* A level that lies directly above the next lower one in both layouts needs no cut. */
static void merge_levels(maker *m)
{
    for (int d = 0; d < m->forms[0]->rank; d++) {
        dimension *dim = &m->dimensions[d];
        for (size_t level = dim->levels.count; level-- > 1;) {
            if (!directly_above(&m->lists[0], d, level) || !directly_above(&m->lists[1], d, level))
                continue;
            drop_term(&m->lists[0], d, level);
            drop_term(&m->lists[1], d, level);
            memmove(dim->levels.sizes + level, dim->levels.sizes + level + 1,
                    (dim->levels.count - 1 - level) * sizeof *dim->levels.sizes);
            dim->levels.count--;
        }
    }
}

/* What both layouts end with goes into the leaves. */
static void cut_suffix(maker *m)
{
    term_list *a = &m->lists[0];
    term_list *b = &m->lists[1];
    while (a->count > 0 && b->count > 0) {
        const level_term *x = &a->terms[a->count - 1];
        const level_term *y = &b->terms[b->count - 1];
        int d = x->dimension;
        if (d != y->dimension || x->level != y->level ||
            m->forms[0]->extents[d] != m->forms[1]->extents[d] ||
            x->level != m->dimensions[d].suffix_levels)
            return;
        m->dimensions[d].suffix_levels++;
        a->count--;
        b->count--;
    }
}

/* ---- pieces ---- */

static void cut_dimension(maker *m, int d)
{
    dimension *dim = &m->dimensions[d];
    size_t extents[2] = {m->forms[0]->extents[d], m->forms[1]->extents[d]};
    size_t real = extents[0] < extents[1] ? extents[0] : extents[1];
    for (int side = 0; side < 2; side++) {
        rs_interval *pieces =
            rs_arena_take(m->arena, 2 * rs_levels_most_intervals(&dim->levels), sizeof *pieces);
        if (pieces == NULL)
            return;
        rs_levels_cut(&dim->levels, pieces, &dim->piece_count[side], 0, real, false);
        rs_levels_cut(&dim->levels, pieces, &dim->piece_count[side], real, extents[side], true);
        dim->pieces[side] = pieces;
    }
}

/* ---- trees ---- */

/* The pieces of each dimension that the node at hand has, and the bytes of an element. */
typedef struct {
    size_t begin[RS_LAYOUT_MAX_RANK];
    size_t end[RS_LAYOUT_MAX_RANK];
    size_t run;
    size_t unit;
} scope;

static size_t level_count_of(const dimension *d, const rs_interval *p, size_t level)
{
    if (p->level < level)
        return 1;
    return p->level == level ? p->count : d->levels.sizes[level + 1] / d->levels.sizes[level];
}

static rs_loop_tree *new_tree(maker *m, rs_tree_kind kind)
{
    rs_loop_tree *tree = rs_arena_take(m->arena, 1, sizeof *tree);
    if (tree == NULL)
        m->result = RS_TREES_NO_MEMORY;
    else
        tree->kind = kind;
    return tree;
}

static uint64_t mix(uint64_t number)
{
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9u;
    number = (number ^ (number >> 27)) * 0x94D049BB133111EBu;
    return number ^ (number >> 31);
}

static const rs_loop_tree *make_leaf(maker *m, int side, const scope *s)
{
    rs_loop_tree *leaf = new_tree(m, RS_TREE_LEAF);
    if (leaf == NULL)
        return NULL;
    if (++m->leaves > 2 * MOST_REGIONS)
        m->result = RS_TREES_TOO_MANY;
    leaf->bytes = s->unit;
    uint64_t name = mix(s->run + 1);
    for (int d = 0; d < m->forms[side]->rank; d++) {
        const dimension *dim = &m->dimensions[d];
        if (d == m->forms[side]->record)
            continue;
        size_t span = 0;
        for (size_t p = s->begin[d]; p < s->end[d]; p++) {
            size_t product = 1;
            for (size_t level = 0; level < dim->suffix_levels; level++)
                product *= level_count_of(dim, &dim->pieces[side][p], level);
            span += product;
            leaf->padding |= dim->pieces[side][p].padding;
        }
        leaf->bytes *= span;
        name = mix(name + dim->pieces[side][s->begin[d]].begin * 31 + (uint64_t)d);
    }
    leaf->regions = leaf->padding ? mix(name + 7 + (uint64_t)side) : name;
    return leaf;
}

const rs_loop_tree *rs_tree_loop(rs_arena *arena, const rs_loop_tree *like, size_t count,
                                 const rs_loop_tree *child)
{
    rs_loop_tree *loop = rs_arena_take(arena, 1, sizeof *loop);
    const rs_loop_tree **children = rs_arena_take(arena, 1, sizeof *children);
    if (loop == NULL || children == NULL)
        return NULL;
    *loop = *like;
    loop->kind = RS_TREE_LOOP;
    loop->count = count;
    loop->bytes = count * child->bytes;
    loop->regions = child->regions;
    children[0] = child;
    loop->children = children;
    return loop;
}

const rs_loop_tree *rs_tree_row(rs_arena *arena, const rs_loop_tree **children, size_t count)
{
    rs_loop_tree *row = rs_arena_take(arena, 1, sizeof *row);
    if (row == NULL)
        return NULL;
    row->kind = RS_TREE_ROW;
    row->count = count;
    row->children = children;
    for (size_t i = 0; i < count; i++) {
        row->bytes += children[i]->bytes;
        row->regions += children[i]->regions;
    }
    return row;
}

static const rs_loop_tree *make_node(maker *m, int side, size_t t, const scope *s);

static const rs_loop_tree *make_loop(maker *m, int side, size_t t, const scope *s, size_t count)
{
    const level_term *term = &m->lists[side].terms[t];
    const rs_loop_tree *child = make_node(m, side, t + 1, s);
    const rs_loop_tree like = {.axis = (size_t)term->dimension * RS_MOST_LEVELS + term->level,
                               .members = term->dimension == m->forms[side]->record};
    if (child == NULL || count == 1)
        return child;
    const rs_loop_tree *loop = rs_tree_loop(m->arena, &like, count, child);
    if (loop == NULL)
        m->result = RS_TREES_NO_MEMORY;
    return loop;
}

/* One child is itself, and rows in a row are one row. */
static const rs_loop_tree *make_row(maker *m, const rs_loop_tree **parts, size_t count)
{
    size_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += parts[i]->kind == RS_TREE_ROW ? parts[i]->count : 1;
    if (count == 1)
        return parts[0];
    const rs_loop_tree **children = rs_arena_take(m->arena, total, sizeof *children);
    if (children == NULL)
        return NULL;
    total = 0;
    for (size_t i = 0; i < count; i++) {
        if (parts[i]->kind != RS_TREE_ROW) {
            children[total++] = parts[i];
            continue;
        }
        memcpy(children + total, parts[i]->children, parts[i]->count * sizeof *children);
        total += parts[i]->count;
    }
    return rs_tree_row(m->arena, children, total);
}

static const rs_loop_tree *make_members(maker *m, int side, size_t t, const scope *s)
{
    const rs_record *record = m->forms[side]->members;
    const rs_loop_tree **parts = rs_arena_take(m->arena, record->leaf_count, sizeof *parts);
    size_t count = 0;
    for (size_t leaf = 0; parts != NULL && leaf < record->leaf_count;) {
        size_t run = rs_record_run(record, leaf);
        scope below = *s;
        below.run = leaf;
        below.unit = record->leaves[leaf].size;
        parts[count] = make_loop(m, side, t, &below, run);
        if (parts[count++] == NULL)
            return NULL;
        leaf += run;
    }
    return parts == NULL ? NULL : make_row(m, parts, count);
}

/* How many pieces from `begin` on lie in one tile of a level; those of that level or a higher one
 * stand alone. */
static size_t group_end(const dimension *d, const rs_interval *pieces, size_t begin, size_t end,
                        size_t level)
{
    size_t tile = d->levels.sizes[level];
    size_t next = begin + 1;
    while (pieces[begin].level < level && next < end && pieces[next].level < level &&
           pieces[next].begin / tile == pieces[begin].begin / tile)
        next++;
    return next;
}

static const rs_loop_tree *make_parts(maker *m, int side, size_t t, const scope *s)
{
    const level_term *term = &m->lists[side].terms[t];
    int d = term->dimension;
    const dimension *dim = &m->dimensions[d];
    const rs_interval *pieces = dim->pieces[side];
    const rs_loop_tree **parts = rs_arena_take(m->arena, s->end[d] - s->begin[d], sizeof *parts);
    size_t count = 0;
    bool above = pieces[s->begin[d]].level > term->level;
    for (size_t p = s->begin[d]; p < s->end[d]; p++)
        if (above != (pieces[p].level > term->level)) {
            m->result = RS_TREES_NOT_ORDERED;
            m->fault = d;
            return NULL;
        }
    for (size_t p = s->begin[d]; parts != NULL && p < s->end[d];) {
        scope below = *s;
        below.begin[d] = p;
        below.end[d] = above ? s->end[d] : group_end(dim, pieces, p, s->end[d], term->level);
        parts[count] = make_loop(m, side, t, &below, level_count_of(dim, &pieces[p], term->level));
        if (parts[count++] == NULL)
            return NULL;
        p = below.end[d];
    }
    return parts == NULL ? NULL : make_row(m, parts, count);
}

static const rs_loop_tree *make_node(maker *m, int side, size_t t, const scope *s)
{
    if (m->result != RS_TREES_MADE)
        return NULL;
    if (t == m->lists[side].count)
        return make_leaf(m, side, s);
    if (m->lists[side].terms[t].dimension == m->forms[side]->record)
        return make_members(m, side, t, s);
    return make_parts(m, side, t, s);
}

static const rs_loop_tree *make_tree(maker *m, int side)
{
    const rs_planned_layout *form = m->forms[side];
    scope s = {.unit = form->record >= 0 ? form->members->size : form->unit};
    for (int d = 0; d < form->rank; d++)
        s.end[d] = m->dimensions[d].piece_count[side];
    return make_node(m, side, 0, &s);
}

rs_trees_result rs_trees_make(rs_arena *arena, const rs_planned_layout *a,
                              const rs_planned_layout *b, const rs_loop_tree *trees[2], int *fault)
{
    maker *m = rs_arena_take(arena, 1, sizeof *m);
    if (m == NULL)
        return RS_TREES_NO_MEMORY;
    m->arena = arena;
    m->forms[0] = a;
    m->forms[1] = b;
    find_levels(m);
    for (int side = 0; side < 2 && m->result == RS_TREES_MADE; side++)
        split_terms(m, side);
    if (m->result == RS_TREES_MADE) {
        merge_levels(m);
        cut_suffix(m);
        for (int d = 0; d < a->rank; d++)
            cut_dimension(m, d);
        if (!arena->failed) {
            trees[0] = make_tree(m, 0);
            trees[1] = make_tree(m, 1);
        }
    }
    *fault = m->fault;
    if (arena->failed)
        return RS_TREES_NO_MEMORY;
    return m->result;
}
