/*
 * Changes through a journal that are interrupted at every write, resumed, and compared with the
 * change that was not interrupted; and the same steps without a journal.
 */
#include "changes.h"
#include "cmocka_all.h"
#include "restride/restride.h"
#include "transpose/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void test_uninterrupted(void **state)
{
    (void)state;
    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        rs_journaled_found found;
        make_file(&changes[i]);
        if (run_journaled(&changes[i], "test", NULL, &found) != RESTRIDE_OK)
            fail_msg("%s", restride_last_error());
        assert_int_equal(found, RS_JOURNALED_NONE);
        check_file(&changes[i], DISK_NEVER);
    }
}

/* Interrupted of each change; "all" takes many more. A process forks slowly under sanitizers. */
#ifdef __SANITIZE_ADDRESS__
static int most_calls = 4;
#else
static int most_calls = 5;
#endif

/* Interrupts at calls from the first to the last, and resumes without trouble. */
static void interrupt_everywhere(bool power)
{
    for (size_t i = 0; i < CHANGE_COUNT; i++) {
        const test_change *c = &changes[i];
        make_file(c);
        assert_true(run_and_die(c, DISK_NEVER, DISK_DIES, 0, NULL));
        int calls = disk_calls();
        assert_true(calls > 0);
        int stride = calls / most_calls + 1;
        for (int call = 0; call < calls; call += stride) {
            make_file(c);
            bool done = run_and_die(c, call, DISK_DIES, (uint64_t)call, NULL);
            if (power)
                disk_lose_power();
            if (!done)
                run_and_die(c, DISK_NEVER, DISK_DIES, 0, NULL);
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

/* One call that fails, at any place, leaves a file that has not changed, or one that is half done
 * with a journal, or a change that is complete; the same command knows which. */
static void fail_everywhere(disk_action action, const char *reason)
{
    const test_change *c = &changes[9];
    rs_journaled_found found;
    bool failed = true;
    for (int call = 0; failed; call++) {
        make_file(c);
        unsigned char *before = read_file(file_path, HEADER + c->bytes);
        disk.calls_left = call;
        disk.action = action;
        restride_status status = run_journaled(c, "test", NULL, &found);
        failed = disk.calls_left < 0;
        disk = (test_disk){.calls_left = DISK_NEVER};
        if (status != RESTRIDE_OK) {
            assert_int_equal(status, RESTRIDE_IO);
            if (strstr(restride_last_error(), reason) == NULL)
                fail_msg("call %d: %s", call, restride_last_error());
            unsigned char *after = read_file(file_path, HEADER + c->bytes);
            bool same = memcmp(before, after, HEADER + c->bytes) == 0;
            free(after);
            assert_true(same || access(journal_path, F_OK) == 0);
            disk_lose_power();
            assert_int_equal(run_journaled(c, "test", NULL, &found), RESTRIDE_OK);
        }
        free(before);
        check_file(c, call);
    }
}

static void test_full_disk(void **state)
{
    (void)state;
    fail_everywhere(DISK_FULL, "No space left");
}

static void test_failing_disk(void **state)
{
    (void)state;
    fail_everywhere(DISK_FAILS, "Input/output error");
}

static void test_short_writes(void **state)
{
    (void)state;
    fail_everywhere(DISK_SHORT, "no reason");
}

/* The same command once more changes nothing, and says so; also when it was killed, or lost power,
 * after all was done. */
static void test_already_done(void **state)
{
    (void)state;
    const test_change *c = &changes[9];
    rs_journaled_found found;
    for (int round = 0; round < 2; round++) {
        make_file(c);
        assert_int_equal(run_journaled(c, "test", NULL, &found), RESTRIDE_OK);
        if (round == 1)
            disk_lose_power();
        assert_int_equal(run_journaled(c, "test", NULL, &found), RESTRIDE_OK);
        assert_int_equal(found, RS_JOURNALED_ALREADY);
        check_file(c, round);
    }
}

/* As Ctrl-C does, between two steps: before the first one nothing has begun. */
static void test_stop(void **state)
{
    (void)state;
    const test_change *c = &changes[9];
    volatile sig_atomic_t stop = 1;
    rs_journaled_found found;
    make_file(c);
    assert_int_equal(run_journaled(c, "test", &stop, &found), RESTRIDE_IO);
    assert_non_null(strstr(restride_last_error(), "Interrupted; nothing was changed"));
    assert_int_equal(access(journal_path, F_OK), -1);
    run_and_die(c, 40, DISK_DIES, 0, NULL);
    assert_int_equal(run_journaled(c, "test", &stop, &found), RESTRIDE_IO);
    assert_non_null(strstr(restride_last_error(), "Interrupted."));
    assert_non_null(strstr(restride_last_error(), "the same command with the journal"));
    assert_int_equal(run_journaled(c, "test", NULL, &found), RESTRIDE_OK);
    assert_int_equal(found, RS_JOURNALED_RESUMED);
    check_file(c, 0);
}

/* ---- without a journal ---- */

static bool run_straight(const test_change *c)
{
    rs_file file;
    restride_engine *engine;
    restride_plan *plan = make_plan(c, &engine);
    bool possible;
    assert_int_equal(rs_file_open(&file, file_path, true), RESTRIDE_OK);
    file.beyond_memory = true;
    const rs_journaled how = {.file = &file, .purpose = "test", .step_bytes = c->step_bytes};
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
            assert_true(is_changed(c));
        free(before);
        free(after);
    }
}

/* A journal that has no room on its disk, and one where none can be made. */
static void test_no_journal(void **state)
{
    (void)state;
    const test_change *c = &changes[9];
    rs_journaled_found found;
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
        cmocka_unit_test(test_uninterrupted), cmocka_unit_test(test_killed),
        cmocka_unit_test(test_power_lost),    cmocka_unit_test(test_stop),
        cmocka_unit_test(test_full_disk),     cmocka_unit_test(test_failing_disk),
        cmocka_unit_test(test_short_writes),  cmocka_unit_test(test_already_done),
        cmocka_unit_test(test_straight),      cmocka_unit_test(test_no_journal),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
