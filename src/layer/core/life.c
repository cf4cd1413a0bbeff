/* The layer of a process: see life.h. */
#include "layer/core/life.h"

#include "layer/core/device_layouts.h"
#include "layer/core/exit_wait.h"
#include "layer/core/file_limit.h"
#include "layer/core/knowledge.h"
#include "layer/core/process_exit.h"
#include "layer/core/report.h"
#include "layer/core/timing.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* The functions of pthread_atfork() and atexit() have no other way to it. */
static rs_layer *of_process;

static void begin_fork(void) RS_LOCKS
{
    const double longest = 60;
    rs_builds_wait(of_process, longest);
}

static void end_fork(void) RS_UNLOCKS
{
    rs_layer_unlock(of_process);
}

static void begin_child(void)
{
    rs_layer_init_locks(of_process);
    rs_report_begin_child(of_process);
}

static void write_at_exit(void)
{
    rs_layer *layer = of_process;
    if (getpid() != layer->process)
        return;
    sigset_t before;
    rs_file_limit_ignore(&before);
    rs_layer_lock(layer);
    rs_report_write(layer, true);
    if (!layer->is_forked)
        rs_knowledge_save(layer);
    rs_layer_unlock(layer);
    rs_file_limit_restore(&before);
}

void rs_layer_begin(rs_layer *layer)
{
    of_process = layer;
    rs_layer_init(layer);
    rs_exit_expect(layer, rs_exit_wait);
    pthread_atfork(begin_fork, end_fork, begin_child);
}

bool rs_layer_begin_report(rs_layer *layer)
{
    const bool is_wanted = rs_report_wanted(layer) || rs_timing_wanted(layer);
    if (is_wanted)
        atexit(write_at_exit);
    rs_layer_lock(layer);
    rs_report_write(layer, false);
    rs_layer_unlock(layer);
    return is_wanted;
}
