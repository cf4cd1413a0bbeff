/*
 * Stages for unequal members, orders of parts and tails, permutations of axes and conversions
 * between layouts on an OpenCL device, element by element.
 *
 *     test_device_opencl [SEED COUNT]     COUNT random cases of each kind (60)
 *     test_device_opencl reduced          a few, for a simulator
 */
#include "cmocka_all.h"
#include "opencl_buffers.h"
#include "random_cases.h"

#include <string.h>

static test_machine machine;
static uint64_t seed = 1;
static size_t count = 60;
static bool reduced;
static bool all;

static void test_tuning(void **state)
{
    (void)state;
    if (!reduced) /* a simulator is too slow */
        machine_test_tuning(&machine);
}

static void test_stages(void **state)
{
    (void)state;
    machine_test_stages(&machine, seed, count);
}

static void test_slots(void **state)
{
    (void)state;
    /* Compiling a kernel for each form takes longer than the rest. */
    machine_test_slots(&machine, seed, reduced ? 3 : count / 8, reduced ? 4000 : 60000);
}

static void test_permutations(void **state)
{
    (void)state;
    machine_test_permutations(&machine, seed, count);
}

static void test_conversions(void **state)
{
    (void)state;
    machine_test_conversions(&machine, seed, count, reduced);
}

static void test_copies(void **state)
{
    (void)state;
    /* Compiling a kernel for each form takes longer than the rest; all of them with SEED COUNT. */
    machine_test_copies(&machine, seed, all ? count : 3, !all);
}

int main(int argc, char **argv)
{
    reduced = argc == 2 && strcmp(argv[1], "reduced") == 0;
    if (reduced)
        count = 4;
    all = random_cases(argc, argv, &seed, &count);
    if (!opencl_buffers_open(&machine))
        return 77;
    machine.finds_races = reduced;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tuning),      cmocka_unit_test(test_stages),
        cmocka_unit_test(test_slots),       cmocka_unit_test(test_permutations),
        cmocka_unit_test(test_conversions), cmocka_unit_test(test_copies)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    opencl_buffers_close(&machine);
    return failed;
}
