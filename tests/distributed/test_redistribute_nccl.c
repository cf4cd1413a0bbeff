/*
 * Redistributions through NCCL: TEST [SEED COUNT]. NCCL is made up (made_up_nccl.c), the CUDA
 * device is emulated, and processes are threads.
 */
#include "../engine/cuda/cuda_buffers.h"
#include "at_random.h"
#include "cmocka_all.h"
#include "random_cases.h"
#include "threads.h"

#include "restride/cuda.h"
#include "restride/nccl.h"
#include "restride/restride.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PROCESSES = 9 };

static uint64_t first_seed = 1;
static size_t case_count = 25;
static test_machine machine;

static struct {
    int (*init_all)(void **communicators, int size, const int *devices);
    int (*destroy)(void *communicator);
    int (*aborts)(void);
} nccl;
static void *communicators[MOST_PROCESSES];

static bool find_nccl(void)
{
    void *library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    static const char *const names[] = {"ncclCommInitAll", "ncclCommDestroy", "made_up_aborts"};
    void *places[] = {&nccl.init_all, &nccl.destroy, &nccl.aborts};
    for (int i = 0; i < 3; i++) {
        void *function = library == NULL ? NULL : dlsym(library, names[i]);
        if (function == NULL)
            return false;
        memcpy(places[i], &function, sizeof function);
    }
    return true;
}

static void enter_device(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (!cuda_device_open())
        abort();
    pthread_mutex_unlock(&lock);
}

static void make_groups(restride_group *groups[], int size)
{
    if (nccl.init_all(communicators, size, NULL) != 0)
        abort();
    for (int p = 0; p < size; p++)
        if (restride_group_create_nccl(&groups[p], communicators[p], NULL) != RESTRIDE_OK)
            abort();
}

static void free_communicators(int size)
{
    for (int p = 0; p < size; p++)
        nccl.destroy(communicators[p]);
}

static void random_redistributions(void **state)
{
    (void)state;
    use_peer_memory(false);
    make_groups_with(make_groups, free_communicators);
    redistribute_at_random(&machine, first_seed, case_count);
}

/* ---- failures ---- */

static void redistribute(restride_group *group, void *context)
{
    const restride_status *expected = context;
    restride_plan *plan;
    enter_device();
    unsigned char part[64] = {0};
    restride_group_set_timeout(group, 0.3);
    assert_int_equal(restride_plan_redistribute(&plan, group, machine.engine, "r:8 c:8 char",
                                                "@r/4 r%4 c", "@c/4 c%4 r", 1, NULL),
                     RESTRIDE_OK);
    void *buffer = machine.create(part, restride_plan_local_bytes(plan));
    const restride_status status = restride_execute(plan, buffer);
    if (status != *expected)
        fail_msg("%s: %s", restride_status_name(status), restride_last_error());
    if (status != RESTRIDE_OK) { /* and again: the group is no more */
        assert_non_null(strstr(restride_last_error(), "serves no more calls"));
        assert_int_equal(restride_execute(plan, buffer), RESTRIDE_IO);
    }
    machine.destroy(buffer);
    restride_plan_destroy(plan);
}

/* A message that never arrives, and an error of NCCL, end the group within the time-out, and NCCL
 * gives up what waits on the device. */
static void what_hangs_is_aborted(void **state)
{
    (void)state;
    static const char *const ways[] = {"stuck", "failing"};
    restride_status expected = RESTRIDE_IO;
    make_groups_with(make_groups, NULL);
    for (int i = 0; i < 2; i++) {
        const int before = nccl.aborts();
        setenv("MADE_UP_NCCL", ways[i], 1);
        run_processes(2, redistribute, &expected);
        unsetenv("MADE_UP_NCCL");
        assert_int_equal(nccl.aborts() - before, 2);
    }
}

static void one_process_is_enough(void **state)
{
    (void)state;
    restride_group *group;
    restride_plan *plan;
    make_groups(&group, 1);
    assert_int_equal(restride_group_size(group), 1);
    assert_int_equal(restride_plan_redistribute(&plan, group, machine.engine, "r:8 c:4 float",
                                                "r c", "c r", 0, NULL),
                     RESTRIDE_OK);
    float values[32];
    float after[32];
    for (int i = 0; i < 32; i++)
        values[i] = (float)i;
    void *buffer = machine.create((unsigned char *)values, sizeof values);
    assert_int_equal(restride_execute(plan, buffer), RESTRIDE_OK);
    assert_true(machine.read(buffer, (unsigned char *)after, sizeof after));
    for (int i = 0; i < 32; i++)
        assert_true(after[i % 4 * 8 + i / 4] == values[i]);
    machine.destroy(buffer);
    restride_plan_destroy(plan);
    restride_group_destroy(group);
    free_communicators(1);
}

/* Its messages lie on devices. */
static void refuse_host(restride_group *group, void *context)
{
    (void)context;
    restride_engine *host;
    restride_plan *plan;
    enter_device();
    assert_int_equal(restride_engine_create_host(&host, 1), RESTRIDE_OK);
    assert_int_equal(
        restride_plan_redistribute(&plan, group, host, "r:4 float", "@r/2 r%2", "r", 0, NULL),
        RESTRIDE_UNSUPPORTED);
    assert_non_null(strstr(restride_last_error(), "give a CUDA engine"));
    assert_null(plan);
    restride_engine_destroy(host);
}

static void arguments_are_checked(void **state)
{
    (void)state;
    restride_group *group;
    assert_int_equal(restride_group_create_nccl(NULL, NULL, NULL), RESTRIDE_INVALID_ARGUMENT);
    assert_int_equal(restride_group_create_nccl(&group, NULL, NULL), RESTRIDE_INVALID_ARGUMENT);
    assert_null(group);
    make_groups_with(make_groups, free_communicators);
    run_processes(2, refuse_host, NULL);
}

int main(int argc, char **argv)
{
    random_cases(argc, argv, &first_seed, &case_count);
    if (!find_nccl() || !cuda_device_open())
        return 77;
    machine = cuda_buffers;
    machine.enter = enter_device;
    if (restride_engine_create_cuda(&machine.engine, NULL) != RESTRIDE_OK) {
        printf("%s\n", restride_last_error());
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_redistributions),
        cmocka_unit_test(what_hangs_is_aborted),
        cmocka_unit_test(one_process_is_enough),
        cmocka_unit_test(arguments_are_checked),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    restride_engine_destroy(machine.engine);
    return failed;
}
