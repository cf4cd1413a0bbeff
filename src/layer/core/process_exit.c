/* The end of the process: see process_exit.h. */
#include "layer/core/process_exit.h"

#include "layer/core/wait.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static const double longest_hold = 10; /* seconds */

bool rs_exit_has_begun(const rs_layer *layer)
{
    return atomic_load(&layer->exit.has_begun);
}

void rs_exit_expect(rs_layer *layer, void (*wait)(rs_layer *layer, bool has_first_runs))
{
    layer->exit.wait = wait;
}

static void begin_exit(void *data)
{
    rs_layer *layer = data;
    if (getpid() != layer->process)
        return;
    rs_layer_lock(layer);
    const bool is_first = !rs_exit_has_begun(layer);
    if (is_first) {
        layer->exit.thread = pthread_self();
        atomic_store(&layer->exit.has_begun, true);
    }
    const bool has_first_runs = layer->exit.has_first_runs;
    rs_layer_unlock(layer);
    rs_layer_wake(layer); /* nobody waits for what is not built any more */
    if (is_first)
        layer->exit.wait(layer, has_first_runs);
}

/* ---- being the first of the exit functions ---- */

/* glibc's, for variables of C++: exit() calls the functions of its thread before all others. Both
 * take an object, as atexit() does not. */
extern int __cxa_atexit(void (*function)(void *), void *object, void *library); /* NOLINT */
extern int __cxa_thread_atexit_impl(void (*function)(void *), void *object,     /* NOLINT */
                                    void *library) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden"))); /* NOLINT */

static bool register_exit(rs_layer *layer)
{
    return __cxa_atexit(begin_exit, layer, &__dso_handle) == 0;
}

/* A thread ends alone, or calls exit(): that cannot be known here. What is registered now is the
 * newest exit function, and called next if it is exit(). */
static void end_thread(void *layer)
{
    if (!rs_exit_has_begun(layer))
        register_exit(layer);
}

/*
 * The newest exit function is called first, and before all of them those of the calling thread. So
 * exit() of a thread that has had something compiled comes here first. For any other thread it does
 * after the first works of the compilers: they register their own functions there.
 */
void rs_exit_note_compiler(rs_layer *layer)
{
    enum { FIRST_WORKS = 64 };
    static _Thread_local const rs_layer *noted; /* for which this thread has an exit function */
    if (layer->exit.registrations < FIRST_WORKS && !rs_exit_has_begun(layer) &&
        register_exit(layer))
        layer->exit.registrations++;
    if (noted != layer && __cxa_thread_atexit_impl != NULL &&
        __cxa_thread_atexit_impl(end_thread, layer, &__dso_handle) == 0)
        noted = layer;
}

/* ---- threads that go on ---- */

static void hold(rs_layer *layer) RS_LOCKED
{
    const double end = rs_seconds_now() + longest_hold;
    rs_layer_unlock(layer);
    while (rs_layer_wait(layer, rs_layer_changes(layer), end))
        continue;
    rs_layer_lock(layer);
}

bool rs_exit_admits(rs_layer *layer, bool has_run)
{
    if (has_run)
        return true;
    if (rs_exit_has_begun(layer) && !pthread_equal(pthread_self(), layer->exit.thread)) {
        hold(layer);
        return false;
    }
    layer->exit.has_first_runs = true;
    rs_exit_note_compiler(layer);
    return true;
}
