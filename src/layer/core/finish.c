/* The end of the layer's work: see finish.h. */
#include "layer/core/finish.h"

#include "layer/core/events.h"
#include "layer/core/residences.h"
#include "layer/core/restore.h"
#include "layer/core/rewriter.h"

#include <stdlib.h>

/* Seconds. */
static const double longest_build = 10, longest_command = 5;

/* What was given to the queues so far is over, or the time. An event of the program's own may hold
 * commands back for ever; then none of them is the layer's (rs_layer_is_held). */
static void wait_for_commands(void)
{
    size_t count = 0;
    rs_event *marks = rs_layer_frozen() == NULL ? rs_layer_mark(&count) : NULL;
    const double end = rs_layer_clock() + longest_command;
    rs_layer_unlock();
    for (size_t i = 0; i < count; i++) {
        rs_event_wait(marks[i], end - rs_layer_clock());
        rs_api_event_release(marks[i]);
    }
    free(marks);
    rs_layer_lock();
}

void rs_layer_finish(bool has_first_runs)
{
    rs_rewriter_abandon();
    rs_residences_await(longest_build);
    if (rs_the_layer.has_several_threads)
        rs_layer_restore_untried();
    if (has_first_runs)
        wait_for_commands();
    rs_layer_unlock();
}
