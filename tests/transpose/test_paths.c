/*
 * The paths that permutations take: as cheap as the cheapest of all, found here by trying every
 * order with the price that a plan pays; the bounds that leave most of them out are bounds.
 */
#include "cmocka_all.h"
#include "reference.h"
#include "transpose/cost.h"
#include "transpose/paths.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MOST_GROUPS = 6, MOST_ORDERS = 720, KEYS = 1 << (2 * MOST_GROUPS) };

typedef struct {
    rs_sequence steps;
    rs_strided_part context;
    rs_axis_order arrangement;
} problem;

static const rs_engine_traits host = {.chip_bytes = 1 << 20, .line_bytes = 64, .workers = 2};

static size_t bytes_of(const problem *p)
{
    return rs_axis_order_bytes(&p->arrangement, p->context.outer);
}

/* ---- every order ---- */

/* What a plan pays for one transposition. */
static double full_price(const problem *p, const rs_matrices *m)
{
    rs_stage_choice choice;
    const restride_plan_options options = {.scratch_bytes = p->steps.scratch_limit,
                                           .run_bytes = p->steps.run_bytes};
    if (rs_choose_transpose(&choice, m, &p->steps.traits, &options) != RESTRIDE_OK)
        return RS_COST_IMPOSSIBLE;
    return choice.cost;
}

static double price_of(const problem *p, const rs_axis_order *a, const rs_exchange *e)
{
    rs_matrices m = rs_arrangement_matrices(a, e);
    m.batch *= p->context.outer;
    return full_price(p, &m);
}

/* The same for all orders in which the same groups are together. */
static double price_once(const problem *p, const rs_axis_order *a, const rs_exchange *e,
                         double prices[KEYS])
{
    size_t key = 0;
    for (size_t i = 0; i < a->count; i++)
        key |= (size_t)((i >= e->begin) + (i >= e->middle) + (i >= e->end)) << (2 * a->names[i]);
    if (prices[key] == 0)
        prices[key] = price_of(p, a, e);
    return prices[key];
}

static size_t find_order(const rs_axis_order orders[], size_t count, const rs_axis_order *a)
{
    size_t i = 0;
    while (i < count && memcmp(orders[i].names, a->names, a->count * sizeof a->names[0]) != 0)
        i++;
    return i;
}

/* Costs that no transposition makes less any more. */
static double cheapest(const problem *p)
{
    static rs_axis_order orders[MOST_ORDERS];
    static double prices[KEYS];
    double costs[MOST_ORDERS] = {0};
    memset(prices, 0, sizeof prices);
    orders[0] = p->arrangement;
    size_t count = 1;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < count; i++)
            for (rs_exchange e = rs_exchange_none; rs_exchange_next(&e, p->arrangement.count);) {
                rs_axis_order after = orders[i];
                rs_arrangement_apply(&after, &e);
                double cost = costs[i] + price_once(p, &orders[i], &e, prices);
                size_t k = find_order(orders, count, &after);
                if (k < count && costs[k] <= cost)
                    continue;
                count += k == count;
                orders[k] = after;
                costs[k] = cost;
                changed = true;
            }
    }
    for (size_t i = 0; i < count; i++)
        if (rs_arrangement_gaps(&orders[i]) == 0)
            return costs[i];
    return RS_COST_IMPOSSIBLE;
}

/* ---- the path that is found ---- */

static double cost_of_path(const problem *p, const rs_path *path)
{
    rs_axis_order a = p->arrangement;
    double cost = 0;
    for (size_t i = 0; i < path->count; i++) {
        cost += price_of(p, &a, &path->exchanges[i]);
        rs_arrangement_apply(&a, &path->exchanges[i]);
    }
    assert_int_equal(rs_arrangement_gaps(&a), 0);
    return cost;
}

static void say(const problem *p)
{
    for (size_t i = 0; i < p->arrangement.count; i++)
        print_message("%zu (to %zu) ", p->arrangement.sizes[p->arrangement.names[i]],
                      p->arrangement.names[i]);
    print_message("of %zu bytes, %zu times, chip %zu, %zu workers, scratch %zu\n",
                  p->arrangement.unit, p->context.outer, p->steps.traits.chip_bytes,
                  p->steps.traits.workers, p->steps.scratch_limit);
}

