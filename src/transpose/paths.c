/*
 * The orders of some groups of axes are the nodes of a graph, the transpositions its edges, weighed
 * by what the planner says the best stages for one cost; the cheapest path is found by A*. A
 * transposition brings at most three pairs of neighbours together that belong together, and costs
 * no less than the cheapest of all: that bounds the rest of a path from below.
 *
 * Most transpositions are on no path worth taking. So an edge has at first a bound of its price,
 * which is found at once; the price itself is worked out when nothing that is open is cheaper.
 */
#include "transpose/paths.h"
#include "transpose/cost.h"

#include <stdint.h>
#include <string.h>

/* ---- arrangements ---- */

rs_matrices rs_arrangement_matrices(const rs_axis_order *a, const rs_exchange *e)
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

void rs_arrangement_apply(rs_axis_order *a, const rs_exchange *e)
{
    size_t held[RS_FACTOR_MOST_AXES];
    size_t left = e->middle - e->begin;
    size_t right = e->end - e->middle;
    memcpy(held, a->names + e->begin, left * sizeof *held);
    memmove(a->names + e->begin, a->names + e->middle, right * sizeof *held);
    memcpy(a->names + e->begin + right, held, left * sizeof *held);
}

size_t rs_arrangement_gaps(const rs_axis_order *a)
{
    size_t sum = 0;
    for (size_t i = 0; i <= a->count; i++) {
        size_t left = i == 0 ? 0 : a->names[i - 1] + 1;
        size_t right = i == a->count ? a->count : a->names[i];
        sum += left != right;
    }
    return sum;
}

const rs_exchange rs_exchange_none = {0, 1, 1};

bool rs_exchange_next(rs_exchange *e, size_t count)
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

/* ---- orders of few groups: four bits for the name at each place ---- */

enum { NAME_BITS = 4, NAME_MASK = 15 };

typedef uint32_t order;

static order order_of(const rs_axis_order *a)
{
    order o = 0;
    for (size_t i = 0; i < a->count; i++)
        o |= (order)a->names[i] << (NAME_BITS * i);
    return o;
}

static size_t name_at(order o, size_t place)
{
    return (o >> (NAME_BITS * place)) & NAME_MASK;
}

/* The places [begin, end), moved to the front. */
static order cut_out(order o, size_t begin, size_t end)
{
    return (o >> (NAME_BITS * begin)) & (((order)1 << (NAME_BITS * (end - begin))) - 1);
}

static size_t gaps_of(order o, size_t count)
{
    size_t sum = 0;
    size_t wanted = 0;
    for (size_t i = 0; i < count; i++, o >>= NAME_BITS) {
        size_t name = o & NAME_MASK;
        sum += name != wanted;
        wanted = name + 1;
    }
    return sum + (wanted != count);
}

/* ---- the graph ---- */

#define ROUNDING 1e-9

/* An exchange, in less room. */
typedef struct {
    uint8_t begin;
    uint8_t middle;
    uint8_t end;
} move;

static move small(const rs_exchange *e)
{
    return (move){(uint8_t)e->begin, (uint8_t)e->middle, (uint8_t)e->end};
}

/* What is known of a transposition, whatever the order of the groups that stay together. */
typedef struct {
    double price; /* 0: nothing is known */
    bool exact;   /* else it is no less than that */
} edge;

typedef struct {
    double best; /* of the paths whose price is known */
    bool reached;
    bool settled;
    move by;
    order previous;
} node;

/* A path that ends in an order. */
typedef struct {
    double least;  /* with what comes behind it, at least */
    double before; /* without its last transposition */
    double cost;
    order at;
    order previous;
    move by;
    bool exact; /* else it costs no less */
} open_path;

typedef struct {
    const rs_sequence *steps;
    const rs_strided_part *context;
    const rs_axis_order *start;
    size_t count;     /* of groups */
    size_t orders;    /* of the groups: nodes */
    size_t forbidden; /* the key of an edge; SIZE_MAX: none */
    double highest;   /* dearer paths are of no use */
    double least;     /* that any transposition of these groups costs */
    node *nodes;      /* by number_of() */
    edge *edges;      /* by key_of() */
    open_path *open;  /* a heap: the least first */
    size_t open_count;
    size_t open_room;
    uint8_t ones[1 << RS_FACTOR_MOST_EXACT]; /* in the bits of a number */
} graph;

static order exchanged(order o, move e)
{
    order changed = cut_out(o, e.middle, e.end) | cut_out(o, e.begin, e.middle)
                                                      << (NAME_BITS * (e.end - e.middle));
    order kept = o & ~(cut_out(o, e.begin, e.end) << (NAME_BITS * e.begin));
    return kept | changed << (NAME_BITS * e.begin);
}

/* The number of an order among all of its length. */
static size_t number_of(const graph *g, order o)
{
    size_t number = 0;
    size_t left = ((size_t)1 << g->count) - 1;
    for (size_t i = g->count; i > 0; i--, o >>= NAME_BITS) {
        size_t bit = (size_t)1 << (o & NAME_MASK);
        number = number * i + g->ones[left & (bit - 1)];
        left &= ~bit;
    }
    return number;
}

