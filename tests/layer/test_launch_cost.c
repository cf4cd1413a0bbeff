/* What a launch costs under the layer, where the driver does nothing (launch_cost.c), and that a
 * program does not wait for a slow rewriter. */
#include "cmocka_all.h"

#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct {
    double launch, lock;                 /* nanoseconds */
    unsigned locks, allocations, clocks; /* calls in 1000 launches */
} cost;

static char folder[] = "/tmp/restride-cost-XXXXXX";

/* Answers of the rewriter in the cache of such a name. */
static int count_answers(const char *cache)
{
    char path[64];
    int count = 0;
    snprintf(path, sizeof path, "%s/%s/restride/rewritten", folder, cache);
    DIR *entries = opendir(path);
    for (const struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;)
        count += entry->d_name[0] != '.';
    if (entries != NULL)
        closedir(entries);
    return count;
}

static void sleep_tenth(void)
{
    nanosleep(&(struct timespec){0, 100000000}, NULL);
}

/* Until the rewriter, which goes on when the program has ended, has answered. */
static void wait_for_answer(const char *cache)
{
    enum { TENTHS = 400 };
    for (int i = 0; i < TENTHS && count_answers(cache) == 0; i++)
        sleep_tenth();
    assert_true(count_answers(cache) > 0);
}

static void forget_answers(const char *cache)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s/%s/restride", folder, cache);
    assert_int_equal(system(command), 0);
}

static cost run_cost(const char *policy, const char *layers, int batches, int arrays, int floats)
{
    char command[4096];
    cost seen = {0};
    snprintf(
        command, sizeof command,
        "XDG_CACHE_HOME=%s/filled MADE_UP_TIMES='grow 10 9' MADE_UP_LAUNCHES=none "
        "RESTRIDE_WISDOM= RESTRIDE_REWRITER=%s RESTRIDE_POLICY=%s OPENCL_LAYERS=%s %s %d %d %d",
        folder, REWRITER, policy, layers, COST_PROGRAM, batches, arrays, floats);
    FILE *output = popen(command, "r");
    assert_non_null(output);
    assert_int_equal(fscanf(output, "%lf %lf %u %u %u", &seen.launch, &seen.lock, &seen.locks,
                            &seen.allocations, &seen.clocks),
                     5);
    assert_int_equal(pclose(output), 0);
    return seen;
}

static const char with_layer[] = MADE_UP_GPU ":" LAYER_PATH;

/* What a program finds that is not run for the first time: the rewriter's answer is known. */
static void fill_cache(const char *policy, int arrays, int floats)
{
    forget_answers("filled");
    run_cost(policy, with_layer, 1, arrays, floats);
    if (strcmp(policy, "off") != 0)
        wait_for_answer("filled");
}

/* A launch takes the lock once and allocates nothing; where there is nothing left to decide, it
 * reads no clock. Times are in units of a mutex locked and unlocked, whose nanoseconds go up and
 * down with a machine's speed as the layer's do. Measured were 2 for each array and however many,
 * but for structures of 64 floats under auto, where the GPU may gain: 6, and 17 with 15 arrays.
 * Twice as much is too much. The least counts: others may have the processor. */
static void test_launches_cost_little(void **state)
{
    (void)state;
    static const struct {
        const char *policy;
        int arrays, floats;
        double most;
        unsigned clocks;
    } cases[] = {{"off", 2, 64, 4, 0},     {"off", 15, 64, 4, 0},    {"auto", 2, 4, 4, 0},
                 {"auto", 15, 4, 4, 0},    {"asta", 2, 64, 4, 0},    {"asta", 15, 64, 4, 0},
                 {"auto", 2, 64, 12, 250}, {"auto", 15, 64, 34, 250}};
    enum { MOST_RUNS = 12, BATCHES = 200, LAUNCHES = 1000 };
    const cost driver = run_cost("off", MADE_UP_GPU, BATCHES, 2, 64);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const double most = cases[i].most;
        cost seen = {0};
        fill_cache(cases[i].policy, cases[i].arrays, cases[i].floats);
        for (int run = 0;
             run < MOST_RUNS && (run == 0 || seen.launch - driver.launch > most * seen.lock); run++)
            seen = run_cost(cases[i].policy, with_layer, BATCHES, cases[i].arrays, cases[i].floats);
        if (seen.launch - driver.launch > most * seen.lock ||
            seen.locks > driver.locks + LAUNCHES || seen.allocations > 0 ||
            seen.clocks > cases[i].clocks)
            fail_msg("%s, %d arrays of %d floats: %f ns a launch, %f of the driver, %f to lock; in "
                     "%d launches %u locks, %u of the driver, %u allocations, %u clocks",
                     cases[i].policy, cases[i].arrays, cases[i].floats, seen.launch, driver.launch,
                     seen.lock, (int)LAUNCHES, seen.locks, driver.locks, seen.allocations,
                     seen.clocks);
    }
}

