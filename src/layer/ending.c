/* The end of the process: see ending.h. */
#include "layer/ending.h"

#include "layer/coherence.h"
#include "layer/events.h"
#include "layer/programs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Seconds. */
static const double longest_build = 10, longest_command = 5, longest_hold = 10;

static atomic_bool has_begun;
static pthread_t ending_thread;

/* A kernel of the layer was launched for the first time: it may still be compiled. */
static bool has_first_runs;

bool rs_ending_has_begun(void)
{
    return atomic_load(&has_begun);
}

/* ---- what exit() does first ---- */

/* What was given to the queues so far is over, or the time. An event of the program's own may hold
 * commands back for ever; then none of them is the layer's (rs_layer_is_held). */
static void wait_for_commands(void)
{
    size_t count = 0;
    cl_event *marks = rs_layer_frozen() == NULL ? rs_layer_mark(&count) : NULL;
    const double end = rs_layer_clock() + longest_command;
    rs_layer_unlock();
    for (size_t i = 0; i < count; i++) {
        rs_event_wait(marks[i], end - rs_layer_clock());
        rs_driver()->clReleaseEvent(marks[i]);
    }
    free(marks);
    rs_layer_lock();
}

static void begin_end(void)
{
    if (getpid() != rs_the_layer.process)
        return;
    rs_layer_lock();
    if (!atomic_load(&has_begun)) {
        ending_thread = pthread_self();
        atomic_store(&has_begun, true);
        rs_rewriter_abandon();
        rs_layer_unlock();
        rs_residences_await(longest_build);
        if (rs_the_layer.has_several_threads)
            rs_layer_restore_untried();
        if (has_first_runs)
            wait_for_commands();
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
