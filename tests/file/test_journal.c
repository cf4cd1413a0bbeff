/*
 * Changes through a journal that are interrupted at every write, resumed, and compared with the
 * change that was not interrupted; and the same steps without a journal.
 */
#include "changes.h"
#include "cmocka_all.h"
#include "disk.h"
#include "file/journaled.h"
#include "restride/restride.h"
#include "transpose/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void test_undisturbed(void **state)
{
    (void)state;
    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        bool found;
        make_file(&changes[i]);
        if (run_journaled(&changes[i], "test", NULL, &found) != RESTRIDE_OK)
            fail_msg("%s", restride_last_error());
        assert_false(found);
        check_file(&changes[i], DISK_NEVER);
    }
}

/* Interrupted of each change; "all" takes many more. A process forks slowly under sanitizers. */
#ifdef __SANITIZE_ADDRESS__
static int most_calls = 8;
#else
static int most_calls = 25;
#endif

/* Interrupts at calls from the first to the last, and resumes without trouble. */
static void interrupt_everywhere(bool power)
{
    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        const test_change *c = &changes[i];
        make_file(c);
        *disk_calls = 0;
        assert_true(run_and_die(c, DISK_NEVER - 1, false, 0));
        int calls = *disk_calls;
        assert_true(calls > 0);
        int stride = calls / most_calls + 1;
        for (int call = 0; call < calls; call += stride) {
            make_file(c);
            if (!run_and_die(c, call, power, (uint64_t)call))
                run_and_die(c, DISK_NEVER - 1, power, 0);
            check_file(c, call);
        }
    }
}

static void test_killed(void **state)
{
    (void)state;
    interrupt_everywhere(false);
}

static void test_power_lost(void **state)
{
    (void)state;
    interrupt_everywhere(true);
}

/* Loses power again and again, while it resumes too. */
static void test_power_lost_often(void **state)
{
    (void)state;
    for (size_t i = 0; i < CHANGE_COUNT; i++)
        for (uint64_t seed = 1; seed <= (uint64_t)most_calls / 8; seed++) {
            const test_change *c = &changes[i];
            make_file(c);
            disk.random = seed;
            int rounds = 0;
            /* Longer and longer runs, so that each comes to an end. */
            while (!run_and_die(c, (int)disk_random(6 + (size_t)rounds * 2), true,
                                seed * 1000 + (uint64_t)rounds))
                rounds++;
            check_file(c, rounds);
        }
}

/* A disk that is full at any write leaves a journal, or a file that has not changed. */
static void test_full_disk(void **state)
{
    (void)state;
    const test_change *c = &changes[9];
    bool found;
    restride_status status = RESTRIDE_IO;
    for (int call = 0; status != RESTRIDE_OK; call++) {
        make_file(c);
        unsigned char *before = read_file(file_path, HEADER + c->bytes);
        disk.full = true;
        disk.calls_left = call;
        status = run_journaled(c, "test", NULL, &found);
        disk.full = false;
        disk.calls_left = DISK_NEVER;
        if (status != RESTRIDE_OK) {
            assert_int_equal(status, RESTRIDE_IO);
            assert_non_null(strstr(restride_last_error(), "is full"));
            if (access(journal_path, F_OK) != 0) {
                unsigned char *after = read_file(file_path, HEADER + c->bytes);
                assert_memory_equal(before, after, HEADER + c->bytes);
                free(after);
            }
            assert_int_equal(run_journaled(c, "test", NULL, &found), RESTRIDE_OK);
        }
        free(before);
        check_file(c, call);
    }
}

static void test_stop(void **state)
{
    (void)state;
    const test_change *c = &changes[9];
    volatile sig_atomic_t stop = 1;
    bool found;
    make_file(c);
    assert_int_equal(run_journaled(c, "test", &stop, &found), RESTRIDE_IO);
    assert_non_null(strstr(restride_last_error(), "Interrupted"));
    assert_int_equal(access(journal_path, F_OK), 0);
    assert_int_equal(run_journaled(c, "test", NULL, &found), RESTRIDE_OK);
    assert_true(found);
    check_file(c, 0);
}

/* ---- without a journal ---- */

static bool run_straight(const test_change *c)
{
    rs_file file;
    restride_engine *engine;
    restride_plan *plan;
    bool possible;
    assert_int_equal(rs_file_open(&file, file_path, true), RESTRIDE_OK);
    file.beyond_memory = true;
    const rs_journaled how = {.file = &file, .purpose = "test", .step_bytes = c->step_bytes};
    assert_int_equal(restride_engine_create_host(&engine, 1), RESTRIDE_OK);
    assert_int_equal(rs_plan_create(&plan, engine, c->bytes, "a", "b"), RESTRIDE_OK);
    assert_int_equal(rs_plan_add_transposes(plan, c->tasks, c->task_count, SIZE_MAX), RESTRIDE_OK);
    const rs_journaled_change change = {plan, HEADER, "new header", HEADER};
    if (rs_journaled_run_straight(&how, &change, &possible) != RESTRIDE_OK)
        fail_msg("%s: %s", c->name, restride_last_error());
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
    rs_file_close(&file);
    return possible;
}

/* Files that do not stay in memory take the steps alone; long blocks need the stash and are left to
 * the engine, untouched. */
static void test_straight(void **state)
{
    (void)state;
    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        const test_change *c = &changes[i];
        bool needs_stash =
            strncmp(c->name, "long ", 5) == 0 && strcmp(c->name, "long elements") != 0;
        make_file(c);
        unsigned char *before = read_file(file_path, HEADER + c->bytes);
        if (run_straight(c) == needs_stash)
            fail_msg("%s", c->name);
        unsigned char *after = read_file(file_path, HEADER + c->bytes);
        if (needs_stash)
            assert_memory_equal(before, after, HEADER + c->bytes);
        else
            check_file(c, DISK_NEVER);
        free(before);
        free(after);
    }
}

/* A journal that has no room on its disk, and one where none can be made. */
static void test_no_journal(void **state)
{
    (void)state;
    const test_change *c = &changes[9];
    bool found;
    make_file(c);
    char kept[sizeof journal_path];
    memcpy(kept, journal_path, sizeof kept);
    snprintf(journal_path, sizeof journal_path, "%.40s.none/journal", kept);
    assert_int_equal(run_journaled(c, "test", NULL, &found), RESTRIDE_IO);
    assert_non_null(strstr(restride_last_error(), "nothing was changed"));
    memcpy(journal_path, kept, sizeof kept);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "all") == 0)
        most_calls = 1000;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_undisturbed), cmocka_unit_test(test_killed),
        cmocka_unit_test(test_power_lost),  cmocka_unit_test(test_power_lost_often),
        cmocka_unit_test(test_stop),        cmocka_unit_test(test_full_disk),
        cmocka_unit_test(test_straight),    cmocka_unit_test(test_no_journal),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
