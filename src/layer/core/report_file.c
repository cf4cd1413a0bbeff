/*
 * The file of a process's part of the report: written when the layer is loaded, so that every
 * process with OpenCL is known, and at the end; and in between, where the program waits anyway and
 * after programs were prepared, as often as that is cheap: a process that ends without its exit
 * functions leaves what was counted until then.
 *
 * A child that the program forks has the counts of its parent, which reports them. It begins at
 * zero, and has a part of its own from its first launch on.
 */
#include "base/log.h"
#include "base/text.h"
#include "layer/core/file_limit.h"
#include "layer/core/report.h"
#include "layer/core/timing.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What writing may take of the time until the next time, and of a short program altogether. */
static const double affordable_share = 0.01, affordable_seconds = 2e-3;

/* So that a clock that stands still is no reason to write all the time. */
static const double least_seconds = 1e-4;

static bool write_part(rs_layer *layer, const json_t *description)
{
    sigset_t before;
    char *text = description != NULL ? json_dumps(description, JSON_INDENT(1)) : NULL;
    rs_text path = RS_TEXT_EMPTY;
    /* A process that becomes another program (exec) has a part of each. */
    rs_text_format(&path, "%s/%ld.%.9f.json", layer->settings.report_folder, (long)getpid(),
                   layer->loaded_at);
    rs_file_limit_ignore(&before);
    const bool written = text != NULL && !path.failed &&
                         rs_text_write_file(path.data, text, strlen(text)) == RESTRIDE_OK;
    if (!written)
        rs_log(RS_LOG_ERROR, "the report could not be written");
    rs_file_limit_restore(&before);
    rs_text_free(&path);
    free(text);
    return written;
}

/* The report; where a file of that size cannot be written, without the time line, which
 * is by far the most of it. */
static void write_description(rs_layer *layer, bool at_end) RS_LOCKED
{
    json_t *description = rs_report_describe(layer, at_end);
    if (!write_part(layer, description) &&
        json_array_size(json_object_get(description, "timeline")) > 0) {
        rs_report_note(layer,
                       "The time line was left out: the program could write no file of that size.");
        json_decref(description);
        description = rs_report_describe(layer, at_end);
        json_array_clear(json_object_get(description, "timeline"));
        write_part(layer, description);
    }
    json_decref(description);
}

void rs_report_write(rs_layer *layer, bool at_end)
{
    if (!rs_report_wanted(layer) || getpid() != layer->process || layer->report.is_silent_child ||
        layer->report.is_final)
        return;
    const double start = rs_seconds_now();
    rs_timing_collect(layer);
    write_description(layer, at_end);
    layer->report.written = rs_seconds_now();
    const double took = layer->report.written - start;
    layer->report.last = took > least_seconds ? took : least_seconds;
    layer->report.spent += layer->report.last;
    layer->report.is_final = at_end;
}

void rs_report_keep_up(rs_layer *layer)
{
    if (!rs_report_wanted(layer))
        return;
    const double since = rs_seconds_now() - layer->report.written;
    if (layer->report.last <= affordable_share * since ||
        layer->report.spent + layer->report.last <= affordable_seconds)
        rs_report_write(layer, false);
}

void rs_report_begin_child(rs_layer *layer)
{
    rs_timing_forget(layer);
    rs_report_forget(layer);
    layer->process = getpid();
    layer->is_forked = true;
    layer->report.is_silent_child = true;
    layer->report.is_final = false;
}

void rs_report_begin(rs_layer *layer)
{
    if (!layer->report.is_silent_child)
        return;
    layer->report.is_silent_child = false;
    rs_report_write(layer, false);
}
