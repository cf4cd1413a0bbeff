/*
 * The file of a process's part of the report: written when the layer is loaded, so that every
 * process with OpenCL is known, after programs were prepared, and at the end.
 *
 * A child that the program forks has the counts of its parent, which are told there. It begins at
 * zero, and has a part of its own from its first launch on.
 */
#include "base/log.h"
#include "base/text.h"
#include "layer/report.h"
#include "layer/timing.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_silent_child; /* that has launched nothing */

static void write_part(const json_t *description)
{
    char *text = description != NULL ? json_dumps(description, JSON_INDENT(1)) : NULL;
    rs_text path = RS_TEXT_EMPTY;
    /* A process that becomes another program (exec) has a part of each. */
    rs_text_format(&path, "%s/%ld.%.9f.json", rs_the_layer.settings.report_folder, (long)getpid(),
                   rs_the_layer.loaded_at);
    if (text == NULL || path.failed ||
        rs_text_write_file(path.data, text, strlen(text)) != RESTRIDE_OK)
        rs_log(RS_LOG_ERROR, "the report could not be written");
    rs_text_free(&path);
    free(text);
}

void rs_report_write(bool at_end)
{
    if (!rs_report_wanted() || getpid() != rs_the_layer.process || is_silent_child)
        return;
    rs_layer_lock();
    rs_timing_harvest();
    json_t *description = rs_report_describe(at_end);
    write_part(description);
    json_decref(description);
    rs_layer_unlock();
}

void rs_report_begin_child(void)
{
    rs_timing_forget();
    rs_report_forget();
    rs_the_layer.process = getpid();
    rs_the_layer.is_forked = true;
    is_silent_child = true;
}

void rs_report_begin(void)
{
    if (!is_silent_child)
        return;
    is_silent_child = false;
    rs_report_write(false);
}
