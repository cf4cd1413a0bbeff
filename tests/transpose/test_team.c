/* Loops of a team of threads: every item once, nobody idle while another has items left, and the
 * same items for the same member when all go on alike. */
#include "cmocka_all.h"
#include "engine/host/team.h"

#include <stdatomic.h>
#include <stdlib.h>

typedef struct {
    size_t items;
    size_t grain;
    size_t rounds;
    atomic_uchar *taken; /* how often */
    atomic_bool wrong;
} counted;

static void count_items(void *context, const rs_host_member *member)
{
    counted *c = context;
    for (size_t round = 0; round < c->rounds; round++) {
        rs_host_loop loop = rs_host_loop_begin(member, c->items, c->grain);
        for (size_t begin, end; rs_host_loop_next(&loop, &begin, &end);) {
            if (begin >= end || end > c->items || end - begin > c->grain)
                atomic_store(&c->wrong, true);
            for (size_t i = begin; i < end && i < c->items; i++)
                atomic_fetch_add(&c->taken[i], 1);
        }
        size_t begin;
        size_t end;
        if (rs_host_loop_next(&loop, &begin, &end)) /* the end stays the end */
            atomic_store(&c->wrong, true);
        rs_host_team_wait(member);
        rs_host_loop_again(member);
        rs_host_team_wait(member);
    }
}

static void every_item_is_taken_once(void **state)
{
    (void)state;
    static const size_t items[] = {0, 1, 2, 3, 7, 64, 1000, 4099};
    static const size_t grains[] = {1, 2, 5, 64, 5000};
    for (size_t threads = 1; threads <= 9; threads++)
        for (size_t i = 0; i < sizeof items / sizeof items[0]; i++)
            for (size_t g = 0; g < sizeof grains / sizeof grains[0]; g++) {
                counted c = {items[i], grains[g], 3, calloc(items[i] + 1, 1), false};
                assert_non_null(c.taken);
                rs_host_team_run(threads, count_items, &c);
                assert_false(c.wrong);
                for (size_t k = 0; k < items[i]; k++)
                    assert_int_equal(c.taken[k], c.rounds);
                free(c.taken);
            }
}

enum { SLOW_ITEMS = 1000 };

typedef struct {
    size_t threads; /* that the team really has */
    atomic_size_t of_others;
    atomic_size_t left;
    atomic_bool held;
} waiting;

/* Member 0 holds one item until all others are taken: with shares alone it would wait for ever. The
 * others begin when it has its item, however late its thread comes. */
static void wait_for_others(void *context, const rs_host_member *member)
{
    waiting *w = context;
    size_t begin;
    size_t end;
    rs_host_loop loop = rs_host_loop_begin(member, SLOW_ITEMS, 1);
    if (member->index == 0) {
        w->threads = member->count;
        if (member->count > 1 && rs_host_loop_next(&loop, &begin, &end)) {
            atomic_fetch_sub(&w->left, 1);
            atomic_store(&w->held, true);
            while (atomic_load(&w->left) > 0)
                continue;
        }
        return;
    }
    while (!atomic_load(&w->held))
        continue;
    while (rs_host_loop_next(&loop, &begin, &end)) {
        atomic_fetch_add(&w->of_others, 1);
        atomic_fetch_sub(&w->left, 1);
    }
}

static void what_a_slow_member_has_left_is_taken(void **state)
{
    (void)state;
    waiting w = {.left = SLOW_ITEMS};
    rs_host_team_run(3, wait_for_others, &w);
    if (w.threads > 1)
        assert_int_equal(w.of_others, SLOW_ITEMS - 1);
}

static void take_own_first(void *context, const rs_host_member *member)
{
    atomic_bool *wrong = context;
    size_t own_begin;
    size_t own_end;
    rs_host_team_share(member, SLOW_ITEMS, &own_begin, &own_end);
    rs_host_loop loop = rs_host_loop_begin(member, SLOW_ITEMS, 3);
    size_t begin;
    size_t end;
    if (!rs_host_loop_next(&loop, &begin, &end) || begin != own_begin)
        atomic_store(wrong, true);
    rs_host_team_wait(member);
}

static void a_member_begins_with_its_own_share(void **state)
{
    (void)state;
    atomic_bool wrong = false;
    rs_host_team_run(4, take_own_first, &wrong);
    assert_false(wrong);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_is_taken_once),
        cmocka_unit_test(what_a_slow_member_has_left_is_taken),
        cmocka_unit_test(a_member_begins_with_its_own_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