/* What the search compared: a bound on a price only leaves out what costs more. */
static double estimate_of(const problem *p, const rs_path *path)
{
    rs_axis_order a = p->arrangement;
    double cost = 0;
    for (size_t i = 0; i < path->count; i++) {
        rs_matrices m = rs_arrangement_matrices(&a, &path->exchanges[i]);
        m.batch *= p->context.outer;
        const double price = rs_sequence_price(&p->steps, &m, RS_COST_IMPOSSIBLE);
        assert_true(rs_sequence_price(&p->steps, &m, 1.001 * price) == price);
        assert_true(rs_sequence_price(&p->steps, &m, 0.999 * price) == 0.999 * price);
        rs_arrangement_apply(&a, &path->exchanges[i]);
        cost += price;
    }
    return cost;
}

/* The same path is found where it may cost as much, and none where it may not. */
static void check_bound(const problem *p, const rs_path *path)
{
    const double cost = estimate_of(p, path);
    rs_path found;
    size_t count;
    assert_int_equal(
        rs_paths_find(&found, 1, &count, &p->steps, &p->context, &p->arrangement, 1.000001 * cost),
        RESTRIDE_OK);
    assert_int_equal(count, 1);
    assert_true(estimate_of(p, &found) <= 1.000001 * cost);
    assert_int_equal(
        rs_paths_find(&found, 1, &count, &p->steps, &p->context, &p->arrangement, 0.999 * cost),
        RESTRIDE_OK);
    if (path->count != 0)
        assert_int_equal(count, 0);
}

/* Tile sizes that are left out cost a little: this much is allowed. */
static const double nearly = 1.01;

/* Adds what both cost to the sums. */
static void check(problem *p, double sums[2])
{
    rs_arena arena = {0};
    p->steps.arena = &arena;
    rs_path path;
    size_t count;
    assert_int_equal(rs_paths_find(&path, 1, &count, &p->steps, &p->context, &p->arrangement,
                                   RS_COST_IMPOSSIBLE),
                     RESTRIDE_OK);
    double least = cheapest(p);
    double found = count == 0 ? RS_COST_IMPOSSIBLE : cost_of_path(p, &path);
    if (found > nearly * least) {
        say(p);
        fail_msg("costs %.3f where %.3f would do", found, least);
    }
    if (count > 0) {
        check_bound(p, &path);
        sums[0] += found;
        sums[1] += least;
    }
    rs_arena_free(&arena);
}

/* ---- generated ---- */

static void shuffle(rs_axis_order *a, uint64_t *seed)
{
    for (size_t i = 0; i < a->count; i++)
        a->names[i] = i;
    for (size_t i = a->count; i-- > 1;) {
        size_t other = test_random(seed, i + 1);
        size_t held = a->names[i];
        a->names[i] = a->names[other];
        a->names[other] = held;
    }
}

static problem make_problem(uint64_t *seed, size_t groups)
{
    static const size_t units[] = {4, 4, 8, 1, 2, 16, 12, 96, 600};
    static const size_t largest[] = {0, 0, 0, 400, 90, 36, 20};
    problem p = {.context = {0, test_random(seed, 4) == 0 ? 1 + test_random(seed, 20) : 1, 0}};
    p.arrangement.count = groups;
    p.arrangement.unit = units[test_random(seed, sizeof units / sizeof units[0])];
    for (size_t i = 0; i < groups; i++)
        p.arrangement.sizes[i] = 2 + test_random(seed, largest[groups] - 1);
    if (test_random(seed, 3) == 0)
        shuffle(&p.arrangement, seed);
    else
        for (size_t i = 0; i < groups; i++)
            p.arrangement.names[i] = groups - 1 - i;
    p.context.pitch = rs_axis_order_bytes(&p.arrangement, 1);
    p.steps.traits = host;
    p.steps.traits.chip_bytes = (size_t)65536 << test_random(seed, 6);
    p.steps.traits.workers = 1 + test_random(seed, 8);
    size_t limit = rs_choose_scratch_limit(bytes_of(&p), &p.steps.traits);
    p.steps.budget = test_random(seed, 3) == 0 ? limit / 50 : limit;
    p.steps.scratch_limit = p.steps.budget;
    return p;
}

