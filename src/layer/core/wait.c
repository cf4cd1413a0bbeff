/* Waiting for other threads: see wait.h. */
#include "layer/core/wait.h"

#include <errno.h>
#include <time.h>

void rs_layer_wake(rs_layer *layer)
{
    pthread_mutex_lock(&layer->changes.mutex);
    atomic_fetch_add(&layer->changes.count, 1);
    pthread_cond_broadcast(&layer->changes.condition);
    pthread_mutex_unlock(&layer->changes.mutex);
}

unsigned long long rs_layer_changes(rs_layer *layer)
{
    return atomic_load(&layer->changes.count);
}

static struct timespec time_of(double seconds)
{
    const time_t whole = seconds > 0 ? (time_t)seconds : 0;
    const double rest = seconds - (double)whole;
    return (struct timespec){whole, rest > 0 ? (long)(rest * 1e9) : 0};
}

bool rs_layer_wait(rs_layer *layer, unsigned long long seen, double end)
{
    const struct timespec until = time_of(end);
    int error = 0;
    pthread_mutex_lock(&layer->changes.mutex);
    while (rs_layer_changes(layer) == seen && error != ETIMEDOUT)
        error = pthread_cond_clockwait(&layer->changes.condition, &layer->changes.mutex,
                                       CLOCK_MONOTONIC, &until);
    const bool is_changed = rs_layer_changes(layer) != seen;
    pthread_mutex_unlock(&layer->changes.mutex);
    return is_changed;
}

/* Of the program's time so far, for all that is waited for: another might have used it. */
static const double affordable_wait = 0.04;

double rs_wait_budget(rs_layer *layer, double now)
{
    return affordable_wait * (now - layer->loaded_at) - layer->waited;
}