/* Which of the four parts each group is in: two bits a group. */
static size_t key_of(order o, size_t count, move e)
{
    size_t key = 0;
    for (size_t i = 0; i < count; i++, o >>= NAME_BITS)
        key |= (size_t)((i >= e.begin) + (i >= e.middle) + (i >= e.end)) << (2 * (o & NAME_MASK));
    return key;
}

static rs_matrices matrices_of(const graph *g, order o, move e)
{
    rs_matrices m = {1, 1, g->start->unit, g->context->outer, 0};
    size_t *products[] = {&m.batch, &m.rows, &m.cols, &m.unit};
    for (size_t i = 0; i < g->count; i++)
        *products[(i >= e.begin) + (i >= e.middle) + (i >= e.end)] *=
            g->start->sizes[name_at(o, i)];
    return m;
}

/* NULL when it is forbidden. */
static edge *edge_at(const graph *g, order o, move e)
{
    size_t key = key_of(o, g->count, e);
    edge *found = &g->edges[key];
    if (key == g->forbidden)
        return NULL;
    if (found->price == 0) {
        const rs_matrices m = matrices_of(g, o, e);
        found->price = rs_sequence_bound(g->steps, &m, &found->exact);
    }
    return found;
}

/* Up to `highest`; more is a bound again. */
static void find_price(const graph *g, edge *found, order o, move e, double highest)
{
    if (found->exact || found->price >= highest)
        return;
    const rs_matrices m = matrices_of(g, o, e);
    found->price = rs_sequence_price(g->steps, &m, highest);
    found->exact = found->price < highest || highest >= RS_COST_IMPOSSIBLE;
}

static double least_rest(const graph *g, order o)
{
    return g->least * (double)((gaps_of(o, g->count) + 2) / 3);
}

/* ---- the heap of open paths ---- */

static bool make_room(graph *g)
{
    if (g->open_count < g->open_room)
        return true;
    size_t room = 2 * g->open_room + 256;
    open_path *open = rs_arena_take(g->steps->arena, room, sizeof *open);
    if (open == NULL)
        return false;
    if (g->open_count > 0)
        memcpy(open, g->open, g->open_count * sizeof *open);
    g->open = open;
    g->open_room = room;
    return true;
}

static bool push(graph *g, const open_path *added)
{
    if (!make_room(g))
        return false;
    size_t at = g->open_count++;
    for (; at > 0 && g->open[(at - 1) / 2].least > added->least; at = (at - 1) / 2)
        g->open[at] = g->open[(at - 1) / 2];
    g->open[at] = *added;
    return true;
}

static open_path pop(graph *g)
{
    const open_path first = g->open[0];
    const open_path last = g->open[--g->open_count];
    size_t at = 0;
    for (size_t child = 1; child < g->open_count; child = 2 * at + 1) {
        child += child + 1 < g->open_count && g->open[child + 1].least < g->open[child].least;
        if (g->open[child].least >= last.least)
            break;
        g->open[at] = g->open[child];
        at = child;
    }
    g->open[at] = last;
    return first;
}

/* ---- the search ---- */

/* What a transposition on a path may cost for the path to be of use, if the others cost `others` at
 * least; a little more, since sums are rounded. */
static double highest_price(const graph *g, double others)
{
    double highest =
        g->nodes[0].reached && g->nodes[0].best < g->highest ? g->nodes[0].best : g->highest;
    return highest < RS_COST_IMPOSSIBLE ? (highest - others) * (1 + ROUNDING) : RS_COST_IMPOSSIBLE;
}

/* Whether no path that costs at least `least` is of use any more. */
static bool is_late(const graph *g, double least)
{
    return least > g->highest || (g->nodes[0].reached && g->nodes[0].best <= least);
}

/* Whether there is a path to an order already that costs no more than `cost`. */
static bool is_known(const node *at, double cost)
{
    return at->settled || (at->reached && at->best <= cost);
}

/* Opens what one transposition makes of a path, unless it is of no use, which shows for most before
 * anything is known of the transposition. False when memory is short. */
static bool open_next(graph *g, const open_path *path, move e)
{
    order after = exchanged(path->at, e);
    double rest = least_rest(g, after);
    if (is_late(g, path->cost + g->least + rest))
        return true;
    node *to = &g->nodes[number_of(g, after)];
    if (is_known(to, path->cost + g->least))
        return true;
    const edge *by = edge_at(g, path->at, e);
    if (by == NULL || by->price >= RS_COST_IMPOSSIBLE || is_known(to, path->cost + by->price) ||
        is_late(g, path->cost + by->price + rest))
        return true;
    const open_path next = {.least = path->cost + by->price + rest,
                            .before = path->cost,
                            .cost = path->cost + by->price,
                            .at = after,
                            .previous = path->at,
                            .by = e,
                            .exact = by->exact};
    if (next.exact) {
        to->reached = true;
        to->best = next.cost;
    }
    return push(g, &next);
}