/* ---- the first run ---- */

/* A rewriter that does this first, in the shell. */
static void write_rewriter(const char *first)
{
    char path[64];
    snprintf(path, sizeof path, "%s/slow", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\nexec %s \"$@\"\n", first, REWRITER);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0700), 0);
}

/* So many thousand launches under policy auto without a report, with that rewriter. */
static void run_first(int thousands)
{
    char command[4096];
    snprintf(command, sizeof command,
             "cd %s && XDG_CACHE_HOME=%s/first MADE_UP_TALLY=tally MADE_UP_TIMES='grow 10 9' "
             "MADE_UP_LAUNCHES=none RESTRIDE_WISDOM= RESTRIDE_REWRITER=%s/slow "
             "RESTRIDE_POLICY=auto OPENCL_LAYERS=%s %s %d >output",
             folder, folder, folder, with_layer, COST_PROGRAM, thousands);
    assert_int_equal(system(command), 0);
}

/* The last of so many numbers at the beginning of a file that the program has written. */
static double read_number(const char *name, int place)
{
    char path[64];
    double number = -1;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (int i = 0; i < place; i++)
        assert_int_equal(fscanf(file, "%lf", &number), 1);
    fclose(file);
    return number;
}

/* Launches that were timed: of a kernel that may gain by another layout, as the rewriter says. */
static int count_timed(void)
{
    return (int)read_number("tally", 1);
}

/* Seconds that its kernel took. */
static double read_kernel_seconds(void)
{
    return read_number("output", 6);
}

/* A program waits 0.02 s and more for an answer that may be stored, and not at all for one that is
 * not. A short one ends before the answer, which the next run has. The least time counts: others
 * may have the processor. */
static void test_first_run_does_not_wait(void **state)
{
    (void)state;
    enum { MOST_RUNS = 12 };
    double least = 1;
    char command[128];
    write_rewriter("for i in `seq 600`; do test -e go && break; sleep 0.05; done");
    for (int run = 0; run < MOST_RUNS && least > 0.01; run++) {
        run_first(1);
        least = fmin(least, read_kernel_seconds());
        assert_int_equal(count_answers("first"), 0);
        assert_int_equal(count_timed(), 0);
    }
    assert_true(least <= 0.01);
    snprintf(command, sizeof command, "touch %s/go", folder);
    assert_int_equal(system(command), 0);
    wait_for_answer("first");
    bool is_timed = false;
    for (int run = 0; run < MOST_RUNS && !is_timed; run++) {
        run_first(1);
        is_timed = count_timed() > 0;
    }
    assert_true(is_timed);
}

/* A longer one learns of its kernel's arguments while it launches. */
static void test_answer_comes_beside_launches(void **state)
{
    (void)state;
    forget_answers("first");
    write_rewriter("sleep 0.2");
    for (int thousands = 10000; thousands < 1000000; thousands *= 4) {
        run_first(thousands);
        if (count_timed() > 0)
            return;
        forget_answers("first");
    }
    fail_msg("no launch was timed");
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_launches_cost_little),
        cmocka_unit_test(test_first_run_does_not_wait),
        cmocka_unit_test(test_answer_comes_beside_launches),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
