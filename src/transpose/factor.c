/*
 * A permutation of axes as a sequence of elementary transpositions, each of which lets two
 * neighbouring groups of axes change places: [outer][rows][cols][unit] becomes
 * [outer][cols][rows][unit] (Sung thesis, section 4.1, for any number of axes).
 *
 * Axes that stay neighbours are merged first. The orders of what is left are the nodes of a graph,
 * the transpositions its edges, weighed by what the planner says the best stages for one cost; the
 * cheapest path is found by A*. A transposition brings at most three pairs of neighbours together
 * that belong together, and costs no less than RS_COST_LEAST: that bounds the rest of a path from
 * below.
 *
 * With more than RS_FACTOR_MOST_EXACT groups, the transposition that brings most pairs together is
 * taken (the cheapest of several) until few enough are left.
 */
#include "transpose/factor.h"
#include "transpose/cost.h"
#include "transpose/wisdom.h"

#include <stdint.h>
#include <string.h>

/* ---- merging ---- */

static size_t place_of(const rs_permutation *p, size_t axis)
{
    for (size_t k = 0; k < p->rank; k++)
        if (p->order[k] == axis)
            return k;
    return p->rank;
}

/* Leaves out axes of one element, and names the others by their places. */
static void take_axes(rs_arrangement *a, const rs_permutation *p)
{
    a->count = 0;
    a->unit = p->unit;
    for (size_t axis = 0; axis < p->rank; axis++) {
        if (p->counts[axis] == 1)
            continue;
        size_t name = 0;
        for (size_t k = 0; k < place_of(p, axis); k++)
            name += p->counts[p->order[k]] != 1;
        a->sizes[name] = p->counts[axis];
        a->names[a->count++] = name;
    }
}

static void merge_into_previous(rs_arrangement *a, size_t i)
{
    size_t gone = a->names[i];
    a->sizes[gone - 1] *= a->sizes[gone];
    memmove(a->sizes + gone, a->sizes + gone + 1, (a->count - 1 - gone) * sizeof *a->sizes);
    memmove(a->names + i, a->names + i + 1, (a->count - 1 - i) * sizeof *a->names);
    a->count--;
    for (size_t k = 0; k < a->count; k++)
        a->names[k] -= a->names[k] > gone;
}

/* Neighbours that stay neighbours become one, and what stays last is part of the element. */
static void merge(rs_arrangement *a)
{
    for (size_t i = 1; i < a->count;)
        if (a->names[i] == a->names[i - 1] + 1)
            merge_into_previous(a, i);
        else
            i++;
    while (a->count > 0 && a->names[a->count - 1] == a->count - 1)
        a->unit *= a->sizes[--a->count];
}

/* ---- one transposition ---- */

static rs_matrices matrices_of(const rs_arrangement *a, const rs_exchange *e)
{
    rs_matrices m = {.rows = 1, .cols = 1, .unit = a->unit, .batch = 1};
    for (size_t i = 0; i < a->count; i++) {
        size_t size = a->sizes[a->names[i]];
        size_t *product = i < e->begin    ? &m.batch
                          : i < e->middle ? &m.rows
                          : i < e->end    ? &m.cols
                                          : &m.unit;
        *product *= size;
    }
    return m;
}

static void apply(rs_arrangement *a, const rs_exchange *e)
{
    size_t held[RS_FACTOR_MOST_AXES];
    size_t left = e->middle - e->begin;
    size_t right = e->end - e->middle;
    memcpy(held, a->names + e->begin, left * sizeof *held);
    memmove(a->names + e->begin, a->names + e->middle, right * sizeof *held);
    memcpy(a->names + e->begin + right, held, left * sizeof *held);
}

/* Pairs of neighbours that do not belong together, both ends counted. */
static size_t gaps(const rs_arrangement *a)
{
    size_t sum = 0;
    for (size_t i = 0; i <= a->count; i++) {
        size_t left = i == 0 ? 0 : a->names[i - 1] + 1;
        size_t right = i == a->count ? a->count : a->names[i];
        sum += left != right;
    }
    return sum;
}

