/*
 * Stages that permute axes, on a GPU or the emulated device: against the definition, element by
 * element, with canaries.
 *
 *     test_cuda_axes              a few random arrays of each kind
 *     test_cuda_axes SEED COUNT   COUNT of each
 */
#include "cmocka_all.h"
#include "cuda_buffers.h"
#include "engine/cuda/cuda.h"
#include "random_cases.h"
#include "restride/cuda.h"
#include "restride/restride.h"

static test_machine machine;
static uint64_t seed = 4713;
static size_t count = 12;

static void test_matrices(void **state)
{
    (void)state;
    machine_test_matrices_on_chip(&machine, seed);
}

static bool suits(restride_engine *engine, const rs_transpose_task *task)
{
    size_t word;
    return rs_cuda_on_chip_arrays((const rs_cuda_engine *)engine, task, &word) != 0;
}

static void test_on_chip(void **state)
{
    (void)state;
    machine_test_on_chip(&machine, seed, count, cuda_device_emulated() ? 90000 : 40000000, suits);
}

static void test_slots(void **state)
{
    (void)state;
    machine_test_slots(&machine, seed + 77, count, cuda_device_emulated() ? 60000 : 20000000);
}

int main(int argc, char **argv)
{
    if (!cuda_device_open()) {
        puts("no CUDA device here");
        return 77;
    }
    random_cases(argc, argv, &seed, &count);
    machine = cuda_buffers;
    if (restride_engine_create_cuda(&machine.engine, NULL) != RESTRIDE_OK) {
        puts(restride_last_error());
        return 1;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_matrices),
                                       cmocka_unit_test(test_on_chip),
                                       cmocka_unit_test(test_slots)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    restride_engine_destroy(machine.engine);
    return failed;
}
