/*
 * Stages for unequal members, orders of parts and tails, permutations of axes and conversions
 * between layouts on a CUDA device, or the emulated one, element by element.
 *
 *     test_device_cuda                 a few random cases of each kind
 *     test_device_cuda SEED COUNT      COUNT of each, and chosen ones
 */
#include "cmocka_all.h"
#include "cuda_buffers.h"
#include "random_cases.h"
#include "restride/cuda.h"
#include "restride/restride.h"

#include <stdio.h>
#include <stdlib.h>

static test_machine machine;
static uint64_t seed = 1;
static size_t count = 5;
static bool reduced = true;

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
    machine_test_copies(&machine, seed, count, reduced);
}

int main(int argc, char **argv)
{
    if (!cuda_device_open()) {
        puts("no CUDA device here");
        return 77;
    }
    reduced = random_cases(argc, argv, &seed, &count) && cuda_device_emulated();
    machine = cuda_buffers;
    if (restride_engine_create_cuda(&machine.engine, NULL) != RESTRIDE_OK) {
        puts(restride_last_error());
        return 1;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tuning), cmocka_unit_test(test_stages),
                                       cmocka_unit_test(test_permutations),
                                       cmocka_unit_test(test_conversions),
                                       cmocka_unit_test(test_copies)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    restride_engine_destroy(machine.engine);
    return failed;
}
