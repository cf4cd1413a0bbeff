/* The end of the process: see ending.h. */
#include "layer/core/ending.h"

#include "layer/core/state.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const double longest_hold = 10; /* seconds */

static atomic_bool has_begun;
static pthread_t ending_thread;

/* A kernel of the layer was launched for the first time: it may still be compiled. */
static bool has_first_runs;

bool rs_ending_has_begun(void)
{
    return atomic_load(&has_begun);
}

/* What is waited for before compilers may end (see rs_ending_expect). */
static void (*finish_work)(bool has_first_runs);

void rs_ending_expect(void (*finish)(bool has_first_runs))
{
    finish_work = finish;
}

static void begin_end(void)
{
    if (getpid() != rs_the_layer.process)
        return;
    rs_layer_lock();
    if (!atomic_load(&has_begun)) {
        ending_thread = pthread_self();
        atomic_store(&has_begun, true);
        rs_layer_unlock();
        finish_work(has_first_runs);
        rs_layer_lock();
    }
    rs_layer_unlock();
}

/* ---- being the first of the exit functions ---- */

/* glibc's, for variables of C++: exit() calls these functions of its thread before all others. */
extern int __cxa_thread_atexit_impl(void (*function)(void *), void *object, /* NOLINT */
                                    void *library) __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden"))); /* NOLINT */

/* A thread ends alone, or calls exit(): that cannot be told here. What is registered now is the
 * newest exit function, and called next if it is exit(). */
static void end_thread(void *unused)
{
    (void)unused;
    if (!atomic_load(&has_begun))
        atexit(begin_end);
}

/*
 * The newest exit function is called first, and before all of them those of the calling thread. So
 * exit() of a thread that has had something compiled comes here first. For any other thread it does
 * after the first works of the compilers: they register their own functions there.
 */
void rs_ending_note_compiler(void)
{
    enum { FIRST_WORKS = 64 };
    static _Thread_local bool is_noted;
    static int works;
    if (works < FIRST_WORKS && !atomic_load(&has_begun) && atexit(begin_end) == 0)
        works++;
    if (!is_noted && __cxa_thread_atexit_impl != NULL)
        is_noted = __cxa_thread_atexit_impl(end_thread, NULL, &__dso_handle) == 0;
}

/* ---- threads that go on ---- */

static void hold(void)
{
    const struct timespec pause = {(time_t)longest_hold, 0};
    rs_layer_unlock();
    nanosleep(&pause, NULL);
    rs_layer_lock();
}

bool rs_ending_admits(bool has_run)
{
    if (has_run)
        return true;
    if (atomic_load(&has_begun) && !pthread_equal(pthread_self(), ending_thread)) {
        hold();
        return false;
    }
    has_first_runs = true;
    rs_ending_note_compiler();
    return true;
}
