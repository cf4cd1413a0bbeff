/* What a run tells about its progress. */
#include "cmocka_all.h"
#include "restride/restride.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

typedef struct {
    atomic_size_t calls;
    size_t last;
    size_t total;
    bool shrank;
} told;

/* ---- time, in place of the C library's: the thread that tells is not kept waiting, and the run
 * begins when it has told something ---- */

static told *listener; /* NULL: time is as always */

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker asks for these names */
int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __real_pthread_cond_timedwait(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
int __wrap_pthread_cond_timedwait(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument)
{
    int error = __real_pthread_create(thread, attributes, start, argument);
    while (error == 0 && listener != NULL && listener->calls == 0)
        sched_yield();
    return error;
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until)
{
    if (listener == NULL)
        return __real_pthread_cond_timedwait(condition, mutex, until);
    pthread_mutex_unlock(mutex);
    sched_yield();
    pthread_mutex_lock(mutex);
    return ETIMEDOUT;
}

/* NOLINTEND(bugprone-reserved-identifier) */

/* ---- runs ---- */

static void listen(void *context, size_t done, size_t total)
{
    told *t = context;
    t->shrank = t->shrank || done < t->last || total != (t->calls == 0 ? total : t->total);
    t->calls++;
    t->last = done;
    t->total = total;
}

static void transpose_watched(size_t rows, size_t cols, told *t)
{
    restride_engine *engine;
    restride_plan *plan;
    unsigned char *data = calloc(rows * cols, 4);
    assert_non_null(data);
    assert_int_equal(restride_engine_create_host(&engine, 1), RESTRIDE_OK);
    assert_int_equal(restride_plan_transpose(&plan, engine, rows, cols, 4, 1), RESTRIDE_OK);
    const restride_run_options options = {listen, t};
    assert_int_equal(restride_execute_with(plan, data, &options), RESTRIDE_OK);
    restride_plan_destroy(plan);
    restride_engine_destroy(engine);
    free(data);
}

static void test_end(void **state)
{
    (void)state;
    told t = {0};
    transpose_watched(30, 40, &t);
    assert_true(t.calls >= 1);
    assert_int_equal(t.last, t.total);
    assert_true(t.total >= 30 * 40 * 4 && t.total % (30 * 40 * 4) == 0);
}

static void test_middle(void **state)
{
    (void)state;
    told t = {0};
    listener = &t;
    transpose_watched(901, 2003, &t);
    listener = NULL;
    assert_true(t.calls >= 2);
    assert_false(t.shrank);
    assert_int_equal(t.last, t.total);
}

static void test_nothing_to_do(void **state)
{
    (void)state;
    told t = {0};
    transpose_watched(1, 40, &t);
    assert_int_equal(t.last, t.total);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_end),
        cmocka_unit_test(test_middle),
        cmocka_unit_test(test_nothing_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