static bool next_exchange(rs_exchange *e, size_t count)
{
    if (++e->end <= count)
        return true;
    if (++e->middle >= count) {
        e->begin++;
        e->middle = e->begin + 1;
    }
    e->end = e->middle + 1;
    return e->end <= count;
}

size_t rs_factor_bytes(const rs_arrangement *arrangement, size_t outer)
{
    size_t bytes = outer * arrangement->unit;
    for (size_t name = 0; name < arrangement->count; name++)
        bytes *= arrangement->sizes[name];
    return bytes;
}

static const rs_exchange first_exchange = {0, 1, 1};

static void add_step(rs_sequence *steps, const rs_context *context, const rs_arrangement *a,
                     const rs_exchange *e)
{
    const rs_matrices m = matrices_of(a, e);
    rs_sequence_transpose(steps, context, m.batch, m.rows, m.cols, m.unit);
}

/* ---- the cheapest path ---- */

typedef struct {
    double cost; /* of the cheapest path known */
    bool known;
    bool settled;
    uint16_t previous;
    uint8_t names[RS_FACTOR_MOST_EXACT];
    rs_exchange by;
} node;

typedef struct {
    const rs_sequence *steps;
    const rs_context *context;
    const rs_arrangement *start;
    size_t orders; /* of the groups: nodes */
    node *nodes;
    double *prices;   /* by key_of(); 0: not known yet */
    size_t forbidden; /* a key; 0: none */
} graph;

static rs_arrangement order_of(const graph *g, const node *n)
{
    rs_arrangement a = *g->start;
    for (size_t i = 0; i < a.count; i++)
        a.names[i] = n->names[i];
    return a;
}

static void set_order(node *n, const rs_arrangement *a)
{
    for (size_t i = 0; i < a->count; i++)
        n->names[i] = (uint8_t)a->names[i];
}

/* The number of an order among all of its length. */
static size_t number_of(const rs_arrangement *a)
{
    size_t number = 0;
    for (size_t i = 0; i < a->count; i++) {
        size_t smaller = 0;
        for (size_t k = i + 1; k < a->count; k++)
            smaller += a->names[k] < a->names[i];
        number = number * (a->count - i) + smaller;
    }
    return number;
}

/* Which of the four groups each axis is in: two bits an axis. */
static size_t key_of(const rs_arrangement *a, const rs_exchange *e)
{
    size_t key = 0;
    for (size_t i = 0; i < a->count; i++) {
        size_t group = i < e->begin ? 0 : i < e->middle ? 1 : i < e->end ? 2 : 3;
        key |= group << (2 * a->names[i]);
    }
    return key;
}

static double price(graph *g, const rs_arrangement *a, const rs_exchange *e)
{
    size_t key = key_of(a, e);
    if (key == g->forbidden)
        return RS_COST_IMPOSSIBLE;
    double *known = &g->prices[key];
    if (*known == 0) {
        rs_matrices m = matrices_of(a, e);
        m.batch *= g->context->outer;
        *known = rs_sequence_price(g->steps, &m);
    }
    return *known;
}

static double bound(const rs_arrangement *a)
{
    return RS_COST_LEAST * (double)((gaps(a) + 2) / 3);
}

static size_t cheapest_open(const graph *g, size_t count)
{
    size_t best = count;
    double best_bound = 0;
    for (size_t i = 0; i < count; i++) {
        const node *n = &g->nodes[i];
        if (!n->known || n->settled)
            continue;
        const rs_arrangement order = order_of(g, n);
        double least = n->cost + bound(&order);
        if (best == count || least < best_bound) {
            best = i;
            best_bound = least;
        }
    }
    return best;
}

static void settle(graph *g, size_t current)
{
    node *from = &g->nodes[current];
    const node *goal = &g->nodes[0];
    const rs_arrangement before = order_of(g, from);
    from->settled = true;
    for (rs_exchange e = first_exchange; next_exchange(&e, before.count);) {
        rs_arrangement order = before;
        apply(&order, &e);
        node *to = &g->nodes[number_of(&order)];
        if (to->settled ||
            (goal->known && from->cost + RS_COST_LEAST + bound(&order) >= goal->cost))
            continue;
        double cost = from->cost + price(g, &before, &e);
        if (cost >= RS_COST_IMPOSSIBLE || (to->known && to->cost <= cost))
            continue;
        set_order(to, &order);
        to->known = true;
        to->cost = cost;
        to->previous = (uint16_t)current;
        to->by = e;
    }
}

