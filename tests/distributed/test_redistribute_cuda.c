/*
 * Redistributions of memory of a CUDA device, against the definition: TEST [SEED COUNT]. Processes
 * are threads that share the device; their messages lie in the host's memory or in the device's.
 */
#include "../engine/cuda/cuda_buffers.h"
#include "at_random.h"
#include "cases.h"
#include "cmocka_all.h"
#include "random_cases.h"
#include "threads.h"

#include "restride/cuda.h"
#include "restride/restride.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static uint64_t first_seed = 1;
static size_t case_count = 25;
static test_machine machine;

static void enter_device(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (!cuda_device_open())
        abort();
    pthread_mutex_unlock(&lock);
}

static void staged_through_the_host(void **state)
{
    (void)state;
    address_memory(RESTRIDE_GROUP_HOST);
    use_peer_memory(false);
    redistribute_at_random(&machine, first_seed, case_count);
}

static void from_device_to_device(void **state)
{
    (void)state;
    if (!cuda_device_emulated())
        skip(); /* these threads copy with memcpy() */
    address_memory(RESTRIDE_GROUP_CUDA);
    use_peer_memory(false);
    redistribute_at_random(&machine, first_seed, case_count);
}

/* What flows one way is staged. */
static void exchanged_in_place(void **state)
{
    (void)state;
    address_memory(RESTRIDE_GROUP_HOST);
    use_peer_memory(true);
    redistribute_at_random(&machine, first_seed, case_count);
}

/* One process fails to name its buffer, so all send messages; the blocks that were transposed by
 * then are transposed back. */
static void out_of_reach(void **state)
{
    (void)state;
    if (!cuda_device_emulated())
        skip();
    address_memory(RESTRIDE_GROUP_HOST);
    use_peer_memory(true);
    for (uint64_t i = 1; i <= 6; i++) {
        char failing[64];
        snprintf(failing, sizeof failing, "cuIpcGetMemHandle:1%*s", (int)i, ""); /* counts anew */
        setenv("EMULATED_FAIL", failing, 1);
        redistribute_at_random(&machine, i * CASE_MIRROR_EACH, 1);
        unsetenv("EMULATED_FAIL");
    }
}

static void fail_to_launch(restride_group *group, void *context)
{
    (void)context;
    restride_plan *plan;
    unsigned char part[64] = {0};
    enter_device();
    restride_group_set_timeout(group, 60);
    assert_int_equal(restride_plan_redistribute(&plan, group, machine.engine, "r:8 c:8 char",
                                                "@r/4 r%4 c", "@c/4 c%4 r", 1, NULL),
                     RESTRIDE_OK);
    void *buffer = machine.create(part, restride_plan_local_bytes(plan));
    assert_int_equal(restride_execute(plan, buffer), RESTRIDE_DEVICE_ERROR);
    assert_non_null(strstr(restride_last_error(), "undefined"));
    machine.destroy(buffer);
    restride_plan_destroy(plan);
}

/* One process fails before it sends, and all hear of it. */
static void a_failing_device_is_told(void **state)
{
    (void)state;
    if (!cuda_device_emulated())
        skip();
    address_memory(RESTRIDE_GROUP_HOST);
    for (int peers = 0; peers < 2; peers++) {
        use_peer_memory(peers != 0);
        setenv("EMULATED_FAIL", peers != 0 ? "cuLaunchKernel:1 " : "cuLaunchKernel:1", 1);
        run_processes(2, fail_to_launch, NULL);
        unsetenv("EMULATED_FAIL");
    }
}

int main(int argc, char **argv)
{
    random_cases(argc, argv, &first_seed, &case_count);
    if (!cuda_device_open())
        return 77;
    machine = cuda_buffers;
    machine.enter = enter_device;
    if (restride_engine_create_cuda(&machine.engine, NULL) != RESTRIDE_OK) {
        printf("%s\n", restride_last_error());
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(staged_through_the_host),  cmocka_unit_test(from_device_to_device),
        cmocka_unit_test(exchanged_in_place),       cmocka_unit_test(out_of_reach),
        cmocka_unit_test(a_failing_device_is_told),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    restride_engine_destroy(machine.engine);
    return failed;
}
