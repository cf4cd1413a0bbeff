/* What the layer tells: see report.h. */
#include "layer/report.h"

#include "base/log.h"
#include "base/text.h"
#include "layer/timing.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    json_t *notes;
    json_t *devices;
} report;

bool rs_report_wanted(void)
{
    return rs_the_layer.settings.report_folder != NULL;
}

bool rs_report_times(void)
{
    return rs_report_wanted() && rs_the_layer.settings.report_times;
}

rs_kernel_facts *rs_report_kernel(unsigned program_number, const char *name)
{
    rs_kernel_facts **place = &rs_the_layer.facts;
    for (; *place != NULL; place = &(*place)->next)
        if ((*place)->program_number == program_number && strcmp((*place)->name, name) == 0)
            return *place;
    rs_kernel_facts *facts = calloc(1, sizeof *facts);
    if (facts == NULL)
        return NULL;
    facts->name = strdup(name);
    if (facts->name == NULL) {
        free(facts);
        return NULL;
    }
    facts->program_number = program_number;
    *place = facts;
    return facts;
}

void rs_report_hold(rs_kernel_facts *facts, size_t argument, const char *reason)
{
    if (facts == NULL)
        return;
    facts->held_argument = argument;
    if (facts->held_reason != NULL && strcmp(facts->held_reason, reason) == 0)
        return;
    free(facts->held_reason);
    facts->held_reason = strdup(reason);
}

/* ---- what to tell ---- */

/* Adds a string to a list once. */
static void add_once(json_t **list, const char *string)
{
    size_t i;
    json_t *present;
    if (*list == NULL)
        *list = json_array();
    json_array_foreach(*list, i, present)
    {
        if (strcmp(json_string_value(present), string) == 0)
            return;
    }
    json_array_append_new(*list, json_string(string));
}

void rs_report_note(const char *format, ...)
{
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    rs_log(RS_LOG_WARNING, "%s", sentence);
    add_once(&report.notes, sentence);
}

void rs_report_device(cl_device_id device)
{
    char name[256] = "";
    if (rs_report_wanted() && rs_driver()->clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name - 1,
                                                           name, NULL) == CL_SUCCESS)
        add_once(&report.devices, name);
}

bool rs_report_is_transformed(const json_t *argument)
{
    const char *status = json_string_value(json_object_get(argument, "status"));
    return status != NULL && strcmp(status, "transformed") == 0;
}

void rs_report_keep(json_t *argument, const char *reason)
{
    const char *own = json_string_value(json_object_get(argument, "source_layout"));
    json_object_set_new(argument, "status", json_string("kept"));
    json_object_set_new(argument, "layout", json_string(own != NULL ? own : "i f"));
    json_object_set_new(argument, "reason", json_string(reason));
}

/* The arguments as the rewriter described them, corrected by what happened at the launches. */
static json_t *arguments_of(const rs_kernel_facts *facts)
{
    json_t *arguments = facts->arguments != NULL ? json_deep_copy(facts->arguments) : json_array();
    if (facts->held_reason == NULL || facts->transformed_launches > 0)
        return arguments;
    size_t i;
    json_t *argument;
    json_array_foreach(arguments, i, argument)
    {
        if (!rs_report_is_transformed(argument))
            continue;
        bool cause =
            (size_t)json_integer_value(json_object_get(argument, "index")) == facts->held_argument;
        rs_report_keep(argument,
                       cause ? facts->held_reason : "another argument of the kernel was kept");
    }
    return arguments;
}

/* What policy auto chose, and from what: seconds are those of the last launch's work-items. */
static json_t *describe_policy(const rs_known_kernel *known)
{
    const rs_policy_knowledge *k = &known->knowledge;
    return json_pack("{s:s, s:s, s:b, s:f, s:f, s:f, s:I, s:I, s:b}", "choice",
                     known->last_rewritten ? "rewritten" : "own", "reason", known->reason,
                     "measured", k->own.count > 0 && k->moved.count > 0, "predicted_ratio",
                     k->predicted_ratio, "own_seconds", rs_policy_time(&k->own) * known->work_items,
                     "rewritten_seconds", rs_policy_time(&k->moved) * known->work_items,
                     "bytes_to_convert", (json_int_t)known->bytes_to_convert, "usual_run",
                     (json_int_t)k->usual_run, "from_wisdom", known->from_wisdom);
}

static json_t *describe_kernel(const rs_kernel_facts *facts)
{
    json_t *kernel = json_pack(
        "{s:s, s:i, s:I, s:I, s:f, s:f, s:o}", "name", facts->name, "program",
        (int)facts->program_number, "launches", (json_int_t)facts->launches, "transformed_launches",
        (json_int_t)facts->transformed_launches, "seconds", facts->seconds, "transformed_seconds",
        facts->transformed_seconds, "arguments", arguments_of(facts));
    if (facts->held_reason != NULL)
        json_object_set_new(kernel, "held_reason", json_string(facts->held_reason));
    if (facts->known != NULL && facts->known->reason != NULL)
        json_object_set_new(kernel, "policy", describe_policy(facts->known));
    return kernel;
}

static json_t *describe(void)
{
    json_t *kernels = json_array();
    rs_conversion_sums sums = rs_timing_conversions();
    for (const rs_kernel_facts *facts = rs_the_layer.facts; facts != NULL; facts = facts->next)
        json_array_append_new(kernels, describe_kernel(facts));
    return json_pack(
        "{s:i, s:s, s:I, s:O?, s:o, s:{s:I, s:I, s:f, s:I, s:I}, s:O?, s:o}", "process",
        (int)getpid(), "policy", rs_policy_name(rs_the_layer.settings.policy), "tile",
        (json_int_t)rs_the_layer.settings.tile, "devices", report.devices, "kernels", kernels,
        "marshal", "count", (json_int_t)sums.count, "bytes", (json_int_t)sums.bytes, "seconds",
        sums.seconds, "parts", (json_int_t)sums.part_count, "part_bytes",
        (json_int_t)sums.part_bytes, "notes", report.notes, "timeline", rs_timing_line());
}

void rs_report_write(void)
{
    if (!rs_report_wanted())
        return;
    rs_layer_lock();
    rs_timing_harvest();
    json_t *description = describe();
    char *text = description != NULL ? json_dumps(description, JSON_INDENT(1)) : NULL;
    rs_text path = RS_TEXT_EMPTY;
    rs_text_format(&path, "%s/%ld.json", rs_the_layer.settings.report_folder, (long)getpid());
    if (text == NULL || path.failed ||
        rs_text_write_file(path.data, text, strlen(text)) != RESTRIDE_OK)
        rs_log(RS_LOG_ERROR, "the report could not be written");
    rs_text_free(&path);
    free(text);
    json_decref(description);
    rs_layer_unlock();
}
