/* Waiting before a launch: see launch_wait.h. */
#include "layer/core/launch_wait.h"

#include "layer/core/choice.h"
#include "layer/core/events.h"
#include "layer/core/process_exit.h"
#include "layer/core/restore.h"
#include "layer/core/timing.h"
#include "layer/core/wait.h"

enum { MOST_WAITS = 8 };

static bool is_undecided(rs_layer *layer, const rs_known_kernel *known) RS_LOCKED
{
    const rs_policy_knowledge *k = &known->knowledge;
    return known->waits < MOST_WAITS && rs_layer_frozen(layer) == NULL &&
           (known->last_rewritten ? k->moved.count < 2
                                  : k->own.count < 1 && !rs_policy_was_short(k, known->work_items));
}

/* Whether a build is worth waiting for, and a little of the program's time so far is left for it:
 * until *end. */
static bool still_builds(rs_layer *layer, void *handle, double since, double *end)
{
    rs_layer_lock(layer);
    rs_kernel *kernel = rs_kernel_find(layer, handle);
    const rs_known_kernel *known = kernel != NULL ? kernel->known : NULL;
    *end = since + rs_wait_budget(layer, since);
    bool wanted = known != NULL && known->is_being_built && !rs_exit_has_begun(layer) &&
                  rs_policy_is_long(&known->knowledge, known->work_items) &&
                  rs_seconds_now() < *end && rs_kernel_is_pending(kernel, kernel->known_device);
    rs_layer_unlock(layer);
    return wanted;
}

static void wait_for_build(rs_layer *layer, void *handle)
{
    const double start = rs_seconds_now();
    bool has_waited = false, is_in_time = true;
    while (is_in_time) {
        const unsigned long long seen = rs_layer_changes(layer);
        double end;
        if (!still_builds(layer, handle, start, &end))
            break;
        has_waited = true;
        is_in_time = rs_layer_wait(layer, seen, end);
    }
    if (!has_waited)
        return;
    rs_layer_lock(layer);
    layer->waited += rs_seconds_now() - start;
    rs_layer_unlock(layer);
}

/*
 * A program that enqueues all its launches at once would be over before the first time is known. So
 * the second launch of a kernel waits for the first one, and those of a trial for the one before.
 * Called without the lock: a callback of the program may need it.
 */
static void wait_for_times(rs_layer *layer, rs_stream queue, void *handle)
{
    rs_layer_lock(layer);
    rs_kernel *kernel = rs_kernel_find(layer, handle);
    rs_known_kernel *known = kernel != NULL ? kernel->known : NULL;
    rs_event event = NULL;
    double longest = 0;
    if (known != NULL && rs_policy_awaits_time(&known->knowledge)) {
        if (is_undecided(layer, known))
            event = rs_timing_open_launch(layer, known);
        else if (rs_kernel_is_looked_at(kernel))
            rs_timing_collect(layer);
        longest = event != NULL ? rs_wait_budget(layer, rs_seconds_now()) : 0;
    }
    rs_layer_unlock(layer);
    if (event == NULL)
        return;
    double waited = rs_api_stream_flush(queue) == 0 ? rs_event_wait(layer, event, longest) : 0;
    rs_api_event_release(event);
    rs_layer_lock(layer);
    layer->waited += waited;
    known->waits++;
    rs_timing_collect(layer);
    rs_layer_unlock(layer);
}

void rs_launch_wait(rs_layer *layer, rs_stream queue, void *handle)
{
    wait_for_times(layer, queue, handle);
    wait_for_build(layer, handle);
}
