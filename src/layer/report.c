/* What the layer tells: see report.h. */
#include "layer/report.h"

#include "base/log.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    cl_event event;
    rs_kernel_facts *facts; /* NULL: a conversion */
} open_event;

static struct {
    open_event *open; /* in the order of their commands */
    size_t open_count;
    size_t open_capacity;
    size_t marshal_count;
    size_t marshal_bytes;
    double marshal_seconds;
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

/* ---- times ---- */

static double seconds_of(cl_event event)
{
    cl_ulong start = 0, end = 0;
    if (rs_driver()->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start,
                                             &start, NULL) != CL_SUCCESS ||
        rs_driver()->clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end,
                                             NULL) != CL_SUCCESS ||
        end < start)
        return 0;
    return (double)(end - start) * 1e-9;
}

/* Closes one event: true when it needs no more looking at. */
static bool close_event(const open_event *open)
{
    cl_int status = CL_QUEUED;
    if (rs_driver()->clGetEventInfo(open->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status,
                                    &status, NULL) == CL_SUCCESS &&
        status > CL_COMPLETE)
        return false;
    double seconds = status == CL_COMPLETE ? seconds_of(open->event) : 0;
    if (open->facts != NULL)
        open->facts->seconds += seconds;
    else
        report.marshal_seconds += seconds;
    rs_driver()->clReleaseEvent(open->event);
    return true;
}

void rs_report_harvest(void)
{
    size_t kept = 0;
    for (size_t i = 0; i < report.open_count; i++)
        if (!close_event(&report.open[i]))
            report.open[kept++] = report.open[i];
    report.open_count = kept;
}

static void keep_open(cl_event event, rs_kernel_facts *facts)
{
    if (report.open_count == report.open_capacity)
        rs_report_harvest();
    /* Still more than half full: the program runs far ahead of the device. */
    if (report.open_count >= report.open_capacity / 2) {
        size_t capacity = report.open_capacity == 0 ? 256 : report.open_capacity * 2;
        open_event *larger = realloc(report.open, capacity * sizeof *larger);
        if (larger != NULL) {
            report.open = larger;
            report.open_capacity = capacity;
        }
    }
    if (report.open_count < report.open_capacity)
        report.open[report.open_count++] = (open_event){event, facts};
    else
        rs_driver()->clReleaseEvent(event); /* no memory: its time is lost */
}

void rs_report_launch(rs_kernel_facts *facts, cl_event event)
{
    keep_open(event, facts);
}

void rs_report_marshal(cl_event event, size_t bytes)
{
    report.marshal_count++;
    report.marshal_bytes += bytes;
    if (rs_report_times())
        keep_open(event, NULL);
    else
        rs_driver()->clReleaseEvent(event);
}

bool rs_report_holds(cl_event event)
{
    for (size_t i = 0; i < report.open_count; i++)
        if (report.open[i].event == event)
            return true;
    return false;
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
        const char *status = json_string_value(json_object_get(argument, "status"));
        if (status == NULL || strcmp(status, "transformed") != 0)
            continue;
        bool cause =
            (size_t)json_integer_value(json_object_get(argument, "index")) == facts->held_argument;
        json_object_set_new(argument, "status", json_string("kept"));
        json_object_set_new(argument, "layout", json_string("i f"));
        json_object_set_new(
            argument, "reason",
            json_string(cause ? facts->held_reason : "another argument of the kernel was kept"));
    }
    return arguments;
}

static json_t *describe(void)
{
    json_t *kernels = json_array();
    for (const rs_kernel_facts *facts = rs_the_layer.facts; facts != NULL; facts = facts->next) {
        json_t *kernel =
            json_pack("{s:s, s:i, s:I, s:I, s:f, s:o}", "name", facts->name, "program",
                      (int)facts->program_number, "launches", (json_int_t)facts->launches,
                      "transformed_launches", (json_int_t)facts->transformed_launches, "seconds",
                      facts->seconds, "arguments", arguments_of(facts));
        if (facts->held_reason != NULL)
            json_object_set_new(kernel, "held_reason", json_string(facts->held_reason));
        json_array_append_new(kernels, kernel);
    }
    return json_pack("{s:i, s:s, s:I, s:O?, s:o, s:{s:I, s:I, s:f}, s:O?}", "process",
                     (int)getpid(), "policy", rs_the_layer.settings.transform ? "asta" : "off",
                     "tile", (json_int_t)rs_the_layer.settings.tile, "devices", report.devices,
                     "kernels", kernels, "marshal", "count", (json_int_t)report.marshal_count,
                     "bytes", (json_int_t)report.marshal_bytes, "seconds", report.marshal_seconds,
                     "notes", report.notes);
}

void rs_report_write(void)
{
    if (!rs_report_wanted())
        return;
    rs_layer_lock();
    rs_report_harvest();
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
