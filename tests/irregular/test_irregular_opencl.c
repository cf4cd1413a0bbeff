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
#include "random_cases.h"
#include "restride/opencl.h"

#include <stdlib.h>
#include <string.h>

static test_device device;

int main(int argc, char **argv)
{
    /* Numbers for several groups in each step. */
    device_cases cases = {.seed = 1, .count = 40, .most = 70000, .most_threads = 20000};
    if (argc == 2 && strcmp(argv[1], "reduced") == 0) {
        cases.count = 1;
        cases.most = 4200;
        cases.most_threads = 500;
    }
    if (random_cases(argc, argv, &cases.seed, &cases.count))
        cases.most = cases.most_threads = 400000;
    if (!test_device_open(&device))
        return 77;
    if (restride_engine_create_opencl(&cases.engine, device.queue) != RESTRIDE_OK) {
        print_error("%s\n", restride_last_error());
        return 1;
    }
    int failed = device_cases_run(&cases);
    restride_engine_destroy(cases.engine);
    test_device_close(&device);
    return failed;
}