static bool open_all(graph *g, const open_path *path)
{
    for (rs_exchange e = rs_exchange_none; rs_exchange_next(&e, g->count);)
        if (!open_next(g, path, small(&e)))
            return false;
    return true;
}

/* Works the price of the last transposition out, and opens the path again. */
static bool open_priced(graph *g, open_path *path)
{
    edge *by = edge_at(g, path->previous, path->by);
    double rest = path->least - path->cost;
    find_price(g, by, path->previous, path->by, highest_price(g, path->before + rest));
    if (!by->exact)
        return true;
    path->cost = path->before + by->price;
    path->least = path->cost + rest;
    path->exact = true;
    node *to = &g->nodes[number_of(g, path->at)];
    if (by->price >= RS_COST_IMPOSSIBLE || is_known(to, path->cost) || is_late(g, path->least))
        return true;
    to->reached = true;
    to->best = path->cost;
    return push(g, path);
}

/* False when memory is short. The goal is not settled when there is no path to it. */
static bool search_path(graph *g)
{
    memset(g->nodes, 0, g->orders * sizeof *g->nodes);
    g->open_count = 0;
    const open_path start = {.exact = true, .at = order_of(g->start)};
    bool fine = push(g, &start);
    while (fine && g->open_count > 0 && !g->nodes[0].settled) {
        open_path path = pop(g);
        node *at = &g->nodes[number_of(g, path.at)];
        if (at->settled)
            continue;
        if (!path.exact) {
            fine = open_priced(g, &path);
            continue;
        }
        at->settled = true;
        at->previous = path.previous;
        at->by = path.by;
        fine = open_all(g, &path);
    }
    return fine;
}

/* False when it has more transpositions than a path can hold. */
static bool take_path(const graph *g, rs_path *path)
{
    const order start = order_of(g->start);
    size_t goal_to_start = 0;
    rs_exchange backwards[RS_FACTOR_MOST_EXCHANGES];
    order wanted = 0;
    for (size_t i = 0; i < g->count; i++)
        wanted |= (order)i << (NAME_BITS * i);
    for (order o = wanted; o != start; goal_to_start++) {
        if (goal_to_start == RS_FACTOR_MOST_EXCHANGES)
            return false;
        const node *n = &g->nodes[number_of(g, o)];
        backwards[goal_to_start] = (rs_exchange){n->by.begin, n->by.middle, n->by.end};
        o = n->previous;
    }
    path->count = goal_to_start;
    for (size_t i = 0; i < path->count; i++)
        path->exchanges[i] = backwards[path->count - 1 - i];
    return true;
}

/* A transposition moves some of the groups as its element. */
static double find_least(const rs_sequence *steps, const rs_axis_order *a)
{
    double least = RS_COST_IMPOSSIBLE;
    for (size_t subset = 0; subset < (size_t)1 << a->count; subset++) {
        size_t unit = a->unit;
        for (size_t name = 0; name < a->count; name++)
            unit *= subset >> name & 1 ? a->sizes[name] : 1;
        double cost = rs_cost_least_of_all(&steps->traits, unit);
        least = cost < least ? cost : least;
    }
    return least;
}

static bool make_graph(graph *g, const rs_sequence *steps, const rs_strided_part *context,
                       const rs_axis_order *a, double highest)
{
    *g = (graph){.steps = steps,
                 .context = context,
                 .start = a,
                 .count = a->count,
                 .orders = 1,
                 .forbidden = SIZE_MAX,
                 .highest = highest};
    for (size_t i = 2; i <= a->count; i++)
        g->orders *= i;
    for (size_t i = 1; i < sizeof g->ones; i++)
        g->ones[i] = (uint8_t)(g->ones[i / 2] + i % 2);
    g->least = find_least(steps, a);
    g->nodes = rs_arena_take(steps->arena, g->orders, sizeof *g->nodes);
    g->edges = rs_arena_take(steps->arena, (size_t)1 << (2 * a->count), sizeof *g->edges);
    return g->nodes != NULL && g->edges != NULL;
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

/* Adds a path to `count` others, if there is one that is new. False when memory is short. */
static bool add_path(graph *g, rs_path *paths, size_t *count)
{
    if (!search_path(g))
        return false;
    if (g->nodes[0].settled && take_path(g, &paths[*count]) && is_new(paths, *count))
        ++*count;
    return true;
}

restride_status rs_paths_find(rs_path *paths, size_t most, size_t *count, const rs_sequence *steps,
                              const rs_strided_part *context, const rs_axis_order *arrangement,
                              double highest)
{
    graph g;
    *count = 0;
    bool fine = make_graph(&g, steps, context, arrangement, highest) && add_path(&g, paths, count);
    order at = order_of(arrangement);
    for (size_t i = 0; fine && *count > 0 && i < paths[0].count && *count < most; i++) {
        const move without = small(&paths[0].exchanges[i]);
        g.forbidden = key_of(at, g.count, without);
        at = exchanged(at, without);
        fine = add_path(&g, paths, count);
    }
    return fine ? RESTRIDE_OK : rs_fail_memory("the orders of some axes");
}
