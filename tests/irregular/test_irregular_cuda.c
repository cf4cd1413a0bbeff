/*
 * Plans for irregular references made on a CUDA device, or the emulated one, number for number
 * those of the host.
 *
 *     test_irregular_cuda SEED COUNT     COUNT random cases of each kind (4)
 */
#include "cmocka_all.h"
#include "engine/cuda/device.h"
#include "irregular/device_cases.h"
#include "random_cases.h"
#include "restride/cuda.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    device_cases cases = {.seed = 1, .count = 4, .most = 5000, .most_threads = 5000};
    if (!cuda_device_open()) {
        puts("no CUDA device here");
        return 77;
    }
    if (random_cases(argc, argv, &cases.seed, &cases.count))
        cases.most = cases.most_threads = cuda_device_emulated() ? 20000 : 400000;
    if (restride_engine_create_cuda(&cases.engine, NULL) != RESTRIDE_OK) {
        print_error("%s\n", restride_last_error());
        return 1;
    }
    int failed = device_cases_run(&cases);
    restride_engine_destroy(cases.engine);
    return failed;
}