static size_t count_orders(size_t count)
{
    size_t orders = 1;
    for (size_t i = 2; i <= count; i++)
        orders *= i;
    return orders;
}

static restride_status make_graph(graph *g, const rs_sequence *steps, const rs_context *context,
                                  const rs_arrangement *a)
{
    size_t orders = count_orders(a->count);
    *g = (graph){.steps = steps, .context = context, .start = a, .orders = orders};
    g->nodes = rs_arena_take(steps->arena, orders, sizeof *g->nodes);
    g->prices = rs_arena_take(steps->arena, (size_t)1 << (2 * a->count), sizeof *g->prices);
    return g->nodes == NULL || g->prices == NULL ? rs_fail_memory("the orders of some axes")
                                                 : RESTRIDE_OK;
}

/* False when there is no path to node 0, the order to reach. */
static bool search_path(graph *g)
{
    memset(g->nodes, 0, g->orders * sizeof *g->nodes);
    size_t start = number_of(g->start);
    set_order(&g->nodes[start], g->start);
    g->nodes[start].known = true;
    for (size_t current = start; current != g->orders && current != 0;
         current = cheapest_open(g, g->orders))
        settle(g, current);
    return g->nodes[0].known;
}

/* False when it has more transpositions than a path can hold. */
static bool take_path(const graph *g, rs_path *path)
{
    size_t start = number_of(g->start);
    path->count = 0;
    for (size_t number = 0; number != start; number = g->nodes[number].previous)
        if (path->count++ == RS_FACTOR_MOST_EXCHANGES)
            return false;
    size_t place = path->count;
    for (size_t number = 0; number != start; number = g->nodes[number].previous)
        path->exchanges[--place] = g->nodes[number].by;
    return true;
}

void rs_factor_add_path(rs_sequence *steps, const rs_context *context,
                        const rs_arrangement *arrangement, const rs_path *path)
{
    rs_arrangement a = *arrangement;
    for (size_t i = 0; i < path->count; i++) {
        add_step(steps, context, &a, &path->exchanges[i]);
        apply(&a, &path->exchanges[i]);
    }
}

static restride_status find_path(rs_path *path, const rs_sequence *steps, const rs_context *context,
                                 const rs_arrangement *a)
{
    graph g;
    restride_status status = make_graph(&g, steps, context, a);
    if (status == RESTRIDE_OK && (!search_path(&g) || !take_path(&g, path)))
        status = rs_fail(RESTRIDE_UNSUPPORTED,
                         "No sequence of transpositions keeps within %zu bytes of scratch memory; "
                         "grant more, or use an engine with more threads.",
                         steps->budget);
    return status;
}

static bool same_path(const rs_path *a, const rs_path *b)
{
    return a->count == b->count &&
           memcmp(a->exchanges, b->exchanges, a->count * sizeof a->exchanges[0]) == 0;
}

static bool is_new(const rs_path *paths, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (same_path(&paths[i], &paths[count]))
            return false;
    return true;
}

restride_status rs_factor_find_paths(rs_path *paths, size_t most, size_t *count,
                                     const rs_sequence *steps, const rs_context *context,
                                     const rs_arrangement *arrangement)
{
    graph g;
    *count = 0;
    restride_status status = make_graph(&g, steps, context, arrangement);
    if (status != RESTRIDE_OK || !search_path(&g) || !take_path(&g, &paths[0]))
        return status;
    *count = 1;
    rs_arrangement a = *arrangement;
    for (size_t i = 0; i < paths[0].count && *count < most; i++) {
        const rs_exchange *without = &paths[0].exchanges[i];
        g.forbidden = key_of(&a, without);
        apply(&a, without);
        if (search_path(&g) && take_path(&g, &paths[*count]) && is_new(paths, *count))
            ++*count;
    }
    return RESTRIDE_OK;
}

