/*
 * Plans for irregular references made on a CUDA device, or the emulated one, number for number
 * those of the host.
 *
 *     test_irregular_cuda SEED COUNT     COUNT random cases of each kind (4)
 */
#include "cmocka_all.h"
#include "engine/cuda/device.h"
#include "irregular/device_cases.h"
#include "restride/cuda.h"

#include <stdio.h>
#include <stdlib.h>

static restride_engine *engine;
static uint64_t seed = 1;
static size_t count = 4;
static size_t most = 5000;

static void sums_are_those_of_the_host(void **state)
{
    (void)state;
    device_test_sums(engine, seed, count, most);
}

static void sorting_is_stable(void **state)
{
    (void)state;
    device_test_sorting(engine, seed, count, most);
}

static void plans_are_those_of_the_host(void **state)
{
    (void)state;
    device_test_plans(engine, seed, count, most);
}

static void bad_input_gets_a_sentence(void **state)
{
    (void)state;
    device_test_bad_input(engine);
}

int main(int argc, char **argv)
{
    if (!cuda_device_open()) {
        puts("no CUDA device here");
        return 77;
    }
    if (argc == 3) {
        seed = strtoull(argv[1], NULL, 10) * 1000003;
        count = strtoul(argv[2], NULL, 10);
        most = cuda_device_emulated() ? 20000 : 400000;
    }
    if (restride_engine_create_cuda(&engine, NULL) != RESTRIDE_OK) {
        print_error("%s\n", restride_last_error());
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_those_of_the_host),
        cmocka_unit_test(sorting_is_stable),
        cmocka_unit_test(plans_are_those_of_the_host),
        cmocka_unit_test(bad_input_gets_a_sentence),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    restride_engine_destroy(engine);
    return failed;
}
