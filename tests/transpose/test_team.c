/* Loops of a team of threads: every item once, nobody idle while another has items left, and the
 * same items for the same member when all go on alike. Its threads sleep between runs, belong to
 * one caller at a time, follow it to its processors, and are new in a child. */
#include "cmocka_all.h"
#include "engine/host/team.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* ---- threads between runs ---- */

enum { MEMBERS = 4 };

typedef struct {
    pthread_t threads[MEMBERS];
    cpu_set_t processors[MEMBERS];
    atomic_size_t signals; /* members that a signal may reach */
    size_t count;
} seen;

static void look(void *context, const rs_host_member *member)
{
    seen *s = context;
    sigset_t blocked;
    s->threads[member->index] = pthread_self();
    sched_getaffinity(0, sizeof s->processors[0], &s->processors[member->index]);
    pthread_sigmask(SIG_SETMASK, NULL, &blocked);
    if (!sigismember(&blocked, SIGINT))
        atomic_fetch_add(&s->signals, 1);
    if (member->index == 0)
        s->count = member->count;
    rs_host_team_wait(member);
}

static void members_keep_their_threads(void **state)
{
    (void)state;
    seen first = {.count = 0};
    rs_host_team_run(MEMBERS, look, &first);
    for (size_t run = 0; run < 100; run++) {
        seen again = {.count = 0};
        rs_host_team_run(MEMBERS - run % 2, look, &again);
        for (size_t i = 0; i < again.count; i++)
            assert_true(pthread_equal(first.threads[i], again.threads[i]));
        assert_int_equal(again.signals, 1); /* the caller */
    }
}

static void members_run_where_their_caller_may(void **state)
{
    (void)state;
    cpu_set_t before;
    cpu_set_t one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    CPU_ZERO(&one);
    for (size_t i = 0; CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &before))
            CPU_SET(i, &one);
    for (int run = 0; run < 4; run++) {
        cpu_set_t *wanted = run % 2 == 0 ? &one : &before;
        seen s = {.count = 0};
        sched_setaffinity(0, sizeof *wanted, wanted);
        rs_host_team_run(MEMBERS, look, &s);
        for (size_t i = 0; i < s.count; i++)
            assert_true(CPU_EQUAL(&s.processors[i], wanted));
    }
}

/* Each run sees all of its members, whatever other threads run meanwhile. */
static void *run_many(void *context)
{
    atomic_bool *wrong = context;
    for (size_t run = 0; run < 200; run++) {
        atomic_uchar taken[1000] = {0};
        counted c = {1000, 3, 2, taken, false};
        rs_host_team_run(2 + run % 3, count_items, &c);
        for (size_t i = 0; i < 1000; i++)
            if (taken[i] != c.rounds)
                atomic_store(wrong, true);
        if (c.wrong)
            atomic_store(wrong, true);
    }
    return NULL;
}

static void callers_at_once_have_teams_of_their_own(void **state)
{
    (void)state;
    enum { CALLERS = 6 };
    pthread_t callers[CALLERS];
    atomic_bool wrong = false;
    for (size_t i = 0; i < CALLERS; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, run_many, &wrong), 0);
    for (size_t i = 0; i < CALLERS; i++)
        pthread_join(callers[i], NULL);
    assert_false(wrong);
}

/* Of the parent's threads none is in the child; without new ones it would wait for ever. */
static void a_child_starts_threads_of_its_own(void **state)
{
    (void)state;
    atomic_bool wrong = false;
    for (int run = 0; run < 20; run++) {
        run_many(&wrong);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            alarm(60);
            run_many(&wrong);
            exit(wrong);
        }
        int status = 1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        run_many(&wrong);
    }
    assert_false(wrong);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_is_taken_once),
        cmocka_unit_test(what_a_slow_member_has_left_is_taken),
        cmocka_unit_test(a_member_begins_with_its_own_share),
        cmocka_unit_test(members_keep_their_threads),
        cmocka_unit_test(members_run_where_their_caller_may),
        cmocka_unit_test(callers_at_once_have_teams_of_their_own),
#ifndef __SANITIZE_THREAD__ /* it allows no thread in a child of several threads */
        cmocka_unit_test(a_child_starts_threads_of_its_own),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
