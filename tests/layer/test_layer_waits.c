/* The layer under programs whose commands wait, and whose driver calls them back. */
#include "runs.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* Held back, abandoned and interleaved with callbacks: no result changes and nothing hangs. */
static void test_commands_that_wait(void **state)
{
    (void)state;
    static const char *const cases[] = {"abandoned", "held-back", "shared",
                                        "callback",  "header",    "native"};
    static const char *const policies[] = {"asta", "soa"};
    for (int i = 0; i < 12; i++) {
        int status = run("%s run --policy %s --report %s -- " LIMITED " %s %s", RESTRIDE_PROGRAM,
                         policies[i % 2], report_path, WAITS_PROGRAM, cases[i / 2]);
        if (exit_status(status) != 0)
            fail_msg("%s, %s: status %d: %s", policies[i % 2], cases[i / 2], exit_status(status),
                     errors());
    }
    for (int i = 0; i < 2; i++) {
        int status = run("env OPENCL_LAYERS=%s MADE_UP_LAZY=1 %s run --policy %s --report %s -- "
                         "" LIMITED " %s flushed-later",
                         MADE_UP_GPU, RESTRIDE_PROGRAM, policies[i], report_path, WAITS_PROGRAM);
        if (exit_status(status) != 0)
            fail_msg("flushed-later, %s: status %d: %s", policies[i], exit_status(status),
                     errors());
    }
}

/* The driver calls the program, or the program forks, while conversions are being built: nothing
 * waits for what waits for it. On PoCL's "basic", which has no threads, a child can go on with
 * OpenCL. */
static void test_builds_beside(void **state)
{
    (void)state;
    static const struct {
        const char *name, *policy;
        long transformed; /* launches of grow_at_once */
    } cases[] = {
        {"notified-at-end", "auto", -1},   {"notified-at-release", "auto", -1},
        {"notified-at-kernel", "asta", 1}, {"notified-at-launch", "auto", 1},
        {"notified-at-plans", "soa", 1},   {"notified-at-plans", "asta", 1},
        {"fork-beside-build", "auto", -1}, {"fork-beside-call", "auto", -1},
    };
    char config[160] = "";
#ifdef HAVE_CONFIG
    write_config("[grow_at_once]\n.policy = asta\n");
    snprintf(config, sizeof config, "--config %s", config_path);
#endif
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const bool forced = strcmp(cases[i].policy, "auto") != 0;
        int status =
            run("env MADE_UP_COMPILER=1 POCL_DEVICES=basic OPENCL_LAYERS=%s RESTRIDE_WISDOM= "
                "%s run --policy %s %s --report %s -- " LIMITED " %s %s",
                MADE_UP_GPU, RESTRIDE_PROGRAM, cases[i].policy, forced ? "" : config, report_path,
                WAITS_PROGRAM, cases[i].name);
        if (exit_status(status) != 0)
            fail_msg("%s, %s: status %d: %s", cases[i].name, cases[i].policy, exit_status(status),
                     errors());
        json_t *loaded = report();
        if (cases[i].transformed >= 0 && (forced || config[0] != '\0'))
            assert_int_equal(number_of(kernel_of(loaded, "grow_at_once"), "transformed_launches"),
                             cases[i].transformed);
        json_decref(loaded);
    }
}

/* The end of a thread is not the end of the program: it does not wait for what others build. */
static void test_threads_end(void **state)
{
    (void)state;
    int status =
        run("env MADE_UP_COMPILER=1 OPENCL_LAYERS=%s %s run --policy asta --report %s -- " LIMITED
            " %s thread-ends",
            MADE_UP_GPU, RESTRIDE_PROGRAM, report_path, CASES_PROGRAM);
    if (exit_status(status) != 0)
        fail_msg("status %d: %s", exit_status(status), errors());
}

static long count_builds(const char *variables)
{
    long builds = -1;
    char path[128];
    snprintf(path, sizeof path, "%s", in_folder("tally"));
    int status = run("env POCL_DEVICES='pthread pthread' MADE_UP_TALLY=%s %s OPENCL_LAYERS=%s "
                     "%s run --policy soa --report %s -- " LIMITED " %s in-place",
                     path, variables, MADE_UP_GPU, RESTRIDE_PROGRAM, report_path, CASES_PROGRAM);
    if (exit_status(status) == 77)
        skip();
    assert_int_equal(exit_status(status), 0);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*d %*d %ld", &builds), 1);
    fclose(file);
    assert_int_equal(transformed_launches(), 3);
    return builds;
}

/* A launch of another device needs no conversions of its own then, and waits for none. */
static void test_builds_for_one_device(void **state)
{
    (void)state;
    const long builds = count_builds("ONE_DEVICE=1");
    assert_in_range(builds, 3, 100);
    assert_int_equal(count_builds(""), builds);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* A launch goes on when what it needs is built, not at the end of its patience of 30 seconds. */
static void test_launches_go_on_at_once(void **state)
{
    (void)state;
    const double start = seconds();
    int status =
        run("env MADE_UP_COMPILER=1 OPENCL_LAYERS=%s RESTRIDE_WISDOM= %s run --policy asta "
            "--report %s -- " LIMITED " %s wllr",
            MADE_UP_GPU, RESTRIDE_PROGRAM, report_path, SEQUENCE_PROGRAM);
    assert_int_equal(exit_status(status), 0);
    assert_int_equal(transformed_launches(), 2);
    assert_true(seconds() - start < 25);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_commands_that_wait),    cmocka_unit_test(test_launches_go_on_at_once),
        cmocka_unit_test(test_builds_beside),         cmocka_unit_test(test_threads_end),
        cmocka_unit_test(test_builds_for_one_device),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
