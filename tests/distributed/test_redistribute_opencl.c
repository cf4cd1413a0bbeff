/* Redistributions of OpenCL buffers, against the definition: TEST [SEED COUNT]. Processes are
 * threads that share the device; chunks are staged through the host's memory. */
#include "../engine/opencl_buffers.h"
#include "at_random.h"
#include "cmocka_all.h"
#include "random_cases.h"

static uint64_t first_seed = 1;
static size_t case_count = 12; /* compiling their kernels takes longest */
static test_machine machine;

static void staged_through_the_host(void **state)
{
    (void)state;
    redistribute_at_random(&machine, first_seed, case_count);
}

int main(int argc, char **argv)
{
    random_cases(argc, argv, &first_seed, &case_count);
    if (!opencl_buffers_open(&machine))
        return 77;
    const struct CMUnitTest tests[] = {cmocka_unit_test(staged_through_the_host)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    opencl_buffers_close(&machine);
    return failed;
}
