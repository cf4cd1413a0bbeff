/*
 * Plans for irregular references made on an OpenCL device, number for number those of the host.
 *
 *     test_irregular_opencl                the default device
 *     test_irregular_opencl SEED COUNT     COUNT random cases of each kind
 *     test_irregular_opencl reduced        a few, for a simulator
 */
#include "cmocka_all.h"
#include "engine/device.h"
#include "irregular/device_cases.h"
#include "restride/opencl.h"

#include <stdlib.h>
#include <string.h>

static test_device device;
static restride_engine *engine;
static uint64_t seed = 1;
static size_t count = 40;
static size_t most = 70000; /* numbers, for several groups in each step */
static size_t most_threads = 20000;

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
    device_test_plans(engine, seed, count, most_threads);
}

static void bad_input_gets_a_sentence(void **state)
{
    (void)state;
    device_test_bad_input(engine);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "reduced") == 0) {
        count = 1;
        most = 4200;
        most_threads = 500;
    }
    if (argc == 3) {
        seed = strtoull(argv[1], NULL, 10) * 1000003;
        count = strtoul(argv[2], NULL, 10);
        most = most_threads = 400000;
    }
    if (!test_device_open(&device))
        return 77;
    if (restride_engine_create_opencl(&engine, device.queue) != RESTRIDE_OK) {
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
    test_device_close(&device);
    return failed;
}
