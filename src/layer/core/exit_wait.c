/* The end of the layer's work: see exit_wait.h. */
#include "layer/core/exit_wait.h"

#include "layer/core/device_layouts.h"
#include "layer/core/events.h"
#include "layer/core/restore.h"
#include "layer/core/rewriter.h"

#include <stdlib.h>

/* Seconds. */
static const double longest_build = 10, longest_command = 5;

/* What was given to the queues so far is over, or the time. An event of the program's own may hold
 * commands back for ever; then none of them is the layer's (rs_layer_is_held). */
static void wait_for_commands(rs_layer *layer) RS_LOCKED
{
    size_t count = 0;
    rs_event *marks = rs_layer_frozen(layer) == NULL ? rs_layer_mark(layer, &count) : NULL;
    const double end = rs_seconds_now() + longest_command;
    rs_layer_unlock(layer);
    for (size_t i = 0; i < count; i++) {
        rs_event_wait(layer, marks[i], end - rs_seconds_now());
        rs_api_event_release(marks[i]);
    }
    free(marks);
    rs_layer_lock(layer);
}

void rs_exit_wait(rs_layer *layer, bool has_first_runs)
{
    rs_rewriter_abandon(&layer->rewriter);
    rs_builds_wait(layer, longest_build);
    if (layer->has_several_threads)
        rs_layer_restore_untried(layer);
    if (has_first_runs)
        wait_for_commands(layer);
    rs_layer_unlock(layer);
}
