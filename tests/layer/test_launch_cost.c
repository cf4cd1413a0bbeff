/* What a launch costs under the layer, where the driver does nothing (launch_cost.c). */
#include "cmocka_all.h"

#include <stdio.h>

typedef struct {
    double launch, lock;                 /* nanoseconds */
    unsigned locks, allocations, clocks; /* calls in 1000 launches */
} cost;

static cost run_cost(const char *policy, const char *layers, int arrays, int floats)
{
    char command[4096];
    cost seen = {0};
    snprintf(command, sizeof command,
             "MADE_UP_TIMES='grow 10 9' MADE_UP_LAUNCHES=none RESTRIDE_WISDOM= "
             "RESTRIDE_REWRITER=%s RESTRIDE_POLICY=%s OPENCL_LAYERS=%s %s 200 %d %d",
             REWRITER, policy, layers, COST_PROGRAM, arrays, floats);
    FILE *output = popen(command, "r");
    assert_non_null(output);
    assert_int_equal(fscanf(output, "%lf %lf %u %u %u", &seen.launch, &seen.lock, &seen.locks,
                            &seen.allocations, &seen.clocks),
                     5);
    assert_int_equal(pclose(output), 0);
    return seen;
}

/* A launch takes the lock once and allocates nothing; where there is nothing left to decide, it
 * reads no clock. Times are in units of a mutex locked and unlocked, whose nanoseconds go up and
 * down with a machine's speed as the layer's do. Measured were 2 for each array and however many,
 * but for structures of 64 floats under auto, where the GPU may gain: 6, and 17 with 15 arrays.
 * Twice as much is too much. */
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
    enum { MOST_RUNS = 12, LAUNCHES = 1000 }; /* the least counts: others may have the processor */
    const cost driver = run_cost("off", MADE_UP_GPU, 2, 64);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const double most = cases[i].most;
        cost seen = {0};
        for (int run = 0;
             run < MOST_RUNS && (run == 0 || seen.launch - driver.launch > most * seen.lock); run++)
            seen = run_cost(cases[i].policy, MADE_UP_GPU ":" LAYER_PATH, cases[i].arrays,
                            cases[i].floats);
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_launches_cost_little)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
