/*
 * Threads that call functions of the driver for the first time, all at once, as the first calls of
 * a program's threads do: each is bound to a function that calls its own one. Without a layer, so
 * the answer is the function itself.
 */
#include "cmocka_all.h"
#include "loader/cuda.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Functions that tell who they are. */
/* clang-format off */
#define SIXTEEN(M, x)                                                                              \
    M(x##0) M(x##1) M(x##2) M(x##3) M(x##4) M(x##5) M(x##6) M(x##7)                                \
    M(x##8) M(x##9) M(x##a) M(x##b) M(x##c) M(x##d) M(x##e) M(x##f)
#define NAMED(M)                                                                                   \
    SIXTEEN(M, 0x0) SIXTEEN(M, 0x1) SIXTEEN(M, 0x2) SIXTEEN(M, 0x3)                                \
    SIXTEEN(M, 0x4) SIXTEEN(M, 0x5) SIXTEEN(M, 0x6) SIXTEEN(M, 0x7)                                \
    SIXTEEN(M, 0x8) SIXTEEN(M, 0x9) SIXTEEN(M, 0xa) SIXTEEN(M, 0xb)
/* clang-format on */
#define FUNCTION(number)                                                                           \
    static uintptr_t function_##number(uintptr_t a)                                                \
    {                                                                                              \
        return a + (number);                                                                       \
    }
NAMED(FUNCTION)
#define NAME(number) function_##number,
typedef uintptr_t named(uintptr_t a);
static named *const functions[] = {NAMED(NAME)};
enum { FUNCTIONS = sizeof functions / sizeof functions[0], THREADS = 2 };

static atomic_int ready;
static uintptr_t answers[FUNCTIONS];

/* Every second function, as soon as both threads are there: one that has slept would be late. */
static void *bind_some(void *data)
{
    size_t number = data == NULL ? 0 : 1;
    atomic_fetch_add(&ready, 1);
    while (atomic_load(&ready) < THREADS)
        ;
    for (; number < FUNCTIONS; number += THREADS) {
        uintptr_t function, address;
        named *bound;
        memcpy(&function, &functions[number], sizeof function);
        address = rs_loader_cuda_bind("cuMadeUp", function, false);
        memcpy(&bound, &address, sizeof bound);
        answers[number] = bound(1000);
    }
    return NULL;
}

/* In a process of its own, whose functions nobody has asked for. */
static int bind_all(void)
{
    pthread_t other;
    int wrong = 0;
    if (pthread_create(&other, NULL, bind_some, &ready) != 0)
        return 100;
    bind_some(NULL);
    pthread_join(other, NULL);
    for (size_t i = 0; i < FUNCTIONS; i++)
        wrong += answers[i] != 1000 + i;
    return wrong;
}

static void test_each_thread_gets_its_function(void **state)
{
    (void)state;
    enum { PROCESSES = 400 };
    for (int i = 0; i < PROCESSES; i++) {
        int status = -1;
        const pid_t child = fork();
        if (child == 0)
            _exit(bind_all());
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

/* More functions than can be bound before they are asked for: those are asked for at once. */
static void test_no_function_is_lost(void **state)
{
    (void)state;
    enum { MANY = 300 };
    for (uintptr_t i = 0; i < MANY; i++) {
        const uintptr_t function = 1 + i; /* is not called */
        const uintptr_t address = rs_loader_cuda_bind("cuMadeUp", function, false);
        assert_true(address == function || address > MANY);
        assert_int_equal(rs_loader_cuda_bind("cuMadeUp", function, false), address);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_thread_gets_its_function),
        cmocka_unit_test(test_no_function_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