/* ---- wisdom ---- */

/* Whether a path, which may come from a file, leads from an arrangement to the order to reach. */
static bool leads_there(const rs_arrangement *arrangement, const rs_path *path)
{
    rs_arrangement a = *arrangement;
    for (size_t i = 0; i < path->count; i++) {
        const rs_exchange *e = &path->exchanges[i];
        if (e->begin >= e->middle || e->middle >= e->end || e->end > a.count)
            return false;
        apply(&a, e);
    }
    return gaps(&a) == 0;
}

/* Two groups that change places, and one that stays before them, have one order that is worth a
 * look. */
static bool has_choice(const rs_arrangement *a)
{
    return a->count - (a->names[0] == 0) >= 3;
}

/* For whoever tunes this conversion. */
static restride_status note(rs_guidance *guidance, rs_arena *arena, const rs_context *context,
                            const rs_arrangement *a)
{
    rs_permuted *noted = rs_arena_take(arena, 1, sizeof *noted);
    if (noted == NULL)
        return rs_fail_memory("a plan");
    noted->next = guidance->permuted;
    noted->outer = context->outer;
    noted->arrangement = *a;
    guidance->permuted = noted;
    return RESTRIDE_OK;
}

/* The path that wisdom has, or the cheapest. */
static restride_status choose_path(rs_path *path, const rs_sequence *steps,
                                   const rs_context *context, const rs_arrangement *a)
{
    rs_guidance *guidance = steps->guidance;
    if (guidance == NULL || !has_choice(a))
        return find_path(path, steps, context, a);
    restride_status status = note(guidance, steps->arena, context, a);
    if (status == RESTRIDE_OK)
        status = rs_wisdom_find_path(path, guidance->engine, a, context->outer, &steps->traits);
    if (status != RESTRIDE_OK)
        return status;
    if (path->count == 0 || !leads_there(a, path))
        return find_path(path, steps, context, a);
    guidance->orders_followed++;
    return RESTRIDE_OK;
}

/* ---- many axes ---- */

static restride_status close_gaps(rs_sequence *steps, const rs_context *context, rs_arrangement *a)
{
    rs_exchange best = first_exchange;
    size_t best_gaps = SIZE_MAX;
    double best_price = RS_COST_IMPOSSIBLE;
    for (rs_exchange e = first_exchange; next_exchange(&e, a->count);) {
        rs_arrangement after = *a;
        apply(&after, &e);
        size_t left = gaps(&after);
        if (left > best_gaps)
            continue;
        rs_matrices m = matrices_of(a, &e);
        m.batch *= context->outer;
        double price_now = rs_sequence_price(steps, &m);
        if (price_now < RS_COST_IMPOSSIBLE && (left < best_gaps || price_now < best_price)) {
            best = e;
            best_gaps = left;
            best_price = price_now;
        }
    }
    if (best_gaps >= gaps(a))
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "No transposition of these %zu axes keeps within %zu bytes of scratch "
                       "memory; grant more, or use an engine with more threads.",
                       a->count, steps->budget);
    add_step(steps, context, a, &best);
    apply(a, &best);
    merge(a);
    return RESTRIDE_OK;
}

restride_status rs_factor_permutation(rs_sequence *steps, const rs_context *context,
                                      const rs_permutation *permutation)
{
    rs_arrangement a;
    if (permutation->rank > RS_FACTOR_MOST_AXES)
        return rs_fail(RESTRIDE_UNSUPPORTED, "%zu axes are more than %d; convert in two steps.",
                       permutation->rank, RS_FACTOR_MOST_AXES);
    take_axes(&a, permutation);
    merge(&a);
    restride_status status = RESTRIDE_OK;
    while (status == RESTRIDE_OK && a.count > RS_FACTOR_MOST_EXACT)
        status = close_gaps(steps, context, &a);
    if (status != RESTRIDE_OK || a.count < 2)
        return status;
    rs_path path;
    status = choose_path(&path, steps, context, &a);
    if (status == RESTRIDE_OK)
        rs_factor_add_path(steps, context, &a, &path);
    return status;
}
