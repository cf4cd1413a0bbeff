/*
 * Stages for unequal members, orders of parts and tails, permutations of axes and conversions
 * between layouts on an OpenCL device, element by element.
 *
 *     test_device_opencl [SEED COUNT]     COUNT random cases of each kind (60)
 *     test_device_opencl reduced          a few, for a simulator
 */
#include "buffers.h"
#include "cmocka_all.h"
#include "machine.h"
#include "random_cases.h"
#include "restride/opencl.h"
#include "restride/restride.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD_BYTES = 64, GUARD = 0x5C };

static test_device device;
static test_machine machine;
static uint64_t seed = 1;
static size_t count = 60;
static bool reduced;

static void *create_buffer(const unsigned char *bytes, size_t size)
{
    unsigned char *guarded = malloc(size + GUARD_BYTES);
    assert_non_null(guarded);
    memcpy(guarded, bytes, size);
    memset(guarded + size, GUARD, GUARD_BYTES);
    cl_mem buffer = test_device_buffer(&device, guarded, size + GUARD_BYTES);
    free(guarded);
    return buffer;
}

static bool read_buffer(void *buffer, unsigned char *bytes, size_t size)
{
    unsigned char *guarded = malloc(size + GUARD_BYTES);
    assert_non_null(guarded);
    test_device_read(&device, buffer, guarded, size + GUARD_BYTES);
    memcpy(bytes, guarded, size);
    bool intact = true;
    for (size_t i = 0; i < GUARD_BYTES; i++)
        intact = intact && guarded[size + i] == GUARD;
    free(guarded);
    return intact;
}

static void destroy_buffer(void *buffer)
{
    device.api->clReleaseMemObject(buffer);
}

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

int main(int argc, char **argv)
{
    reduced = argc == 2 && strcmp(argv[1], "reduced") == 0;
    if (reduced)
        count = 4;
    random_cases(argc, argv, &seed, &count);
    if (!test_device_open(&device))
        return 77;
    if (test_device_engine(&device, &machine.engine) != RESTRIDE_OK) {
        printf("%s\n", restride_last_error());
        return 1;
    }
    machine.create = create_buffer;
    machine.read = read_buffer;
    machine.destroy = destroy_buffer;
    machine.finds_races = reduced;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tuning), cmocka_unit_test(test_stages), cmocka_unit_test(test_slots),
        cmocka_unit_test(test_permutations), cmocka_unit_test(test_conversions)};
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    restride_engine_destroy(machine.engine);
    test_device_close(&device);
    return failed;
}