static void check_generated(size_t cases, size_t groups)
{
    uint64_t seed = 71;
    double sums[2] = {0, 0};
    for (size_t i = 0; i < cases; i++) {
        problem p = make_problem(&seed, groups);
        check(&p, sums);
    }
    assert_true(sums[0] <= 1.001 * sums[1]);
    print_message("%zu of %zu groups: %.4f times the cheapest\n", cases, groups, sums[0] / sums[1]);
}

static void test_cheapest(void **state)
{
    (void)state;
    check_generated(150, 3);
    check_generated(60, 4);
    check_generated(12, 5);
    check_generated(3, 6);
}

/* A device whose stages cost what they cost the host, which the bounds know nothing of. */
static double made_up_cost(const restride_engine *engine, const rs_transpose_task *task,
                           size_t scratch_limit)
{
    (void)engine;
    double cost = rs_cost_of_transpose(task, &host, scratch_limit);
    return task->method == RS_TRANSPOSE_CHAINS && task->unit % 128 == 0 ? 0.8 : cost;
}

static void test_device(void **state)
{
    (void)state;
    uint64_t seed = 5;
    double sums[2] = {0, 0};
    for (int i = 0; i < 60; i++) {
        problem p = make_problem(&seed, 3 + (size_t)(i % 2));
        p.steps.traits.cost = made_up_cost;
        check(&p, sums);
    }
}

/* For data in files, where lines are pages. */
static void test_runs(void **state)
{
    (void)state;
    uint64_t seed = 6;
    double sums[2] = {0, 0};
    for (int i = 0; i < 40; i++) {
        problem p = make_problem(&seed, 3 + (size_t)(i % 2));
        p.steps.run_bytes = 4096;
        check(&p, sums);
    }
}

/* ---- bounds and prices of transpositions ---- */

static void test_bounds(void **state)
{
    (void)state;
    uint64_t seed = 9;
    size_t exact_ones = 0;
    for (int i = 0; i < 1500; i++) {
        const problem p = make_problem(&seed, 3 + (size_t)(i % 2));
        rs_exchange e = rs_exchange_none;
        for (size_t skip = test_random(&seed, 4) + 1; skip > 0; skip--)
            rs_exchange_next(&e, p.arrangement.count);
        rs_matrices m = rs_arrangement_matrices(&p.arrangement, &e);
        m.batch *= p.context.outer;
        bool exact;
        double bound = rs_sequence_bound(&p.steps, &m, &exact);
        double price = rs_sequence_price(&p.steps, &m, RS_COST_IMPOSSIBLE);
        double full = full_price(&p, &m);
        bool right = bound <= full && price >= full && price <= 1.1 * full &&
                     (!exact || bound == full) &&
                     rs_cost_least_of_all(&p.steps.traits, m.unit) <= full;
        if (!right)
            fail_msg("%zu x %zu x %zu of %zu bytes: %.3f, %.3f and %.3f", m.batch, m.rows, m.cols,
                     m.unit, bound, price, full);
        exact_ones += exact;
    }
    assert_true(exact_ones > 300 && exact_ones < 1200);
}

/* ---- several paths ---- */

static void test_others(void **state)
{
    (void)state;
    enum { MOST = 6 };
    uint64_t seed = 12;
    size_t others = 0;
    for (int i = 0; i < 50; i++) {
        problem p = make_problem(&seed, 4);
        rs_arena arena = {0};
        p.steps.arena = &arena;
        rs_path paths[MOST];
        size_t count;
        assert_int_equal(rs_paths_find(paths, MOST, &count, &p.steps, &p.context, &p.arrangement,
                                       RS_COST_IMPOSSIBLE),
                         RESTRIDE_OK);
        double least = count > 0 ? cost_of_path(&p, &paths[0]) : 0;
        for (size_t k = 1; k < count; k++) {
            assert_true(nearly * cost_of_path(&p, &paths[k]) >= least);
            for (size_t other = 0; other < k; other++)
                assert_true(paths[k].count != paths[other].count ||
                            memcmp(paths[k].exchanges, paths[other].exchanges,
                                   paths[k].count * sizeof(rs_exchange)) != 0);
            others++;
        }
        rs_arena_free(&arena);
    }
    assert_true(others > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cheapest), cmocka_unit_test(test_device), cmocka_unit_test(test_runs),
        cmocka_unit_test(test_bounds),   cmocka_unit_test(test_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
